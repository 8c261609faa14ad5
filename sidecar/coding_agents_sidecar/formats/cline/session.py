"""Sessions since Cline 4.0, in one store for all of its programs.

<sessions>/<id>/<id>.json                      the manifest {session_id, started_at, status, model, workspace_root, metadata}
<sessions>/<id>/<id>.messages.json             {updated_at, messages: [{id, role, content, ts, modelInfo, metrics}]}
<sessions>/<id>/<agent>.messages.json          a sub-agent's, which has no manifest
<sessions>/<id>/<agent>__<6 characters>.messages.json      a team member's, for one task
<sessions>/<id>/<id>.compaction.json           what the model still sees; the messages stay whole

The paths in a manifest may be those of another machine: what lies beside it counts. A fork copies the messages with their
ids and times. A resumed task of the classic form keeps its id, its records have neither, and the last of them carries the
sums of the task.
"""

import os
import re
from collections.abc import Iterator
from typing import Any

from ...adapter import Root, Source
from ...model import Ended, Ending, Event, Info, Kind, Skipped, Start, Tokens, Usage
from .. import fields, places, rewrites
from . import arrays, rows
from .conversation import Answer, Conversation
from .prompts import unwrapped
from .requests import cost_of
from .task import COPIED

MESSAGES = ".messages.json"
TEAM_TASK = re.compile(r".+__[\w-]{6}")
SUMMARIES = ("compaction", "compaction_summary")

STATUSES: dict[str, Ending] = {
    "completed": "completed",
    "failed": "error",
    "cancelled": "aborted",
    "running": "aborted",
    "pending": "aborted",
}
"""What the manifest says of a session nobody writes to any more; an idle one stands as its messages tell."""


def sources(root: Root) -> Iterator[Source | places.Unlisted]:
    """Yield the sessions and sub-agents below the folder of all sessions."""
    for found in places.walk(root.path, is_messages, depth=1):
        if isinstance(found, places.Unlisted):
            yield found
        else:
            yield Source(found, root.path, (found, manifest_of(found)), root.origin)


def is_messages(path: str) -> bool:
    """Return whether a file below the folder of all sessions holds messages, by its path."""
    folder, name = os.path.split(path)
    return bool(folder) and name.endswith(MESSAGES) and not name.startswith(".")


def manifest_of(path: str) -> str:
    """Return where the manifest lies that belongs to a file of messages."""
    folder = os.path.dirname(path)
    return os.path.join(folder, f"{os.path.basename(folder)}.json")


