"""Hermes Agent: a database for each profile, and transcripts beside it that older versions wrote.

    ~/.hermes/state.db             sessions, their messages and what they used
    ~/.hermes/sessions/            transcripts; they count where the database does not have the session
    ~/.hermes/profiles/<name>/     the same again: a profile is a home of its own, and its name the origin

$HERMES_HOME names another home, or a profile in one. What the records look like stands in ``formats.hermes``.

An id is unique in a profile only. A session that was delegated is a sub-agent. One that a compaction continued in another
session, or that was branched, names its parent and repeats some of its messages as rows of its own; what it used is its own.
"""

import os
from collections.abc import Iterator, Mapping
from dataclasses import astuple
from pathlib import Path
from typing import Any

from ..adapter import Adapter, Root, Source
from ..formats import fields, places, sqlite
from ..formats.copied import Beginning
from ..formats.hermes import database, transcripts
from ..formats.hermes.messages import Conversation
from ..model import Abandoned, Checkpoint, Ended, Event, Info, Kind, Skipped, Start, Tokens, Usage

DATABASE, SESSIONS, PROFILES = "state.db", "sessions", "profiles"
IN_DATABASE = 1
"""Preference; a transcript has none."""

TAKEN_BACK = "taken back"
UNKNOWN_MODEL = "unknown"
SETTLED = ("actual", "included")
"""States of a cost that may be 0."""


class Hermes(Adapter):
    """Hermes Agent."""

    name = "hermes"
    title = "Hermes Agent"
    evidence = "databases and snapshots written by 0.19.0 (schema 22), sources of 0.13.0 (schema 11)"
    stores = (Root("~/.hermes", env="HERMES_HOME"),)
    never_open = (".env*", "auth.*", "auth_*", "*credentials*", "config.yaml*", "honcho*", "request_dump_*")

    def roots(self, environ: Mapping[str, str], home: Path) -> list[Root]:
        homes = [Root(home_of(root.path)) for root in super().roots(environ, home)]
        return places.expand(homes, {}, home)

    def discover(self, root: Root) -> Iterator[Source | places.Unlisted]:
        yield from stored(root, places.walk(root.path, lambda name: name == DATABASE, depth=0))
        yield from stored(root, places.walk(os.path.join(root.path, SESSIONS), is_transcript, depth=0))
        yield from stored(root, places.walk(os.path.join(root.path, PROFILES), is_of_profile, depth=2))

    def stamps(self, source: Source) -> dict[str, str] | None:
        if not is_database(source):
            return None
        with sqlite.read_only(source.path) as db:
            return database.Tables(db).stamps()

    def events(self, source: Source, session_id: str | None = None, resume: Checkpoint | None = None) -> Iterator[Event]:
        if not is_database(source):
            yield from transcripts.events(source, resume)
            return
        with sqlite.read_only(source.path) as db:
            tables = database.Tables(db)
            for row in tables.sessions(session_id):
                yield from session(tables, row, source.origin)


def home_of(path: str) -> str:
    """Return the home that a path names, itself or by one of its profiles."""
    folder, name = os.path.split(os.path.dirname(path))
    return folder if name == PROFILES else path


def is_transcript(path: str) -> bool:
    """Return whether a file is a session's, by its name."""
    return transcripts.id_in(os.path.basename(path)) is not None


def is_of_profile(path: str) -> bool:
    """Return whether a file below the profiles is a database or a session's, by its path."""
    match path.split(os.sep):
        case [_, name]:
            return name == DATABASE
        case [_, folder, name]:
            return folder == SESSIONS and is_transcript(name)
    return False


def stored(root: Root, paths: Iterator[str | places.Unlisted]) -> Iterator[Source | places.Unlisted]:
    """Yield the sources with these paths, each with its profile as origin."""
    for path in paths:
        if isinstance(path, places.Unlisted):
            yield path
            continue
        place = os.path.relpath(path, root.path).split(os.sep)
        files = (path, f"{path}-wal") if place[-1] == DATABASE else ()
        yield Source(path, root.path, files, place[1] if place[0] == PROFILES else "")


