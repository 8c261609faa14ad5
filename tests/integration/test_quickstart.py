"""A newcomer's first command, on an account that has the downloads already and nothing else."""

import re
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from tests.rig import packages
from tests.rig.packages import PROJECT

SAMPLES = PROJECT / "sidecar/coding_agents_sidecar/samples/home"
CLAUDE_SAMPLE = "claude-code:5a3e1c70-8d24-4b1f-9f0e-2c6b7d9a1e01"

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]


class Account:
    """A user with an empty home folder."""

    def __init__(self, folder: Path) -> None:
        self.home, self.cache = folder / "home", folder / "cache"
        self.home.mkdir()
        packages.lend_downloads(self.cache)

    def quickstart(self, *args: str) -> "subprocess.CompletedProcess[str]":
        return self.run(str(PROJECT / "bin/quickstart"), *args)

    def run(self, *command: str) -> "subprocess.CompletedProcess[str]":
        environment = {"HOME": str(self.home), "XDG_CACHE_HOME": str(self.cache), "PATH": "/usr/bin:/bin:/usr/sbin:/sbin"}
        return subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)


@pytest.fixture
def account(tmp_path: Path) -> Account:
    return Account(tmp_path)


def test_without_sessions_it_shows_the_samples_and_says_so(account: Account) -> None:
    done = account.quickstart()
    assert done.returncode == 0, done.stderr
    assert "samples that ship with the project" in done.stderr
    assert CLAUDE_SAMPLE in done.stdout
    assert "opencode:" in done.stdout
    assert list(account.home.iterdir()) == []


def test_with_sessions_it_shows_them_and_no_samples(account: Account) -> None:
    shutil.copytree(SAMPLES / ".local", account.home / ".local")
    done = account.quickstart()
    assert done.returncode == 0, done.stderr
    assert "samples" not in done.stdout + done.stderr
    assert "opencode:" in done.stdout
    assert "claude-code:" not in done.stdout


def test_another_home_can_be_named(account: Account, tmp_path: Path) -> None:
    other = tmp_path / "other home"
    shutil.copytree(SAMPLES / ".claude", other / ".claude")
    before = tree(other)
    done = account.quickstart("--home", str(other))
    assert done.returncode == 0, done.stderr
    assert CLAUDE_SAMPLE in done.stdout
    assert tree(other) == before


def test_it_reads_a_session(account: Account) -> None:
    shutil.copytree(SAMPLES / ".claude", account.home / ".claude")
    printed = account.quickstart().stdout
    assert '"role":"user"' in printed[printed.index("sessions read") :]


def test_a_second_run_takes_seconds_and_shows_the_same(account: Account) -> None:
    first = account.quickstart().stdout
    start = time.monotonic()
    second = account.quickstart()
    assert time.monotonic() - start < 15
    assert second.returncode == 0, second.stderr
    assert listed(second.stdout) == listed(first)


def test_the_commands_to_try_next_work(account: Account) -> None:
    printed = account.quickstart().stdout
    commands = [line.strip() for line in printed[printed.index("Try next:") :].splitlines()[1:4]]
    for command in commands:
        done = account.run("bash", "-c", command)
        assert done.returncode == 0, f"{command}: {done.stderr}"
        assert done.stdout != ""


def test_the_command_to_remove_it_removes_it(account: Account) -> None:
    printed = account.quickstart().stdout
    command = printed[printed.index("remove all of it:") :].splitlines()[1].strip()
    assert account.run("bash", "-c", command).returncode == 0
    assert list(account.cache.iterdir()) == []


@pytest.mark.parametrize("args", [["--home"], ["--home", "/nowhere"], ["--verbose"]])
def test_wrong_options_are_told_how_it_is_called(account: Account, args: list[str]) -> None:
    done = account.quickstart(*args)
    assert done.returncode == 1
    assert done.stderr.startswith("Usage: bin/quickstart")


def listed(printed: str) -> list[str]:
    """Return the unified ids in the list."""
    return re.findall(r"^(?:claude-code|opencode):\S+", printed[printed.index("sessions list") :], re.MULTILINE)


def tree(folder: Path) -> list[tuple[str, int]]:
    """Return the names and times of everything below a folder."""
    return sorted((str(path), path.stat().st_mtime_ns) for path in folder.rglob("*"))
