"""Events -> sessions. The only place that counts messages and tokens, dates a session and says how it ended.

The fold is incremental: its state at a checkpoint can be stored, and a later fold goes on from there as if the events
before had just been seen. ``transcript`` builds the messages on top of the same class, so the two cannot disagree.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import astuple, fields, replace
from typing import Any

from .errors import InternalError
from .formats import text
from .model import (
    Abandoned,
    Checkpoint,
    Ended,
    Ending,
    Event,
    Info,
    Message,
    Seen,
    Skipped,
    Stale,
    Start,
    Tokens,
    Unknown,
    Usage,
)
from .reading import Amounts, Holding, Reading, add, key_hash, larger, micros, quarter

VERSION = 2
"""Raise it when the same events would give other sessions: every source is then read again."""

TITLE_LENGTH = 100
MAX_PROMPTS = 64
PARTS = tuple(part.name for part in fields(Tokens))


class SessionFold:
    """The state of one session while its events come in."""

    def __init__(self, runtime: str, start: Start) -> None:
        self.runtime = runtime
        self.start = start
        self.info = Info(title_rank=-1)
        self.model: str | None = None
        self.positions = 0
        self.sizes: dict[int | str, list[int]] = {}
        self.users: list[tuple[int, int | str]] = []
        self.prompts: dict[int | str, str] = {}
        self.abandoned: frozenset[int | str] = frozenset()
        self.first: float | None = None
        self.opening: float | None = None
        self.last: float | None = None
        self.last_role = ""
        self.open_calls: set[str] = set()
        self.ended: Ending | None = None
        self.skipped = 0
        self.torn = False
        self.unknown = 0
        self.usage: dict[tuple[int, str], Amounts] = {}
        self.keyless: dict[tuple[int, str], Amounts] = {}
        self.holdings: dict[bytes, Holding] = {}
        self.changed: set[bytes] = set()
        self.awaiting: bytes | None = None
        self.resumed = False

    def feed(self, event: Event) -> None:
        """Take one event that belongs to this session."""
        match event:
            case Message():
                self.message(event)
            case Usage():
                self.use(event)
            case Seen():
                self.at(event.time)
            case Info():
                self.learn(event)
            case Ended():
                self.ended = event.how
            case Abandoned():
                if self.resumed and event.branches != self.abandoned:
                    raise Stale
                self.abandoned = event.branches
            case Unknown():
                self.unknown += 1
            case Skipped():
                if event.tail:
                    self.torn = True
                else:
                    self.skipped += 1

    def message(self, event: Message) -> tuple[int, bool]:
        """Count a message; return its position and whether it is a new one."""
        holding, known = self.hold(event.key, self.positions) if event.key else (None, False)
        if event.model:
            self.model = event.model
        self.at(event.time, holding)
        position = holding.position if holding else self.positions
        if not known:
            self.positions += 1
            size = self.sizes.setdefault(event.branch, [0, 0])
            size[0] += 1
            size[1] += event.role in ("user", "assistant")
            if event.role == "user":
                self.prompt(event, position)
        if event.role != "system":
            self.last_role = event.role
            self.ended = None
            self.track_calls(event)
        return position, not known

    def prompt(self, event: Message, position: int) -> None:
        """Remember a user message, and its words while they may become the title."""
        self.users.append((position, event.branch))
        if event.branch not in self.prompts and len(self.prompts) < MAX_PROMPTS:
            words = " ".join(plain(event.content).split())[:TITLE_LENGTH]
            if words:
                self.prompts[event.branch] = words

    def track_calls(self, event: Message) -> None:
        """Know which tool calls nothing has answered; a new prompt ends the wait for all."""
        if event.role == "user":
            self.open_calls.clear()
        for call in event.tool_calls or ():
            if call.id:
                self.open_calls.add(call.id)
        if event.tool_result and event.tool_result.tool_call_id:
            self.open_calls.discard(event.tool_result.tool_call_id)

    def hold(self, key: str, position: int) -> tuple[Holding, bool]:
        """Return the holding of a response, made for this position when it is new, and whether it was known."""
        digest = key_hash(self.runtime, key)
        holding = self.holdings.get(digest)
        if holding is not None:
            return holding, True
        holding = self.holdings[digest] = Holding(digest, position)
        self.changed.add(digest)
        return holding, False

    def at(self, time: float | None, holding: Holding | None = None) -> None:
        """Widen the session's times by a record, the first after a response ends the wait for its successor."""
        if time is None:
            return
        self.opening = time if self.opening is None else self.opening
        self.first = time if self.first is None else min(self.first, time)
        self.last = time if self.last is None else max(self.last, time)
        if self.awaiting and (holding is None or holding.key != self.awaiting):
            waiting = self.holdings[self.awaiting]
            waiting.next_time = time
            self.changed.add(waiting.key)
            self.awaiting = None
        if holding is not None and holding.next_time is None:
            self.awaiting = holding.key
        if holding is not None and not holding.used:
            holding.time = holding.time or time

    def use(self, event: Usage) -> None:
        """Add what a response used; what the same response reported before is replaced part by part by the larger value."""
        if event.model and not event.aside:
            self.model = event.model
        new: Amounts = [*astuple(event.tokens), micros(event.cost_usd)]
        if event.key is None:
            slot = (quarter(event.time or self.last or 0), event.model or self.model or "")
            add(self.keyless.setdefault(slot, [None] * 6), new)
            add(self.usage.setdefault(slot, [None] * 6), new)
            return
        holding, _ = self.hold(event.key, max(self.positions - 1, 0))
        if not holding.used:
            # Fixed here, so that a later and larger report of the response lands in the same slot.
            holding.time = holding.time or event.time or self.last
            holding.model = event.model or self.model
        merged = [larger(old, value) for old, value in zip(holding.amounts, new, strict=True)]
        if merged == holding.amounts and holding.used:
            return
        growth = [None if value is None else value - (old or 0) for old, value in zip(holding.amounts, merged, strict=True)]
        add(self.usage.setdefault((quarter(holding.time or 0), holding.model or ""), [None] * 6), growth)
        holding.amounts, holding.used = merged, True
        self.changed.add(holding.key)

    def learn(self, event: Info) -> None:
        """Take facts: the first project, the best title, the last of everything else."""
        info = self.info
        info.project_path = info.project_path or event.project_path
        if event.title and event.title_rank >= info.title_rank:
            info.title, info.title_rank = event.title, event.title_rank
        for name in ("model", "started_at", "ended_at", "parent_id", "archived", "cost_usd", "tokens", "tags"):
            value = getattr(event, name)
            if value is not None:
                setattr(info, name, value)
        if event.last_activity_at is not None:
            self.last = max(self.last or event.last_activity_at, event.last_activity_at)
        if event.meta:
            info.meta = {**(info.meta or {}), **event.meta}

    def reading(self) -> Reading | None:
        """Return the session as it stands, or ``None``: without a message of user or assistant there is none."""
        gone = [size for branch, size in self.sizes.items() if branch in self.abandoned]
        messages = sum(size[0] for size in self.sizes.values()) - sum(size[0] for size in gone)
        if sum(size[1] for size in self.sizes.values()) == sum(size[1] for size in gone):
            return None
        turns = [position for position, branch in self.users if branch not in self.abandoned]
        for key in self.changed:
            self.holdings[key].turns = bisect_right(turns, self.holdings[key].position)
        usage, keyless = self.totals()
        return Reading(
            start=self.start,
            info=self.info,
            title=self.title(),
            model=self.model or self.info.model,
            message_count=messages,
            turn_count=len(turns),
            first_time=self.first,
            opening_time=self.opening,
            last_time=self.last if self.info.ended_at is None else self.info.ended_at,
            ending=self.ending(),
            torn=self.torn,
            skipped=self.skipped,
            unknown=self.unknown,
            seen=self.positions + self.skipped + self.unknown,
            usage=usage,
            keyless=keyless,
            holdings=[self.holdings[key] for key in sorted(self.changed)],
            resumed=self.resumed,
        )

    def totals(self) -> tuple[dict[tuple[int, str], Amounts], dict[tuple[int, str], Amounts]]:
        """Return usage and its keyless part, with the session's own totals where its responses say nothing."""
        told: Amounts = [None] * 6
        for amounts in self.usage.values():
            add(told, amounts)
        whole: Amounts = [None] * 6
        if self.info.tokens and told[:5] == [None] * 5:
            whole[:5] = astuple(self.info.tokens)
        if told[5] is None:
            whole[5] = micros(self.info.cost_usd)
        if whole == [None] * 6:
            return self.usage, self.keyless
        slot = (quarter(self.last or 0), self.model or self.info.model or "")
        both = []
        for part in (self.usage, self.keyless):
            copy = {**part, slot: list(part.get(slot, [None] * 6))}
            add(copy[slot], whole)
            both.append(copy)
        return both[0], both[1]

    def title(self) -> str | None:
        """Return the runtime's title, else the first prompt of the conversation, else a fallback of rank 0."""
        prompt = next((words for branch, words in self.prompts.items() if branch not in self.abandoned), None)
        title = self.info.title if self.info.title_rank > 0 else prompt or self.info.title
        return text.clean(title) if title else None

    def ending(self) -> Ending:
        """Return how the session stands: as said last, else ``aborted`` when something waits for an answer."""
        if self.ended:
            return self.ended
        return "aborted" if self.last_role in ("user", "tool") or self.open_calls else "completed"

    def state(self) -> dict[str, Any]:
        """Return everything but the holdings, as JSON-like data."""
        return {
            "start": [getattr(self.start, f.name) for f in fields(Start)],
            "info": [getattr(self.info, f.name) for f in fields(Info) if f.name != "tokens"],
            "tokens": None if self.info.tokens is None else list(astuple(self.info.tokens)),
            "model": self.model,
            "positions": self.positions,
            "sizes": [[branch, *size] for branch, size in self.sizes.items()],
            "users": [[position, branch] for position, branch in self.users],
            "prompts": [[branch, words] for branch, words in self.prompts.items()],
            "abandoned": sorted(self.abandoned, key=str),
            "times": [self.first, self.opening, self.last],
            "last": [self.last_role, sorted(self.open_calls), self.ended],
            "skipped": [self.skipped, self.unknown],
            "usage": [[*slot, *amounts] for slot, amounts in self.usage.items()],
            "keyless": [[*slot, *amounts] for slot, amounts in self.keyless.items()],
            "awaiting": self.awaiting.hex() if self.awaiting else None,
        }

    @classmethod
    def restore(cls, runtime: str, state: dict[str, Any], known: Iterable[Holding]) -> "SessionFold":
        """Return the fold as it was at a checkpoint; ``known`` are the session's holdings in the ledger."""
        self = cls(runtime, Start(*state["start"]))
        names = [f.name for f in fields(Info) if f.name != "tokens"]
        self.info = Info(**dict(zip(names, state["info"], strict=True)))
        self.info.tags = None if self.info.tags is None else tuple(self.info.tags)
        self.info.tokens = None if state["tokens"] is None else Tokens(*state["tokens"])
        self.model = state["model"]
        self.positions = state["positions"]
        self.sizes = {branch: size for branch, *size in state["sizes"]}
        self.users = [(position, branch) for position, branch in state["users"]]
        self.prompts = dict(state["prompts"])
        self.abandoned = frozenset(state["abandoned"])
        self.first, self.opening, self.last = state["times"]
        self.last_role, calls, self.ended = state["last"]
        self.open_calls = set(calls)
        self.skipped, self.unknown = state["skipped"]
        self.usage = {(slot, model): amounts for slot, model, *amounts in state["usage"]}
        self.keyless = {(slot, model): amounts for slot, model, *amounts in state["keyless"]}
        self.holdings = {holding.key: holding for holding in known}
        self.awaiting = bytes.fromhex(state["awaiting"]) if state["awaiting"] else None
        self.resumed = True
        return self


