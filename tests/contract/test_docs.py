"""The documents name what there is, and nothing else."""

import re

import click
import pytest

from coding_agents_sidecar import __version__, registry
from coding_agents_sidecar.cli import coding_agents
from tests.rig.packages import PROJECT
from tests.rig.snippets import README, snippets

DOCUMENTS = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"]


def commands(group: click.Command, *names: str) -> list[str]:
    """Return the commands below a group, in words."""
    if not isinstance(group, click.Group):
        return [" ".join(names)]
    context = click.Context(group)
    found = [(name, group.get_command(context, name)) for name in group.list_commands(context)]
    return [line for name, command in found if command for line in commands(command, *names, name)]


def test_the_readme_shows_the_newcomers_two_commands_first() -> None:
    assert snippets(README, "console")[0] == "$ bin/quickstart\n$ bin/test\n"


def test_the_readme_has_every_runtime_and_where_it_looks() -> None:
    table = README.split("<!-- runtimes -->")[1].split("<!-- /runtimes -->")[0]
    rows = [[cell.strip() for cell in line.strip("|\n ").split("|")] for line in table.strip().splitlines()[2:]]
    described = {name: (title, set(re.findall(r"`([^`]+)`", places))) for name, title, places in rows}
    adapters = [one.adapter for one in registry.load(plugins=False).registered.values()]
    assert described == {
        f"`{adapter.name}`": (
            adapter.title,
            {root.path for root in adapter.stores} | {root.env for root in adapter.stores} - {""},
        )
        for adapter in adapters
    }


@pytest.mark.parametrize("command", commands(coding_agents))
def test_the_readme_names_every_command(command: str) -> None:
    assert re.search(rf"`(coding-agents )?{command}\b[^`]*`", README)


def test_the_readme_names_no_command_that_is_not_there() -> None:
    table = README.split("## Commands")[1].split("\n\n")[2]
    named = [re.sub(r" [A-Z]+$", "", name) for name in re.findall(r"^\| `([^`]+)`", table, re.MULTILINE)]
    assert named != []
    assert set(named) <= set(commands(coding_agents))


@pytest.mark.parametrize("name", ["list", "read", "reindex", "prune"])
def test_the_readme_names_every_option(name: str) -> None:
    group = coding_agents.get_command(click.Context(coding_agents), "sessions")
    assert isinstance(group, click.Group)
    command = group.get_command(click.Context(group), name)
    assert command is not None
    options = {option for param in command.params if isinstance(param, click.Option) for option in param.opts}
    line = next(line for line in README.splitlines() if line.startswith(f"| `sessions {name}"))
    assert set(re.findall(r"--[a-z-]+", line)) == options - UNREMARKABLE[name]


# What --help explains better than a word in a table would.
UNREMARKABLE = {"list": set(), "read": {"--host", "--origin"}, "reindex": {"--format"}, "prune": {"--format"}}


@pytest.mark.parametrize("document", DOCUMENTS)
def test_links_lead_to_files(document: str) -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]+)\)", (PROJECT / document).read_text())
    assert [link for link in links if not (PROJECT / link).exists()] == []


@pytest.mark.parametrize("document", DOCUMENTS)
def test_files_that_are_named_exist(document: str) -> None:
    names = re.findall(r"`((?:bin|docs|schema|sidecar|tests|wp-plugin)/[\w./-]*)`", (PROJECT / document).read_text())
    assert [name for name in names if not (PROJECT / name).exists()] == []


def test_the_changelog_has_this_version() -> None:
    assert f"## [{__version__}]" in (PROJECT / "CHANGELOG.md").read_text()
