"""From files on disk to rows, actions and sessions read back, with the real ``wp`` on both kinds of database."""

import json
import os
import shutil
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from coding_agents_sidecar.testing import lay, snapshot
from tests.integration.wp_rows import COMMAND, TABLE
from tests.rig.site import Site

pytestmark = pytest.mark.integration

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"
SPY = """
foreach ( array( 'indexed', 'parsed' ) as $what ) {
	add_action( "wp_coding_agents_session_$what", function ( $argument ) use ( $what ) {
		file_put_contents( getenv( 'SPY' ), wp_json_encode( array( $what, $argument ) ) . PHP_EOL, FILE_APPEND );
	} );
}
"""
FACTS = "session_key, session_id, runtime, project_path, started_at, message_count, token_total, status, row_hash"


class Flow:
    """A site whose user has sessions, with a spy on both actions."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.spy = site.home.parent / f"{site.home.name}-spy.jsonl"
        self.spy.unlink(missing_ok=True)
        site.mu_plugin("spy", SPY)

    def lay(self, *cases: str) -> None:
        for case in cases:
            lay(FIXTURES / case, self.site.home)

    def wp(self, *args: str, **options: Any) -> subprocess.CompletedProcess[str]:
        env = {"SPY": str(self.spy), **options.pop("env", {})}
        return self.site.wp(*args, env=env, **options)

    def reindex(self, *options: str) -> dict[str, Any]:
        report: dict[str, Any] = json.loads(self.wp(*COMMAND, "reindex", "--format=json", *options).stdout)
        return report

    def fired(self, what: str) -> list[dict[str, Any]]:
        """Return the arguments of an action since the last call, and forget them."""
        lines = self.spy.read_text().splitlines() if self.spy.exists() else []
        self.spy.unlink(missing_ok=True)
        return [argument for name, argument in map(json.loads, lines) if name == what]

    def rows(self, columns: str = FACTS) -> list[tuple[Any, ...]]:
        found = self.site.sql(f"SELECT {columns} FROM {TABLE} ORDER BY session_key")
        return [tuple(str(value) for value in row) for row in found]

    def ours(self, *arguments: str) -> str:
        """Return what the sidecar's own command line prints."""
        command = ["coding-agents", *arguments]
        return subprocess.run(command, env=self.site.environment(), capture_output=True, text=True, check=True).stdout


@pytest.fixture
def flow(any_site: Site) -> Iterator[Flow]:
    flow = Flow(any_site)
    yield flow
    flow.spy.unlink(missing_ok=True)


def expected(*cases: str) -> list[dict[str, Any]]:
    return [one for case in cases for one in json.loads((FIXTURES / case / "expected.json").read_text())["sessions"]]


def test_a_session_travels_from_its_file_to_a_row_an_action_and_back(flow: Flow) -> None:
    cases = ("claude-code/current", "opencode/storage")
    flow.lay(*cases)
    before = snapshot(flow.site.home)
    report = flow.reindex()
    sessions = {one["session_id"]: one for one in expected(*cases)}
    assert (report["discovered"], report["indexed"], report["failed"]) == (len(sessions), len(sessions), [])
    fired = {row["session_id"]: row for row in flow.fired("indexed")}
    assert fired.keys() == sessions.keys()
    listed = json.loads(flow.wp(*COMMAND, "list", "--all", "--format=json").stdout)
    assert {row["session_id"] for row in listed} == sessions.keys()
    for row in listed:
        facts = sessions[row["session_id"]]
        for name in ("message_count", "turn_count", "model", "title", "status", "started_at", "project_path", "parent_id"):
            assert row[name] == facts[name]
        assert row["token_total"] == facts["tokens"]["total"]
        assert fired[row["session_id"]] == {name: value for name, value in row.items() if name not in ("title", "unified_id")} | {
            "session_key": fired[row["session_id"]]["session_key"],
            "project_hash": fired[row["session_id"]]["project_hash"],
        }
    flow.fired("parsed")
    for row in listed:
        document = json.loads(flow.wp(*COMMAND, "read", row["unified_id"], "--format=json").stdout)
        assert len(document["messages"]) == row["message_count"]
        assert flow.fired("parsed") == [document]
    assert snapshot(flow.site.home) == before


def test_both_command_lines_answer_with_the_same_bytes(flow: Flow) -> None:
    flow.lay("claude-code/current", "opencode/storage")
    flow.reindex()
    ours = json.loads(flow.ours("sessions", "list", "--all", "--format=json"))
    theirs = json.loads(flow.wp(*COMMAND, "list", "--all", "--format=json").stdout)
    assert theirs == ours
    assert list(theirs[0]) == list(ours[0])
    for name in [row["unified_id"] for row in theirs]:
        document = flow.wp(*COMMAND, "read", name, "--format=json").stdout
        assert json.loads(document) == json.loads(flow.ours("sessions", "read", name, "--format=json"))


