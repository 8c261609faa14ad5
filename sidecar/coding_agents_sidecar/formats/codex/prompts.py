"""What a person typed, told from what the runtime put into the conversation as the user.

A typed prompt is stored twice: as a response item and, directly after it, as an event. Where a rollout has such events,
every other item of the user is the runtime's. Older rollouts have none: there the runtime's own text is known by its tags.
"""

import re
from typing import Any

from ...model import Stale
from .. import blocks, fields
from . import content
from .shapes import Entry

INJECTED = re.compile(
    r"\s*(?:<(?:environment_context|user_instructions|instructions|turn_aborted|subagent_notification|user_shell_command|skill"
    r"|goal_context|hook_prompt|permissions instructions|skills_instructions|collaboration_mode|extension_context)(?=[\s>])"
    r"|<\w+ source=\"goal\"|# AGENTS\.md instructions|Another language model started to solve this problem)",
    re.IGNORECASE,
)
HEAD = re.compile(r"(\s*# Context from my IDE setup.*?)## My request for Codex:[ \t]*\n?", re.DOTALL)
TASK = re.compile(r"(\s*Message Type: (\w+)\n(?:[A-Z][\w ]*: ?[^\n]*\n)*?)(?:Payload:[ \t]*\n|\n)")
DIRECTORY = re.compile(r"<cwd>\s*(.+?)\s*</cwd>|Current working directory: *([^\n<]+)")

Sorted = tuple[list[Any], list[Any]]
"""Parts that the runtime put in, parts that were typed."""


class Marks:
    """Whether a rollout marks its prompts.

    Args:
        state: as ``state`` returned it; ``None`` when the rollout is read from its start.

    Attributes:
        used: ``None`` until the first prompt event or the first answer has been seen.
        judged: an item was sorted by its tags.
        guessed: so was the last one, although the next entry will tell.
    """

    def __init__(self, state: list[bool | None] | None = None) -> None:
        used, judged, outdated = state or (None, False, False)
        self.used: bool | None = used
        self.was_judged, self.is_outdated = bool(judged), bool(outdated)
        self.judged, self.guessed = False, False

    def state(self) -> list[bool | None]:
        """Return what reading on needs, as JSON-like data."""
        return [self.used, self.judged or self.was_judged, self.guessed or self.is_outdated]

    @property
    def is_settled(self) -> bool:
        """Whether nothing more is to be learned from reading ahead."""
        return self.used is not None and not self.is_outdated

    def learn(self, entry: Entry) -> None:
        """Take an entry that is read ahead.

        Raises:
            Stale: what has been sorted by its tags must be sorted again.
        """
        if self.is_outdated:
            raise Stale
        if self.used is None and is_mark(entry):
            self.used = True
            if self.was_judged:
                raise Stale
        elif self.used is None and is_answer(entry):
            self.used = False

    def sort(self, payload: dict[str, Any], following: Entry | None) -> Sorted:
        """Return the parts of a user's item.

        Args:
            following: the entry directly after it; ``None`` at the end of the file.
        """
        if self.used and following is not None:
            marked = is_mark(following)
            return by_kinds(payload, typed=True) if marked else (content.parts_of(fields.at(payload, "content")), [])
        self.judged, self.guessed = True, bool(self.used)
        return by_tags(payload)


def is_mark(entry: Entry) -> bool:
    """Return whether an entry is the event of a typed prompt."""
    if entry.kind != "event_msg":
        return False
    if fields.text(entry.payload, "type") == "user_message":
        return (fields.text(entry.payload, "kind") or "plain") == "plain"
    return fields.text(entry.payload, "item", "type") == "UserMessage"


def is_answer(entry: Entry) -> bool:
    """Return whether an entry comes from the model."""
    kind = fields.text(entry.payload, "type") or ""
    return entry.kind == "response_item" and (
        kind == "reasoning" or kind.endswith("_call") or fields.text(entry.payload, "role") == "assistant"
    )


def by_kinds(payload: dict[str, Any], *, typed: bool) -> Sorted:
    """Return the parts of an item as the runtime labels them; ``typed`` goes for those without a label."""
    kinds = fields.rows(payload, "internal_chat_message_metadata_passthrough", "content_item_kinds")
    found = fields.at(payload, "content")
    injected: list[Any] = []
    mine: list[Any] = []
    for index, block in enumerate(found if isinstance(found, list) else [found]):
        label = fields.text(kinds, index)
        (mine if (label.startswith("user.") if label else typed) else injected).extend(content.parts_of(block))
    return split(injected, mine)


def by_tags(payload: dict[str, Any]) -> Sorted:
    """Return the parts of an item by its labels, or by what they begin with where it has none."""
    if fields.rows(payload, "internal_chat_message_metadata_passthrough", "content_item_kinds"):
        return by_kinds(payload, typed=False)
    parts = content.parts_of(fields.at(payload, "content"))
    injected = [part for part in parts if INJECTED.match(fields.text(part, "text") or "")]
    return split(injected, [part for part in parts if part not in injected])


def split(injected: list[Any], typed: list[Any]) -> Sorted:
    """Return the parts with what an editor put above the request among the injected ones."""
    mine = []
    for part in typed:
        words = fields.text(part, "text") or ""
        if head := HEAD.match(words):
            injected.append(blocks.text_part(head[1].strip()))
            part = blocks.text_part(words[head.end() :])
        mine.append(part)
    return injected, mine


def task(words: str) -> tuple[str | None, str, str]:
    """Return the type of a message between agents, its header and its text; type ``None`` and no header where it has none."""
    head = TASK.match(words)
    return (head[2], head[1].strip(), words[head.end() :]) if head else (None, "", words)


def directory(parts: list[Any]) -> str | None:
    """Return the working folder that injected text names."""
    for part in parts:
        if found := DIRECTORY.search(fields.text(part, "text") or ""):
            return (found[1] or found[2]).strip() or None
    return None
