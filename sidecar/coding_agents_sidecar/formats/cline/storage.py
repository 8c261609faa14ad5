"""The folders in which the extensions keep their tasks, and the list of them that each keeps beside.

    <storage>/tasks/<id>/api_conversation_history.json      what was said to the API
    <storage>/tasks/<id>/ui_messages.json                   what was shown
    <storage>/tasks/<id>/claude_messages.json               either of them, in 2024
    <storage>/tasks/<id>/task_metadata.json                 models and versions, of Cline
    <storage>/tasks/<id>/history_item.json                  of Roo and its kin: what the list says of the task
    <storage>/state/taskHistory.json                        the list, of Cline
    <storage>/tasks/_index.json                             the list, of Roo; it comes late and loses tasks

<storage> is the extension's folder in an editor's storage, or that of a command line. The lists lose tasks and keep those
that are gone: only folders count. They change with every turn of any task, so what a list says of a task goes with its
source, and that a list has changed is no change of the other tasks.
"""

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ...adapter import Root, Source
from .. import beside, editors, fields, jsonl, places, rewrites
from . import arrays
from .rows import title

TASKS = "tasks"
API, SHOWN, EARLIER = "api_conversation_history.json", "ui_messages.json", "claude_messages.json"
METADATA, ITEM = "task_metadata.json", "history_item.json"
NAMES = (API, SHOWN, EARLIER)
FILES = (*NAMES, METADATA, ITEM)
REPLACING = re.compile(r"\.(.+)\.(?:new|bak)_\d+_\w+\.tmp")
"""Beside a file that is just being replaced: for a moment it is not there. A crash may leave it behind."""

LIST_LIMIT = 64 << 20
SETTINGS_LIMIT = 8 << 20
TOLD = (
    *("task", "ts", "tokensIn", "tokensOut", "cacheWrites", "cacheReads", "totalCost", "modelId"),
    *("cwdOnTaskInitialization", "shadowGitConfigWorkTree", "workspace", "mode", "status", "parentTaskId"),
)
"""What is read of a task in a list."""

List = Callable[[str], Iterable[Any]]
"""Returns the items of the list below a storage folder."""


@dataclass(frozen=True, slots=True)
class Storage(Root):
    """A storage folder.

    Args:
        newer: folders of sessions into which a task may have been copied, under its id.
    """

    newer: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TaskSource(Source):
    """The folder of a task.

    Args:
        item: JSON text of what the list says of it; '' when it says nothing.
    """

    item: str = ""

    def stamp(self) -> places.Stamp | None:
        found = Source.stamp(self)
        said = hashlib.blake2b(self.item.encode(), digest_size=8).hexdigest()
        return replace(found, value=f"{found.value}/{said}") if found and self.item else found

    @property
    def folder(self) -> str:
        """The folder itself."""
        return os.path.dirname(self.path)


def roots(extensions: Iterable[str], environ: Mapping[str, str], home: Path, *, movable: bool) -> list[Root]:
    """Return the existing storage folders of extensions in all editors.

    Args:
        movable: a setting may name another folder.
    """
    extensions = tuple(extensions)
    found: list[Root] = []
    for profile in editors.profiles(environ, home):
        for extension in extensions:
            moved = moved_to(profile, extension) if movable else None
            paths = [profile.storage(extension), *([moved] if moved else [])]
            found += (Storage(path, origin=profile.origin) for path in paths if os.path.isdir(path))
    return places.expand(found, environ, home)


def moved_to(profile: editors.Profile, extension: str) -> str | None:
    """Return the absolute path that an editor's settings name for the storage of an extension. They may hold comments."""
    data = beside.kept(profile.settings, limit=SETTINGS_LIMIT) or b""
    key = extension.partition(".")[2] + ".customStoragePath"
    line = re.search(rb'^\s*"' + re.escape(key).encode() + rb'"\s*:\s*("(?:[^"\\]|\\.)*")', data, re.MULTILINE)
    path = jsonl.load(line[1]) if line else fields.at(jsonl.load(data), key)
    return path if isinstance(path, str) and os.path.isabs(path) and "\0" not in path else None


def sources(root: Root, listed: List) -> Iterator[Source | places.Unlisted]:
    """Yield the tasks below a storage folder, and what could not be listed."""
    folders: dict[str, set[str]] = {}
    for found in places.walk(os.path.join(root.path, TASKS), is_wanted, depth=1):
        if isinstance(found, places.Unlisted):
            yield found
        else:
            folder, name = os.path.split(found)
            folders.setdefault(folder, set()).add(name)
    items = {fields.text(item, "id"): item for item in listed(root.path)} if folders else {}
    for folder, names in folders.items():
        if any(is_replacing(os.path.join(folder, name), names) for name in names):
            yield places.Unlisted(folder, "a file in it is being replaced")
        elif main := next((name for name in NAMES if name in names), None):
            item = None if ITEM in names else items.get(os.path.basename(folder))
            yield source(root, os.path.join(folder, main), item)


def source(root: Root, path: str, item: Any) -> TaskSource:
    """Return a task.

    Args:
        path: its main file.
        item: what the list says of it, if anything.
    """
    folder = os.path.dirname(path)
    id = os.path.basename(folder)
    newer = root.newer if isinstance(root, Storage) and root.origin else ()
    copies = [os.path.join(sessions, id, f"{id}.messages.json") for sessions in newer]
    # With a copy in the store that all editors share it is one session in two places.
    origin = "" if any(map(os.path.isfile, copies)) else root.origin
    files = tuple(os.path.join(folder, name) for name in FILES)
    told = {name: item[name] for name in TOLD if name in item} if isinstance(item, dict) else {}
    if words := fields.text(told, "task"):
        told["task"] = title(words)
    said = json.dumps(told, sort_keys=True) if told else ""
    return TaskSource(path, root.path, (*files, *copies), origin, said)


def is_replacing(path: str, names: set[str]) -> bool:
    """Return whether a file stands for another one that is away for a moment."""
    found = REPLACING.fullmatch(os.path.basename(path))
    if found is None or found[1] in names:
        return False
    try:
        return rewrites.may_go_on(os.stat(path).st_ctime)
    except OSError:
        return True


def is_wanted(path: str) -> bool:
    """Return whether a file below the folder of all tasks matters, by its path."""
    folder, name = os.path.split(path)
    replacing = REPLACING.fullmatch(name)
    return bool(folder) and (replacing[1] if replacing else name) in (*NAMES, ITEM)


def listed_by_cline(storage: str) -> list[Any]:
    """Return the items of Cline's list; nothing when it is lost."""
    return items_in(os.path.join(storage, "state", "taskHistory.json")).items


def listed_by_roo(storage: str) -> list[Any]:
    """Return the items of Roo's list; nothing when it is lost."""
    return fields.rows(items_in(os.path.join(storage, TASKS, "_index.json")).head, "entries")


def items_in(path: str) -> arrays.Rows:
    """Return what a list holds."""
    data = beside.kept(path, limit=LIST_LIMIT)
    return arrays.parse(data) if data else arrays.Rows()
