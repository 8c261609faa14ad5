"""Reading the rows: lists, look-ups by id, what to publish. Nothing here changes the ledger."""

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

import orjson

from ..errors import AmbiguousSession, SessionNotFound
from ..formats import text
from .database import Database
from .rows import TOKEN_COLUMNS, project_hash, session_key

Sort = Literal["date", "cost", "turns", "tokens"]
SORTS: dict[Sort, str] = {"date": "started_at", "cost": "cost", "turns": "turn_count", "tokens": "token_total"}
COUNTS = (
    "message_count",
    "turn_count",
    "model",
    "token_total",
    *TOKEN_COLUMNS,
    "cost_usd",
    "cost_source",
    "status",
    "kind",
    "parent_id",
)
LISTED = (
    *("session_id", "unified_id", "runtime", "host", "origin", "project_path", "started_at", "ended_at", "last_activity_at"),
    *("file_path", "file_mtime", *COUNTS, "title"),
)
"""Columns of a list, in order."""
INDEXED = (
    *("session_key", "session_id", "runtime", "host", "origin", "project_path", "project_hash", "started_at", "ended_at"),
    *("last_activity_at", "file_path", "file_mtime", *COUNTS, "row_hash", "revision"),
)
"""Columns of an index row on the wire, in the order of schema/index-row.schema.json."""
PREFIX_LENGTH = 6
"""A shorter piece of an id is no way to name a session."""
CANDIDATES = 10


@dataclass(frozen=True, slots=True)
class ListQuery:
    """Which sessions to list; an empty tuple takes all.

    Args:
        project: a path (exact), a path ending in ``/`` (it and everything below), or ``basename:NAME``.
        since, until: bounds of ``started_at`` in Unix seconds, both included.
        limit: ``None`` for all.
    """

    runtimes: tuple[str, ...] = ()
    project: str | None = None
    since: int | None = None
    until: int | None = None
    models: tuple[str, ...] = ()
    statuses: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ("session",)
    hosts: tuple[str, ...] = ()
    sort: Sort = "date"
    order: Literal["asc", "desc"] = "desc"
    limit: int | None = 100


@dataclass(slots=True)
class Found:
    """A session and where it is read from; ``source_path`` is ``None`` for one that only WordPress remembers."""

    id: int
    runtime: str
    origin: str
    session_id: str
    status: str
    inherited: int
    source_path: str | None = None
    source_root: str | None = None


@dataclass(slots=True)
class Where:
    """Conditions of a query and their values."""

    terms: list[str] = field(default_factory=lambda: ["revision IS NOT NULL"])
    values: list[Any] = field(default_factory=list)

    def add(self, term: str, *values: Any) -> None:
        """Require a term."""
        self.terms.append(term)
        self.values.extend(values)

    def among(self, column: str, values: tuple[str, ...]) -> None:
        """Require one of these values; none given takes all."""
        if values:
            self.add(f"{column} IN ({', '.join('?' * len(values))})", *values)

    def project(self, project: str | None) -> None:
        """Require a project, as ``ListQuery.project`` says."""
        if project is None:
            return
        if project.startswith("basename:"):
            name = project.removeprefix("basename:")
            self.add("(project_path = ? OR substr(project_path, -length(?)) = ?)", name, f"/{name}", f"/{name}")
        elif project.endswith("/") and len(project) > 1:
            self.add("(project_path = ? OR substr(project_path, 1, length(?)) = ?)", project.rstrip("/"), project, project)
        else:
            self.add("project_path = ?", project)

    def __str__(self) -> str:
        return " AND ".join(self.terms)


def scope(runtimes: tuple[str, ...], project: str | None) -> Where:
    """Return the conditions of a pass that is limited to these runtimes and this project."""
    where = Where()
    where.among("runtime", runtimes)
    where.project(project)
    return where


