"""A session as a folder of files, as Pi documents it: together their entries are one tree.

A message may stand as an entry itself, without a type: {id, parentId, role, content, timestamp, …}.
"""

import heapq
from collections.abc import Iterator
from operator import itemgetter
from typing import Any

from ...model import Skipped
from .. import fields, jsonl

Record = dict[str, Any]


def merged(paths: list[str]) -> Iterator[Record | Skipped]:
    """Yield the entries of several files in the order of their times: the last is the newest, whichever file it is in."""
    return map(itemgetter(1), heapq.merge(*map(timed, paths), key=itemgetter(0)))


def timed(path: str) -> Iterator[tuple[float, Record | Skipped]]:
    """Yield the entries of a file with their times; one without a time has that of the entry before it."""
    time = 0.0
    for line in jsonl.records(path):
        if isinstance(line, Skipped):
            yield time, line
        else:
            time = fields.seconds(line.record, "timestamp") or time
            yield time, flattened(line.record)


def flattened(record: Record) -> Record:
    """Return an entry in the form that Pi writes."""
    if fields.text(record, "type") is None and fields.text(record, "role"):
        return {**record, "type": "message", "message": record}
    return record
