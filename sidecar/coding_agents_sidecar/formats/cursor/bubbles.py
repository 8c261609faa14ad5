"""Bubbles, the messages of the editor's conversations -> events.

{type: 1 a prompt | 2 an answer, bubbleId, text, richText, createdAt, timingInfo, modelInfo {modelName}, images, errorDetails,
 thinking {text} | allThinkingBlocks, tokenCount {inputTokens, outputTokens}, capabilityType,
 toolFormerData {name, toolCallId, status, rawArgs, params, result: JSON as text, userDecision}}

A tool's call and its result are one bubble, the result has no time unless ``completedAtMs`` tells one. The service stopped
sending token counts: nearly all are zero, which says nothing. Older bubbles have no time; it is not made up. Which model
answers is noted on the prompt, or on the answer.
"""

import mimetypes
from collections.abc import Iterator
from typing import Any

from ...model import Ending, Event, Message, Skipped, Tokens, ToolCall, ToolResult, Usage
from .. import fields, jsonl
from ..blocks import plain, text_part
from . import models, moments, replies, spoken

PROMPT, ANSWER = 1, 2
COMPACTION = 22
"""The ``capabilityType`` of the mark where the conversation was summarized."""

REFUSED = ("cancelled", "canceled", "rejected")
OVER = (*REFUSED, "completed", "error")
TIMES = ("clientRpcSendTime", "clientSettleTime", "clientEndTime")


class Bubbles:
    """The bubbles of one conversation, one after the other.

    Attributes:
        any: there was one.
        ending: how the conversation stands after the last one.
        chosen: the model that answers the last prompt, where it is known.
    """

    def __init__(self, conversation: str) -> None:
        self.conversation = conversation
        self.any = False
        self.ending: Ending = "completed"
        self.chosen: str | None = None

    def events(self, bubble: dict[str, Any], header: Any) -> Iterator[Event]:
        """Yield what a bubble says.

        Args:
            header: its entry in the list of the conversation.
        """
        kind = fields.count(bubble, "type") or fields.count(header, "type")
        if kind not in (PROMPT, ANSWER):
            yield Skipped("a bubble of an unknown kind")
            return
        self.any = True
        id = fields.text(bubble, "bubbleId") or fields.text(header, "bubbleId")
        time = time_of(bubble) or moments.seconds(header, "createdAt")
        model = models.name_of(bubble, "modelInfo", "modelName")
        if kind == PROMPT:
            self.chosen = model
            self.ending = "aborted"
            yield from replies.asked(prompt_of(bubble), bubble, time=time, id=id)
            if tokens := tokens_of(bubble):
                yield Usage(tokens, model=model, time=time, aside=True)
        else:
            self.chosen = model or self.chosen
            yield from self.answer(bubble, time, id)

    def answer(self, bubble: dict[str, Any], time: float | None, id: str | None) -> Iterator[Event]:
        """Yield an answer, what it used, and the result of its tool."""
        tool = fields.table(bubble, "toolFormerData")
        call, result = call_of(tool), result_of(tool)
        words = spoken.shown(fields.text(bubble, "text") or fields.text(bubble, "rawText") or "")
        thinking = thinking_of(bubble)
        error = fields.at(bubble, "errorDetails")
        is_empty = not (words or thinking or call)
        tokens = tokens_of(bubble)
        key = f"{self.conversation}:{id}" if tokens and id else None
        if fields.count(bubble, "capabilityType") == COMPACTION or (is_empty and error):
            yield Message("system", time, id, key, words or error_words(error), raw=bubble)
        else:
            calls = [call] if call else None
            yield Message("assistant", time, id, key, words, calls, thinking=thinking, model=self.chosen, raw=bubble)
        if tokens:
            yield Usage(tokens, key, self.chosen, time)
        if result:
            yield Message("tool", moments.clock(bubble, "completedAtMs"), tool_result=result)
        waiting = call is not None and (fields.text(tool, "status") or OVER[0]) not in OVER
        self.ending = "error" if error else "aborted" if waiting else "completed"