def list_rows(ledger: Database, query: ListQuery, host: str) -> list[dict[str, Any]]:
    """Return the rows of a list, ``LISTED`` each."""
    if query.hosts and host not in query.hosts:
        return []
    where = scope(query.runtimes, query.project)
    where.among("model", query.models)
    where.among("status", query.statuses)
    where.among("kind", query.kinds)
    if query.since is not None:
        where.add("started_at >= ?", query.since)
    if query.until is not None:
        where.add("started_at <= ?", query.until)
    # Ties are ordered as in the WordPress table, whose pages follow its primary key.
    ledger.db.create_function("session_key", 4, session_key, deterministic=True)
    order = f"{SORTS[query.sort]} {query.order}, session_key(?, origin, runtime, session_id) {query.order}"
    values = (*where.values, host, -1 if query.limit is None else query.limit)
    rows = select(ledger, f"WHERE {where} ORDER BY {order} LIMIT ?", values, host)
    return [{name: row[name] for name in LISTED} for row in rows]


def index_rows(ledger: Database, above: int, host: str) -> Iterator[dict[str, Any]]:
    """Yield the rows with a revision above one, in revision order, ``INDEXED`` each."""
    for row in select(ledger, "WHERE revision > ? ORDER BY revision", (above,), host):
        yield {name: row[name] for name in INDEXED}


def row_of(ledger: Database, session: int, host: str) -> dict[str, Any]:
    """Return the row of one session with every column there is."""
    return next(select(ledger, "WHERE id = ?", (session,), host))


def select(ledger: Database, rest: str, values: tuple[Any, ...], host: str) -> Iterator[dict[str, Any]]:
    """Yield rows with the derived columns of all outputs."""
    cursor = ledger.db.execute(f"SELECT * FROM session {rest}", values)
    names = [column[0] for column in cursor.description]
    for values in cursor:
        row = dict(zip(names, values, strict=True))
        row["host"] = host
        row["unified_id"] = f"{row['runtime']}:{row['session_id']}"
        row["session_key"] = session_key(host, row["origin"], row["runtime"], row["session_id"])
        row["project_hash"] = project_hash(row["project_path"])
        row["cost_usd"] = None if row["cost"] is None else row["cost"] / 1_000_000
        row["tags"] = orjson.loads(row["tags"]) if row["tags"] else []
        yield row


def find(ledger: Database, runtime: str | None, session_id: str, origin: str | None, *, prefix: bool = False) -> Found:
    """Return the one session that fits.

    Args:
        runtime, origin: ``None`` for any.
        prefix: take a unique beginning of the id where the whole does not fit.

    Raises:
        SessionNotFound, AmbiguousSession
    """
    rows = matches(ledger, runtime, origin, "session_id = ?", (session_id,))
    if not rows and prefix and len(session_id) >= PREFIX_LENGTH:
        rows = matches(ledger, runtime, origin, "substr(session_id, 1, length(?)) = ?", (session_id, session_id))
    wanted = f"{runtime}:{session_id}" if runtime else session_id
    if not rows:
        raise SessionNotFound(f"{wanted} is not among the indexed sessions")
    if len(rows) > 1:
        names = [
            f"{one.runtime}:{one.session_id}" + (f" (origin {one.origin!r})" if one.origin else "") for one in rows[:CANDIDATES]
        ]
        raise AmbiguousSession(
            f"{wanted} fits several sessions: {', '.join(names)}; name the runtime, the whole id or --origin", names
        )
    return rows[0]


def matches(ledger: Database, runtime: str | None, origin: str | None, term: str, values: tuple[str, ...]) -> list[Found]:
    """Return the sessions a term fits, with their sources."""
    where = Where()
    where.add(term, *values)
    if runtime is not None:
        where.add("s.runtime = ?", runtime)
    if origin is not None:
        where.add("s.origin = ?", origin)
    rows = ledger.db.execute(
        "SELECT s.id, s.runtime, s.origin, s.session_id, s.status, s.inherited, f.path, f.root"
        " FROM session s LEFT JOIN reading r ON r.id = s.reading LEFT JOIN source f ON f.id = r.source"
        f" WHERE {where} ORDER BY s.runtime, s.session_id, s.origin LIMIT {CANDIDATES + 1}",
        where.values,
    )
    return [Found(*row[:6], *(None if value is None else os.fsdecode(value) for value in row[6:])) for row in rows]


