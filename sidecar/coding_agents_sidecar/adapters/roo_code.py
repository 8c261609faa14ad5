"""Roo Code and Zoo Code, which goes on with the same files: a folder for each task, as Cline's classic form has it.

    <editor>/User/globalStorage/rooveterinaryinc.roo-cline/tasks/<id>/      and zoocodeorganization.zoo-code
    ~/.vscode-mock/global-storage/tasks/<id>/                               of the command line

The setting ``roo-cline.customStoragePath`` or ``zoo-code.customStoragePath`` of an editor names another folder. What the
files say stands in ``formats.cline``.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

from ..adapter import Adapter, Root, Source
from ..formats import editors, places
from ..formats.cline import storage
from ..formats.cline.roo import RooTask
from ..formats.cline.storage import Storage, TaskSource
from ..model import Checkpoint, Event

EXTENSIONS = ("rooveterinaryinc.roo-cline", "zoocodeorganization.zoo-code")


class RooCode(Adapter):
    """Tasks of both extensions and the command line."""

    name = "roo-code"
    title = "Roo Code"
    aliases = ("roo", "zoo-code")
    evidence = "RooCodeInc/Roo-Code 3.52; no files of real use were at hand"
    stores = (
        *(Storage(f"{user}/{editors.STORAGE}/{extension}") for user in editors.DEFAULT_USERS for extension in EXTENSIONS),
        Storage("~/.vscode-mock/global-storage"),
    )
    never_open = ("secrets.json", "*mcp_settings.json", "state.vscdb*")

    def roots(self, environ: Mapping[str, str], home: Path) -> list[Root]:
        return places.expand((*self.stores, *storage.roots(EXTENSIONS, environ, home, movable=True)), environ, home)

    def discover(self, root: Root) -> Iterator[Source | places.Unlisted]:
        return storage.sources(root, storage.listed_by_roo)

    def events(self, source: Source, session_id: str | None = None, resume: Checkpoint | None = None) -> Iterator[Event]:
        assert isinstance(source, TaskSource)
        return RooTask(source).events()
