"""``sessions.db``, all sessions since 1.10. Every column but the ids may be missing in an older file.

    sessions      {id, name, description, session_type, working_dir, created_at, updated_at, archived_at, parent_session_id,
                   provider_name, model_config_json, accumulated_…_tokens, accumulated_cost}
    messages      {id, message_id, session_id, role, content_json, created_timestamp, metadata_json}
    usage_ledger  {id, session_id, created_timestamp, model, …_tokens, cost}            one row a call

Messages stand in the order of ``created_timestamp``, in seconds or milliseconds; ``timestamp`` is when a row was written.
"""

import hashlib
import sqlite3
from collections.abc import Iterator
from typing import Any

from ...model import Skipped
from .. import fields, sqlite
from .tokens import ACCUMULATED, NAMES

SESSION = (
    *("id", "name", "description", "session_type", "working_dir", "created_at", "updated_at", "archived_at"),
    *("parent_session_id", "provider_name", "model_config_json", "accumulated_cost", *(ACCUMULATED + name for name in NAMES)),
)
LEDGER = ("created_timestamp", "model", "cost", *NAMES)
SECONDS = "CASE WHEN created_timestamp >= 100000000000 THEN created_timestamp / 1000.0 ELSE created_timestamp END"


class Tables:
    """The tables of one open database."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self.db = db
        self.columns = {table: sqlite.columns(db, table) for table in ("sessions", "messages", "usage_ledger")}

    def holds(self, table: str, *columns: str) -> bool:
        """Return whether a table has these columns."""
        return self.columns[table].issuperset(columns)

    def sessions(self, session_id: str | None = None) -> Iterator[dict[str, Any]]:
        """Yield the rows of all sessions, or of one."""
        if not self.holds("sessions", "id"):
            return
        names = ", ".join(name for name in SESSION if name in self.columns["sessions"])
        where, values = ("", ()) if session_id is None else ("WHERE id = ?", (session_id,))
        for row in sqlite.rows(self.db, f"SELECT {names} FROM sessions {where} ORDER BY id", values):
            if fields.text(row, "id"):
                yield row

    def stamps(self) -> dict[str, str]:
        """Return for each session what changes whenever it does.

        Messages are only appended, or deleted and written anew under other ids; but they may be hidden, or seen again.
        """
        owned: dict[Any, list[Any]] = {}
        if self.holds("messages", "session_id"):
            seen = "total(length(metadata_json))" if self.holds("messages", "metadata_json") else "NULL"
            self.count(owned, f"SELECT session_id, count(*), max(rowid), {seen} FROM messages GROUP BY session_id")
        if self.holds("usage_ledger", "session_id"):
            self.count(owned, "SELECT session_id, count(*), max(rowid) FROM usage_ledger GROUP BY session_id")
        return {row["id"]: digest(sorted(row.items()), owned.get(row["id"])) for row in self.sessions()}

    def count(self, owned: dict[Any, list[Any]], query: str) -> None:
        """Add what a query tells of the rows that each session owns."""
        for session_id, *counts in self.db.execute(query):
            owned.setdefault(session_id, []).append(counts)

    def modified(self, row: dict[str, Any]) -> float | None:
        """Return when anything of a session was last written."""
        times = [fields.seconds(row, "created_at"), fields.seconds(row, "updated_at")]
        if self.holds("messages", "session_id", "created_timestamp"):
            query = f"SELECT max({SECONDS}) AS newest FROM messages WHERE session_id = ?"
            times += [fields.seconds(found, "newest") for found in sqlite.rows(self.db, query, (row["id"],))]
        return max((time for time in times if time is not None), default=None)

    def ledger(self, session_id: str) -> list[dict[str, Any]]:
        """Return what the calls of a session used, the last one last."""
        if not self.holds("usage_ledger", "session_id", *LEDGER):
            return []
        query = f"SELECT {', '.join(LEDGER)} FROM usage_ledger WHERE session_id = ? ORDER BY created_timestamp, rowid"
        return list(sqlite.rows(self.db, query, (session_id,)))

    def messages(self, session_id: str) -> Iterator[tuple[dict[str, Any], Any] | Skipped]:
        """Yield the messages of a session in order, each as ``messages`` describes it and as it is stored.

        One by one, since sorting them would hold all of them.
        """
        if not self.holds("messages", "session_id", "role", "content_json", "created_timestamp"):
            return
        query = f"SELECT rowid FROM messages WHERE session_id = ? ORDER BY {SECONDS}, rowid"
        for id in self.db.execute(query, (session_id,)).fetchall():
            for row in sqlite.rows(self.db, "SELECT * FROM messages WHERE rowid = ?", id):
                content, metadata = (sqlite.json_value(fields.at(row, name)) for name in ("content_json", "metadata_json"))
                if not isinstance(content, list):
                    yield Skipped("a message whose content is no JSON array")
                    continue
                record = {
                    "id": fields.text(row, "message_id") or str(id[0]),
                    "role": fields.at(row, "role"),
                    "created": fields.at(row, "created_timestamp"),
                    "content": content,
                    "metadata": metadata,
                }
                yield record, sqlite.native(row, content_json=content, metadata_json=metadata)


def digest(*facts: Any) -> str:
    """Return a short hash over plain values."""
    return hashlib.blake2b(repr(facts).encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()
