"""Cursor: the editor and its command line, which share ids and keep one conversation in several places.

    $XDG_CONFIG_HOME/Cursor/User/globalStorage/state.vscdb      the editor's conversations
    …/User/workspaceStorage/<id>/state.vscdb                    its old chat panel; which folder a conversation belongs to
    ~/.cursor/chats/<hash>/<id>/store.db                        chats of the command line; chats/<id> before
    ~/.cursor/acp-sessions/<id>/store.db                        those of other editors that run it
    ~/.cursor/projects/<project>/agent-transcripts/             transcripts of both
    ~/.cursor/sessions/sessions.db                              a place that other programs document

What the records look like stands in ``formats.cursor``. A database holds the whole conversation and counts before its
transcript; what one place does not know of a session another one may. No fork is recorded. ``state.vscdb.backup`` is not
read: the editor itself puts it back when the database is damaged.
"""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from ..adapter import Adapter, Root, Source
from ..formats import places, sqlite
from ..formats.cursor import catalog, chats, documented, panel, projects, transcripts, workspaces
from ..formats.cursor.conversations import Conversation
from ..formats.cursor.items import Disk
from ..model import Checkpoint, Event

GLOBAL, CHATS, ACP, PROJECTS, DOCUMENTED = "globalStorage", "chats", "acp-sessions", "projects", "sessions"
DATABASE = "sessions.db"

# The defaults are read even where a variable names another folder: older sessions stay behind.
EDITOR = (
    Root("$XDG_CONFIG_HOME/Cursor/User"),
    Root("~/Library/Application Support/Cursor/User"),
    Root("~/AppData/Roaming/Cursor/User", env="APPDATA", below="Cursor/User"),
)
AGENT = (
    Root("~/.cursor", env="CURSOR_DATA_DIR"),
    Root("~/.cursor", env="CURSOR_CONFIG_DIR"),
    Root("~/.cursor"),
    Root("$XDG_CONFIG_HOME/cursor"),
)

IN_STORE, IN_DOCUMENTED, IN_LINES, IN_NOTES = 3, 2, 1, 0
"""Preference for one session in several places."""


class Cursor(Adapter):
    """Conversations of the editor, of the command line, and of other editors that run it."""

    name = "cursor"
    title = "Cursor"
    evidence = (
        "no store of a real installation: S2thend/cursor-history at 062c8eb, kenn-io/agentsview at 109ae21,"
        " and what others wrote of stores up to editor 3.13 and command line 2026.10.01"
    )
    stores = (*EDITOR, *AGENT)
    never_open = ("auth.json", "mcp-auth.json", "mcp.json", "cli-config.json")

    def roots(self, environ: Mapping[str, str], home: Path) -> list[Root]:
        kinds = ((EDITOR, (GLOBAL, workspaces.FOLDERS)), (AGENT, (CHATS, ACP, PROJECTS, DOCUMENTED)))
        return [
            Root(os.path.join(base.path, part))
            for stores, parts in kinds
            for base in places.expand(stores, environ, home)
            for part in parts
        ]

    def discover(self, root: Root) -> Iterator[Source | places.Unlisted]:
        found = {
            GLOBAL: self.editors,
            workspaces.FOLDERS: self.workspaces,
            CHATS: self.chats,
            ACP: self.chats,
            PROJECTS: self.transcripts,
            DOCUMENTED: self.documented,
        }
        yield from found[os.path.basename(root.path)](root)

    def editors(self, root: Root) -> Iterator[Source | places.Unlisted]:
        """Yield the editor's database, with the workspaces that tell which folders its conversations belong to."""
        for found in places.walk(root.path, lambda path: path == workspaces.DATABASE, depth=0):
            if isinstance(found, places.Unlisted):
                yield found
            else:
                others = (workspaces.files_of(folder) for folder in workspaces.beside_global(found))
                yield Source(found, root.path, (found, found + "-wal", *(file for files in others for file in files)))

    def workspaces(self, root: Root) -> Iterator[Source | places.Unlisted]:
        """Yield the databases of the workspaces."""
        for found in places.walk(root.path, lambda path: path.split(os.sep)[1:] == [workspaces.DATABASE], depth=1):
            if isinstance(found, places.Unlisted):
                yield found
            else:
                yield Source(found, root.path, workspaces.files_of(os.path.dirname(found)))

    def chats(self, root: Root) -> Iterator[Source | places.Unlisted]:
        """Yield the databases of single chats, each with what may tell its folder."""
        proofs = projects.by_digest(os.path.join(os.path.dirname(root.path), PROJECTS))
        for found in places.walk(root.path, lambda path: path.split(os.sep)[1:][-1:] == [chats.STORE], depth=2):
            if isinstance(found, places.Unlisted):
                yield found
            else:
                folder = os.path.dirname(found)
                proof = proofs.get(os.path.basename(os.path.dirname(folder)))
                own = (found, found + "-wal", os.path.join(folder, chats.SIDECAR))
                yield Source(found, root.path, (*own, proof) if proof else own)

    def transcripts(self, root: Root) -> Iterator[Source | places.Unlisted]:
        """Yield the transcripts of all projects, each with what may tell its folder."""
        for found in places.walk(root.path, transcripts.is_transcript, depth=4):
            if isinstance(found, places.Unlisted):
                yield found
            else:
                yield Source(found, root.path, (found, projects.marker(transcripts.project_of(root.path, found))))

    def documented(self, root: Root) -> Iterator[Source | places.Unlisted]:
        """Yield the documented database."""
        for found in places.walk(root.path, lambda path: path == DATABASE, depth=0):
            yield found if isinstance(found, places.Unlisted) else Source(found, root.path, (found, found + "-wal"))

    def stamps(self, source: Source) -> dict[str, str] | None:
        name = os.path.basename(source.path)
        if name == workspaces.DATABASE:
            return catalog.of(source).stamps()
        if name == DATABASE:
            with sqlite.read_only(source.path) as db:
                return documented.Database(db).stamps()
        return None

    def events(self, source: Source, session_id: str | None = None, resume: Checkpoint | None = None) -> Iterator[Event]:
        name = os.path.basename(source.path)
        if name == workspaces.DATABASE:
            yield from conversations(source, session_id)
        elif name == DATABASE:
            with sqlite.read_only(source.path) as db:
                database = documented.Database(db)
                for id, key, row in database.sessions():
                    if session_id in (None, id):
                        yield from documented.events_of(id, row, database.messages(key), IN_DOCUMENTED)
        elif name == chats.STORE:
            with sqlite.read_only(source.path) as db:
                yield from chats.Chat(source, db).events(IN_STORE)
        else:
            yield from transcripts.events_of(source, IN_NOTES if name.endswith(".txt") else IN_LINES)


def conversations(source: Source, session_id: str | None) -> Iterator[Event]:
    """Yield what a database of the editor says of its conversations, or of one."""
    known = catalog.of(source)
    with sqlite.read_only(source.path) as db:
        disk = Disk(db)
        for id, noted in known.composers.items():
            if session_id in (None, id):
                yield from Conversation(disk, id, noted).events(IN_STORE)
        left = {id: noted for id, noted in known.chats.items() if session_id in (None, id)}
        for id, tab in catalog.tabs(db) if left else ():
            if id in left:
                yield from panel.events_of(id, tab, left.pop(id), IN_STORE)
