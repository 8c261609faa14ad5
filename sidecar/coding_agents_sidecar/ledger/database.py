"""Opening the ledger: its tables, its version, its lock.

source    a file, folder or database of a runtime, and the stamp under which it was read last
reading   what one source says of one session
session   one row a session, derived from its best reading and from who owns the responses it holds
holding   a reading holds an API response; ownership is computed, never stored
usage     own usage of a session by quarter hour and model
title     what a runtime calls a session in a file apart from it
"""

import fcntl
import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..errors import IndexUnavailable, Timeout, VersionMismatch

VERSION = 2
AMOUNTS = "input, output, cache_read, cache_write, reasoning, cost"
HOLDING = f"key, position, time, next_time, turns, model, used, {AMOUNTS}"

TABLES = f"""
CREATE TABLE meta (name TEXT PRIMARY KEY, value ANY) STRICT, WITHOUT ROWID;
CREATE TABLE source (
  id INTEGER PRIMARY KEY,
  runtime TEXT NOT NULL,
  path BLOB NOT NULL,
  root BLOB NOT NULL,
  stamp TEXT NOT NULL,
  mtime INTEGER NOT NULL,
  size INTEGER NOT NULL,
  version TEXT NOT NULL,
  checkpoint BLOB,
  skipped INTEGER NOT NULL,
  code TEXT,
  message TEXT,
  UNIQUE (runtime, path)
) STRICT;
CREATE TABLE reading (
  id INTEGER PRIMARY KEY,
  source INTEGER NOT NULL REFERENCES source,
  session INTEGER NOT NULL REFERENCES session,
  stamp TEXT NOT NULL,
  gone INTEGER NOT NULL,
  skipped INTEGER NOT NULL,
  unknown INTEGER NOT NULL,
  seen INTEGER NOT NULL,
  version TEXT,
  facts BLOB NOT NULL,
  UNIQUE (source, session)
) STRICT;
CREATE INDEX reading_session ON reading (session);
CREATE TABLE session (
  id INTEGER PRIMARY KEY,
  runtime TEXT NOT NULL,
  origin TEXT NOT NULL,
  session_id TEXT NOT NULL,
  reading INTEGER,
  inherited INTEGER NOT NULL DEFAULT -1,
  settles_at REAL,
  title TEXT,
  tags TEXT,
  project_path TEXT,
  started_at INTEGER,
  ended_at INTEGER,
  last_activity_at INTEGER,
  file_path TEXT,
  file_mtime INTEGER,
  message_count INTEGER,
  turn_count INTEGER,
  model TEXT,
  token_total INTEGER,
  input_tokens INTEGER,
  output_tokens INTEGER,
  cache_read_tokens INTEGER,
  cache_write_tokens INTEGER,
  reasoning_tokens INTEGER,
  cost INTEGER,
  cost_source TEXT,
  status TEXT,
  kind TEXT,
  parent_id TEXT,
  row_hash TEXT,
  revision INTEGER,
  UNIQUE (runtime, origin, session_id)
) STRICT;
CREATE INDEX session_reading ON session (reading);
CREATE INDEX session_revision ON session (revision);
CREATE INDEX session_started ON session (started_at, id);
CREATE INDEX session_id ON session (session_id);
CREATE INDEX session_settles ON session (settles_at) WHERE settles_at IS NOT NULL;
CREATE TABLE holding (
  key BLOB NOT NULL,
  reading INTEGER NOT NULL,
  position INTEGER NOT NULL,
  time REAL,
  next_time REAL,
  turns INTEGER NOT NULL,
  model TEXT,
  used INTEGER NOT NULL,
  {AMOUNTS.replace(",", " INTEGER,")} INTEGER,
  PRIMARY KEY (key, reading)
) STRICT, WITHOUT ROWID;
CREATE INDEX holding_reading ON holding (reading, position);
CREATE TABLE usage (
  session INTEGER NOT NULL,
  quarter INTEGER NOT NULL,
  model TEXT NOT NULL,
  {AMOUNTS.replace(",", " INTEGER,")} INTEGER,
  PRIMARY KEY (session, quarter, model)
) STRICT, WITHOUT ROWID;
CREATE TABLE title (
  runtime TEXT NOT NULL,
  session_id TEXT NOT NULL,
  store BLOB NOT NULL,
  title TEXT NOT NULL,
  PRIMARY KEY (runtime, session_id, store)
) STRICT, WITHOUT ROWID;
"""


