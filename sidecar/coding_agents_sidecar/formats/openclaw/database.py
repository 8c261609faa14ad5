"""``openclaw-agent.sqlite``, all sessions of an agent since 2026.7.2.

session_nodes                      the conversations, by session_key; entry_json is an entry of ``sessions.json``
session_windows                    the sessions; a reset begins another one of the same conversation
transcript_events                  their entries; event_zstd in the place of event_json holds a long one compressed
session_transcript_index_state     leaf_event_id is where the conversation stands
session_transcript_cold_archives   transcripts put away, in the row or in a file below sessions/cold
session_transcript_archives        transcripts of sessions that were deleted or reset
sessions, session_entries          what the first two were called before version 14

Status and archived_at of a conversation are those of its current session.
"""

import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from sqlite3 import Connection
from typing import Any

from ...model import Skipped
from .. import beside, fields, jsonl, packed, sqlite
from .index import ENDINGS, Noted, noted

EVENT_LIMIT = 4 << 20
ARCHIVE_LIMIT = 64 << 20

WINDOW = (
    *("session_id", "session_key", "previous_session_id", "reason", "updated_at", "transcript_updated_at"),
    *("chat_type", "channel", "model_provider", "model", "parent_session_key", "spawned_by"),
)
NODE = (
    *("session_key", "current_session_id", "session_id", "entry_json", "status", "archived_at", "updated_at"),
    *("parent_session_key", "spawned_by", "fork_source_session_id", "label", "display_name"),
)
APPENDED = "SELECT session_id, count(*), max(seq) FROM transcript_events GROUP BY session_id"
CHANGING = (
    ("session_transcript_index_state", ("indexed_seq", "leaf_event_id", "needs_rebuild")),
    ("transcript_rewrite_watermarks", ("generation",)),
    ("session_transcript_cold_archives", ("generation", "archive_name", "storage")),
    ("session_transcript_archives", ("generation",)),
)
"""Tables that change with a session's transcript otherwise than by appending."""

Record = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Session:
    """A session as the database lists it.

    Args:
        noted: what its conversation says of it.
        origin: native id of the session it was forked from.
        deleted: only its archive is left.
        meta: the session before it in the conversation, and why it began.
    """

    id: str
    noted: Noted
    origin: str | None = None
    model: str | None = None
    modified: float | None = None
    deleted: bool = False
    meta: tuple[tuple[str, str], ...] = ()


class Database:
    """The sessions of a database.

    Args:
        path: of the database; archives may lie beside it.
    """

    def __init__(self, db: Connection, path: str) -> None:
        self.db = db
        self.sessions_folder = os.path.join(os.path.dirname(os.path.dirname(path)), "sessions")
        newer = bool(sqlite.columns(db, "session_windows"))
        self.windows, self.nodes = ("session_windows", "session_nodes") if newer else ("sessions", "session_entries")

    def rows(self, table: str, wanted: tuple[str, ...], where: str = "", values: tuple[Any, ...] = ()) -> Iterator[Record]:
        """Yield the rows of a table with those of the columns that this version has; none when there is no such table."""
        names = sqlite.columns(self.db, table).intersection(wanted)
        if names:
            yield from sqlite.rows(self.db, f"SELECT {', '.join(sorted(names))} FROM {table} {where}", values)

    def sessions(self) -> Iterator[Session]:
        """Yield all sessions, the living ones first."""
        nodes = {fields.text(row, "session_key"): row for row in self.rows(self.nodes, NODE)}
        current = {key: fields.text(row, "current_session_id") or fields.text(row, "session_id") for key, row in nodes.items()}
        seen = set()
        for window in self.rows(self.windows, WINDOW, "ORDER BY session_id"):
            if session_id := fields.text(window, "session_id"):
                seen.add(session_id)
                node = nodes.get(fields.text(window, "session_key"), {})
                yield session_of(session_id, window, node, current)
        for row in self.rows("session_transcript_archives", ("session_id", "session_key"), "GROUP BY session_id"):
            session_id = fields.text(row, "session_id")
            if session_id and session_id not in seen:
                yield Session(session_id, Noted(key=fields.text(row, "session_key"), archived=True), deleted=True)

    def stamps(self) -> dict[str, str]:
        """Return the change stamp of every session."""
        states: dict[str | None, list[Any]] = {}
        for table, names in CHANGING:
            for row in self.rows(table, ("session_id", *names)):
                states.setdefault(fields.text(row, "session_id"), []).append(sorted(row.items()))
        if sqlite.columns(self.db, "transcript_events"):
            for session_id, *state in self.db.execute(APPENDED):
                states.setdefault(session_id, []).append(state)
        return {one.id: digest((one, states.get(one.id))) for one in self.sessions()}

    def events(self, session: Session) -> Iterator[Record | Skipped]:
        """Yield the entries of a session, from wherever they lie."""
        if session.deleted:
            yield from self.archived(session.id)
            return
        names = ("event_json", "event_zstd")
        for row in self.rows("transcript_events", names, "WHERE session_id = ? ORDER BY seq", (session.id,)):
            yield record_of(row)
        for row in self.rows(
            "session_transcript_cold_archives", ("archive_name", "storage", "archive_blob"), "WHERE session_id = ?", (session.id,)
        ):
            yield from self.cold(row)

    def leaf(self, session: Session) -> str | None:
        """Return the entry on which a conversation stands, where the database knows it."""
        where = "WHERE session_id = ?1 AND indexed_seq >= (SELECT max(seq) FROM transcript_events WHERE session_id = ?1)"
        rows = self.rows("session_transcript_index_state", ("leaf_event_id", "needs_rebuild"), where, (session.id,))
        return next((fields.text(row, "leaf_event_id") for row in rows if not row.get("needs_rebuild")), None)

    def cold(self, row: Record) -> Iterator[Record | Skipped]:
        """Yield the entries of a transcript that was put away: each stands as text in a row of the table."""
        name = fields.text(row, "archive_name") or ""
        data = row.get("archive_blob")
        if fields.text(row, "storage") == "file":
            data = beside.read(self.sessions_folder, "cold", name, limit=ARCHIVE_LIMIT)
        for line in lines_of(data, zstd=True):
            if fields.text(line, "kind") == "event":
                event = sqlite.json_value(fields.at(line, "row", "event_json"))
                yield event if isinstance(event, dict) else Skipped("an entry that is no JSON")
            elif isinstance(line, Skipped):
                yield line

    def archived(self, session_id: str) -> Iterator[Record | Skipped]:
        """Yield the entries of the last archive of a session."""
        names = ("encoding", "archive_blob")
        where = "WHERE session_id = ? ORDER BY created_at DESC LIMIT 1"
        for row in self.rows("session_transcript_archives", names, where, (session_id,)):
            yield from lines_of(row.get("archive_blob"), zstd=fields.text(row, "encoding") == "zstd")


