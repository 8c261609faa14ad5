"""Sessions of 2023, written by a server in Python.

{history: {timeline: [{step: {chat_context: [{role, content}]}, deleted}]}, session_info: {…}, config: {models: …}}

Each step has the messages it added. A deleted one stays in the file, and is no longer part of the conversation.
"""

from collections.abc import Iterator
from typing import Any

from ...model import Abandoned, Event, Message, Role, Skipped, ToolResult, Unknown
from .. import fields
from ..blocks import plain
from .shapes import parts_of

ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant", "system": "system"}
DELETED = "deleted"


def events(nodes: list[Any]) -> Iterator[Event]:
    """Yield the messages of a timeline."""
    for node in nodes:
        if not fields.table(node, "step"):
            yield Skipped("a node without a step")
            continue
        branch = DELETED if fields.flag(node, "deleted") else 0
        for record in fields.rows(node, "step", "chat_context"):
            yield from message(record, branch)
    yield Abandoned(frozenset({DELETED}))


def message(record: Any, branch: int | str) -> Iterator[Event]:
    """Yield one message."""
    role, content = fields.text(record, "role"), plain(parts_of(fields.at(record, "content")))
    if role == "function":
        result = ToolResult(None, content, tool_name=fields.text(record, "name"))
        yield Message("tool", tool_result=result, branch=branch, raw=record)
        return
    if role not in ROLES:
        yield Unknown()
    yield Message(ROLES.get(role or "", "system"), content=content, branch=branch, raw=record)
