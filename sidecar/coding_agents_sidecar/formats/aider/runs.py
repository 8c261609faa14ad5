"""The runs in a chat file: where each lies, when it was, and a name for it that stays when the file grows or is trimmed.

A run begins with a header. Headers tell local time, and need not be in order: several processes write to one file. Beside
the chat lies the history of input, ``# <local time>`` and lines with a ``+``, which tells when a prompt was typed.
"""

import hashlib
import os
import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from zoneinfo import ZoneInfo

from ...adapter import Source
from ...errors import ParseError
from .. import fields, jsonl, text
from .lines import Kind, header_in, is_unfinished, kind_of

DAY = 86400
"""A file that was written later than so long after all that is known of its last run was copied or checked out then."""

TYPED = re.compile(rb"# (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)?)\s*")


@dataclass(frozen=True, slots=True)
class History(Source):
    """A chat file.

    Args:
        project: folder the chats were about, ``None`` when nothing tells it.
        zone: name of the time zone that local times are in; '' for that of this process.
    """

    project: str | None = None
    zone: str = ""


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of a file from one header to the next.

    Args:
        header: its time in words; ``None`` for what stands before the first one.
        start, end: byte offsets.
        digest: of the bytes between them.
        is_said: somebody said something in it.
    """

    header: str | None
    start: int
    end: int
    digest: str
    is_said: bool


@dataclass(frozen=True, slots=True)
class Run:
    """A part in which something was said.

    Args:
        id: hash of the file's path, time of the header, and its number among the headers of that time.
        started: ``None`` when no header tells it.
        last: the latest that is known of it.
    """

    id: str
    part: Part
    started: float | None
    last: float | None

    def stamp(self) -> str:
        """Return what changes whenever the run does."""
        return f"{self.part.digest}.{self.started}.{self.last}"


def in_file(source: History) -> tuple[Run, ...]:
    """Return the runs of a file, which is looked through once for every state that it is in.

    Raises:
        ParseError: it cannot be read.
    """
    try:
        stamp = source.stamp()
    except OSError as error:
        raise jsonl.unreadable(source.path, error) from error
    if stamp is None:
        raise ParseError(f"{text.path(source.path)} is gone", transient=True)
    return _in_file(source, stamp.value)


@lru_cache(maxsize=16)
def _in_file(source: History, stamp: str) -> tuple[Run, ...]:
    parts = list(split(source.path))
    if not parts:
        return ()
    starts = [None if part.header is None else moment(part.header, source.zone) for part in parts]
    if parts[0].header is None:
        # It was there when the first header came.
        starts[0] = next((start for start in starts if start is not None), None)
    lasts = last_times(source, starts)
    place = hashlib.sha256(os.fsencode(os.path.realpath(source.path))).hexdigest()[:12]
    numbers: Counter[str] = Counter()
    found = []
    for part, started, last in zip(parts, starts, lasts, strict=True):
        # Nothing but what was said before the first header can have this name.
        name = "before" if part.header is None else part.header.replace(" ", "T")
        numbers[name] += 1
        if part.is_said:
            found.append(Run(f"{place}:{name}:{numbers[name]}", part, started, last))
    return tuple(found)


def split(path: str) -> Iterator[Part]:
    """Yield the parts of a file, without empty lines at their ends: those are written with the next header."""
    header: str | None = None
    start = end = place = 0
    digest, is_said = hashlib.blake2b(digest_size=12), False
    empty: list[bytes] = []
    for line, after, whole in jsonl.lines(path, 0, jsonl.BLOCK):
        line = b"" if line is None else line
        kind, found = kind_of(line), header_in(line)
        if not whole and is_unfinished(line):
            break
        if found:
            if end:
                yield Part(header, start, end, digest.hexdigest(), is_said)
            header, start, is_said = found, place, False
            digest, empty = hashlib.blake2b(digest_size=12), []
        elif kind is Kind.PROMPT or (kind is Kind.ANSWER and header is not None):
            # Before the first header stands what other programs left behind, unless it has a prompt.
            is_said = True
        place = after
        empty.append(line)
        if kind is not Kind.BLANK:
            digest.update(b"".join(empty))
            empty.clear()
            end = after
    if end:
        yield Part(header, start, end, digest.hexdigest(), is_said)


def last_times(source: History, starts: list[float | None]) -> list[float | None]:
    """Return the latest that is known of each part: the last prompt before the next start, for the last part the file's time."""
    typed = typed_at(source)
    order = sorted(start for start in starts if start is not None)
    lasts: list[float | None] = []
    for start in starts:
        if start is None:
            lasts.append(None)
            continue
        index = bisect_right(order, start)
        until = bisect_left(typed, order[index]) if index < len(order) else len(typed)
        lasts.append(typed[until - 1] if until and typed[until - 1] >= start else start)
    written = written_at(source.path)
    known = lasts[-1]
    if written is not None and (known is None or known <= written <= known + DAY):
        lasts[-1] = written
    return lasts


def typed_at(source: History) -> list[float]:
    """Return the times in the history of input, sorted; none when there is none that can be read."""
    found = []
    for path in source.files:
        if path == source.path:
            continue
        try:
            for line, _, _ in jsonl.lines(path, 0, jsonl.BLOCK):
                stamp = TYPED.fullmatch(line) if line else None
                time = moment(stamp[1].decode(), source.zone) if stamp else None
                if time is not None:
                    found.append(time)
        except ParseError:
            return []
    return sorted(found)


def written_at(path: str) -> float | None:
    """Return when a file was last written."""
    try:
        return os.stat(path).st_mtime
    except OSError:
        return None


def moment(words: str, zone: str) -> float | None:
    """Return Unix seconds from a local time, of two that are called alike the first; ``None`` when it is none."""
    try:
        return fields.seconds(datetime.fromisoformat(words).replace(tzinfo=named(zone)).timestamp())
    except (ValueError, OverflowError, OSError):
        return None


@lru_cache(maxsize=16)
def named(zone: str) -> ZoneInfo | None:
    """Return the time zone with a name; ``None``, for that of this process, when it is none of the database's."""
    try:
        return ZoneInfo(zone.removeprefix(":")) if zone else None
    except (LookupError, ValueError, OSError):
        return None
