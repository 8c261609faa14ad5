"""The editor's conversations, its "composers" -> events.

composerData:<id>   {name, createdAt, lastUpdatedAt, status, unifiedMode, modelConfig {modelName}, isArchived,
                     usageData {<model>: {costInCents}}, subagentInfo {parentComposerId}, workspaceIdentifier,
                     fullConversationHeadersOnly [{bubbleId, type}] | conversation [bubble], conversationMap,
                     conversationState: "~" and the root of a thread in base64}

The list of headers is the conversation: a bubble that is not in it was taken back. A header names a bubble by the id in
it, which may be another one than in its key, or by that in the key. The newest conversations may have a thread in the place
of bubbles. The times of the conversation count before those of its bubbles, but one of change that equals its beginning was
never kept up. ``contextTokensUsed`` is the size of the context, nothing that was used.
"""

import base64
import binascii
from collections.abc import Iterator
from typing import Any

from ...model import Ended, Ending, Event, Info, Kind, Skipped, Start
from .. import fields, sqlite
from . import items, models, moments, uris
from .bubbles import Bubbles
from .catalog import Noted
from .items import Disk
from .thread import Thread

ENDINGS: dict[str, Ending] = {"completed": "completed", "aborted": "aborted", "error": "error", "generating": "aborted"}
"""A conversation that is said to go on, and does not, was broken off."""

OWN_PROJECTS = "/.cursor/projects/"


class Conversation:
    """One conversation of an open database."""

    def __init__(self, disk: Disk, id: str, noted: Noted) -> None:
        self.disk = disk
        self.id = id
        self.noted = noted
        self.inner: dict[str, str] | None = None

    def events(self, preference: int) -> Iterator[Event]:
        """Yield what it says; nothing when it is gone."""
        record = sqlite.json_value(self.disk.value(items.COMPOSER + self.id))
        if not isinstance(record, dict):
            return
        yield self.start(record, preference)
        yield self.facts(record)
        said = Bubbles(self.id)
        placed = False
        for bubble, header in self.bubbles(record):
            if not isinstance(bubble, dict):
                yield Skipped("a bubble that is no JSON object")
                continue
            yield from said.events(bubble, header)
            if not placed and (place := place_of(bubble)):
                placed = True
                yield Info(project_path=place)
        ending: Ending | None = said.ending if said.any else None
        if not said.any:
            thread = thread_of(record)
            yield from thread.events(self.blob)
            yield Info(last_activity_at=thread.last)
            ending = "aborted" if thread.pending else None
        yield Info(project_path=self.noted.home, model=said.chosen)
        if how := ENDINGS.get(fields.text(record, "status") or "", ending):
            yield Ended(how)

    def start(self, record: Any, preference: int) -> Start:
        """Return the beginning of the session."""
        # Without a time of change that of the start: the file's own changes with every other conversation.
        modified = self.time(record, "lastUpdatedAt") or self.time(record, "createdAt")
        kind: Kind = "subagent" if self.noted.subagent else "session"
        return Start(self.id, kind, self.noted.parent, preference=preference, modified=modified)

    def facts(self, record: Any) -> Info:
        """Return what its own record and its entry in the list of all say."""
        header = self.noted.header
        started, updated = self.time(record, "createdAt"), self.time(record, "lastUpdatedAt")
        usage = fields.table(record, "usageData")
        used = models.name_of(next(iter(usage))) if len(usage) == 1 else None
        about = (
            ("mode", fields.text(record, "unifiedMode")),
            ("agent_type", fields.text(record, "subagentInfo", "subagentTypeName")),
            ("tool_call_id", fields.text(record, "subagentInfo", "toolCallId")),
        )
        return Info(
            project_path=uris.workspace_of(fields.at(record, "workspaceIdentifier"))
            or uris.workspace_of(fields.at(header, "workspaceIdentifier")),
            title=fields.text(record, "name") or fields.text(header, "name"),
            model=models.name_of(record, "modelConfig", "modelName") or used,
            started_at=started,
            ended_at=updated if updated != started else None,
            archived=fields.flag(record, "isArchived") or bool(fields.at(header, "isArchived")) or None,
            cost_usd=cost_of(usage),
            meta={name: value for name, value in about if value} or None,
        )

    def time(self, record: Any, name: str) -> float | None:
        """Return a time of the conversation."""
        return moments.seconds(record, name) or moments.seconds(self.noted.header, name)

    def bubbles(self, record: Any) -> Iterator[tuple[Any, Any]]:
        """Yield the bubbles of the conversation in order, each with its header; ``None`` for one that holds nothing."""
        headers = fields.rows(record, "fullConversationHeadersOnly")
        if not headers:
            yield from ((bubble, None) for bubble in fields.rows(record, "conversation"))
            return
        seen: set[str] = set()
        for header in headers:
            id = fields.at(header, "bubbleId")
            if not isinstance(id, str) or id in seen:
                continue
            seen.add(id)
            data = self.bubble(id)
            if data is not None:
                yield sqlite.json_value(data), header
            elif inline := fields.table(record, "conversationMap", id):
                yield inline, header

    def bubble(self, id: str) -> bytes | None:
        """Return the record of a listed bubble, ``None`` when it is gone."""
        row = self.disk.row(f"{items.BUBBLE}{self.id}:{id}")
        if row and (row[0] is None or fields.text(sqlite.json_value(row[0]), "bubbleId") in (id, None)):
            return row[0]
        if self.inner is None:
            self.inner = dict(self.inner_ids())
        key = self.inner.get(id)
        return self.disk.value(key) if key else row[0] if row else None

    def inner_ids(self) -> Iterator[tuple[str, str]]:
        """Yield the ids in the bubbles that differ from those in their keys, with the keys."""
        for key, data in self.disk.below(f"{items.BUBBLE}{self.id}:"):
            inner = fields.at(sqlite.json_value(data), "bubbleId")
            if isinstance(inner, str) and inner != key.split(":", 2)[2]:
                yield inner, key

    def blob(self, id: str) -> bytes | None:
        """Return a blob of the agent, which may stand in hexadecimal digits."""
        data = self.disk.value(items.BLOB + id)
        try:
            return data and binascii.unhexlify(data)
        except binascii.Error:
            return data


def place_of(bubble: Any) -> str | None:
    """Return the folder that a bubble was said in."""
    found = (uris.path_of(uri) for uri in (*fields.rows(bubble, "workspaceUris"), fields.at(bubble, "workspaceProjectDir")))
    return next((path for path in found if path and OWN_PROJECTS not in path), None)


def cost_of(usage: dict[str, Any]) -> float | None:
    """Return the cost over all models in US dollars, ``None`` when none was recorded."""
    cents = [fields.number(model, "costInCents") for model in usage.values()]
    return sum(cent or 0 for cent in cents) / 100 if any(cent is not None for cent in cents) else None


def thread_of(record: Any) -> Thread:
    """Return the thread that a conversation keeps in the place of bubbles."""
    state = (fields.text(record, "conversationState") or "").removeprefix("~")
    try:
        return Thread.of(base64.urlsafe_b64decode(state.replace("+", "-").replace("/", "_") + "=="))
    except ValueError:
        return Thread()
