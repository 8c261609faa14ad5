"""``sessions list | read | reindex | prune``: what goes to standard output, what to standard error."""

import csv
import io
import json
from pathlib import Path

import pytest

from coding_agents_sidecar.ledger.queries import LISTED
from tests.homes import SESSION, STARTED, Home

OTHER = "0a7f3f4e-52a9-4c0e-8a46-6d7a0b9c1d2e"
DAY = 86400


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path)
    home.lay()
    home.lay(OTHER, prompt="=cmd|' /C calc'!A0", started=STARTED + DAY)
    return home


@pytest.fixture
def indexed(home: Home) -> Home:
    home.reindex()
    return home


def test_a_list_without_a_ledger_is_empty_and_says_why(home: Home) -> None:
    done = home.run("sessions", "list", "--format=json")
    assert done.json() == []
    assert done.err == "Nothing is indexed yet: coding-agents sessions reindex does it.\n"


def test_a_filter_that_finds_nothing_does_not_say_that_nothing_is_indexed(home: Home) -> None:
    home.run("sessions", "reindex", "--runtime=claude-code")
    done = home.run("sessions", "list", "--runtime=opencode", "--format=json")
    assert (done.json(), done.err) == ([], "")


def test_a_list_as_json_has_the_columns_in_order_newest_first(indexed: Home) -> None:
    done = indexed.run("sessions", "list", "--all", "--format=json")
    assert [row["session_id"] for row in done.json()] == [OTHER, SESSION]
    assert [list(row) for row in done.json()] == [list(LISTED)] * 2
    assert done.err == ""


def test_a_table_has_a_few_columns_and_local_times(indexed: Home) -> None:
    done = indexed.run("sessions", "list", "--until=2025-05-01", env={"TZ": "UTC"})
    assert done.out.decode().splitlines() == [
        "unified_id                                        project_path  started_at        status     turn_count"
        "  model            token_total  cost_usd  title",
        f"claude-code:{SESSION}  /srv/shop     2025-05-01 10:00  completed           1"
        "  example-model-1         4281            Which plugins are out of date?",
    ]


def test_fields_choose_columns_and_their_order(indexed: Home) -> None:
    done = indexed.run("sessions", "list", "--fields=title,session_id", "--sort=date", "--order=asc", "--format=json")
    assert [list(row.items()) for row in done.json()] == [
        [("title", "Which plugins are out of date?"), ("session_id", SESSION)],
        [("title", "=cmd|' /C calc'!A0"), ("session_id", OTHER)],
    ]


@pytest.mark.parametrize("fields", ["title,prompt", "", ","])
def test_a_field_that_does_not_exist_is_refused_although_there_is_no_row(home: Home, fields: str) -> None:
    done = home.run("sessions", "list", f"--fields={fields}", "--format=json")
    assert (done.code, done.out, done.error()["code"]) == (2, b"", "INVALID_ARGUMENT")


def test_csv_disarms_formulas_and_leaves_unknown_values_empty(indexed: Home) -> None:
    done = indexed.run("sessions", "list", "--fields=title,cost_usd,token_total", "--format=csv")
    assert list(csv.reader(io.StringIO(done.out.decode()))) == [
        ["title", "cost_usd", "token_total"],
        ["'=cmd|' /C calc'!A0", "", "4281"],
        ["Which plugins are out of date?", "", "4281"],
    ]


def test_an_empty_csv_has_its_header(home: Home) -> None:
    assert home.run("sessions", "list", "--fields=title,kind", "--format=csv").out == b"title,kind\n"


def test_ids_and_count_are_bare(indexed: Home) -> None:
    assert indexed.run("sessions", "list", "--format=ids").out.decode() == f"claude-code:{OTHER}\nclaude-code:{SESSION}\n"
    assert indexed.run("sessions", "list", "--format=count").out == b"2\n"


def test_yaml_is_a_block_list_of_json_values(indexed: Home) -> None:
    done = indexed.run("sessions", "list", "--fields=session_id,turn_count,parent_id", "--limit=1", "--format=yaml")
    assert done.out.decode() == f'---\n- session_id: "{OTHER}"\n  turn_count: 1\n  parent_id: null\n'


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--runtime=claude"], [OTHER, SESSION]),
        (["--runtime=opencode,claude-code"], [OTHER, SESSION]),
        (["--runtime=opencode"], []),
        (["--project=/srv/shop"], [OTHER, SESSION]),
        (["--project=/srv"], []),
        (["--project=/srv/"], [OTHER, SESSION]),
        (["--project=basename:shop"], [OTHER, SESSION]),
        (["--since=2025-05-02"], [OTHER]),
        (["--until=2025-05-01"], [SESSION]),
        ([f"--since={STARTED}", f"--until={STARTED}"], [SESSION]),
        (["--since=1h"], []),
        (["--model=example-model-1"], [OTHER, SESSION]),
        (["--model=gpt-5", "--model=claude-opus-3"], []),
        (["--status=completed,missing"], [OTHER, SESSION]),
        (["--status=aborted"], []),
        (["--kind=subagent"], []),
        (["--host="], [OTHER, SESSION]),
        (["--host=laptop"], []),
        (["--limit=1"], [OTHER]),
        (["--order=asc"], [SESSION, OTHER]),
        (["--sort=tokens", "--order=asc"], [SESSION, OTHER]),  # equal: by the key of the WordPress table
        (["--sort=tokens", "--order=desc"], [OTHER, SESSION]),
    ],
)
def test_filters_select(indexed: Home, options: list[str], expected: list[str]) -> None:
    done = indexed.run("sessions", "list", "--format=json", *options)
    assert [row["session_id"] for row in done.json()] == expected


