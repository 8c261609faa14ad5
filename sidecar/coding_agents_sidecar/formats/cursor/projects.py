"""Which folder on disk a project of Cursor's command line is.

~/.cursor/projects/<name>/.workspace-trusted    {workspacePath}
~/.cursor/chats/<MD5 of the path>

A project's name is its path with every run of characters other than letters and digits as one hyphen, so it fits several
paths. It is taken for one only if exactly one of them is a folder.
"""

import hashlib
import os
import re
from collections.abc import Iterator

from .. import beside, fields, jsonl, places

TRUSTED = ".workspace-trusted"
LIMIT = 1 << 20
OTHERS = re.compile("[^A-Za-z0-9]+")
NO_PROJECT = re.compile(r"empty-window|\d+")
"""A window without a folder."""


def marker(project: str) -> str:
    """Return the file that names the path of a project."""
    return os.path.join(project, TRUSTED)


def marked(path: str) -> str | None:
    """Return the path that a marker names, ``None`` when it names none."""
    data = beside.kept(path, limit=LIMIT)
    return fields.text(jsonl.load(data.removeprefix(jsonl.BOM)), "workspacePath") if data else None


def path_of(project: str) -> str | None:
    """Return the path of a project, ``None`` when nothing tells it for certain."""
    name = os.path.basename(project)
    if NO_PROJECT.fullmatch(name):
        return None
    if path := marked(marker(project)):
        return path
    fitting = set(fits("/", name))
    return fitting.pop() if len(fitting) == 1 else None


def fits(base: str, name: str) -> Iterator[str]:
    """Yield the folders below a folder whose paths from there a name fits."""
    for folder in places.folders(base):
        own = OTHERS.sub("-", folder).strip("-")
        path = os.path.join(base, folder)
        if own == name:
            yield path
        elif own and name.startswith(own + "-"):
            yield from fits(path, name[len(own) + 1 :])


def by_digest(projects: str) -> dict[str, str]:
    """Return the MD5 of a path -> the marker that names it, for all projects."""
    found = {}
    for name in places.folders(projects):
        path = marked(file := marker(os.path.join(projects, name)))
        if path:
            found[digest(path)] = file
    return found


def digest(path: str) -> str:
    """Return the name of the folder with the chats of a project."""
    return hashlib.md5(path.encode("utf-8", "surrogateescape"), usedforsecurity=False).hexdigest()
