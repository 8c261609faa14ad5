"""What a person typed and what Cursor put around it.

<user_query> … </user_query>     what was typed, where there is such a tag; everything else is Cursor's
<user_info> … </user_info>       and others of this kind around the text: Cursor's
[REDACTED]                       in an answer: thinking that is not shown
"""

import re
from typing import Any

from .. import fields
from ..blocks import text_part

QUERY, QUERY_END = "<user_query>", "</user_query>"
TAGS = (
    *("additional_data", "agent_skills", "agent_transcripts", "attached_files", "cursor_commands", "current_file"),
    *("external_links", "git_status", "image_files", "linter_errors", "manually_attached_skills", "mcp_file_system"),
    *("open_and_recently_viewed_files", "project_layout", "rules", "system-reminder", "system_notification"),
    *("system_reminder", "terminal_files_information", "timestamp", "user_info"),
)
OPENING = re.compile(rf"\s*<({'|'.join(TAGS)})(?:\s[^<>]*)?>")
CLOSING = re.compile(rf"</({'|'.join(TAGS)})>\s*\Z")
CLOSING_ROOM = 64
"""A closing tag is looked for so near the end of a text."""

REDACTED = re.compile(r"(?:\A|\n)\s*\[REDACTED\]\s*\Z")


class Spoken:
    """The parts of a user message, sorted.

    Attributes:
        typed: parts a person is responsible for.
        injected: parts that Cursor put in.
    """

    def __init__(self, parts: list[Any]) -> None:
        self.typed: list[Any] = []
        self.injected: list[Any] = []
        for part in parts:
            words = fields.text(part, "text")
            if words is None:
                self.typed.append(part)
            else:
                self.sort(words)

    def sort(self, words: str) -> None:
        """Sort one text."""
        start, end = around(words)
        inner = words[start:end]
        self.inject(words[:start])
        if QUERY_END in inner or inner.lstrip().startswith(QUERY):
            position = 0
            while (opening := inner.find(QUERY, position)) >= 0:
                self.inject(inner[position:opening])
                closing = inner.find(QUERY_END, opening)
                closing = len(inner) if closing < 0 else closing
                self.type(inner[opening + len(QUERY) : closing])
                position = closing + len(QUERY_END)
            self.inject(inner[position:])
        else:
            self.type(inner)
        self.inject(words[end:])

    def type(self, words: str) -> None:
        """Take words a person typed."""
        if words.strip():
            self.typed.append(text_part(words.strip()))

    def inject(self, words: str) -> None:
        """Take words that Cursor put in."""
        if words.strip():
            self.injected.append(text_part(words.strip()))


def around(words: str) -> tuple[int, int]:
    """Return where what stands between Cursor's own tags begins and ends."""
    start, end = 0, len(words)
    while opening := OPENING.match(words, start):
        tag = f"</{opening[1]}>"
        closing = words.find(tag, opening.end())
        if closing < 0:
            break
        start = closing + len(tag)
    while closing_tag := CLOSING.search(words, max(start, end - CLOSING_ROOM), end):
        found = words.rfind(f"<{closing_tag[1]}>", start, closing_tag.start())
        if found < 0:
            break
        end = found
    return start, end


def shown(words: str) -> str:
    """Return what an answer shows."""
    return REDACTED.sub("", words)
