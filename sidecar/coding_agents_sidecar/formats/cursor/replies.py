"""Messages as the agent behind Cursor's command line keeps them, JSON in the shapes of Vercel's AI SDK -> events.

{role: system | user | assistant | tool, id?, content: text or parts}

text {text}   reasoning {text}   redacted-reasoning   tool-call {toolCallId, toolName, args | input}
tool-result {toolCallId, toolName, result | output | experimental_content, isError?}
image {image, mediaType | mimeType}   file {data, mediaType | mimeType, filename}

Media are base64, a data URI, an address, or bytes as JSON has them. There are no times and no token counts.
"""

from collections.abc import Iterator
from typing import Any

from ...model import Message, Role, ToolCall, ToolResult
from .. import fields
from ..blocks import plain, size_of_base64, text_part
from . import spoken

TOOL_CALLS = ("tool-call", "tool_call", "tool_use")
TOOL_RESULTS = ("tool-result", "tool_result")
HIDDEN = ("reasoning", "redacted-reasoning", "thinking")


def messages_of(record: Any, id: str | None) -> Iterator[Message]:
    """Yield the messages that a stored one stands for.

    Args:
        id: its own, if it has none inside.
    """
    id = fields.text(record, "id") or id
    content = fields.at(record, "content")
    parts = content if isinstance(content, list) else [text_part(content)] if isinstance(content, str) and content else []
    match fields.text(record, "role"):
        case "user":
            yield from asked(shown(parts), record, id=id)
        case "assistant":
            calls = [call_of(part) for part in parts if fields.text(part, "type") in TOOL_CALLS]
            content = plain(without_blanks(shown(parts)))
            yield Message("assistant", id=id, content=content, tool_calls=calls or None, thinking=thought(parts), raw=record)
        case "tool":
            for part in parts:
                if fields.text(part, "type") in TOOL_RESULTS:
                    yield Message("tool", tool_result=result_of(part), raw=part)
        case "system":
            yield Message("system", id=id, content=plain(shown(parts)), raw=record)


def asked(parts: list[Any], record: Any, *, time: float | None = None, id: str | None = None) -> Iterator[Message]:
    """Yield what Cursor put beside a prompt, then what was typed; a prompt without a word is one all the same."""
    sorted_parts = spoken.Spoken(parts)
    typed, injected = sorted_parts.typed, sorted_parts.injected
    said_by: tuple[tuple[Role, list[Any]], ...] = (("system", injected), ("user", typed))
    for role, content in said_by:
        if content or (role == "user" and not injected):
            own = id if role == "user" or not typed else None
            yield Message(role, time, own, content=plain(content), raw=record)


def shown(parts: list[Any]) -> list[Any]:
    """Return what can be shown of a message's parts, media without their data."""
    found = []
    for part in parts:
        kind = fields.text(part, "type")
        if kind == "text":
            found.append(text_part(spoken.shown(fields.text(part, "text") or "")))
        elif kind in ("image", "file"):
            found.append(media_part(part))
        elif isinstance(part, dict) and kind and kind not in (*TOOL_CALLS, *TOOL_RESULTS, *HIDDEN):
            found.append(part)
    return found


def without_blanks(parts: list[Any]) -> list[Any]:
    """Return parts without those that are empty text."""
    return [part for part in parts if part != text_part("")]


def thought(parts: list[Any]) -> str | None:
    """Return the thinking that can be read, ``None`` when there is none."""
    return "\n\n".join(filter(None, (fields.text(part, "text") for part in parts if fields.text(part, "type") in HIDDEN))) or None


def call_of(part: Any) -> ToolCall:
    """Return a tool call."""
    id = fields.text(part, "toolCallId") or fields.text(part, "id")
    input = fields.at(part, "args")
    name = fields.text(part, "toolName") or fields.text(part, "name") or ""
    return ToolCall(id, name, fields.at(part, "input") if input is None else input)


def result_of(part: Any) -> ToolResult:
    """Return the answer to a tool call."""
    found = (fields.at(part, name) for name in ("result", "output", "experimental_content"))
    output = next((value for value in found if value is not None), "")
    kind = fields.text(output, "type") or ""
    failed = fields.flag(part, "isError") or kind.startswith("error")
    if kind and fields.at(output, "value") is not None:
        output = fields.at(output, "value")
    output = plain(shown(output)) if isinstance(output, list) else output
    return ToolResult(fields.text(part, "toolCallId"), output, failed, fields.text(part, "toolName"))


def media_part(part: Any) -> dict[str, Any]:
    """Return an image or a file without its data."""
    data = fields.at(part, "image") if fields.at(part, "data") is None else fields.at(part, "data")
    kind = fields.text(part, "mediaType") or fields.text(part, "mimeType")
    if isinstance(data, str) and data.startswith("data:"):
        head, _, data = data.partition(",")
        kind = kind or head.removeprefix("data:").split(";")[0] or None
    is_image = fields.text(part, "type") == "image" or (kind or "").startswith("image/")
    about = {"type": "image" if is_image else "file", "media_type": kind, "bytes": size_of(data)}
    name = fields.text(part, "filename")
    return {**about, "name": name} if name else about


def size_of(data: Any) -> int | None:
    """Return the bytes of media; ``None`` when they lie elsewhere."""
    if isinstance(data, str) and data and "://" not in data[:16]:
        return size_of_base64(data)
    if fields.text(data, "type") == "Buffer":
        data = fields.at(data, "data")
    return len(data) if isinstance(data, dict | list) and data else None
