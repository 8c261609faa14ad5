"""Reading one source, whole or from where the last reading stopped. Runs in worker processes; touches no ledger."""

import hashlib
import logging
import os
from collections.abc import Iterator
from dataclasses import astuple, dataclass, field
from typing import Any

import orjson

from . import registry
from .adapter import Adapter, Source
from .errors import ParseError
from .fold import VERSION, Fold
from .formats import places
from .log import origin
from .model import Checkpoint, Stale
from .reading import Holding, Reading

EDGE = 4096
"""Bytes at the head and before the offset whose hash must be unchanged for a source to be resumed."""

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Resume:
    """Where an earlier reading stopped.

    Args:
        blob: as ``Scan.checkpoint``.
        known: the holdings of the source's sessions in the ledger, by native session id.
    """

    blob: bytes
    known: dict[str, list[Holding]]


@dataclass(slots=True)
class Scan:
    """What reading a source brought.

    Args:
        readings: its sessions.
        checkpoint: where to go on when the source has grown; ``None`` when it must be read from its start.
        skipped: records that could not be read and belong to no session.
        code: error code when the source as a whole could not be read, with ``message``.
        transient: trying again may help although the source does not change.
    """

    readings: list[Reading] = field(default_factory=list)
    checkpoint: bytes | None = None
    skipped: int = 0
    code: str | None = None
    message: str | None = None
    transient: bool = False


def version(adapter: Adapter) -> str:
    """Return the version under which a source is read; another one means it must be read again."""
    return f"{VERSION}.{adapter.version}"


def scan(adapter: Adapter, source: Source, resume: Resume | None) -> Scan:
    """Read a source; a source that cannot be read is a result, not an exception."""
    try:
        before = Shape.of(source)
        fold = resumed(adapter, source, resume, before) if resume else None
        if fold is None:
            fold = Fold(adapter.name).run(adapter.events(source))
        readings = fold.readings()
        result = Scan(readings, skipped=fold.skipped - sum(reading.skipped for reading in readings))
        rows = {reading.start.session_id for reading in readings}
        # What a session without a row holds does not come into the ledger, so it could not be taken up from there.
        unkept = any(session.holdings for name, session in fold.sessions.items() if name not in rows)
        if fold.checkpoint and not unkept:
            result.checkpoint = pack(source.path, fold.checkpoint, fold.state, before)
        return result
    except Exception as error:
        return failed(adapter, error)


def failed(adapter: Adapter, error: Exception) -> Scan:
    """Return the outcome for a source that could not be read. What may pass by itself is tried again."""
    if isinstance(error, ParseError):
        return Scan(code=error.code, message=str(error), transient=error.transient)
    # Kinds and places only: an exception's words may quote a transcript.
    log.error("adapter failed", extra={"runtime": adapter.name, **origin(error)})
    message = f"the {adapter.name} adapter failed with {type(error).__name__}"
    return Scan(code="INTERNAL_ERROR", message=message, transient=isinstance(error, OSError | MemoryError))


def scan_named(name: str, source: Source, resume: Resume | None, plugins: bool) -> Scan:
    """Read a source in another process, which finds the adapter by its name."""
    return scan(registry.load(plugins).get(name), source, resume)


def each(adapter: Adapter, source: Source, changed: set[str], total: int) -> Iterator[Reading]:
    """Yield the changed sessions of a source of many; one by one while they are few, else in one go.

    Raises:
        ParseError: the source as a whole cannot be read.
    """
    if len(changed) * 4 < total:
        for session_id in sorted(changed):
            yield from Fold(adapter.name).run(adapter.events(source, session_id)).readings()
        return
    for fold in Fold(adapter.name).sessions_of(adapter.events(source)):
        if fold.start.session_id in changed:
            reading = fold.reading()
            if reading:
                yield reading


@dataclass(frozen=True, slots=True)
class Shape:
    """What tells a file that was appended to from one that was written anew.

    Args:
        inode, size, modified: of the main file.
        sides: stamp of the files beside it, which are read from their start each time.
    """

    inode: int
    size: int
    modified: int
    sides: str

    @classmethod
    def of(cls, source: Source) -> "Shape":
        """Return the shape of a source as it is now.

        Raises:
            OSError: its main file cannot be looked at.
        """
        main = os.stat(source.path)
        beside = [name for name in source.files if name != source.path]
        sides = places.stamp("", beside)
        return cls(main.st_ino, main.st_size, main.st_mtime_ns, sides.value if sides else "")

    def grew_from(self, earlier: "Shape") -> bool:
        """Return whether the file can be the earlier one with something appended, or unchanged."""
        same = self.size == earlier.size and self.modified == earlier.modified
        return self.inode == earlier.inode and self.sides == earlier.sides and (same or self.size > earlier.size)


def resumed(adapter: Adapter, source: Source, resume: Resume, now: Shape) -> Fold | None:
    """Return the fold over what was appended, or ``None`` when the source is not a longer form of what was read."""
    offset, edges, shape, state, fold_state = orjson.loads(resume.blob)
    try:
        if not now.grew_from(Shape(*shape)) or edges != edge_hash(source.path, offset):
            return None
        fold = Fold(adapter.name).restore(fold_state, resume.known)
        return fold.run(adapter.events(source, None, Checkpoint(offset, state)))
    except (Stale, OSError):
        return None


def pack(path: str, checkpoint: Checkpoint, state: Any, shape: Shape) -> bytes | None:
    """Return a checkpoint as bytes, with what tells whether the bytes before it are still the same."""
    try:
        return orjson.dumps([checkpoint.offset, edge_hash(path, checkpoint.offset), astuple(shape), checkpoint.state, state])
    except (OSError, TypeError):
        return None


def edge_hash(path: str, offset: int) -> str:
    """Return the hash over the first bytes and those before an offset.

    Raises:
        OSError: the file cannot be read.
    """
    with open(path, "rb", buffering=0) as file:
        head = file.read(min(EDGE, offset))
        start = max(0, offset - EDGE)
        file.seek(start)
        tail = file.read(offset - start)
    if len(tail) < offset - start:
        return "shorter"
    return hashlib.blake2b(head + tail, digest_size=16).hexdigest()
