"""SQLite databases of other programs, read without leaving a trace beside them and without disturbing their writer.

Opening with ``mode=ro`` is not enough: for a database in WAL mode it creates ``-wal`` and ``-shm`` and changes the latter.

    -wal and -shm exist             in place, the -shm read-only: sees what a live writer has committed
    no -wal, or an empty one alone  in place as immutable: everything is in the main file, nothing is locked
    anything else, or in vain       a private copy, for which SQLite may do what it likes
"""

import math
import os
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any
from urllib.parse import quote

from ..errors import ParseError
from . import jsonl, places, text

BUSY_SECONDS = 0.25
"""Wait for a lock; after it a copy is read."""

COPIES = 5
COPY_PAUSE_SECONDS = 0.05

WORDS = {
    sqlite3.SQLITE_NOTADB: "is no SQLite database, or an encrypted one",
    sqlite3.SQLITE_CORRUPT: "is damaged",
    sqlite3.SQLITE_BUSY: "is locked",
    sqlite3.SQLITE_LOCKED: "is locked",
    sqlite3.SQLITE_CANTOPEN: "cannot be opened",
    sqlite3.SQLITE_IOERR: "cannot be read",
    sqlite3.SQLITE_ERROR: "has tables of an unknown form",
}
PASSING = {
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_PROTOCOL,
    sqlite3.SQLITE_READONLY,
}
"""What may pass without a change of the file, and what a copy gets around."""


@contextmanager
def read_only(path: str) -> Iterator[sqlite3.Connection]:
    """Yield a connection that sees one consistent state of the database, committed rows in its ``-wal`` included.

    Text that is not UTF-8 is read with replacement characters.

    Raises:
        ParseError: it is no database, damaged or locked, also when that shows only while the caller reads.
    """
    before = _stamp(path)
    try:
        db = _in_place(path)
        if db is not None:
            with closing(db):
                yield db
            return
        with tempfile.TemporaryDirectory(prefix="coding-agents-") as folder, closing(_connect(_copy(path, folder))) as db:
            yield db
    except OSError as error:
        raise jsonl.unreadable(path, error) from error
    except sqlite3.Error as error:
        # What looks like damage may be a writer at work under an immutable connection.
        changed = _stamp(path) != before
        raise ParseError(f"{text.path(path)} {_words(error)}", transient=changed or _code(error) in PASSING) from error


def columns(db: sqlite3.Connection, table: str) -> set[str]:
    """Return the names of a table's columns; empty when there is no such table."""
    return {name for (name,) in db.execute("SELECT name FROM pragma_table_info(?)", (table,))}


def rows(db: sqlite3.Connection, query: str, values: Sequence[Any] = ()) -> Iterator[dict[str, Any]]:
    """Yield the rows of a query as objects, one at a time."""
    cursor = db.execute(query, values)
    names = [column[0] for column in cursor.description]
    for row in cursor:
        yield dict(zip(names, row, strict=True))


def json_value(value: Any) -> Any:
    """Return the JSON value that a text or blob column holds, or ``None`` when it holds none."""
    if isinstance(value, str):
        value = value.encode()
    return jsonl.load(value.strip(b" \t\r\n\x00")) if isinstance(value, bytes) else None


def native(row: dict[str, Any], **decoded: Any) -> dict[str, Any]:
    """Return a row as JSON-like data, for ``Message.raw``: blobs as text, infinite numbers as ``None``.

    Args:
        decoded: columns to put in place of what the row holds.
    """
    return {name: _plain(value) for name, value in row.items()} | decoded


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return _decode(value)
    return None if isinstance(value, float) and math.isinf(value) else value


def _in_place(path: str) -> sqlite3.Connection | None:
    """Return a connection to the file itself, or ``None`` where it would leave a trace or does not work."""
    if _size(path + "-journal"):
        return None
    wal = _size(path + "-wal")
    if wal is not None and os.path.exists(path + "-shm"):
        if os.geteuid() == 0:
            # As root, SQLite sets the owner of each -wal and -shm it opens: their ctime moves with every reading.
            return None
        options = "mode=ro&readonly_shm=1"
    elif not wal:
        options = "mode=ro&immutable=1"
    else:
        return None
    try:
        return _connect(path, options)
    except sqlite3.Error as error:
        if _code(error) in PASSING:
            return None
        raise


def _connect(path: str, options: str = "mode=rw") -> sqlite3.Connection:
    # Three slashes, and every byte that is no plain letter escaped: the path may hold "?", "%" or no UTF-8 at all.
    name = f"file://{quote(os.fsencode(os.path.abspath(path)))}?{options}"
    db = sqlite3.connect(name, uri=True, timeout=BUSY_SECONDS, isolation_level=None)
    try:
        db.text_factory = _decode
        # Views and triggers of a foreign file must not run functions.
        db.execute("PRAGMA trusted_schema=OFF")
        db.execute("BEGIN")
        db.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except BaseException:
        db.close()
        raise
    return db


def _decode(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _copy(path: str, folder: str) -> str:
    """Copy the database with what belongs to it, as it is at one moment, and return the copy's path."""
    target = os.path.join(folder, "copy.db")
    try:
        for _ in range(COPIES):
            before = _generation(path)
            shutil.copyfile(path, target)
            for suffix in ("-wal", "-journal"):
                _copy_if_there(path + suffix, target + suffix)
            if _generation(path) == before:
                return target
            time.sleep(COPY_PAUSE_SECONDS)
    except OSError as error:
        raise jsonl.unreadable(path, error) from error
    raise ParseError(f"{text.path(path)} changes too fast for a copy", transient=True)


def _copy_if_there(path: str, target: str) -> None:
    try:
        shutil.copyfile(path, target)
    except FileNotFoundError:
        if os.path.exists(target):
            os.remove(target)


def _generation(path: str) -> tuple[places.Stamp | None, bytes]:
    """Return what stays the same while a copy of the files is one state of the database.

    A ``-wal`` may grow meanwhile: its frames carry checksums, a half one is ignored. Its header changes when it is
    begun anew, which comes after its frames went into the main file.
    """
    try:
        with open(path + "-wal", "rb") as wal:
            header = wal.read(32)
    except FileNotFoundError:
        header = b""
    return places.stamp(path, (path, path + "-journal")), header


def _stamp(path: str) -> places.Stamp | None:
    try:
        return places.stamp(path, (path, path + "-wal"))
    except OSError:
        return None


def _size(path: str) -> int | None:
    try:
        return os.stat(path).st_size
    except OSError:
        return None


def _code(error: sqlite3.Error) -> int:
    """Return SQLite's primary result code; 0 for an error of the Python module itself."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def _words(error: sqlite3.Error) -> str:
    return WORDS.get(_code(error), f"cannot be read ({getattr(error, 'sqlite_errorname', type(error).__name__)})")
