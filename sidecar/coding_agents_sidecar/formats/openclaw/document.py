"""A session as one JSON document, as OpenClaw documents it: ``sessions/<channel>/<id>.json``.

{id or sessionId, title, createdAt, updatedAt, messages: [{id, role, content, timestamp, provider, model, usage}]}

The messages are those of Pi's entries. It has no forks, so nothing in it is a copy of something in another one.
"""

from collections.abc import Iterator
from typing import Any

from .. import fields
from .entries import ClawEntries

ROLES = {"tool": "toolResult", "tool_result": "toolResult"}
AMOUNTS = {
    "input": ("input", "inputTokens", "input_tokens"),
    "output": ("output", "outputTokens", "output_tokens"),
    "cacheRead": ("cacheRead", "cacheReadTokens", "cache_read_tokens"),
    "cacheWrite": ("cacheWrite", "cacheWriteTokens", "cache_write_tokens"),
    "reasoning": ("reasoning", "reasoningTokens", "reasoning_tokens"),
}


class DocumentEntries(ClawEntries):
    """The messages of a document, each as an entry."""

    def key(self, record: dict[str, Any]) -> str | None:
        return None


def entries_of(document: Any) -> Iterator[dict[str, Any]]:
    """Yield the messages of a document in the form of entries, one after the other."""
    for message in fields.rows(document, "messages"):
        if role := fields.text(message, "role"):
            told = {**message, "role": ROLES.get(role, role), "usage": usage_of(message)}
            yield {
                "type": "message",
                "id": fields.text(message, "id"),
                "timestamp": fields.at(message, "timestamp"),
                "message": told,
            }


def usage_of(message: Any) -> dict[str, Any]:
    """Return what a message used, in the form of an entry; how a document names it is not known for certain."""
    usage = fields.table(message, "usage") or fields.table(message, "tokens")
    amounts = {name: next((usage[one] for one in names if one in usage), None) for name, names in AMOUNTS.items()}
    costs = (fields.number(usage, "cost", "total"), fields.number(message, "cost", "total"), fields.number(message, "cost"))
    return {**amounts, "cost": {"total": next((cost for cost in costs if cost is not None), None)}}
