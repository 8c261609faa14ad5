"""Entries of Pi and its relatives -> events.

type message              message {role, content, …, timestamp in ms}, a role of ROLES
type compaction           a summary; the entries it stands for remain the conversation
type branch_summary       what a branch that was left held
type custom_message       text an extension put in
type usage, model_usage   a request beside the conversation
type session_info, title_change     the title; an empty one takes it back
type model_change, leaf, label, custom, …     settings and notes, which do not speak

An entry is known by its id and its time: a fork copies both. Before version 2 entries have no ids.
"""

import hashlib
import json
from collections.abc import Iterator
from typing import Any

from ...model import Abandoned, Ended, Ending, Event, Info, Message, Role, Seen, Stale, Unknown, Usage
from .. import fields, text
from ..blocks import plain
from . import content
from .tree import Tree

TITLE_ENTRY = 2
"""Rank of a title that stands in an entry."""

INJECTED = ("custom", "hookMessage", "developer", "system", "fileMention", "branchSummary", "compactionSummary")
SHELLS = ("bashExecution", "pythonExecution")
ROLES = frozenset(("user", "assistant", "toolResult", *INJECTED, *SHELLS))
SPEAKING = ("compaction", "branch_summary", "custom_message")
ASIDE = ("usage", "model_usage")
TITLES = {"session_info": "name", "title_change": "title"}
NOTES = ("model_change", "thinking_level_change", "label", "custom", "context_edit", "leaf", "session_init", "mode_change")
TYPES = frozenset(("message", *SPEAKING, *ASIDE, *TITLES, *NOTES))
"""What tells an entry of a session from a line of something else."""
NOISE = ("service_tier_change", "ttsr_injection", "mcp_tool_selection", "credential_pin", "reset_boundary", "reset")
KNOWN = TYPES.union(NOISE)

WAITING = ("aborted", "pending", "deferred")

Record = dict[str, Any]


