"""OpenCode: a database, and below the same root the JSON trees of older versions.

    $XDG_DATA_HOME/opencode/opencode.db, opencode-<channel>.db      1.2 and newer; $OPENCODE_DB names another one
    $XDG_DATA_HOME/opencode/storage/session/<project>/<session>.json        1.0 and 1.1
    $XDG_DATA_HOME/opencode/project/<slug>/storage/session/info/<session>.json    before

An update copies the older sessions into the newer store and leaves the old ones behind: the database counts before
``storage``, that before ``project``. What the records look like stands in ``formats.opencode``.

A sub-agent is a session with a parent. A fork does not name its origin; that is found by the responses it copied. Where
``message`` is empty the newer table ``session_message`` is read; what its token counts mean is not known for certain,
and where it has none the running totals in the session's row stand for them.
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import astuple, dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, ClassVar

from ..adapter import Adapter, Root, Source
from ..formats import fields, places, sqlite
from ..formats.opencode import database, tokens, tree
from ..formats.opencode.messages import Conversation, Record, unquoted
from ..model import Checkpoint, Event, Info, Skipped, Start, Tokens

IN_DATABASE, IN_STORAGE, IN_PROJECT = 3, 2, 1
"""Preference for one session in several stores."""

PLACEHOLDER = re.compile(r"(new|child) session - \d{4}-\d\d-\d\dT[\d:.]+Z?( \(fork #\d+\))?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class NamedDatabase(Root):
    """A folder of which one file counts, the database that a variable names.

    Args:
        database: the file's name.
    """

    database: str = ""


class OpenCode(Adapter):
    """OpenCode. A runtime built on it is a subclass with names of its own."""

    name = "opencode"
    title = "OpenCode"
    evidence = "stores of 0.1.174, 0.5.29, 1.0.61, 1.1.65, 1.2.1, 1.14.34 and 1.18.34"
    stores: ClassVar[tuple[Root, ...]] = (Root("$XDG_DATA_HOME/opencode"),)
    never_open: ClassVar[tuple[str, ...]] = tree.CREDENTIALS
    databases: ClassVar[str] = "opencode*.db"
    """Glob of the databases' names."""
    database_variable: ClassVar[str] = "OPENCODE_DB"
    """Names the database: an absolute path or one below the root."""
    cached_apart: ClassVar[tokens.Version] = (1, 0, 62)
    """First version that counts cached tokens apart from input."""
    reasoning_apart: ClassVar[tokens.Version] = (1, 14, 0)
    """First version that counts reasoning apart from output."""

    def roots(self, environ: Mapping[str, str], home: Path) -> list[Root]:
        roots = super().roots(environ, home)
        named = environ.get(self.database_variable, "")
        if named and named != ":memory:":
            folder, name = os.path.split(os.path.normpath(os.path.join(roots[0].path, named)))
            if not fnmatchcase(name, self.databases) or os.path.realpath(folder) != os.path.realpath(roots[0].path):
                roots.append(NamedDatabase(folder, database=name))
        return roots

    def discover(self, root: Root) -> Iterator[Source | places.Unlisted]:
        pattern = self.databases
        named = root.database if isinstance(root, NamedDatabase) else None
        for path in places.walk(root.path, lambda name: name == named if named else fnmatchcase(name, pattern), depth=0):
            yield path if isinstance(path, places.Unlisted) else Source(path, root.path, (path, path + "-wal"))
        if named:
            return
        for place in tree.places(root.path):
            if isinstance(place, places.Unlisted):
                yield place
                continue
            try:
                yield Source(place.info, root.path, place.files())
            except OSError as error:
                yield places.Unlisted(place.info, error.strerror or type(error).__name__)

    def stamps(self, source: Source) -> dict[str, str] | None:
        if is_record(source):
            return None
        with sqlite.read_only(source.path) as db:
            return database.Tables(db).stamps()

    def events(self, source: Source, session_id: str | None = None, resume: Checkpoint | None = None) -> Iterator[Event]:
        if is_record(source):
            place = tree.Place.of(source.path)
            record = place.record()
            row = row_of(place, record)
            yield start(row, IN_PROJECT if place.legacy else IN_STORAGE)
            if record is None:
                yield Skipped("a session that is no JSON object")
            yield from self.session(row, place.records())
            return
        with sqlite.read_only(source.path) as db:
            tables = database.Tables(db)
            for row in tables.sessions(session_id):
                yield start(row, IN_DATABASE, tables.modified(row))
                if tables.is_newer_form(row["id"]):
                    yield totals(row)
                yield from self.session(row, tables.records(row["id"]))

    def session(self, row: dict[str, Any], records: Iterable[Record | Skipped]) -> Iterator[Event]:
        """Yield the facts and messages of a session.

        Args:
            row: its own record, in the form of the database.
        """
        worktree = fields.text(row, "worktree")
        # "/" is the project of every folder outside of a repository.
        directory = fields.text(row, "directory") or (worktree if worktree != "/" else None)
        title, version = title_of(row), fields.text(row, "version")
        model = json_of(row, "model")
        provider = fields.text(model, "providerID")
        yield Info(
            project_path=directory,
            title=title,
            model=fields.text(model, "id"),
            started_at=fields.seconds(row, "time_created"),
            archived=True if fields.seconds(row, "time_archived") is not None else None,
            meta={name: value for name, value in (("version", version), ("provider", provider)) if value},
        )
        meaning = tokens.counting(version, self.cached_apart, self.reasoning_apart)
        conversation = Conversation(directory, title is not None, meaning, json_of(row, "revert"))
        for record in records:
            if isinstance(record, Skipped):
                yield record
            else:
                yield from conversation.message(record)
        yield from conversation.end()


def is_record(source: Source) -> bool:
    """Return whether a source is a session of a tree, not a database."""
    return source.path.endswith(".json")


def row_of(place: tree.Place, record: dict[str, Any] | None) -> dict[str, Any]:
    """Return a session's own record from a tree in the form of a row of the database."""
    time = fields.table(record, "time")
    return {
        "id": place.session_id,
        "parent_id": fields.at(record, "parentID"),
        **{name: fields.at(record, name) for name in ("directory", "title", "version", "revert")},
        **{f"time_{name}": fields.at(time, name) for name in ("created", "archived")},
        "worktree": place.worktree(),
    }


def start(row: dict[str, Any], preference: int, modified: float | None = None) -> Start:
    """Return the beginning of a session; one with a parent is a sub-agent."""
    parent = fields.text(row, "parent_id")
    return Start(row["id"], "subagent" if parent else "session", parent, preference=preference, modified=modified)


def totals(row: dict[str, Any]) -> Info:
    """Return the running totals that the session's row holds; all zero is their default and says nothing."""
    names = ("input", "output", "cache_read", "cache_write", "reasoning")
    found = Tokens(*(fields.count(row, f"tokens_{name}") for name in names))
    found.output = tokens.add(found.output, found.reasoning)
    return Info(tokens=found if any(astuple(found)) else None, cost_usd=tokens.cost(row))


def title_of(row: dict[str, Any]) -> str | None:
    """Return a session's title without quotes around it; ``None`` for a placeholder."""
    title = (fields.text(row, "title") or "").strip()
    return None if PLACEHOLDER.fullmatch(title) else unquoted(title) or title or None


def json_of(row: dict[str, Any], column: str) -> dict[str, Any]:
    """Return the object in a column, which holds it as text in a database; an empty one for anything else."""
    value = fields.at(row, column)
    return fields.table(value if isinstance(value, dict) else sqlite.json_value(value))
