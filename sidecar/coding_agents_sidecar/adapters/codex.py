"""Codex: one append-only JSONL file a thread.

    ~/.codex/sessions/YYYY/MM/DD/rollout-<local time>-<thread>.jsonl     any depth; older ones lie directly in sessions
    ~/.codex/archived_sessions/rollout-….jsonl                           archived threads
    ~/.codex/session_index.jsonl, state_<n>.sqlite                       names of threads

    {timestamp, type: session_meta, payload: {id, timestamp, cwd, forked_from_id?, source, …}}
    {timestamp, type: turn_context | response_item | event_msg | compacted | token_usage_record, payload: {…}}

The thread's id is that of the first session_meta; its session_id is another thread's for sub-agents. Forks and sub-agents of
2025 and most of 2026 begin with a copy of their origin, under a session_meta of its own and with new times; later forks
name it and hold only what is theirs. Forms of other ages, and the documented one, stand in ``formats.codex``.
"""

import os
from collections.abc import Generator, Iterable, Iterator
from dataclasses import astuple
from itertools import chain
from typing import Any

from ..adapter import Adapter, Root, Source
from ..errors import ParseError
from ..formats import fields, jsonl, packed, places, text
from ..formats.codex import files, shapes, titles
from ..formats.codex.prompts import Marks
from ..formats.codex.rollout import Rollout, start_of
from ..formats.codex.shapes import Entry
from ..formats.jsonl import Line
from ..model import Checkpoint, Event, Info, Skipped, Start

ARCHIVE = "archived_sessions"
LOOKAHEAD = 1000
"""Records that are read ahead at most, to learn whether prompts are marked."""


class Codex(Adapter):
    """Threads of the command line, the desktop app, the editor extensions and the SDK: they share one store."""

    name = "codex"
    title = "Codex"
    evidence = "files written by 0.1.2505172129, 0.44.0, 0.104.0, 0.134.0 and 0.171.0; openai/codex at 0136a73"
    # The default is read even where the variable names another folder: older sessions stay behind.
    stores = (
        Root("~/.codex/sessions", env="CODEX_HOME", below="sessions"),
        Root(f"~/.codex/{ARCHIVE}", env="CODEX_HOME", below=ARCHIVE),
        Root("~/.codex/sessions"),
        Root(f"~/.codex/{ARCHIVE}"),
    )
    never_open = ("auth.json", "config.toml", ".credentials.json")

    def discover(self, root: Root) -> Iterator[Source | places.Unlisted]:
        found = []
        for path in places.walk(root.path, files.is_session):
            if isinstance(path, places.Unlisted):
                yield path
            else:
                found.append(path)
        yield from files.sources(found, root.path)

    def title_files(self, root: Root) -> tuple[str, ...]:
        return titles.files(os.path.dirname(root.path))

    def titles(self, root: Root) -> dict[str, str]:
        return titles.read(os.path.dirname(root.path))

    def events(self, source: Source, session_id: str | None = None, resume: Checkpoint | None = None) -> Iterator[Event]:
        return Reader(source, resume).events()


