"""Times as Cursor writes them, mostly in milliseconds, at times in seconds, microseconds or nanoseconds; and those of files."""

import os
from typing import Any

from .. import fields

MICROSECONDS, NANOSECONDS = 1e14, 1e17
"""A count of at least so many is no count of milliseconds (year 5138), or of microseconds, any more."""

UPTIME = 1e12
"""Fewer milliseconds count from the start of the program, not of 1970."""


def seconds(record: Any, *path: str | int) -> float | None:
    """Return Unix seconds, ``None`` for what is no time."""
    value = fields.at(record, *path)
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 20:
        value = int(value)
    number = fields.number(value)
    if number is not None and number >= MICROSECONDS:
        value = number / (1e6 if number >= NANOSECONDS else 1e3)
    return fields.seconds(value)


def clock(record: Any, *path: str | int) -> float | None:
    """Return Unix seconds of a stamp in milliseconds that may be one of the program's uptime, which says nothing."""
    number = fields.number(record, *path)
    return seconds(number) if number is not None and number >= UPTIME else None


def written(*paths: str) -> float | None:
    """Return when one of these files was written last, ``None`` when there is none. What else tells of a session is not asked."""
    times = []
    for path in paths:
        try:
            times.append(os.stat(path).st_mtime)
        except OSError:
            continue
    return max(times, default=None)
