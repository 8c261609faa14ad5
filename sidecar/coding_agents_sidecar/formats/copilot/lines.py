"""The events of a log, with what crashes do to its lines made good.

A raw line break inside of a string has split an event over several lines: these are joined again. An event that was cut
off, or that ends in NUL bytes, has the next one glued to it: the part that is whole is kept. Lines end with \\n alone,
U+2028 and U+2029 are ordinary characters.
"""

import json
import re
from collections import deque
from collections.abc import Iterator
from typing import Any

from ...model import Skipped
from .. import fields, jsonl, text

PIECES = 32
"""Lines that an event is looked for in, at most: a prompt may have many."""

BEGIN = re.compile(r'\{"type":')
CUT = "an event that was cut off"
DECODER = json.JSONDecoder(strict=False)

Physical = tuple[bytes | None, int, bool]
"""As ``jsonl.lines`` yields them."""


def records(path: str, start: int = 0) -> Iterator[jsonl.Line | Skipped]:
    """Yield the JSON objects of a log from a byte offset on, as ``jsonl.records`` does.

    Raises:
        ParseError: the file cannot be read.
    """
    lines = jsonl.lines(path, start, jsonl.BLOCK)
    ahead: deque[Physical] = deque()
    pending: Skipped | None = None
    while (physical := ahead.popleft() if ahead else next(lines, None)) is not None:
        data, end, whole = physical
        stripped = b"?" if data is None else bare(data)
        if not stripped and (data is None or b"\x00" not in data):
            continue
        if pending:
            yield Skipped(pending.reason)
            pending = None
        if data is None or not stripped:
            pending = Skipped("NUL bytes instead of an event" if data else "a line that is too long")
            continue
        record = jsonl.load(stripped)
        if isinstance(record, dict):
            yield jsonl.Line(record, end, whole)
        elif record is None and stripped != b"null":
            if joined := rejoined(data, ahead, lines):
                yield joined
                continue
            found, lost = glued(stripped)
            if lost and not found:
                pending = Skipped(CUT)
            elif lost:
                yield Skipped(CUT)
            for one in found:
                yield jsonl.Line(one, end, whole)
    if pending:
        yield Skipped(pending.reason, tail=True)


def bare(data: bytes) -> bytes:
    """Return a line without the bytes around and inside of it that say nothing."""
    return data.replace(b"\x00", b"").strip(jsonl.BLANK).removeprefix(jsonl.BOM)


def rejoined(data: bytes, ahead: deque[Physical], lines: Iterator[Physical]) -> jsonl.Line | None:
    """Return the event that a line and those behind it are pieces of, these then being used up; ``None`` when they are not."""
    for count in range(1, PIECES):
        if not is_open(data):
            return None
        if len(ahead) < count:
            following = next(lines, None)
            if following is None:
                return None
            ahead.append(following)
        piece, end, whole = ahead[count - 1]
        if piece is None:
            return None
        data += piece
        record = jsonl.load(bare(data))
        if isinstance(record, dict) and is_event(record):
            for _ in range(count):
                ahead.popleft()
            return jsonl.Line(record, end, whole)
    return None


def is_open(data: bytes) -> bool:
    """Return whether a line ends inside of a string."""
    try:
        DECODER.decode(bare(data).decode("utf-8", "replace"))
    except json.JSONDecodeError as error:
        return error.msg.startswith("Unterminated string")
    except RecursionError:
        return False
    return False


def glued(line: bytes) -> tuple[list[dict[str, Any]], bool]:
    """Return the whole events that stand one behind the other in a line, and whether something else does too."""
    words = line.decode("utf-8", "replace")
    found: list[dict[str, Any]] = []
    position = 0
    while position < len(words):
        record, end = decoded(words, position)
        if record is None:
            # Parts of the event that was cut off look like events themselves, but none of them ends the line.
            for begin in BEGIN.finditer(words, position):
                record, end = decoded(words, begin.start())
                if record is not None and end == len(words):
                    return [*found, record], True
            return found, True
        found.append(record)
        position = end
    return found, False


def decoded(words: str, position: int) -> tuple[dict[str, Any] | None, int]:
    """Return the event at a place in a line, or ``None``, and where what follows it begins."""
    try:
        value, end = DECODER.raw_decode(words, position)
    except (ValueError, RecursionError):
        return None, position
    end += len(words[end:]) - len(words[end:].lstrip())
    return (text.clean_json(value), end) if is_event(value) else (None, position)


def is_event(record: Any) -> bool:
    """Return whether a JSON value is an event of a log."""
    return fields.text(record, "type") is not None and isinstance(fields.at(record, "data"), dict)
