"""How a command fails: the status says what, standard error says it in words or as JSON, standard output stays empty."""

import json
import os
import signal
import subprocess
from pathlib import Path

import click
import pytest

from coding_agents_sidecar import __version__
from coding_agents_sidecar.cli import Nouns, coding_agents
from tests.homes import SESSION, Home


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path)
    home.lay()
    home.reindex()
    return home


@pytest.mark.parametrize(
    ("arguments", "status", "code"),
    [
        (["sessions", "list", "--colour"], 2, "INVALID_ARGUMENT"),
        (["sessions", "list", "--status=running"], 2, "INVALID_ARGUMENT"),
        (["sessions", "list", "--since=tomorrow"], 2, "INVALID_ARGUMENT"),
        (["sessions", "list", "--limit=0"], 2, "INVALID_ARGUMENT"),
        (["sessions", "list", "extra"], 2, "INVALID_ARGUMENT"),
        (["sessions", "forget"], 2, "INVALID_ARGUMENT"),
        (["session", "list"], 2, "INVALID_ARGUMENT"),
        (["sessions", "read"], 2, "INVALID_ARGUMENT"),
        (["sessions", "list", "--runtime=emacs"], 3, "AGENT_NOT_FOUND"),
        (["sessions", "reindex", "--runtime=emacs"], 3, "AGENT_NOT_FOUND"),
        (["sessions", "read", "emacs:1"], 3, "AGENT_NOT_FOUND"),
        (["sessions", "read", "claude-code:nothing"], 3, "SESSION_NOT_FOUND"),
    ],
)
def test_a_failure_has_the_status_and_the_shape_of_its_code(home: Home, arguments: list[str], status: int, code: str) -> None:
    plain = home.run(*arguments)
    assert (plain.code, plain.out, plain.err.count("\n")) == (status, b"", 1)
    assert plain.err.startswith("Error: ")
    for wish in (["--format=json"], ["--format", "json"]):
        done = home.run(*arguments, *wish)
        assert (done.code, done.out) == (status, b"")
        assert set(done.error()) == {"code", "message"}
        assert done.error()["code"] == code


def test_an_ambiguous_id_lists_what_it_fits(home: Home) -> None:
    home.lay(f"{SESSION[:-1]}f")
    home.reindex()
    done = home.run("sessions", "read", SESSION[:8], "--format=json")
    expected = [f"claude-code:{SESSION}", f"claude-code:{SESSION[:-1]}f"]
    assert (done.code, done.error()["code"], done.error()["candidates"]) == (3, "AMBIGUOUS_SESSION", expected)
    plain = home.run("sessions", "read", SESSION[:8])
    assert plain.err.splitlines()[1:] == [f"  {one}" for one in expected]


def test_a_state_folder_that_is_a_file_makes_the_index_unavailable(home: Home, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    done = home.run("sessions", "list", "--format=json", env={"CODING_AGENTS_STATE_DIR": str(tmp_path / "file")})
    assert (done.code, done.error()["code"]) == (5, "INDEX_UNAVAILABLE")


@pytest.mark.parametrize("setting", [{"CODING_AGENTS_HOST": "h" * 65}, {"CODING_AGENTS_LOG": "loud"}])
def test_a_setting_that_makes_no_sense_is_an_invalid_argument(home: Home, setting: dict[str, str]) -> None:
    done = home.run("sessions", "list", "--format=json", env=setting)
    assert (done.code, done.error()["code"]) == (2, "INVALID_ARGUMENT")


def test_words_of_an_error_hold_nothing_that_a_terminal_obeys(home: Home) -> None:
    done = home.run("sessions", "read", "claude-code:\x1b[31m\u202enothing\udcff")
    assert "\x1b" not in done.err
    assert "\u202e" not in done.err


def test_an_interrupted_program_ends_quietly(home: Home) -> None:
    with home.spawn("serve", "--stdio") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write(b'{"v":1,"id":1,"op":"ping"}\n')
        process.stdin.flush()
        assert process.stdout.readline() == b'{"id":1,"head":{}}\n'
        process.send_signal(signal.SIGINT)
        assert process.wait(15) == 130
        assert b"Traceback" not in process.stderr.read()


def test_the_version_is_that_of_the_package(home: Home) -> None:
    assert home.run("--version").out.decode() == f"coding-agents {__version__}\n"


def commands(group: Nouns | click.Group = coding_agents, path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """Return the words of every command."""
    found = []
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        found += commands(command, (*path, name)) if isinstance(command, click.Group) else [(*path, name)]
    return found


@pytest.mark.parametrize("command", commands(), ids=" ".join)
def test_the_help_of_a_command_ends_in_an_example_that_works(home: Home, command: tuple[str, ...]) -> None:
    example = home.run(*command, "--help").out.decode().splitlines()[-1].strip()
    assert f"coding-agents {' '.join(command)}" in example
    done = subprocess.run(
        ["sh", "-c", example.removeprefix("$ ")], env=home.environment(), capture_output=True, timeout=15, check=False
    )
    assert (example[:2], done.returncode) == ("$ ", 0), done.stderr
    assert b"rror" not in done.stderr


@pytest.mark.parametrize("group", [[], ["sessions"]])
def test_a_noun_alone_shows_its_help(home: Home, group: list[str]) -> None:
    done = home.run(*group)
    assert (done.code, done.err) == (0, "")
    assert done.out == home.run(*group, "--help").out


def test_ping_says_which_versions_are_spoken(home: Home) -> None:
    assert home.run("ping", "--format=json").json() == home.sidecar().hello()


def test_runtimes_name_the_folders_that_are_looked_at(home: Home) -> None:
    rows = {row["name"]: row for row in home.run("runtimes", "--format=json").json()}
    claude = rows["claude-code"]
    assert {"path": str(home.path / ".claude/projects"), "state": "listed"} in claude["roots"]
    assert (claude["sources"], claude["sessions"], claude["provider"]) == (1, 1, "built-in")


def test_the_doctor_says_what_it_checked(home: Home) -> None:
    document = home.run("doctor", "--format=json").json()
    assert document["health"] in ("green", "yellow")
    assert {"check", "status", "message"} == set().union(*document["checks"])
    assert home.run("doctor").err.startswith("Health: ")


def test_logs_are_json_where_nobody_looks_and_follow_the_environment(home: Home) -> None:
    with home.spawn("serve", "--stdio", env={"CODING_AGENTS_LOG": "warning"}) as process:
        _, silent = process.communicate(b'{"v":1,"id":1,"op":"ping"}\n', timeout=15)
    with home.spawn("serve", "--stdio") as process:
        _, spoken = process.communicate(b'{"v":1,"id":1,"op":"ping"}\n', timeout=15)
    assert silent == b""
    line = json.loads(spoken)
    assert (line["message"], line["op"], line["outcome"], line["items"]) == ("request", "ping", "OK", 0)
    assert os.fsencode(home.path) not in spoken


def test_a_damaged_ledger_is_named_and_can_be_deleted(home: Home) -> None:
    home.lay()
    home.run("sessions", "reindex")
    ledger = home.state / "ledger.db"
    with ledger.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * (ledger.stat().st_size - 4096))
    for suffix in ("-wal", "-shm"):
        ledger.with_name(ledger.name + suffix).unlink(missing_ok=True)
    for command in (("sessions", "list"), ("sessions", "read", "claude:x"), ("doctor",), ("sessions", "reindex")):
        result = home.run(*command)
        assert (result.code, "it can be deleted at any time" in result.err) == (5, True)
