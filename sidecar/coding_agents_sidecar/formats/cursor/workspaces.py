"""The folders that the editor had open, each with a small database of its own.

<User>/workspaceStorage/<id>/workspace.json     {folder: URI}, or {workspace: URI of a file of several folders}
<User>/workspaceStorage/<id>/state.vscdb        ItemTable composer.composerData {allComposers: [{composerId}]}

Before version 3 nothing else tells which folder a conversation belongs to.
"""

import os
from collections.abc import Iterator
from functools import lru_cache

from ...errors import ParseError
from .. import beside, fields, jsonl, places, sqlite
from . import items, uris

FOLDERS, DATABASE, ABOUT = "workspaceStorage", "state.vscdb", "workspace.json"
ABOUT_LIMIT = 1 << 20


def beside_global(database: str) -> list[str]:
    """Return the folders of all workspaces beside the folder of the global database, sorted."""
    base = os.path.join(os.path.dirname(os.path.dirname(database)), FOLDERS)
    return [os.path.join(base, name) for name in places.folders(base)]


def files_of(folder: str) -> tuple[str, str, str]:
    """Return the files that tell of a workspace."""
    database = os.path.join(folder, DATABASE)
    return database, database + "-wal", os.path.join(folder, ABOUT)


def path_of(folder: str) -> str | None:
    """Return the path of a workspace, ``None`` when nothing tells it."""
    data = beside.kept(os.path.join(folder, ABOUT), limit=ABOUT_LIMIT)
    about = jsonl.load(data.removeprefix(jsonl.BOM)) if data else None
    return uris.path_of(fields.at(about, "folder")) or uris.path_of(fields.at(about, "workspace"))


def homes(folders: list[str]) -> dict[str, str]:
    """Return the id of a conversation -> the path of the workspace that lists it, the first one that has a path."""
    found: dict[str, str] = {}
    for folder in folders:
        path = path_of(folder)
        for id in listed(folder) if path else ():
            found.setdefault(id, path or "")
    return found


def listed(folder: str) -> tuple[str, ...]:
    """Return the ids of the conversations that a workspace lists; none when its database cannot be read."""
    database, *others = files_of(folder)
    try:
        stamp = places.stamp(database, (database, others[0]))
        return _listed(database, stamp.value) if stamp else ()
    except (OSError, ParseError):
        return ()


@lru_cache(maxsize=1024)
def _listed(database: str, stamp: str) -> tuple[str, ...]:
    """Read the list once for every state of the database."""
    with sqlite.read_only(database) as db:
        return tuple(_ids(items.item(db, items.COMPOSERS)))


def _ids(value: object) -> Iterator[str]:
    for entry in fields.rows(value, "allComposers"):
        if id := fields.text(entry, "composerId"):
            yield id
