"""Everything the product can do, once: the command line and the service both call this."""

import hashlib
import os
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

from . import __version__, doctor, indexer, reader, registry
from .config import Settings
from .errors import AgentNotFound, SessionNotFound
from .formats import text
from .ledger import memory, queries
from .ledger.database import Database, connect, exclusive, open_ledger, unusable
from .ledger.derive import Changes
from .ledger.queries import Found, ListQuery

PROTOCOL, TABLE, DOCUMENT = 1, 1, 1
"""Versions of the link, of the WordPress table and of the session document."""

__all__ = ["ListQuery", "Sidecar"]

P = ParamSpec("P")
R = TypeVar("R")


def guarded(method: Callable[Concatenate["Sidecar", P], R]) -> Callable[Concatenate["Sidecar", P], R]:
    """Let an error of SQLite in a method be that of a ledger that cannot be used: no other database is open there."""

    @wraps(method)
    def run(self: "Sidecar", /, *args: P.args, **named: P.kwargs) -> R:
        try:
            return method(self, *args, **named)
        except sqlite3.Error as error:
            raise unusable(self.settings.ledger_path, error) from error

    return run


class Sidecar:
    """The operations on one ledger. Every method raises only ``errors.SidecarError``."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.registry = registry.from_environ(settings.environ)
        self._ledger: Database | None = None

    @property
    def ledger(self) -> Database:
        """The ledger, opened when it is first asked for."""
        if self._ledger is None:
            self._ledger = open_ledger(self.settings.ledger_path)
        return self._ledger

    def close(self) -> None:
        """Close the ledger."""
        if self._ledger is not None:
            self._ledger.close()
            self._ledger = None

    def hello(self) -> dict[str, Any]:
        """Return the versions, this host's label and who publishes under it."""
        return {
            "protocol": PROTOCOL,
            "table": TABLE,
            "document": DOCUMENT,
            "version": __version__,
            "host": self.settings.host,
            "publisher": publisher(self.settings),
        }

    @guarded
    def runtimes(self) -> list[dict[str, Any]]:
        """Return what is known of every runtime: names, roots and their state, sources, sessions, evidence."""
        return doctor.runtimes(self.registry, self.settings, self.ledger)

    @guarded
    def doctor(self) -> tuple[str, list[dict[str, Any]]]:
        """Return the health as a color, and the checks behind it."""
        return doctor.examine(self.registry, self.settings, self.ledger)

    @guarded
    def reindex(
        self,
        *,
        runtimes: Sequence[str] | None = None,
        project: str | None = None,
        full: bool = False,
        dry_run: bool = False,
        progress: Callable[[int, int], None] | None = None,
    ) -> dict[str, Any]:
        """Bring the ledger up to date and report; ``floor`` as docs/protocol.md says.

        Args:
            project: as ``ListQuery.project``; sources known to belong to other projects are passed over.
            full: read every source again and publish every row again.
            dry_run: work on a copy of the ledger and throw it away.
        """
        began = time.monotonic()
        names = tuple(self.registry.canonical(name) for name in runtimes or ())
        adapters = [one.adapter for name, one in self.registry.registered.items() if not names or name in names]
        with self.dry_copy() if dry_run else self.locked() as ledger:
            wanted = of_project(ledger, project) if project else None
            work = indexer.Pass(ledger, self.settings, full=full, wanted=wanted)
            changes = work.run(adapters, progress)
            partial = bool(names or project)
            if not partial:
                if full:
                    memory.restamp(ledger)
                with ledger.transaction():
                    ledger.set_meta("last_pass", time.time())
            return report(ledger, changes, work.failures, names, project, began) | {
                "floor": None if partial else queries.floor(ledger)
            }

    @contextmanager
    def locked(self) -> Iterator[Database]:
        """Yield the ledger while no other process writes it."""
        with exclusive(self.settings.ledger_path):
            yield self.ledger

    @contextmanager
    def dry_copy(self) -> Iterator[Database]:
        """Yield a copy of the ledger that is thrown away; the ledger itself is neither made nor changed."""
        with tempfile.TemporaryDirectory(prefix="coding-agents-") as folder:
            copy = Path(folder) / "ledger.db"
            if self.settings.ledger_path.exists():
                source = f"{self.settings.ledger_path.absolute().as_uri()}?mode=ro"
                with closing(sqlite3.connect(source, uri=True)) as db, closing(connect(copy)) as target:
                    db.backup(target)
            ledger = open_ledger(copy)
            yield ledger
            ledger.close()

    def rows_above(self, revision: int) -> Iterator[dict[str, Any]]:
        """Yield the index rows to publish, in revision order."""
        try:
            yield from queries.index_rows(self.ledger, revision, self.settings.host)
        except sqlite3.Error as error:
            raise unusable(self.settings.ledger_path, error) from error

    @guarded
    def adopt(self, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Take over rows that a lost ledger published, as ``missing`` where their file's absence is evident; return them."""
        listed = {
            name: [root.path for root, state in indexer.root_states(one.adapter, self.settings) if state == "listed"]
            for name, one in self.registry.registered.items()
        }

        def is_evident(runtime: str, path: str) -> bool:
            if not indexer.below(path, listed.get(runtime, ())):
                return False
            readable = queries.source_state(self.ledger, runtime, path)
            return not os.path.lexists(path) if readable is None else readable

        with exclusive(self.settings.ledger_path):
            return memory.adopt(self.ledger, rows, self.settings.host, is_evident)

    @guarded
    def titles(self, sessions: list[tuple[str, str, str]]) -> list[str | None]:
        """Return the titles of sessions named by runtime, origin and native id."""
        return queries.titles(self.ledger, sessions)

    @guarded
    def resolve(self, name: str, host: str | None = None, origin: str | None = None) -> tuple[str, str, str]:
        """Return (runtime, origin, native id) for what a person typed: a unified id, a native id, or a unique beginning of one.

        Raises:
            AgentNotFound, SessionNotFound, AmbiguousSession
        """
        if host is not None and host != self.settings.host:
            raise SessionNotFound(f"{name} of host {host!r} is read on that host; this one is {self.settings.host!r}")
        runtime, colon, native = name.partition(":")
        try:
            known = self.registry.canonical(runtime) if colon else None
        except AgentNotFound:
            known = None
            if not queries.matches(self.ledger, None, origin, "session_id = ?", (name,)):
                raise
        found = self.find(known, native if known else name, origin, prefix=True)
        return found.runtime, found.origin, found.session_id

    def find(self, runtime: str | None, session_id: str, origin: str | None, *, prefix: bool = False) -> Found:
        """Return the session that fits, looking for new ones on disk before giving up.

        Raises:
            SessionNotFound, AmbiguousSession
        """
        session_id = text.path(text.clean(session_id))
        try:
            return queries.find(self.ledger, runtime, session_id, origin, prefix=prefix)
        except SessionNotFound:
            self.reindex(runtimes=[runtime] if runtime else None)
            return queries.find(self.ledger, runtime, session_id, origin, prefix=prefix)

    @guarded
    def read(
        self, runtime: str, session_id: str, origin: str | None, raw: bool
    ) -> tuple[dict[str, Any], Iterator[dict[str, Any]]]:
        """Return a session without its messages, and its messages.

        Raises:
            AgentNotFound, SessionNotFound, AmbiguousSession, ParseError
        """
        adapter = self.registry.get(runtime)
        found = self.find(adapter.name, session_id, origin)
        return reader.read(self.ledger, self.settings, adapter, found, raw=raw)

    @guarded
    def prune(self, sessions: list[tuple[str, str, str]] | None, dry_run: bool = False) -> list[tuple[str, str, str]]:
        """Forget missing sessions; return (runtime, origin, native id) of each."""
        with exclusive(self.settings.ledger_path):
            return memory.prune(self.ledger, sessions, Changes(), dry_run=dry_run)

    @guarded
    def list(self, query: ListQuery) -> list[dict[str, Any]]:
        """Return rows as ``sessions list --format=json`` prints them."""
        names = tuple(self.registry.canonical(name) for name in query.runtimes)
        project = None if query.project is None else text.path(text.clean(query.project))
        return queries.list_rows(self.ledger, replace(query, runtimes=names, project=project), self.settings.host)


def report(
    ledger: Database,
    changes: Changes,
    failures: list[dict[str, Any]],
    runtimes: tuple[str, ...],
    project: str | None,
    began: float,
) -> dict[str, Any]:
    """Return what a pass did, in sessions, as CONTRACT names it."""
    where = queries.scope(runtimes, project)
    living = {row[0] for row in ledger.db.execute(f"SELECT id FROM session WHERE status <> 'missing' AND {where}", where.values)}
    indexed, updated = len(changes.indexed & living), len(changes.updated & living)
    return {
        "discovered": len(living),
        "indexed": indexed,
        "updated": updated,
        "unchanged": len(living) - indexed - updated,
        "missing": len(changes.missing),
        "failed": failures + queries.failures(ledger, runtimes),
        "skipped_records": sum(queries.skipped_records(ledger, runtimes).values()),
        "elapsed_ms": round((time.monotonic() - began) * 1000),
    }


def of_project(ledger: Database, project: str) -> Callable[[int], bool]:
    """Return a test for source ids: whether a session of the source belongs to a project, or none is known yet."""
    where = queries.scope((), project)
    joined = "FROM reading r JOIN session ON session.id = r.session"
    inside = {row[0] for row in ledger.db.execute(f"SELECT DISTINCT r.source {joined} WHERE {where}", where.values)}
    known = {row[0] for row in ledger.db.execute(f"SELECT DISTINCT r.source {joined}")}
    return lambda source: source in inside or source not in known


def publisher(settings: Settings) -> str:
    """Return a hash of machine, user and home: who publishes under a host label."""
    try:
        machine = Path("/etc/machine-id").read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        machine = os.uname().nodename
    return hashlib.sha256(f"{machine}\0{os.getuid()}\0{settings.home}".encode("utf-8", "surrogateescape")).hexdigest()[:32]
