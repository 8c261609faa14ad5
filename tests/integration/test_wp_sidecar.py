"""The plugin's end of the link: what it asks, what it takes for an answer, and how it fails."""

import json
import os
import time
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from tests.contract import schemas
from tests.homes import Home
from tests.rig.site import Site

from .wp_player import HELLO, Player, answer, compact
from .wp_rows import COMMAND, TABLE, failure, listed, row

SESSION = "5b1f0d0a-7c1e-4a57-9d55-1f2a3b4c5d6e"
READ = (*COMMAND, "read", f"claude-code:{SESSION}")
HEAD = {"session_id": SESSION, "unified_id": f"claude-code:{SESSION}", "runtime": "claude-code", "meta": {}}
RUNTIMES = answer(
    {}, {"name": "claude-code", "title": "Claude Code", "aliases": ["claude"], "roots": [], "sources": 0, "sessions": 0}
)
MESSAGE = {"id": "m0", "role": "user", "content": "Hello 🚀", "empty": {}, "whole": 1.0}


@pytest.fixture
def player(tmp_path: Path) -> Player:
    player = Player(tmp_path)
    player.says("runtimes", RUNTIMES)
    return player


def test_a_program_that_is_not_there_is_said_with_the_command_that_mends_it(site: Site) -> None:
    nowhere = {"PATH": f"{site.programs}:/usr/bin:/bin"}
    code, error = failure(site, *COMMAND, "reindex", env=nowhere)
    assert (code, error["code"]) == (5, "SIDECAR_UNAVAILABLE")
    assert '"pip install wp-coding-agents-sidecar"' in error["message"]
    assert "CODING_AGENTS_BINARY" in error["message"]


def test_a_program_that_dies_at_once_is_quoted(site: Site, tmp_path: Path) -> None:
    program = tmp_path / "coding-agents"
    program.write_text("#!/bin/sh\necho 'ModuleNotFoundError: no click' >&2\nexit 1\n")
    program.chmod(0o755)
    code, error = failure(site, "coding-agents", "runtimes", env={"PATH": f"{tmp_path}:{site.programs}:/usr/bin:/bin"})
    assert (code, error["code"]) == (5, "SIDECAR_UNAVAILABLE")
    assert "(ModuleNotFoundError: no click)" in error["message"]


def test_a_constant_names_the_program(site: Site, player: Player) -> None:
    config = site.path / "wp-config.php"
    config.write_text(config.read_text().replace("<?php", f"<?php define( 'CODING_AGENTS_BINARY', '{player.program}' );", 1))
    assert json.loads(site.wp("coding-agents", "runtimes", "--format=json").stdout)[0]["name"] == "claude-code"
    assert [arguments for _, arguments, _ in player.processes()] == [[str(player.program), "serve", "--stdio"]]


def test_an_option_in_the_database_does_not_name_the_program(site: Site, player: Player) -> None:
    for name in ("CODING_AGENTS_BINARY", "coding_agents_binary", "coding_agents_sessions_binary"):
        site.wp("option", "update", name, str(player.program))
    site.wp("coding-agents", "runtimes")
    assert player.processes() == []


def test_lines_that_are_no_answer_are_ignored(site: Site, player: Player) -> None:
    noise = 'Deprecated: this\n\n[]\nnull\n7\n"text"\n{"id":99,"item":{"a":1}}\n{"id":"@ID@","item":1}\n{"item":2}\n{"id":@ID@}\n'
    whole = answer(HEAD, MESSAGE)
    player.says("read", "".join(noise + line for line in whole.splitlines(keepends=True)))
    assert site.wp(*READ, env=player.env(site)).stdout == compact(HEAD)[:-1] + f',"messages":[{compact(MESSAGE)}]}}\n'


@pytest.mark.parametrize(
    "answers",
    [
        pytest.param(answer(HEAD, MESSAGE).rpartition('{"id"')[0], id="no-end"),
        pytest.param(answer(HEAD, MESSAGE)[:-5], id="half-an-end"),
        pytest.param(answer(HEAD, MESSAGE).replace('"count":1', '"count":2'), id="an-item-too-few"),
        pytest.param(answer(HEAD, MESSAGE).partition("\n")[2], id="no-head"),
        pytest.param("", id="nothing"),
    ],
)
def test_an_answer_that_is_broken_off_is_never_half_a_result(site: Site, player: Player, answers: str) -> None:
    player.says("read", answers)
    (player.folder / "coding-agents").write_text(player.program.read_text() + "    if request['op'] == 'read': sys.exit()\n")
    code, error = failure(site, *READ, env=player.env(site))
    assert (code, error["code"]) == (5, "SIDECAR_UNAVAILABLE")
    assert error["message"] == "The sidecar ended in the middle of an answer."


def timed(site: Site, player: Player) -> str:
    """Ask for the runtimes with a patience of a second; return the code of the error, or the number of items."""
    code = """try {
        echo count( ( new Coding_Agents\\Sessions\\Sidecar( 1 ) )->items( 'doctor' ) );
    } catch ( Coding_Agents\\Sessions\\Sidecar_Error $error ) {
        echo $error->word();
    }"""
    return site.wp("eval", code, env=player.env(site)).stdout


