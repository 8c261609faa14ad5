"""Commands under an account that owns nothing, so that tests about permissions can fail where the tests run as root."""

import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Mapping
from pathlib import Path

from . import processes
from .folders import remove
from .packages import PROJECT

UID = 65534


class Unprivileged:
    """Runs commands under another account where the tests run as root, under the tests' own otherwise.

    ``coding-agents`` is on the PATH. Root's own folders are closed to that account, so it gets a copy of the program.

    Args:
        folder: a new, world-traversable folder.
    """

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        """The account's home folder, which it owns."""
        self._root = os.geteuid() == 0
        self.reset()
        self._environment = {"HOME": str(self.home), "LANG": "C.UTF-8", "PATH": os.environ.get("PATH", os.defpath)}
        program = folder / "bin" / "coding-agents"
        program.parent.mkdir()
        if self._root:
            shutil.copytree(sysconfig.get_path("purelib"), folder / "lib", symlinks=True)
            shutil.copytree(PROJECT / "sidecar", folder / "sidecar")
            self._environment["PYTHONPATH"] = f"{folder / 'sidecar'}:{folder / 'lib'}"
        program.write_text(f'#!/bin/sh\nexec {self._python()} -m coding_agents_sidecar "$@"\n')
        program.chmod(0o755)
        self._environment["PATH"] = f"{program.parent}:{self._environment['PATH']}"

    def reset(self) -> None:
        """Empty the home folder."""
        remove(self.home)
        self.home.mkdir()
        if self._root:
            os.chown(self.home, UID, UID)

    def lay(self, source: Path) -> None:
        """Put a copy of a tree into the home folder; the account owns it."""
        shutil.copytree(source, self.home, dirs_exist_ok=True)
        if self._root:
            subprocess.run(["chown", "-R", f"{UID}:{UID}", str(self.home)], check=True)

    def run(self, *command: str, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        """Run a command and return how it ended."""
        head = [processes.program("setpriv"), f"--reuid={UID}", f"--regid={UID}", "--clear-groups"] if self._root else []
        return subprocess.run(
            [*head, *command],
            env={**self._environment, **(env or {})},
            cwd=self.home,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )

    def _python(self) -> str:
        """Return an interpreter of this version that the account may run."""
        version = sysconfig.get_python_version()
        return f"/usr/bin/python{version}" if self._root else sys.executable
