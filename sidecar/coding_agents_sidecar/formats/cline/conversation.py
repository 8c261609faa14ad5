"""Records with a role -> messages: the API's own history of a task, and the messages of a session since 4.0.

{role: user | assistant | tool, content: text or blocks, ts, id, …}

Before tools had calls of their own the model wrote them into its text, as elements with one element for each parameter.
They are found by the results in the next record.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ...model import Ended, Event, Message, Role, ToolCall, Unknown
from .. import fields
from ..blocks import Blocks, parts_of, plain
from .prompts import Spoken
from .shapes import blocks_of

PARAMETER = re.compile(r"<(\w+)>\n?(.*?)\n?</\1>", re.DOTALL)
PLACEHOLDER = "Failure: I did not provide a response."
"""What stands for a response without content."""

CLOSING = ("attempt_completion", "submit_and_exit")
"""Calls that hand over the result; nothing answers them."""


@dataclass(slots=True)
class Answer:
    """What is known of a response beside its record.

    Args:
        key: as in ``Message``.
    """

    time: float | None = None
    key: str | None = None
    model: str | None = None


class Conversation:
    """The records of one session, in order."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}
        self.upcoming: Spoken | None = None
        self.waiting: list[tuple[str, str]] = []
        self.made = 0

    def asked(self, record: Any, time: float | None) -> Iterator[Event]:
        """Yield results of tools, injected text and the prompt of a record."""
        spoken = self.upcoming or Spoken(fields.at(record, "content"), self.names)
        self.upcoming = None
        id = fields.text(record, "id")
        for result in spoken.results:
            name = result.call_id or id
            if result.call_id is None:
                result.call_id = next((call for call, name in self.waiting if name == result.name), None)
                self.waiting = [one for one in self.waiting if one[0] != result.call_id]
            yield Message("tool", time, name, tool_result=result.told(), raw=record)
        if spoken.injected:
            yield Message("system", time, id, content=plain(spoken.injected), raw=record)
        if spoken.typed:
            yield Message("user", time, id, content=plain(spoken.typed), raw=record)

    def answered(self, record: Any, following: Any, about: Answer) -> Iterator[Event]:
        """Yield a response.

        Args:
            following: the next record, ``None`` behind the last one.
        """
        content = blocks_of(fields.at(record, "content"))
        said = Blocks(content)
        thinking = fields.text(record, "reasoning_content") or said.thinking
        self.names.update({call.id: call.name for call in said.calls if call.id})
        self.upcoming = None
        if fields.text(following, "role") in ("user", "tool"):
            self.upcoming = Spoken(fields.at(following, "content"), self.names)
        written = self.take_calls(said.parts, self.upcoming) if self.upcoming else []
        calls = [*said.calls, *written]
        shown = plain(said.parts)
        empty = not (shown or calls or thinking or any(fields.text(block, "type") != "text" for block in content))
        role: Role = "system" if empty or shown == PLACEHOLDER else "assistant"
        yield Message(
            role, about.time, fields.text(record, "id"), about.key, shown, calls or None, None, thinking, about.model, raw=record
        )
        if any(call.name in CLOSING for call in calls) or (isinstance(shown, str) and f"<{CLOSING[0]}>" in shown):
            yield Ended("completed")

    def take_calls(self, parts: list[Any], upcoming: Spoken) -> list[ToolCall]:
        """Return the calls written in the text that the next record answers, and take them out of it."""
        found: list[ToolCall] = []
        self.waiting = []
        for result in upcoming.results:
            if result.call_id is None and result.name:
                call = self.take_call(parts, result.name)
                found += [call] if call else []
        return found

    def take_call(self, parts: list[Any], name: str) -> ToolCall | None:
        """Return the first call of a tool written in the text, and take it out."""
        element = re.compile(rf"<{name}>(.*?)(?:</{name}>|\Z)", re.DOTALL)
        for index, part in enumerate(parts):
            words = fields.text(part, "text") or ""
            if call := element.search(words):
                rest = (words[: call.start()] + words[call.end() :]).strip()
                parts[index : index + 1] = parts_of(rest)
                self.made += 1
                id = f"{name}-{self.made}"
                self.waiting.append((id, name))
                return ToolCall(id, name, {found[1]: found[2] for found in PARAMETER.finditer(call[1])})
        return None

    def summarized(self, record: Any, time: float | None) -> Iterator[Event]:
        """Yield a record that stands for earlier ones, or says that they were left out."""
        self.upcoming = None
        content = Blocks(blocks_of(fields.at(record, "content"))).parts
        yield Message("system", time, fields.text(record, "id"), content=plain(content), raw=record)

    def unknown(self) -> Iterator[Event]:
        """Pass over a record of another role."""
        self.upcoming = None
        yield Unknown()
