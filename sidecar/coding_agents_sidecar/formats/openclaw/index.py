"""``sessions.json``, what OpenClaw notes of the conversations of an agent: session key -> entry.

{sessionId, label, displayName, channel, chatType, spawnedBy, archivedAt, abortedLastRun, updatedAt, …}

It only adds to what the transcripts say: it may be cut, name sessions that are gone, and miss others. Its counters are
those of the last run, its ``sessionFile`` may be of another machine.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from ...errors import ParseError
from ...model import Ending
from .. import fields, jsonl, places

ENDINGS: dict[str, Ending] = {"done": "completed", "failed": "error", "timeout": "error", "killed": "aborted"}


@dataclass(frozen=True, slots=True)
class Noted:
    """What is noted of a session beside its transcript.

    Args:
        key: name of the conversation.
        parent: native id of the session that spawned it.
        ending: how it stands, where that is noted.
    """

    key: str | None = None
    title: str | None = None
    parent: str | None = None
    subagent: bool = False
    archived: bool = False
    ending: Ending | None = None
    channel: str | None = None
    chat_type: str | None = None

    def meta(self) -> dict[str, str]:
        """Return what is worth showing."""
        named = (("session_key", self.key), ("channel", self.channel), ("chat_type", self.chat_type))
        return {name: value for name, value in named if value}


NOTHING = Noted()


def read(path: str) -> Mapping[str, Noted]:
    """Return what an index says, by native session id; nothing when it is not there or damaged."""
    try:
        stamp = places.stamp(path, (path,))
        return _read(path, stamp.value) if stamp else {}
    except (OSError, ParseError):
        return {}


@lru_cache(maxsize=8)
def _read(path: str, stamp: str) -> Mapping[str, Noted]:
    """Read an index once for all sessions of its agent; it can be megabytes."""
    entries = fields.table(jsonl.document(path))
    current = {key: fields.text(entry, "sessionId") for key, entry in entries.items()}
    found: dict[str, Noted] = {}
    for key, entry in sorted(entries.items(), key=lambda item: fields.number(item[1], "updatedAt") or 0):
        if session_id := current[key]:
            spawner = fields.text(entry, "spawnedBy")
            found[session_id] = noted(key, entry, current.get(spawner) if spawner else None)
    return found


def noted(key: str, entry: Any, parent: str | None) -> Noted:
    """Return what the entry of a conversation says of its session.

    Args:
        parent: native id of the session behind ``spawnedBy``.
    """
    channel = fields.text(entry, "channel") or fields.text(entry, "lastChannel")
    return Noted(
        key=key,
        title=fields.text(entry, "label") or fields.text(entry, "displayName"),
        parent=parent,
        subagent=":subagent:" in key or fields.text(entry, "spawnedBy") is not None,
        archived=fields.number(entry, "archivedAt") is not None,
        ending="aborted" if fields.flag(entry, "abortedLastRun") else ENDINGS.get(fields.text(entry, "status") or ""),
        channel=channel,
        chat_type=fields.text(entry, "chatType"),
    )
