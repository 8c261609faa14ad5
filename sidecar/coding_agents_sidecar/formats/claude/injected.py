"""What a person typed and what the runtime put beside it, told apart by the tags that Claude Code and its kin use."""

import re
from typing import Any

from .. import blocks, fields

WHOLE = re.compile(
    r"\s*(?:<(?:command-(?:name|message|args)|local-command-(?:stdout|stderr|caveat)|bash-(?:input|stdout|stderr)|task-notification|user-memory-input"
    r"|session-start-hook|system-reminder|ide_\w+)>|Caveat: The messages below|\[Request interrupted"
    r"|This session is being continued from a previous conversation)"
)
HEAD = re.compile(r"\s*<(ide_\w+|system-reminder)>.*?</\1>\s*", re.DOTALL)
INTERRUPTED = re.compile(r"\s*\[Request interrupted")
COMMAND = re.compile(r"\s*<command-(?:name|message|args)>")
COMMAND_NAME = re.compile(r"<command-name>\s*/?([^<]*?)\s*</command-name>")
COMMAND_ARGS = re.compile(r"<command-args>\s*(.*?)\s*</command-args>", re.DOTALL)


class Spoken:
    """The text of a user record, sorted.

    Args:
        content: text, a list of blocks, or parts.
        injected: the runtime says that all of it is its own.

    Attributes:
        typed: parts a person is responsible for.
        injected: parts the runtime put in.
        command: name of the slash command the text calls, without the slash.
        interrupted: a person broke the turn off.
    """

    def __init__(self, content: Any, *, injected: bool = False) -> None:
        self.typed: list[Any] = []
        self.injected: list[Any] = []
        self.command: str | None = None
        self.interrupted = False
        for part in blocks.parts_of(content):
            words = fields.text(part, "text")
            self.interrupted = self.interrupted or INTERRUPTED.match(words or "") is not None
            # What follows a slash command in its record is the text the command stands for.
            if injected or self.command:
                self.injected.append(part)
            elif words is None:
                self.typed.append(part)
            else:
                self.sort(words)

    def sort(self, words: str) -> None:
        """Sort one text, which may begin with reminders that do not belong to it."""
        end = 0
        while head := HEAD.match(words, end):
            self.injected.append(blocks.text_part(head[0].strip()))
            end = head.end()
        words = words[end:]
        name = COMMAND_NAME.search(words) if COMMAND.match(words) else None
        if name and name[1]:
            self.call(name[1], words)
        elif words.strip():
            (self.injected if WHOLE.match(words) else self.typed).append(blocks.text_part(words))

    def call(self, name: str, words: str) -> None:
        """Take a slash command: arguments were typed, without any it is the runtime's text."""
        self.command = name
        arguments = COMMAND_ARGS.search(words)
        if arguments and arguments[1]:
            self.typed.append(blocks.text_part(f"/{name} {arguments[1]}"))
        else:
            self.injected.append(blocks.text_part(words))
