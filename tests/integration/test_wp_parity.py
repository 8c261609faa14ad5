"""``wp coding-agents`` and ``coding-agents`` are one command in two languages."""

import csv
import io
import json
import re
import shutil
import subprocess
from pathlib import Path

import click
import pytest

from coding_agents_sidecar.cli import coding_agents
from tests.homes import SESSION, STARTED, Home
from tests.rig.site import Site


@pytest.fixture
def both(site: Site, tmp_path: Path) -> Site:
    """A site with sessions that both commands have indexed."""
    home = Home(tmp_path)
    for number in range(6):
        home.lay(f"{SESSION[:-1]}{number}", started=STARTED + number // 3, prompt=f"=cmd() {number} 🚀\n'second' line\x1b[0m")
    shutil.copytree(home.path, site.home, dirs_exist_ok=True)
    site.wp("coding-agents", "sessions", "reindex")
    return site


def own(site: Site, *command: str) -> "subprocess.CompletedProcess[str]":
    """Run the sidecar's command."""
    env = site.environment({"TZ": "UTC"})
    return subprocess.run(["coding-agents", *command], env=env, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    "command", ["sessions list", "sessions read", "sessions reindex", "sessions prune", "runtimes", "doctor"]
)
def test_a_command_has_the_same_options(site: Site, command: str) -> None:
    found: click.Command = coding_agents
    for word in command.split():
        assert isinstance(found, click.Group)
        child = found.get_command(click.Context(found), word)
        assert child is not None
        found = child
    theirs = {name.removeprefix("--") for one in found.params if isinstance(one, click.Option) for name in one.opts}
    ours = set(re.findall(r"^  \[--([a-z-]+)", site.wp("help", "coding-agents", *command.split()).stdout, re.MULTILINE))
    assert ours == theirs


@pytest.mark.parametrize("options", [[], ["--order=asc", "--limit=2"], ["--fields=title,cost_usd,started_at"]], ids=" ".join)
def test_a_list_is_the_same(both: Site, options: list[str]) -> None:
    def printed(format: str) -> tuple[str, str]:
        command = ["sessions", "list", f"--format={format}", *options]
        ours, theirs = both.wp("coding-agents", *command), own(both, *command)
        assert ours.stderr == theirs.stderr
        return ours.stdout, theirs.stdout

    for format in ("ids", "count", "yaml"):
        ours, theirs = printed(format)
        assert ours == theirs
    ours, theirs = printed("json")
    assert json.loads(ours) == json.loads(theirs)
    assert [list(one) for one in json.loads(ours)] == [list(one) for one in json.loads(theirs)]
    ours, theirs = printed("csv")
    # WordPress also takes controls out of cells.
    plain = [[re.sub("[\x00-\x1f]+", " ", cell) for cell in line] for line in csv.reader(io.StringIO(theirs))]
    assert list(csv.reader(io.StringIO(ours))) == plain


def test_a_table_has_the_same_columns_and_cells(both: Site) -> None:
    ours = [line.split("\t") for line in both.wp("coding-agents", "sessions", "list").stdout.splitlines()]
    theirs = [re.split(r" {2,}", line) for line in own(both, "sessions", "list").stdout.splitlines()]
    assert ours[0] == theirs[0]
    assert [[cell for cell in line if cell] for line in ours[1:]] == theirs[1:]


def test_runtimes_and_reports_are_the_same(both: Site) -> None:
    assert json.loads(both.wp("coding-agents", "runtimes", "--format=json").stdout) == json.loads(
        own(both, "runtimes", "--format=json").stdout
    )
    ours = json.loads(both.wp("coding-agents", "sessions", "reindex", "--format=json").stdout)
    theirs = json.loads(own(both, "sessions", "reindex", "--format=json").stdout)
    assert list(ours) == [*theirs, "events"]
    checks = json.loads(both.wp("coding-agents", "doctor", "--format=json").stdout)
    theirs = json.loads(own(both, "doctor", "--format=json").stdout)
    assert list(checks) == list(theirs)
    assert {one["check"] for one in theirs["checks"]} < {one["check"] for one in checks["checks"]}


REFUSED = (
    ["sessions", "list", "--limit=0"],
    ["sessions", "list", "--status=done"],
    ["sessions", "list", "--since=never"],
    ["sessions", "list", "--fields=secret"],
    ["sessions", "list", "--runtime=nothing-like-it"],
    ["sessions", "read", "nothing"],
    ["sessions", "read", "nothing-like-it:1"],
    ["sessions", "read", SESSION[:20]],
    ["sessions", "reindex", "--runtime=nothing-like-it"],
    ["sessions", "prune", "--missing"],
)


def test_a_refusal_has_the_same_status(both: Site) -> None:
    for command in REFUSED:
        ours, theirs = both.wp("coding-agents", *command, check=False), own(both, *command)
        assert (ours.returncode, ours.stdout) == (theirs.returncode, theirs.stdout), command
        assert ours.returncode in (2, 3), command
