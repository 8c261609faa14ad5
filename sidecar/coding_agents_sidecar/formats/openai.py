"""Messages as OpenAI's chat API has them: contents and tool calls.

content     text, or a list of {type: text, text}, {type: image_url, image_url: {url}},
            {type: input_audio, input_audio: {data, format}}
tool_calls  [{id, type: function, function: {name, arguments: JSON as text}}]
"""

from typing import Any
from urllib.parse import unquote_to_bytes

from ..model import ToolCall
from . import blocks, fields, jsonl


def parts_of(content: Any) -> list[Any]:
    """Return what can be shown of a content as parts; media without their data."""
    if isinstance(content, list):
        return [part for item in content for part in parts_of(item)]
    match fields.text(content, "type"):
        case "text" | "input_text" | "output_text":
            return blocks.parts_of(fields.text(content, "text"))
        case "image_url" | "input_image":
            return [image(fields.text(content, "image_url", "url") or fields.text(content, "image_url") or "")]
        case "input_audio":
            kind, data = fields.text(content, "input_audio", "format"), fields.text(content, "input_audio", "data")
            size = None if data is None else blocks.size_of_base64(data)
            return [{"type": "audio", "media_type": f"audio/{kind}" if kind else None, "bytes": size}]
    return blocks.parts_of(content)


def image(url: str) -> dict[str, Any]:
    """Return an image that a URL names, or holds, as a part."""
    head, _, data = url.partition(",")
    if not head.startswith("data:"):
        return {"type": "image", "media_type": None, "bytes": None, "url": url}
    size = blocks.size_of_base64(data) if head.endswith(";base64") else len(unquote_to_bytes(data))
    return {"type": "image", "media_type": head.removeprefix("data:").partition(";")[0] or None, "bytes": size}


def calls_of(calls: Any) -> list[ToolCall] | None:
    """Return the tools that a message calls; ``None`` when there are none."""
    return [call(one) for one in fields.rows(calls) if isinstance(one, dict)] or None


def call(record: dict[str, Any]) -> ToolCall:
    """Return one tool call, its arguments as JSON where they are any."""
    arguments = fields.at(record, "function", "arguments")
    if isinstance(arguments, str):
        parsed = jsonl.load(arguments.encode("utf-8", "replace"))
        arguments = arguments if parsed is None else parsed
    id = fields.text(record, "id") or fields.text(record, "call_id")
    return ToolCall(id, fields.text(record, "function", "name") or "", arguments)
