"""A session as one JSON document, and as other programs document it.

{sessionId, startTime, selectedModel, chatMessages, timeline}      before logs
    chatMessages    as OpenAI's interface has them: {role, content, tool_calls, tool_call_id}, without times
    timeline        what the screen showed, with times: {type: user | copilot | tool_call_completed | …, text, timestamp}
[…], or {messages: […], …}                                         documented: messages {role, content}, or pairs of both

How the documented form names anything beside role and content is not known for certain, so that several names are tried.
It has no forks: nothing in it is a copy of something in another one.
"""

import re
from collections.abc import Iterator
from typing import Any

from ...model import Ended, Event, Info, Message, Role, Seen, Tokens, ToolResult, Usage
from .. import fields, openai
from ..blocks import plain, text_part
from . import content, usage

ROLES: dict[str, Role] = {
    **dict.fromkeys(("user", "human"), "user"),
    **dict.fromkeys(("assistant", "model", "copilot", "ai", "bot"), "assistant"),
    **dict.fromkeys(("tool", "function"), "tool"),
    **dict.fromkeys(("system", "developer"), "system"),
}
CALLED = "tool_call_completed"
SHOWN: dict[str, Role] = {"user": "user", "copilot": "assistant", CALLED: "tool"}
"""Entries of the timeline that are messages, too."""

MESSAGES = ("chatMessages", "messages", "history", "conversation")
PAIRS: tuple[tuple[Role, tuple[str, ...]], ...] = (
    ("user", ("prompt", "human", "user", "input")),
    ("assistant", ("response", "completion", "assistant", "output")),
)
TIMES = ("timestamp", "createdAt", "created_at", "time")
STARTED = ("startTime", "startedAt", "createdAt", "created_at")
ENDED = ("endTime", "endedAt", "updatedAt", "updated_at")
PROJECT = ("cwd", "workingDirectory", "projectPath", "workspace")
MODEL = ("selectedModel", "model")
AMOUNTS = (
    ("inputTokens", "input_tokens", "promptTokens", "prompt_tokens", "input", "prompt"),
    ("outputTokens", "output_tokens", "completionTokens", "completion_tokens", "output", "completion"),
    ("cacheReadTokens", "cache_read_tokens", "cachedTokens", "cached_tokens"),
    ("cacheWriteTokens", "cache_write_tokens"),
    ("reasoningTokens", "reasoning_tokens"),
)
AROUND = re.compile(r"\s*<(current_datetime|reminder|system_reminder)>.*?</\1>\s*", re.DOTALL)
FAILED = ("failure", "error", "denied", "rejected")

Record = dict[str, Any]


