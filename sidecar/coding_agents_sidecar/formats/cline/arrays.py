"""Files that hold one JSON array of records, or an object around one, written anew each time.

Many were damaged by their writers: cut off, or closed twice. What stands before the damage is read.
"""

import json
import os
import re
import time
from dataclasses import dataclass, field
from typing import Any

from ...errors import ParseError
from .. import fields, jsonl, text

RECENT_SECONDS = 60
"""What was written in place so shortly ago may not be finished."""

BEGIN = re.compile(r'"messages"\s*:\s*(?=\[)')
BETWEEN = re.compile(r"[\s,\x00]*")
DECODER = json.JSONDecoder(strict=False)


@dataclass(slots=True)
class Rows:
    """What a file holds.

    Args:
        items: the records.
        head: what stands beside them in the object around them.
        damaged: something behind the last record cannot be read.
    """

    items: list[Any] = field(default_factory=list)
    head: dict[str, Any] = field(default_factory=dict)
    damaged: bool = False


def read(path: str) -> Rows | None:
    """Return the records of a file; ``None`` when it does not exist or nothing was ever written to it.

    Raises:
        ParseError: it cannot be read.
    """
    data = content(path)
    return parse(data) if data else None


def parse(data: bytes) -> Rows:
    """Return the records in the bytes of a file."""
    stripped = data.removeprefix(jsonl.BOM).strip(jsonl.BLANK)
    value = jsonl.load(stripped)
    if isinstance(value, list):
        return Rows(value)
    if isinstance(value, dict):
        return Rows(fields.rows(value, "messages"), {key: value[key] for key in value if key != "messages"})
    return recovered(stripped.decode("utf-8", "replace"))


def document(path: str) -> dict[str, Any] | None:
    """Return the object of a small file beside the records: an empty one without a file, ``None`` for a damaged one.

    Raises:
        ParseError: it cannot be read.
    """
    data = content(path)
    value = {} if data is None else jsonl.load(data.removeprefix(jsonl.BOM).strip(jsonl.BLANK))
    return value if isinstance(value, dict) else None


def content(path: str) -> bytes | None:
    """Return the bytes of a file, ``None`` when it does not exist.

    Raises:
        ParseError: it cannot be read, or is larger than one record may be.
    """
    try:
        with open(path, "rb") as file:
            data = file.read(jsonl.MAX_LINE + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise jsonl.unreadable(path, error) from error
    if len(data) > jsonl.MAX_LINE:
        raise ParseError(f"{text.path(path)} is larger than {jsonl.MAX_LINE >> 20} MiB")
    return data


def settle(path: str) -> None:
    """Let pass a damaged or empty file that its program writes in place, if it is so for good.

    Raises:
        ParseError: it may just be in the middle of being written.
    """
    try:
        written = os.stat(path).st_mtime
    except OSError as error:
        raise jsonl.unreadable(path, error) from error
    if is_recent(written):
        raise ParseError(f"{text.path(path)} is no whole JSON yet", transient=True)


def is_recent(moment: float) -> bool:
    """Return whether something that is written at once may not be finished, given when it was begun."""
    return abs(time.time() - moment) < RECENT_SECONDS


def recovered(words: str) -> Rows:
    """Return the records before the damage."""
    head: dict[str, Any] = {}
    start = 0
    if words.startswith("{"):
        begin = BEGIN.search(words)
        if begin is None:
            return Rows(damaged=True)
        start = begin.end()
        head = fields.table(jsonl.load(words[: begin.start()].rstrip().removesuffix(",").encode() + b"}"))
    return Rows(prefix(words, start), head, damaged=True)


def prefix(words: str, start: int) -> list[Any]:
    """Return the whole records of an array that begins at an index."""
    found: list[Any] = []
    index = start + 1 if words.startswith("[", start) else len(words)
    while index < len(words):
        between = BETWEEN.match(words, index)
        try:
            item, index = DECODER.raw_decode(words, between.end() if between else index)
        except (ValueError, RecursionError):
            break
        found.append(text.clean_json(item))
    return found
