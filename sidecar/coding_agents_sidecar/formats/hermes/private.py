"""What stays private in a record: the model of its user that Honcho keeps, and what a memory recalled for a prompt.

Honcho's tools are called ``honcho_…``, with a server's name before it where they come from one. ``api_content`` is a prompt
as it was sent, with all that was recalled for it; that may also stand in the prompt itself, between tags.
"""

import re
from typing import Any

from .. import fields

COLUMN = "api_content"
TOOL = "honcho_"
WITHHELD = "[withheld]"
RECALLED = re.compile(r"\s*<\s*memory-context\s*>.*?<\s*/\s*memory-context\s*>", re.DOTALL | re.IGNORECASE)


class Privacy:
    """Takes out of a session's records what stays private, one after the other.

    Args:
        calls: ids of the calls of Honcho's tools so far.
    """

    def __init__(self, calls: list[str] | None = None) -> None:
        self.calls = set(calls or ())

    def public(self, record: dict[str, Any]) -> dict[str, Any]:
        """Return a copy of a record without what stays private."""
        shown = {name: value for name, value in record.items() if name != COLUMN}
        shown["content"] = without_recalled(fields.at(record, "content"))
        if fields.rows(record, "tool_calls"):
            shown["tool_calls"] = [self.call(call) for call in fields.rows(record, "tool_calls")]
        if fields.text(record, "role") == "tool" and (
            fields.text(record, "tool_call_id") in self.calls or is_honcho(name_of(record))
        ):
            shown["content"] = WITHHELD
        return shown

    def call(self, call: Any) -> Any:
        """Return a tool call, without what it tells Honcho."""
        name = fields.text(call, "function", "name")
        if not is_honcho(name):
            return call
        id = fields.text(call, "id") or fields.text(call, "call_id")
        if id:
            self.calls.add(id)
        return {"id": id, "type": "function", "function": {"name": name, "arguments": WITHHELD}}


def name_of(record: dict[str, Any]) -> str | None:
    """Return the tool that a result is of, where its record says so."""
    return fields.text(record, "tool_name") or fields.text(record, "name")


def is_honcho(tool: str | None) -> bool:
    """Return whether a tool is one of Honcho's."""
    return tool is not None and TOOL in tool


def without_recalled(content: Any) -> Any:
    """Return a content without what was recalled for it."""
    if isinstance(content, str):
        return RECALLED.sub("", content)
    if isinstance(content, list):
        return [without_recalled(part) for part in content]
    if words := fields.text(content, "text"):
        return {**content, "text": RECALLED.sub("", words)}
    return content
