"""``sessions.db``, a database that other programs document and no installation was seen to have -> events.

sessions    id (a number or text), title, and whatever of the usual columns there is
messages    the session's id, role, content, tokens

Columns are found by their names, spelled as in ``createdAt`` or ``created_at``. Whether counted input holds the cached
tokens is not known: where some were cached and they would fit in, input stays unknown.
"""

import sqlite3
from collections.abc import Iterator
from typing import Any

from ...model import Event, Info, Message, Role, Start, Tokens, ToolResult, Usage
from .. import fields, sqlite
from . import models, moments, uris
from .catalog import digest

ROLES: dict[str, Role] = {
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "model": "assistant",
    "tool": "tool",
    "system": "system",
}
ID, MESSAGE_ID = ("id", "sessionid", "uuid"), ("id", "messageid", "uuid")
TITLE = ("title", "name")
PROJECT = ("projectpath", "cwd", "workspacepath", "workspace", "directory", "project")
CREATED = ("createdat", "startedat", "created", "timestamp")
UPDATED = ("updatedat", "lastupdatedat", "lastactivityat", "updated", "endedat")
ARCHIVED = ("archived", "isarchived")
MODEL = ("model", "modelname")
SESSION = ("sessionid", "session", "conversationid", "composerid")
ROLE, CONTENT = ("role", "type", "sender"), ("content", "text", "message", "body")
INPUT, OUTPUT = ("inputtokens", "prompttokens", "tokensin"), ("outputtokens", "completiontokens", "tokensout")
CACHED, THOUGHT = ("cachedtokens", "cachereadtokens"), ("thinkingtokens", "reasoningtokens")
COST = ("costusd", "cost")

Row = dict[str, Any]
"""Values by the columns' names in lower case, without underscores."""


class Database:
    """The tables of an open database."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self.db = db
        self.columns = {table: by_plain_name(sqlite.columns(db, table)) for table in ("sessions", "messages")}
        self.id = first(self.columns["sessions"], ID)
        self.session = first(self.columns["messages"], SESSION)

    def sessions(self) -> Iterator[tuple[str, Any, Row]]:
        """Yield native id, key and row of every session."""
        if self.id:
            for row in sqlite.rows(self.db, f'SELECT * FROM sessions ORDER BY "{self.id}"'):
                key = row[self.id]
                if isinstance(key, int) or (isinstance(key, str) and key):
                    yield str(key), key, {plain_name(name): value for name, value in row.items()}

    def messages(self, key: Any) -> Iterator[Row]:
        """Yield the messages of a session in order."""
        if self.session:
            created = first(self.columns["messages"], CREATED)
            by = f'"{created}", rowid' if created else "rowid"
            query = f'SELECT * FROM messages WHERE "{self.session}" = ? ORDER BY {by}'
            for row in sqlite.rows(self.db, query, (key,)):
                yield {plain_name(name): value for name, value in row.items()}

    def stamps(self) -> dict[str, str]:
        """Return for each session what changes with it: its row, number and size of its messages."""
        owned: dict[str, Any] = {}
        if self.session:
            sizes = "".join(f', total(length("{name}"))' for name in sorted(self.columns["messages"].values()))
            query = f'SELECT "{self.session}", count(*){sizes} FROM messages GROUP BY 1'
            owned = {str(key): facts for key, *facts in self.db.execute(query)}
        return {id: digest((sorted(row.items()), owned.get(id))) for id, _, row in self.sessions()}


def by_plain_name(columns: set[str]) -> dict[str, str]:
    """Return the names of columns by their plain names."""
    return {plain_name(name): name for name in columns if '"' not in name}


def plain_name(column: str) -> str:
    """Return a column's name in lower case, without underscores."""
    return column.replace("_", "").lower()


def first(values: dict[str, Any], names: tuple[str, ...]) -> Any:
    """Return the value of the first name that has one."""
    return next((values[name] for name in names if values.get(name) is not None), None)


def events_of(id: str, row: Row, messages: Iterator[Row], preference: int) -> Iterator[Event]:
    """Yield what a session says."""
    started, updated = moments.seconds(first(row, CREATED)), moments.seconds(first(row, UPDATED))
    yield Start(id, preference=preference, modified=updated or started)
    yield Info(
        project_path=uris.path_of(first(row, PROJECT)),
        title=fields.text(first(row, TITLE)),
        model=models.name_of(first(row, MODEL)),
        started_at=started,
        last_activity_at=updated,
        archived=True if first(row, ARCHIVED) in (1, "true") else None,
    )
    for message in messages:
        yield from said(message)


def said(row: Row) -> Iterator[Event]:
    """Yield a message and what it used."""
    role = ROLES.get(str(first(row, ROLE)).lower())
    if role is None:
        return
    id, time = first(row, MESSAGE_ID), moments.seconds(first(row, CREATED))
    model = models.name_of(first(row, MODEL)) if role == "assistant" else None
    words = fields.text(first(row, CONTENT)) or ""
    message = Message(role, time, None if id is None else str(id), content=words, model=model, raw=sqlite.native(row))
    if role == "tool":
        message.content, message.tool_result = "", ToolResult(None, words)
    yield message
    if tokens := tokens_of(row):
        yield Usage(tokens, None, model, time, fields.number(first(row, COST)), aside=role != "assistant")


def tokens_of(row: Row) -> Tokens | None:
    """Return what a message used; counts that are all zero say nothing."""
    input, output, cached, thought = (fields.count(first(row, names)) for names in (INPUT, OUTPUT, CACHED, THOUGHT))
    if not (input or output or cached or thought):
        return None
    if input is not None and cached and cached <= input:
        input = None
    return Tokens(input, output, cached, None, thought)