def is_database(source: Source) -> bool:
    """Return whether a source is a database, not a transcript."""
    return os.path.basename(source.path) == DATABASE


def session(tables: database.Tables, row: dict[str, Any], origin: str) -> Iterator[Event]:
    """Yield the facts and messages of a session in a database."""
    kind: Kind = "subagent" if database.is_subagent(row) else "session"
    yield Start(row["id"], kind, database.parent_of(row), preference=IN_DATABASE, modified=tables.modified(row))
    used = tables.usage(row["id"])
    yield facts(row, tables.project(row), used)
    yield from usage(row, used)
    conversation, beginning = Conversation(), Beginning(origin, tables.trunk(row))
    for one in tables.messages(row["id"]):
        if isinstance(one, Skipped):
            yield one
            continue
        key = None
        if not one.taken_back:
            key = beginning.add(fields.at(one.record, "role"), fields.at(one.record, "content"))
        yield from conversation.message(one.record, str(one.id), key, TAKEN_BACK if one.taken_back else 0)
    yield Abandoned(frozenset({TAKEN_BACK}))
    ended = fields.seconds(row, "ended_at")
    if ended is not None or fields.text(row, "end_reason"):
        yield Info(last_activity_at=ended)
        yield Ended("completed")


def facts(row: dict[str, Any], project: str | None, used: list[dict[str, Any]]) -> Info:
    """Return what a session's row says of it.

    Args:
        used: as ``database.Tables.usage`` returns it.
    """
    told = {
        "provider": fields.text(row, "billing_provider"),
        **{name: fields.text(row, name) for name in ("source", "git_branch", "end_reason")},
    }
    models = [model_of(row, one) for one in (*reversed(used), row)]
    return Info(
        project_path=project,
        title=fields.text(row, "title"),
        model=next(filter(None, models), None),
        started_at=fields.seconds(row, "started_at"),
        archived=True if fields.count(row, "archived") else None,
        cost_usd=cost_of(row),
        tokens=tokens_of(row),
        meta={name: value for name, value in told.items() if value} or None,
    )


def usage(row: dict[str, Any], used: list[dict[str, Any]]) -> Iterator[Usage]:
    """Yield what each model used, where that comes to what the session used.

    The gateway writes totals for the session alone. Nothing tells which message a count belongs to.
    """
    amounts = [astuple(tokens_of(one)) for one in used]
    if amounts and tuple(map(total, zip(*amounts, strict=True))) == astuple(tokens_of(row)):
        for one in used:
            yield Usage(tokens_of(one), model=model_of(row, one), time=fields.seconds(one, "last_seen"), aside=True)


def total(counts: tuple[int | None, ...]) -> int | None:
    """Return the sum of counts, ``None`` when one is unknown."""
    return None if None in counts else sum(count or 0 for count in counts)


def tokens_of(row: dict[str, Any]) -> Tokens:
    """Return the counts of a row: input is without cached tokens, output with reasoning."""
    return Tokens(*(fields.count(row, name) for name in database.TOKENS))


def model_of(row: dict[str, Any], named: dict[str, Any]) -> str | None:
    """Return the model in a row without the provider that the session's row names apart from it."""
    model, provider = fields.text(named, "model"), fields.text(row, "billing_provider")
    if model is None or model == UNKNOWN_MODEL:
        return None
    return model.removeprefix(f"{provider}/") if provider else model


def cost_of(row: dict[str, Any]) -> float | None:
    """Return what a session cost in US dollars; 0 is a cost only where the runtime was sure of it."""
    costs = (fields.number(row, "actual_cost_usd"), fields.number(row, "estimated_cost_usd"))
    known = next((cost for cost in costs if cost is not None and cost > 0), None)
    return 0.0 if known is None and fields.text(row, "cost_status") in SETTLED else known