class Entries:
    """The entries of one session, one after the other. A runtime with habits of its own is a subclass.

    Args:
        state: as ``state`` returned it for a shorter log; ``None`` when the log is read from its start.
    """

    def __init__(self, state: dict[str, Any] | None = None) -> None:
        self.resumed = state is not None
        state = state or {}
        self.tree = Tree(state.get("tree"))
        self.newest: float = state.get("newest", 0)
        self.provider: str | None = state.get("provider")
        self.name: str | None = None

    def state(self) -> dict[str, Any]:
        """Return what a later reading of the grown log needs, as JSON-like data."""
        return {"tree": self.tree.state(), "newest": self.newest, "provider": self.provider}

    def entry(self, record: Record) -> Iterator[Event]:
        """Yield what the next entry says."""
        kind = fields.text(record, "type")
        if kind in ("session", "title") or self.tree.repeats(record):
            return
        if kind == "leaf":
            self.tree.move(record)
        said, ending = self.said(record, kind)
        node = self.tree.leaf if kind == "leaf" else self.tree.add(record, speaks=bool(said), ending=ending)
        if kind not in KNOWN or (kind == "message" and fields.text(record, "message", "role") not in ROLES):
            yield Unknown()
        time = fields.seconds(record, "timestamp") or fields.seconds(record, "message", "timestamp")
        self.newest = max(self.newest, time or 0)
        key = self.key(record)
        for number, message in enumerate(reversed(said)):
            message.time, message.id, message.branch = time, fields.text(record, "id"), node
            # What the runtime put beside a prompt stands before it: the prompt itself keeps the entry's key.
            message.key = f"{key}/{number}" if number and key else key
            message.raw = None if number else record
        yield from said
        if not said and time is not None:
            yield Seen(time)
        yield from self.usage(record, kind, key, time)
        yield from self.facts(record, kind)

    def settle(self) -> Iterator[Event]:
        """Say which branches the conversation has left and how it stands, as far as the log goes."""
        yield Abandoned(self.tree.abandoned())
        yield Ended(self.tree.ending())
        if self.name:
            yield Info(title=self.name, title_rank=TITLE_ENTRY)

    def key(self, record: Record) -> str | None:
        """Return what an entry and its copies are known by."""
        time = fields.text(record, "timestamp") or fields.number(record, "message", "timestamp")
        own = fields.text(record, "id")
        if own is None:
            whole = json.dumps(text.clean_json(fields.at(record, "message")), sort_keys=True)
            own = hashlib.blake2b(whole.encode(), digest_size=16).hexdigest()
        return f"{own}@{time}"

    def said(self, record: Record, kind: str | None) -> tuple[list[Message], Ending | None]:
        """Return the messages of an entry, and how the conversation stands after it; ``None`` where that has not changed."""
        if kind in ("compaction", "branch_summary"):
            return [Message("system", content=fields.text(record, "summary") or "")], None
        if kind == "custom_message":
            return [Message("system", content=plain(content.parts_of(fields.at(record, "content"))))], None
        if kind != "message":
            return [], None
        message = fields.table(record, "message")
        match fields.text(message, "role"):
            case "user":
                said = [Message(role, content=plain(parts)) for role, parts in self.spoken(message) if parts]
                return said, "aborted" if any(one.role == "user" for one in said) else None
            case "assistant":
                return self.answer(message)
            case "toolResult":
                return [Message("tool", tool_result=content.result_of(message))], "aborted"
            case role if role in SHELLS:
                return [Message("system", content=content.shell_of(message))], None
            case role if role in INJECTED:
                return [Message("system", content=injected(message))], None
        return [], None

    def spoken(self, message: Record) -> list[tuple[Role, list[Any]]]:
        """Return the parts of a user message by who is responsible for them, what the runtime put in before the rest."""
        return [("user", content.parts_of(fields.at(message, "content")))]

    def answer(self, message: Record) -> tuple[list[Message], Ending | None]:
        """Return an API response, or what stands in place of one that failed."""
        said = content.Said(fields.at(message, "content"))
        stop, model = fields.text(message, "stopReason"), fields.text(message, "model")
        ending: Ending = "error" if stop == "error" else "aborted" if stop in WAITING or said.calls else "completed"
        if said.empty:
            return [Message("system", content=fields.text(message, "errorMessage") or "", model=model)], ending
        return [
            Message("assistant", content=said.content, tool_calls=said.calls or None, thinking=said.thinking, model=model)
        ], ending

    def usage(self, record: Record, kind: str | None, key: str | None, time: float | None) -> Iterator[Event]:
        """Yield what the request behind an entry used."""
        holder = fields.table(record, "message") if kind == "message" else record
        used = fields.at(holder, "usage")
        if tokens := content.tokens_of(used):
            model, cost = fields.text(holder, "model"), fields.number(used, "cost", "total")
            yield Usage(tokens, key, model, time, cost, aside=kind in ASIDE)

    def facts(self, record: Record, kind: str | None) -> Iterator[Event]:
        """Yield what an entry says of its session beside its messages."""
        if kind in TITLES:
            self.rename(record, TITLES[kind])
        elif kind == "model_change":
            if fields.text(record, "role") in (None, "default"):
                yield from self.choose(*content.model_of(record))
        elif kind == "message" and fields.text(record, "message", "role") == "assistant":
            yield from self.choose(fields.text(record, "message", "provider"), None)

    def rename(self, record: Record, field: str) -> None:
        """Take a title; the newest counts, wherever it stands in the tree.

        Raises:
            Stale: a title that was told before has been taken back.
        """
        self.name = fields.text(record, field)
        if self.name is None and self.resumed:
            raise Stale

    def choose(self, provider: str | None, model: str | None) -> Iterator[Event]:
        """Yield provider and model, as far as they are news."""
        if provider and provider != self.provider:
            self.provider = provider
            yield Info(model=model, meta={"provider": provider})
        elif model:
            yield Info(model=model)


def injected(message: Record) -> str | list[Any]:
    """Return what the runtime put in, from wherever the role keeps it."""
    if parts := content.parts_of(fields.at(message, "content")):
        return plain(parts)
    if summary := fields.text(message, "summary"):
        return summary
    sections = [section for section in fields.table(message, "sections").values() if isinstance(section, str)]
    paths = [f"@{path}" for file in fields.rows(message, "files") if (path := fields.text(file, "path"))]
    return "\n\n".join((*sections, *paths))
