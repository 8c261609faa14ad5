"""Standard output holds data and nothing else, and the manuals can be read."""

import json
import os
import pty
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.homes import SESSION, Home
from tests.rig.site import Site

from .wp_player import Player, answer
from .wp_rows import COMMAND, TABLE, failure, row, upsert

NOISE = """
ini_set( 'display_errors', '1' );
add_action( 'init', function () { echo "noise of init\\n"; trigger_error( 'careless', E_USER_NOTICE ); } );
add_action( 'wp_loaded', function () { echo "noise of wp_loaded\\n"; } );
add_action( 'wp_coding_agents_session_indexed', function () { echo "noise of a listener\\n"; } );
add_action( 'wp_coding_agents_session_parsed', function () { echo "noise of a listener\\n"; } );
add_action( 'shutdown', function () { echo "noise of shutdown\\n"; }, 99 );
register_shutdown_function( function () { register_shutdown_function( function () { echo "last noise\\n"; } ); } );
"""


@pytest.fixture
def noisy(site: Site, tmp_path: Path) -> Site:
    """A site whose other plugins talk, with a session."""
    home = Home(tmp_path)
    home.lay()
    shutil.copytree(home.path, site.home, dirs_exist_ok=True)
    site.wp(*COMMAND, "reindex")
    site.mu_plugin("noise", NOISE)
    return site


def test_what_others_echo_goes_to_standard_error(noisy: Site) -> None:
    for command in ("sessions list", "sessions reindex --full", "sessions prune --missing --yes", "runtimes", "doctor"):
        done = noisy.wp("coding-agents", *command.split(), "--format=json")
        json.loads(done.stdout)
        for words in ("noise of init", "careless", "noise of wp_loaded", "noise of shutdown", "last noise"):
            assert words in done.stderr, command


def test_a_session_stays_whole_among_noise(noisy: Site) -> None:
    done = noisy.wp(*COMMAND, "read", SESSION)
    assert json.loads(done.stdout)["session_id"] == SESSION
    assert "noise of a listener" in done.stderr


def test_no_format_is_spoiled(noisy: Site) -> None:
    for format in ("table", "csv", "yaml", "ids", "count"):
        assert "noise" not in noisy.wp(*COMMAND, "list", f"--format={format}").stdout