def digest(value: Any) -> str:
    """Return a hash that changes with a value."""
    return hashlib.blake2b(repr(value).encode("utf-8", "replace"), digest_size=16).hexdigest()


def session_of(session_id: str, window: Record, node: Record, current: dict[str | None, str | None]) -> Session:
    """Return a session from its own row and that of its conversation.

    Args:
        current: session key -> current native id.
    """
    key = fields.text(window, "session_key") or ""
    spawner = fields.text(node, "spawned_by") or fields.text(window, "spawned_by")
    subagent = ":subagent:" in key or spawner is not None
    above = spawner or fields.text(node, "parent_session_key") or fields.text(window, "parent_session_key")
    parent = current.get(above) if subagent and above else None
    of_window = Noted(
        key=key,
        parent=parent,
        subagent=subagent,
        channel=fields.text(window, "channel"),
        chat_type=fields.text(window, "chat_type"),
    )
    facts = of_window
    if current.get(key) == session_id:
        entry = noted(key, sqlite.json_value(node.get("entry_json")), parent)
        facts = replace(
            entry,
            title=fields.text(node, "label") or entry.title or fields.text(node, "display_name"),
            subagent=subagent or entry.subagent,
            archived=entry.archived or node.get("archived_at") is not None,
            ending=entry.ending or ENDINGS.get(fields.text(node, "status") or ""),
            channel=of_window.channel or entry.channel,
            chat_type=of_window.chat_type or entry.chat_type,
        )
    before, reason = fields.text(window, "previous_session_id"), fields.text(window, "reason")
    forked = reason in ("fork", "initial", None) and before is None
    return Session(
        session_id,
        facts,
        origin=fields.text(node, "fork_source_session_id") if forked else None,
        model=fields.text(window, "model"),
        modified=fields.seconds(window, "transcript_updated_at") or fields.seconds(window, "updated_at"),
        meta=tuple((name, value) for name, value in (("previous_session_id", before), ("reason", reason)) if value),
    )


def record_of(row: Record) -> Record | Skipped:
    """Return the entry of an event."""
    packed_event = row.get("event_zstd")
    plain = packed.unzstd(packed_event, EVENT_LIMIT) if isinstance(packed_event, bytes) else row.get("event_json")
    record = sqlite.json_value(plain)
    return record if isinstance(record, dict) else Skipped("an entry that is no JSON")


def lines_of(data: Any, *, zstd: bool) -> Iterator[Record | Skipped]:
    """Yield the records of an archive."""
    plain = packed.unzstd(data, ARCHIVE_LIMIT) if zstd and isinstance(data, bytes) else data
    if isinstance(plain, str):
        plain = plain.encode()
    if not isinstance(plain, bytes):
        yield Skipped("an archive that cannot be read")
        return
    for line in plain.splitlines():
        record = jsonl.load(line) if line.strip() else {}
        yield record if isinstance(record, dict) else Skipped("a line that is no JSON")
