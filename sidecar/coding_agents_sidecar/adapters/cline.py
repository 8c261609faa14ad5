"""Cline: a folder for each task, and since 4.0 one for each session in a store that all of its programs share.

    <editor>/User/globalStorage/saoudrizwan.claude-dev/tasks/<id>/     classic, in every editor built from VS Code
    ~/.cline/data/tasks/<id>/                                          classic, of the command line and JetBrains
    ~/.cline/data/sessions/<id>/                                       since 4.0

A task that is resumed since 4.0 is copied under its id and left where it was: the copy counts. What the files say stands in
``formats.cline``. The database beside the sessions repeats the manifests and is not read.
"""

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from ..adapter import Adapter, Root, Source
from ..formats import editors, places
from ..formats.cline import session, storage
from ..formats.cline.storage import Storage, TaskSource
from ..formats.cline.task import Task
from ..model import Checkpoint, Event

EXTENSION = "saoudrizwan.claude-dev"


@dataclass(frozen=True, slots=True)
class Sessions(Root):
    """A folder of sessions since 4.0."""


class Cline(Adapter):
    """Tasks of the extension, the command line and what embeds them."""

    name = "cline"
    title = "Cline"
    evidence = "files written by 3.x in four public repositories, a session of 4.x; cline/cline at 21cb8d2 and 913cf4b"
    # The defaults are read even where a variable names another folder: older sessions stay behind.
    stores = (
        Sessions("~/.cline/data/sessions", env="CLINE_SESSION_DATA_DIR"),
        Sessions("~/.cline/data/sessions", env="CLINE_DATA_DIR", below="sessions"),
        Sessions("~/.cline/data/sessions", env="CLINE_DIR", below="data/sessions"),
        Sessions("~/.cline/data/sessions"),
        Storage("~/.cline/data", env="CLINE_DATA_DIR"),
        Storage("~/.cline/data", env="CLINE_DIR", below="data"),
        Storage("~/.cline/data"),
        Storage("~/.cline_cli/storage"),
        *(Storage(f"{user}/{editors.STORAGE}/{EXTENSION}") for user in editors.DEFAULT_USERS),
    )
    never_open = ("secrets.json", "globalState.json", "providers.json", "*mcp_settings.json", "state.vscdb*")

    def roots(self, environ: Mapping[str, str], home: Path) -> list[Root]:
        found = places.expand((*self.stores, *storage.roots((EXTENSION,), environ, home, movable=False)), environ, home)
        newer = tuple(root.path for root in found if isinstance(root, Sessions))
        return [dataclasses.replace(root, newer=newer) if isinstance(root, Storage) else root for root in found]

    def discover(self, root: Root) -> Iterator[Source | places.Unlisted]:
        if isinstance(root, Sessions):
            yield from session.sources(root)
        else:
            yield from storage.sources(root, storage.listed_by_cline)

    def events(self, source: Source, session_id: str | None = None, resume: Checkpoint | None = None) -> Iterator[Event]:
        if isinstance(source, TaskSource):
            return Task(source).events()
        return session.Session(source).events()
