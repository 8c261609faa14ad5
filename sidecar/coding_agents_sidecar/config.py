"""Settings: where home is, where the ledger lies, what this host is called."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from .errors import InvalidArgument

MAX_HOST = 64


@dataclass(frozen=True, slots=True)
class Settings:
    """What the environment decides.

    Args:
        home: the home folder below which runtimes keep their sessions.
        environ: the environment; adapters look up the variables of their runtime in it.
        state_dir: folder of the ledger.
        host: label of this host's rows; '' by default.
    """

    home: Path
    environ: Mapping[str, str]
    state_dir: Path
    host: str

    @classmethod
    def from_environ(cls, environ: Mapping[str, str] = os.environ) -> "Settings":
        """Return the settings of an environment.

        Raises:
            InvalidArgument: the host label is too long or holds control characters.
        """
        home = Path(environ.get("HOME") or Path.home())
        named = environ.get("CODING_AGENTS_STATE_DIR")
        if named:
            state_dir = Path(named)
        else:
            import platformdirs

            state_dir = Path(platformdirs.user_state_dir("coding-agents", appauthor=False))
        host = environ.get("CODING_AGENTS_HOST", "")
        if len(host) > MAX_HOST or not host.isprintable():
            raise InvalidArgument(f"CODING_AGENTS_HOST must have at most {MAX_HOST} printable characters")
        return cls(home, environ, state_dir, host)

    @property
    def ledger_path(self) -> Path:
        """The ledger's file."""
        return self.state_dir / "ledger.db"
