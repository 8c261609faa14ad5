"""What a ``state.vscdb`` says of all its conversations, short of their messages: which there are, and what changes with each.

composerHeaders             a table of newer versions: composerId, workspaceId, isArchived, isSubagent, …, value: JSON
composer.composerHeaders    an item of older ones: {allComposers: [{composerId, name, isArchived, workspaceIdentifier, …}]}

Neither lists all of them, and ``lastUpdatedAt`` may stay as it was although messages came.
"""

import hashlib
import os
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from ...adapter import Source
from .. import fields, jsonl, sqlite
from . import items, workspaces
from .items import Disk

PLACEHOLDER = "empty-state-draft"
HEADER = (
    *("name", "createdAt", "lastUpdatedAt", "unifiedMode", "isArchived", "isSubagent"),
    *("subagentInfo", "workspaceIdentifier", "workspaceId"),
)
CLOSELY = 64 << 20
"""Up to this size of a database its bubbles are compared by their content, beyond it by their row numbers."""


@dataclass(slots=True)
class Noted:
    """What is noted of a conversation beside its own record.

    Args:
        digest: changes whenever its record or its messages do.
        header: its entry in the list of all conversations.
        parent: id of the conversation that started it.
        subagent: it works for its parent; else it is one of several attempts at the same.
        home: path of the workspace that it belongs to.
    """

    digest: str
    header: dict[str, Any] = field(default_factory=dict)
    parent: str | None = None
    subagent: bool = False
    home: str | None = None


@dataclass(slots=True)
class Catalog:
    """The conversations that have messages, and the tabs of the old chat panel, by id."""

    composers: dict[str, Noted] = field(default_factory=dict)
    chats: dict[str, Noted] = field(default_factory=dict)

    def stamps(self) -> dict[str, str]:
        """Return for each session what changes whenever something of it does."""
        return {id: digest(noted) for id, noted in (*self.composers.items(), *self.chats.items())}


def of(source: Source) -> Catalog:
    """Return the catalog of a database, made once for each state of its files.

    Raises:
        ParseError: it cannot be read.
    """
    if not is_global(source.path):
        return read(source)
    try:
        stamp = source.stamp()
    except OSError as error:
        raise jsonl.unreadable(source.path, error) from error
    return _read_once(source, stamp.value if stamp else "")


@lru_cache(maxsize=2)
def _read_once(source: Source, stamp: str) -> Catalog:
    return read(source)


def read(source: Source) -> Catalog:
    """Return the catalog of a database as it stands.

    Raises:
        ParseError: it cannot be read.
    """
    found = Catalog()
    with sqlite.read_only(source.path) as db:
        home = None
        if is_global(source.path):
            note_composers(found, db)
            note_headers(found, db)
            note_homes(found, workspaces.beside_global(source.path))
        else:
            home = workspaces.path_of(os.path.dirname(source.path))
        for id, tab in tabs(db):
            if id not in found.composers:
                found.chats[id] = Noted(digest(tab), home=home)
    return found


def is_global(database: str) -> bool:
    """Return whether a database is that of the whole editor, not of a workspace."""
    return os.path.basename(os.path.dirname(os.path.dirname(database))) != workspaces.FOLDERS


def note_composers(found: Catalog, db: sqlite3.Connection) -> None:
    """Note the conversations that have messages, their parents, and what changes with them."""
    disk = Disk(db)
    above: dict[str, tuple[str, bool]] = {}
    for key, data in disk.below(items.COMPOSER):
        id = key.removeprefix(items.COMPOSER)
        record = sqlite.json_value(data)
        for child in fields.rows(record, "subagentComposerIds"):
            above[str(child)] = (id, True)
        for child in fields.rows(record, "subComposerIds"):
            above.setdefault(str(child), (id, False))
        if has_messages(record) and id != PLACEHOLDER:
            found.composers[id] = Noted(digest(data))
            if parent := fields.text(record, "subagentInfo", "parentComposerId"):
                above[id] = (parent, True)
            found.composers[id].subagent = bool(fields.table(record, "subagentInfo"))
    for id, noted in found.composers.items():
        if id in above:
            noted.parent, subagent = above[id]
            noted.subagent = noted.subagent or subagent
    size = db.execute("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size").fetchone()[0]
    # Row numbers stand in the index, values all over the file.
    for key, content in disk.below(items.BUBBLE, f"key, {items.VALUE}" if size <= CLOSELY else "key, rowid"):
        owner = found.composers.get(key.split(":", 2)[1])
        if owner:
            data = content if isinstance(content, bytes) else repr(content).encode()
            owner.digest = digest(b"\0".join((owner.digest.encode(), key.encode(), data)))


def has_messages(record: Any) -> bool:
    """Return whether a conversation may have messages; most records are those of drafts, which have none."""
    lists = ("fullConversationHeadersOnly", "conversation")
    return any(fields.rows(record, name) for name in lists) or len(fields.text(record, "conversationState") or "") > 1


def note_headers(found: Catalog, db: sqlite3.Connection) -> None:
    """Note the entries of the conversations in the lists of all conversations; the newer list counts."""
    listed = fields.rows(items.item(db, items.HEADERS), "allComposers")
    for header in (*listed, *table_headers(db)):
        if noted := found.composers.get(fields.text(header, "composerId") or ""):
            noted.header |= {name: value for name in HEADER if (value := fields.at(header, name)) is not None}
    for noted in found.composers.values():
        info = fields.table(noted.header, "subagentInfo")
        noted.parent = noted.parent or fields.text(info, "parentComposerId")
        noted.subagent = noted.subagent or bool(info or fields.at(noted.header, "isSubagent"))


def table_headers(db: sqlite3.Connection) -> Iterator[dict[str, Any]]:
    """Yield the rows of the newer list in the form of the older one."""
    columns = sqlite.columns(db, "composerHeaders")
    names = [name for name in ("composerId", "value", *HEADER) if name in columns]
    for row in sqlite.rows(db, f"SELECT {', '.join(names)} FROM composerHeaders") if "composerId" in columns else ():
        yield fields.table(sqlite.json_value(row.pop("value", None))) | {
            name: value for name, value in row.items() if value is not None
        }


def note_homes(found: Catalog, folders: list[str]) -> None:
    """Note the workspaces that the conversations belong to: by its id, else that which lists the conversation."""
    by_id = {os.path.basename(folder): folder for folder in folders}
    listing = workspaces.homes(folders)
    for id, noted in found.composers.items():
        ids = (fields.text(noted.header, "workspaceId"), fields.text(noted.header, "workspaceIdentifier", "id"))
        folder = next((by_id[name] for name in ids if name in by_id), None)
        noted.home = (workspaces.path_of(folder) if folder else None) or listing.get(id)


def tabs(db: sqlite3.Connection) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the tabs of the old chat panel by their ids."""
    for tab in fields.rows(items.item(db, items.CHATS), "tabs"):
        if id := fields.text(tab, "tabId"):
            yield id, tab


def digest(value: Any) -> str:
    """Return a hash that changes with a value."""
    data = value if isinstance(value, bytes) else repr(value).encode("utf-8", "replace")
    return hashlib.blake2b(data, digest_size=16).hexdigest()
