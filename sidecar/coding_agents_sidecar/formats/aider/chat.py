"""What one run says -> events.

Lines of a kind that follow each other are one message; an answer goes on over empty lines, prompts and notes do not. Nothing
but the start of a run has a time, and nothing in it an id.
"""

import hashlib
from collections.abc import Iterable, Iterator
from typing import Any

from ...errors import ParseError
from ...fold import TITLE_LENGTH
from ...model import Ended, Ending, Event, Info, Message, Skipped, Start, ToolResult, Usage
from .. import jsonl, text
from .lines import Kind, kind_of, words_of
from .notes import note_of
from .runs import History, Run

NOTHING = "<blank>"
"""A prompt that was left empty."""

COMMANDS = ("/", "!")
Unit = tuple[Kind, list[bytes]]


def events(source: History, run: Run) -> Iterator[Event]:
    """Yield what a run says.

    Raises:
        ParseError: the file cannot be read, or is not what it was when its runs were looked up.
    """
    yield Start(run.id, modified=run.last)
    yield Info(project_path=source.project, started_at=run.started, last_activity_at=run.last)
    chat = Chat()
    for unit in units(lines(source.path, run)):
        if isinstance(unit, Skipped):
            yield unit
        else:
            yield from chat.unit(*unit)
    yield from chat.end()


def lines(path: str, run: Run) -> Iterator[bytes | None]:
    """Yield the lines of a run behind its header; ``None`` for one that is too long.

    Raises:
        ParseError: they are not those that were looked up.
    """
    part, digest = run.part, hashlib.blake2b(digest_size=12)
    place = part.start
    for line, after, _ in jsonl.lines(path, part.start, min(jsonl.BLOCK, part.end - part.start)):
        digest.update(line or b"")
        if part.header is None or place > part.start:
            yield line
        place = after
        if place >= part.end:
            break
    if place != part.end or digest.hexdigest() != part.digest:
        raise ParseError(f"{text.path(path)} changes while it is read", transient=True)


def units(lines: Iterable[bytes | None]) -> Iterator[Unit | Skipped]:
    """Yield the lines of each message together."""
    kind, held = Kind.BLANK, list[bytes]()
    for line in lines:
        if line is None:
            yield Skipped("a line that is too long")
            continue
        now = kind_of(line)
        if kind is Kind.NOTE and line.startswith(b"Cost: $"):
            # A note of two lines, of which some versions mark only the first.
            now = Kind.NOTE
        if now is not kind and not (kind is Kind.ANSWER and now is Kind.BLANK):
            if held:
                yield kind, held
            kind, held = now, []
        if kind is not Kind.BLANK:
            held.append(line)
    if held:
        yield kind, held


class Chat:
    """A run while it is read."""

    def __init__(self) -> None:
        self.last = Kind.BLANK
        self.title: str | None = None
        self.command: str | None = None
        self.prompts = self.answers = 0
        self.is_answered = False
        self.model: str | None = None
        self.meta: dict[str, Any] = {}
        self.costs: list[float] = []
        self.total: float | None = None
        self.failed_at: int | None = None
        self.is_stopped = False

    def unit(self, kind: Kind, raw: list[bytes]) -> Iterator[Event]:
        """Yield what the lines of a message say."""
        words = [words_of(line, kind) for line in raw]
        said = "\n".join(words).strip()
        record = b"".join(raw).decode("utf-8", "replace")
        if kind is Kind.NOTE and not said:
            return
        self.last = kind
        match kind:
            case Kind.PROMPT:
                yield self.prompt("" if said == NOTHING else said, record)
            case Kind.ANSWER:
                yield self.answer(said, record)
            case _:
                yield from self.note(words, said, record)

    def prompt(self, said: str, record: str) -> Message:
        """Return a prompt."""
        self.prompts += 1
        self.is_answered = False
        title = " ".join(said.partition("\n")[0].split())[:TITLE_LENGTH] or None
        if title and title.startswith(COMMANDS):
            self.command = self.command or title
        else:
            self.title = self.title or title
        return Message("user", content=said, raw=record)

    def answer(self, said: str, record: str) -> Message:
        """Return an answer."""
        self.answers += 1
        self.is_answered = True
        if self.failed_at is not None and self.failed_at < self.prompts:
            self.failed_at = None
        return Message("assistant", content=said, model=self.model, raw=record)

    def note(self, words: list[str], said: str, record: str) -> Iterator[Event]:
        """Yield what the program said, and what it told of what was used."""
        note = note_of(words)
        if note.announces:
            yield Message("system", content=said, raw=record)
        else:
            yield Message("tool", tool_result=ToolResult(None, said, note.failed is True), raw=record)
        self.model = note.model or self.model
        for tokens in note.used:
            # What brought no answer has no say in which model the run's is.
            yield Usage(tokens, model=self.model, aside=not self.is_answered)
        self.meta.update(note.about)
        if note.is_rounded:
            self.meta["approximate_tokens"] = True
        for what, amount in note.cached.items():
            self.meta[f"cache_{what}"] = self.meta.get(f"cache_{what}", 0) + amount
        self.costs += note.costs
        self.total = self.total if note.total is None else note.total
        if note.failed is not None:
            self.failed_at = self.prompts if note.failed else None
        self.is_stopped = note.is_stopped

    def end(self) -> Iterator[Event]:
        """Yield what is known of the run as a whole."""
        yield Info(
            title=self.title or self.command,
            model=None if self.answers else self.model,
            cost_usd=(sum(self.costs) if self.costs else None) if self.total is None else self.total,
            meta=self.meta or None,
        )
        yield Ended(self.ending())

    def ending(self) -> Ending:
        """Return how the run stands after its last message."""
        if self.last is Kind.PROMPT or (self.last is Kind.NOTE and self.is_stopped):
            return "aborted"
        return "completed" if self.failed_at is None else "error"
