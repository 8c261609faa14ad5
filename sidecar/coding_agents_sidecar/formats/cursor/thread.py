"""A conversation as the agent itself keeps it, a tree of blobs below one root; in ``store.db``, and in the editor's database.

The root is a message of Protocol Buffers:

    1   the ids of the messages in order, 32 bytes each; a blob is a message as JSON, or one whose field 4 is
    4   calls of tools that nothing has answered
    9   URIs of the workspace
    14  a turn: 1 how long it took, 2 when it was, both in milliseconds

What cannot be reached from the root has left the conversation. The tokens in field 5 are those of the context, not used ones.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from ...model import Event, Skipped
from .. import jsonl
from . import moments, replies, wire

MESSAGE, PENDING, WORKSPACE, TURN = 1, 4, 9, 14
TURN_TIME = 2
WRAPPED = 4
"""The field of a wrapped message that holds its JSON."""

Blobs = Callable[[str], bytes | None]
"""Returns a blob by its id in hexadecimal digits."""


@dataclass(slots=True)
class Thread:
    """What a root says.

    Args:
        messages: ids, or messages themselves.
        pending: a tool is being waited for.
        last: time of the newest turn.
    """

    messages: list[bytes] = field(default_factory=list)
    workspaces: list[str] = field(default_factory=list)
    pending: bool = False
    last: float | None = None

    @classmethod
    def of(cls, root: bytes) -> "Thread":
        """Return what a root blob says."""
        self = cls()
        for number, value in wire.fields_of(root):
            if not isinstance(value, bytes):
                continue
            if number == MESSAGE:
                self.messages.append(value)
            elif number == PENDING:
                self.pending = True
            elif number == WORKSPACE:
                self.workspaces.append(value.decode("utf-8", "replace"))
            elif number == TURN:
                times = (moments.seconds(part) for name, part in wire.fields_of(value) if name == TURN_TIME)
                self.last = max((time for time in (self.last, *times) if time is not None), default=None)
        return self

    def events(self, blobs: Blobs) -> Iterator[Event]:
        """Yield the messages in order, and what cannot be read."""
        for one in self.messages:
            id = None if one.startswith(b"{") else one.hex()
            data = one if id is None else blobs(id)
            record = None if data is None else record_of(data)
            if record is None:
                yield Skipped("a message that is not there" if data is None else "a message that is no JSON object")
            else:
                yield from replies.messages_of(record, id)


def record_of(data: bytes) -> dict[str, object] | None:
    """Return the message in a blob, ``None`` when there is none."""
    inside = (value for number, value in wire.fields_of(data) if number == WRAPPED and isinstance(value, bytes))
    for candidate in (data, *inside):
        record = jsonl.load(candidate) if candidate.lstrip().startswith(b"{") else None
        if isinstance(record, dict):
            return record
    return None
