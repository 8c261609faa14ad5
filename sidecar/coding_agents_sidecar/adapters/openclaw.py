"""OpenClaw, formerly Clawdbot and Moltbot: conversations with agents, in files, later in a database for each agent.

~/.openclaw/agents/<agent>/sessions/<id>.jsonl               up to 2026.7.1; <id>-topic-<n>.jsonl for a topic of a chat
    <id>.jsonl.reset.<time>, <id>.jsonl.deleted.<time>       put away; compressed with .zst behind it
    sessions.json                                            notes on them
~/.openclaw/agents/<agent>/agent/openclaw-agent.sqlite       since then; files that remain count after it
~/.openclaw/sessions/<channel>/<id>.json, <id>.jsonl         as documented, and legacy

The state folder is $OPENCLAW_STATE_DIR, $OPENCLAW_HOME/.openclaw, ~/.openclaw-<profile> for a profile, ~/.clawdbot or
~/.moltbot under the former names. Its configuration, which may move the files, holds credentials and stays closed.
Copies that are no sessions: <id>.checkpoint.<uuid>.jsonl, <id>.trajectory.jsonl, *.bak*. What the records look like
stands in ``formats.openclaw``. An agent other than ``main`` is a store of its own.
"""

import os
import re
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path

from ..adapter import Adapter, Root, Source
from ..errors import ParseError
from ..formats import fields, jsonl, places, sqlite, text
from ..formats.openclaw import database, document, index
from ..formats.openclaw.entries import ClawEntries
from ..formats.pi import files
from ..model import Checkpoint, Event, Info, Kind, Skipped, Start

PROFILE = ".openclaw-"
DATABASE = "openclaw-agent.sqlite"
INDEX = "sessions.json"
TRANSCRIPT = re.compile(
    r"(?P<id>.+?)(?:-topic-(?P<topic>[^.]+))?\.jsonl(?P<archived>\.(?:reset|deleted)\.\d{4}-\d\d-\d\dT[\d.-]+Z(?:\.zst)?)?"
)
COPY = re.compile(r".+\.(?:trajectory|full|bak|checkpoint\.[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})", re.IGNORECASE)

LABEL = 3
IN_DATABASE, ARCHIVED, DELETED = 1 << 40, -1, -2
"""Preferences for one session in several places. A file that has not been put away has its age instead."""


class OpenClaw(Adapter):
    """OpenClaw."""

    name = "openclaw"
    title = "OpenClaw"
    aliases = ("clawdbot", "moltbot")
    evidence = "files written by 2026.6.11, a database by 2026.9.6; openclaw/openclaw at 0849551"
    stores = (
        Root("~/.openclaw", env="OPENCLAW_STATE_DIR"),
        Root("~/.openclaw", env="OPENCLAW_HOME", below=".openclaw"),
        Root("~/.openclaw"),
        Root("~/.clawdbot", env="CLAWDBOT_STATE_DIR"),
        Root("~/.clawdbot"),
        Root("~/.moltbot"),
    )
    never_open = ("openclaw.json*", "clawdbot.json*", "moltbot.json*", "auth*.json", "oauth.json", "device.json", ".env")

    def roots(self, environ: Mapping[str, str], home: Path) -> list[Root]:
        profiles = [name for name in places.folders(str(home)) if name.startswith(PROFILE)]
        labeled = [Root(f"~/{name}", origin=name.removeprefix(PROFILE)) for name in profiles]
        states = places.expand((*self.stores, *labeled), environ, home)
        return [Root(os.path.join(state.path, part), origin=state.origin) for state in states for part in ("agents", "sessions")]

    def discover(self, root: Root) -> Iterator[Source | places.Unlisted]:
        if os.path.basename(root.path) == "agents":
            yield from self.agents(root)
        else:
            yield from self.channels(root)

    def agents(self, root: Root) -> Iterator[Source | places.Unlisted]:
        """Yield the databases and transcripts of the agents below a root."""
        for found in places.walk(root.path, is_agents, depth=2):
            if isinstance(found, places.Unlisted):
                yield found
                continue
            agent = os.path.relpath(found, root.path).split(os.sep)[0]
            origin = label(root.origin, "" if agent == "main" else agent)
            if os.path.basename(found) == DATABASE:
                yield Source(found, root.path, (found, found + "-wal"), origin)
            else:
                yield Source(found, root.path, noted_in(found), origin)

    def channels(self, root: Root) -> Iterator[Source | places.Unlisted]:
        """Yield the sessions in the folders of the channels. What has one name in two channels is two sessions."""
        documents: dict[str, list[str]] = {}
        for found in places.walk(root.path, self.is_channels, depth=1):
            if isinstance(found, places.Unlisted):
                yield found
            elif found.endswith(".json"):
                documents.setdefault(os.path.basename(found), []).append(found)
            else:
                yield Source(found, root.path, noted_in(found), root.origin)
        for twins in documents.values():
            for path in twins:
                channel = "" if len(twins) == 1 else os.path.basename(os.path.dirname(path))
                yield Source(path, root.path, (path, *(twin for twin in twins if twin != path)), label(root.origin, channel))

    def is_channels(self, path: str) -> bool:
        """Return whether a file below a root is a session, by its path."""
        folder, name = os.path.split(path)
        if any(fnmatchcase(name, pattern) for pattern in self.never_open):
            return False
        return is_transcript(name) or (bool(folder) and name.endswith(".json") and name != INDEX)

    def stamps(self, source: Source) -> dict[str, str] | None:
        if not source.path.endswith(DATABASE):
            return None
        with sqlite.read_only(source.path) as db:
            return database.Database(db, source.path).stamps()

    def events(self, source: Source, session_id: str | None = None, resume: Checkpoint | None = None) -> Iterator[Event]:
        if source.path.endswith(DATABASE):
            with sqlite.read_only(source.path) as db:
                known = database.Database(db, source.path)
                for session in known.sessions():
                    if session_id in (None, session.id):
                        yield from stored(known, session)
        elif source.path.endswith(".json"):
            yield from documented(source)
        else:
            yield from transcribed(source, resume)


