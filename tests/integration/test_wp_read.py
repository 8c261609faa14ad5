"""``wp coding-agents sessions read``, the API's read, and the action they fire."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.homes import SESSION, Home, answer, record
from tests.rig.site import Site

from .wp_rows import COMMAND, PHP, failure, row, upsert

OTHER = "5b1f0d0a-7c1e-4a57-9d55-aaaaaaaaaaaa"
RECORDER = """
add_action( 'wp_coding_agents_session_parsed', function ( $session ) {
	file_put_contents( getenv( 'EVENTS' ), wp_json_encode( $session ) . "\\n", FILE_APPEND );
} );
"""


@pytest.fixture
def filled(site: Site, tmp_path: Path) -> Site:
    """A site with two sessions in its home folder, indexed."""
    lay(site, tmp_path / "home")
    site.wp(*COMMAND, "reindex")
    return site


def lay(site: Site, folder: Path) -> None:
    home = Home(folder)
    home.lay()
    home.lay(OTHER, prompt="a secret")
    shutil.copytree(home.path, site.home, dirs_exist_ok=True)


def events(path: Path) -> list[str]:
    """Return the ids of the sessions that were announced."""
    return [json.loads(line)["session_id"] for line in path.read_text().splitlines()] if path.exists() else []


@pytest.mark.parametrize("options", [["--format=json"], ["--format=jsonl"], ["--raw"]], ids=" ".join)
def test_it_prints_what_the_sidecar_prints(filled: Site, options: list[str]) -> None:
    read = ["sessions", "read", f"claude-code:{SESSION}", *options]
    own = subprocess.run(["coding-agents", *read], env=filled.environment(), capture_output=True, text=True, check=True)
    assert filled.wp("coding-agents", *read).stdout == own.stdout
    assert '"messages":[' in own.stdout or own.stdout.count("\n") == 5


@pytest.mark.parametrize(
    "name", [f"claude-code:{SESSION}", f"claude:{SESSION}", SESSION, SESSION[:26], f"claude:{SESSION[:26]}"], ids=str
)
def test_a_session_is_found_by_any_of_its_names(filled: Site, name: str) -> None:
    assert json.loads(filled.wp(*COMMAND, "read", name, "--origin=", "--host=").stdout)["session_id"] == SESSION


def test_a_session_that_is_not_indexed_yet_is_found_by_its_whole_name(site: Site, tmp_path: Path) -> None:
    lay(site, tmp_path / "home")
    assert json.loads(site.wp(*COMMAND, "read", f"claude:{SESSION}").stdout)["session_id"] == SESSION
    assert failure(site, *COMMAND, "read", SESSION)[1]["code"] == "SESSION_NOT_FOUND"


@pytest.mark.parametrize(
    ("name", "options", "word"),
    [
        (SESSION[:24], [], "AMBIGUOUS_SESSION"),
        (SESSION[:5], [], "SESSION_NOT_FOUND"),
        ("claude-code:nothing", [], "SESSION_NOT_FOUND"),
        ("nothing-like-it:1", [], "AGENT_NOT_FOUND"),
        (SESSION, ["--host=laptop"], "SESSION_NOT_FOUND"),
        (SESSION, ["--origin=work"], "SESSION_NOT_FOUND"),
        (f"claude-code:{SESSION}", ["--host=laptop"], "SESSION_NOT_FOUND"),
    ],
)
def test_what_does_not_name_one_session_is_refused(filled: Site, name: str, options: list[str], word: str) -> None:
    code, error = failure(filled, *COMMAND, "read", name, *options)
    assert (code, error["code"]) == (3, word)
    assert error.get("candidates", []) == ([f"claude-code:{SESSION}", f"claude-code:{OTHER}"] if "AMBI" in word else [])


def test_a_session_of_another_host_is_read_there(filled: Site) -> None:
    upsert(filled, row("far-away", host="laptop", origin="work"))
    code, error = failure(filled, *COMMAND, "read", "claude-code:far-away")
    assert (code, error["code"]) == (3, "SESSION_NOT_FOUND")
    assert 'on its host "laptop"' in error["message"]
    upsert(filled, row(SESSION, host="laptop"))
    error = failure(filled, *COMMAND, "read", SESSION)[1]
    assert error["candidates"] == [f"claude-code:{SESSION}", f"claude-code:{SESSION} (host 'laptop')"]
    assert json.loads(filled.wp(*COMMAND, "read", SESSION, "--host=").stdout)["host"] == ""


@pytest.mark.parametrize("options", [[], ["--format=jsonl"], ["--raw"]], ids=["json", "jsonl", "raw"])
def test_a_read_is_announced_once(filled: Site, tmp_path: Path, options: list[str]) -> None:
    filled.mu_plugin("recorder", RECORDER)
    log = tmp_path / "events"
    done = filled.wp(*COMMAND, "read", SESSION, *options, env={"EVENTS": str(log)})
    assert events(log) == [SESSION]
    if not options:
        assert json.loads(log.read_text()) == json.loads(done.stdout)


def test_the_api_announces_a_read_once_and_returns_the_whole_session(filled: Site, tmp_path: Path) -> None:
    filled.mu_plugin("recorder", RECORDER)
    log = tmp_path / "events"
    code = f"echo wp_json_encode( Coding_Agents\\Sessions\\Sessions::create()->read( '{SESSION}' ) );"
    session = json.loads(filled.wp("eval", code, env={"EVENTS": str(log)}).stdout)
    assert events(log) == [SESSION]
    assert len(session["messages"]) == session["message_count"] == 4
    assert session["title"] == "Which plugins are out of date?"


def test_nothing_else_announces_a_read(filled: Site, tmp_path: Path) -> None:
    filled.mu_plugin("recorder", RECORDER)
    log = tmp_path / "events"
    env = {"EVENTS": str(log)}
    for command in (["list"], ["reindex", "--full"], ["prune", "--missing", "--yes"]):
        filled.wp(*COMMAND, *command, env=env)
    filled.wp(*COMMAND, "read", "claude-code:nothing", check=False, env=env)
    assert events(log) == []


def test_a_listener_that_throws_spoils_no_read_and_is_not_quoted(filled: Site) -> None:
    filled.mu_plugin(
        "thrower",
        "add_action( 'wp_coding_agents_session_parsed', function ( $s ) { throw new DomainException( $s['title'] ); } );",
    )
    done = filled.wp(*COMMAND, "read", OTHER)
    assert json.loads(done.stdout)["session_id"] == OTHER
    assert f"failed for claude-code:{OTHER}: DomainException in" in done.stderr
    assert "secret" not in done.stderr + filled.debug_log()


class Large:
    """A session of forty messages of half a megabyte each, and a PHP that has not much memory."""

    def __init__(self, site: Site) -> None:
        folder = site.home / ".claude/projects/-srv-shop"
        folder.mkdir(parents=True)
        lines = [record(SESSION, 1_746_093_600, "user", 0, "u", None, {"role": "user", "content": "Go on."})]
        for number in range(40):
            text = {"type": "text", "text": "x" * 500_000}
            lines.append(
                record(SESSION, 1_746_093_600, "assistant", number, f"a{number}", "u", answer(f"m{number}", text, [1, 1, 0, 0]))
            )
        (folder / f"{SESSION}.jsonl").write_text("".join(lines))
        self.site = site

    def limit(self, size: str) -> None:
        """Set memory_limit, which WP-CLI lifts, after it has."""
        self.site.mu_plugin("memory", f"WP_CLI::add_hook( 'before_run_command', fn() => ini_set( 'memory_limit', '{size}' ) );")
        config = self.site.path / "wp-config.php"
        own = "define( 'WP_MAX_MEMORY_LIMIT', '96M' );"
        config.write_text(config.read_text().replace(own, "").replace("<?php", f"<?php {own}", 1))

    def read(self, *options: str, **env: str) -> "subprocess.CompletedProcess[str]":
        return self.site.wp(*COMMAND, "read", f"claude:{SESSION}", *options, check=False, env=env)


@pytest.fixture
def large(site: Site) -> Large:
    return Large(site)


def test_a_session_too_large_for_an_array_is_printed_all_the_same(large: Large) -> None:
    large.limit("96M")
    assert len(json.loads(large.read().stdout)["messages"]) == 41


def test_a_session_too_large_for_a_listener_is_refused_as_a_whole(large: Large, tmp_path: Path) -> None:
    large.site.mu_plugin("recorder", RECORDER)
    large.limit("96M")
    log = tmp_path / "events"
    done = large.read("--format=jsonl", EVENTS=str(log))
    assert (done.returncode, done.stdout) == (8, "")
    assert "memory_limit" in done.stderr
    assert events(log) == []
    large.limit("1G")
    assert large.read(EVENTS=str(log)).returncode == 0
    assert events(log) == [SESSION]


def test_a_single_message_too_large_for_php_is_refused_before_php_dies_of_it(large: Large) -> None:
    folder = large.site.home / ".claude/projects/-srv-shop"
    content = {"role": "user", "content": "x" * 30_000_000}
    (folder / f"{SESSION}.jsonl").write_text(record(SESSION, 1_746_093_600, "user", 0, "u", None, content))
    large.limit("96M")
    done = large.read()
    assert (done.returncode, done.stdout) == (8, "")
    assert "does not fit into PHP's memory" in done.stderr


def test_the_sample_subscriber_counts_failing_tools(filled: Site) -> None:
    path = filled.home / f".claude/projects/-srv-shop/{SESSION}.jsonl"
    path.write_text(path.read_text().replace('"is_error": false', '"is_error": true'))
    shutil.copy(PHP / "failing-tools.php", filled.path / "wp-content/mu-plugins")
    for name in (SESSION, OTHER, SESSION):
        filled.wp(*COMMAND, "read", name)
    counted = json.loads(filled.wp("option", "get", "agents_failing_tools", "--format=json").stdout)
    assert counted == {f"claude-code:{SESSION}": {"Bash": 1}, f"claude-code:{OTHER}": []}
