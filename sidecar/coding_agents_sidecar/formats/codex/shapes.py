"""Records of every age, in the one form the newest have: a kind and a payload.

{timestamp, type, payload, ordinal?}         0.3 and newer: that form itself
{id, timestamp, instructions, git}           first line of 0.2: a session_meta
{type: message | function_call | …, …}       0.2, and the items of the TypeScript program: a response_item
{session: {id, timestamp}, items: […]}       the TypeScript program: a file is one such document
{role, content, tool_calls?, usage?, model?} fields as OpenAI's chat interface has them: response_items
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from .. import fields

TIMES = ("timestamp", "created_at", "created")


@dataclass(slots=True)
class Entry:
    """One thing a record says.

    Args:
        ordinal: its place in the history of its thread, where the runtime numbers it.
        raw: the native record.
    """

    kind: str
    payload: dict[str, Any]
    time: float | None = None
    ordinal: int | None = None
    raw: Any = None


def entries(record: dict[str, Any]) -> list[Entry]:
    """Return what a line says; nothing for filler."""
    kind = fields.text(record, "type")
    if "payload" in record:
        time, ordinal = fields.seconds(record, "timestamp"), fields.count(record, "ordinal")
        return [Entry(kind or "", fields.table(record, "payload"), time, ordinal, record)]
    message = fields.table(record, "message") or record
    if fields.text(message, "role"):
        return list(chat(record, message))
    if kind:
        is_item = kind == "reasoning" or "_call" in kind
        return [Entry("response_item" if is_item else kind, record, fields.seconds(record, "timestamp"), raw=record)]
    return [Entry("session_meta", record, raw=record)] if fields.text(record, "id") else []


def chat(record: dict[str, Any], message: dict[str, Any]) -> Iterator[Entry]:
    """Yield a message with what belongs to it as the items it would be today."""
    time = next((time for name in TIMES if (time := fields.seconds(record, name)) is not None), None)
    settings = {name: value for name in ("model", "cwd") for one in (message, record) if (value := fields.text(one, name))}
    if settings:
        yield Entry("turn_context", settings, time)
    if fields.text(message, "role") == "tool":
        output = {"call_id": fields.at(message, "tool_call_id"), "output": fields.at(message, "content")}
        yield Entry("response_item", {**message, "type": "function_call_output", **output}, time, raw=record)
        return
    calls = fields.rows(message, "tool_calls")
    if fields.at(message, "content") or not calls:
        yield Entry("response_item", {**message, "type": "message"}, time, raw=record)
    for call in calls:
        function = {**fields.table(call, "function"), "type": "function_call", "call_id": fields.at(call, "id")}
        yield Entry("response_item", function, time, raw=record)
    for one in (message, record):
        if usage := fields.table(one, "usage"):
            yield Entry("usage", usage, time)
            return


def document(value: dict[str, Any]) -> Iterator[Entry]:
    """Yield what a document of the TypeScript program says."""
    yield Entry("session_meta", fields.table(value, "session"))
    for item in fields.rows(value, "items"):
        if isinstance(item, dict):
            yield from entries(item)
