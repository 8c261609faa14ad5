"""Whole files that their program writes anew in place: they may be met half written."""

import os
import time

from ..errors import ParseError
from . import jsonl, text

RECENT_SECONDS = 60
"""What was written in place so shortly ago may not be finished."""


def content(path: str) -> bytes | None:
    """Return the bytes of a file, ``None`` when it does not exist.

    Raises:
        ParseError: it cannot be read, or is larger than one record may be.
    """
    try:
        with open(path, "rb") as file:
            data = file.read(jsonl.MAX_LINE + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise jsonl.unreadable(path, error) from error
    if len(data) > jsonl.MAX_LINE:
        raise ParseError(f"{text.path(path)} is larger than {jsonl.MAX_LINE >> 20} MiB")
    return data


def settle(path: str) -> None:
    """Let pass a damaged or empty file that its program writes in place, if it is so for good.

    Raises:
        ParseError: it may just be in the middle of being written.
    """
    try:
        written = os.stat(path).st_mtime
    except OSError as error:
        raise jsonl.unreadable(path, error) from error
    if may_go_on(written):
        raise ParseError(f"{text.path(path)} is no whole JSON yet", transient=True)


def is_recent(path: str) -> bool:
    """Return whether a file was written a moment ago; one that is away for a moment counts, too."""
    try:
        return may_go_on(os.stat(path).st_mtime)
    except OSError:
        return True


def may_go_on(moment: float) -> bool:
    """Return whether something that is written at once may not be finished, given when it was begun."""
    return abs(time.time() - moment) < RECENT_SECONDS
