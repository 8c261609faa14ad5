"""One pass over a ledger, under its lock: list roots, compare stamps, read what changed, derive rows, note what is gone."""

import os
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from . import scan, workers
from .adapter import Adapter, Root, Source
from .config import Settings
from .errors import IndexUnavailable, ParseError
from .formats import places, text
from .formats.places import Stamp, Unlisted
from .ledger import titles
from .ledger.database import Database
from .ledger.derive import Changes, Deriver, close_settled
from .ledger.store import Known, Store

BATCH = 256
"""Sources written in one transaction."""

FINE_GRAIN, COARSE_GRAIN = 0.05, 2.0
"""Seconds within which a file system may give two writes the same time: by its tick, and where it keeps whole seconds."""

Progress = Callable[[int, int], None]


@dataclass(slots=True)
class Task:
    """A source to read.

    Args:
        looked: when its stamp was taken.
        known: what the ledger knows of it.
        stamps: for a source of many sessions, the change stamp of each.
        failed: why it could not even be looked into.
    """

    adapter: Adapter
    source: Source
    stamp: Stamp
    looked: float
    known: Known | None
    stamps: dict[str, str] | None = None
    failed: scan.Scan | None = None


@dataclass(slots=True)
class Listing:
    """What one pass found on disk for one runtime.

    Args:
        roots: those that could be listed.
        unlisted: folders and files below them that could not be looked at.
        seen: paths of all sources found.
        tasks: sources to read.
    """

    roots: list[Root] = field(default_factory=list)
    unlisted: list[str] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)
    tasks: list[Task] = field(default_factory=list)


def root_states(adapter: Adapter, settings: Settings) -> list[tuple[Root, str]]:
    """Return the roots of a runtime, each with ``listed``, ``absent`` or ``unreadable``."""
    found = []
    for root in adapter.roots(settings.environ, settings.home):
        try:
            with os.scandir(root.path):
                state = "listed"
        except (FileNotFoundError, NotADirectoryError):
            state = "absent"
        except OSError:
            state = "unreadable"
        found.append((root, state))
    return found


