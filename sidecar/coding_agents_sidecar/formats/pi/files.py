"""Session files of Pi and its relatives: the header that opens them, and reading on from a checkpoint.

<stamp>_<id>.jsonl      a title slot (Oh My Pi only), the header, entries

The first valid header counts, its id wins over the file's name. Without one a file is no session's, but one that holds
entries all the same has lost its header to damage.
"""

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from typing import Any

from ...adapter import Source
from ...errors import ParseError
from ...model import Checkpoint, Event, Info, Skipped, Start
from .. import fields, jsonl, packed, text
from . import content
from .entries import TYPES, Entries

BLOCK = 1 << 16
OPENING = 64
"""Lines in which a header is looked for."""

HEADER_TITLE = 1
STAMPED = re.compile(r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d+Z_(.+?)")
SUFFIXES = (".jsonl", ".jsonl.gz")


@dataclass(slots=True)
class Opening:
    """How a file begins.

    Args:
        header: ``None`` when it has none.
        end: byte offset of what follows.
        slot: the record of the title slot.
        skipped: what could not be read up to there.
        entries: entries stand before any header.
        messages: messages without a type do, as in the form that is documented.
    """

    header: dict[str, Any] | None = None
    end: int = 0
    slot: dict[str, Any] = field(default_factory=dict)
    skipped: list[Skipped] = field(default_factory=list)
    entries: bool = False
    messages: bool = False


def opening(path: str) -> Opening:
    """Return how a file begins.

    Raises:
        ParseError: the file cannot be read.
    """
    found = Opening()
    for line in islice(jsonl.records(path, block=BLOCK), OPENING):
        if isinstance(line, Skipped):
            found.skipped.append(line)
            continue
        kind = fields.text(line.record, "type")
        if kind == "session" and fields.text(line.record, "id"):
            found.header = line.record
            if line.whole:
                found.end = line.end
            else:
                # It is read again, with what stands before it.
                found.skipped.clear()
            break
        found.entries = kind in TYPES
        found.messages = kind is None and fields.text(line.record, "role") is not None
        if found.entries or found.messages:
            break
        if kind == "title":
            found.slot = line.record
    return found


def headless(path: str) -> ParseError:
    """Return the error for a file of entries that no header opens."""
    return ParseError(f"{text.path(path)} has no session header")


def facts(header: dict[str, Any]) -> Info:
    """Return what a header says of its session."""
    provider, model = content.model_of(header)
    return Info(
        project_path=fields.text(header, "cwd"),
        started_at=fields.seconds(header, "timestamp"),
        title=fields.text(header, "title"),
        title_rank=HEADER_TITLE,
        model=model,
        meta={"provider": provider} if provider else None,
    )


def follow(path: str, start: Start, entries: Entries, head: Opening, resume: Checkpoint | None) -> Iterator[Event]:
    """Yield what a file says behind its head, or from a checkpoint on, and where its reading may go on.

    Args:
        start: the session's, already told. Of several files with one id the newer counts.
    """
    offset, skipped = (resume.offset, []) if resume else (head.end, head.skipped)
    yield from jsonl.follow(
        chain(skipped, jsonl.records(path, offset)),
        offset,
        read=entries.entry,
        settle=lambda: settled(start, entries),
        state=lambda: None if packed.is_packed(path) else entries.state(),
    )


def settled(start: Start, entries: Entries) -> Iterator[Event]:
    """Yield how the session stands, and its preference by age if it has no other."""
    yield from entries.settle()
    yield replace(start, preference=start.preference or int(entries.newest))


def changed(source: Source) -> float | None:
    """Return when a source's own file was written, where other files belong to it; ``None`` when none does."""
    try:
        return os.stat(source.path).st_mtime if source.files else None
    except OSError:
        return None


def parent_of(header: dict[str, Any], path: str, root: str, named: Callable[[str], str | None]) -> str | None:
    """Return the native id of the session that a file says it was made from.

    Args:
        named: tells the id that a file's name holds, for a file that is gone.
    """
    parent = fields.text(header, "parentSession") or fields.text(header, "branchedFrom")
    if parent is None:
        return None
    # The path may be of another machine, or lead anywhere.
    name = re.split(r"[/\\]", parent)[-1]
    return id_of(parent, root) or id_of(os.path.join(os.path.dirname(path), name), root) or named(name)


def id_of(path: str, root: str) -> str | None:
    """Return the id in the header of a file below a root; ``None`` when there is none."""
    real = os.path.realpath(path) if "\0" not in path else ""
    if not real.startswith(os.path.realpath(root) + os.sep) or not os.path.isfile(real):
        return None
    try:
        return fields.text(opening(real).header, "id")
    except ParseError:
        return None


def id_in(name: str) -> str | None:
    """Return the id that the name of a session's file holds."""
    _, separator, rest = name.partition("_")
    return next((rest.removesuffix(suffix) for suffix in SUFFIXES if rest.endswith(suffix)), rest) if separator else None
