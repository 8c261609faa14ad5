"""Session files of Gemini CLI: where they lie, and what one says. Its messages stand in ``messages``.

<root>/<folder>/chats/session-<minute>-<first 8 of the id>.json      one document, written anew each time
<root>/<folder>/chats/session-<minute>-<first 8 of the id>.jsonl     a log, see ``log``
<root>/<folder>/chats/<session id>/<sub-agent's session id>.jsonl
"""

import os
import re
from collections.abc import Iterator
from typing import Any

from ...adapter import Root, Source
from ...errors import ParseError
from ...fold import TITLE_LENGTH
from ...model import (
    Abandoned,
    Checkpoint,
    Ended,
    Event,
    Info,
    Kind,
    Message,
    Role,
    Skipped,
    Stale,
    Start,
    Unknown,
    Usage,
)
from .. import fields, genai, jsonl, places, text, times
from ..blocks import plain
from . import messages, project
from .log import Log, Name
from .messages import Record
from .prompts import Prompt, directories

ACKNOWLEDGED = re.compile(r"Got it\. Thanks for the (?:additional )?context!\s*")
CANCELED = ("Request cancelled.", "User cancelled the request.")
LAST_TOOL = "complete_task"
"""With it a sub-agent hands over its result; nothing follows."""
SUMMARY, PROMPT = 2, 1
KEPT, LEFT = 0, 1
"""Branches: the conversation, and what was taken out of it."""


def sources(root: Root) -> Iterator[Source | places.Unlisted]:
    """Yield the session files below a folder of projects."""
    for found in places.walk(root.path, is_chat, depth=3):
        if isinstance(found, places.Unlisted):
            yield found
        else:
            folder = os.path.relpath(found, root.path).split(os.sep)[0]
            yield Source(found, root.path, (found, *project.witnesses(root.path, folder)), root.origin)


def is_chat(path: str) -> bool:
    """Return whether a path below a folder of projects is a session's or a sub-agent's file."""
    place = path.split(os.sep)
    if len(place) < 3 or place[1] != "chats":
        return False
    return path.endswith(".jsonl") if len(place) == 4 else place[2].startswith("session-") and path.endswith((".json", ".jsonl"))


