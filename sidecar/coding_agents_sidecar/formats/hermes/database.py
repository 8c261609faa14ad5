"""``state.db``, all sessions of a profile. Every column but the ids may be missing in an older file.

    sessions             {id, source, model, model_config, parent_session_id, started_at, ended_at, end_reason, title, cwd,
                          billing_provider, archived, …_tokens, …_cost_usd, cost_status}
    messages             {id, session_id, role, content, tool_calls, tool_call_id, timestamp, active, compacted, …}
    session_model_usage  {session_id, model, task, last_seen, …_tokens}            task: '' for the conversation itself

Content that is no text is ``\\x00json:`` and JSON. A row that is not active was put away by a compaction in place when it is
``compacted``, and else taken back. No other table is read: not those for full-text search, not what is remembered of the
user, and of a session not its system prompt, which repeats that.
"""

import hashlib
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ...model import Skipped
from .. import fields, sqlite
from . import injected
from .compaction import Trace, repeated
from .messages import content_of, words_of
from .private import COLUMN

TOKENS = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens")
SESSION = (
    *("id", "source", "model", "model_config", "parent_session_id", "started_at", "ended_at", "end_reason", "title", "cwd"),
    *("git_branch", "billing_provider", "archived", "estimated_cost_usd", "actual_cost_usd", "cost_status", *TOKENS),
)
ENCODED = "\x00json:"
JSON_COLUMNS = ("tool_calls", "reasoning_details", "codex_reasoning_items", "codex_message_items")
LINEAGE = 1000
"""Longer chains of parents are damage."""

ORPHANED = "__orphaned__"
"""Stands for a parent that was deleted."""


@dataclass(slots=True)
class Row:
    """A message.

    Args:
        record: its columns, decoded.
        taken_back: it is no longer part of the conversation.
    """

    id: int
    record: dict[str, Any]
    taken_back: bool


