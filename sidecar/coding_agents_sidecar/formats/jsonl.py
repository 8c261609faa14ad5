"""One JSON object a line, as living files have it: cut tails, NUL padding, BOM, CRLF, half surrogate pairs, huge lines."""

import errno
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import orjson

from ..errors import ParseError
from ..model import Checkpoint, Event, Skipped
from . import packed, text

BOM = b"\xef\xbb\xbf"
BLANK = b" \t\r\n\x00"
BLOCK = 1 << 20
MAX_LINE = 256 << 20
"""A longer line is skipped: memory stays bounded by one record."""


@dataclass(slots=True)
class Line:
    """One record.

    Args:
        record: the JSON object.
        end: byte offset just after its line's end.
        whole: the line ended with a newline. A last line without one may still grow.
    """

    record: dict[str, Any]
    end: int
    whole: bool


def records(path: str, start: int = 0, block: int | None = None) -> Iterator[Line | Skipped]:
    """Yield the JSON objects of a file from a byte offset on. Blank lines and values that are no objects say nothing.

    A last line that is no JSON is ``Skipped(tail=True)``.

    Raises:
        ParseError: the file cannot be read.
    """
    pending: Skipped | None = None
    for line, end, whole in lines(path, start, block or BLOCK):
        stripped = b"?" if line is None else line.strip(BLANK).removeprefix(BOM)
        if not stripped:
            if line and b"\x00" in line:
                if pending:
                    yield Skipped(pending.reason)
                pending = Skipped("NUL bytes instead of a record")
            continue
        if pending:
            yield Skipped(pending.reason)
            pending = None
        if line is None:
            pending = Skipped(f"a line of more than {MAX_LINE >> 20} MiB")
            continue
        record = load(stripped)
        if record is None and stripped != b"null":
            pending = Skipped("a line that is no JSON")
        elif isinstance(record, dict):
            yield Line(record, end, whole)
    if pending:
        yield Skipped(pending.reason, tail=True)


def follow(
    lines: Iterable[Line | Skipped],
    offset: int,
    read: Callable[[dict[str, Any]], Iterable[Event]],
    settle: Callable[[], Iterable[Event]] = tuple,
    state: Callable[[], dict[str, Any] | None] = dict,
) -> Iterator[Event]:
    """Yield what the lines of a growing file say, how things stand after them, and where a later reading may go on.

    The promise: going on at the checkpoint gives what reading the grown file from its start gives. So its offset sits just
    after the newline of the last good line. What was skipped behind that is read again with what follows it, and a last
    record without a newline may become another one: both come after the checkpoint.

    Args:
        lines: as ``records`` yields them from ``offset`` on.
        read: what a record says.
        settle: how things stand after the records so far.
        state: what reading on needs, kept in the checkpoint; ``None`` where there can be none.
    """
    held: list[Skipped] = []
    unfinished: dict[str, Any] | None = None
    for line in lines:
        if isinstance(line, Skipped):
            held.append(line)
        elif line.whole:
            yield from held
            held.clear()
            yield from read(line.record)
            offset = line.end
        else:
            unfinished = line.record
    yield from settle()
    if offset and (kept := state()) is not None:
        yield Checkpoint(offset, kept)
    yield from held
    if unfinished is not None:
        yield from read(unfinished)
        yield from settle()


def lines(path: str, start: int, block: int) -> Iterator[tuple[bytes | None, int, bool]]:
    """Yield (bytes of the line or ``None`` when it is too long, offset after it, whether a newline ended it)."""
    try:
        with packed.opened(path) as file:
            file.seek(start)
            parts: list[bytes] = []
            held = 0
            position = start
            while chunk := file.read(block):
                first = chunk.find(b"\n")
                if first < 0:
                    held += len(chunk)
                    if held <= MAX_LINE:
                        parts.append(chunk)
                    else:
                        parts.clear()
                    continue
                head = b"".join([*parts, chunk[: first + 1]]) if held <= MAX_LINE else None
                position += held + first + 1
                yield head, position, True
                begin = first + 1
                while (found := chunk.find(b"\n", begin)) >= 0:
                    position += found + 1 - begin
                    yield chunk[begin : found + 1], position, True
                    begin = found + 1
                rest = chunk[begin:]
                parts, held = ([rest], len(rest)) if rest else ([], 0)
            if held:
                yield b"".join(parts) if held <= MAX_LINE else None, position + held, False
    except OSError as error:
        raise unreadable(path, error) from error
    except packed.ERRORS as error:
        raise ParseError(f"{text.path(path)} is no whole compressed file") from error


def load(line: bytes) -> Any:
    """Return the JSON value, or ``None`` when it is none. What orjson refuses and a lenient reader repairs is repaired."""
    try:
        return orjson.loads(line)
    except orjson.JSONDecodeError:
        pass
    try:
        return text.clean_json(json.loads(line.decode("utf-8", "replace"), strict=False))
    except (ValueError, RecursionError):
        return None


def document(path: str) -> Any:
    """Return the JSON value a whole file holds, or ``None`` when it holds none.

    Raises:
        ParseError: the file cannot be read, or is larger than one record may be.
    """
    try:
        with open(path, "rb") as file:
            data = file.read(MAX_LINE + 1)
    except OSError as error:
        raise unreadable(path, error) from error
    if len(data) > MAX_LINE:
        raise ParseError(f"{text.path(path)} is larger than {MAX_LINE >> 20} MiB")
    return load(data.removeprefix(BOM).strip(BLANK))


def unreadable(path: str, error: OSError) -> ParseError:
    """Return the error for a file that cannot be read, in words without content."""
    reason = error.strerror or errno.errorcode.get(error.errno or 0, type(error).__name__)
    return ParseError(f"{text.path(path)}: {reason}", transient=True)
