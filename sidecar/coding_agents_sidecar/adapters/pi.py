"""Pi and Oh My Pi: one append-only JSONL file a session, its entries a tree.

~/.pi/agent/sessions/--<folder>--/<stamp>_<id>.jsonl          $PI_CODING_AGENT_DIR/sessions, $PI_CODING_AGENT_SESSION_DIR
~/.pi/agent/<stamp>_<id>.jsonl                                0.30.0, by mistake
~/.omp/agent/sessions/<folder>/<stamp>_<id>.jsonl             of Oh My Pi, below $XDG_DATA_HOME/omp if that is there
~/.omp/agent/sessions/<folder>/<stamp>_<id>/**/<agent>.jsonl  its sub-agents, in a folder named like the file of the parent
~/.omp/agent/archive/sessions/**/*.jsonl.gz                   what it has put away
~/.omp/agent/custom-session-files/<hash>                      names a session file that lies elsewhere
~/.omp/profiles/<name>/agent/…                                its profiles, each a store of its own

As documented, a session is a folder ``sessions/<id>/`` with one or more files, which together are its tree.
What the entries say stands in ``formats.pi``.
"""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

from ..adapter import Adapter, Root, Source
from ..formats import beside, fields, jsonl, places
from ..formats.pi import documented, files
from ..formats.pi.entries import Entries
from ..formats.pi.omp import OmpEntries
from ..model import Checkpoint, Event, Info, Skipped, Start

BUCKET = re.compile(r"-.*|(?:home|tmp|abs)-.+-[0-9a-f]{8,64}")
"""A folder of sessions named after the project's folder, in any version."""

ARCHIVED = -1
"""Preference of what has been put away: the lowest."""

SLOT_TITLE = 3
SETTINGS_LIMIT = 1 << 20
AGENT_DIR = "PI_CODING_AGENT_DIR"
STORES = ("sessions", os.path.join("archive", "sessions"))
OMP_MARKS = ("agent.db", "history.db", "blobs", "custom-session-files", "terminal-sessions")


@dataclass(frozen=True, slots=True)
class Flat(Root):
    """A folder of sessions whose own folders are something else.

    Args:
        only: names of the files that count; empty for those whose names are like a session's.
    """

    only: tuple[str, ...] = ()