class Fold:
    """The sessions of one source, from its events."""

    session_fold = SessionFold

    def __init__(self, runtime: str) -> None:
        self.runtime = runtime
        self.sessions: dict[str, SessionFold] = {}
        self.current: SessionFold | None = None
        self.stray = 0
        self.checkpoint: Checkpoint | None = None
        self.state: dict[str, Any] | None = None

    def run(self, events: Iterable[Event]) -> "Fold":
        """Take all events.

        Raises:
            Stale: a resumed source must be read from its start.
        """
        for event in events:
            if isinstance(event, Checkpoint):
                self.checkpoint, self.state = event, self.snapshot()
                continue
            if self.checkpoint and not (isinstance(event, Skipped) and event.tail):
                # A last record without a newline counts, but may still grow: only a full read can replace it.
                self.checkpoint = self.state = None
            if isinstance(event, Start):
                self.open(event)
            elif self.current is not None:
                self.current.feed(event)
            elif isinstance(event, Skipped):
                self.stray += not event.tail
            else:
                raise InternalError(f"the {self.runtime} adapter began with {type(event).__name__} instead of Start")
        return self

    def sessions_of(self, events: Iterable[Event]) -> Iterator[SessionFold]:
        """Yield each session as soon as its events are over, for sources that keep those of a session together."""
        for event in events:
            if isinstance(event, Start) and self.current and event.session_id != self.current.start.session_id:
                yield self.sessions.pop(self.current.start.session_id)
            self.run((event,))
        yield from self.sessions.values()

    def open(self, start: Start) -> None:
        """Begin a session, or go back to one."""
        self.current = self.sessions.get(start.session_id)
        if self.current is None:
            self.current = self.sessions[start.session_id] = self.session_fold(self.runtime, start)
        else:
            parent = start.parent_id or self.current.start.parent_id
            self.current.start = replace(start, parent_id=parent)

    def readings(self) -> list[Reading]:
        """Return the sessions that have a message."""
        found = (session.reading() for session in self.sessions.values())
        return [reading for reading in found if reading is not None]

    @property
    def skipped(self) -> int:
        """Records that could not be read, in all."""
        return self.stray + sum(session.skipped for session in self.sessions.values())

    def snapshot(self) -> dict[str, Any]:
        """Return the state of all sessions as JSON-like data."""
        current = self.current.start.session_id if self.current else None
        return {"current": current, "sessions": [session.state() for session in self.sessions.values()]}

    def restore(self, state: dict[str, Any], known: dict[str, list[Holding]]) -> "Fold":
        """Take up the state of a checkpoint; ``known`` has the ledger's holdings by session id."""
        for one in state["sessions"]:
            session = self.session_fold.restore(self.runtime, one, known.get(one["start"][0], ()))
            self.sessions[session.start.session_id] = session
        self.current = self.sessions.get(state["current"])
        return self


def plain(content: str | list[Any]) -> str:
    """Return the words of a message's content."""
    if isinstance(content, str):
        return content
    return "\n".join(part["text"] for part in content if isinstance(part, dict) and isinstance(part.get("text"), str))
