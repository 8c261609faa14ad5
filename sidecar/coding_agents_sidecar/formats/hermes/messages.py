"""A record of Hermes -> events. Rows of a database, lines of a log and entries of a snapshot have the same members.

    {role: user, content, observed}                            observed: said in a group, but not to the agent
    {role: assistant, content, tool_calls, finish_reason, reasoning, reasoning_content, reasoning_details}
    {role: tool, content, tool_call_id, tool_name or name}
    {role: session_meta}, {role: system}                       no messages

Contents and calls are those of OpenAI's chat API. No record says which model answered, or how many tokens it used. Logs
have times without an offset, on a clock nobody knows: they say nothing.
"""

import re
from collections.abc import Iterator
from typing import Any

from ...model import Ended, Event, Message, Seen, ToolResult, Unknown
from .. import blocks, fields, jsonl, openai
from . import injected
from .private import Privacy, name_of

Record = dict[str, Any]

SILENT = ("system", "session_meta")
OFFSET = re.compile(r".*(?:[Zz]|[+-]\d\d:?\d\d)")
MAX_VERDICT = 1 << 20
"""Longer outputs of a tool are not searched for an error."""


class Conversation:
    """The records of a session, one after the other.

    Args:
        privacy: what it knows of the records before.
    """

    def __init__(self, privacy: Privacy | None = None) -> None:
        self.privacy = privacy or Privacy()

    def message(self, record: Record, id: str | None = None, key: str | None = None, branch: str | int = 0) -> Iterator[Event]:
        """Yield what a record says.

        Args:
            key: of the response, where it is one.
            branch: as in ``model.Message``.
        """
        record = self.privacy.public(record)
        role, time = fields.text(record, "role"), time_of(record)
        match role:
            case "user":
                yield from asked(record, id, branch)
            case "assistant":
                calls = openai.calls_of(fields.at(record, "tool_calls"))
                content = content_of(record)
                yield Message("assistant", time, id, key, content, calls, None, thinking_of(record), None, branch, record)
            case "tool":
                yield Message("tool", time, id, tool_result=result_of(record), branch=branch, raw=record)
            case _:
                if role not in SILENT:
                    yield Unknown()
                if time is not None:
                    yield Seen(time)


def asked(record: Record, id: str | None, branch: str | int) -> Iterator[Event]:
    """Yield a prompt, and apart from it what the runtime put in its place or before it."""
    time, content = time_of(record), content_of(record)
    words = words_of(content)
    asks = injected.is_asked(words)
    if asks or injected.is_told(words) or fields.at(record, "observed") in (1, True):
        yield Message("system", time, id, content=content, branch=branch, raw=record)
        if asks:
            yield Ended("aborted")
        return
    note, prompt = injected.parted(words) if isinstance(content, str) else ("", "")
    if note:
        yield Message("system", time, None if id is None else f"{id}.note", content=note, branch=branch)
        content = prompt
    if content or not note:
        yield Message("user", time, id, content=content, branch=branch, raw=record)


def time_of(record: Record) -> float | None:
    """Return when a record was written; ``None`` where that is a time without an offset."""
    return moment(fields.at(record, "timestamp"))


def moment(value: Any) -> float | None:
    """Return a time in Unix seconds; ``None`` for one without an offset."""
    return None if isinstance(value, str) and OFFSET.fullmatch(value) is None else fields.seconds(value)


def content_of(record: Record) -> str | list[Any]:
    """Return what a record says as text or parts."""
    content = fields.at(record, "content")
    # Some tools answer with an envelope around the parts.
    return blocks.plain(openai.parts_of(fields.at(content, "content") if fields.flag(content, "_multimodal") else content))


def words_of(content: str | list[Any]) -> str:
    """Return the first text of a content."""
    return content if isinstance(content, str) else next(filter(None, (fields.text(part, "text") for part in content)), "")


def thinking_of(record: Record) -> str | None:
    """Return what the model thought, which stands in one of several members."""
    for name in ("reasoning", "reasoning_content"):
        if words := fields.text(record, name):
            return words
    details = fields.rows(record, "reasoning_details")
    thoughts = [fields.text(one, "text") or fields.text(one, "summary") for one in details]
    return "\n\n".join(filter(None, thoughts)) or None


def result_of(record: Record) -> ToolResult:
    """Return a tool's result. Its record does not say whether it failed, but most outputs do."""
    output = content_of(record)
    return ToolResult(fields.text(record, "tool_call_id"), output, has_failed(output), name_of(record))


def has_failed(output: str | list[Any]) -> bool:
    """Return whether a tool's output is an object that tells of a failure."""
    if not isinstance(output, str) or not output.startswith("{") or len(output) > MAX_VERDICT:
        return False
    verdict = jsonl.load(output.encode("utf-8", "replace"))
    return bool(fields.at(verdict, "error")) or fields.at(verdict, "success") is False or bool(fields.count(verdict, "exit_code"))
