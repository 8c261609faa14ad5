"""Sessions in a database, as they are from 1.2 on. Every column but the ids may be missing in an older file.

    project          {id, worktree}
    session          {id, project_id, parent_id, directory, title, version, revert, model, cost, tokens_…, time_…}
    message          {id, session_id, time_created, time_updated, data}            data: the record without its ids
    part             {id, message_id, session_id, time_created, time_updated, data}
    session_message  {id, session_id, type, seq, time_created, time_updated, data}  the next form; see ``shapes``

Other tables are not read: they hold credentials, or repeat these.
"""

import hashlib
import sqlite3
from collections.abc import Iterator
from typing import Any

from ...model import Skipped
from .. import fields, sqlite
from . import shapes
from .messages import Record

SESSION = (
    *("parent_id", "project_id", "directory", "title", "version", "revert", "model", "cost"),
    *("tokens_input", "tokens_output", "tokens_reasoning", "tokens_cache_read", "tokens_cache_write"),
    *("time_created", "time_updated", "time_archived"),
)
HOLDERS = ("message", "part", "session_message")
"""Tables whose rows belong to a session."""


class Tables:
    """The tables of one open database."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self.db = db
        self.columns = {table: sqlite.columns(db, table) for table in ("project", "session", *HOLDERS)}

    def holds(self, table: str, *columns: str) -> bool:
        """Return whether a table has these columns."""
        return self.columns[table].issuperset(columns)

    def sessions(self, session_id: str | None = None) -> Iterator[dict[str, Any]]:
        """Yield the rows of all sessions, or of one, with ``worktree`` from the project's."""
        if not self.holds("session", "id"):
            return
        wanted = ["s.id", *(f"s.{name}" for name in SESSION if name in self.columns["session"])]
        join = ""
        if self.holds("session", "project_id") and self.holds("project", "id", "worktree"):
            wanted, join = [*wanted, "p.worktree"], "LEFT JOIN project p ON p.id = s.project_id"
        where, values = ("", ()) if session_id is None else ("WHERE s.id = ?", (session_id,))
        for row in sqlite.rows(self.db, f"SELECT {', '.join(wanted)} FROM session s {join} {where} ORDER BY s.id", values):
            if fields.text(row, "id"):
                yield row

    def modified(self, row: dict[str, Any]) -> float | None:
        """Return when a session or anything of it was last changed."""
        times = [fields.seconds(row, "time_updated")]
        for table in HOLDERS:
            if self.holds(table, "session_id", "time_updated"):
                query = f"SELECT max(time_updated) AS newest FROM {table} WHERE session_id = ?"
                times += [fields.seconds(found, "newest") for found in sqlite.rows(self.db, query, (row["id"],))]
        return max((time for time in times if time is not None), default=None)

    def stamps(self) -> dict[str, str]:
        """Return for each session what changes whenever it does: its row, and number and times of the rows it owns."""
        owned: dict[Any, list[Any]] = {}
        for table in HOLDERS:
            if not self.holds(table, "session_id"):
                continue
            # The sum tells a change that another, newer row hides.
            times = "max(time_updated), sum(time_updated % 1000003)" if self.holds(table, "time_updated") else "NULL, NULL"
            for session_id, *facts in self.db.execute(f"SELECT session_id, count(*), {times} FROM {table} GROUP BY session_id"):
                owned.setdefault(session_id, []).append((table, facts))
        return {row["id"]: digest((sorted(row.items()), owned.get(row["id"]))) for row in self.sessions()}

    def records(self, session_id: str) -> Iterator[Record | Skipped]:
        """Yield the messages of a session in order, and what holds no record."""
        if not self.is_newer_form(session_id):
            for row in self.rows("message", session_id, "time_created"):
                yield from self.record(row)
            return
        for row in self.rows("session_message", session_id, "seq", "time_created"):
            data = sqlite.json_value(fields.at(row, "data"))
            if not isinstance(data, dict):
                yield Skipped("a message that is no JSON object")
            elif shape := shapes.from_row(row, data):
                yield Record(*shape, sqlite.native(row, data=data))

    def is_newer_form(self, session_id: str) -> bool:
        """Return whether a session has no rows in ``message``."""
        if not self.holds("message", "session_id"):
            return True
        return self.db.execute("SELECT 1 FROM message WHERE session_id = ? LIMIT 1", (session_id,)).fetchone() is None

    def rows(self, table: str, session_id: str, *order: str) -> Iterator[dict[str, Any]]:
        """Yield the rows of a session one by one; sorting them would hold all of them."""
        if not self.holds(table, "id", "session_id", "data"):
            return
        by = next((name for name in order if name in self.columns[table]), "id")
        ids = self.db.execute(f"SELECT id FROM {table} WHERE session_id = ? ORDER BY {by}, id", (session_id,)).fetchall()
        for id in ids:
            yield from sqlite.rows(self.db, f"SELECT * FROM {table} WHERE id = ?", id)

    def record(self, row: dict[str, Any]) -> Iterator[Record | Skipped]:
        """Yield one message, after those of its parts that hold no record."""
        data = sqlite.json_value(fields.at(row, "data"))
        if not isinstance(data, dict):
            yield Skipped("a message that is no JSON object")
            return
        info = {**data, "id": fields.text(row, "id")}
        if fields.seconds(data, "time", "created") is None:
            info["time"] = {**fields.table(data, "time"), "created": fields.at(row, "time_created")}
        parts = []
        for part in self.parts(row):
            if isinstance(part, dict):
                parts.append(part)
            else:
                yield Skipped("a part of a message that is no JSON object")
        common = [{**part["data"], "id": part["id"]} for part in parts]
        yield Record(info, common, {"message": sqlite.native(row, data=data), "parts": parts})

    def parts(self, row: dict[str, Any]) -> Iterator[dict[str, Any] | None]:
        """Yield the rows of a message's parts, ``None`` for one that holds no record."""
        if self.holds("part", "id", "message_id", "data"):
            for part in sqlite.rows(self.db, "SELECT * FROM part WHERE message_id = ? ORDER BY id", (row["id"],)):
                data = sqlite.json_value(part["data"])
                yield sqlite.native(part, data=data) if isinstance(data, dict) else None


def digest(facts: Any) -> str:
    """Return a short hash over plain values."""
    return hashlib.blake2b(repr(facts).encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()
