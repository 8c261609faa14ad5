"""Aider: one text for each project, to which every run of the program is appended.

    <project>/.aider.chat.history.md      the chats; a run is a session
    <project>/.aider.input.history        tells when prompts were typed

There is no central store. Looked into are the home folder itself, and the folders in $CODING_AGENTS_SCAN_ROOTS with those
below, within limits. Settings may call the files something else, see ``formats.aider.moved``; no other Markdown is a chat.
The runtime has no ids: a session is called by its file, the time it began, and a number. Nor has it sub-agents or forks.
"""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from ..adapter import Adapter, Root, Source
from ..formats import places, projects
from ..formats.aider import chat, moved, runs
from ..formats.aider.moved import Names
from ..formats.aider.runs import History
from ..formats.projects import Folder
from ..model import Checkpoint, Event

NONE = Names()


@dataclass(frozen=True, slots=True)
class Place(Root):
    """Where projects are looked for.

    Args:
        names: of the files in projects, beside those in their own settings. An absolute one holds chats about any project.
        zone: as in ``History``.
    """

    names: Names = NONE
    zone: str = ""


class Aider(Adapter):
    """Runs of the command line."""

    name = "aider"
    title = "Aider"
    evidence = "histories written by 0.1 to 0.47 and by 0.86.1; Aider-AI/aider 0.86.x, and how its writer changed"
    stores = (Root("~", env=projects.VARIABLE, depth=0),)
    never_open = ("oauth-keys.env", "analytics.json", ".aider.model.*")

    def roots(self, environ: Mapping[str, str], home: Path) -> list[Root]:
        names, zone = moved.in_variables(environ), environ.get("TZ", "")
        for folder in projects.walk(str(home), depth=0):
            if isinstance(folder, Folder):
                names = names.over(moved.in_folder(folder))
        return places.expand(
            [
                *(Place(path, names=names, zone=zone) for path in projects.named(environ, home)),
                Place(str(home), depth=0, names=names, zone=zone),
                *(Place(os.path.dirname(path), depth=0, names=names, zone=zone) for path in filter(os.path.isabs, names.chats)),
            ],
            {},
            home,
        )

    def discover(self, root: Root) -> Iterator[Source | places.Unlisted]:
        place = root if isinstance(root, Place) else Place(root.path, depth=root.depth)
        for folder in projects.walk(place.path, projects.DEPTH if place.depth is None else place.depth):
            yield from histories(place, folder) if isinstance(folder, Folder) else (folder,)

    def stamps(self, source: Source) -> dict[str, str] | None:
        assert isinstance(source, History)
        return {run.id: run.stamp() for run in runs.in_file(source)}

    def events(self, source: Source, session_id: str | None = None, resume: Checkpoint | None = None) -> Iterator[Event]:
        assert isinstance(source, History)
        for run in runs.in_file(source):
            if session_id in (None, run.id):
                yield from chat.events(source, run)


def histories(place: Place, folder: Folder) -> Iterator[History]:
    """Yield the chats that a folder holds, or that its settings name."""
    named = moved.in_folder(folder).over(place.names)
    typed = folder.file((*named.inputs, moved.INPUT)[0])
    for name in (*named.chats, moved.CHAT):
        is_common = os.path.isabs(name) and name in place.names.chats
        if is_common and os.path.dirname(os.path.normpath(name)) != folder.path:
            continue
        if path := folder.file(name):
            project = None if is_common else folder.path
            yield History(path, place.path, (path, typed) if typed else (path,), place.origin, project, place.zone)
