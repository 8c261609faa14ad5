"""What events carry -> message content, tool calls and their results. Media are described, not carried."""

import re
from typing import Any

from ...model import ToolCall, ToolResult
from .. import fields, jsonl
from ..blocks import plain, size_of_base64, text_part

INJECTED = re.compile(r"\s*<(?:skill-context|system_notification|system[-_]reminder)\b")
WORKING = re.compile(r"Current working directory: ([^\n<]+)")
TRUSTED = re.compile(r"Folder (.+) has been added to trusted folders")
MEDIA = ("image", "audio")

Data = dict[str, Any]


def is_injected(data: Data, *, task: bool) -> bool:
    """Return whether the runtime made a user message: only what has no source, or the person as source, was typed.

    Args:
        task: it stands in a sub-agent, whose prompts are the words of another agent.
    """
    source = fields.text(data, "source") or "user"
    if source != "user" and not (task and source.startswith("agent-")):
        return True
    if fields.flag(data, "isAutopilotContinuation") or fields.table(data, "crossSession"):
        return True
    return INJECTED.match(fields.text(data, "content") or "") is not None


def prompt_of(data: Data) -> list[Any]:
    """Return what a user message says, and what is attached to it, as parts."""
    words = fields.text(data, "content")
    return [*([text_part(words)] if words else []), *map(attached, fields.rows(data, "attachments"))]


def attached(attachment: Any) -> Any:
    """Return an attachment as a part; one that holds bytes, itself or elsewhere in the log, without them."""
    if fields.text(attachment, "type") in (*MEDIA, "blob") or fields.text(attachment, "mimeType"):
        return media(attachment)
    return {key: value for key, value in attachment.items() if key != "data"} if isinstance(attachment, dict) else attachment


def media(block: Any) -> Data:
    """Return binary data as a part; its size is ``None`` where the log does not tell it."""
    mime, data = fields.text(block, "mimeType"), fields.text(block, "data")
    family = (mime or "").partition("/")[0]
    kind = family if family in MEDIA else fields.text(block, "type")
    size = fields.count(block, "byteLength") if data is None else size_of_base64(data)
    return {"type": kind, "media_type": mime, "bytes": size}


def calls_of(data: Data) -> list[ToolCall]:
    """Return the tools that a response asks for."""
    return [
        ToolCall(fields.text(call, "toolCallId"), fields.text(call, "name") or "", arguments_of(fields.at(call, "arguments")))
        for call in fields.rows(data, "toolRequests")
    ]


def arguments_of(arguments: Any) -> Any:
    """Return a call's arguments; those that are JSON as text are read, other text stays as it is."""
    value = jsonl.load(arguments.encode("utf-8", "replace")) if isinstance(arguments, str) else arguments
    return value if isinstance(value, dict | list) else arguments


def result_of(data: Data, duration_ms: int | None) -> ToolResult:
    """Return what a tool answered, or why it did not."""
    error = fields.text(data, "error", "message") or fields.text(data, "error")
    failed = fields.at(data, "success") is False or error is not None
    output = error if failed and error else output_of(fields.at(data, "result"))
    name = fields.text(data, "toolName")
    return ToolResult(fields.text(data, "toolCallId"), output, failed, name, duration_ms)


def output_of(result: Any) -> str | list[Any]:
    """Return a tool's output: the text that the model was given, and descriptions of media."""
    blocks = fields.rows(result, "contents")
    words = fields.text(result) or fields.text(result, "content") or fields.text(result, "detailedContent")
    words = words or "\n".join(filter(None, (fields.text(block, "text") for block in blocks)))
    binary = fields.rows(result, "binaryResultsForLlm") or [one for one in blocks if fields.text(one, "type") in MEDIA]
    return plain([*([text_part(words)] if words else []), *map(media, binary)])


def real(model: str | None) -> str | None:
    """Return a model's name; ``None`` for the router's own."""
    return None if model == "auto" else model


def working_directory(data: Data) -> str | None:
    """Return the folder that older versions name in words only."""
    for name in ("content", "transformedContent"):
        if found := WORKING.search(fields.text(data, name) or ""):
            return found[1].strip()
    return None