class Session:
    """A file of messages while it is read."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.stem = os.path.basename(source.path).removesuffix(MESSAGES)
        folder = os.path.basename(os.path.dirname(source.path))
        manifest, file = arrays.document(manifest_of(source.path)), arrays.read(source.path)
        if manifest is None:
            rewrites.settle(manifest_of(source.path))
        if file is None or file.damaged:
            rewrites.settle(source.path)
        self.lost_manifest = manifest is None
        self.manifest = manifest or {}
        self.file = file or arrays.Rows()
        self.root_id = fields.text(self.manifest, "session_id") or folder
        self.main = self.stem == folder

    def events(self) -> Iterator[Event]:
        """Yield what the file says."""
        kind: Kind = "session" if self.main else "subagent"
        yield Start(self.id(), kind, self.parent(), preference=COPIED, modified=None if self.main else self.written())
        if self.lost_manifest and self.main:
            yield Skipped("a manifest that is no JSON object")
        if self.file.damaged:
            yield Skipped("what stands behind the last whole record")
            yield Skipped("the end of the session", tail=True)
        yield self.facts()
        yield from self.conversation()
        ending = STATUSES.get(fields.text(self.manifest, "status") or "") if self.main else None
        if ending:
            yield Ended(ending)

    def id(self) -> str:
        """Return the id of the session."""
        if self.main:
            return self.root_id
        own = fields.text(self.file.head, "sessionId") or ""
        if own.startswith(f"{self.root_id}__"):
            return own
        return f"{self.root_id}__teamtask__{self.stem}" if TEAM_TASK.fullmatch(self.stem) else f"{self.root_id}__{self.stem}"

    def parent(self) -> str | None:
        """Return the id of the session it was forked from, or that started it."""
        if self.main:
            return fields.text(self.manifest, "metadata", "fork", "forkedFromSessionId")
        return fields.text(self.file.head, "origin", "parentThreadId") or self.root_id

    def written(self) -> float | None:
        """Return when the file was written; the manifest of its session is another one's."""
        try:
            return os.stat(self.source.path).st_mtime
        except OSError:
            return None

    def facts(self) -> Info:
        """Return what is known beside the messages. A sub-agent has the project of its session, and no more."""
        manifest, metadata = self.manifest, fields.table(self.manifest, "metadata")
        project = fields.text(manifest, "workspace_root") or fields.text(manifest, "cwd")
        if not self.main:
            return Info(project_path=project, meta={"agent": self.stem})
        prompt = fields.text(manifest, "prompt")
        typed = unwrapped(prompt)[0] if prompt else []
        version = fields.text(metadata, "sessionHistoryOrigin", "version") or fields.text(self.file.head, "origin", "version")
        meta = {"provider": fields.text(manifest, "provider"), "source": fields.text(manifest, "source"), "version": version}
        return Info(
            project_path=project,
            title=fields.text(metadata, "title") or rows.title(typed[0] if typed else prompt),
            model=fields.text(manifest, "model"),
            started_at=fields.seconds(manifest, "started_at") or rows.born(self.root_id.partition("_")[0]),
            last_activity_at=fields.seconds(manifest, "ended_at") or fields.seconds(self.file.head, "updated_at"),
            meta={name: value for name, value in meta.items() if value} or None,
        )

    def conversation(self) -> Iterator[Event]:
        """Yield messages and usage."""
        talk = Conversation()
        records = self.file.items
        for index, record in enumerate(records):
            time = fields.seconds(record, "ts")
            match fields.text(record, "role"):
                case "user" | "assistant" if fields.text(record, "metadata", "kind") in SUMMARIES:
                    yield from talk.summarized(record, time)
                    yield from self.used(record, None)
                case "user":
                    yield from talk.asked(record, time)
                case "assistant":
                    following = records[index + 1] if index + 1 < len(records) else None
                    key = key_of(record)
                    yield from talk.answered(record, following, Answer(time, key, fields.text(record, "modelInfo", "id")))
                    yield from self.used(record, key)
                case "error":
                    yield from talk.summarized(record, time)
                    yield Ended("error")
                case _:
                    yield from talk.unknown()

    def used(self, record: Any, key: str | None) -> Iterator[Event]:
        """Yield what a response used."""
        tokens, cost = tokens_of(fields.at(record, "metrics")), cost_of(fields.at(record, "metrics"))
        if tokens or cost:
            model, time = fields.text(record, "modelInfo", "id"), fields.seconds(record, "ts")
            yield Usage(tokens or Tokens(), key, model, time, cost)


def tokens_of(metrics: Any) -> Tokens | None:
    """Return the tokens of a response, whose input holds the cached ones; ``None`` when all are 0 or absent."""
    names = ("inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens")
    found = [fields.count(metrics, name) for name in names]
    if not any(found):
        return None
    tokens = Tokens(*found)
    if tokens.input is not None:
        tokens.input = max(0, tokens.input - (tokens.cache_read or 0) - (tokens.cache_write or 0))
    return tokens


def key_of(record: Any) -> str | None:
    """Return what is the same in a fork's copy of a response, and in nothing else: ids alone are too short for that."""
    id, time = fields.text(record, "id"), fields.at(record, "ts")
    if id is None:
        return None
    counts = [fields.count(record, "metrics", name) for name in ("inputTokens", "outputTokens")]
    return "|".join(map(str, (id, time, fields.text(record, "modelInfo", "id"), *counts)))
