"""Look-ups in foreign JSON: a field that is missing and a field of the wrong type read the same."""

import math
from datetime import UTC, datetime
from typing import Any

MAX_COUNT = 2**53
"""Larger counts are damage: no runtime counts beyond what JSON carries exactly."""


def at(record: Any, *path: str | int) -> Any:
    """Return the value at the path of keys and indexes, or ``None``."""
    for step in path:
        if isinstance(step, str):
            record = record.get(step) if isinstance(record, dict) else None
        else:
            record = record[step] if isinstance(record, list) and -len(record) <= step < len(record) else None
    return record


def text(record: Any, *path: str | int) -> str | None:
    """Return a string that is not empty, or ``None``."""
    value = at(record, *path)
    return value if isinstance(value, str) and value else None


def table(record: Any, *path: str | int) -> dict[str, Any]:
    """Return an object, or an empty one."""
    value = at(record, *path)
    return value if isinstance(value, dict) else {}


def rows(record: Any, *path: str | int) -> list[Any]:
    """Return an array, or an empty one."""
    value = at(record, *path)
    return value if isinstance(value, list) else []


def flag(record: Any, *path: str | int) -> bool:
    """Return whether the value is ``true``."""
    return at(record, *path) is True


def count(record: Any, *path: str | int) -> int | None:
    """Return a count of 0 or more; numbers as strings and whole floats are taken, anything else is ``None``."""
    value = at(record, *path)
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 17:
        value = int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MAX_COUNT:
        return value
    return None


def number(record: Any, *path: str | int) -> float | None:
    """Return a finite number, or ``None``."""
    value = at(record, *path)
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            value = float(value)
        except OverflowError:
            return None
        return value if math.isfinite(value) else None
    return None


def seconds(record: Any, *path: str | int) -> float | None:
    """Return Unix seconds from ISO 8601 text (without an offset: UTC) or a number of seconds or milliseconds."""
    value = at(record, *path)
    if isinstance(value, str):
        return _iso(value)
    stamp = number(record, *path)
    if stamp is None:
        return None
    # Past the year 5138 in seconds is 1973 in milliseconds: no runtime is that old.
    return _sane(stamp / 1000 if abs(stamp) >= 1e11 else stamp)


def _iso(value: str) -> float | None:
    try:
        moment = datetime.fromisoformat(value)
        return _sane((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp())
    except (ValueError, OverflowError):
        return None


def _sane(stamp: float) -> float | None:
    """Drop times that are placeholders or damage: before 1990 or after 2200."""
    return stamp if 631152000 <= stamp <= 7258118400 else None
