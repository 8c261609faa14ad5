"""Child processes that never outlive the tests."""

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

# Debian keeps servers where the PATH of an ordinary user does not look.
_SEARCH = os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/sbin", "/sbin"])


def program(name: str) -> str:
    """Return the path of an installed program.

    Raises:
        RuntimeError: it is not installed.
    """
    found = shutil.which(name, path=_SEARCH)
    if found is None:
        raise RuntimeError(f"{name} is not installed; bin/test installs what the tests need")
    return found


def bound(*options: str) -> list[str]:
    """Return the head of a command that ends with this process, whatever ends this process."""
    return [program("setpriv"), "--pdeathsig", "KILL", *options]


def free_port() -> int:
    """Return a loopback port nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for(process: "subprocess.Popen[bytes]", ready: Callable[[], bool], log: Path, seconds: float = 60) -> None:
    """Return when the process is ready.

    Raises:
        RuntimeError: it ended, or is not ready in time; the text ends with its log.
    """
    deadline = time.monotonic() + seconds
    while not ready():
        if process.poll() is not None or time.monotonic() > deadline:
            stop(process)
            raise RuntimeError(f"{process.args!r} does not answer:\n{log.read_text(errors='replace')[-2000:]}")
        time.sleep(0.05)


def stop(process: "subprocess.Popen[bytes] | subprocess.Popen[str]", seconds: float = 20) -> None:
    """End the process, by force when it does not follow."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream:
            stream.close()
