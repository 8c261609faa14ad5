"""What the responses of a session used, from the best that its log tells.

session.usage_record    one API call each; where there are any, shutdowns only repeat their sum
session.shutdown        modelMetrics, and agentMetrics of newer versions: sums of all responses, of sub-agents too.
                        Older versions begin anew whenever a session is resumed, newer ones go on
assistant.message       outputTokens alone; counts where there is neither, unless the runtime's database knows more

Input includes cached tokens, output reasoning. Costs are in requests and credits, not in money.
"""

import hashlib
from collections.abc import Collection
from typing import Any

from ...model import Stale, Tokens, Usage
from .. import fields
from .content import real

PARTS = ("inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens", "reasoningTokens")
COMPACTION = ("input", "output", "cachedInput")
"""What older versions call the first parts of what a compaction used."""

MAIN = "main"
CUMULATIVE = ("accountingSnapshot", "usageAccountingWatermarks")
"""In the shutdowns of versions whose counters go on when a session is resumed."""

Counts = list[int | None]
"""In the order of ``PARTS``."""


def counts_of(usage: Any) -> Counts:
    """Return the counts that a record holds."""
    return [fields.count(usage, name) for name in PARTS]


def tokens_of(counts: Counts) -> Tokens | None:
    """Return the tokens that counts come to; ``None`` when none is known."""
    whole, output, read, written, reasoning = counts
    uncached = None if whole is None else max(0, whole - (read or 0) - (written or 0))
    tokens = Tokens(uncached, output, read, written, reasoning)
    return None if tokens == Tokens() else tokens


def plus(one: Counts, other: Counts) -> Counts:
    """Return the sum of two counts."""
    return [a if b is None else b if a is None else a + b for a, b in zip(one, other, strict=True)]


def minus(one: Counts, other: Counts) -> Counts:
    """Return by how much counts have grown."""
    return [None if a is None else max(0, a - (b or 0)) for a, b in zip(one, other, strict=True)]


def compaction_of(data: Any) -> Tokens | None:
    """Return what a compaction used."""
    used = fields.table(data, "compactionTokensUsed")
    old = [fields.count(used, name) for name in COMPACTION]
    return tokens_of(plus(counts_of(used), [*old, None, None]))


