"""Content blocks in the form that ``formats.blocks`` knows, whichever version or fork wrote them.

reasoning {text, summary}            Roo; thinking elsewhere
tool-call, tool-result               Roo for a while, in messages of role tool: {toolCallId, toolName, input | output}
image {image: data URL}              with them
image {data, mediaType}, media       Cline since 4.0
file {path, content}                 since then too: a file that a prompt names
"""

from typing import Any

from .. import fields
from ..blocks import size_of_base64, text_part

SILENT = ("thoughtSignature",)


def blocks_of(content: Any) -> list[Any]:
    """Return the content of a record as blocks."""
    if isinstance(content, str):
        return [text_part(content)] if content else []
    return [block for item in content if (block := block_of(item)) is not None] if isinstance(content, list) else []


def block_of(block: Any) -> Any:
    """Return one block in the known form; ``None`` for one that says nothing."""
    match fields.text(block, "type"):
        case "reasoning":
            summary = [fields.text(part, "text") for part in fields.rows(block, "summary")]
            return {"type": "thinking", "thinking": fields.text(block, "text") or "\n\n".join(filter(None, summary))}
        case "tool-call":
            id, name = fields.text(block, "toolCallId"), fields.text(block, "toolName")
            return {"type": "tool_use", "id": id, "name": name, "input": fields.at(block, "input")}
        case "tool-result":
            id, name = fields.text(block, "toolCallId"), fields.text(block, "toolName")
            return {"type": "tool_result", "tool_use_id": id, "name": name, "content": output_of(fields.at(block, "output"))}
        case "file" if fields.text(block, "path"):
            words = fields.text(block, "content") or ""
            return {"type": "file", "name": fields.text(block, "path"), "bytes": len(words.encode("utf-8", "replace"))}
        case "image" | "media" if data := fields.text(block, "data"):
            return media(fields.text(block, "mediaType"), data)
        case "image" if url := fields.text(block, "image"):
            return linked(url)
        case kind if kind in SILENT:
            return None
    return block


def output_of(output: Any) -> Any:
    """Return the output of a tool without the wrapper that tells its type."""
    value = fields.at(output, "value")
    return [block_of(item) for item in value] if isinstance(value, list) else output if value is None else value


def linked(url: str) -> dict[str, Any]:
    """Return an image that is given as a URL, without the data in it."""
    head, _, data = url.partition(",")
    if not head.startswith("data:"):
        return {"type": "image", "url": url}
    return media(head.removeprefix("data:").partition(";")[0] or None, data)


def media(media_type: str | None, data: str) -> dict[str, Any]:
    """Return an image or another medium without its data, which are Base64."""
    kind = "image" if media_type is None or media_type.startswith("image/") else "file"
    return {"type": kind, "media_type": media_type, "bytes": size_of_base64(data)}