class Chat:
    """A session file while it is read.

    Args:
        resume: where to go on; ``None`` begins at the file's start.
    """

    def __init__(self, source: Source, resume: Checkpoint | None) -> None:
        self.source = source
        self.place = os.path.relpath(source.path, source.root).split(os.sep)
        self.stem = os.path.splitext(self.place[-1])[0]
        state = resume.state if resume else {}
        self.offset = resume.offset if resume else 0
        self.log = Log(state.get("log"))
        self.before: dict[str, Any] = state.get("told", {})
        self.titled: bool = state.get("titled", False)
        self.directories: list[str] = list(state.get("directories", ()))
        self.skipped: list[Skipped] = []
        self.held: list[Skipped] = []
        self.resumable = True
        self.called: set[str | None] = set()
        self.answered: set[str | None] = set()

    def events(self) -> Iterator[Event]:
        """Yield what the file says from the offset on."""
        if self.source.path.endswith(".json"):
            self.read_document()
        else:
            self.read_log()
        yield self.start()
        yield from self.skipped
        yield from [Unknown()] * self.log.unknown
        yield Abandoned(frozenset({LEFT}))
        for record in (*self.log.left.values(), *self.log.messages.values()):
            self.note_calls(record)
        for name, record in self.log.left.items():
            yield from self.message(name, record, LEFT)
        for name, record in self.log.messages.items():
            yield from self.message(name, record, KEPT)
        told = self.told()
        self.compare(told)
        yield Info(
            project_path=told["project"],
            title=told["title"],
            title_rank=SUMMARY,
            started_at=told["started"],
            last_activity_at=told["updated"],
            meta={"project_hash": told["hash"]} if told["hash"] else None,
        )
        if self.resumable:
            state = {"log": self.log.state(), "told": told, "titled": self.titled, "directories": self.directories}
            yield Checkpoint(self.offset, state)
        yield from self.held

    def read_document(self) -> None:
        """Take the whole file as one document.

        Raises:
            ParseError: it holds none: it is damaged, or just being written.
        """
        self.resumable = False
        document = jsonl.document(self.source.path)
        if not isinstance(document, dict):
            raise ParseError(f"{text.path(self.source.path)} holds no whole session")
        self.log.learn(document)

    def read_log(self) -> None:
        """Apply the file's lines, or take it as one document written over many lines."""
        for line in jsonl.records(self.source.path, self.offset):
            if isinstance(line, Skipped):
                self.held.append(line)
                continue
            self.skipped += self.held
            self.held.clear()
            self.log.apply(line.record)
            # A last line that is not written to its end may still become another one.
            self.resumable = line.whole
            self.offset = line.end
        if (self.skipped or self.held) and not self.log.facts and not self.log.messages:
            document = jsonl.document(self.source.path)
            if isinstance(document, dict):
                self.resumable = False
                self.skipped, self.held, self.log.unknown = [], [], 0
                self.log.learn(document)

    def start(self) -> Start:
        """Return the session of the file."""
        nested = len(self.place) == 4
        kind: Kind = "subagent" if nested or fields.text(self.log.facts, "kind") == "subagent" else "session"
        preference = 0
        if len(self.place) > 1:
            is_log, is_named = self.source.path.endswith(".jsonl"), project.HASH.fullmatch(self.place[0]) is None
            preference = 1 + 2 * is_log + is_named
        parent = self.place[2] if nested else None
        return Start(self.session_id(), kind, parent, preference=preference, modified=modified(self.source.path))

    def session_id(self) -> str:
        """Return the session's id. Only the documented place, and damage, leave it to the file's name."""
        return fields.text(self.log.facts, "sessionId") or self.stem

    def told(self) -> dict[str, Any]:
        """Return what the facts come to."""
        facts = self.log.facts
        start = self.start()
        digest = fields.text(facts, "projectHash")
        folder = self.place[0] if len(self.place) > 1 else None
        spoken = [path for path in fields.rows(facts, "directories") if isinstance(path, str) and path]
        return {
            "id": start.session_id,
            "kind": start.kind,
            "hash": digest,
            "project": fields.text(facts, "cwd")
            or project.path_of(self.source.root, folder, digest, [*spoken, *self.directories]),
            # A sub-agent's summary is the result it handed over.
            "title": fields.text(facts, "summary") if start.kind == "session" else None,
            "started": fields.seconds(facts, "startTime"),
            "updated": fields.seconds(facts, "lastUpdated"),
        }

    def compare(self, told: dict[str, Any]) -> None:
        """Give up a resumed reading where a fact is no longer what was said, or gone: the first reading cannot unsay it."""
        before = self.before
        if not before:
            return
        changed = any(before[name] != told[name] for name in ("id", "kind", "hash", "project"))
        gone = any(before[name] is not None and told[name] is None for name in ("title", "started", "updated"))
        if changed or gone or (before["updated"] or 0) > (told["updated"] or 0):
            raise Stale

    def note_calls(self, record: Record) -> None:
        """Know which tool calls there are, and which hold their result."""
        for call in fields.rows(record, "toolCalls"):
            self.called.add(fields.text(call, "id"))
            if messages.has_result(call):
                self.answered.add(fields.text(call, "id"))

    def message(self, name: Name, record: Record, branch: int) -> Iterator[Event]:
        """Yield what one message says."""
        match messages.kind_of(record):
            case "user":
                events = self.user(record, branch)
            case "answer":
                events = self.answer(name, record, branch)
            case "notice":
                events = self.notice(record, branch)
            case _:
                events = iter([Unknown()])
        yield from times.dated(events, messages.time_of(record))

    def user(self, record: Record, branch: int) -> Iterator[Event]:
        """Yield the function responses nothing else holds, injected text, and the prompt."""
        id, time = fields.text(record, "id"), messages.time_of(record)
        said = genai.Parts(messages.content_of(record))
        for result in said.results:
            if result.tool_call_id in self.answered:
                continue
            if self.log.resumed and result.tool_call_id not in self.called:
                raise Stale
            self.resumable = False
            yield Message("tool", time, result.tool_call_id or id, tool_result=result, branch=branch, raw=record)
        prompt = Prompt(said.shown, genai.Parts(fields.at(record, "displayContent")).shown)
        if prompt.injected:
            yield Message("system", time, id, content=plain(prompt.injected), branch=branch, raw=record)
        if prompt.typed:
            yield Message("user", time, id, content=plain(prompt.typed), branch=branch, raw=record)
        if branch == KEPT:
            self.directories += [path for path in directories(prompt.injected) if path not in self.directories]
            yield from self.title(prompt.typed)

    def title(self, typed: list[Any]) -> Iterator[Event]:
        """Yield the first prompt as title where a command before it would be taken for it."""
        words = " ".join(" ".join(filter(None, (fields.text(part, "text") for part in typed))).split())
        if words and not self.titled and not words.startswith(("/", "?")):
            self.titled = True
            yield Info(title=words[:TITLE_LENGTH], title_rank=PROMPT)

    def answer(self, name: Name, record: Record, branch: int) -> Iterator[Event]:
        """Yield an API response and the results of the tools it called."""
        id, time, model = fields.text(record, "id"), messages.time_of(record), messages.model_of(record)
        key = f"{self.session_id()}/{name}" if isinstance(name, str) else None
        said = genai.Parts(messages.content_of(record))
        used = messages.tokens_of(self.log.used[name])
        calls = messages.calls_of(record, said.calls)
        thinking = messages.thoughts_of(record) or said.thinking
        content = plain(said.shown)
        made_up = isinstance(content, str) and not model and not used and ACKNOWLEDGED.fullmatch(content)
        role: Role = "system" if made_up or not (content or calls or thinking) else "assistant"
        yield Message(role, time, id, key, content, calls or None, None, thinking, model, branch, record)
        if used:
            yield Usage(used, key, model, time)
        if role == "assistant" and not calls:
            # Whatever has been called before, the model does not wait for it.
            yield Ended("completed")
        for call in fields.rows(record, "toolCalls"):
            if messages.has_result(call):
                yield messages.result_of(call, time, branch)
                if fields.text(call, "name") == LAST_TOOL and fields.text(call, "status") == "success":
                    yield Ended("completed")

    def notice(self, record: Record, branch: int) -> Iterator[Event]:
        """Yield what the screen showed beside the conversation."""
        content = plain(genai.Parts(messages.content_of(record)).shown)
        if content:
            time, id = messages.time_of(record), fields.text(record, "id")
            yield Message("system", time, id, content=content, branch=branch, raw=record)
        if fields.text(record, "type") == "error":
            yield Ended("error")
        elif content in CANCELED:
            yield Ended("aborted")


def modified(path: str) -> float | None:
    """Return when a file was last written. The files beside it that tell its project do not count."""
    try:
        return float(os.stat(path).st_mtime_ns // 1_000_000_000)
    except OSError:
        return None
