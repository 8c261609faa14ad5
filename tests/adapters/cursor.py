"""Databases as Cursor's editor writes them, and what the adapter makes of its stores."""

import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from coding_agents_sidecar.adapter import Source
from coding_agents_sidecar.adapters.cursor import Cursor
from coding_agents_sidecar.config import Settings
from coding_agents_sidecar.formats.places import Unlisted
from coding_agents_sidecar.ops import ListQuery, Sidecar
from coding_agents_sidecar.testing import lay
from coding_agents_sidecar.transcript import Transcript

FIXTURES = Path(__file__).parent.parent / "fixtures" / "cursor"
GLOBAL = ".config/Cursor/User/globalStorage/state.vscdb"
TABLES = "ItemTable", "cursorDiskKV"

adapter = Cursor()

Record = dict[str, Any]


def sources(home: Path, environ: dict[str, str] | None = None) -> Iterator[Source]:
    """Yield the sources that the roots of a home folder hold."""
    for root in adapter.roots(environ or {}, home):
        if os.path.isdir(root.path):
            for found in adapter.discover(root):
                assert not isinstance(found, Unlisted)
                yield found


def source_of(home: Path, ending: str) -> Source:
    """Return the only source whose path ends so."""
    (found,) = (source for source in sources(home) if source.path.endswith(ending))
    return found


def read(source: Source, session_id: str | None = None, raw: bool = False) -> list[Record]:
    """Return the messages of a session, or of the only one."""
    fold = Transcript("cursor")
    fold.run(adapter.events(source, session_id))
    (found,) = fold.sessions.values()
    return found.finished(-1, raw)[0]


def fixture(case: str, home: Path) -> Path:
    """Lay a fixture out and return its home folder."""
    home.mkdir()
    lay(FIXTURES / case, home)
    return home


@contextmanager
def database(path: Path) -> Iterator[sqlite3.Connection]:
    """Change a database of the editor as the program would, made when it is not there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as db:
        for table in TABLES:
            db.execute(f"CREATE TABLE IF NOT EXISTS {table} (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)")
        yield db
        db.commit()


def put(db: sqlite3.Connection, key: str, value: Any) -> None:
    """Set a key, which replaces its row."""
    db.execute("INSERT INTO cursorDiskKV VALUES (?, ?)", (key, json.dumps(value)))


def converse(db: sqlite3.Connection, id: str, bubbles: list[Record], **more: Any) -> None:
    """Write a conversation; the bubbles are named b0, b1, …"""
    headers = [{"bubbleId": f"b{index}", "type": bubble["type"]} for index, bubble in enumerate(bubbles)]
    record = {"composerId": id, "createdAt": 1770000000000, "fullConversationHeadersOnly": headers, **more}
    put(db, f"composerData:{id}", record)
    for index, bubble in enumerate(bubbles):
        put(db, f"bubbleId:{id}:b{index}", {"bubbleId": f"b{index}", **bubble})


class Ledger:
    """A ledger over a home folder."""

    def __init__(self, home: Path, state: Path) -> None:
        self.sidecar = Sidecar(Settings(home, {}, state, ""))

    def index(self) -> Record:
        """Run a pass; return its report."""
        return self.sidecar.reindex(runtimes=["cursor"])

    def rows(self) -> dict[str, Record]:
        """Return all rows by native id."""
        found = self.sidecar.list(ListQuery(runtimes=("cursor",), kinds=(), limit=None))
        return {row["session_id"]: row for row in found}
