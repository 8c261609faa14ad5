"""The items of a session -> events.

{message: {role, content, toolCalls, toolCallId, usage}, contextItems, toolCallStates, reasoning, promptLogs}

role user         a prompt; contextItems are what was given along with it
role assistant    an answer; reasoning {text, startAt, endAt, active} belongs to it, toolCallStates {toolCallId, status, output}
                  tell what came of its calls, in newer versions followed by messages of role tool that repeat it
role thinking     belongs to the answer that follows
promptLogs        repeat the whole prompt of each request; completionOptions.model is an id, modelTitle a name a person gave

No message has a time.
"""

from collections.abc import Iterator
from typing import Any

from ...model import Ended, Ending, Event, Message, Role, Seen, Skipped, Tokens, ToolResult, Unknown, Usage
from .. import fields
from ..blocks import plain
from . import shapes

WAITING = ("generating", "generated", "calling", "canceled")
"""States of a tool call that ends a session before its time."""

OVER = ("done", "errored")
FAILED = "errored"


class History:
    """The items of one session, one after the other.

    Args:
        counts: messages tell what was used, the session as a whole does not.
    """

    def __init__(self, items: list[Any], *, counts: bool) -> None:
        self.items = items
        self.counts = counts
        self.states = {shapes.id_of(state): state for item in items for state in shapes.states_of(item)}
        self.answered = {fields.text(item, "message", "toolCallId") for item in items if role_of(item) == "tool"}
        self.logs = [log for item in items for log in fields.rows(item, "promptLogs")]
        self.has_ids = any(map(id_in, self.logs))
        self.thoughts: list[str] = []

    def model(self) -> str | None:
        """Return the last model: its id, or the name it goes by where no id is told at all."""
        return next(filter(None, map(id_in if self.has_ids else name_in, reversed(self.logs))), None)

    def provider(self) -> str | None:
        """Return the last provider."""
        return next(filter(None, (fields.text(log, "modelProvider") for log in reversed(self.logs))), None)

    def times(self) -> list[float]:
        """Return when models began and ended to think."""
        found = (fields.seconds(item, "reasoning", name) for item in self.items for name in ("startAt", "endAt"))
        return [time for time in found if time is not None]

    def is_approximate(self) -> bool:
        """Return whether a count of a message is in doubt."""
        return self.counts and any(shapes.tokens_of(fields.at(item, "message", "usage"))[1] for item in self.items)

    def events(self) -> Iterator[Event]:
        """Yield what the items say, and how the session stands after them."""
        for time in self.times():
            yield Seen(time)
        for item in self.items:
            if fields.table(item, "message"):
                yield from self.item(item)
            else:
                yield Skipped("an item without a message")
        yield from self.only_thought()
        if ending := self.ending():
            yield Ended(ending)

    def item(self, item: Any) -> Iterator[Event]:
        """Yield what one item says."""
        role, content = role_of(item), fields.at(item, "message", "content")
        if role == "thinking":
            self.thoughts.append(shapes.words_of(content))
            return
        if role == "assistant":
            yield from self.answer(item)
            return
        yield from self.only_thought()
        parts = shapes.parts_of(content)
        match role:
            case "user":
                yield Message("user", content=plain([*parts, *shapes.attachments_of(item)]), raw=item)
            case "tool":
                id = fields.text(item, "message", "toolCallId")
                failed = fields.text(self.states.get(id), "status") == FAILED
                yield Message("tool", tool_result=ToolResult(id, plain(parts), failed), raw=item)
            case _:
                if role != "system":
                    yield Unknown()
                yield Message("system", content=plain(parts), raw=item)

    def answer(self, item: Any) -> Iterator[Event]:
        """Yield an answer, what it used, and what came of its tool calls where no message tells."""
        content, calls = plain(shapes.parts_of(fields.at(item, "message", "content"))), shapes.calls_of(item)
        thinking = self.thinking(fields.text(item, "reasoning", "text"))
        role: Role = "assistant" if content or calls or thinking else "system"
        logs = reversed(fields.rows(item, "promptLogs"))
        model = next(filter(None, map(id_in if self.has_ids else name_in, logs)), None)
        yield Message(role, content=content, tool_calls=calls or None, thinking=thinking, model=model, raw=item)
        if self.counts and (tokens := self.tokens(item)):
            yield Usage(tokens, model=model, aside=role == "system")
        for state in shapes.states_of(item):
            output = fields.at(state, "output")
            if not isinstance(output, list) or shapes.id_of(state) in self.answered:
                continue
            status = fields.text(state, "status")
            if output or status in OVER:
                shown = plain([part for one in output for part in shapes.parts_of(fields.at(one, "content"))])
                yield Message("tool", tool_result=ToolResult(shapes.id_of(state), shown, status == FAILED))

    def tokens(self, item: Any) -> Tokens | None:
        """Return what an answer used."""
        return shapes.tokens_of(fields.at(item, "message", "usage"))[0]

    def thinking(self, own: str | None = None) -> str | None:
        """Return the thinking up to an answer, with the answer's own."""
        thoughts = [*self.thoughts, *([own] if own and own not in self.thoughts else [])]
        self.thoughts = []
        return "\n\n".join(filter(None, thoughts)) or None

    def only_thought(self) -> Iterator[Event]:
        """Yield thinking that no answer followed."""
        if thinking := self.thinking():
            yield Message("system", thinking=thinking)

    def ending(self) -> Ending | None:
        """Return how the session stands: as its last item does."""
        spoken = [item for item in self.items if role_of(item) in ("user", "assistant", "thinking", "tool")]
        if not spoken:
            return None
        last = spoken[-1]
        calls, states = shapes.calls_of(last), shapes.states_of(last)
        known = {shapes.id_of(state) for state in states} | self.answered
        if (
            role_of(last) != "assistant"
            or any(fields.text(state, "status") in WAITING for state in states)
            or any(call.id not in known for call in calls)
            or fields.flag(last, "reasoning", "active")
            or not (calls or shapes.parts_of(fields.at(last, "message", "content")))
        ):
            return "aborted"
        return "completed"


def role_of(item: Any) -> str | None:
    """Return the role of an item's message."""
    return fields.text(item, "message", "role")


def id_in(log: Any) -> str | None:
    """Return the id of the model in the log of a request."""
    return fields.text(log, "completionOptions", "model")


def name_in(log: Any) -> str | None:
    """Return the name of the model in the log of a request."""
    return fields.text(log, "modelTitle")
