"""Goose: a database, and a file for each session of the time before 1.10.

    $XDG_DATA_HOME/goose/sessions/sessions.db
    $XDG_DATA_HOME/goose/sessions/<id>.jsonl      line 1 about the session, then its messages

Older files lie below ~/.config/goose or ~/.goose. An update copies them into the database and leaves them behind: the
database counts before them. What the records look like stands in ``formats.goose``.

A sub-agent names its parent in newer databases. A fork does not name its origin; that is found by what it copied. The
ledger of calls does not tell to which message a call belongs, and files know only the totals of their session.
"""

import os
import re
from collections.abc import Iterable, Iterator
from typing import Any

from ..adapter import Adapter, Root, Source
from ..formats import fields, jsonl, places, sqlite
from ..formats.goose import database, tokens
from ..formats.goose.messages import Conversation
from ..model import Checkpoint, Event, Info, Kind, Skipped, Start, Tokens, Unknown, Usage

DATABASE = "sessions.db"
IN_DATABASE = 1
"""Preference; a file has none."""

PLACEHOLDER = re.compile(r"\s*(?:cli session|acp session|new chat|new session.*)?\s*", re.IGNORECASE)
HEADER = ("working_dir", "description", "message_count", *(tokens.ACCUMULATED + name for name in tokens.NAMES))


class Goose(Adapter):
    """Goose."""

    name = "goose"
    title = "Goose"
    evidence = "block/goose at 0164300 (schema 5) and 865e4a0 (schema 13); schema 15 as other programs describe it"
    stores = (
        Root("$XDG_DATA_HOME/goose/sessions", env="GOOSE_PATH_ROOT", below="data/sessions"),
        Root("$XDG_CONFIG_HOME/goose/sessions"),
        Root("~/.goose/sessions"),
    )
    never_open = ("secrets.yaml", "config.yaml", ".env*", "*credentials*", "*token*")

    def discover(self, root: Root) -> Iterator[Source | places.Unlisted]:
        for path in places.walk(root.path, lambda name: name == DATABASE or name.endswith(".jsonl"), depth=0):
            if isinstance(path, places.Unlisted):
                yield path
            else:
                yield Source(path, root.path, (path, f"{path}-wal") if is_database(path) else ())

    def stamps(self, source: Source) -> dict[str, str] | None:
        if not is_database(source.path):
            return None
        with sqlite.read_only(source.path) as db:
            return database.Tables(db).stamps()

    def events(self, source: Source, session_id: str | None = None, resume: Checkpoint | None = None) -> Iterator[Event]:
        if not is_database(source.path):
            yield from file(source.path)
            return
        with sqlite.read_only(source.path) as db:
            tables = database.Tables(db)
            for row in tables.sessions(session_id):
                yield from session(tables, row)


def is_database(path: str) -> bool:
    """Return whether a source is a database, not a session's file."""
    return os.path.basename(path) == DATABASE


def file(path: str) -> Iterator[Event]:
    """Yield what a session's file says. Its first line is written anew with every message."""
    yield Start(os.path.basename(path).removesuffix(".jsonl"))
    conversation = Conversation()
    for line in jsonl.records(path):
        if isinstance(line, Skipped):
            yield line
        elif fields.text(line.record, "role"):
            yield from conversation.message(line.record, line.record)
        elif line.record.keys() & set(HEADER):
            yield facts(line.record)
        else:
            yield Unknown()


def session(tables: database.Tables, row: dict[str, Any]) -> Iterator[Event]:
    """Yield the facts and messages of a session in a database."""
    kind: Kind = "subagent" if fields.text(row, "session_type") == "sub_agent" else "session"
    parent = fields.text(row, "parent_session_id")
    yield Start(row["id"], kind, parent, preference=IN_DATABASE, modified=tables.modified(row))
    yield facts(row)
    yield from usage(tables.ledger(row["id"]), named=model_of(row) is not None)
    conversation = Conversation()
    for one in tables.messages(row["id"]):
        if isinstance(one, Skipped):
            yield one
        else:
            yield from conversation.message(*one)


def facts(row: dict[str, Any]) -> Info:
    """Return what a session's own record says of it."""
    told = {"provider": fields.text(row, "provider_name"), "source": fields.text(row, "session_type")}
    return Info(
        project_path=fields.text(row, "working_dir"),
        title=title_of(fields.text(row, "name"), fields.text(row, "description")),
        model=model_of(row),
        started_at=fields.seconds(row, "created_at"),
        last_activity_at=fields.seconds(row, "updated_at"),
        archived=True if fields.at(row, "archived_at") else None,
        cost_usd=fields.number(row, "accumulated_cost"),
        tokens=tokens.used(row, tokens.ACCUMULATED),
        meta={name: value for name, value in told.items() if value} or None,
    )


def title_of(*names: str | None) -> str | None:
    """Return the first name that somebody, or a model, has given."""
    return next((name.strip() for name in names if name and not PLACEHOLDER.fullmatch(name)), None)


def model_of(row: dict[str, Any]) -> str | None:
    """Return the model a session has chosen."""
    return fields.text(sqlite.json_value(fields.at(row, "model_config_json")), "model_name")


def usage(ledger: Iterable[dict[str, Any]], *, named: bool) -> Iterator[Event]:
    """Yield what the calls of a session used.

    Args:
        named: the session says itself which model it has.
    """
    calls = list(ledger)
    priced = all(fields.number(call, "cost") is not None for call in calls)
    for call in calls:
        model = fields.text(call, "model")
        if model and not named:
            yield Info(model=model)
        # A part of the costs would pass for the whole, which the session has.
        cost = fields.number(call, "cost") if priced else None
        used = tokens.used(call) or Tokens()
        yield Usage(used, model=model, time=fields.seconds(call, "created_timestamp"), cost_usd=cost, aside=True)
