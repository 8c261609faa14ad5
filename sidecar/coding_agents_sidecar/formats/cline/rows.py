"""The rows of what a task showed, ``ui_messages.json``: {ts, type: ask | say, ask | say, text, images, partial}.

They date a task and tell how it stands. Its conversation is told by them only where the API's own history is lost.
"""

import os
import re
from collections.abc import Iterator, Sequence
from typing import Any

from ...fold import TITLE_LENGTH
from ...model import Ending, Event, Message, Unknown
from .. import blocks, fields
from .requests import told
from .shapes import linked

PASSING = {
    *("api_req_finished", "deleted_api_reqs", "subagent_usage", "api_req_retried", "api_req_retry_delayed", "error_retry"),
    *("api_req_rate_limit_wait", "api_req_deleted", "checkpoint_created", "checkpoint_saved", "task_progress"),
    *("shell_integration_warning", "shell_integration_warning_with_suggestion", "hook_status", "hook_output_stream"),
    *("load_mcp_documentation", "conditional_rules_applied", "condense_context", "sliding_window_truncation"),
    *("too_many_tools_warning", "user_edit_todos", "info"),
}
"""What is said beside the conversation: it does not tell how a task stands."""

OPENED = ("resume_task", "resume_completed_task")
"""Asked when a task is opened again, and nothing else need ever follow."""

ASKED: dict[str, Ending] = {
    "completion_result": "completed",
    "resume_completed_task": "completed",
    # In plan mode this is the whole answer, and the person has the word.
    "plan_mode_respond": "completed",
    "api_req_failed": "error",
    "mistake_limit_reached": "error",
}
SAID: dict[str, Ending] = {"completion_result": "completed", "error": "error", "user_feedback": "aborted"}
BROKEN = ("streaming_failed", "retries_exhausted")

ANSWERS = ("text", "completion_result")
FAILURES = ("error", "api_req_failed")
CHANGED = "HAS_CHANGES"
"""Stands behind the result of a task that changed files."""

UUID = re.compile(r"([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE)


def word(row: Any) -> str | None:
    """Return what a row asks or says."""
    kind = fields.text(row, "type")
    return fields.text(row, kind) if kind in ("ask", "say") else None


def times(rows: Sequence[Any]) -> Iterator[float]:
    """Yield the times of the rows; when a task was merely opened at the end is none."""
    last = len(rows)
    while last and fields.text(rows[last - 1], "ask") in OPENED:
        last -= 1
    for row in rows[:last]:
        time = fields.seconds(row, "ts")
        if time is not None:
            yield time


def ending(rows: Sequence[Any]) -> Ending | None:
    """Return how a task stands by its last row; ``None`` where the conversation must tell."""
    for row in reversed(rows):
        said, asked = fields.text(row, "say"), fields.text(row, "ask")
        if fields.text(row, "type") == "say" and said in PASSING:
            continue
        if fields.flag(row, "partial"):
            return "aborted"
        if fields.text(row, "type") == "ask":
            return ASKED.get(asked or "", "aborted")
        if said == "api_req_started":
            request = told(row)
            failed = fields.text(request, "streamingFailedMessage") or fields.text(request, "cancelReason") in BROKEN
            return "error" if failed else "aborted"
        return SAID.get(said or "")
    return None


def prompt(rows: Sequence[Any]) -> str | None:
    """Return the words a task began with."""
    first = rows[0] if rows else None
    return fields.text(first, "text") if fields.text(first, "say") in ("task", "text") else None


def conversation(rows: Sequence[Any]) -> Iterator[tuple[int, Event]]:
    """Yield the messages that rows tell of, each with the index of its row. What is not whole yet is none."""
    for index, row in enumerate(rows):
        kind = word(row)
        words = (fields.text(row, "text") or "").removesuffix(CHANGED).strip()
        pictures = [linked(url) for url in fields.rows(row, "images") if isinstance(url, str)]
        time = fields.seconds(row, "ts")
        content = blocks.plain([*blocks.parts_of(words), *pictures])
        if kind is None:
            yield index, Unknown()
        elif fields.flag(row, "partial") or not content:
            continue
        elif kind in ("task", "user_feedback") or (kind == "text" and index == 0):
            yield index, Message("user", time, content=content, raw=row)
        elif kind in ANSWERS:
            yield index, Message("assistant", time, content=content, raw=row)
        elif kind in FAILURES:
            yield index, Message("system", time, content=content, raw=row)


def title(words: str | None) -> str | None:
    """Return the first line of a prompt as a title."""
    lines = (" ".join(line.split()) for line in (words or "").splitlines())
    return next((line[:TITLE_LENGTH] for line in lines if line), None)


def born(path: str) -> float | None:
    """Return when a task was made, as the name of its folder says: Unix milliseconds, or a UUID that begins with them."""
    name = os.path.basename(path)
    if name.isascii() and name.isdigit() and len(name) == 13:
        return int(name) / 1000
    found = UUID.fullmatch(name)
    return int(found[1] + found[2], 16) / 1000 if found else None
