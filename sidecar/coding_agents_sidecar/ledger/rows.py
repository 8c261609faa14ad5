"""From facts and ownership to the row of a session: dates, status, totals, hash. Names and meanings: DESIGN of the index row."""

import hashlib
import os
from typing import Any

import orjson

from ..formats import text
from ..reading import Amounts, add
from .facts import Facts
from .lineage import Own

ACTIVE_SECONDS = 600
"""A session is active until nothing was recorded or written for so long."""

TOKEN_COLUMNS = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens")
HASHED = (
    *("session_id", "runtime", "origin", "project_path", "started_at", "ended_at", "last_activity_at", "file_path"),
    *("message_count", "turn_count", "model", "token_total", *TOKEN_COLUMNS, "status", "kind", "parent_id"),
)
"""The facts of a row. Cost and file time may change without one."""

STORED = ["inherited", "settles_at", "title", "tags", "file_mtime", "cost", "cost_source", *HASHED[3:]]
"""Columns of ``session`` that are derived."""


def row_hash(row: dict[str, Any]) -> str:
    """Return the hash over the facts of a row: 16 hex digits."""
    return hashlib.sha256(orjson.dumps([row[name] for name in HASHED])).hexdigest()[:16]


def session_key(host: str, origin: str, runtime: str, session_id: str) -> str:
    """Return the primary key of the WordPress table."""
    return hashlib.sha256("\0".join((host, origin, runtime, session_id)).encode()).hexdigest()[:32]


def project_hash(project_path: str | None) -> int | None:
    """Return the integer under which a project is looked up."""
    return None if project_path is None else int(hashlib.sha256(project_path.encode()).hexdigest()[:15], 16)


def usage_of(facts: Facts, own: Own | None) -> dict[tuple[int, str], Amounts]:
    """Return the session's own usage: everything, unless it shares responses with others."""
    usage: dict[tuple[int, str], Amounts] = {}
    for slot, model, *amounts in facts.usage if own is None else facts.keyless:
        add(usage.setdefault((slot, model), [None] * 6), amounts)
    for key, amounts in (own.usage if own else {}).items():
        add(usage.setdefault(key, [None] * 6), amounts)
    return usage


def derive(
    facts: Facts, own: Own | None, usage: dict[tuple[int, str], Amounts], source: tuple[bytes, int], gone: bool, now: float
) -> dict[str, Any]:
    """Return the derived columns of a session, ``STORED`` without identity; ``parent_id`` only where it is explicit.

    Args:
        source: path and mtime of the source.
        gone: nothing on disk holds the session any more.
    """
    path, mtime = source
    written = mtime if facts.modified is None else int(facts.modified)
    inherited = own.inherited if own else -1
    started = facts.started
    if started is None:
        started = own.start if own and inherited >= 0 and own.start is not None else facts.first
    started_at = int(written if started is None else started)
    last = max(started_at, int(written if facts.last is None else facts.last))
    status, settles_at = standing(facts, gone, last, written, now)
    totals: Amounts = [None] * 6
    for amounts in usage.values():
        add(totals, amounts)
    for slot in facts.usage:
        # A part that the session knows, if only from copied responses, is 0 where it owns none; unknown stays unknown.
        totals = [0 if value is None and known is not None else value for value, known in zip(totals, slot[2:], strict=True)]
    return {
        "inherited": inherited,
        "settles_at": settles_at,
        "title": facts.title,
        "tags": orjson.dumps(facts.tags).decode() if facts.tags else None,
        "project_path": facts.project,
        "started_at": started_at,
        "ended_at": None if status == "active" else last,
        "last_activity_at": last,
        "file_path": text.path(os.fsdecode(path)),
        "file_mtime": written,
        "message_count": facts.messages,
        "turn_count": facts.turns - (own.turns if own else 0),
        "model": facts.model,
        "token_total": sum(value or 0 for value in totals[:4]) if any(value is not None for value in totals[:4]) else None,
        **dict(zip(TOKEN_COLUMNS, totals, strict=False)),
        "cost": totals[5],
        "cost_source": None if totals[5] is None else "native",
        "status": status,
        "kind": facts.kind,
        "parent_id": facts.parent,
    }


def standing(facts: Facts, gone: bool, last: int, written: int, now: float) -> tuple[str, float | None]:
    """Return the status and, for an active session, when it settles if nothing happens."""
    if gone:
        return "missing", None
    if facts.archived:
        return "archived", None
    # A time far in the future is a wrong clock, not activity to come.
    settles_at = max((time for time in (last, written) if time <= now + ACTIVE_SECONDS), default=0) + ACTIVE_SECONDS
    if settles_at > now:
        return "active", settles_at
    return ("truncated" if facts.torn else facts.ending), None
