"""Every error this package raises on purpose. Codes, exit statuses and meanings are those of schema/errors.json.

SidecarError
├── InvalidArgument     INVALID_ARGUMENT    2
├── AgentNotFound       AGENT_NOT_FOUND     3
├── SessionNotFound     SESSION_NOT_FOUND   3
├── AmbiguousSession    AMBIGUOUS_SESSION   3
├── ParseError          PARSE_ERROR         4
├── IndexUnavailable    INDEX_UNAVAILABLE   5
├── VersionMismatch     VERSION_MISMATCH    6
├── Timeout             TIMEOUT             7
├── TooLarge            TOO_LARGE           8
└── InternalError       INTERNAL_ERROR      1
"""

from typing import Any, ClassVar


class SidecarError(Exception):
    """Base of all errors; the text says what was looked for and where, and never quotes a transcript."""

    code: ClassVar[str] = "INTERNAL_ERROR"
    exit_code: ClassVar[int] = 1

    def document(self) -> dict[str, Any]:
        """Return the error as it stands on the wire: ``code``, ``message`` and what a subclass adds."""
        return {"code": self.code, "message": str(self)}


class InvalidArgument(SidecarError):
    """The caller must change the request."""

    code, exit_code = "INVALID_ARGUMENT", 2


class AgentNotFound(SidecarError):
    """No adapter has this name or alias."""

    code, exit_code = "AGENT_NOT_FOUND", 3


class SessionNotFound(SidecarError):
    """No source of the runtime holds this session."""

    code, exit_code = "SESSION_NOT_FOUND", 3


class AmbiguousSession(SidecarError):
    """The id fits several sessions.

    Args:
        message: what was looked for.
        candidates: unified ids, with their origin in brackets where it tells them apart.
    """

    code, exit_code = "AMBIGUOUS_SESSION", 3

    def __init__(self, message: str, candidates: list[str]) -> None:
        super().__init__(message)
        self.candidates = candidates

    def document(self) -> dict[str, Any]:
        return {**super().document(), "candidates": self.candidates}


class ParseError(SidecarError):
    """The source exists but cannot be read.

    Args:
        transient: trying again without a change of the source may help (locked, no permission, I/O error).
    """

    code, exit_code = "PARSE_ERROR", 4

    def __init__(self, message: str, *, transient: bool = False) -> None:
        super().__init__(message)
        self.transient = transient


class IndexUnavailable(SidecarError):
    """The ledger, the database or its table cannot be used."""

    code, exit_code = "INDEX_UNAVAILABLE", 5


class VersionMismatch(SidecarError):
    """Plugin and sidecar, or ledger and sidecar, do not fit each other."""

    code, exit_code = "VERSION_MISMATCH", 6


class Timeout(SidecarError):
    """The deadline passed."""

    code, exit_code = "TIMEOUT", 7


class TooLarge(SidecarError):
    """The answer does not fit the caller's memory."""

    code, exit_code = "TOO_LARGE", 8


class InternalError(SidecarError):
    """A defect of this product."""