class Document:
    """A document while it is read.

    Args:
        whole: its JSON value.
    """

    def __init__(self, whole: Any) -> None:
        self.whole = whole
        self.timeline = fields.rows(whole, "timeline")
        self.spoken = [
            one for one in self.timeline if fields.text(one, "type") in ("user", "copilot") and fields.text(one, "text")
        ]
        self.called = {fields.text(one, "callId"): one for one in self.timeline if fields.text(one, "type") == CALLED}

    def events(self) -> Iterator[Event]:
        """Yield what the document says."""
        yield Info(
            project_path=first(self.whole, PROJECT) or fields.text(self.whole, "context", "cwd"),
            title=first(self.whole, ("title", "name", "summary")),
            model=content.real(first(self.whole, MODEL)),
            started_at=first_time(self.whole, STARTED),
            last_activity_at=first_time(self.whole, ENDED),
            tokens=spent(self.whole),
        )
        for record in self.messages():
            yield from self.message(record)
        for shown in self.timeline:
            if (time := first_time(shown, TIMES)) is not None:
                yield Seen(time)

    def messages(self) -> Iterator[Record]:
        """Yield the messages, each with a role: those of pairs apart, and those of the timeline where there are no others."""
        named = (fields.rows(self.whole, name) for name in MESSAGES)
        found = self.whole if isinstance(self.whole, list) else next(filter(None, named), [])
        for record in found or map(listed, self.timeline):
            if fields.text(record, "role") is not None:
                yield record
                continue
            for role, names in PAIRS:
                if words := first(record, names):
                    yield {**record, "role": role, "content": words}

    def message(self, record: Record) -> Iterator[Event]:
        """Yield what one message says."""
        role = ROLES.get((fields.text(record, "role") or "").lower())
        id, time, model = fields.text(record, "id"), first_time(record, TIMES), content.real(fields.text(record, "model"))
        parts = openai.parts_of(fields.at(record, "content"))
        if role == "tool":
            yield self.result(record, id, time, parts)
            return
        calls = openai.calls_of(fields.at(record, "tool_calls"))
        if role is None or not (parts or calls):
            return
        words = "\n".join(filter(None, (fields.text(part, "text") for part in parts)))
        shown = self.shown(role, words)
        time = first_time(shown, TIMES) if time is None else time
        if role == "user":
            role, parts = typed(words, fields.text(shown, "text"), [part for part in parts if fields.text(part, "text") is None])
        if role != "assistant" and (found := content.WORKING.search(words)):
            yield Info(project_path=found[1].strip())
        yield Message(role, time, id, None, plain(parts), calls, None, None, model, raw=record)
        if role != "assistant":
            return
        if tokens := spent(record):
            yield Usage(tokens, None, model, time)
        if not calls:
            # Whatever has been called before, the model does not wait for it.
            yield Ended("completed")

    def shown(self, role: Role, words: str) -> Any:
        """Return the next entry of the timeline that shows these words, or what of them was typed; ``None`` when none does."""
        for index, entry in enumerate(self.spoken):
            said = fields.text(entry, "text") or ""
            if SHOWN[fields.text(entry, "type") or ""] == role and (said in words if role == "user" else said == words):
                del self.spoken[: index + 1]
                return entry
        return None

    def result(self, record: Record, id: str | None, time: float | None, parts: list[Any]) -> Message:
        """Return a tool's result, with what the screen showed of it."""
        call = fields.text(record, "tool_call_id") or fields.text(record, "toolCallId")
        shown = self.called.get(call) if call else None
        output = plain(parts) or fields.text(shown, "result", "log") or ""
        answer = ToolResult(call, output, fields.text(shown, "result", "type") in FAILED, fields.text(record, "name"))
        return Message("tool", first_time(shown, TIMES) if time is None else time, id, tool_result=answer, raw=record)


def typed(words: str, shown: str | None, media: list[Any]) -> tuple[Role, list[Any]]:
    """Return who a user message comes from, and its parts.

    Args:
        shown: what of its words was typed, where the screen tells.
        media: its other parts.
    """
    bare = shown or AROUND.sub("", words)
    if content.INJECTED.match(bare) or not (bare or media):
        return "system", [text_part(words)]
    return "user", [*([text_part(bare)] if bare else []), *media]


def first(record: Any, names: tuple[str, ...]) -> str | None:
    """Return the first text under one of these names."""
    return next(filter(None, (fields.text(record, name) for name in names)), None)


def first_time(record: Any, names: tuple[str, ...]) -> float | None:
    """Return the first time under one of these names."""
    return next((time for name in names if (time := fields.seconds(record, name)) is not None), None)


def listed(shown: Any) -> Record:
    """Return an entry of the timeline as a message; one without a role when it is none."""
    role = SHOWN.get(fields.text(shown, "type") or "")
    if role is None:
        return {}
    call = fields.text(shown, "callId")
    return {
        **shown,
        "role": role,
        "content": fields.text(shown, "text"),
        "tool_call_id": call,
        "name": fields.text(shown, "toolTitle"),
    }


def spent(record: Any) -> Tokens | None:
    """Return what a message or the whole session used, where it says so."""
    used = fields.table(record, "usage") or fields.table(record, "tokenUsage") or fields.table(record, "tokens")
    details = {**fields.table(used, "prompt_tokens_details"), **fields.table(used, "completion_tokens_details"), **used}
    counts = [next((one for name in names if (one := fields.count(details, name)) is not None), None) for names in AMOUNTS]
    return usage.tokens_of(counts)
