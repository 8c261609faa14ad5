"""Python is clean by the project's own rules."""

import subprocess
import sys

import pytest

from tests.rig.packages import PROJECT


@pytest.mark.timeout(120)
@pytest.mark.parametrize("check", ["ruff check", "ruff format --check", "mypy --strict"])
def test_python_is_clean(check: str) -> None:
    done = subprocess.run([sys.executable, "-m", *check.split()], cwd=PROJECT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