def test_a_program_that_says_nothing_is_given_up_and_ended(site: Site, player: Player) -> None:
    player.says("doctor", 60.0)
    began = time.monotonic()
    assert timed(site, player) == "TIMEOUT"
    assert time.monotonic() - began < 10
    assert not os.path.exists(f"/proc/{player.processes()[0][0]}")


def test_a_program_that_says_how_far_it_is_may_take_its_time(site: Site, player: Player) -> None:
    progress = '{"id":@ID@,"progress":{"done":1,"total":3}}\n'
    player.says("doctor", progress, 0.7, progress, 0.7, progress, 0.7, answer({}, {"check": "x"}))
    assert timed(site, player) == "1"


def test_other_versions_are_refused_with_what_to_update(site: Site, player: Player) -> None:
    for what in ("protocol", "table", "document"):
        for theirs, advice in (0, "update the sidecar"), (2, "update the plugin"):
            player.replaces_hello(answer({**HELLO, what: theirs}))
            code, error = failure(site, *COMMAND, "reindex", env=player.env(site))
            assert (code, error["code"]) == (6, "VERSION_MISMATCH")
            assert error["message"].endswith(f"{advice}.")
            assert what in error["message"]


def test_every_error_of_the_sidecar_ends_with_its_status(site: Site, player: Player) -> None:
    codes: dict[str, Any] = json.loads((schemas.FOLDER / "errors.json").read_text())["codes"]
    for word, facts in codes.items():
        more = {"candidates": ["a:1", "b:1"]} if word == "AMBIGUOUS_SESSION" else {}
        player.replaces_hello(answer(HELLO))
        player.says(
            "runtimes",
            compact({"id": 0, "error": {"code": word, "message": "Why.", **more}}).replace('"id":0', '"id":@ID@') + "\n",
        )
        code, error = failure(site, "coding-agents", "runtimes", env=player.env(site))
        assert (code, error) == (facts["exit"], {"code": word, "message": "Why.", **more})


def test_an_error_nobody_knows_is_a_defect(site: Site, player: Player) -> None:
    player.replaces_hello(answer(HELLO))
    player.says("runtimes", '{"id":@ID@,"error":{"code":"OUT_OF_TEA","message":"Why."}}\n')
    assert failure(site, "coding-agents", "runtimes", env=player.env(site)) == (1, {"code": "INTERNAL_ERROR", "message": "Why."})


def test_much_on_standard_error_stops_nothing(site: Site, player: Player) -> None:
    text = player.program.read_text().replace("exchanges =", "sys.stderr.write('x' * 8_000_000 + '\\n')\nexchanges =")
    player.program.write_text(text)
    assert site.wp("coding-agents", "runtimes", env=player.env(site)).stderr == ""


def test_a_long_message_passes_byte_for_byte(site: Site, player: Player) -> None:
    message = {**MESSAGE, "content": "🚀\\u00e9 { } \u2028" * 400_000}
    player.says("read", answer(HEAD, message, MESSAGE))
    done = site.wp(*READ, "--format=jsonl", env=player.env(site))
    assert done.stdout == "".join(compact(one) + "\n" for one in (HEAD, message, MESSAGE))


def test_rows_are_asked_for_and_written_as_recorded(lite: Site, player: Player) -> None:
    player.plays("rows-for-a-writer-in-php")
    env = player.env(lite)
    lite.wp(*COMMAND, "reindex", "--runtime=claude-code", env=env)
    assert [one["session_id"] for one in listed(lite)] == [SESSION]
    lines = (schemas.FOLDER / "examples/conversations/rows-for-a-writer-in-php.jsonl").read_text().splitlines()
    recorded = [record["plugin"] for record in map(json.loads, lines) if "plugin" in record]
    assert player.requests()[0] == next(one for one in recorded if one["op"] == "reindex")
    revision = lite.sql(f"SELECT revision FROM {TABLE}")[0][0]
    lite.wp(*COMMAND, "reindex", env=env)
    assert player.requests()[1]["args"]["publish"]["revision"] == revision


def test_a_recorded_session_is_shown_as_it_came(site: Site, player: Player) -> None:
    player.plays("read-a-session-raw")
    shown = json.loads(site.wp(*READ, "--raw", env=player.env(site)).stdout)
    assert [message["role"] for message in shown["messages"]] == ["user", "assistant", "tool", "assistant"]
    assert player.requests()[-1]["args"] == {"runtime": "claude-code", "session_id": SESSION, "origin": None, "raw": True}


def test_a_web_request_starts_no_program(site: Site, tmp_path: Path) -> None:
    traces = tmp_path / "traces"
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\necho started >>{traces}\n")
    program.chmod(0o755)
    site.mu_plugin(
        "asker",
        f"""define( 'CODING_AGENTS_BINARY', '{program}' );
        add_action( 'template_redirect', function () {{
            $api = Coding_Agents\\Sessions\\Sessions::create();
            foreach ( array( $api->read( 'claude-code:x' ), $api->reindex(), $api->prune(), $api->list( array( 'titles' => true ) ) ) as $answer ) {{
                echo is_wp_error( $answer ) ? $answer->get_error_code() : count( $answer ), "\\n";
            }}
            exit;
        }} );""",
    )
    with urllib.request.urlopen(site.serve()) as page:
        said = page.read().decode()
    assert said.split() == ["SIDECAR_UNAVAILABLE"] * 3 + ["0"]
    assert not traces.exists()
    assert failure(site, *COMMAND, "reindex")[1]["code"] == "SIDECAR_UNAVAILABLE"
    assert traces.read_text() == "started\n"


