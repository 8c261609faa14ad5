"""What the rig takes from bin/lib: the downloaded packages and the functions that lay out a site."""

import subprocess
from functools import cache
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
PLUGIN = PROJECT / "wp-plugin"
SLUG = "coding-agents-sessions"
ACCOUNT = ("--title=Rig", "--admin_user=admin", "--admin_password=admin", "--admin_email=admin@example.org", "--skip-email")

_SCRIPT = """
set -euo pipefail
. bin/lib/system.sh
. bin/lib/python.sh
. bin/lib/wordpress.sh
. bin/lib/php-wasm.sh
fetch_wordpress
"$@"
"""


def shell(*command: str) -> str:
    """Run a function of bin/lib, with the packages at hand, and return what it prints.

    Raises:
        RuntimeError: it failed; the text is what it said.
    """
    done = subprocess.run(["bash", "-c", _SCRIPT, "rig", *command], cwd=PROJECT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return done.stdout


@cache
def packages() -> Path:
    """Return the folder that holds wordpress/, wp-cli.phar and the SQLite drop-in; downloads them at first."""
    return Path(shell("printenv", "PACKAGES").strip())


def lend_downloads(cache: Path) -> None:
    """Let bin/quickstart find what it would download in another cache folder."""
    target = cache / "wp-coding-agents"
    target.mkdir(parents=True)
    environment = shell("eval", 'python_environment "" && printf %s "$VENV"')
    for download in (packages(), Path(environment)):
        (target / download.name).symlink_to(download)
