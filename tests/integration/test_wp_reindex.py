"""``wp coding-agents sessions reindex`` and ``prune``: the table follows the files, and loses nothing on the way."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.homes import SESSION, STARTED, Home
from tests.rig.site import Site

from .wp_rows import COMMAND, PHP, TABLE, failure, ids, listed, row, upsert

FIRST, SECOND = SESSION, "5b1f0d0a-7c1e-4a57-9d55-000000000002"
NOTHING = {"fired": 0, "failed": 0, "parked": 0, "pending": 0}
WRITES = """add_filter( 'query', function ( $sql ) {
	if ( preg_match( '/^\\s*(INSERT|UPDATE|DELETE|REPLACE)\\b.*session_index/i', $sql ) ) { fwrite( STDERR, "WRITE $sql\\n" ); }
	return $sql;
} );"""


class Agents:
    """A site and the sessions in its home folder."""

    def __init__(self, site: Site, folder: Path) -> None:
        self.site = site
        self.source = Home(folder)

    def lay(self, session_id: str, **facts: Any) -> Path:
        """Put a session where the sidecar finds it."""
        file = self.source.lay(session_id, **facts)
        shutil.copytree(self.source.path, self.site.home, dirs_exist_ok=True)
        return self.site.home / file.relative_to(self.source.path)

    def reindex(self, *options: str, env: dict[str, str] | None = None) -> dict[str, Any]:
        report: dict[str, Any] = json.loads(self.site.wp(*COMMAND, "reindex", "--format=json", *options, env=env).stdout)
        return report


@pytest.fixture
def agents(any_site: Site, tmp_path: Path) -> Agents:
    """Two sessions, on both kinds of site."""
    agents = Agents(any_site, tmp_path)
    agents.lay(FIRST)
    agents.lay(SECOND, started=STARTED + 60)
    return agents


@pytest.fixture
def one(site: Site, tmp_path: Path) -> Agents:
    """Two sessions, on MariaDB."""
    agents = Agents(site, tmp_path)
    agents.lay(FIRST)
    agents.lay(SECOND, started=STARTED + 60)
    return agents


def test_a_pass_says_what_it_found_and_a_second_one_writes_nothing(agents: Agents) -> None:
    report = agents.reindex()
    elapsed = report.pop("elapsed_ms")
    assert isinstance(elapsed, int)
    assert report == {
        "discovered": 2,
        "indexed": 2,
        "updated": 0,
        "unchanged": 0,
        "missing": 0,
        "failed": [],
        "skipped_records": 0,
        "events": {**NOTHING, "fired": 2},
    }
    assert ids(agents.site) == [SECOND, FIRST]
    before = agents.site.sql(f"SELECT * FROM {TABLE}")
    report = agents.reindex()
    assert (report["unchanged"], report["events"]) == (2, NOTHING)
    assert agents.site.sql(f"SELECT * FROM {TABLE}") == before


def test_a_session_that_has_grown_is_updated_and_announced_alone(agents: Agents) -> None:
    agents.reindex()
    file = agents.site.home / f".claude/projects/-srv-shop/{FIRST}.jsonl"
    file.write_text(file.read_text().replace('"u2"', '"u3"') + file.read_text())
    report = agents.reindex()
    assert (report["updated"], report["unchanged"], report["events"]["fired"]) == (1, 1, 1)


def test_a_full_pass_announces_nothing_that_has_not_changed(agents: Agents) -> None:
    agents.reindex()
    report = agents.reindex("--full")
    assert (report["unchanged"], report["events"]) == (2, NOTHING)


def test_a_dry_run_changes_nothing(agents: Agents) -> None:
    report = agents.reindex("--dry-run")
    assert (report["indexed"], report["events"]) == (2, NOTHING)
    assert agents.site.sql(f"SELECT COUNT(*) FROM {TABLE}") == [(0,)]
    assert "coding_agents_sessions_publishers" not in agents.site.wp("option", "list", "--field=option_name").stdout
    assert agents.reindex()["indexed"] == 2


def test_a_limited_pass_leaves_the_rest_alone(agents: Agents) -> None:
    agents.reindex()
    (agents.site.home / f".claude/projects/-srv-shop/{FIRST}.jsonl").unlink()
    assert agents.reindex("--runtime=opencode")["missing"] == 0
    assert {one["status"] for one in listed(agents.site)} == {"completed"}
    assert agents.reindex("--runtime=claude,opencode")["missing"] == 1


def test_the_table_shows_the_report_and_failures_are_words(one: Agents) -> None:
    broken = one.site.home / ".local/share/opencode/opencode.db"
    broken.parent.mkdir(parents=True)
    broken.write_bytes(b"SQLite format 3\0" + b"\xff" * 4000)
    done = one.site.wp(*COMMAND, "reindex")
    head, line = (text.split("\t") for text in done.stdout.splitlines())
    report = dict(zip(head, line, strict=True))
    assert (report["discovered"], report["failed"], report["events_fired"]) == ("2", "1", "2")
    assert "PARSE_ERROR opencode " in done.stderr


def test_an_unknown_runtime_is_refused(one: Agents) -> None:
    code, error = failure(one.site, *COMMAND, "reindex", "--runtime=nothing-like-it")
    assert (code, error["code"]) == (3, "AGENT_NOT_FOUND")


def test_a_table_that_was_emptied_is_filled_again(agents: Agents) -> None:
    agents.reindex()
    agents.site.sql(f"DELETE FROM {TABLE}")
    assert agents.reindex()["events"]["fired"] == 2
    assert ids(agents.site) == [SECOND, FIRST]


def test_rows_of_vanished_files_outlive_the_ledger(agents: Agents) -> None:
    agents.reindex()
    before = {one["session_id"]: one for one in listed(agents.site)}
    (agents.site.home / f".claude/projects/-srv-shop/{FIRST}.jsonl").unlink()
    shutil.rmtree(agents.site.state)
    agents.reindex()
    after = {one["session_id"]: one for one in listed(agents.site)}
    assert after[SECOND] == before[SECOND]
    changed = {name for name in before[FIRST] if after[FIRST][name] != before[FIRST][name]}
    assert (changed - {"title"}, after[FIRST]["status"]) == ({"status"}, "missing")
    assert agents.reindex()["events"] == NOTHING


def test_missing_sessions_are_forgotten_when_asked(agents: Agents) -> None:
    agents.reindex()
    upsert(agents.site, row("far-away", host="laptop", status="missing"))
    (agents.site.home / f".claude/projects/-srv-shop/{FIRST}.jsonl").unlink()
    agents.reindex()
    done = agents.site.wp(*COMMAND, "prune", "--missing", "--yes")
    assert (done.stdout, done.stderr) == (f"claude-code:{FIRST}\n", "1 sessions forgotten.\n")
    assert sorted(ids(agents.site)) == sorted([SECOND, "far-away"])
    assert agents.reindex()["missing"] == 0
    assert json.loads(agents.site.wp(*COMMAND, "prune", "--missing", "--yes", "--format=json").stdout) == []


def test_what_the_ledger_has_forgotten_is_forgotten_too(agents: Agents) -> None:
    agents.reindex()
    upsert(agents.site, row("far-away", host="laptop", status="missing"))
    (agents.site.home / f".claude/projects/-srv-shop/{FIRST}.jsonl").unlink()
    agents.reindex()
    own = ["coding-agents", "sessions", "prune", "--missing", "--yes"]
    subprocess.run(own, env=agents.site.environment(), check=True, capture_output=True)
    done = agents.site.wp(*COMMAND, "prune", "--missing", "--yes", "--format=json")
    forgotten = {"unified_id": f"claude-code:{FIRST}", "runtime": "claude-code", "origin": "", "session_id": FIRST}
    assert json.loads(done.stdout) == [forgotten]
    assert sorted(ids(agents.site)) == sorted([SECOND, "far-away"])


def test_forgetting_asks_first(one: Agents) -> None:
    for options, hint in ([], "--missing"), (["--missing"], "--yes"):
        code, error = failure(one.site, *COMMAND, "prune", *options)
        assert (code, error["code"]) == (2, "INVALID_ARGUMENT")
        assert hint in error["message"]


def test_two_publishers_under_one_label_are_refused(one: Agents, tmp_path: Path) -> None:
    one.reindex()
    other = Home(tmp_path / "other")
    other.lay("5b1f0d0a-7c1e-4a57-9d55-000000000003")
    env = {"HOME": str(other.path), "CODING_AGENTS_STATE_DIR": str(other.state)}
    for command in (["reindex"], ["prune", "--missing", "--yes"]):
        code, error = failure(one.site, *COMMAND, *command, env=env)
        assert (code, error["code"]) == (2, "INVALID_ARGUMENT")
        assert "CODING_AGENTS_HOST" in error["message"]
    assert len(ids(one.site)) == 2
    doctor = json.loads(one.site.wp("coding-agents", "doctor", "--format=json", env=env).stdout)
    assert doctor["health"] == "red"
    one.reindex(env={**env, "CODING_AGENTS_HOST": "other"})
    assert {found["host"]: found["session_id"] for found in listed(one.site, "--host=other")} == {
        "other": "5b1f0d0a-7c1e-4a57-9d55-000000000003"
    }
    assert len(ids(one.site)) == 3


def test_a_label_is_handed_over_by_the_command_that_the_refusal_names(one: Agents, tmp_path: Path) -> None:
    one.reindex()
    other = Home(tmp_path / "other")
    env = {"HOME": str(other.path), "CODING_AGENTS_STATE_DIR": str(other.state)}
    message = failure(one.site, *COMMAND, "reindex", env=env)[1]["message"]
    assert message.endswith("wp option delete coding_agents_sessions_publishers.")
    one.site.wp("option", "delete", "coding_agents_sessions_publishers")
    one.reindex(env=env)


def test_the_sidecar_writes_by_itself_where_it_can(one: Agents) -> None:
    one.site.mu_plugin("writes", WRITES)
    done = one.site.wp(*COMMAND, "reindex")
    assert [line for line in done.stderr.splitlines() if "INSERT" in line] == []
    assert len(ids(one.site)) == 2


def test_two_passes_at_once_give_one_table(agents: Agents) -> None:
    for number in range(3, 40):
        agents.source.lay(f"5b1f0d0a-7c1e-4a57-9d55-0000000000{number:02}")
    shutil.copytree(agents.source.path, agents.site.home, dirs_exist_ok=True)
    passes = [agents.site.start_wp(*COMMAND, "reindex", "--format=json") for _ in range(2)]
    reports = [json.loads(process.communicate(timeout=60)[0]) for process in passes]
    assert sorted(report["indexed"] for report in reports) == [0, 39]
    assert agents.reindex()["events"]["pending"] == 0
    assert len(ids(agents.site)) == 39


def test_the_sample_subscriber_makes_a_daily_digest(one: Agents) -> None:
    shutil.copy(PHP / "daily-digest.php", one.site.path / "wp-content/mu-plugins")
    one.reindex()
    one.reindex("--full")
    tokens = sum(found["token_total"] for found in listed(one.site))
    assert (
        one.site.wp("eval", "echo agents_daily_digest( '2025-05-01' );").stdout
        == f"2025-05-01: 2 sessions, {tokens} tokens, $0.00"
    )


def test_the_sample_subscribers_are_short() -> None:
    for name in ("daily-digest.php", "failing-tools.php"):
        assert len((PHP / name).read_text().splitlines()) < 30
