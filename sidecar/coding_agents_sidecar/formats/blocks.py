"""Content blocks as Anthropic's messages have them: text, images, thinking, tool calls and their results."""

from typing import Any

from ..model import Tokens, ToolCall
from . import fields

CALLS = ("tool_use", "server_tool_use", "mcp_tool_use")
RESULT = "tool_result"
"""What the types of all blocks end with that answer a call."""


class Blocks:
    """A message's content, sorted.

    Args:
        content: text, a list of blocks, or anything else a damaged record may hold.

    Attributes:
        parts: what can be shown, in order, as ``parts_of`` returns it.
        results: the blocks that answer a tool call.
        goes_on: something follows the last of them.
        thinking: ``None`` when there is none that can be read.
        empty: there was no block at all.
    """

    def __init__(self, content: Any) -> None:
        blocks = content if isinstance(content, list) else [content]
        self.parts: list[Any] = []
        self.calls: list[ToolCall] = []
        self.results: list[Any] = []
        self.empty = not any(blocks)
        self.goes_on = not (fields.text(blocks, -1, "type") or "").endswith(RESULT)
        thoughts = []
        for block in blocks:
            kind = fields.text(block, "type") or ""
            if kind in CALLS:
                self.calls.append(ToolCall(fields.text(block, "id"), fields.text(block, "name") or "", fields.at(block, "input")))
            elif kind.endswith(RESULT):
                self.results.append(block)
            elif kind == "thinking":
                thoughts.append(fields.text(block, "thinking"))
            elif kind != "redacted_thinking":
                self.parts.extend(parts_of(block))
        self.thinking = "\n\n".join(filter(None, thoughts)) or None


def parts_of(content: Any) -> list[Any]:
    """Return what can be shown of a block, a list of blocks or plain text, as parts; media without their data.

    Parts may be given again, they stay as they are.
    """
    if isinstance(content, list):
        return [part for block in content for part in parts_of(block)]
    if isinstance(content, str):
        return [text_part(content)] if content else []
    if not isinstance(content, dict):
        return []
    kind = fields.text(content, "type")
    if kind == "text":
        return parts_of(fields.text(content, "text"))
    if fields.table(content, "source"):
        return [{"type": kind, "media_type": fields.text(content, "source", "media_type"), "bytes": size_of(content)}]
    return [content]


def text_part(words: str) -> dict[str, str]:
    """Return text as a part."""
    return {"type": "text", "text": words}


def size_of(block: Any) -> int | None:
    """Return the bytes of an image or document; ``None`` when it lies elsewhere."""
    data = fields.text(block, "source", "data")
    if data is None:
        return None
    if fields.text(block, "source", "type") == "text":
        return len(data.encode("utf-8", "replace"))
    return size_of_base64(data)


def size_of_base64(data: str) -> int:
    """Return how many bytes a text in base64 stands for."""
    return (len(data) - data[-2:].count("=")) * 3 // 4


def plain(parts: list[Any]) -> str | list[Any]:
    """Return parts as they stand in a message: a single text as such, nothing as ''."""
    if not parts:
        return ""
    words = fields.text(parts[0], "text") if len(parts) == 1 else None
    return words if words is not None and parts[0].get("type") == "text" else parts


def output_of(content: Any) -> Any:
    """Return a tool's output as text or parts."""
    return plain(parts_of(content)) if content is None or isinstance(content, list | str) else content


def failed(block: Any) -> bool:
    """Return whether a tool result tells of an error; results of the server's own tools say so in their content."""
    return fields.flag(block, "is_error") or (fields.text(block, "content", "type") or "").endswith("_error")


def tokens_of(usage: Any) -> Tokens | None:
    """Return what a response used; ``None`` when its record says nothing."""
    written = fields.count(usage, "cache_creation_input_tokens")
    if written is None:
        parts = [fields.count(amount) for amount in fields.table(usage, "cache_creation").values()]
        written = sum(part or 0 for part in parts) if any(part is not None for part in parts) else None
    tokens = Tokens(
        input=fields.count(usage, "input_tokens"),
        output=fields.count(usage, "output_tokens"),
        cache_read=fields.count(usage, "cache_read_input_tokens"),
        cache_write=written,
    )
    return None if tokens == Tokens() else tokens
