"""Shell scripts are clean by shellcheck."""

import subprocess

from tests.rig import processes
from tests.rig.packages import PROJECT


def test_scripts_are_clean() -> None:
    scripts = [PROJECT / ".ci/run", *(path for path in sorted((PROJECT / "bin").rglob("*")) if path.is_file())]
    command = [processes.program("shellcheck"), "--external-sources", "--source-path", str(PROJECT), *map(str, scripts)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
