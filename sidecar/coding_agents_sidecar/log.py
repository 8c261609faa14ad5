"""Logs of the command line, on standard error: words on a terminal, one JSON object a line elsewhere.

Nothing here quotes a transcript. The rest of the package only logs; it installs no handlers.
"""

import json
import logging
import os
import sys
import traceback
from collections.abc import Mapping

from .errors import InternalError, InvalidArgument

LEVELS = ("debug", "info", "warning", "error")
SWITCH = "CODING_AGENTS_LOG"
"""Names the least level that is logged."""

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
    """Log where an unexpected error came from, and return what to tell the caller.

    Its own words stay out of both: they may quote a transcript.
    """
    names: list[str] = []
    frames: list[list[str]] = []
    cause: BaseException | None = error
    while cause is not None and len(names) < 8:
        names.append(type(cause).__name__)
        frames.append(
            [f"{os.path.basename(at.filename)}:{at.lineno} {at.name}" for at in traceback.extract_tb(cause.__traceback__)]
        )
        cause = cause.__cause__ or cause.__context__
    log.error("internal error", extra={"errors": names, "frames": frames})
    return InternalError(f"internal error ({names[0]}); the log on standard error says where")


def values(record: logging.LogRecord) -> dict[str, object]:
    """Return what a log call passed as ``extra``, paths below the home folder shortened."""
    home = os.path.expanduser("~") + os.sep
    extra = {name: value for name, value in vars(record).items() if name not in RECORD}
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