class Pass:
    """A pass over some runtimes.

    Args:
        full: read every source again, whatever its stamp.
        wanted: tells of a known source, by its id, whether it is asked for; ``None`` takes all.
    """

    def __init__(
        self, ledger: Database, settings: Settings, *, full: bool = False, wanted: Callable[[int], bool] | None = None
    ) -> None:
        self.ledger = ledger
        self.settings = settings
        self.store = Store(ledger)
        self.full = full
        self.wanted = wanted
        self.changes = Changes()
        self.failures: list[dict[str, Any]] = []

    def run(self, adapters: Iterable[Adapter], progress: Progress | None = None) -> Changes:
        """Bring the ledger up to date for these runtimes; return what changed.

        Raises:
            IndexUnavailable: the ledger cannot be written.
        """
        adapters = list(adapters)
        listings = [(adapter, self.look(adapter)) for adapter in adapters]
        self.read([task for _, listing in listings for task in listing.tasks], progress)
        for adapter, listing in listings:
            self.lose(adapter, listing)
        close_settled(self.ledger, self.changes, [adapter.name for adapter in adapters], time.time())
        return self.changes

    def refresh(self, adapter: Adapter, source: Source) -> None:
        """Bring one source up to date."""
        listing = Listing(seen={source.path})
        self.compare(adapter, source, self.store.sources(adapter.name).get(os.fsencode(source.path)), listing)
        self.read(listing.tasks, None)

    def look(self, adapter: Adapter) -> Listing:
        """List the roots of a runtime and compare the stamps of what lies there."""
        listing = Listing()
        known = self.store.sources(adapter.name)
        for root, state in root_states(adapter, self.settings):
            if state == "unreadable":
                self.fail(adapter, root.path, "the folder cannot be listed")
            if state != "listed":
                # It may lie below another root: that it is away is evidence of nothing all the same.
                listing.unlisted.append(root.path)
                continue
            listing.roots.append(root)
            self.entitle(adapter, root)
            try:
                for found in adapter.discover(root):
                    self.meet(adapter, found, known, listing)
            except Exception as error:
                listing.unlisted.append(root.path)
                self.fail(adapter, root.path, scan.failed(adapter, error).message or "")
        return listing

    def meet(self, adapter: Adapter, found: Source | Unlisted, known: dict[bytes, Known], listing: Listing) -> None:
        """Take note of what the adapter found below a root."""
        if not isinstance(found, Source):
            listing.unlisted.append(found.path)
            if found.reason:
                self.fail(adapter, found.path, found.reason)
        elif found.path not in listing.seen:
            listing.seen.add(found.path)
            self.compare(adapter, found, known.get(os.fsencode(found.path)), listing)

    def entitle(self, adapter: Adapter, root: Root) -> None:
        """Take over the titles that the runtime keeps apart from its sessions, if they have changed."""
        files = adapter.title_files(root)
        if not files:
            return
        looked = time.time()
        try:
            stamp = places.stamp("", files)
            if stamp is None or (not self.full and stamp.value == titles.stamp(self.ledger, adapter.name, files[0])):
                return
            found = adapter.titles(root)
        except (OSError, ParseError):
            return
        with self.ledger.transaction():
            value = "" if is_fresh(stamp, looked) else stamp.value
            touched = titles.replace(self.ledger, adapter.name, files[0], value, found)
            Deriver(self.ledger, self.changes).run(touched)

    def compare(self, adapter: Adapter, source: Source, known: Known | None, listing: Listing) -> None:
        """Decide by its stamp whether a source must be read."""
        looked = time.time()
        try:
            stamp = source.stamp()
        except OSError as error:
            listing.unlisted.append(source.path)
            self.fail(adapter, source.path, error.strerror or type(error).__name__)
            return
        if stamp is None:
            listing.seen.discard(source.path)
            return
        if known and self.wanted and not self.wanted(known.id):
            return
        if self.full or known is None or known.stamp != stamp.value or known.version != scan.version(adapter):
            listing.tasks.append(Task(adapter, source, stamp, looked, known))

    def fail(self, adapter: Adapter, path: str, reason: str) -> None:
        """Note what could not be looked at, for the report."""
        where = text.path(path)
        self.failures.append({"runtime": adapter.name, "source": where, "code": "PARSE_ERROR", "message": f"{where}: {reason}"})

    def read(self, tasks: list[Task], progress: Progress | None) -> None:
        """Read these sources and write what they say, a batch a transaction."""
        single: list[Task] = []
        many: list[Task] = []
        for task in tasks:
            try:
                task.stamps = task.adapter.stamps(task.source)
            except Exception as error:
                task.failed = scan.failed(task.adapter, error)
            (single if task.stamps is None and task.failed is None else many).append(task)
        done = 0
        for batch in in_batches(workers.run(single, self.resume, self.settings)):
            with self.ledger.transaction():
                touched: set[int] = set()
                for task, result in batch:
                    touched |= self.write(task, result)
                Deriver(self.ledger, self.changes).run(touched)
            done += len(batch)
            if progress:
                progress(done, len(tasks))
        for task in many:
            with self.ledger.transaction():
                touched = self.write_many(task)
                Deriver(self.ledger, self.changes).run(touched)
            done += 1
            if progress:
                progress(done, len(tasks))

    def resume(self, task: Task) -> scan.Resume | None:
        """Return where to go on in a source that was read before."""
        known = task.known
        if known is None or self.full or not known.resumable or known.version != scan.version(task.adapter):
            return None
        return self.store.resume(known)

    def write(self, task: Task, result: scan.Scan) -> set[int]:
        """Store what reading a source brought; return the sessions this touches."""
        source_id = self.store.touch(task.adapter.name, task.source, task.stamp)
        touched: set[int] = set()
        if result.code is None:
            present = set()
            for reading in result.readings:
                touched |= self.store.write(task.adapter.name, task.source, source_id, reading)
                present.add((reading.start.origin or task.source.origin, reading.start.session_id))
            touched |= self.store.keep_only(source_id, present)
        self.finish(task, source_id, result)
        return touched

    def write_many(self, task: Task) -> set[int]:
        """Read the changed sessions of a source of many and store each as it comes; return the sessions this touches."""
        adapter, source = task.adapter, task.source
        source_id = self.store.touch(adapter.name, source, task.stamp)
        stamps = {one: f"{scan.version(adapter)}:{stamp}" for one, stamp in (task.stamps or {}).items()}
        touched: set[int] = set()
        result = task.failed or scan.Scan()
        if result.code is None:
            before = {one: stamp for (_, one), stamp in self.store.session_stamps(source_id).items()}
            changed = {one for one, stamp in stamps.items() if self.full or before.get(one) != stamp}
            present = {(source.origin, one) for one in stamps if one in before and one not in changed}
            try:
                for reading in scan.each(adapter, source, changed, len(stamps)):
                    touched |= self.store.write(adapter.name, source, source_id, reading, stamps[reading.start.session_id])
                    present.add((source.origin, reading.start.session_id))
                touched |= self.store.keep_only(source_id, present)
            except IndexUnavailable:
                raise
            except Exception as error:
                result = scan.failed(adapter, error)
        self.finish(task, source_id, result)
        return touched

    def finish(self, task: Task, source_id: int, result: scan.Scan) -> None:
        """Note the stamp under which a source was read; without one it is looked at again."""
        again = is_fresh(task.stamp, task.looked) or (result.code is not None and result.transient)
        self.store.finish(source_id, "" if again else task.stamp.value, scan.version(task.adapter), result)

    def lose(self, adapter: Adapter, listing: Listing) -> None:
        """Note what is gone: known, below a folder that was listed in this pass, and not found there."""
        with self.ledger.transaction():
            touched: set[int] = set()
            for path, known in self.store.sources(adapter.name).items():
                name = os.fsdecode(path)
                if name in listing.seen or (self.wanted and not self.wanted(known.id)):
                    continue
                if any(covers(root, name) for root in listing.roots) and not below(name, listing.unlisted):
                    touched |= self.store.lose(known.id)
            Deriver(self.ledger, self.changes).run(touched)


def in_batches(results: Iterable[tuple[Task, scan.Scan]]) -> Iterator[list[tuple[Task, scan.Scan]]]:
    """Yield the results in lists of ``BATCH``."""
    batch = []
    for result in results:
        batch.append(result)
        if len(batch) == BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def is_fresh(stamp: Stamp, looked: float) -> bool:
    """Return whether a file may have been written once more under the same stamp after it was looked at."""
    grain = COARSE_GRAIN if stamp.changed_ns % 1_000_000_000 == 0 else FINE_GRAIN
    return looked - stamp.changed_ns / 1e9 < grain


def covers(root: Root, path: str) -> bool:
    """Return whether a path lies where a root is looked into."""
    if not below(path, (root.path,)):
        return False
    return root.depth is None or os.path.relpath(path, root.path).count(os.sep) <= root.depth


def below(path: str, folders: Iterable[str]) -> bool:
    """Return whether a path is one of the folders or lies in one."""
    return any(path == folder or path.startswith(folder.rstrip(os.sep) + os.sep) for folder in folders)
