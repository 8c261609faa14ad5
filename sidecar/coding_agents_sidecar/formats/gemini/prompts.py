"""What a person typed and what Gemini CLI and its kin put beside it: context, hooks, summaries, the files a prompt names."""

import re
from typing import Any

from .. import fields
from ..blocks import text_part
from ..spoken import Spoken

INJECTED = re.compile(
    r"\s*(?:<(?:session_context|hook_context|state_snapshot|scratchpad|system-reminder)>"
    r"|This is the (?:Gemini CLI|Qwen Code)\. We are setting up)"
)
FILES = re.compile(r"^[ \t]*--- Content from referenced files ---", re.MULTILINE)
FILES_END = "--- End of content ---"
WORKSPACE = re.compile(r"Workspace Directories:\*\*\n((?:[ \t]+- .+\n?)+)")
WORKING = re.compile(r"working in the directory: (.+)")


class Prompt(Spoken):
    """The parts of a user record, sorted.

    Args:
        parts: as ``genai.Parts`` shows them.
        display: what was typed, where the record keeps it apart from what it became.
        injected: as in ``Spoken``.
    """

    def __init__(self, parts: list[Any], display: list[Any], *, injected: bool = False) -> None:
        self.in_files = False
        super().__init__(parts, injected=injected)
        if display and not injected:
            self.replace(display)

    def sort(self, words: str) -> None:
        """Sort one text, at the end of which the files it names may begin."""
        files = FILES.search(words)
        if self.in_files or INJECTED.match(words):
            self.injected.append(text_part(words))
        elif files:
            if before := words[: files.start()].strip():
                self.typed.append(text_part(before))
            self.injected.append(text_part(words[files.start() :]))
            self.in_files = True
        elif words.strip():
            self.typed.append(text_part(words))
        if self.in_files and words.rstrip().endswith(FILES_END):
            self.in_files = False

    def replace(self, display: list[Any]) -> None:
        """Put what was typed in the place of what it became."""
        shown = "\n".join(filter(None, (fields.text(part, "text") for part in display)))
        became = [part for part in self.typed if (words := fields.text(part, "text")) and words.strip() not in shown]
        media = [part for part in self.typed if fields.text(part, "text") is None and part not in display]
        self.injected.extend(became)
        self.typed = [*display, *media]


def directories(parts: list[Any]) -> list[str]:
    """Return the folders that injected context says the session works in, its project first."""
    found: list[str] = []
    for part in parts:
        words = fields.text(part, "text") or ""
        for listed in WORKSPACE.finditer(words):
            found.extend(line.strip().removeprefix("- ").strip() for line in listed[1].splitlines())
        found.extend(working[1].strip() for working in WORKING.finditer(words))
    return found
