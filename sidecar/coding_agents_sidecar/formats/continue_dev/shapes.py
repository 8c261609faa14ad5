"""Contents, tools and counts, as a session's items have them."""

import re
from typing import Any
from urllib.parse import unquote, urlsplit

from ...model import Tokens, ToolCall
from .. import fields, openai
from ..blocks import text_part
from ..cursor import uris

DRIVE = re.compile(r"[a-z]:/")
THOUGHT = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL)
PLACEHOLDERS = ("", "new session", "untitled session", "chat")


def parts_of(content: Any) -> list[Any]:
    """Return what can be shown of a message's content as parts; images without their data."""
    if isinstance(content, str):
        return [text_part(content)] if content else []
    found: list[Any] = []
    for part in content if isinstance(content, list) else ():
        kind = fields.text(part, "type")
        if url := fields.text(part, "imageUrl", "url"):
            found.append(openai.image(url))
        elif words := fields.text(part, "text") or fields.text(part):
            found.append(text_part(words))
        elif kind and kind != "text":
            found.append({"type": kind})
    return found


def words_of(content: Any) -> str:
    """Return the words of a message's content."""
    return "\n\n".join(filter(None, (fields.text(part, "text") for part in parts_of(content))))


def attachments_of(item: Any) -> list[Any]:
    """Return what a person gave along with a prompt; what the program added stays hidden."""
    return [
        {"type": "file", "name": fields.text(one, "name"), "bytes": size_of(fields.text(one, "content"))}
        for one in fields.rows(item, "contextItems")
        if isinstance(one, dict) and not fields.flag(one, "hidden")
    ]


def size_of(words: str | None) -> int | None:
    """Return how many bytes a text has."""
    return None if words is None else len(words.encode("utf-8", "replace"))


def states_of(item: Any) -> list[Any]:
    """Return how the tool calls of an item stand; older versions know of one only."""
    return fields.rows(item, "toolCallStates") or [state for state in [fields.table(item, "toolCallState")] if state]


def id_of(state: Any) -> str | None:
    """Return the id of the tool call that a state is of."""
    return fields.text(state, "toolCallId") or fields.text(state, "toolCall", "id")


def calls_of(item: Any) -> list[ToolCall]:
    """Return the tool calls of an item."""
    calls = openai.calls_of(fields.at(item, "message", "toolCalls")) or []
    known = {call.id for call in calls}
    for state in states_of(item):
        if id_of(state) not in known and (call := fields.table(state, "toolCall")):
            calls.append(openai.call({**call, "id": id_of(state)}))
    return calls


def tokens_of(usage: Any) -> tuple[Tokens | None, bool]:
    """Return counts, and whether input may hold what the cache did.

    All of them begin as 0, which says nothing. Whether cached tokens are part of the prompt's depends on a provider that is
    not named: they are not where they are more.
    """
    prompt, answer = fields.count(usage, "promptTokens"), fields.count(usage, "completionTokens")
    read = fields.count(usage, "promptTokensDetails", "cachedTokens") or None
    written = fields.count(usage, "promptTokensDetails", "cacheWriteTokens") or None
    cached = (read or 0) + (written or 0)
    if not (prompt or answer or cached):
        return None, False
    return Tokens(input=prompt, output=answer, cache_read=read, cache_write=written), 0 < cached <= (prompt or 0)


def title_of(*titles: str | None) -> str | None:
    """Return the first title that is none, without what the model thought when it made it up."""
    for title in titles:
        words = THOUGHT.sub("", title or "").strip()
        if words.lower() not in PLACEHOLDERS:
            return words
    return None


def workspace_of(value: str | None) -> tuple[str | None, str | None]:
    """Return the path of a workspace, which may be a URI, and the machine it lies on when that is another one."""
    path = uris.path_of(value)
    if path and DRIVE.match(path):
        path = path[0].upper() + path[1:]
    try:
        uri = urlsplit(value or "")
    except ValueError:
        return path, None
    return path, unquote(uri.netloc) if uri.netloc and uri.scheme != "file" else None