def test_a_second_pass_opens_no_file_writes_no_row_and_fires_nothing(flow: Flow) -> None:
    flow.lay("claude-code/current", "opencode/storage")
    flow.reindex()
    time.sleep(0.1)
    flow.reindex()
    flow.fired("indexed")
    before = flow.rows("*")
    trace = flow.spy.with_suffix(".strace")
    command = ["strace", "-f", "-e", "trace=open,openat,openat2", "-o", str(trace), "wp", *COMMAND, "reindex", "--format=json"]
    env = flow.site.environment({"SPY": str(flow.spy)})
    done = subprocess.run(command, env=env, cwd=flow.site.home, capture_output=True, text=True, check=True)
    report = json.loads(done.stdout)
    calls = [line for line in trace.read_text().splitlines() if str(flow.site.home) in line]
    opened = [line for line in calls if "O_DIRECTORY" not in line and "ENOENT" not in line]
    assert calls, "the folders are listed, so the trace sees them"
    trace.unlink()
    assert (report["indexed"], report["updated"], report["missing"], opened) == (0, 0, 0, [])
    assert flow.rows("*") == before
    assert flow.fired("indexed") == []


def test_an_appended_session_is_one_update(flow: Flow) -> None:
    flow.lay("claude-code/current", "opencode/storage")
    flow.reindex()
    flow.fired("indexed")
    [path, *_] = sorted(flow.site.home.glob(".claude/projects/*/*.jsonl"))
    message = {"role": "user", "content": "One more"}
    record = {"type": "user", "uuid": "new", "timestamp": "2026-06-30T12:00:00Z", "message": message}
    with path.open("a") as file:
        file.write(json.dumps(record) + "\n")
    report = flow.reindex()
    assert (report["indexed"], report["updated"]) == (0, 1)
    [row] = flow.fired("indexed")
    assert row["session_id"] == path.stem
    assert row["status"] == "active"


def test_a_dropped_table_is_filled_again_and_a_lost_ledger_fires_nothing(flow: Flow) -> None:
    flow.lay("claude-code/current", "opencode/storage")
    flow.reindex()
    rows = flow.rows()
    flow.fired("indexed")
    shutil.rmtree(flow.site.state)
    flow.reindex()
    assert (flow.rows(), flow.fired("indexed")) == (rows, [])
    flow.wp("eval", f"$GLOBALS['wpdb']->query( 'DROP TABLE {TABLE}' );")
    flow.reindex()
    assert flow.rows() == rows
    assert len(flow.fired("indexed")) == len(rows)


def test_a_restored_backup_catches_up(flow: Flow) -> None:
    flow.lay("claude-code/current")
    flow.reindex()
    flow.lay("opencode/storage")
    flow.reindex()
    rows = flow.rows()
    flow.fired("indexed")
    # As a backup of the time before: the newest rows are not there.
    flow.site.sql(f"DELETE FROM {TABLE} WHERE runtime = 'opencode'")
    flow.reindex()
    assert flow.rows() == rows
    assert {row["runtime"] for row in flow.fired("indexed")} == {"opencode"}


def test_sessions_without_a_source_survive_the_loss_of_the_ledger_as_missing(flow: Flow) -> None:
    flow.lay("claude-code/current", "opencode/storage")
    flow.reindex()
    flow.fired("indexed")
    totals = flow.rows("session_id, token_total")
    shutil.rmtree(flow.site.state)
    for path in flow.site.home.glob(".claude/projects/*/*.jsonl"):
        path.unlink()
    flow.reindex()
    statuses = dict(flow.rows("runtime, status"))
    assert statuses["claude-code"] == "missing"
    assert statuses["opencode"] != "missing"
    assert flow.rows("session_id, token_total") == totals
    assert {row["status"] for row in flow.fired("indexed")} == {"missing"}
    assert flow.reindex()["missing"] == 0
    assert flow.fired("indexed") == []


def test_two_passes_that_overlap_end_with_every_row_once(flow: Flow) -> None:
    flow.lay("claude-code/current", "opencode/storage", "claude-code/subagents")
    processes = [flow.site.start_wp(*COMMAND, "reindex", "--format=json", env={"SPY": str(flow.spy)}) for _ in range(2)]
    results = [process.communicate(timeout=100) for process in processes]
    assert [process.returncode for process in processes] == [0, 0], results
    keys = [row[0] for row in flow.rows()]
    assert len(keys) == len(set(keys)) == len(expected("claude-code/current", "opencode/storage", "claude-code/subagents"))
    reports = [json.loads(output) for output, _ in results]
    assert sorted(report["indexed"] for report in reports) == [0, len(keys)]
    assert {row["session_key"] for row in flow.fired("indexed")} == set(keys)


