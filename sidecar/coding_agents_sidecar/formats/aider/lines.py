"""The lines of a chat. Nothing in it is escaped, and answers are cut inside of fences: only what a line begins with counts.

# aider chat started at 2026-01-05 09:30:00      a run of the program begins
#### a prompt, each of its lines
> what the program said, each of its lines
anything else is an answer
"""

import re
from enum import Enum

from .. import jsonl

HEADER = re.compile(rb"# aider chat started at (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\s*")
MARKS = (b"#### ", b"> ", b"# aider chat started at ")


class Kind(Enum):
    """What a line is."""

    BLANK = 0
    PROMPT = 1
    NOTE = 2
    ANSWER = 3


def header_in(line: bytes) -> str | None:
    """Return the local time in the line that begins a run, ``None`` for any other line."""
    found = HEADER.fullmatch(line.removeprefix(jsonl.BOM).rstrip(jsonl.BLANK)) if b"aider chat started" in line else None
    return found[1].decode() if found else None


def kind_of(line: bytes) -> Kind:
    """Return what a line is that begins no run."""
    # Editors take away the blank behind a mark with nothing after it.
    marked = line.removeprefix(jsonl.BOM).rstrip(jsonl.BLANK) + b" "
    if marked == b" ":
        return Kind.BLANK
    if marked.startswith(b"#### "):
        return Kind.PROMPT
    return Kind.NOTE if marked.startswith(b"> ") else Kind.ANSWER


def words_of(line: bytes, kind: Kind) -> str:
    """Return what a line says, without its mark and without its end."""
    words = line.removeprefix(jsonl.BOM).rstrip(b"\r\n").decode("utf-8", "replace")
    if kind is Kind.ANSWER:
        return words
    return words.removeprefix("####" if kind is Kind.PROMPT else ">").removeprefix(" ").rstrip()


def is_unfinished(line: bytes) -> bool:
    """Return whether a last line without an end may still become something else than an answer."""
    return header_in(line) is None and (line.startswith(MARKS[-1]) or any(mark.startswith(line) for mark in MARKS))
