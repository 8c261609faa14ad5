"""Logs of the command line, on standard error: words on a terminal, one JSON object a line elsewhere.

Nothing here quotes a transcript. The rest of the package only logs; it installs no handlers.
"""

import json
import logging
import os
import sys
import traceback
from collections.abc import Mapping
from typing import Any

from .errors import InternalError, InvalidArgument

LEVELS = ("debug", "info", "warning", "error")
SWITCH = "CODING_AGENTS_LOG"
"""Names the least level that is logged."""

MAX_CAUSES = 8
RECORD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}

log = logging.getLogger(__name__)


def setup(environ: Mapping[str, str], default: str) -> None:
    """Send the package's logs to standard error, from the level that the environment names on.

    Raises:
        InvalidArgument: the environment names no level.
    """
    level = environ.get(SWITCH, "").lower() or default
    if level not in LEVELS:
        raise InvalidArgument(f"{SWITCH} must be one of {', '.join(LEVELS)}")
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(Words() if sys.stderr.isatty() else Lines())
    package = logging.getLogger(__package__)
    package.handlers = [handler]
    package.propagate = False
    package.setLevel(level.upper())


def surprise(error: BaseException) -> InternalError:
    """Log where an unexpected error came from, and return what to tell the caller."""
    log.error("internal error", exc_info=error)
    return InternalError(f"internal error ({type(error).__name__}); the log on standard error says where")


def origin(error: BaseException | None) -> dict[str, list[Any]]:
    """Return the kinds of an error and its causes, and the places they passed; not their words, which may quote a transcript."""
    errors: list[str] = []
    frames: list[list[str]] = []
    while error is not None and len(errors) < MAX_CAUSES:
        errors.append(type(error).__name__)
        passed = traceback.extract_tb(error.__traceback__)
        frames.append([f"{os.path.basename(frame.filename)}:{frame.lineno} {frame.name}" for frame in passed])
        error = error.__cause__ or error.__context__
    return {"errors": errors, "frames": frames}


def values(record: logging.LogRecord) -> dict[str, Any]:
    """Return what a log call passed as ``extra``, paths below the home folder shortened, and where its exception came from."""
    home = os.path.expanduser("~") + os.sep
    extra = {name: value for name, value in vars(record).items() if name not in RECORD}
    if record.exc_info:
        extra |= origin(record.exc_info[1])
    return {name: value.replace(home, "~/") if isinstance(value, str) else value for name, value in extra.items()}


class Lines(logging.Formatter):
    """One JSON object a line."""

    def format(self, record: logging.LogRecord) -> str:
        line = {"time": round(record.created, 3), "level": record.levelname.lower(), "message": record.getMessage()}
        return json.dumps({**line, **values(record)}, default=str)


class Words(logging.Formatter):
    """A line for people."""

    def format(self, record: logging.LogRecord) -> str:
        facts = "".join(f" {name}={value}" for name, value in values(record).items())
        return f"{record.levelname.lower()}: {record.getMessage()}{facts}"