CANARY = "kanarienvogel"


def plant(home: Path) -> int:
    """Put the canary into every place of content of every session; return how many places there were."""
    places = 0
    for path in [*home.glob(".claude/projects/*/*.jsonl"), *home.glob(".local/share/opencode/storage/**/*.json")]:
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        for line in lines:
            places += sing(line)
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return places


CONTENT = {
    *("content", "text", "thinking", "title", "customTitle", "aiTitle", "summary", "tag", "name", "tool", "command", "output"),
    *("error", "message", "lastPrompt", "description", "prompt", "filename", "url", "patch"),
}


def sing(value: Any, key: str = "") -> int:
    """Put the canary into the strings that may hold content, at any depth; return how many there were."""
    places = 0
    for name, item in list(value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()):
        label = name if isinstance(name, str) else key
        if isinstance(item, str) and (label in CONTENT or key == "input"):
            value[name] = f"{CANARY} {item}"
            places += 1
        else:
            places += sing(item, label)
    return places


def test_no_content_reaches_database_log_or_error(flow: Flow) -> None:
    flow.lay("claude-code/current", "claude-code/subagents", "claude-code/endings", "opencode/storage")
    assert plant(flow.site.home) > 20
    broken = next(flow.site.home.glob(".claude/projects/*/*.jsonl")).with_name("0badf00d-0000-4000-8000-000000000000.jsonl")
    broken.write_text('{"type":"user","message":{"role":"user","content":"' + CANARY + "\n" + '{"type": "' + CANARY + "\n")
    throws = "add_action( 'wp_coding_agents_session_indexed', function () { throw new Exception( 'listener' ); } );"
    flow.site.mu_plugin("throws", throws)
    done = flow.wp(*COMMAND, "reindex", "--format=json", check=False)
    listed = flow.wp(*COMMAND, "list", "--all", "--format=json").stdout
    assert CANARY in listed, "titles are fetched for display, so the canary sings there"
    said = [done.stdout, done.stderr, flow.site.debug_log()]
    said.append(flow.wp(*COMMAND, "read", "claude:nothing-like-it", check=False).stderr)
    said.append(flow.wp("coding-agents", "doctor").stdout)
    said.append(flow.ours("doctor"))
    said.append(dump(flow.site))
    assert [CANARY in text for text in said] == [False] * len(said)


def dump(site: Site) -> str:
    """Return everything the site's database holds."""
    if site.kind == "sqlite":
        [path] = site.path.glob("wp-content/database/.ht.sqlite")
        db = sqlite3.connect(path)
        try:
            return "\n".join(db.iterdump())
        finally:
            db.close()
    at = site.db
    options = [f"-h{at['host']}", f"-P{at['port']}", f"-u{at['user']}", f"-p{at['password']}"]
    command = ["mariadb-dump", "--no-defaults", *options, str(at["name"])]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_a_database_that_is_away_loses_nothing(site: Site) -> None:
    flow = Flow(site)
    flow.lay("claude-code/current", "opencode/storage")
    flow.reindex()
    flow.fired("indexed")
    lay(FIXTURES / "claude-code/subagents", site.home)
    # The database is away for the sidecar and for PHP alike: nothing can be announced.
    config = site.path / "wp-config.php"
    good = config.read_text()
    config.write_text(good.replace(f":{site.db['port']}'", ":1'"))
    assert flow.wp(*COMMAND, "reindex", check=False).returncode != 0
    config.write_text(good)
    flow.reindex()
    assert len(flow.rows()) == len(expected("claude-code/current", "opencode/storage", "claude-code/subagents"))
    assert len(flow.fired("indexed")) == len(expected("claude-code/subagents"))


def test_the_sidecars_own_rows_and_those_php_writes_are_equal(site: Site) -> None:
    flow = Flow(site)
    flow.lay("claude-code/current", "claude-code/forked", "opencode/storage", "opencode/database-newest")
    flow.reindex()
    direct = sorted(tuple(map(str, row[:-1])) for row in site.sql(f"SELECT * FROM {TABLE}"))
    assert direct
    site.sql(f"DELETE FROM {TABLE}")
    # A drop-in, be it as small as this one, makes PHP the writer.
    dropin = site.path / "wp-content/db.php"
    dropin.write_text("<?php // Nothing but its presence counts.\n")
    try:
        flow.wp(*COMMAND, "reindex", "--format=json")
    finally:
        os.unlink(dropin)
    assert sorted(tuple(map(str, row[:-1])) for row in site.sql(f"SELECT * FROM {TABLE}")) == direct