class Account:
    """A database account with a password that would be hard to hide, and the site using it."""

    password = "p'a\\\\s \"s%w&ord🔑"

    def __init__(self, site: Site) -> None:
        quoted = self.password.replace("\\", "\\\\").replace("'", "\\'")
        site.sql(f"CREATE OR REPLACE USER 'odd'@'127.0.0.1' IDENTIFIED BY '{quoted}'")
        site.sql(f"GRANT ALL ON `{site.db['name']}`.* TO 'odd'@'127.0.0.1'")
        config = site.path / "wp-config.php"
        text = config.read_text().replace("'DB_USER', 'wordpress'", "'DB_USER', 'odd'")
        config.write_text(text.replace("'DB_PASSWORD', 'wordpress'", f"'DB_PASSWORD', '{quoted}'"))


def test_credentials_travel_on_standard_input_only(site: Site, player: Player) -> None:
    Account(site)
    player.says("reindex", answer({}, report={}, published=0, direct=True, floor=None))
    site.wp(*COMMAND, "reindex", "--format=json", env=player.env(site))
    assert player.requests()[0]["args"]["publish"]["database"] == {
        "host": "127.0.0.1",
        "port": site.db["port"],
        "socket": None,
        "user": "odd",
        "password": Account.password,
        "name": site.db["name"],
        "flags": 0,
        "ssl_ca": None,
    }
    _, arguments, environment = player.processes()[0]
    assert Account.password not in json.dumps([arguments, environment], ensure_ascii=False)


def test_the_sidecar_can_use_them(site: Site, tmp_path: Path) -> None:
    Account(site)
    home = Home(tmp_path)
    home.lay()
    site.mu_plugin(
        "guard",
        "add_filter( 'query', fn( $sql ) => strpos( $sql, 'INSERT INTO wp_coding' ) === 0 ? exit( 'PHP wrote' ) : $sql );",
    )
    site.wp(*COMMAND, "reindex", env={"HOME": str(home.path)})
    assert site.sql(f"SELECT COUNT(*) FROM {TABLE}") == [(1,)]


def test_the_database_is_found_as_php_finds_it(site: Site) -> None:
    forms = ["db", "db:3307", "localhost", "localhost:/run/a.sock", ":/run/a.sock", "[::1]:3307", "::1", "db:3306:/run/a.sock"]
    code = f"""global $wpdb;
        foreach ( {json.dumps(forms)} as $host ) {{
            $wpdb->dbhost = $host;
            $found[]      = array_slice( Coding_Agents\\Sessions\\Database::credentials(), 0, 3 );
        }}
        echo wp_json_encode( array( $found, ini_get( 'mysqli.default_socket' ), (int) ini_get( 'mysqli.default_port' ) ) );"""
    rows, socket, default = json.loads(site.wp("eval", code).stdout)
    found = [(one["host"], one["port"], one["socket"]) for one in rows]
    assert found == [
        ("db", default, None),
        ("db", 3307, None),
        ("localhost", default, socket or site.db["socket"]),
        ("localhost", default, "/run/a.sock"),
        ("", default, "/run/a.sock"),
        ("::1", 3307, None),
        ("::1", default, None),
        ("db", 3306, "/run/a.sock"),
    ]


@pytest.mark.parametrize("kind", ["drop-in", "class"])
def test_a_database_that_only_wordpress_knows_is_not_handed_out(site: Site, kind: str) -> None:
    drop_in = site.path / "wp-content/db.php"
    if kind == "drop-in":
        drop_in.write_text("<?php // A drop-in.\n")
    else:
        site.mu_plugin(
            "other",
            "class Other_DB extends wpdb {} $GLOBALS['wpdb'] = new Other_DB( DB_USER, DB_PASSWORD, DB_NAME, DB_HOST ); wp_set_wpdb_vars();",
        )
    try:
        assert site.wp("eval", "var_dump( Coding_Agents\\Sessions\\Database::credentials() );").stdout == "NULL\n"
    finally:
        drop_in.unlink(missing_ok=True)


def test_a_row_from_the_link_that_does_not_fit_is_refused(lite: Site, player: Player) -> None:
    bad = {**row("s-1"), "title": "a secret"}
    player.says("reindex", answer({}, bad, report={}, published=1, direct=False, floor=None))
    code, error = failure(lite, *COMMAND, "reindex", env=player.env(lite))
    assert (code, error["code"]) == (1, "INTERNAL_ERROR")
    assert "secret" not in error["message"]
    assert lite.sql(f"SELECT COUNT(*) FROM {TABLE}") == [(0,)]
