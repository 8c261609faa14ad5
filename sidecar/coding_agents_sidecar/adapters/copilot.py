"""Copilot CLI: a log of events for each session.

    ~/.copilot/session-state/<session>/events.jsonl      and workspace.yaml, with its title
    ~/.copilot/session-state/<session>.jsonl             the same without a folder, late in 2025
    ~/.copilot/history-session-state/session_<session>_<time>.json      before, one document
    ~/.copilot/session-store.db                          made from the logs; tells what was used where a log does not
    ~/.config/github-copilot/sessions/<session>.json     a place that other programs document: messages with a role

A session is resumed into its own log. A fork begins with a copy of its origin's events, which keep their ids. The folder of
a session may hold other files of the same kind, which are no logs. What the files say stands in ``formats.copilot``.
"""

import os
import re
from collections.abc import Iterator
from dataclasses import replace
from fnmatch import fnmatchcase
from itertools import islice
from typing import Any

from ..adapter import Adapter, Root, Source
from ..errors import ParseError
from ..formats import fields, jsonl, places, text
from ..formats.copilot import document, lines, store, workspace
from ..formats.copilot.log import Log
from ..model import Checkpoint, Event, Info, Skipped, Stale, Start

LOGS, HISTORY, DOCUMENTED = "session-state", "history-session-state", "sessions"
EVENTS = "events.jsonl"
HISTORICAL = re.compile(r"(?:session_)?(?P<id>.+?)(?:_\d+)?\.json")
FOLDER, FLAT, PAST, ELSEWHERE = 3, 2, 1, 0
"""Preferences for one session in several places."""

NAMED, SUMMARIZED = 3, 2
"""Ranks of the titles in ``workspace.yaml``, above those in a log."""
TOLD = ("name", "summary", "cwd", "branch", "repository", "client_name")
"""What of ``workspace.yaml`` is told."""
HEAD_LINES = 20
"""So many lines are looked at for the one that names the session."""


class Copilot(Adapter):
    """Sessions of the command line and of what embeds it."""

    name = "copilot"
    title = "GitHub Copilot CLI"
    aliases = ("copilot-cli",)
    evidence = "files written by Copilot CLI 1.0.102; github/copilot-sdk at cc0438d; reports on older versions"
    # The default is read even where a variable names another folder: older sessions stay behind.
    stores = (
        *(
            Root(f"~/.copilot/{folder}", env=variable, below=folder)
            for folder in (LOGS, HISTORY)
            for variable in ("COPILOT_HOME", "")
        ),
        *(Root(f"${variable}/.copilot/{LOGS}") for variable in ("XDG_CONFIG_HOME", "XDG_STATE_HOME")),
        Root(f"$XDG_CONFIG_HOME/github-copilot/{DOCUMENTED}"),
    )
    never_open = ("config.json", "settings*.json", "mcp-*.json", "permissions-config.json", "apps.json", "hosts.json", ".env*")

    def discover(self, root: Root) -> Iterator[Source | places.Unlisted]:
        wanted = is_log if os.path.basename(root.path) == LOGS else self.is_document
        for found in places.walk(root.path, wanted, depth=1 if wanted is is_log else 0):
            if isinstance(found, places.Unlisted):
                yield found
            else:
                yield Source(found, root.path, files_of(root.path, found), root.origin)

    def is_document(self, path: str) -> bool:
        """Return whether a file in a folder of documents may be one, by its name."""
        return path.endswith(".json") and not any(fnmatchcase(path, pattern) for pattern in self.never_open)

    def events(self, source: Source, session_id: str | None = None, resume: Checkpoint | None = None) -> Iterator[Event]:
        if source.path.endswith(".json"):
            yield from documented(source)
            return
        wanted = True
        for event in Reader(source, resume).events():
            if isinstance(event, Start):
                wanted = session_id in (None, event.session_id)
            if wanted:
                yield event


def is_log(path: str) -> bool:
    """Return whether a path below a folder of logs is one."""
    folder, name = os.path.split(path)
    return name == EVENTS if folder else name.endswith(".jsonl")


def files_of(root: str, path: str) -> tuple[str, ...]:
    """Return every file whose change is a change of a source."""
    if path.endswith(".json"):
        return (path,)
    folder = os.path.dirname(path)
    beside = (os.path.join(folder, workspace.NAME),) if folder != root else ()
    return (path, *beside, *store.files(root, path))


