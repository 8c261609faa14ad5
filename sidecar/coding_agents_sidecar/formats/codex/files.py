"""The files of threads: their names, which of them belong together, and how each is read.

rollout-<local time>-<thread>.jsonl              one thread; .jsonl.zst once it is cold
rollout-<local time>-<thread>_<revision>.jsonl   what the thread went on with after a revert; the file before it stays
rollout-<date>-<thread>.json                     the TypeScript program: one document
<thread>.jsonl                                   any other name is the thread's id
"""

import os
import re
from collections.abc import Iterable, Iterator
from itertools import islice

from ...adapter import Source
from ...model import Skipped
from .. import fields, jsonl
from ..jsonl import Line
from . import shapes
from .shapes import Entry

NAME = re.compile(r"rollout-\d{4}-\d\d-\d\d(?:T\d\d-\d\d-\d\d)?-([^_]+)(?:_(.+))?")
HEAD = 8
"""Records among which a file's first session_meta lies."""


def is_session(path: str) -> bool:
    """Return whether a file is called like a thread's."""
    name = os.path.basename(path)
    return name.endswith((".jsonl", ".jsonl.zst")) or (name.endswith(".json") and NAME.fullmatch(stem(name)) is not None)


def stem(path: str) -> str:
    """Return a file's name without what says how it is stored."""
    return re.sub(r"\.jsonl?(\.zst)?$", "", os.path.basename(path))


def thread(path: str) -> str:
    """Return the thread's id, as far as the file's name tells it."""
    named = NAME.fullmatch(stem(path))
    return named[1] if named else stem(path)


def is_revision(path: str) -> bool:
    """Return whether a thread went on in this file after a revert."""
    named = NAME.fullmatch(stem(path))
    return named is not None and named[2] is not None


def sources(found: Iterable[str], root: str) -> Iterator[Source]:
    """Yield the sources that files make up: the files of a thread that was reverted are one, named by its newest."""
    paths = list(found)
    plain = {path for path in paths if not path.endswith(".zst")}
    threads: dict[str, list[str]] = {}
    for path in paths:
        # While a thread is packed or unpacked both forms are there: the plain one is whole.
        if path.removesuffix(".zst") not in plain or path in plain:
            threads.setdefault(thread(path), []).append(path)
    for files in threads.values():
        if any(map(is_revision, files)):
            files.sort(key=lambda path: (is_revision(path), os.path.basename(path)))
            yield Source(files[-1], root, tuple(files))
        else:
            yield from (Source(path, root) for path in files)


def limits(files: tuple[str, ...]) -> list[int | None]:
    """Return for each file of a thread but the newest the ordinal from which on later files took its history back."""
    bases = [base(path) for path in files[1:]]
    return [min((one for one in bases[index:] if one is not None), default=None) for index in range(len(bases))]


def entries(line: Line | Skipped) -> list[Entry]:
    """Return what a line says; nothing for one that could not be read."""
    return [] if isinstance(line, Skipped) else shapes.entries(line.record)


def base(path: str) -> int | None:
    """Return the ordinal that the history before a file ends at; ``None`` when it does not say."""
    for line in islice(jsonl.records(path), HEAD):
        for entry in entries(line):
            if entry.kind == "session_meta":
                return fields.count(entry.payload, "history_base", "end_ordinal_exclusive")
    return None
