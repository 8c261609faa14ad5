"""The parts of a message: which of them a person typed, their text, attachments and tool calls.

text {text, synthetic, ignored}   reasoning {text}   file {mime, filename, url}   subtask {prompt}   agent {name}
tool {callID, tool, state: {status: pending | running | completed | error, input, output, error, attachments,
      time: {start, end}}}
compaction {auto}   step-finish {reason, tokens}   and others that say nothing here, see ``KNOWN``
"""

from typing import Any
from urllib.parse import unquote_to_bytes

from ...model import ToolCall, ToolResult
from .. import blocks, fields

TYPED = {"text", "file", "agent", "subtask"}
KNOWN = {*TYPED, "reasoning", "tool", "compaction", "step-start", "step-finish", "snapshot", "patch", "retry", "source-url"}


def kind(part: Any) -> str | None:
    """Return the type of a part."""
    return fields.text(part, "type")


def is_injected(part: Any) -> bool:
    """Return whether a part is text that the runtime put into a prompt."""
    return kind(part) == "text" and (fields.flag(part, "synthetic") or fields.flag(part, "ignored"))


def is_typed(part: Any) -> bool:
    """Return whether a part of a prompt comes from a person."""
    return kind(part) in TYPED and not is_injected(part)


def written(parts: list[Any]) -> str | list[Any]:
    """Return texts and attachments as the content of a message."""
    content: list[Any] = []
    for part in parts:
        if kind(part) == "file":
            content.append(attachment(part))
        elif words := fields.text(part, {"text": "text", "subtask": "prompt"}.get(kind(part) or "", "")):
            content.append(blocks.text_part(words))
    return blocks.plain(content)


def thought(parts: list[Any]) -> str | None:
    """Return the reasoning among the parts."""
    words = [fields.text(part, "text") for part in parts if kind(part) == "reasoning"]
    return "\n\n".join(filter(None, words)) or None


def attachment(part: Any) -> dict[str, Any]:
    """Return a file part without its bytes."""
    media_type = fields.text(part, "mime") or fields.text(part, "mediaType")
    name, url = fields.text(part, "filename"), fields.text(part, "url") or ""
    found: dict[str, Any] = {"type": "image" if media_type and media_type.startswith("image/") else "file"}
    if media_type:
        found["media_type"] = media_type
    if name:
        found["name"] = name
    head, _, data = url.partition(",")
    if head.startswith("data:"):
        found["bytes"] = blocks.size_of_base64(data) if head.endswith(";base64") else len(unquote_to_bytes(data))
    elif url:
        found["url"] = url
    return found


def call_id(part: Any) -> str | None:
    """Return the id that ties a tool's call to its result."""
    return fields.text(part, "callID") or fields.text(part, "id")


def call(part: Any) -> ToolCall:
    """Return the call that a tool part holds."""
    start, end = fields.number(part, "state", "time", "start"), fields.number(part, "state", "time", "end")
    duration = round(end - start) if start is not None and end is not None and end >= start else None
    return ToolCall(call_id(part), fields.text(part, "tool") or "", fields.at(part, "state", "input"), duration)


def result(part: Any) -> ToolResult | None:
    """Return the result that a tool part holds, ``None`` while there is none."""
    status = fields.text(part, "state", "status")
    if status not in ("completed", "error"):
        return None
    output = fields.at(part, "state", "output" if status == "completed" else "error")
    if not isinstance(output, str | list):
        output = fields.text(output, "message") or ([] if output is None else [output])
    files = [attachment(file) for file in fields.rows(part, "state", "attachments")]
    if files:
        output = [*blocks.parts_of(output), *files]
    return ToolResult(call_id(part), output or "", status == "error", fields.text(part, "tool"))


def is_over(info: Any, parts: list[Any]) -> bool:
    """Return whether a complete response ends the turn: no tool is left open and none asks for another response."""
    shown = [part for part in parts if kind(part) in ("text", "reasoning", "tool")]
    if any(kind(part) == "tool" and result(part) is None for part in shown):
        return False
    reasons = [fields.text(part, "reason") for part in parts if kind(part) == "step-finish"]
    finish = fields.text(info, "finish") or next((reason for reason in reversed(reasons) if reason), None)
    if finish in (None, "unknown"):
        return not shown or kind(shown[-1]) != "tool"
    return finish != "tool-calls" or not any(kind(part) == "tool" for part in shown)