class Pi(Adapter):
    """The Pi coding agent. A runtime built on it is a subclass with names of its own."""

    name = "pi"
    title = "Pi"
    evidence = "files written by Pi 1.6.0 and two of version 1; badlogic/pi-mono at 0507789"
    stores: ClassVar[tuple[Root, ...]] = (
        Root("~/.pi/agent/sessions"),
        Root("~/.pi/sessions"),
        Root("~/.pi/agent/sessions", env=AGENT_DIR, below="sessions"),
        Root("~/.pi/agent/sessions", env="CODING_AGENT_DIR", below="sessions"),
        Root("~/.pi/agent/sessions", env="PI_CODING_AGENT_SESSION_DIR"),
        Flat("~/.pi/agent"),
        Flat("~/.pi/agent", env=AGENT_DIR),
    )
    never_open: ClassVar[tuple[str, ...]] = ("auth.json", "oauth.json", "models.json")

    def roots(self, environ: Mapping[str, str], home: Path) -> list[Root]:
        named = environ.get(AGENT_DIR)
        if named and is_omp(places.absolute(named, environ, home)):
            environ = {**environ, AGENT_DIR: ""}
        roots = super().roots(environ, home)
        agents = [root.path for root in roots if isinstance(root, Flat)]
        moved = [Root(places.absolute(path, environ, home)) for agent in agents if (path := moved_to(agent))]
        return distinct([*roots, *moved])

    def discover(self, root: Root) -> Iterator[Source | places.Unlisted]:
        folders: dict[str, list[str]] = {}
        for found in self.candidates(root):
            if isinstance(found, places.Unlisted):
                yield found
            elif name := self.folder(found, root.path):
                folders.setdefault(name, []).append(found)
            else:
                yield Source(found, root.path, self.needed(found, root.path), root.origin)
        for paths in folders.values():
            yield Source(paths[0], root.path, tuple(paths), root.origin)

    def candidates(self, root: Root) -> Iterator[str | places.Unlisted]:
        """Yield the files below a root that may be sessions'."""
        if not isinstance(root, Flat):
            yield from places.walk(root.path, self.is_session)
            return
        yield from places.walk(root.path, lambda name: name in root.only if root.only else self.is_stamped(name), depth=0)
        for name in root.only:
            yield from places.walk(os.path.join(root.path, name.removesuffix(".jsonl")), self.is_session)

    def is_session(self, path: str) -> bool:
        """Return whether a file may be a session's, by its name."""
        return path.endswith(".jsonl")

    def is_stamped(self, name: str) -> bool:
        """Return whether a file is a session's beyond doubt, by its name."""
        return self.is_session(name) and files.STAMPED.match(name) is not None

    def needed(self, path: str, root: str) -> tuple[str, ...]:
        """Return all files that say something of the session in a file; none when that is the only one."""
        return ()

    def folder(self, path: str, root: str) -> str | None:
        """Return the id of the session whose folder a file lies in; ``None`` for a file that is a session by itself."""
        place = os.path.relpath(path, root).split(os.sep)
        if len(place) != 2 or BUCKET.fullmatch(place[0]) or files.STAMPED.match(place[1]):
            return None
        return place[0]

    def events(self, source: Source, session_id: str | None = None, resume: Checkpoint | None = None) -> Iterator[Event]:
        if name := self.folder(source.path, source.root):
            yield from self.documented(source, name, session_id)
            return
        opening = files.opening(source.path)
        if opening.header is None:
            if self.is_damaged(source, opening):
                raise files.headless(source.path)
            return
        start = self.start(source, opening.header)
        yield start
        if resume is None:
            yield from self.facts(source, opening, start)
        entries = self.read(start, resume.state if resume else None)
        yield from files.follow(source.path, start, entries, opening, resume)

    def is_damaged(self, source: Source, opening: files.Opening) -> bool:
        """Return whether a file without a header has lost it: its entries or its name tell."""
        return opening.entries or (bool(opening.skipped) and self.is_stamped(os.path.basename(source.path)))

    def start(self, source: Source, header: dict[str, Any]) -> Start:
        """Return the session that a header opens."""
        return Start(fields.text(header, "id") or "", parent_id=files.parent_of(header, source.path, source.root, files.id_in))

    def facts(self, source: Source, opening: files.Opening, start: Start) -> Iterator[Event]:
        """Yield what stands before the entries."""
        yield files.facts(opening.header or {})

    def read(self, start: Start, state: dict[str, Any] | None) -> Entries:
        """Return the reader of a session's entries."""
        return Entries(state)

    def documented(self, source: Source, name: str, session_id: str | None) -> Iterator[Event]:
        """Yield the session of a folder, from all its files but those whose header names another: these are their own."""
        sessions: dict[str, list[tuple[str, files.Opening]]] = {}
        for path in source.files or (source.path,):
            opening = files.opening(path)
            if opening.header or opening.entries or opening.messages:
                sessions.setdefault(fields.text(opening.header, "id") or name, []).append((path, opening))
        for own, found in sessions.items():
            if session_id not in (None, own):
                continue
            opening = next((one for _, one in found if one.header), files.Opening())
            start = self.start(source, {**(opening.header or {}), "id": own})
            yield start
            yield from self.facts(source, opening, start)
            entries = self.read(start, None)
            for record in documented.merged([path for path, _ in found]):
                yield from [record] if isinstance(record, Skipped) else entries.entry(record)
            yield from files.settled(start, entries)


