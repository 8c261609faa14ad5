"""Transcripts as text, the oldest form.

user:                       a line of its own begins a message; so do assistant: and A:
assistant:
[Thinking] …                in an answer, with what is indented below
[Tool call] Name            with "key: value" indented below, or JSON
[Tool result] Name          with its output below

What stands in <user_query> is text, whatever its lines look like. Nothing tells where the output of a tool ends but the next
of these lines.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ...model import Message, ToolCall, ToolResult
from .. import jsonl
from ..blocks import text_part
from . import replies, spoken
from .bubbles import embedded

SPEAKERS = {"user:": "user", "assistant:": "assistant", "A:": "assistant"}
THINKING, CALL, RESULT = "[Thinking]", "[Tool call]", "[Tool result]"


def messages_of(path: str) -> Iterator[Message]:
    """Yield the messages of a transcript.

    Raises:
        ParseError: it cannot be read.
    """
    speaker, lines, quoting = "", list[str](), False
    for line in lines_of(path):
        if not quoting and line.strip() in SPEAKERS:
            yield from section(speaker, lines)
            speaker, lines = SPEAKERS[line.strip()], []
            continue
        lines.append(line)
        opened = quoting or (speaker == "user" and spoken.QUERY in line)
        quoting = opened and spoken.QUERY_END not in line
    yield from section(speaker, lines)


def lines_of(path: str) -> Iterator[str]:
    """Yield the lines of a file without their ends."""
    for line, _, _ in jsonl.lines(path, 0, jsonl.BLOCK):
        if line is not None:
            yield line.removeprefix(jsonl.BOM).decode("utf-8", "replace").rstrip("\r\n")


def section(speaker: str, lines: list[str]) -> Iterator[Message]:
    """Yield what a speaker says."""
    words = "\n".join(lines).strip()
    if words and speaker == "user":
        yield from replies.asked([text_part(words)], words)
    elif words and speaker == "assistant":
        yield from Answer(lines).messages(words)


@dataclass(slots=True)
class Block:
    """Lines that belong together; ``kind`` is '' for those that are shown as they are."""

    kind: str
    name: str
    lines: list[str] = field(default_factory=list)

    def words(self) -> str:
        """Return what it says."""
        return "\n".join([self.name, *self.lines] if self.kind == THINKING else self.lines).strip()


class Answer:
    """The blocks of an answer."""

    def __init__(self, lines: list[str]) -> None:
        self.blocks = [Block("", "")]
        for line in lines:
            kind = next((mark for mark in (THINKING, CALL, RESULT) if line.startswith(mark)), None)
            if kind is not None:
                self.blocks.append(Block(kind, line.removeprefix(kind).strip()))
                continue
            if self.blocks[-1].kind in (THINKING, CALL) and line.strip() and not line[0].isspace():
                self.blocks.append(Block("", ""))
            self.blocks[-1].lines.append(line)

    def messages(self, raw: str) -> Iterator[Message]:
        """Yield the answer, then the results of its tools."""
        content = "\n\n".join(filter(None, (block.words() for block in self.of(""))))
        thinking = "\n\n".join(filter(None, (block.words() for block in self.of(THINKING)))) or None
        calls = [ToolCall(None, block.name, input_of(block)) for block in self.of(CALL)] or None
        if content or thinking or calls:
            yield Message("assistant", content=spoken.shown(content), tool_calls=calls, thinking=thinking, raw=raw)
        for block in self.of(RESULT):
            yield Message("tool", tool_result=ToolResult(None, block.words(), tool_name=block.name or None))

    def of(self, kind: str) -> list[Block]:
        """Return the blocks of a kind."""
        return [block for block in self.blocks if block.kind == kind]


def input_of(block: Block) -> Any:
    """Return the arguments of a tool call; what has no key goes on with the line before."""
    words = block.words()
    if not isinstance(found := embedded(words), str):
        return found
    arguments: dict[str, str] = {}
    last = ""
    for line in block.lines:
        key, colon, value = line.strip().partition(":")
        if colon and key.isidentifier():
            last = key
            arguments[key] = value.strip()
        elif last and line.strip():
            arguments[last] = f"{arguments[last]}\n{line.strip()}"
    return arguments or words or None
