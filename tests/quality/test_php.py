"""The plugin's PHP is valid in every version it promises to run on, and keeps to its coding rules."""

import subprocess
from pathlib import Path

import pytest

from tests.rig import packages, processes, wasm

FILES = sorted(packages.PLUGIN.rglob("*.php"))


def test_there_is_a_plugin_to_check() -> None:
    assert packages.PLUGIN / "coding-agents-sessions.php" in FILES


def test_php_is_valid_here() -> None:
    lint = [processes.program("php"), "-l"]
    assert [said for file in FILES if (said := failure([*lint, str(file)]))] == []


@pytest.mark.integration
@pytest.mark.parametrize("version", wasm.VERSIONS)
def test_php_is_valid_in_other_versions(version: str) -> None:
    assert failure(wasm.lint(version, FILES)) == ""


@pytest.mark.integration
def test_another_version_finds_what_is_wrong_there(tmp_path: Path) -> None:
    newer = tmp_path / "newer.php"
    newer.write_text("<?php function pick( int|string $value ) { return $value; }\n")
    assert "syntax error" in failure(wasm.lint("7.4", [newer]))
    assert failure(wasm.lint("8.5", [newer])) == ""


def test_php_keeps_to_the_coding_rules() -> None:
    rules = packages.PLUGIN / "phpcs.xml.dist"
    assert failure([processes.program("phpcs"), f"--standard={rules}", str(packages.PLUGIN)]) == ""


def failure(command: list[str]) -> str:
    """Return what the command says when it fails, '' when it does not."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr if done.returncode else ""
