"""Response items -> message content, tool calls and their results. Media are described, not carried."""

import re
from typing import Any

from ...model import ToolCall, ToolResult
from .. import blocks, fields, jsonl, openai

IMAGE_TAG = re.compile(r"\s*(?:<image(?: name=[^>]*)?>|</image>)\s*")
"""Put around attached images, in parts of their own."""
HEADER = re.compile(
    r"(?:Chunk ID: [^\n]*\n)?(?:Exit code: (-?\d+)\n)?(?:Wall time: (\d+(?:\.\d+)?) seconds\n)?"
    r"(?:Process exited with code (-?\d+)\n)?"
)
"""What the runtime writes above the output of a command."""
PROVIDED = ("web_search_call", "image_generation_call")
"""Calls that the provider answers itself: no result item follows."""
UNANSWERED = (*PROVIDED, "local_shell_call")
"""Calls after which the conversation may go on without a result item."""


def parts_of(content: Any) -> list[Any]:
    """Return what can be shown of text, a block, or a list of blocks, as parts."""
    if isinstance(content, list):
        return [part for block in content for part in parts_of(block)]
    if isinstance(content, str):
        return [blocks.text_part(content)] if content and not IMAGE_TAG.fullmatch(content) else []
    if not isinstance(content, dict):
        return []
    kind = fields.text(content, "type") or ""
    if "encrypted" in kind:
        return []
    words = fields.text(content, "text") or fields.text(content, "refusal")
    if words is not None or kind.endswith("text"):
        return parts_of(words)
    if "image" in kind or "audio" in kind:
        names = (("image_url",), ("image_url", "url"), ("audio_url",))
        url = next((url for name in names if (url := fields.text(content, *name))), "")
        return [{**openai.image(url), "type": "audio" if "audio" in kind else "image"}]
    return [content]


def thought(payload: dict[str, Any]) -> str | None:
    """Return what can be read of a reasoning item: the summary, else the raw text; ``None`` when all is encrypted."""
    for name in ("summary", "content"):
        words = [fields.text(part, "text") for part in parts_of(fields.at(payload, name))]
        if any(words):
            return "\n\n".join(filter(None, words))
    return None


def call_of(payload: dict[str, Any], kind: str) -> ToolCall:
    """Return a call; arguments that are no JSON stay text."""
    name = fields.text(payload, "name") or kind.removesuffix("_call")
    server = fields.text(payload, "namespace") or ""
    if server.startswith("mcp__"):
        name = f"{server.rstrip('_')}__{name}"
    arguments = fields.at(payload, "arguments")
    if isinstance(arguments, str):
        parsed = jsonl.load(arguments.encode("utf-8", "replace"))
        arguments = arguments if parsed is None else parsed
    given = (arguments, *(fields.at(payload, field) for field in ("input", "action")))
    input = next((value for value in given if value is not None), None)
    if prompt := fields.text(payload, "revised_prompt"):
        input = {"prompt": prompt}
    id = fields.text(payload, "call_id") or fields.text(payload, "id")
    return ToolCall(None if kind in PROVIDED else id, name, input)


def drawn(payload: dict[str, Any]) -> list[Any]:
    """Return the picture that an image_generation_call holds, as parts."""
    data = fields.text(payload, "result")
    return [{"type": "image", "media_type": "image/png", "bytes": blocks.size_of_base64(data)}] if data else []


def result_of(payload: dict[str, Any], duration_ms: int | None, failed: bool | None) -> ToolResult:
    """Return a result.

    Args:
        duration_ms, failed: what the runtime's events told of the call; ``None`` leaves it to the output.
    """
    output = fields.at(payload, "output")
    output = fields.at(payload, "tools") if output is None else output
    code: float | None = None
    took: float | None = None
    is_error = False
    if isinstance(output, dict):
        is_error = fields.at(output, "success") is False
        output = fields.at(output, "content") or output
    elif isinstance(output, str) and output.startswith('{"output"'):
        # 2025: the shell's result as JSON inside of the text.
        wrapped = jsonl.load(output.encode("utf-8", "replace"))
        if isinstance(fields.at(wrapped, "output"), str):
            output = fields.at(wrapped, "output")
        code = fields.number(wrapped, "metadata", "exit_code")
        took = fields.number(wrapped, "metadata", "duration_seconds")
    shown = blocks.plain(parts_of(output)) if output is None or isinstance(output, str | list) else output
    words = shown if isinstance(shown, str) else fields.text(shown, 0, "text") or ""
    if code is None and (head := HEADER.match(words)):
        code = float(head[1] or head[3] or 0)
        took = float(head[2]) if head[2] else took
    is_error = is_error or bool(code)
    if duration_ms is None and took is not None:
        duration_ms = round(took * 1000)
    name = fields.text(payload, "name")
    return ToolResult(fields.text(payload, "call_id"), shown, is_error if failed is None else failed, name, duration_ms)


def duration_of(event: dict[str, Any]) -> int | None:
    """Return how long a call took, in milliseconds, as the event of its end says."""
    took = fields.table(event, "duration")
    if took:
        return (fields.count(took, "secs") or 0) * 1000 + (fields.count(took, "nanos") or 0) // 1_000_000
    begun, ended = fields.seconds(event, "started_at_ms"), fields.seconds(event, "completed_at_ms")
    return round((ended - begun) * 1000) if begun is not None and ended is not None and ended >= begun else None


def failure_of(event: dict[str, Any]) -> bool | None:
    """Return whether a call failed, as the event of its end says; ``None`` when it does not."""
    if isinstance(success := fields.at(event, "success"), bool):
        return not success
    if result := fields.table(event, "result"):
        done = fields.at(result, "Ok")
        return "Err" in result or fields.flag(done, "isError") or fields.flag(done, "is_error")
    code = fields.number(event, "exit_code")
    return None if code is None else code != 0
