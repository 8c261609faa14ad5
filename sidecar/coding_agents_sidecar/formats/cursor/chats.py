"""The chats of the command line, a database each -> events.

store.db    meta: key 0 -> JSON in hexadecimal digits: {name, latestRootBlobId, createdAt, mode, lastUsedModel, …}
            blobs: id -> data, see ``thread``
meta.json   {title, cwd, createdAtMs, updatedAtMs, isSubagent}, beside it in newer versions
"""

import binascii
import os
import re
import sqlite3
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from ...adapter import Source
from ...fold import plain
from ...model import Ended, Event, Info, Kind, Message, Skipped, Start
from .. import beside, fields, jsonl, sqlite
from . import models, moments, projects, uris
from .thread import Thread

STORE, SIDECAR = "store.db", "meta.json"
SIDECAR_LIMIT = 1 << 20
UNNAMED = "New Agent"
WORKSPACE = re.compile(r"^Workspace Path: (.+)$", re.MULTILINE)


class Chat:
    """A chat while it is read."""

    def __init__(self, source: Source, db: sqlite3.Connection) -> None:
        self.source = source
        self.db = db
        self.folder, _ = os.path.split(source.path)
        data = beside.read(self.folder, SIDECAR, limit=SIDECAR_LIMIT)
        self.sidecar = fields.table(jsonl.load(data.removeprefix(jsonl.BOM))) if data else {}
        self.meta = self.read_meta()

    def events(self, preference: int) -> Iterator[Event]:
        """Yield what it says."""
        kind: Kind = "subagent" if fields.flag(self.sidecar, "isSubagent") else "session"
        yield Start(os.path.basename(self.folder), kind, preference=preference, modified=moments.written(*self.source.files[:2]))
        root_id = fields.text(self.meta, "latestRootBlobId")
        root = self.blob(root_id) if root_id else b""
        if root is None:
            yield Skipped("a chat whose root is not there")
            return
        thread = Thread.of(root)
        yield self.facts(thread)
        for event in thread.events(self.blob):
            yield event
            if isinstance(event, Message) and event.role == "system":
                yield Info(project_path=self.told(plain(event.content)))
        if thread.pending:
            yield Ended("aborted")

    def facts(self, thread: Thread) -> Info:
        """Return what is said of the chat as a whole."""
        name, mode = fields.text(self.meta, "name"), fields.text(self.meta, "mode")
        return Info(
            project_path=self.project(thread),
            title=(None if name == UNNAMED else name) or fields.text(self.sidecar, "title"),
            model=models.name_of(self.meta, "lastUsedModel"),
            started_at=moments.seconds(self.meta, "createdAt") or moments.seconds(self.sidecar, "createdAtMs"),
            last_activity_at=thread.last or moments.seconds(self.sidecar, "updatedAtMs"),
            meta={"mode": mode} if mode else None,
        )

    def project(self, thread: Thread) -> str | None:
        """Return the folder it was said in: as noted, else one that the name of the folder of chats proves."""
        if noted := fields.text(self.sidecar, "cwd"):
            return noted
        paths = [path for uri in thread.workspaces if (path := uris.path_of(uri))]
        known = (projects.marked(file) for file in self.source.files if os.path.basename(file) == projects.TRUSTED)
        proven = (path for path in (*paths, *known) if path and self.proves(path))
        return next(proven, None) or next(iter(paths), None)

    def told(self, words: str) -> str | None:
        """Return the folder that the agent was told of, if it is proven."""
        return next((path for path in WORKSPACE.findall(words) if self.proves(path)), None)

    def proves(self, path: str) -> bool:
        """Return whether the folder of chats that this one lies in is named after a path."""
        return projects.digest(path) == os.path.basename(os.path.dirname(self.folder))

    def read_meta(self) -> dict[str, Any]:
        """Return the chat's own record, empty when there is none."""
        if not sqlite.columns(self.db, "meta").issuperset(("key", "value")):
            return {}
        row = self.db.execute("SELECT CAST(value AS BLOB) FROM meta WHERE key = '0'").fetchone()
        data = row[0] if row else None
        with suppress(binascii.Error):
            data = data and binascii.unhexlify(data)
        return fields.table(sqlite.json_value(data))

    def blob(self, id: str) -> bytes | None:
        """Return a blob, ``None`` when it is not there."""
        if not sqlite.columns(self.db, "blobs").issuperset(("id", "data")):
            return None
        query = "SELECT CAST(data AS BLOB) FROM blobs WHERE id = ? AND length(data) <= ?"
        row = self.db.execute(query, (id, jsonl.MAX_LINE)).fetchone()
        return row[0] if row else None
