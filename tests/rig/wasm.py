"""Other versions of PHP than the machine's."""

from functools import cache
from pathlib import Path

from . import packages, processes

VERSIONS = ("7.4", "8.5")
SCRIPT = Path(__file__).with_name("lint.mjs")


def lint(version: str, files: list[Path]) -> list[str]:
    """Return the command that fails and says why when one of the files is no valid PHP of that version."""
    return [processes.program("node"), str(SCRIPT), _modules(), version, *map(str, files)]


@cache
def _modules() -> str:
    return packages.shell("fetch_php_wasm", *VERSIONS).strip()
