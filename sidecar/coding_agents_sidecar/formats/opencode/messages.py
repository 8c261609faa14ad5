"""A message's record and those of its parts -> events.

    {id, role: user, time: {created}, model: {providerID, modelID}}
    {id, role: assistant, parentID, providerID, modelID, path: {cwd}, time: {created, completed}, cost, tokens, finish,
     error: {name, data: {message}}}

Nobody typed a prompt whose text is all ``synthetic`` or ``ignored``, or that only asks for a compaction. A command that a
person ran in a shell is stored as such a prompt and an answer that is nothing but tools and used no tokens. Before 1.0
all steps of an answer are one message.
"""

import re
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from typing import Any

from ...model import Abandoned, Ended, Ending, Event, Info, Message, Role, Seen, Tokens, Unknown, Usage
from .. import blocks, fields
from . import parts as of
from . import tokens

REVERTED = "reverted"
"""Label of the branch that a revert cut off."""

ROLES = ("user", "assistant", "shell")
QUOTED = re.compile(r'\s*"((?:[^"\\]|\\.)+)"\s*', re.DOTALL)
COUNTS = (("input",), ("output",), ("reasoning",), ("cache", "read"), ("cache", "write"))

Turn = Generator[Event, None, Ending | None]
"""Events, and how the conversation stands after them; ``None`` where that has not changed."""


@dataclass(slots=True)
class Record:
    """A message as a store has it.

    Args:
        parts: the records of its parts, in order.
        raw: the native record, or records.
    """

    info: dict[str, Any]
    parts: list[Any]
    raw: Any


