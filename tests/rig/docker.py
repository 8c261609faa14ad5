"""The compose stack as a site, where a Docker engine answers."""

import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from .folders import remove
from .packages import ACCOUNT, PROJECT, SLUG

COMPOSE_FILE = PROJECT / "docker-compose.yml"
CONTENT = "/var/www/html/wp-content"
MOUNTS = {
    "CLAUDE_CODE_SESSIONS": ".claude/projects",
    "OPENCODE_STORAGE": ".local/share/opencode/storage",
    "OPENCODE_PROJECT": ".local/share/opencode/project",
}


def wanted() -> bool:
    """Return whether the tests use Docker: ``CODING_AGENTS_TEST_BACKEND`` is ``docker``, or ``auto`` and an engine answers."""
    backend = os.environ.get("CODING_AGENTS_TEST_BACKEND", "auto")
    return backend == "docker" or (backend == "auto" and _answers())


def _answers() -> bool:
    # The bare client is on many machines that have no engine, and an engine may come without Compose.
    try:
        return all(
            subprocess.run(["docker", *args], capture_output=True, timeout=15, check=False).returncode == 0
            for args in (["info"], ["compose", "version"])
        )
    except (OSError, subprocess.TimeoutExpired):
        return False


def environment(folder: Path) -> dict[str, str]:
    """Return the variables that make the stack read sessions from below the folder, and create what it mounts."""
    for below in MOUNTS.values():
        (folder / below).mkdir(parents=True, exist_ok=True)
    return {
        **{name: str(folder / below) for name, below in MOUNTS.items()},
        "AGENT_UID": str(os.getuid()),
        "AGENT_GID": str(os.getgid()),
        "WORDPRESS_PORT": "0",
    }


class DockerSite:
    """What tests need of a site, by way of ``docker compose``; a test that needs its files or its database server is skipped.

    Only the mounted runtimes are seen.

    Args:
        project: name of the compose project, which is up.
        home: folder the stack was started with.
    """

    kind = "mariadb"

    def __init__(self, project: str, url: str, home: Path) -> None:
        self.url, self.home = url, home
        self._exec = ["docker", "compose", "--project-name", project, "--file", str(COMPOSE_FILE), "exec", "-T"]
        self.wp("core", "install", f"--url={url}", *ACCOUNT)
        self.wp("plugin", "activate", SLUG)
        self._template = self.wp("db", "export", "-").stdout

    @property
    def path(self) -> Path:
        pytest.skip("the files of this site lie in a container")

    @property
    def state(self) -> Path:
        pytest.skip("the ledger of this site lies in a container")

    @property
    def db(self) -> dict[str, str | int]:
        pytest.skip("the database of this site cannot be reached from outside its containers")

    def wp(
        self, *args: str, check: bool = True, env: Mapping[str, str] | None = None, input: str | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run WP-CLI in the container that also holds the sidecar."""
        done = subprocess.run(self._wp(args, env), input=input or "", capture_output=True, text=True, check=False)
        if check and done.returncode:
            raise AssertionError(f"wp {' '.join(args)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
        return done

    def start_wp(self, *args: str, env: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
        """Start WP-CLI and return the client's process."""
        pipe = subprocess.PIPE
        return subprocess.Popen(self._wp(args, env), stdin=pipe, stdout=pipe, stderr=pipe, text=True)

    def sql(self, query: str) -> list[tuple[Any, ...]]:
        """Return the rows of a statement; every value is text."""
        code = "echo wp_json_encode( $GLOBALS['wpdb']->get_results( file_get_contents( 'php://stdin' ), ARRAY_N ) );"
        return [tuple(row) for row in json.loads(self.wp("eval", code, input=query).stdout) or []]

    def debug_log(self) -> str:
        """Return what WordPress has logged since the test began."""
        return self._run("wordpress", f"cat {CONTENT}/debug.log 2>/dev/null || true")

    def mu_plugin(self, name: str, code: str) -> None:
        """Add a must-use plugin for this test; the code is without the opening tag."""
        self._run("wordpress", f"mkdir -p {CONTENT}/mu-plugins && cat >{CONTENT}/mu-plugins/{name}.php", f"<?php\n{code}\n")

    def serve(self) -> str:
        """Return the site's address; it answers anyway."""
        return self.url

    def reset(self) -> None:
        """Go back to how the site was after its installation, with an empty home folder and ledger."""
        self.wp("db", "import", "-", input=self._template)
        self._run("wordpress", f"rm -rf {CONTENT}/mu-plugins {CONTENT}/debug.log")
        self._run("cron", 'rm -rf "$CODING_AGENTS_STATE_DIR"')
        for below in MOUNTS.values():
            for path in (self.home / below).iterdir():
                remove(path)

    def stop(self) -> None:
        """Do nothing: the client's processes end with their commands."""

    def _run(self, service: str, script: str, input: str = "") -> str:
        command = [*self._exec, service, "sh", "-c", script]
        return subprocess.run(command, input=input, capture_output=True, text=True, check=True).stdout

    def _wp(self, args: tuple[str, ...], env: Mapping[str, str] | None) -> list[str]:
        variables = [word for name, value in (env or {}).items() for word in ("--env", f"{name}={value}")]
        return [*self._exec, *variables, "cron", "wp", *args]
