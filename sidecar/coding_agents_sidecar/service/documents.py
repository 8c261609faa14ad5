"""Documents as bytes: the one place that writes JSON that holds what a session holds."""

import json
import math
from typing import Any

import orjson

from ..formats import text


def dumps(value: Any) -> bytes:
    """Return JSON in UTF-8 on one line.

    Half surrogate pairs become U+FFFD, what lies too deep a note, numbers that are none null.
    """
    try:
        return orjson.dumps(value)
    except TypeError:
        # orjson refuses lone surrogates, more than 254 levels and integers beyond 64 bits; foreign records hold all three.
        whole = finite(text.clean_json(value))
        return json.dumps(whole, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode(errors="replace")


def finite(value: Any) -> Any:
    """Return JSON-like data with null in place of NaN and infinity."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [finite(item) for item in value]
    return value