@dataclass(slots=True)
class Conversation:
    """The messages of one session, one after the other.

    Args:
        directory: the session's, where it is recorded.
        titled: the session has a title.
        revert: its ``revert`` record: ``messageID``, and ``partID`` where only the end of that message was taken back.
        ending: how the conversation stands, without what was taken back.
        chosen: provider and model named last.
        injected: ids of the prompts that nobody typed.
    """

    directory: str | None
    titled: bool
    meaning: tokens.Counting
    revert: dict[str, Any]
    branch: int | str = 0
    ending: Ending | None = None
    chosen: tuple[str | None, str | None] = (None, None)
    injected: set[str] = field(default_factory=set)

    def message(self, record: Record) -> Iterator[Event]:
        """Yield what a message says; call it in the order of the conversation."""
        info = record.info
        parts = [part for part in record.parts if isinstance(part, dict)]
        yield from (Unknown() for part in parts if of.kind(part) not in of.KNOWN)
        if fields.text(info, "role") not in ROLES:
            yield Unknown()
        usage = tokens.used(info, parts, self.meaning)
        reverted = fields.text(self.revert, "messageID")
        if reverted is None or fields.text(info, "id") != reverted:
            yield from self.said(info, parts, usage, record.raw)
            return
        cut = 0
        if first := fields.text(self.revert, "partID"):
            cut = next((index for index, part in enumerate(parts) if fields.text(part, "id") == first), len(parts))
        if cut:
            yield from self.said(info, parts[:cut], usage, record.raw)
            # What is left of the response was not billed apart.
            info, usage = {**info, "cost": None}, None
        self.branch = REVERTED
        if parts[cut:] or not cut:
            yield from self.said(info, parts[cut:], usage, record.raw)

    def end(self) -> Iterator[Event]:
        """Yield what the messages say as a whole."""
        if self.branch == REVERTED:
            yield Abandoned(frozenset({REVERTED}))
        if self.ending:
            yield Ended(self.ending)

    def said(self, info: dict[str, Any], parts: list[Any], usage: Tokens | None, raw: Any) -> Iterator[Event]:
        """Yield what a message, or a piece of one, stands for."""
        turns = {"user": self.asked, "assistant": self.answered, "shell": self.ran}
        turn = turns.get(fields.text(info, "role") or "")
        if turn:
            ending = yield from turn(info, parts, usage, raw)
            if ending and self.branch == 0:
                self.ending = ending

    def asked(self, info: dict[str, Any], parts: list[Any], _: Tokens | None, raw: Any) -> Turn:
        """Yield a prompt, and apart from it what the runtime put beside it."""
        time, id = fields.seconds(info, "time", "created"), fields.text(info, "id")
        injected = [part for part in parts if of.is_injected(part)]
        compaction = [part for part in parts if of.kind(part) == "compaction"]
        yield from self.choose(fields.text(info, "model", "providerID"), fields.text(info, "model", "modelID"))
        if not any(map(of.is_typed, parts)) and (injected or compaction):
            if id:
                self.injected.add(id)
            yield Message("system", time, id, content=of.written(injected) or compaction, branch=self.branch, raw=raw)
            return "aborted" if compaction else None
        content = of.written([part for part in parts if of.is_typed(part)])
        yield from self.name(content)
        yield Message("user", time, id, content=content, branch=self.branch, raw=raw)
        if injected:
            yield Message("system", time, fields.text(injected[0], "id"), content=of.written(injected), branch=self.branch)
        return "aborted"

    def answered(self, info: dict[str, Any], parts: list[Any], usage: Tokens | None, raw: Any) -> Turn:
        """Yield a response, what it used, and the results of its tools."""
        created, completed = fields.seconds(info, "time", "created"), fields.seconds(info, "time", "completed")
        model, error = fields.text(info, "modelID"), fields.at(info, "error")
        tools = [part for part in parts if of.kind(part) == "tool"]
        if fields.text(info, "parentID") in self.injected and tools == parts != [] and not usage and not error:
            return (yield from self.ran(info, parts, usage, raw))
        cost = tokens.cost(info)
        key = self.key(info) if usage or cost else None
        role, content, thinking = self.content(parts, error, usage)
        calls = [of.call(part) for part in tools] or None
        if self.directory is None:
            yield Info(project_path=fields.text(info, "path", "cwd"))
        yield from self.choose(fields.text(info, "providerID"), model)
        yield Message(role, created, fields.text(info, "id"), key, content, calls, None, thinking, model, self.branch, raw)
        if key:
            yield Usage(usage or Tokens(), key, model, created, cost)
        for part in tools:
            if result := of.result(part):
                end = fields.seconds(part, "state", "time", "end") or completed or created
                yield Message("tool", end, fields.text(part, "id"), tool_result=result, branch=self.branch, raw=part)
        if completed is not None:
            yield Seen(completed)
        if error:
            return "aborted" if fields.text(error, "name") == "MessageAbortedError" else "error"
        return "completed" if completed is not None and of.is_over(info, parts) else "aborted"

    def content(self, parts: list[Any], error: Any, usage: Tokens | None) -> tuple[Role, str | list[Any], str | None]:
        """Return role, content and thinking of a response; one without content is the runtime's word, not the model's."""
        content, thinking = of.written(parts), of.thought(parts)
        if content or thinking or any(of.kind(part) == "tool" for part in parts):
            return "assistant", content, thinking
        if error:
            words = (fields.text(error, "name") or fields.text(error, "type"), fields.text(error, "data", "message"))
            return "system", ": ".join(filter(None, words)), None
        return "assistant" if usage else "system", "", None

    def ran(self, info: dict[str, Any], parts: list[Any], _: Tokens | None, raw: Any) -> Turn:
        """Yield a command that a person ran, and what it printed."""
        completed = fields.seconds(info, "time", "completed")
        lines = [fields.text(part, "state", *path) for part in parts for path in (("input", "command"), ("output",))]
        content = [blocks.text_part(line) for line in lines if line]
        time = fields.seconds(info, "time", "created")
        yield Message("system", time, fields.text(info, "id"), content=content, branch=self.branch, raw=raw)
        if completed is not None:
            yield Seen(completed)
        return None

    def choose(self, provider: str | None, model: str | None) -> Iterator[Event]:
        """Yield provider and model when they are not those named before."""
        if (provider or model) and (provider, model) != self.chosen:
            self.chosen = (provider, model)
            yield Info(model=model, meta={"provider": provider} if provider else None)

    def name(self, prompt: str | list[Any]) -> Iterator[Event]:
        """Yield a title for a session without one whose first prompt stands in the quotes that ``opencode run`` adds."""
        if self.titled or self.branch == REVERTED:
            return
        self.titled = True
        if isinstance(prompt, str) and (quoted := unquoted(prompt)):
            yield Info(title=" ".join(quoted.split())[:100])

    def key(self, info: dict[str, Any]) -> str:
        """Return what is the same in a fork's copy of a response, whose id is another one.

        A fork stays in its folder and keeps times to the millisecond, model and counts.
        """
        times = [fields.at(info, "time", name) for name in ("created", "completed")]
        counts = [fields.count(info, "tokens", *path) for path in COUNTS]
        return "|".join(map(str, (self.directory, *times, fields.text(info, "modelID"), *counts)))


def unquoted(words: str) -> str | None:
    """Return the words inside of double quotes around all of them; ``None`` when there are none."""
    found = QUOTED.fullmatch(words)
    return found[1].replace('\\"', '"') if found else None