class OhMyPi(Pi):
    """Oh My Pi: Pi's entries in other places, with a title in a slot of its own and sub-agents."""

    name = "omp"
    title = "Oh My Pi"
    aliases = ("oh-my-pi",)
    evidence = "files written by Oh My Pi 18.2.3; can1357/oh-my-pi at 01d016c"
    stores = (Root("~/.omp/agent/sessions"), Root("~/.omp/agent/archive/sessions"), Root("~/.omp/sessions"))
    never_open = ("agent.db*", "auth.json", "models.*", ".env")

    def roots(self, environ: Mapping[str, str], home: Path) -> list[Root]:
        agents = list(self.agents(environ, home))
        stores = [Root(os.path.join(data, part), origin=origin) for data, _, origin in agents for part in STORES]
        roots = distinct([*super().roots({}, home), *stores])
        elsewhere: dict[tuple[str, str], list[str]] = {}
        for _, state, origin in agents:
            for path in marked(os.path.join(state, "custom-session-files")):
                if not any(is_below(path, root.path) for root in roots):
                    elsewhere.setdefault((os.path.dirname(path), origin), []).append(os.path.basename(path))
        return [*roots, *(Flat(path, origin=origin, only=tuple(names)) for (path, origin), names in elsewhere.items())]

    def agents(self, environ: Mapping[str, str], home: Path) -> Iterator[tuple[str, str, str]]:
        """Yield the folders of an agent's data, its state, and the label of its profile."""
        data, state = (places.absolute(f"${name}/omp", environ, home) for name in ("XDG_DATA_HOME", "XDG_STATE_HOME"))
        for base in dict.fromkeys((os.path.join(home, ".omp"), os.path.join(home, environ.get("PI_CONFIG_DIR") or ".omp"))):
            yield os.path.join(base, "agent"), os.path.join(base, "agent"), ""
            for profile in places.folders(os.path.join(base, "profiles")):
                agent = os.path.join(base, "profiles", profile, "agent")
                yield agent, agent, profile
        yield data, state, ""
        for profile in places.folders(os.path.join(data, "profiles")):
            yield os.path.join(data, "profiles", profile), os.path.join(state, "profiles", profile), profile
        named = environ.get(AGENT_DIR)
        if named and is_omp(agent := places.absolute(named, environ, home)):
            yield agent, agent, ""

    def is_session(self, path: str) -> bool:
        return path.endswith(files.SUFFIXES)

    def folder(self, path: str, root: str) -> str | None:
        return None if is_subagent(path, root) else super().folder(path, root)

    def needed(self, path: str, root: str) -> tuple[str, ...]:
        # The name of a sub-agent's file does not tell its id, which those that it started name as their parent.
        nested = is_subagent(path, root) and not files.STAMPED.match(os.path.basename(os.path.dirname(path)))
        return (path, *parent_files(path)) if nested else ()

    def is_damaged(self, source: Source, opening: files.Opening) -> bool:
        # Beside sub-agents lie other files, of entries too.
        if is_subagent(source.path, source.root):
            return opening.entries and bool(opening.skipped)
        return super().is_damaged(source, opening)

    def start(self, source: Source, header: dict[str, Any]) -> Start:
        start = super().start(source, header)
        if is_subagent(source.path, source.root):
            ids = filter(None, (files.id_of(path, source.root) for path in parent_files(source.path)))
            named = files.id_in(os.path.basename(os.path.dirname(source.path)))
            start = replace(start, kind="subagent", parent_id=next(ids, named), modified=files.changed(source))
        return replace(start, preference=ARCHIVED) if source.path.endswith(".gz") else start

    def facts(self, source: Source, opening: files.Opening, start: Start) -> Iterator[Event]:
        yield from super().facts(source, opening, start)
        yield Info(title=fields.text(opening.slot, "title"), title_rank=SLOT_TITLE)
        if start.preference == ARCHIVED:
            yield Info(archived=True)
        if start.kind == "subagent":
            yield Info(meta={"agent": os.path.basename(source.path).partition(".jsonl")[0]})

    def read(self, start: Start, state: dict[str, Any] | None) -> Entries:
        return OmpEntries(state, subagent=start.kind == "subagent")


def is_subagent(path: str, root: str) -> bool:
    """Return whether a file lies in a folder that belongs to another session's file."""
    *folders, _ = os.path.relpath(path, root).split(os.sep)
    if len(folders) != 1:
        return len(folders) > 1
    return files.STAMPED.match(folders[0]) is not None or any(map(os.path.isfile, parent_files(path)))


def parent_files(path: str) -> list[str]:
    """Return where the file may lie to whose session a sub-agent's folder belongs."""
    return [os.path.dirname(path) + suffix for suffix in files.SUFFIXES]


def is_omp(agent: str) -> bool:
    """Return whether the folder that a variable of both runtimes names is Oh My Pi's."""
    if any(os.path.exists(os.path.join(agent, mark)) for mark in OMP_MARKS) or ".omp" in agent.split(os.sep):
        return True
    return any(re.match(r"-(?!-)", name) for name in places.folders(os.path.join(agent, "sessions")))


def marked(folder: str) -> Iterator[str]:
    """Yield the absolute paths of the session files that the markers in a folder name."""
    for marker in places.walk(folder, lambda name: re.fullmatch(r"[0-9a-f]{8,}", name) is not None, depth=0):
        if isinstance(marker, places.Unlisted):
            continue
        path = (beside.kept(marker, limit=4096) or b"").decode("utf-8", "surrogateescape").strip()
        if os.path.isabs(path) and "\0" not in path:
            yield os.path.normpath(path)


def moved_to(agent: str) -> str | None:
    """Return the folder that Pi's settings name for its sessions."""
    data = beside.kept(os.path.join(agent, "settings.json"), limit=SETTINGS_LIMIT)
    path = fields.text(jsonl.load(data), "sessionDir") if data else None
    return path if path and path.startswith(("/", "~")) else None


def distinct(roots: list[Root]) -> list[Root]:
    """Return the roots without doubles by real path, the first of each."""
    found: dict[str, Root] = {}
    for root in roots:
        found.setdefault(os.path.realpath(root.path), root)
    return list(found.values())


def is_below(path: str, folder: str) -> bool:
    """Return whether a file really lies in a folder, whatever links lead there."""
    return os.path.realpath(path).startswith(os.path.realpath(folder) + os.sep)
