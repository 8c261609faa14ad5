"""The README's commands and snippets do what it says."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.rig import packages
from tests.rig.packages import PROJECT
from tests.rig.site import Site
from tests.rig.snippets import README, commands, snippets

SAMPLES = PROJECT / "sidecar/coding_agents_sidecar/samples/home"
CLAUDE_SAMPLE = "claude-code:5a3e1c70-8d24-4b1f-9f0e-2c6b7d9a1e01"


@pytest.fixture
def newcomer(site: Site) -> Site:
    """A site without the plugin, whose user has sessions and no sidecar."""
    shutil.copytree(SAMPLES, site.home, dirs_exist_ok=True)
    packages.lend_downloads(site.home / ".cache")
    site.wp("plugin", "deactivate", packages.SLUG)
    shutil.rmtree(site.path / "wp-content/plugins" / packages.SLUG)
    return site


def run(site: Site, command: str) -> "subprocess.CompletedProcess[str]":
    """Run a command of the README in the project's folder, without the tests' own environment."""
    search = [str(site.home / ".local/bin"), str(site.programs), f"{sys.base_prefix}/bin", os.environ["PATH"]]
    # How pip reaches its packages is the machine's business.
    settings = {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "SSL_"))}
    settings.setdefault("PIP_CONFIG_FILE", str(Path.home() / ".config/pip/pip.conf"))
    settings.setdefault("PIP_CACHE_DIR", str(Path.home() / ".cache/pip"))
    environment = {**settings, **site.environment(), "PATH": os.pathsep.join(search)}
    del environment["CODING_AGENTS_STATE_DIR"]
    return subprocess.run(
        ["bash", "-c", command],
        cwd=PROJECT,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.timeout(300)
def test_the_commands_work_in_their_order_and_leave_nothing(newcomer: Site) -> None:
    printed = {}
    for command in commands(README):
        if command != "bin/test":
            done = run(newcomer, command)
            assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
            printed[command] = done.stdout
    assert CLAUDE_SAMPLE in printed["bin/quickstart"]
    assert CLAUDE_SAMPLE in printed["wp coding-agents sessions list"]
    assert CLAUDE_SAMPLE in printed["coding-agents sessions list --format=csv"]
    assert [path for path in (newcomer.home / ".local").rglob("*") if "coding-agents" in path.name] == []
    assert list((newcomer.home / ".cache").iterdir()) == []
    assert newcomer.sql("SHOW TABLES LIKE '%coding_agents%'") == []
    assert newcomer.sql("SELECT option_name FROM wp_options WHERE option_name LIKE '%coding_agents%'") == []


@pytest.mark.integration
def test_bin_test_hands_arguments_to_pytest() -> None:
    done = subprocess.run([PROJECT / "bin/test", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("pytest ")


def test_the_php_api_lists_sessions(site: Site, tmp_path: Path) -> None:
    shutil.copytree(SAMPLES, site.home, dirs_exist_ok=True)
    site.wp("coding-agents", "sessions", "reindex")
    script = tmp_path / "list.php"
    script.write_text("<?php\n" + snippets(README, "php")[0])
    assert f"{CLAUDE_SAMPLE} 6\n" in site.wp("eval-file", str(script)).stdout


def test_the_subscriber_is_told(site: Site) -> None:
    shutil.copytree(SAMPLES, site.home, dirs_exist_ok=True)
    site.mu_plugin("subscriber", snippets(README, "php")[1])
    site.wp("coding-agents", "sessions", "reindex")
    assert site.wp("option", "get", "expensive_session").stdout.split(":")[0] in ("claude-code", "opencode")
    site.wp("coding-agents", "sessions", "read", CLAUDE_SAMPLE)
    assert site.wp("option", "get", "last_read").stdout == "6\n"
