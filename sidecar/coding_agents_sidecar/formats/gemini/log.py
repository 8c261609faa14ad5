"""The session that a Gemini CLI file comes to: its records are a log, and are applied strictly in order.

{sessionId, projectHash, startTime, …}    facts, merged field by field; may hold messages
{id, type, …}                             a message; the same id again replaces it in its place
{$set: {…}}                               facts; with ``messages`` they replace the whole list
{$rewindTo: id}                           that message and all behind it are taken out; all messages when it is not there

A document of the older form is a record of facts with all messages in it.
"""

import hashlib
from typing import Any

from ...model import Stale
from .. import fields
from .messages import Record, kind_of, used_of

FACTS = ("sessionId", "projectHash", "startTime", "lastUpdated", "kind", "summary", "directories", "cwd")
KNOWN = {*FACTS, "messages", "memoryScratchpad"}
"""What a record of facts may hold."""

Name = str | int
"""A message's id, or a number for a message without one."""


class Log:
    """A log while its records are applied.

    Args:
        state: as ``state`` returned it for the log when it was shorter; ``None`` when it is read from its start.

    Attributes:
        messages: the conversation as it stands.
        left: messages that were taken out of it, as they were last.
        used: what each message that ever stood in it says it used: the largest value of every count.
        unknown: how many records say nothing of all this.
    """

    def __init__(self, state: dict[str, Any] | None = None) -> None:
        self.resumed = state is not None
        state = state or {}
        self.facts: dict[str, Any] = dict(state.get("facts", {}))
        self.known: set[str] = set(state.get("known", ()))
        self.messages: dict[Name, Record] = {}
        self.left: dict[Name, Record] = {}
        self.used: dict[Name, dict[str, int]] = {}
        self.unnamed = 0
        self.unknown = 0

    def state(self) -> dict[str, Any]:
        """Return what reading the longer log needs: the facts, and which messages may not be touched any more."""
        touched = {digest(name) for name in self.used if isinstance(name, str)}
        return {"facts": dict(self.facts), "known": sorted(self.known | touched)}

    def apply(self, record: Record) -> None:
        """Apply the next record.

        Raises:
            Stale: it changes what a resumed reading has passed.
        """
        target = fields.at(record, "$rewindTo")
        if isinstance(target, str):
            self.rewind(target)
        elif "$set" in record:
            self.learn(fields.table(record, "$set"))
        elif fields.text(record, "id") or kind_of(record):
            self.put(record)
        elif record.keys() & KNOWN:
            self.learn(record)
        else:
            self.unknown += 1

    def learn(self, changes: Record) -> None:
        """Take facts, and the list of messages where there is one."""
        self.facts.update({name: changes[name] for name in FACTS if name in changes})
        listed = fields.at(changes, "messages")
        if isinstance(listed, list):
            self.passed()
            before, self.messages = self.messages, {}
            for record in listed:
                if isinstance(record, dict):
                    self.put(record)
            self.left.update((name, record) for name, record in before.items() if name not in self.messages)

    def put(self, record: Record) -> None:
        """Append a message, or replace the one with its id."""
        id = fields.text(record, "id")
        if id is None:
            self.unnamed += 1
        elif self.known and digest(id) in self.known:
            raise Stale
        name: Name = self.unnamed if id is None else id
        self.left.pop(name, None)
        self.messages[name] = record
        used = self.used.setdefault(name, {})
        for part, count in used_of(record).items():
            used[part] = max(used.get(part, 0), count)

    def rewind(self, target: str) -> None:
        """Take out a message and all behind it."""
        self.passed()
        names = list(self.messages)
        for name in names[names.index(target) if target in self.messages else 0 :]:
            self.left[name] = self.messages.pop(name)

    def passed(self) -> None:
        """Give up where a resumed reading would need the messages before it."""
        if self.resumed:
            raise Stale


def digest(name: str) -> str:
    """Return a short form of an id. Two ids with the same one only cost a reading from the start."""
    return hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()
