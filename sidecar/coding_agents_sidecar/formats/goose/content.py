"""Blocks of a message's content.

text {text}   image {data, mimeType}   thinking {thinking}   reasoning {text}   redactedThinking
toolRequest, frontendToolRequest {id, toolCall: {status, value: {name, arguments}} or {status, error}}
toolResponse {id, toolResult: {status, value} or {status, error}}     value: blocks, or {content: blocks, isError}
systemNotification, contextLengthExceeded, summarizationRequested, conversationCompacted     the runtime's own

Blocks of any other type are kept as they are.
"""

from typing import Any

from ...model import ToolCall, ToolResult
from .. import blocks, fields

REQUESTS = ("toolRequest", "frontendToolRequest")
NOTICES = ("systemNotification", "contextLengthExceeded", "summarizationRequested", "conversationCompacted")
TOO_LONG = "contextLengthExceeded"
MEDIA = ("image", "audio")
TYPED = ("text", *MEDIA)


class Content:
    """A message's content, sorted.

    Attributes:
        shown: what can be shown, in order, as parts; media without their data.
        calls: the tools it calls.
        results: the results it holds.
        thinking: ``None`` when there is none that can be read.
        notice: there is nothing in it but the runtime's own.
        too_long: the conversation was too long for the model.
    """

    def __init__(self, content: list[Any]) -> None:
        self.shown: list[Any] = []
        self.calls: list[ToolCall] = []
        self.results: list[ToolResult] = []
        thoughts: list[str | None] = []
        kinds = [fields.text(block, "type") or "" for block in content]
        self.notice = bool(kinds) and all(kind in NOTICES for kind in kinds)
        self.too_long = TOO_LONG in kinds
        for kind, block in zip(kinds, content, strict=True):
            if kind in REQUESTS:
                call = fields.table(block, "toolCall", "value")
                self.calls.append(
                    ToolCall(fields.text(block, "id"), fields.text(call, "name") or "", fields.at(call, "arguments"))
                )
            elif kind == "toolResponse":
                self.results.append(result_of(block))
            elif kind in ("thinking", "reasoning"):
                thoughts.append(fields.text(block, "thinking") or fields.text(block, "text"))
            elif kind != "redactedThinking":
                self.shown.extend(parts_of(block))
        self.thinking = "\n\n".join(filter(None, thoughts)) or None

    def is_typed(self) -> bool:
        """Return whether there is anything in it that a person may have said."""
        return not self.notice and any(fields.text(part, "type") in TYPED for part in self.shown)

    def words(self) -> str:
        """Return all text of the content."""
        return "\n".join(filter(None, (fields.text(part, "text") for part in self.shown)))


def call_of(block: Any) -> ToolCall:
    """Return the call of a tool that a block holds."""
    call = fields.table(block, "toolCall", "value")
    return ToolCall(fields.text(block, "id"), fields.text(call, "name") or "", fields.at(call, "arguments"))


def parts_of(block: Any) -> list[Any]:
    """Return a block, or what it holds, as parts; media without their data."""
    kind = fields.text(block, "type")
    if kind in MEDIA:
        data = fields.text(block, "data")
        size = None if data is None else blocks.size_of_base64(data)
        return [{"type": kind, "media_type": fields.text(block, "mimeType"), "bytes": size}]
    if kind == "resource":
        return [resource_of(fields.table(block, "resource"))]
    if kind == "systemNotification":
        return blocks.parts_of(fields.text(block, "msg"))
    return blocks.parts_of(block)


def resource_of(resource: dict[str, Any]) -> dict[str, Any]:
    """Return an embedded resource as a part: its text, or what it is."""
    if words := fields.text(resource, "text"):
        return blocks.text_part(words)
    blob = fields.text(resource, "blob")
    size = None if blob is None else blocks.size_of_base64(blob)
    return {"type": "file", "media_type": fields.text(resource, "mimeType"), "bytes": size, "url": fields.text(resource, "uri")}


def result_of(block: Any) -> ToolResult:
    """Return the result of a tool that a block holds."""
    value, error = fields.at(block, "toolResult", "value"), fields.at(block, "toolResult", "error")
    failed = error is not None or fields.text(block, "toolResult", "status") == "error" or fields.flag(value, "isError")
    said = value if error is None else error
    content = fields.at(said, "content") if isinstance(said, dict) else said
    output = [part for item in content for part in parts_of(item)] if isinstance(content, list) else blocks.parts_of(said)
    return ToolResult(fields.text(block, "id"), blocks.plain(output), failed)