@pytest.mark.parametrize(
    ("command", "action"),
    [
        (["read", SESSION], "wp_coding_agents_session_parsed"),
        (["reindex", "--full"], "wp_coding_agents_session_indexed"),
        (["list"], "query"),
    ],
    ids=["read", "reindex", "list"],
)
def test_a_listener_that_ends_php_is_an_error(noisy: Site, command: list[str], action: str) -> None:
    noisy.sql(f"UPDATE {TABLE} SET event_pending = 1")
    noisy.mu_plugin(
        "intruder",
        f"""WP_CLI::add_hook( 'before_invoke:coding-agents sessions {command[0]}', function () {{
            add_filter( '{action}', function ( $given ) {{ exit; }} );
        }} );""",
    )
    done = noisy.wp(*COMMAND, *command, "--format=json", check=False)
    assert (done.returncode, done.stdout) == (1, "")
    error = {"code": "INTERNAL_ERROR", "message": f"A listener of {action} ended PHP."}
    assert [json.loads(line)["error"] for line in done.stderr.splitlines() if line.startswith('{"error":')] == [error]
    done = noisy.wp(*COMMAND, *command, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert f"Error: {error['message']}\n" in done.stderr


def test_a_command_that_ends_php_for_another_one_is_none_of_ours(noisy: Site) -> None:
    code = "WP_CLI::runcommand( 'coding-agents sessions list', array( 'launch' => false, 'return' => true ) ); exit( 3 );"
    done = noisy.wp("eval", code, check=False)
    assert done.returncode == 3
    assert "ended PHP" not in done.stderr


def test_an_error_is_a_sentence_unless_json_was_asked_for(site: Site) -> None:
    for command in (
        ["read", "nothing"],
        ["read", "nothing", "--format=jsonl"],
        ["list", "--limit=0"],
        ["list", "--format=wrong"],
    ):
        done = site.wp(*COMMAND, *command, check=False)
        assert (done.returncode in (2, 3), done.stdout) == (True, "")
        assert re.fullmatch(r"Error: [^{\n]+\.\n", done.stderr), command


@pytest.mark.parametrize(
    "command",
    [
        *(["read", "claude-code:\udcff"], ["read", "nothing", "--host=\udcff"], ["reindex", "--project=\udcff"]),
        *(["list", f"--{option}=\udcff"] for option in ("project", "runtime", "model", "host", "since", "limit", "fields")),
    ],
    ids=lambda command: ascii(" ".join(command)),
)
def test_what_is_not_utf_8_is_refused(site: Site, command: list[str]) -> None:
    upsert(site, row("s-1"))
    code, error = failure(site, *COMMAND, *command)
    assert (code, error["code"]) == (2, "INVALID_ARGUMENT")


def test_an_error_stays_readable_among_noise(noisy: Site) -> None:
    done = noisy.wp(*COMMAND, "list", "--limit=none", "--format=json", check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert [line for line in done.stderr.splitlines() if line.startswith('{"error":{"code":"INVALID_ARGUMENT"')] != []


def test_what_was_echoed_too_early_is_named(site: Site) -> None:
    file = site.mu_plugin("early", 'echo "Deprecated: old call\\n";')
    file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes())
    done = site.wp(*COMMAND, "list", "--format=json")
    assert json.loads(done.stdout.splitlines()[-1]) == []
    assert f"{file} printed something on line 1." in done.stderr


def test_other_commands_are_left_alone(noisy: Site) -> None:
    assert "noise of init" in noisy.wp("option", "get", "home").stdout


def test_another_command_can_run_these_in_its_own_process(site: Site) -> None:
    upsert(site, row("s-1"))
    code = """$options = array( 'launch' => false, 'return' => true, 'parse' => 'json' );
        echo count( WP_CLI::runcommand( 'coding-agents sessions list --format=json', $options ) );"""
    assert site.wp("eval", code).stdout == "1"


def test_a_reader_that_goes_ends_the_command_quietly(site: Site) -> None:
    upsert(site, *(row(f"s-{number}") for number in range(3_000)))
    process = site.start_wp(*COMMAND, "list", "--all", "--format=json")
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.read(10)
    process.stdout.close()
    assert process.stderr.read() == ""
    assert process.wait(30) == 141


def on_a_terminal(site: Site, env: dict[str, str], *command: str) -> str:
    """Run a command whose standard output is a terminal; return what it shows there."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        ["wp", *command], env=site.environment(env), stdin=subprocess.DEVNULL, stdout=theirs, stderr=subprocess.DEVNULL
    )
    os.close(theirs)
    shown = b""
    try:
        while block := os.read(ours, 65536):
            shown += block
    except OSError:
        pass  # the terminal is closed when nobody has it open
    os.close(ours)
    assert process.wait(30) == 0
    return shown.decode()


def test_progress_is_drawn_on_a_terminal_only(site: Site, tmp_path: Path) -> None:
    player = Player(tmp_path)
    env = player.env(site)
    progress = "".join(f'{{"id":@ID@,"progress":{{"done":{done},"total":4}}}}\n' for done in (1, 3, 4))
    player.says("reindex", progress + answer({}, report={"discovered": 0, "failed": []}, published=0, direct=True, floor=None))
    drawn = on_a_terminal(site, env, *COMMAND, "reindex")
    assert re.findall(r"Reading sessions +(\d+)%", drawn)[-1] == "100"
    assert "| discovered |" in drawn
    assert json.loads(on_a_terminal(site, env, *COMMAND, "reindex", "--format=json"))["discovered"] == 0
    assert "Reading sessions" not in site.wp(*COMMAND, "reindex", env=env).stdout


@pytest.mark.parametrize(
    ("command", "options"),
    [
        ("sessions list", "runtime project since until model status kind host sort order limit all fields format"),
        ("sessions read", "host origin raw format"),
        ("sessions reindex", "runtime project full dry-run format"),
        ("sessions prune", "missing yes format"),
        ("runtimes", "format"),
        ("doctor", "format"),
    ],
)
def test_a_command_has_a_manual_with_every_option_and_an_example(site: Site, command: str, options: str) -> None:
    manual = site.wp("help", "coding-agents", *command.split()).stdout
    assert re.findall(r"^  \[--([a-z-]+)", manual.partition("\nOPTIONS\n")[2], re.MULTILINE) == options.split()
    assert f"$ wp coding-agents {command}" in manual
    described = manual.partition("\nOPTIONS\n")[2].partition("\nEXAMPLES\n")[0]
    assert all(re.search(rf"\[--{option}[^\n]*\n    \S", described) for option in options.split())


def test_the_nouns_list_their_commands(site: Site) -> None:
    assert re.findall(
        r"^  (\w+) ", site.wp("help", "coding-agents", "sessions").stdout.partition("SUBCOMMANDS")[2], re.MULTILINE
    ) == [
        *("list", "prune", "read", "reindex"),
    ]
    children = site.wp("help", "coding-agents").stdout.partition("SUBCOMMANDS")[2]
    assert re.findall(r"^  (\w+) ", children, re.MULTILINE) == ["doctor", "runtimes", "sessions"]


@pytest.mark.parametrize("command", [["sessions", "list", "--bogus"], ["sessions", "read"], ["doctor", "extra"]], ids=" ".join)
def test_what_no_command_has_is_refused(site: Site, command: list[str]) -> None:
    done = site.wp("coding-agents", *command, check=False)
    assert done.returncode == 1
    assert done.stdout == "" or done.stdout.startswith("usage: wp coding-agents")