class Database:
    """A connection to the ledger. Open it with ``open_ledger``."""

    def __init__(self, path: Path, db: sqlite3.Connection) -> None:
        self.path = path
        self.db = db
        self.revision: int | None = None

    def close(self) -> None:
        """Close the connection."""
        self.db.close()

    def meta(self, name: str) -> Any:
        """Return a value kept beside the tables, or ``None``."""
        row = self.db.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
        return row[0] if row else None

    def set_meta(self, name: str, value: int | float | str) -> None:
        """Keep a value beside the tables."""
        self.db.execute("INSERT INTO meta VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value", (name, value))

    def next_revision(self) -> int:
        """Return a revision above all earlier ones, those of a lost ledger included: max(last + 1, now in µs)."""
        if self.revision is None:
            self.revision = self.meta("revision") or 0
        self.revision = max(self.revision + 1, time.time_ns() // 1000)
        return self.revision

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Write all of the block or nothing."""
        try:
            self.db.execute("BEGIN IMMEDIATE")
            self.revision = None
            try:
                yield
                if self.revision is not None:
                    self.set_meta("revision", self.revision)
                self.db.execute("COMMIT")
            except BaseException:
                if self.db.in_transaction:
                    self.db.execute("ROLLBACK")
                raise
        except sqlite3.Error as error:
            raise unusable(self.path, error) from error


def open_ledger(path: Path) -> Database:
    """Open the ledger, make it when there is none.

    Raises:
        IndexUnavailable: the file cannot be opened or is no ledger.
        VersionMismatch: a newer sidecar wrote it.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not path.exists():
            os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
        db = connect(path)
        found = db.execute("PRAGMA user_version").fetchone()[0]
        if found > VERSION:
            db.close()
            raise VersionMismatch(f"{path} was written by a newer sidecar: update the sidecar")
        if found < VERSION:
            db = create(path, db, found)
    except (OSError, sqlite3.Error) as error:
        raise unusable(path, error) from error
    return Database(path, db)


def connect(path: Path) -> sqlite3.Connection:
    """Return a connection with our settings; transactions are begun by hand."""
    db = sqlite3.connect(path, isolation_level=None, timeout=30)
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = NORMAL")
    return db


def create(path: Path, db: sqlite3.Connection, found: int) -> sqlite3.Connection:
    """Make the tables. An older ledger is thrown away: everything in it can be read again."""
    if found:
        db.close()
        for suffix in ("", "-wal", "-shm"):
            Path(f"{path}{suffix}").unlink(missing_ok=True)
        db = connect(path)
    db.execute("BEGIN IMMEDIATE")
    if db.execute("PRAGMA user_version").fetchone()[0] < VERSION:
        for statement in TABLES.split(";"):
            db.execute(statement)
        db.execute(f"PRAGMA user_version = {VERSION}")
    db.execute("COMMIT")
    return db


def unusable(path: Path, error: Exception) -> IndexUnavailable:
    """Return the error for a ledger that cannot be used; SQLite's own words hold no content."""
    return IndexUnavailable(f"the ledger {path} cannot be used ({error}); it can be deleted at any time")


@contextmanager
def exclusive(path: Path, timeout_seconds: float = 3600) -> Iterator[None]:
    """Hold the one lock under which a ledger is written; a second pass waits for the first.

    Raises:
        Timeout: another process held it all the time.
        IndexUnavailable: the lock file cannot be made.
    """
    deadline = time.monotonic() + timeout_seconds
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle = os.open(path.with_suffix(".lock"), os.O_CREAT | os.O_RDWR, 0o600)
    except OSError as error:
        raise unusable(path, error) from error
    try:
        while True:
            try:
                # A record lock: unlike flock's, it is not inherited by workers, which may outlive a killed pass.
                fcntl.lockf(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except (BlockingIOError, PermissionError):
                if time.monotonic() > deadline:
                    raise Timeout(f"another process has been indexing into {path} for {timeout_seconds:.0f} seconds") from None
                time.sleep(0.05)
        yield
    finally:
        os.close(handle)
