"""What events say of a conversation that are no part of it."""

from typing import Any

from ...model import Ending
from .. import fields


def ending_of(kind: str, data: dict[str, Any]) -> Ending | None:
    """Return how a conversation stands after an event, where that says so."""
    match kind:
        case "session.error" | "subagent.failed":
            return "error"
        case "abort":
            return "aborted"
        case "subagent.completed":
            return "aborted" if fields.flag(data, "cancelled") else "completed"
        case "session.task_complete" if fields.at(data, "success") is not False:
            return "completed"
    return None


def words_of(kind: str, data: dict[str, Any]) -> str | None:
    """Return what the runtime said in an event, or a person to the runtime alone."""
    match kind:
        case "session.error":
            return fields.text(data, "message")
        case "system.notification":
            return fields.text(data, "content")
        case "session.handoff":
            return fields.text(data, "summary")
        case "session.compaction_complete":
            return fields.text(data, "summaryContent")
        case "tool.user_requested":
            return fields.text(data, "arguments", "command") or fields.text(data, "toolName")
    return None