def documented(source: Source) -> Iterator[Event]:
    """Yield what a document says.

    Raises:
        ParseError: it holds none: it is damaged, or just being written.
    """
    whole = jsonl.document(source.path)
    if not isinstance(whole, dict | list):
        raise ParseError(f"{text.path(source.path)} holds no whole session")
    name = os.path.basename(source.path)
    if os.path.basename(source.root) == HISTORY:
        found = HISTORICAL.fullmatch(name)
        yield Start(fields.text(whole, "sessionId") or (found["id"] if found else name), preference=PAST)
    else:
        yield Start(name.removesuffix(".json"), preference=ELSEWHERE)
    yield from document.Document(whole).events()


class Reader:
    """A log while it is read.

    Args:
        resume: where to go on; ``None`` begins at the file's start.

    Attributes:
        lasting: what has been said stays true when the log grows.
        located: the log itself tells its project from the first.
    """

    def __init__(self, source: Source, resume: Checkpoint | None) -> None:
        self.source = source
        self.resumed = resume is not None
        self.offset = resume.offset if resume else 0
        state = resume.state if resume else {}
        folder, name = os.path.split(source.path)
        in_folder = folder != source.root
        noted = workspace.read(folder) if in_folder else {}
        self.about = {name: value for name, value in noted.items() if name in TOLD}
        if resume and state.get("about") != self.about:
            raise Stale
        self.lasting = self.located = self.resumed
        self.session_id: str = state.get("id") or self.own_id(
            os.path.basename(folder) if in_folder else name.removesuffix(".jsonl")
        )
        start = Start(self.session_id, preference=FOLDER if in_folder else FLAT, modified=modified(source.path))
        self.log = Log(start, state.get("log"))

    def own_id(self, name: str) -> str:
        """Return the id that the log gives itself, else the one it is named by."""
        for number, line in enumerate(islice(lines.records(self.source.path), HEAD_LINES), 1):
            self.lasting = number == HEAD_LINES
            if isinstance(line, jsonl.Line) and fields.text(line.record, "type") == "session.start":
                self.located = fields.text(line.record, "data", "context", "cwd") is not None
                if id := fields.text(line.record, "data", "sessionId"):
                    self.lasting = True
                    return id
        return name

    def events(self) -> Iterator[Event]:
        """Yield what the log says from the offset on."""
        yield from self.log.enter(self.log.main)
        if not self.resumed:
            yield from self.facts()
        for event in jsonl.follow(self.lines(), self.offset, self.log.take, self.settle, self.state):
            if isinstance(event, Skipped):
                # Nothing tells whose event it was: it counts for the session whose log it is.
                yield from self.log.enter(self.log.main)
            yield event

    def lines(self) -> Iterator[jsonl.Line | Skipped]:
        """Yield the lines from the offset on. A last one without an end is like any other, but must be read again."""
        for line in lines.records(self.source.path, self.offset):
            if isinstance(line, jsonl.Line) and not line.whole:
                self.lasting = False
                line = replace(line, whole=True)
            yield line

    def settle(self) -> Iterator[Event]:
        """Yield what only the end tells. Usage that the database tells, or that waits for its response, must be read again."""
        stored = [] if self.log.accounts.told else store.calls_of(self.source.root, self.session_id)
        self.lasting = self.lasting and not stored and not self.log.waits
        yield from self.log.end(stored)

    def state(self) -> dict[str, Any] | None:
        """Return what reading the grown log from here on needs; ``None`` when it must be read from its start."""
        return {"id": self.session_id, "about": self.about, "log": self.log.state()} if self.lasting else None

    def facts(self) -> Iterator[Event]:
        """Yield what stands beside the log. On the project, the log's own first word comes before."""
        about = self.about
        if not self.located:
            self.log.locate(about.get("cwd"))
        meta = {"git_branch": about.get("branch"), "repository": about.get("repository"), "client": about.get("client_name")}
        title = about.get("name") or about.get("summary")
        yield Info(
            title=" ".join(map(str.strip, title.split("\n"))) if title else None,
            title_rank=NAMED if "name" in about else SUMMARIZED,
            meta={name: value for name, value in meta.items() if value},
        )


def modified(path: str) -> float | None:
    """Return when a log was last written. What lies beside it does not count."""
    try:
        return os.stat(path).st_mtime
    except OSError:
        return None
