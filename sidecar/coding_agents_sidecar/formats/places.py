"""Folders and files as runtimes leave them: roots, walks that stay inside, stamps."""

import hashlib
import os
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..adapter import Root

XDG = {
    "XDG_DATA_HOME": ".local/share",
    "XDG_CONFIG_HOME": ".config",
    "XDG_STATE_HOME": ".local/state",
    "XDG_CACHE_HOME": ".cache",
}


@dataclass(frozen=True, slots=True)
class Stamp:
    """What changes whenever a source does.

    Args:
        value: hash over size, mtime_ns, ctime_ns and inode of every file.
        size: bytes of the main file.
        inode: of the main file.
        modified_ns: newest mtime of the files.
        changed_ns: newest ctime of the files; unlike mtime, programs cannot set it.
    """

    value: str
    size: int
    inode: int
    modified_ns: int
    changed_ns: int


@dataclass(frozen=True, slots=True)
class Unlisted:
    """A folder that exists and could not be listed: nothing is known of what lies below it.

    Args:
        reason: in words; '' when it may well be nothing and is not worth a report.
    """

    path: str
    reason: str


def stamp(main: str, files: Sequence[str]) -> Stamp | None:
    """Return the stamp of a source; ``None`` when its main file is gone.

    Raises:
        OSError: the main file may exist but cannot be looked at.
    """
    parts = []
    size = inode = modified = changed = 0
    for name in files:
        try:
            found = os.stat(name)
        except (FileNotFoundError, NotADirectoryError):
            if name == main:
                return None
            parts.append("-")
            continue
        if name == main:
            size, inode = found.st_size, found.st_ino
        modified, changed = max(modified, found.st_mtime_ns), max(changed, found.st_ctime_ns)
        parts.append(f"{found.st_size}.{found.st_mtime_ns}.{found.st_ctime_ns}.{found.st_ino}")
    text = "/".join(parts)
    value = text if len(parts) == 1 else hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
    return Stamp(value, size, inode, modified, changed)


def expand(roots: Sequence["Root"], environ: Mapping[str, str], home: Path) -> "list[Root]":
    """Return the roots with absolute paths: a variable that is set replaces the default, doubles by real path go."""
    found: dict[str, Root] = {}
    for root in roots:
        named = [part.strip() for part in environ.get(root.env, "").split(",")] if root.env else []
        paths = [os.path.join(absolute(part, environ, home), root.below) for part in named if part] or [root.path]
        for path in paths:
            path = os.path.normpath(absolute(path, environ, home))
            found.setdefault(os.path.realpath(path), replace(root, path=path))
    return list(found.values())


def absolute(path: str, environ: Mapping[str, str], home: Path) -> str:
    """Return ``~`` and a leading ``$XDG_…`` variable resolved, with the standard's defaults; relative paths lie below home."""
    if path.startswith("$"):
        name, _, rest = path[1:].partition("/")
        value = environ.get(name, "")
        base = value if os.path.isabs(value) else os.path.join(home, XDG.get(name, ""))
        return os.path.join(base, rest)
    if path == "~" or path.startswith("~/"):
        return os.path.join(home, path[2:])
    return os.path.join(home, path)


def walk(root: str, wanted: Callable[[str], bool], depth: int = 64) -> Iterator[str | Unlisted]:
    """Yield the regular files below a root whose path relative to it is wanted, in sorted order.

    Folder links directly below the root are followed once; every other link that leaves the root is not. A file
    reached twice is yielded once. Devices and FIFOs are passed over. Depth counts folders below the root.
    """
    seen: set[tuple[int, int]] = set()
    real_root = os.path.realpath(root)
    queue = [("", depth)]
    while queue:
        folder, left = queue.pop()
        full = os.path.join(root, folder) if folder else root
        try:
            here = os.stat(full)
            if (here.st_dev, here.st_ino) in seen:
                continue
            seen.add((here.st_dev, here.st_ino))
            with os.scandir(full) as listing:
                entries = sorted(listing, key=lambda entry: entry.name, reverse=True)
        except FileNotFoundError:
            continue
        except OSError as error:
            yield Unlisted(full, error.strerror or type(error).__name__)
            continue
        files = []
        for entry in entries:
            name = os.path.join(folder, entry.name) if folder else entry.name
            if entry.is_symlink() and not _may_follow(entry, folder, real_root):
                if not folder and not wanted(name) and not os.path.exists(entry.path):
                    # Perhaps a folder of the root on a disk that is away: nothing is known of what lay there.
                    yield Unlisted(entry.path, "")
                continue
            if entry.is_dir():
                if left > 0:
                    queue.append((name, left - 1))
            elif wanted(name) and _is_regular(entry):
                files.append(entry)
        for entry in reversed(files):
            found = entry.stat()
            if (found.st_dev, found.st_ino) not in seen:
                if entry.is_symlink() or found.st_nlink > 1:
                    seen.add((found.st_dev, found.st_ino))
                yield entry.path


def folders(path: str) -> list[str]:
    """Return the names of the folders in a folder, sorted; none when it cannot be listed."""
    try:
        with os.scandir(path) as listing:
            return sorted(entry.name for entry in listing if entry.is_dir())
    except OSError:
        return []


def _may_follow(entry: "os.DirEntry[str]", folder: str, real_root: str) -> bool:
    try:
        if not folder and entry.is_dir():
            return True
        target = os.path.realpath(entry.path)
    except OSError:
        return False
    # A link to itself leads nowhere, and asking what it is would fail.
    return target.startswith(real_root + os.sep) and os.path.exists(target)


def _is_regular(entry: "os.DirEntry[str]") -> bool:
    try:
        return stat.S_ISREG(entry.stat().st_mode)
    except OSError:
        return False
