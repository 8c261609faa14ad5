"""Messages of Pi and its relatives: what they show, what they cost.

content           text, or blocks: text, thinking, image {data, mimeType}, toolCall {id, name, arguments}
usage             {input, output, cacheRead, cacheWrite, reasoning or reasoningTokens, cost: {total}} of one API response;
                  input is without cache, output includes reasoning; zeros say that nothing was used
"""

from typing import Any

from ...model import Tokens, ToolCall, ToolResult
from .. import fields
from ..blocks import plain, size_of_base64, text_part

TOOK = (("durationMs",), ("details", "durationMs"), ("details", "wallTimeMs"), ("details", "totalDurationMs"))
"""Where a tool result says how long the tool ran."""


class Said:
    """The content of a message, sorted.

    Attributes:
        parts: what can be shown, in order.
        thinking: ``None`` when there is none that can be read.
        empty: there was nothing at all, as in the record of a request that failed.
    """

    def __init__(self, content: Any) -> None:
        self.parts: list[Any] = []
        self.calls: list[ToolCall] = []
        thoughts: list[str | None] = []
        for block in content if isinstance(content, list) else [content]:
            match fields.text(block, "type"):
                case "toolCall":
                    name = fields.text(block, "name") or ""
                    self.calls.append(ToolCall(fields.text(block, "id"), name, fields.at(block, "arguments")))
                case "thinking":
                    # Kept from the reader by the provider, it is an answer nevertheless.
                    thoughts.append(fields.text(block, "thinking"))
                case _:
                    self.parts.extend(parts_of(block))
        self.thinking = "\n\n".join(filter(None, thoughts)) or None
        self.empty = not (self.parts or self.calls or thoughts)

    @property
    def content(self) -> str | list[Any]:
        """What stands in the message."""
        return plain(self.parts)


def parts_of(content: Any) -> list[Any]:
    """Return what can be shown of a block, of several or of plain text, as parts; images without their data."""
    if isinstance(content, list):
        return [part for block in content for part in parts_of(block)]
    if isinstance(content, str):
        return [text_part(content)] if content else []
    match fields.text(content, "type"):
        case "text":
            return parts_of(fields.text(content, "text"))
        case "image":
            return [{"type": "image", "media_type": fields.text(content, "mimeType"), "bytes": size_of(content)}]
    return [content] if isinstance(content, dict) else []


def size_of(image: Any) -> int | None:
    """Return the bytes of an image; ``None`` when it lies elsewhere."""
    data = fields.text(image, "data")
    return None if data is None or data.startswith("blob:") else size_of_base64(data)


def result_of(message: Any) -> ToolResult:
    """Return what a tool answered."""
    took = next((ms for path in TOOK if (ms := fields.number(message, *path)) is not None and ms >= 0), None)
    return ToolResult(
        tool_call_id=fields.text(message, "toolCallId"),
        output=plain(parts_of(fields.at(message, "content"))),
        is_error=fields.flag(message, "isError"),
        tool_name=fields.text(message, "toolName"),
        duration_ms=None if took is None else round(took),
    )


def shell_of(message: Any) -> str:
    """Return what a person ran in a shell, and what came out."""
    command = fields.text(message, "command") or fields.text(message, "code") or ""
    return "\n".join(filter(None, (f"$ {command}", fields.text(message, "output"))))


def tokens_of(usage: Any) -> Tokens | None:
    """Return what a response used; ``None`` when the record says nothing."""
    reasoning = fields.count(usage, "reasoning")
    tokens = Tokens(
        input=fields.count(usage, "input"),
        output=fields.count(usage, "output"),
        cache_read=fields.count(usage, "cacheRead"),
        cache_write=fields.count(usage, "cacheWrite"),
        reasoning=fields.count(usage, "reasoningTokens") if reasoning is None else reasoning,
    )
    return None if tokens == Tokens() else tokens


def model_of(record: Any) -> tuple[str | None, str | None]:
    """Return provider and model that a header or a ``model_change`` chooses, in fields of their own or as one."""
    if model := fields.text(record, "modelId"):
        return fields.text(record, "provider"), model
    provider, _, model = (fields.text(record, "model") or "").partition("/")
    return (provider, model) if model else (None, provider or None)
