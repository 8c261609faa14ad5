"""Tool output that Claude Code and its kin moved out of the record into a file of the session's folder."""

import re
from typing import Any

from .. import beside, blocks, jsonl

NOTE = re.compile(r"\s*<persisted-output>.*?saved to: ([^\n]+)", re.DOTALL)
LIMIT = 8 << 20
"""Larger output stays out: the note and its preview are shown."""


def restored(output: Any, folder: str, *names: str) -> Any:
    """Return a tool's output, from the file that a note in its place names when ``folder/names…`` holds it.

    The note's path may be of another machine or lead anywhere: only its last part is taken.
    """
    note = NOTE.match(output) if isinstance(output, str) else None
    if note is None:
        return output
    name = re.split(r"[/\\]", note[1].strip())[-1]
    data = beside.read(folder, *names, name, limit=LIMIT)
    if data is None:
        return output
    listed = jsonl.load(data) if name.endswith(".json") else None
    return blocks.output_of(listed if isinstance(listed, list) else data.decode("utf-8", "replace"))
