"""What the program says between prompts and answers, line by line.

Aider v0.86.1
Main model: NAME with FORMAT edit format, …      before: Model: NAME …, or Models: NAME …, weak model NAME
Editor model: NAME …, Weak model: NAME
Tokens: 5.4k sent, 1.2k cache write, 3k cache hit, 210 received. Cost: $0.02 message, $0.10 session.

A line of tokens tells what one exchange used, rounded from 1000 on since 2024. Whether what was sent includes what came from
a cache depends on versions. The cost of the session is a running total; the cost may stand on a line of its own.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from ...model import Tokens

ANNOUNCED = re.compile(r"Aider v\d|(?:Main model|Models?|Editor model|Weak model|Git repo|Repo-map): ")
VERSION = re.compile(r"Aider v(\S+)")
# Some versions put a sign for the cache behind the name, and one for output without a limit before the format.
MODEL = re.compile(r"(Main model|Models?|Editor model|Weak model): (\S+?)⚡?(?: with (?:\S+ )?(\S+) edit format.*)?")
OTHERS = {"Editor model": "editor_model", "Weak model": "weak_model"}
TOKENS = re.compile(r"Tokens: ([\d.,]*\d)(k?) sent\b(?:.* ([\d.,]*\d)(k?) received)?")
CACHED = re.compile(r" ([\d.,]*\d)(k?) cache (write|hit)\b")
COST = re.compile(r"\$([\d.,]*\d) (send|request|message|session)\b")
FAILED = re.compile(r"\blitellm\.(?:\w+\.)*\w*(?:Error|Timeout|Exception)\b")
STOPPED = ("^C", "KeyboardInterrupt")


@dataclass(slots=True)
class Note:
    """The lines of one note, sorted.

    Attributes:
        announces: it tells what the program is.
        model: the main one.
        about: version, format of edits, and other models.
        used: one for each exchange.
        is_rounded: the counts may be.
        cached: tokens written to and found in caches.
        costs: of exchanges in US dollars.
        total: cost of the run up to here.
        failed: whether it ends with an error of the API or after it; ``None`` when it tells neither.
        is_stopped: it ends with a person's interruption.
    """

    announces: bool = False
    model: str | None = None
    about: dict[str, str] = field(default_factory=dict)
    used: list[Tokens] = field(default_factory=list)
    is_rounded: bool = False
    cached: dict[str, int] = field(default_factory=dict)
    costs: list[float] = field(default_factory=list)
    total: float | None = None
    failed: bool | None = None
    is_stopped: bool = False

    def line(self, words: str) -> None:
        """Take in a line that is not empty."""
        self.is_stopped = words.endswith(STOPPED)
        if ANNOUNCED.match(words):
            self.announces = True
            self.announcement(words)
        elif tokens := TOKENS.match(words):
            self.failed = False
            sent, received = count(*tokens.group(1, 2)), count(*tokens.group(3, 4))
            self.used.append(Tokens(input=sent, output=received))
            self.is_rounded = self.is_rounded or "k" in tokens.group(2, 4)
            for amount, thousands, what in CACHED.findall(words):
                self.cached[what] = self.cached.get(what, 0) + (count(amount, thousands) or 0)
        elif FAILED.search(words):
            self.failed = True
        if words.startswith(("Tokens: ", "Cost: ")):
            self.cost(words)

    def announcement(self, words: str) -> None:
        """Take in what the program says of itself."""
        if version := VERSION.match(words):
            self.about["version"] = version[1]
        elif found := MODEL.fullmatch(words):
            label, name, edits = found.groups()
            if label in OTHERS:
                self.about[OTHERS[label]] = name
                return
            self.model = name
            if edits:
                self.about["edit_format"] = edits

    def cost(self, words: str) -> None:
        """Take in what an exchange and the run cost."""
        for amount, of in COST.findall(words):
            usd = float(amount.replace(",", "")) if amount.count(".") < 2 else None
            if usd is None:
                continue
            if of == "session":
                self.total = usd
            else:
                self.costs.append(usd)


def note_of(lines: Iterable[str]) -> Note:
    """Return the lines of a note, sorted."""
    note = Note()
    for line in lines:
        if line:
            note.line(line)
    return note


def count(amount: str | None, thousands: str | None) -> int | None:
    """Return a count in words; ``None`` when it is none."""
    try:
        return None if amount is None else round(float(amount.replace(",", "")) * (1000 if thousands else 1))
    except ValueError:
        return None
