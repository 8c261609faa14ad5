"""Files that hold one JSON array of records, or an object around one, written anew each time.

Many were damaged by their writers: cut off, or closed twice. What stands before the damage is read.
"""

import json
import re
from dataclasses import dataclass, field
from typing import Any

from .. import fields, jsonl, text
from ..rewrites import content

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