def label(*parts: str) -> str:
    """Return the label of a store inside another one."""
    return "/".join(filter(None, parts))


def is_agents(path: str) -> bool:
    """Return whether a file below the agents' folders is a database or a transcript, by its path."""
    match path.split(os.sep):
        case [_, "agent", name]:
            return name == DATABASE
        case [_, "sessions", name]:
            return is_transcript(name)
    return False


def is_transcript(name: str) -> bool:
    """Return whether a file is a session's transcript and no copy of one, by its name."""
    found = TRANSCRIPT.fullmatch(name)
    return found is not None and COPY.fullmatch(found["id"]) is None


def noted_in(path: str) -> tuple[str, ...]:
    """Return a transcript with the index that says more of it; of what has been put away none does."""
    found = TRANSCRIPT.fullmatch(os.path.basename(path))
    return (path, os.path.join(os.path.dirname(path), INDEX)) if found and not found["archived"] else ()


def transcribed(source: Source, resume: Checkpoint | None) -> Iterator[Event]:
    """Yield what a transcript says."""
    opening = files.opening(source.path)
    if opening.header is None:
        if opening.entries or opening.skipped:
            raise files.headless(source.path)
        return
    session_id = fields.text(opening.header, "id") or ""
    name = TRANSCRIPT.fullmatch(os.path.basename(source.path))
    archived = name is not None and name["archived"] is not None
    noted = index.NOTHING
    if name and not archived:
        # The index names the file, whose header may have another id after it was copied.
        known = index.read(source.files[-1])
        noted = known.get(session_id) or known.get(name["id"], noted)
    parent = noted.parent if noted.subagent else files.parent_of(opening.header, source.path, source.root, id_in)
    start = Start(session_id, kind_of(noted), parent, preference=ARCHIVED if archived else 0, modified=files.changed(source))
    entries = ClawEntries(noted, resume.state if resume else None)
    yield start
    if resume is None:
        yield files.facts(opening.header)
        yield facts(noted, archived=archived, topic=name and name["topic"], channel=channel_of(source))
    yield from files.follow(source.path, start, entries, opening, resume)


def stored(known: database.Database, session: database.Session) -> Iterator[Event]:
    """Yield what a database says of a session."""
    noted = session.noted
    parent = noted.parent if noted.subagent else session.origin
    preference = DELETED if session.deleted else IN_DATABASE
    start = Start(session.id, kind_of(noted), parent, preference=preference, modified=session.modified)
    yield start
    yield facts(noted, archived=noted.archived, model=session.model, **dict(session.meta))
    entries = ClawEntries(noted)
    opened = False
    for record in known.events(session):
        if isinstance(record, Skipped):
            yield record
        elif not opened and fields.text(record, "type") == "session":
            opened = True
            yield files.facts(record)
        else:
            yield from entries.entry(record)
    if leaf := known.leaf(session):
        entries.tree.go(leaf)
    yield from files.settled(start, entries)


def documented(source: Source) -> Iterator[Event]:
    """Yield what a document says."""
    whole = jsonl.document(source.path)
    if whole is None:
        raise ParseError(f"{text.path(source.path)} is no JSON")
    if not fields.rows(whole, "messages"):
        return
    stem = os.path.basename(source.path).removesuffix(".json")
    own = fields.text(whole, "id") or fields.text(whole, "sessionId") or stem
    start = Start(own, modified=files.changed(source))
    yield start
    yield Info(
        title=fields.text(whole, "title"),
        model=fields.text(whole, "model"),
        started_at=fields.seconds(whole, "createdAt"),
        last_activity_at=fields.seconds(whole, "updatedAt"),
        meta={"channel": os.path.basename(os.path.dirname(source.path))},
    )
    entries = document.DocumentEntries(index.NOTHING)
    for record in document.entries_of(whole):
        yield from entries.entry(record)
    yield from files.settled(start, entries)


def facts(noted: index.Noted, *, archived: bool, model: str | None = None, **meta: str | None) -> Info:
    """Return what is known of a session beside its transcript."""
    told = {**noted.meta(), **{name: value for name, value in meta.items() if value}}
    return Info(title=noted.title, title_rank=LABEL, model=model, archived=archived or noted.archived or None, meta=told or None)


def kind_of(noted: index.Noted) -> Kind:
    """Return the kind of a session."""
    return "subagent" if noted.subagent else "session"


def id_in(name: str) -> str | None:
    """Return the id that a transcript's name holds."""
    found = TRANSCRIPT.fullmatch(name)
    return found["id"] if found else None


def channel_of(source: Source) -> str | None:
    """Return the channel in whose folder a transcript lies."""
    folder = os.path.relpath(os.path.dirname(source.path), source.root)
    return None if os.sep in folder or folder == os.curdir else folder
