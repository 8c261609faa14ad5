"""Kilo Code: up to April 2026 tasks in Roo's form, since 1.0 sessions on OpenCode's core.

    <editor>/User/globalStorage/kilocode.kilo-code/tasks/<id>/     the extension, also ~/.kilocode/cli/global/tasks/<id>/
    $XDG_DATA_HOME/kilo/kilo.db, kilo-<channel>.db                 since 1.0; $KILO_DB names another one
    $XDG_DATA_HOME/kilo/storage/session/<project>/<session>.json   its first builds

The setting ``kilo-code.customStoragePath`` of an editor names another folder for the tasks. Conversations that were taken
along have other ids afterwards and count in both places: nothing tells for certain that they are the same. What the files
say stands in ``formats.cline`` and ``formats.opencode``.
"""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from ..adapter import Root, Source
from ..formats import editors, places
from ..formats.cline import storage
from ..formats.cline.roo import RooTask
from ..formats.cline.storage import Storage, TaskSource
from ..formats.opencode import tree
from ..model import Checkpoint, Event
from .opencode import OpenCode

EXTENSION = "kilocode.kilo-code"


class KiloCode(OpenCode):
    """Tasks of the older extension and sessions of the newer programs: the kind of a root and of a source tells them apart."""

    name = "kilo-code"
    title = "Kilo Code"
    aliases = ("kilo",)
    evidence = "a database of 1.x in ctxrs/ctx at 9812010; Kilo-Org/kilocode at 3813c35 and 30e1f28"
    stores = (
        Root("$XDG_DATA_HOME/kilo", env="KILO_DATA_DIR"),
        Root("$XDG_DATA_HOME/kilo"),
        *(Storage(f"{user}/{editors.STORAGE}/{EXTENSION}") for user in editors.DEFAULT_USERS),
        Storage("~/.kilocode/cli/global"),
    )
    never_open = (*tree.CREDENTIALS, "state.vscdb*")
    databases = "kilo*.db"
    database_variable = "KILO_DB"
    # It began after both changes.
    cached_apart = (0, 0, 0)
    reasoning_apart = (0, 0, 0)

    def roots(self, environ: Mapping[str, str], home: Path) -> list[Root]:
        roots = super().roots(environ, home)
        known = {os.path.realpath(root.path) for root in roots}
        tasks = storage.roots((EXTENSION,), environ, home, movable=True)
        return [*roots, *(root for root in tasks if os.path.realpath(root.path) not in known)]

    def discover(self, root: Root) -> Iterator[Source | places.Unlisted]:
        if isinstance(root, Storage):
            return storage.sources(root, storage.listed_by_roo)
        return super().discover(root)

    def stamps(self, source: Source) -> dict[str, str] | None:
        return None if isinstance(source, TaskSource) else super().stamps(source)

    def events(self, source: Source, session_id: str | None = None, resume: Checkpoint | None = None) -> Iterator[Event]:
        if isinstance(source, TaskSource):
            return RooTask(source).events()
        return super().events(source, session_id, resume)
