"""Text that is safe to hand on: valid Unicode, whatever the bytes were."""

import os
import re
from typing import Any

BROKEN = re.compile("[\ud800-\udfff\x00]")
# PHP's json_decode stops at 512 levels and orjson writes 254; a document adds a few of its own.
MAX_DEPTH = 200


def clean(value: str) -> str:
    """Replace lone halves of surrogate pairs and NUL, which databases and strict readers refuse, by U+FFFD."""
    return BROKEN.sub("\ufffd", value)


def clean_json(value: Any, depth: int = 0) -> Any:
    """Return JSON-like data with every string cleaned and what lies too deep replaced by a note."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict | list) and depth >= MAX_DEPTH:
        return "[nested too deeply]"
    if isinstance(value, dict):
        return {clean(str(key)): clean_json(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list):
        return [clean_json(item, depth + 1) for item in value]
    return value


def path(value: str) -> str:
    """Return a path as storable text: bytes that are not UTF-8 become ``%XX``, reversible and visible."""
    try:
        value.encode()
        return value
    except UnicodeEncodeError:
        return "".join(char if not "\udc80" <= char <= "\udcff" else f"%{os.fsencode(char)[0]:02X}" for char in value)
