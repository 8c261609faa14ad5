"""Which rows of a session only repeat others.

A compaction in place puts all rows of the conversation away and begins it anew with copies of its first rows, a summary,
and copies of its newest ones. The rows put away are what was said, so the copies add nothing.

    put away    u1 a1 u2 a2 u3 a3
    anew        u1 a1 SUMMARY u3 a3 u4 …
"""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Trace:
    """What must be known of a row.

    Args:
        said: the same for two rows that say the same.
        summary: it is, or holds, a compaction's summary.
        seed: a compaction wrote it beside the summary.
    """

    id: int
    said: bytes
    summary: bool = False
    seed: bool = False


def repeated(rows: Sequence[Trace]) -> set[int]:
    """Return the ids of the copies among the rows of a conversation, in order, rows put away included."""
    copies: set[int] = set()
    begin = 0
    for place, row in enumerate(rows):
        if not row.summary:
            continue
        head = heads(rows, begin, place)
        found = [*(one.id for one in rows[place - head : place]), *tails(rows, begin, place - head, place + 1)]
        if found:
            copies.update(found)
            begin = place - head
    return copies


def heads(rows: Sequence[Trace], begin: int, summary: int) -> int:
    """Return how many rows before a summary repeat those with which the conversation began."""
    for size in range((summary - begin) // 2, 0, -1):
        if all(rows[begin + step].said == rows[summary - size + step].said for step in range(size)):
            return size
    return 0


def tails(rows: Sequence[Trace], begin: int, end: int, place: int) -> list[int]:
    """Return the ids of the rows from a place on that repeat, in their order, rows between begin and end."""
    found = []
    for row in rows[place:]:
        if row.seed:
            continue
        begin = next((index + 1 for index in range(begin, end) if rows[index].said == row.said), end + 1)
        if begin > end:
            break
        found.append(row.id)
    return found
