"""A message of Goose -> events.

    {id, role, created, content: [block, …], metadata: {userVisible, agentVisible}}

The results of tools come back in messages of role ``user``. What its user cannot see the runtime put in: a compaction hides
the newest prompt, or leaves it, and writes it once more behind its summary. No message says which model answered.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ...model import Ended, Event, Message, Seen, Unknown
from .. import blocks, fields
from ..copied import Beginning
from .content import Content

FAILURE = "Ran into this error: "
"""Begins what stands in the place of an answer when the provider failed."""

AT_ONCE_SECONDS = 1
"""Times are whole seconds; what a compaction writes comes no later."""


@dataclass(slots=True)
class Said:
    """A message, taken apart.

    Args:
        key: of the response, where it is one.
        hidden: its user cannot see it.
        raw: the native record.
    """

    id: str | None
    time: float | None
    content: Content
    key: str
    hidden: bool
    raw: Any


class Conversation:
    """The messages of a session, one after the other."""

    def __init__(self) -> None:
        # A copy of a session keeps times and contents.
        self.beginning = Beginning()
        self.prompt = ""
        self.hidden_at: float | None = None

    def message(self, record: dict[str, Any], raw: Any) -> Iterator[Event]:
        """Yield what a message says.

        Args:
            raw: the native record.
        """
        role = fields.text(record, "role")
        said = Said(
            id=fields.text(record, "id"),
            time=fields.seconds(record, "created"),
            content=Content(fields.rows(record, "content")),
            key=self.beginning.add(role, fields.at(record, "created"), fields.at(record, "content")),
            hidden=fields.at(record, "metadata", "userVisible") is False,
            raw=raw,
        )
        match role:
            case "assistant":
                yield from answered(said)
            case "user":
                yield from self.asked(said)
            case _:
                yield Unknown()
                yield from seen(said)
        self.hidden_at = said.time if said.hidden else None

    def asked(self, said: Said) -> Iterator[Event]:
        """Yield the results of tools, then a prompt or what the runtime put in its place."""
        for result in said.content.results:
            yield Message("tool", said.time, said.id, tool_result=result, raw=said.raw)
        if said.content.shown:
            words = said.content.words()
            typed = said.content.is_typed() and not said.hidden and not self.is_written_again(words, said.time)
            shown = blocks.plain(said.content.shown)
            yield Message("user" if typed else "system", said.time, said.id, content=shown, raw=said.raw)
            self.prompt = words if typed else self.prompt
        elif not said.content.results:
            yield from seen(said)

    def is_written_again(self, words: str, time: float | None) -> bool:
        """Return whether a prompt is the one that stands before a compaction, which it has just written once more."""
        at_once = time is not None and self.hidden_at is not None and time - self.hidden_at <= AT_ONCE_SECONDS
        return at_once and words == self.prompt


def answered(said: Said) -> Iterator[Event]:
    """Yield an answer, or what the runtime put in its place."""
    content = said.content
    shown = blocks.plain(content.shown)
    failed = content.too_long or content.words().startswith(FAILURE)
    if failed or content.notice or (said.hidden and not content.calls):
        yield Message("system", said.time, said.id, content=shown, raw=said.raw)
    else:
        calls = content.calls or None
        yield Message("assistant", said.time, said.id, said.key, shown, calls, None, content.thinking, raw=said.raw)
    if failed:
        yield Ended("error")


def seen(said: Said) -> Iterator[Event]:
    """Yield when something was said that is no message."""
    if said.time is not None:
        yield Seen(said.time)