def test_sub_agents_are_listed_only_when_they_are_asked_for(home: Home) -> None:
    home.lay_agent()
    home.reindex()

    def kinds(*options: str) -> list[str]:
        return sorted(row["kind"] for row in home.run("sessions", "list", "--format=json", *options).json())

    assert kinds() == ["session", "session"]
    assert kinds("--kind=subagent") == ["subagent"]
    assert kinds("--kind=session,subagent") == kinds("--all") == ["session", "session", "subagent"]
    assert kinds("--all", "--kind=session") == ["session", "session"]


def test_a_list_that_is_cut_says_so(home: Home) -> None:
    for number in range(99):
        home.lay(f"00000000-0000-4000-8000-{number:012}", started=STARTED - number)
    home.reindex()
    done = home.run("sessions", "list", "--format=json")
    assert len(done.json()) == 100
    assert done.err == "There are more than these 100: --limit=N or --all shows them.\n"
    assert len(home.run("sessions", "list", "--all", "--format=json").json()) == 101
    assert home.run("sessions", "list", "--format=count").out == b"101\n"


def test_a_session_is_read_by_unified_id_alias_native_id_and_its_beginning(indexed: Home) -> None:
    for name in (f"claude-code:{SESSION}", f"claude:{SESSION}", SESSION, SESSION[:8]):
        document = indexed.run("sessions", "read", name).json()
        assert document["unified_id"] == f"claude-code:{SESSION}"
        assert [message["role"] for message in document["messages"]] == ["user", "assistant", "tool", "assistant"]


def test_json_lines_are_the_head_and_then_a_message_each(indexed: Home) -> None:
    whole = indexed.run("sessions", "read", SESSION).json()
    lines = [json.loads(line) for line in indexed.run("sessions", "read", SESSION, "--format=jsonl").out.splitlines()]
    assert {**lines[0], "messages": lines[1:]} == whole


def test_the_raw_records_come_only_when_asked_for(indexed: Home) -> None:
    plain, raw = (indexed.run("sessions", "read", SESSION, *more).json() for more in ([], ["--raw"]))
    assert ("raw" in plain["messages"][0], "abandoned" in plain) == (False, False)
    assert raw["messages"][0]["raw"][0]["uuid"] == "u1"
    assert raw["abandoned"] == []


def test_another_hosts_session_is_not_read_here(indexed: Home) -> None:
    done = indexed.run("sessions", "read", SESSION, "--host=laptop", "--format=json")
    assert (done.code, done.error()["code"]) == (3, "SESSION_NOT_FOUND")


def test_a_reindex_reports_as_the_contract_says(home: Home) -> None:
    report = home.run("sessions", "reindex", "--format=json").json()
    assert report.pop("elapsed_ms") >= 0
    assert report == {
        "discovered": 2,
        "indexed": 2,
        "updated": 0,
        "unchanged": 0,
        "missing": 0,
        "failed": [],
        "skipped_records": 0,
    }


def test_a_dry_run_changes_nothing(home: Home) -> None:
    assert home.run("sessions", "reindex", "--dry-run", "--format=json").json()["indexed"] == 2
    assert home.run("sessions", "list", "--format=json").json() == []


def test_a_reindex_in_words_is_one_row(home: Home) -> None:
    head, row = home.run("sessions", "reindex").out.decode().splitlines()
    assert head.split() == ["discovered", "indexed", "updated", "unchanged", "missing", "failed", "skipped_records", "elapsed_ms"]
    assert row.split()[:7] == ["2", "2", "0", "0", "0", "0", "0"]


def test_a_source_that_cannot_be_read_is_named_and_the_rest_goes_on(home: Home) -> None:
    broken = home.path / ".local/share/opencode/opencode.db"
    broken.parent.mkdir(parents=True)
    broken.write_bytes(b"no database")
    done = home.run("sessions", "reindex")
    assert done.code == 0
    assert done.out.decode().splitlines()[1].split()[:6] == ["2", "2", "0", "0", "0", "1"]
    assert done.err.startswith(f"PARSE_ERROR opencode {broken}: ")


def test_a_link_to_itself_does_not_stop_a_pass(home: Home) -> None:
    loop = home.project / "loop.jsonl"
    loop.symlink_to(loop)
    assert home.run("sessions", "reindex", "--format=json").json()["indexed"] == 2


def test_pruning_asks_for_a_clear_yes_where_there_is_nobody_to_ask(indexed: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO())
    (indexed.project / f"{OTHER}.jsonl").unlink()
    indexed.reindex()
    assert indexed.run("sessions", "prune", "--missing").code == 2
    done = indexed.run("sessions", "prune", "--missing", "--yes")
    assert (done.code, done.out.decode(), done.err) == (0, f"claude-code:{OTHER}\n", "1 sessions forgotten.\n")
    assert indexed.run("sessions", "list", "--status=missing", "--format=count").out == b"0\n"


def test_pruning_says_as_json_what_it_forgot(indexed: Home) -> None:
    (indexed.project / f"{OTHER}.jsonl").unlink()
    indexed.reindex()
    done = indexed.run("sessions", "prune", "--missing", "--yes", "--format=json")
    name = {"runtime": "claude-code", "origin": "", "session_id": OTHER}
    assert done.json() == [{"unified_id": f"claude-code:{OTHER}", **name}]
