"""A pass that is killed leaves nothing in the way of the next one."""

import os
import signal
import time
from pathlib import Path

import pytest

from tests.homes import SESSION, Home


def workers_of(parent: int) -> list[int]:
    """Return the processes that a process has started."""
    return [int(pid) for pid in Path(f"/proc/{parent}/task/{parent}/children").read_text().split()]


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.timeout(60)
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM], ids=lambda number: number.name)
def test_a_killed_pass_frees_the_ledger_and_takes_its_workers_along(tmp_path: Path, number: signal.Signals) -> None:
    home = Home(tmp_path)
    first = home.lay()
    record = first.read_text()
    for index in range(1, 400):
        name = f"{SESSION[:-4]}{index:04}"
        home.project.joinpath(f"{name}.jsonl").write_text(record.replace(SESSION, name) * 12)
    with home.spawn("sessions", "reindex") as process:
        while not (workers := workers_of(process.pid)):
            assert process.poll() is None, "the pass was over before it could be killed"
            time.sleep(0.005)
        os.kill(process.pid, number)
        process.wait()
    began = time.monotonic()
    assert home.reindex()["discovered"] == 400
    assert time.monotonic() - began < 30
    while any(map(is_alive, workers)):
        assert time.monotonic() - began < 45
        time.sleep(0.05)