class Reader:
    """A source while it is read.

    Args:
        resume: where to go on; ``None`` begins at the start.
    """

    def __init__(self, source: Source, resume: Checkpoint | None) -> None:
        self.source = source
        self.paths = source.files or (source.path,)
        self.archived = os.path.basename(source.root) == ARCHIVE
        self.offset = resume.offset if resume else 0
        self.resumed = resume is not None
        self.named = False
        self.following: list[Entry] = []
        self.marks = Marks(resume.state["marks"] if resume else None)
        self.rollout: Rollout | None = None
        if resume:
            self.rollout = Rollout(Start(*resume.state["start"]), self.marks, resume.state["rollout"])

    def events(self) -> Iterator[Event]:
        """Yield what the files say, one after the other."""
        if self.rollout:
            yield self.rollout.start
        if self.source.path.endswith(".json"):
            yield from self.document()
            return
        for path, limit in zip(self.paths[:-1], files.limits(self.paths), strict=True):
            yield from self.earlier(path, limit)
        yield from self.newest()

    def document(self) -> Iterator[Event]:
        """Yield what a document of the TypeScript program says."""
        value = jsonl.document(self.source.path)
        if not isinstance(value, dict):
            raise ParseError(f"{text.path(self.source.path)} is no JSON object")
        entries = list(shapes.document(value))
        rollout = yield from self.enter(self.source.path, entries)
        for entry in entries:
            yield from rollout.take(entry)
        yield from self.leave(rollout)

    def earlier(self, path: str, limit: int | None) -> Iterator[Event]:
        """Yield what a file says that a revert left behind.

        Args:
            limit: as in ``Rollout``.
        """
        lines = jsonl.records(path)
        head, rollout = yield from self.open(path, lines)
        rollout.limit = limit
        for line in chain(head, lines):
            if isinstance(line, Skipped):
                yield Skipped(line.reason)
            else:
                yield from rollout.line(line.record)
        yield from rollout.end()

    def newest(self) -> Iterator[Event]:
        """Yield what the newest file says, from the offset on."""
        lines = jsonl.records(self.source.path, self.offset)
        head, rollout = yield from self.open(self.source.path, lines)
        yield from jsonl.follow(
            self.watched(chain(head, lines)),
            self.offset,
            read=rollout.line,
            settle=lambda: self.leave(rollout),
            state=lambda: self.state(rollout),
        )

    def watched(self, lines: Iterable[Line | Skipped]) -> Iterator[Line | Skipped]:
        """Pass lines on, noting what a last one says that may still change: it tells what the item before it is."""
        for line in lines:
            if isinstance(line, Line) and not line.whole:
                self.following = shapes.entries(line.record)
            yield line

    def state(self, rollout: Rollout) -> dict[str, Any] | None:
        """Return what reading the grown file from here on needs; ``None`` for files that are read from their start."""
        if not self.named or len(self.paths) > 1 or packed.is_packed(self.source.path):
            return None
        return {"start": list(astuple(rollout.start)), "marks": self.marks.state(), "rollout": rollout.state()}

    def open(self, path: str, lines: Iterator[Line | Skipped]) -> Generator[Event, None, tuple[list[Line | Skipped], Rollout]]:
        """Begin a file; return what had to be read for that, and the thread it belongs to."""
        self.named = self.resumed
        head = self.look_ahead(lines)
        if packed.is_packed(path) and not head:
            raise ParseError(f"{text.path(path)} is no whole compressed file")
        if self.resumed and self.rollout:
            return head, self.rollout
        opening = [entry for line in head[: files.HEAD] for entry in files.entries(line)]
        rollout = yield from self.enter(path, opening, torn=bool(head) and isinstance(head[0], Skipped))
        return head, rollout

    def look_ahead(self, lines: Iterator[Line | Skipped]) -> list[Line | Skipped]:
        """Read until it is clear whose file it is and whether its prompts are marked."""
        head: list[Line | Skipped] = []
        if self.named and self.marks.is_settled:
            return head
        for line in lines:
            head.append(line)
            for entry in files.entries(line):
                self.marks.learn(entry)
                self.named = self.named or entry.kind == "session_meta"
            self.named = self.named or len(head) == files.HEAD
            if self.named and self.marks.is_settled:
                break
            if len(head) == LOOKAHEAD:
                self.marks.used = False
                break
        return head

    def enter(self, path: str, opening: list[Entry], *, torn: bool = False) -> Generator[Event, None, Rollout]:
        """Go to the thread that a file belongs to, and return it.

        Args:
            opening: what the file begins with.
            torn: its first line, which names it, cannot be read.
        """
        meta = next((entry.payload for entry in opening if entry.kind == "session_meta"), {})
        session_id = fields.text(meta, "id")
        if session_id is None or torn:
            # With a torn first line the next session_meta may be that of a copied history.
            session_id = files.thread(path)
        own = meta if fields.text(meta, "id") in (None, session_id) else {}
        if self.rollout and self.rollout.session_id == session_id:
            self.rollout.next_file()
            return self.rollout
        start = start_of(own, session_id, preference=0 if self.archived else 1)
        self.rollout = Rollout(start, self.marks)
        yield start
        if self.archived:
            yield Info(archived=True)
        return self.rollout

    def leave(self, rollout: Rollout) -> Iterator[Event]:
        """Yield how the thread stands after what has been read."""
        following, self.following = self.following, []
        yield from rollout.end(*following[:1])
        if not rollout.timed:
            try:
                yield Info(last_activity_at=os.stat(self.source.path).st_mtime)
            except OSError as error:
                raise jsonl.unreadable(self.source.path, error) from error
