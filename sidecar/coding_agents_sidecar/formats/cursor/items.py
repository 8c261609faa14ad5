"""The two tables of keys and values in a ``state.vscdb``. Only single keys and ranges are asked for: it can be many gigabytes.

    ItemTable      the editor's own; holds credentials under other keys
    cursorDiskKV   composerData:<conversation>, bubbleId:<conversation>:<bubble>, agentKv:blob:<hash>, and what is not read

A value is JSON as text or bytes, NULL when it was deleted. Setting a key replaces its row: it gets another row number.
"""

import sqlite3
from collections.abc import Iterator
from typing import Any

from .. import jsonl, sqlite

COMPOSERS, HEADERS = "composer.composerData", "composer.composerHeaders"
CHATS = "workbench.panel.aichat.view.aichat.chatdata"
COMPOSER, BUBBLE, BLOB = "composerData:", "bubbleId:", "agentKv:blob:"
LIMIT = jsonl.MAX_LINE

VALUE = f"CASE WHEN length(value) > {LIMIT} THEN X'' ELSE CAST(value AS BLOB) END"
"""A longer value is not read and holds nothing, which is no JSON: memory stays bounded by one record."""


def item(db: sqlite3.Connection, key: str) -> Any:
    """Return the JSON value of one of the editor's own keys, ``None`` when there is none."""
    return sqlite.json_value(value_of(db, "ItemTable", key))


def value_of(db: sqlite3.Connection, table: str, key: str) -> bytes | None:
    """Return the bytes under a key, ``None`` when there are none."""
    if not sqlite.columns(db, table).issuperset(("key", "value")):
        return None
    row = db.execute(f"SELECT {VALUE} FROM {table} WHERE key = ?", (key,)).fetchone()
    return row[0] if row else None


class Disk:
    """The table ``cursorDiskKV``, empty where there is none."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self.db = db
        self.there = sqlite.columns(db, "cursorDiskKV").issuperset(("key", "value"))

    def value(self, key: str) -> bytes | None:
        """Return the bytes under a key, ``None`` when there are none."""
        row = self.row(key)
        return row[0] if row else None

    def row(self, key: str) -> tuple[bytes | None] | None:
        """Return the row of a key, ``None`` when there is no such row."""
        found = self.db.execute(f"SELECT {VALUE} FROM cursorDiskKV WHERE key = ?", (key,)) if self.there else None
        return found.fetchone() if found else None

    def below(self, prefix: str, columns: str = f"key, {VALUE}") -> Iterator[tuple[Any, ...]]:
        """Yield the rows whose keys begin with a prefix that ends in a colon, in the order of the keys, one at a time."""
        if self.there:
            # A range finds them in the index; LIKE would look at every row.
            query = f"SELECT {columns} FROM cursorDiskKV WHERE key >= ? AND key < ? ORDER BY key"
            yield from self.db.execute(query, (prefix, prefix[:-1] + ";"))