def titles(ledger: Database, sessions: list[tuple[str, str, str]]) -> list[str | None]:
    """Return the titles of sessions named by runtime, origin and native id."""
    found = []
    for name in sessions:
        row = ledger.db.execute("SELECT title FROM session WHERE runtime = ? AND origin = ? AND session_id = ?", name).fetchone()
        found.append(row[0] if row else None)
    return found


def failures(ledger: Database, runtimes: tuple[str, ...]) -> list[dict[str, Any]]:
    """Return the sources that could not be read, as reports name them."""
    where = Where(["code IS NOT NULL"])
    where.among("runtime", runtimes)
    rows = ledger.db.execute(
        f"SELECT runtime, path, code, message FROM source WHERE {where} ORDER BY runtime, path", where.values
    )
    return [
        {"runtime": runtime, "source": text.path(os.fsdecode(path)), "code": code, "message": message}
        for runtime, path, code, message in rows
    ]


def source_state(ledger: Database, runtime: str, path: str) -> bool | None:
    """Return whether the source with this path, as rows show it, was read without failure; ``None`` when none is known."""
    for found, code, version in ledger.db.execute("SELECT path, code, version FROM source WHERE runtime = ?", (runtime,)):
        if text.path(os.fsdecode(found)) == path:
            return code is None and version != ""
    return None


def skipped_records(ledger: Database, runtimes: tuple[str, ...]) -> dict[str, int]:
    """Return how many records could not be read, by runtime."""
    where = Where(["1"])
    where.among("runtime", runtimes)
    lost = "SELECT SUM(r.skipped) FROM reading r WHERE r.source = source.id AND NOT r.gone"
    rows = ledger.db.execute(
        f"SELECT runtime, SUM(skipped + COALESCE(({lost}), 0)) FROM source WHERE {where} GROUP BY runtime", where.values
    )
    return {runtime: int(number) for runtime, number in rows}


@dataclass(slots=True)
class Records:
    """What was seen of a runtime: versions that wrote, newest last, and records in all, unreadable and of unknown types."""

    versions: list[str] = field(default_factory=list)
    seen: int = 0
    skipped: int = 0
    unknown: int = 0


def records_seen(ledger: Database) -> dict[str, Records]:
    """Return what was seen, by runtime."""
    found: dict[str, Records] = {}
    for runtime, number in skipped_records(ledger, ()).items():
        found[runtime] = Records(skipped=number)
    joined = "FROM reading r JOIN source f ON f.id = r.source"
    for runtime, seen, unknown in ledger.db.execute(f"SELECT f.runtime, SUM(r.seen), SUM(r.unknown) {joined} GROUP BY f.runtime"):
        found[runtime].seen, found[runtime].unknown = seen, unknown
    versions = f"SELECT DISTINCT f.runtime, r.version {joined} WHERE r.version IS NOT NULL"
    for runtime, version in sorted(ledger.db.execute(versions), key=lambda row: (row[0], by_number(row[1]))):
        found[runtime].versions.append(version)
    return found


def by_number(version: str) -> list[tuple[int, str]]:
    """Return what a version sorts by: 2.10 comes after 2.9."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in version.split(".")]


def silent_sources(ledger: Database, size: int) -> list[tuple[str, str, int]]:
    """Return runtime, path and bytes of the readable sources above a size that hold no session."""
    rows = ledger.db.execute(
        "SELECT runtime, path, size FROM source WHERE size > ? AND code IS NULL AND version <> ''"
        " AND NOT EXISTS (SELECT 1 FROM reading WHERE reading.source = source.id) ORDER BY runtime, path",
        (size,),
    )
    return [(runtime, text.path(os.fsdecode(path)), size) for runtime, path, size in rows]


def floor(ledger: Database) -> int:
    """Return the lowest revision of all rows; with no row, one that is above any row written before."""
    row = ledger.db.execute("SELECT MIN(revision) FROM session").fetchone()
    return int(time.time_ns() // 1000 if row[0] is None else row[0])