class Tables:
    """The tables of one open database."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self.db = db
        self.columns = {table: sqlite.columns(db, table) for table in ("sessions", "messages", "session_model_usage")}

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

    def lineage(self, row: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Yield a session's row and those of its ancestors, as far as they are known."""
        seen: set[str] = set()
        found: dict[str, Any] | None = row
        while found and found["id"] not in seen and len(seen) < LINEAGE:
            yield found
            seen.add(found["id"])
            parent = parent_of(found)
            found = next(self.sessions(parent), None) if parent else None

    def project(self, row: dict[str, Any]) -> str | None:
        """Return the folder of a session: its own, or the nearest ancestor's."""
        return next(filter(None, (fields.text(one, "cwd") for one in self.lineage(row))), None)

    def trunk(self, row: dict[str, Any]) -> str:
        """Return the id of the session that a conversation began in before it was continued or branched."""
        known = row["id"]
        for one in self.lineage(row):
            known = one["id"]
            if is_subagent(one):
                return str(known)
            known = parent_of(one) or known
        return str(known)

    def stamps(self) -> dict[str, str]:
        """Return for each session what changes whenever it does.

        Rows are only appended, deleted, and made inactive or active again.
        """
        owned: dict[Any, Any] = {}
        if self.holds("messages", "session_id"):
            active = "total(active)" if self.holds("messages", "active") else "NULL"
            for session_id, *facts in self.db.execute(
                f"SELECT session_id, count(*), max(rowid), {active} FROM messages GROUP BY session_id"
            ):
                owned[session_id] = facts
        stamps = {}
        for row in self.sessions():
            used = [sorted(one.items()) for one in self.usage(row["id"])]
            stamps[row["id"]] = digest(sorted(row.items()), self.project(row), self.trunk(row), owned.get(row["id"]), used)
        return stamps

    def usage(self, session_id: str) -> list[dict[str, Any]]:
        """Return what each model used for the conversation itself, the one in use last."""
        if not self.holds("session_model_usage", "session_id", "model", *TOKENS):
            return []
        task = "AND task = ''" if self.holds("session_model_usage", "task") else ""
        seen = "last_seen" if self.holds("session_model_usage", "last_seen") else "NULL AS last_seen"
        wanted = f"SELECT model, {seen}, {', '.join(TOKENS)} FROM session_model_usage"
        return list(sqlite.rows(self.db, f"{wanted} WHERE session_id = ? {task} ORDER BY 2, model", (session_id,)))

    def modified(self, row: dict[str, Any]) -> float | None:
        """Return when anything of a session was last written."""
        times = [fields.seconds(row, "started_at"), fields.seconds(row, "ended_at")]
        if self.holds("messages", "session_id", "timestamp"):
            query = "SELECT max(timestamp) AS newest FROM messages WHERE session_id = ?"
            times += [fields.seconds(found, "newest") for found in sqlite.rows(self.db, query, (row["id"],))]
        return max((time for time in times if time is not None), default=None)

    def messages(self, session_id: str) -> Iterator[Row | Skipped]:
        """Yield the messages of a session, those taken back first, then the conversation in order.

        How a session stands is told by the last rows of its conversation.
        """
        if not self.holds("messages", "session_id", "role", "content"):
            return
        taken_back, compacted = self.marks()
        ids = self.db.execute(
            f"SELECT rowid, {taken_back}, {compacted} FROM messages WHERE session_id = ? ORDER BY 2 DESC, rowid", (session_id,)
        ).fetchall()
        copies: set[int] = set()
        if any(put_away for _, _, put_away in ids):
            copies = repeated([self.trace(id) for id, taken, _ in ids if not taken])
        for id, taken, _ in ids:
            if id not in copies:
                record = self.record(id)
                yield record if isinstance(record, Skipped) else Row(id, record, bool(taken))

    def marks(self) -> tuple[str, str]:
        """Return as SQL whether a row was taken back, and whether a compaction put it away."""
        inactive = "coalesce(active, 1) = 0" if self.holds("messages", "active") else "0"
        compacted = "coalesce(compacted, 0) <> 0" if self.holds("messages", "compacted") else "0"
        return f"({inactive} AND NOT {compacted})", f"({inactive} AND {compacted})"

    def record(self, id: int) -> dict[str, Any] | Skipped:
        """Return a message with everything in it decoded."""
        names = ", ".join(f'"{name}"' for name in sorted(self.columns["messages"] - {COLUMN}))
        row = sqlite.native(next(sqlite.rows(self.db, f"SELECT {names} FROM messages WHERE rowid = ?", (id,))))
        content = fields.at(row, "content")
        if isinstance(content, str) and content.startswith(ENCODED):
            content = sqlite.json_value(content.removeprefix(ENCODED))
            if content is None:
                return Skipped("a message whose content is no JSON")
        decoded = {name: sqlite.json_value(row[name]) for name in JSON_COLUMNS if fields.text(row, name)}
        return {**row, "content": content, **decoded}

    def trace(self, id: int) -> Trace:
        """Return what tells whether a row repeats another one: by a call's id, since outputs may be cut, else by all it says."""
        record = self.record(id)
        if isinstance(record, Skipped):
            return Trace(id, str(id).encode())
        calls = [fields.at(call, "id") for call in fields.rows(record, "tool_calls")]
        named = calls or fields.text(record, "tool_call_id")
        words = words_of(content_of(record))
        said = digest(fields.at(record, "role"), named or fields.at(record, "content")).encode()
        return Trace(id, said, words.startswith(injected.COMPACTION), words.startswith(injected.SEED))


def config_of(row: dict[str, Any]) -> Any:
    """Return the object in a session's ``model_config``."""
    return sqlite.json_value(fields.at(row, "model_config"))


def parent_of(row: dict[str, Any]) -> str | None:
    """Return the native id of the session that one was delegated, branched or continued from."""
    config = config_of(row)
    named = (fields.text(config, "_delegate_from"), fields.text(config, "_branched_from"), fields.text(row, "parent_session_id"))
    return next((one for one in named if one not in (None, ORPHANED)), None)


def is_subagent(row: dict[str, Any]) -> bool:
    """Return whether a session was delegated by another one."""
    return fields.text(row, "source") == "subagent" or fields.text(config_of(row), "_delegate_from") is not None


def digest(*facts: Any) -> str:
    """Return a short hash over plain values."""
    return hashlib.blake2b(repr(facts).encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()
