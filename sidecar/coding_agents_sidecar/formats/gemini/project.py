"""The project of a folder of Gemini CLI sessions, which its files name by a hash only.

<home>/tmp/<folder>/.project_root, <home>/history/<folder>/.project_root      the path
<home>/projects.json        {"projects": {<path>: <folder>}}
<home>/trustedFolders.json  {<path>: …}

A folder's name is the SHA-256 of the path (older) or a short name for it.
"""

import hashlib
import os
import re
from collections.abc import Iterator, Sequence

from .. import beside, fields, jsonl

MARKER, REGISTRY, TRUSTED = ".project_root", "projects.json", "trustedFolders.json"
LIMIT = 1 << 20
HASH = re.compile(r"[0-9a-f]{64}")
ABSOLUTE = re.compile(r"/|[A-Za-z]:[\\/]|\\\\")


def witnesses(root: str, folder: str | None) -> tuple[str, ...]:
    """Return the files that tell a folder's project: its own marker, else all that may come to tell it."""
    home = os.path.dirname(root)
    markers = [os.path.join(base, folder, MARKER) for base in bases(root)] if folder else []
    for marker in markers:
        if os.path.isfile(marker):
            return (marker,)
    return (*markers, os.path.join(home, REGISTRY), os.path.join(home, TRUSTED))


def path_of(root: str, folder: str | None, digest: str | None, told: Sequence[str]) -> str | None:
    """Return the path of a project; ``None`` when nothing tells it.

    Args:
        root: the folder of all folders of sessions.
        folder: where the session lies in it.
        digest: the hash its file gives.
        told: paths the session itself speaks of, the most likely one first.
    """
    if folder:
        for base in bases(root):
            if marked := marker(base, folder):
                return marked
    home = os.path.dirname(root)
    registry = fields.table(document(home, REGISTRY), "projects")
    for path in registry:
        if folder and registry[path] == folder and ABSOLUTE.match(path):
            return path
    digests = {digest, folder if folder and HASH.fullmatch(folder) else None} - {None}
    for path in candidates(root, [*registry, *told, *fields.table(document(home, TRUSTED))]) if digests else ():
        if hashlib.sha256(path.encode("utf-8", "surrogatepass")).hexdigest() in digests:
            return path
    return told[0] if told else None


def candidates(root: str, first: list[str]) -> Iterator[str]:
    """Yield some paths, then those of all other folders of sessions."""
    yield from first
    for base in bases(root):
        try:
            names = sorted(os.listdir(base))
        except OSError:
            continue
        yield from filter(None, (marker(base, name) for name in names))


def bases(root: str) -> tuple[str, str]:
    """Return the folders that hold a folder for each project."""
    return root, os.path.join(os.path.dirname(root), "history")


def marker(base: str, folder: str) -> str | None:
    """Return the path that a folder's marker holds."""
    data = beside.read(os.path.join(base, folder), MARKER, limit=LIMIT)
    path = os.fsdecode(data.strip()) if data else ""
    return path if ABSOLUTE.match(path) and "\0" not in path else None


def document(home: str, name: str) -> object:
    """Return the JSON value of a small file of the runtime; ``None`` when there is none."""
    data = beside.read(home, name, limit=LIMIT)
    return jsonl.load(data) if data else None
