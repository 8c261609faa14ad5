"""The compose file follows the schema, and mounts sessions and nothing else of a home folder."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.rig import processes
from tests.rig.packages import PROJECT

COMPOSE = (PROJECT / "docker-compose.yml").read_text()


@pytest.mark.integration
def test_the_compose_file_follows_the_schema(tmp_path: Path) -> None:
    project = tmp_path / "project"
    (project / "secrets").mkdir(parents=True)
    shutil.copy(PROJECT / "Dockerfile", project)
    # The key is newer than the last Compose that runs without Docker.
    (project / "docker-compose.yml").write_text(COMPOSE.replace("bind: { create_host_path: false }", ""))
    command = [processes.program("docker-compose"), "config", "--quiet"]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_what_is_mounted_by_default_is_there() -> None:
    defaults = re.findall(r"source: \$\{\w+:-(\S+)\}", COMPOSE)
    assert len(defaults) == COMPOSE.count("type: bind")
    assert [path for path in defaults if not (PROJECT / path).is_dir()] == []


def test_session_folders_are_mounted_read_only_and_never_made() -> None:
    mounts = COMPOSE.split("- type: bind\n")[1:]
    assert all("read_only: true\n" in mount and "create_host_path: false" in mount for mount in mounts)