class Accounts:
    """The usage of a log while it is read. Sub-agents go by their names, the main conversation by ''.

    Args:
        session_id: of the main conversation.
        state: as ``state`` returned it for a shorter log; ``None`` when the log is read from its start.
    """

    def __init__(self, session_id: str, state: dict[str, Any] | None = None) -> None:
        state = state or {}
        self.session_id = session_id
        self.recorded: bool = state.get("recorded", False)
        self.summed: bool = state.get("summed", False)
        self.guessed: bool = state.get("guessed", False)
        self.seen: set[str] = set(state.get("seen", []))
        self.models: dict[str, Counts] = state.get("models", {})
        self.parts: dict[tuple[str, str], Counts] = {(lane, model): counts for lane, model, *counts in state.get("parts", [])}
        self.requests: int | None = state.get("requests")
        self.responses: int = state.get("responses", 0)
        self.unsure: list[tuple[str, Usage]] = []

    def state(self) -> dict[str, Any]:
        """Return what reading the grown log from here on needs, as JSON-like data."""
        plain = ("recorded", "summed", "guessed", "models", "requests", "responses")
        parts = [[lane, model, *counts] for (lane, model), counts in self.parts.items()]
        return {**{name: getattr(self, name) for name in plain}, "seen": sorted(self.seen), "parts": parts}

    @property
    def told(self) -> bool:
        """Whether the log itself tells what was used."""
        return self.recorded or self.summed

    def record(self, lane: str, record: dict[str, Any]) -> tuple[str | None, Usage] | None:
        """Return the API call that a usage record tells of, and what it used; ``None`` when that has been told.

        Raises:
            Stale: as in ``be_sure``.
        """
        data = fields.table(record, "data")
        used = fields.table(data, "usage") or data
        call = fields.text(used, "apiCallId")
        name = fields.text(used, "accounting", "usageId") or call or fields.text(record, "id")
        source = fields.text(used, "accounting", "sourceSessionId") or lane or self.session_id
        tokens = tokens_of(counts_of(used))
        digest = hashlib.blake2b(f"{source}\0{name}".encode("utf-8", "replace"), digest_size=8).hexdigest()
        if tokens is None or (name and digest in self.seen):
            return None
        self.be_sure()
        self.recorded = True
        self.seen.add(digest)
        key = f"{source}/{name}" if name else None
        return call, Usage(tokens, key, real(fields.text(used, "model")), fields.seconds(record, "timestamp"), aside=True)

    def shutdown(self, record: dict[str, Any], lanes: Collection[str]) -> list[tuple[str, Usage]]:
        """Return what was used since the shutdown before this one.

        Args:
            lanes: sub-agents that are known; what others used is the main conversation's.

        Raises:
            Stale: as in ``be_sure``.
        """
        data = fields.table(record, "data")
        models = metrics_of(data)
        if self.recorded or not models:
            return []
        self.be_sure()
        counted = [fields.count(data, "modelMetrics", model, "requests", "count") for model in models]
        requests = sum(one or 0 for one in counted) if any(counted) else None
        before = self.parts if self.goes_on(data, models, requests) else {}
        self.parts = parts_of(data, models, lanes)
        told = []
        for (lane, model), counts in self.parts.items():
            tokens = tokens_of(minus(counts, before.get((lane, model), [None] * len(PARTS))))
            key = f"{fields.text(record, 'id') or self.session_id}/{lane or MAIN}/{model}"
            if tokens:
                told.append((lane, Usage(tokens, key, real(model), fields.seconds(record, "timestamp"), aside=True)))
        self.summed, self.models, self.requests, self.responses = True, models, requests, 0
        return told

    def goes_on(self, data: dict[str, Any], models: dict[str, Counts], requests: int | None) -> bool:
        """Return whether the counters of a shutdown include those of the one before it.

        They do not when one of them is lower. Else a version that does not say so is told by the number of its requests:
        it is near that of the responses since then, or near that and the requests before them.
        """
        for model, counts in self.models.items():
            now = models.get(model, [None] * len(PARTS))
            if any(new is None or new < old for old, new in zip(counts, now, strict=True) if old is not None):
                return False
        if any(name in data for name in CUMULATIVE):
            return True
        if requests is None or self.requests is None:
            return False
        return abs(requests - self.requests - self.responses) < abs(requests - self.responses)

    def answer(self, lane: str, key: str | None, model: str | None, time: float | None, tokens: Tokens | None) -> None:
        """Note a response, and what its own record says of its usage."""
        self.responses += 1
        self.unsure_of(lane, key, model, time, tokens)

    def unsure_of(self, lane: str, key: str | None, model: str | None, time: float | None, tokens: Tokens | None) -> None:
        """Keep usage that counts only if the log has nothing better to tell."""
        if tokens:
            self.unsure.append((lane, Usage(tokens, key, model, time, aside=True)))

    def be_sure(self) -> None:
        """Drop what was not sure.

        Raises:
            Stale: it was told when the log was shorter.
        """
        if self.guessed:
            raise Stale
        self.unsure.clear()

    def rest(self, stored: list[tuple[str, Usage]]) -> list[tuple[str, Usage]]:
        """Return the usage for which the log has told nothing better.

        Args:
            stored: what the runtime's database knows of the session.

        Raises:
            Stale: messages were told when the database was empty.
        """
        if self.told:
            return []
        if stored:
            self.be_sure()
            return stored
        told, self.unsure = self.unsure, []
        self.guessed = self.guessed or bool(told)
        return told


def metrics_of(data: Any) -> dict[str, Counts]:
    """Return the counts of each model in a shutdown, or in its part about one agent."""
    metrics = fields.table(data, "modelMetrics")
    found = {model: counts_of(fields.at(metrics, model, "usage")) for model in metrics}
    return {model: counts for model, counts in found.items() if any(count is not None for count in counts)}


def parts_of(data: dict[str, Any], models: dict[str, Counts], lanes: Collection[str]) -> dict[tuple[str, str], Counts]:
    """Return the counts of a shutdown by agent and model; all are the main conversation's where it does not divide them."""
    agents = fields.table(data, "agentMetrics")
    if not metrics_of(fields.at(agents, MAIN)):
        return {("", model): counts for model, counts in models.items()}
    parts: dict[tuple[str, str], Counts] = {}
    for agent in agents:
        lane = agent if agent in lanes else ""
        for model, counts in metrics_of(fields.at(agents, agent)).items():
            parts[lane, model] = plus(parts.get((lane, model), [None] * len(PARTS)), counts)
    return parts