def time_of(bubble: Any) -> float | None:
    """Return when a bubble was made; ``None`` for the many old ones that do not tell."""
    found = (moments.seconds(bubble, "createdAt"), *(moments.clock(bubble, "timingInfo", name) for name in TIMES))
    return next((time for time in found if time is not None), None)


def prompt_of(bubble: Any) -> list[Any]:
    """Return a prompt's text and images."""
    rich = fields.at(bubble, "richText")
    words = fields.text(bubble, "text") or fields.text(bubble, "rawText") or rich_words(rich)
    return [*([text_part(words)] if words else []), *map(image_of, fields.rows(bubble, "images"))]


def rich_words(rich: Any) -> str:
    """Return the words of rich text: a tree of nodes as JSON, or plain text in its place."""
    tree = embedded(rich)
    if not isinstance(tree, dict):
        return tree if isinstance(tree, str) else ""
    words: list[str] = []
    waiting = [fields.at(tree, "root")]
    while waiting:
        node = waiting.pop()
        words.append(fields.text(node, "text") or ("\n" if fields.text(node, "type") in ("linebreak", "paragraph") else ""))
        waiting.extend(reversed(fields.rows(node, "children")))
    return "".join(words).strip()


def image_of(image: Any) -> dict[str, Any]:
    """Return an image without its data; most name a file."""
    media_type = mimetypes.guess_type(fields.text(image, "path") or "")[0]
    return {"type": "image", "media_type": media_type, "bytes": replies.size_of(fields.at(image, "data"))}


def thinking_of(bubble: Any) -> str | None:
    """Return the thinking before an answer."""
    thoughts = [fields.at(bubble, "thinking"), *fields.rows(bubble, "allThinkingBlocks")]
    return "\n\n".join(filter(None, (fields.text(one) or fields.text(one, "text") for one in thoughts))) or None


def call_of(tool: Any) -> ToolCall | None:
    """Return a tool call; ``None`` where only the shell of one was kept."""
    name, id = fields.text(tool, "name"), fields.text(tool, "toolCallId")
    if name is None and id is None:
        return None
    input = embedded(fields.at(tool, "rawArgs"))
    return ToolCall(id, name or "", embedded(fields.at(tool, "params")) if input in (None, "", {}) else input)


def result_of(tool: Any) -> ToolResult | None:
    """Return a tool's result; ``None`` where none was kept, or it was not let run."""
    result, status = fields.text(tool, "result"), fields.text(tool, "status")
    if result is None or status in REFUSED or fields.text(tool, "userDecision") in REFUSED:
        return None
    return ToolResult(fields.text(tool, "toolCallId"), embedded(result), status == "error", fields.text(tool, "name"))


def tokens_of(bubble: Any) -> Tokens | None:
    """Return what an answer used; a count of zero says nothing."""
    input, output = fields.count(bubble, "tokenCount", "inputTokens"), fields.count(bubble, "tokenCount", "outputTokens")
    return Tokens(input=input or None, output=output or None) if input or output else None


def error_words(error: Any) -> str:
    """Return what an error says."""
    named = (fields.text(error, name) for name in ("message", "error", "title"))
    return fields.text(error) or next(filter(None, named), "")


def embedded(value: Any) -> Any:
    """Return the object or array in a text, or the text itself when there is none."""
    found = jsonl.load(value.encode("utf-8", "surrogatepass")) if isinstance(value, str) and value else None
    return found if isinstance(found, dict | list) else value


def chat_events(bubble: Any) -> Iterator[Event]:
    """Yield what a bubble of the old chat panel says: {type: user | ai, text | rawText, modelType}."""
    words = fields.text(bubble, "text") or fields.text(bubble, "rawText") or ""
    match fields.text(bubble, "type"):
        case "user":
            yield from replies.asked([text_part(words)] if words else [], bubble, id=fields.text(bubble, "id"))
        case "ai" | "assistant":
            model = models.name_of(bubble, "modelType")
            yield Message("assistant", id=fields.text(bubble, "id"), content=plain([text_part(words)]), model=model, raw=bubble)
