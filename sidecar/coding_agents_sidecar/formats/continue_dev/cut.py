"""JSON that is cut off somewhere: what stands whole before the cut."""

import json
import re
from collections.abc import Collection
from typing import Any

SPACE = re.compile(r"[\s,\x00]*")
DIGITS = re.compile(r"[\d.eE+-]*\Z")
DECODER = json.JSONDecoder(strict=False)
LEVELS = 6
"""Objects and arrays in each other that are opened; what lies deeper is taken whole or not at all."""

MISSING = object()


def read(words: str, into: Collection[str]) -> tuple[Any, bool]:
    """Return the value that a text begins with, and whether it is there to its end; ``None`` where there is none.

    Args:
        into: names of the members that are taken although they are cut. So is the last item of a list among them.
    """
    value, end = _value(words, 0, into, LEVELS)
    return (None if value is MISSING else value), end is not None


def _value(words: str, index: int, into: Collection[str], levels: int) -> tuple[Any, int | None]:
    """Return the value at an index and where it ends; ``None`` where it is cut."""
    try:
        value, end = DECODER.raw_decode(words, index)
        # The rest of a number may be what was cut off.
        is_cut = isinstance(value, int | float) and DIGITS.match(words, end)
        return (MISSING, None) if is_cut else (value, end)
    except (ValueError, RecursionError):
        begins = words[index : index + 1]
    if levels and begins == "{":
        return _members(words, index + 1, into, levels - 1), None
    return (_items(words, index + 1, into, levels - 1) if levels and begins == "[" else MISSING), None


def _items(words: str, index: int | None, into: Collection[str], levels: int) -> list[Any]:
    """Return the items of a list that is cut."""
    found = []
    while index is not None:
        value, index = _value(words, _next(words, index), into, levels)
        if value is not MISSING:
            found.append(value)
    return found


def _members(words: str, index: int | None, into: Collection[str], levels: int) -> dict[str, Any]:
    """Return the members of an object that is cut."""
    found = {}
    while index is not None:
        name, end = _value(words, _next(words, index), into, 0)
        if not isinstance(name, str) or end is None:
            break
        colon = _next(words, end)
        if words[colon : colon + 1] != ":":
            break
        value, index = _value(words, _next(words, colon + 1), into, levels if name in into else 0)
        if value is not MISSING:
            found[name] = value
    return found


def _next(words: str, index: int) -> int:
    """Return where the next character stands that is no blank between values."""
    found = SPACE.match(words, index)
    return found.end() if found else index
