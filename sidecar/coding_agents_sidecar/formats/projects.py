"""Folders of projects, for runtimes that keep their sessions inside of them: the folders that a person names, and those below.

$CODING_AGENTS_SCAN_ROOTS names them, separated like PATH. The walk is limited, so that naming a home folder is affordable.
"""

import os
import stat
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from . import places

VARIABLE = "CODING_AGENTS_SCAN_ROOTS"
DEPTH = 4
"""A project lies at most so many folders below the named one."""

MAX_FOLDERS = 50_000
SKIPPED = frozenset(
    (".git", ".hg", ".svn", "node_modules", "bower_components", "vendor", "site-packages", "__pycache__", "venv", ".venv", ".tox")
)


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder that may be a project.

    Args:
        names: of the files and links in it.
        inside: real path of the tree it was found in; nothing outside of that belongs to it.
    """

    path: str
    names: frozenset[str]
    inside: str

    def file(self, name: str) -> str | None:
        """Return the path of the regular file in the tree that an untrusted name leads to, ``None`` when there is none."""
        if os.sep not in name and name not in self.names:
            return None
        path = os.path.normpath(os.path.join(self.path, name))
        try:
            # A link may lead out of the tree, and what it leads to may be a device.
            within = os.path.realpath(path).startswith(self.inside.rstrip(os.sep) + os.sep)
            return path if within and stat.S_ISREG(os.stat(path).st_mode) else None
        except (OSError, ValueError):
            return None


def named(environ: Mapping[str, str], home: Path) -> list[str]:
    """Return the absolute paths of the folders that the environment names."""
    listed = environ.get(VARIABLE, "").split(os.pathsep)
    return [os.path.normpath(places.absolute(path, environ, home)) for path in listed if path.strip()]


def walk(root: str, depth: int = DEPTH) -> Iterator[Folder | places.Unlisted]:
    """Yield the folders from a root down, the upper ones first, and those that could not be listed.

    Folder links directly below the root are followed once, others never. Other file systems, caches, and what tools
    have installed are passed over.
    """
    device = None
    seen: set[tuple[int, int]] = set()
    queue = deque([(root, os.path.realpath(root), depth)])
    while queue:
        path, inside, left = queue.popleft()
        try:
            here = os.stat(path)
            device = here.st_dev if device is None else device
            if here.st_dev != device or (here.st_dev, here.st_ino) in seen:
                continue
            if len(seen) == MAX_FOLDERS:
                # Which ones come first changes with every new one, so nothing below the root can be said to be gone.
                yield places.Unlisted(root, f"has more than {MAX_FOLDERS} folders, not all were looked into")
                return
            seen.add((here.st_dev, here.st_ino))
            folder, below = look(path, inside)
        except FileNotFoundError:
            continue
        except OSError as error:
            yield places.Unlisted(path, error.strerror or type(error).__name__)
            continue
        yield folder
        if left:
            is_root = path == root
            queue.extend((one, tree, left - 1) for one, tree in into(folder, below, follow=is_root))


def look(path: str, inside: str) -> tuple[Folder, list[str]]:
    """Return a folder, and the names of the folders in it.

    Raises:
        OSError: it cannot be listed.
    """
    names, below = set(), []
    with os.scandir(path) as listing:
        for entry in listing:
            if entry.is_dir(follow_symlinks=False):
                below.append(entry.name)
            else:
                names.add(entry.name)
    return Folder(path, frozenset(names), inside), below


def into(folder: Folder, below: list[str], *, follow: bool) -> Iterator[tuple[str, str]]:
    """Yield the paths of the folders in a folder that may hold projects, sorted, each with the tree it belongs to.

    Args:
        follow: links count, too.
    """
    for name in sorted(below):
        if name not in SKIPPED and not (name.startswith(".") and "cache" in name.lower()):
            yield os.path.join(folder.path, name), folder.inside
    for name in sorted(folder.names) if follow else ():
        path = os.path.join(folder.path, name)
        if os.path.islink(path) and os.path.isdir(path):
            yield path, os.path.realpath(path)
