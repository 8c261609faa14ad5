"""Contents as Google's Gen AI API has them: text, thoughts, media, function calls and their responses, and what was used.

text {text, thought?}   media {inlineData {mimeType, data}} or {fileData {mimeType, fileUri}}
call {functionCall {id, name, args}}   response {functionResponse {id, name, response {output | error}, parts?}}
usage {promptTokenCount, cachedContentTokenCount in it, toolUsePromptTokenCount beside it, candidatesTokenCount,
      thoughtsTokenCount, totalTokenCount}
"""

from typing import Any

from ..model import Tokens, ToolCall, ToolResult
from . import fields
from .blocks import plain, size_of_base64, text_part

KINDS = ("image", "audio", "video")


class Parts:
    """A content's parts, sorted.

    Args:
        content: text, a part, a list of either, or anything else a damaged record may hold.

    Attributes:
        shown: what can be shown, in order; media without their data.
        calls: the functions it calls.
        results: the responses it holds; media beside them belong to the last one.
        thinking: ``None`` when there is none.
    """

    def __init__(self, content: Any) -> None:
        self.shown: list[Any] = []
        self.calls: list[ToolCall] = []
        self.results: list[ToolResult] = []
        thoughts: list[str] = []
        for part in content if isinstance(content, list) else [content]:
            words = part if isinstance(part, str) else fields.text(part, "text")
            call, response = fields.table(part, "functionCall"), fields.table(part, "functionResponse")
            if call:
                self.calls.append(ToolCall(fields.text(call, "id"), fields.text(call, "name") or "", fields.at(call, "args")))
            elif response:
                self.results.append(result_of(response))
            elif words and fields.flag(part, "thought"):
                thoughts.append(words)
            elif words:
                self.shown.append(text_part(words))
            elif isinstance(part, dict):
                self.shown.extend(media_of(part))
        self.thinking = "\n\n".join(thoughts) or None
        if self.results:
            beside = [part for part in self.shown if part.get("type") != "text"]
            self.results[-1].output = with_media(self.results[-1].output, beside)
            self.shown = [part for part in self.shown if part.get("type") == "text"]


def media_of(part: dict[str, Any]) -> list[Any]:
    """Return a part that is neither text nor function as it is shown, or nothing when it only carries signatures."""
    for name in ("inlineData", "fileData"):
        if blob := fields.table(part, name):
            kind = fields.text(blob, "mimeType")
            family = (kind or "").partition("/")[0]
            shown: dict[str, Any] = {"type": family if family in KINDS else "document", "media_type": kind}
            data, uri = fields.text(blob, "data"), fields.text(blob, "fileUri")
            shown["bytes"] = None if data is None else size_of_base64(data)
            return [{**shown, "uri": uri} if uri else shown]
    known = {"text", "thought", "thoughtSignature", "functionCall", "functionResponse", "inlineData", "fileData"}
    return [part] if part.keys() - known else []


def result_of(response: dict[str, Any]) -> ToolResult:
    """Return a function's response as a tool's result."""
    body = fields.at(response, "response")
    error, output = fields.at(body, "error"), fields.at(body, "output")
    said = error if error is not None else output if output is not None else body if body is not None else ""
    said = with_media(said, Parts(fields.at(response, "parts")).shown)
    return ToolResult(fields.text(response, "id"), said, error is not None, fields.text(response, "name"))


def with_media(output: Any, media: list[Any]) -> Any:
    """Return a tool's output with media that came beside it."""
    if not media:
        return output
    if not isinstance(output, list):
        output = [text_part(output)] if isinstance(output, str) else [output]
    return plain([*(part for part in output if part != text_part("")), *media])


def tokens_of(usage: Any) -> Tokens | None:
    """Return what a response used by its ``usageMetadata``; ``None`` when it says nothing.

    The API counts thoughts beside candidates, gateways of other providers among them: the total tells which.
    """
    prompt, tool = fields.count(usage, "promptTokenCount"), fields.count(usage, "toolUsePromptTokenCount")
    candidates, thoughts = fields.count(usage, "candidatesTokenCount"), fields.count(usage, "thoughtsTokenCount")
    cached, total = fields.count(usage, "cachedContentTokenCount"), fields.count(usage, "totalTokenCount")
    if candidates is not None and thoughts is not None and thoughts <= candidates:
        output = None if total is None else total - (prompt or 0) - (tool or 0)
        if output != candidates + thoughts:
            candidates -= thoughts
    return tokens(prompt, cached, tool, candidates, thoughts)


def tokens(prompt: int | None, cached: int | None, tool: int | None, answer: int | None, thoughts: int | None) -> Tokens | None:
    """Return counts in this program's terms; ``None`` when none is known.

    Args:
        prompt: cached tokens included.
        tool: prompt of the tools the API itself uses, beside ``prompt``.
        answer: without thoughts.
    """
    found = Tokens(
        input=None if prompt is None and tool is None else max(0, (prompt or 0) - (cached or 0)) + (tool or 0),
        output=None if answer is None and thoughts is None else (answer or 0) + (thoughts or 0),
        cache_read=cached,
        reasoning=thoughts,
    )
    return None if found == Tokens() else found
