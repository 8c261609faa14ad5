"""What may not be read or written costs itself and tells so. Under an account that is not root, to whom nothing is closed."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.rig.packages import PROJECT
from tests.rig.unprivileged import Unprivileged

# The account first gets its copy of the program.
pytestmark = pytest.mark.timeout(60)

SAMPLES = PROJECT / "sidecar/coding_agents_sidecar/samples/home"


def reindex(account: Unprivileged) -> dict[str, Any]:
    done = account.run("coding-agents", "sessions", "reindex", "--format=json")
    assert done.returncode == 0, done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def test_a_file_that_cannot_be_read_costs_itself(other_uid: Unprivileged) -> None:
    other_uid.lay(SAMPLES)
    [closed] = other_uid.home.glob(".claude/projects/-srv-www-blog/*.jsonl")
    closed.chmod(0)
    report = reindex(other_uid)
    assert report["indexed"] == 4
    assert [(one["code"], one["source"]) for one in report["failed"]] == [("PARSE_ERROR", str(closed))]


def test_a_file_that_can_be_read_again_is(other_uid: Unprivileged) -> None:
    other_uid.lay(SAMPLES)
    [closed] = other_uid.home.glob(".claude/projects/-srv-www-blog/*.jsonl")
    closed.chmod(0)
    reindex(other_uid)
    closed.chmod(0o600)
    report = reindex(other_uid)
    assert (report["indexed"], report["failed"]) == (1, [])


@pytest.mark.parametrize("folder", [".claude", ".claude/projects", ".claude/projects/-srv-www-blog"])
def test_a_folder_that_cannot_be_listed_makes_nothing_missing(other_uid: Unprivileged, folder: str) -> None:
    other_uid.lay(SAMPLES)
    reindex(other_uid)
    (other_uid.home / folder).chmod(0)
    report = reindex(other_uid)
    assert (report["updated"], report["missing"]) == (0, 0)


def test_a_ledger_that_cannot_be_written_is_told(other_uid: Unprivileged) -> None:
    state = other_uid.home / "state"
    state.mkdir(mode=0o500)
    other_uid.lay(SAMPLES)
    done = other_uid.run("coding-agents", "sessions", "reindex", "--format=json", env={"CODING_AGENTS_STATE_DIR": str(state)})
    assert done.returncode == 5
    assert json.loads(done.stderr)["error"]["code"] == "INDEX_UNAVAILABLE"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be two accounts")
def test_the_ledger_is_closed_to_others(other_uid: Unprivileged) -> None:
    state = other_uid.home / "state"
    state.mkdir()
    environment = {**os.environ, "HOME": str(SAMPLES), "CODING_AGENTS_STATE_DIR": str(state)}
    command = [str(Path(sys.executable).with_name("coding-agents")), "sessions", "reindex"]
    subprocess.run(command, env=environment, capture_output=True, check=True)
    files = [path for path in state.rglob("*") if path.is_file()]
    assert files != []
    assert [path.name for path in files if other_uid.run("cat", str(path)).returncode == 0] == []
