"""Copilot CLI: which of its numbers count, and reading on when better ones come."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from coding_agents_sidecar.formats.copilot import store
from coding_agents_sidecar.model import Stale
from tests.adapters.copilot import (
    SESSION,
    adapter,
    amounts,
    answer,
    event,
    fold,
    read,
    shutdown,
    sources,
    start,
    usage,
    user,
    write,
)
from tests.adapters.growth import resumed

TWO = [start(), user("One"), answer("1", outputTokens=5), user("Two"), answer("2", outputTokens=6)]


def test_a_usage_record_belongs_to_the_response_of_its_call_on_either_side_of_it(tmp_path: Path) -> None:
    calls = [usage("k1", 10, 1), answer("1", apiCallId="k1"), answer("2", apiCallId="k2"), usage("k2", 20, 2)]
    messages = read(write(tmp_path, start(), user("Go"), *calls))
    assert [message["tokens"]["input"] for message in messages[1:]] == [10, 20]


def test_a_call_without_a_response_is_paid_for_and_is_no_other_responses(tmp_path: Path) -> None:
    calls = [answer("1", apiCallId="k1"), usage("k2", 20, 2), answer("3", apiCallId="k3"), usage("k4", 40, 4)]
    source = write(tmp_path, start(), user("Go"), *calls)
    assert ["tokens" in message for message in read(source)] == [False, False, False]
    assert amounts(source)[:2] == [60, 6]


def test_two_records_about_one_response_are_added(tmp_path: Path) -> None:
    again = event("session.usage_record", usage={"apiCallId": "k1", "inputTokens": 7, "accounting": {"usageId": "retried"}})
    assert amounts(write(tmp_path, start(), user("Go"), usage("k1", 10, 1), answer("1", apiCallId="k1"), again))[:2] == [17, 1]


def test_calls_without_a_name_are_matched_by_their_place(tmp_path: Path) -> None:
    nameless = event("session.usage_record", usage={"inputTokens": 10, "outputTokens": 1})
    assert read(write(tmp_path, start(), user("Go"), nameless, answer("1")))[1]["tokens"]["input"] == 10


def test_usage_records_of_one_call_count_once_and_those_of_another_session_apart(tmp_path: Path) -> None:
    other = event("session.usage_record", usage={"inputTokens": 5, "accounting": {"sourceSessionId": "other", "usageId": "k1"}})
    source = write(tmp_path, start(), user("Go"), usage("k1", 10, 1), answer("1", apiCallId="k1"), usage("k1", 10, 1), other)
    assert amounts(source)[:2] == [15, 1]


def test_older_versions_wrote_what_a_call_used_without_a_record_around_it(tmp_path: Path) -> None:
    call = event("assistant.usage", apiCallId="k1", inputTokens=10, outputTokens=1, cacheReadTokens=4)
    source = write(tmp_path, start(), user("Go"), call, answer("1", apiCallId="k1", outputTokens=1), shutdown({"m": (1, 10, 1)}))
    assert amounts(source) == [6, 1, 4, None, None]


@pytest.mark.parametrize(
    ("first", "second", "total"),
    [
        ({"m": (1, 100, 5)}, {"m": (2, 150, 9)}, [150, 9]),
        ({"m": (1, 100, 5)}, {"m": (1, 150, 9)}, [250, 14]),
        ({"m": (4, 100, 5)}, {"m": (1, 150, 4)}, [250, 9]),
        ({"m": (1, 100, 5)}, {"n": (2, 150, 9)}, [250, 14]),
        ({"m": (1, 100, 5)}, {"m": (1, 100, 5), "n": (1, 50, 4)}, [150, 9]),
        ({"m": (None, 100, 5)}, {"m": (None, 150, 9)}, [250, 14]),
    ],
    ids=["goes on", "begins anew", "lower", "another model", "one model more", "no requests"],
)
def test_the_requests_tell_whether_sums_go_on(tmp_path: Path, first: Any, second: Any, total: list[int]) -> None:
    source = write(tmp_path, start(), user("One"), answer("1"), shutdown(first), user("Two"), answer("2"), shutdown(second))
    assert amounts(source)[:2] == total


@pytest.mark.parametrize("mark", ["accountingSnapshot", "usageAccountingWatermarks"])
def test_newer_versions_say_that_sums_go_on(tmp_path: Path, mark: str) -> None:
    ends = [shutdown({"m": (1, 100, 5)}, **{mark: {}}), user("Two"), answer("2"), shutdown({"m": (1, 150, 9)}, **{mark: {}})]
    assert amounts(write(tmp_path, start(), user("One"), answer("1"), *ends))[:2] == [150, 9]


def test_a_shutdown_that_counts_nothing_does_not_end_the_counting(tmp_path: Path) -> None:
    ends = [shutdown({"m": (1, 100, 5)}), user("Two"), answer("2"), shutdown({}), user("Three"), answer("3")]
    assert amounts(write(tmp_path, start(), user("One"), answer("1"), *ends, shutdown({"m": (3, 190, 9)})))[:2] == [190, 9]


def test_counts_of_nothing_are_not_unknown(tmp_path: Path) -> None:
    assert amounts(write(tmp_path, start(), user("One"), answer("1"), shutdown({"m": (0, 0, 0)})))[:3] == [0, 0, 0]


@pytest.mark.parametrize(
    "used",
    [{"inputTokens": 900, "outputTokens": 40, "cacheReadTokens": 300}, {"input": 900, "output": 40, "cachedInput": 300}],
)
def test_a_compaction_counts_where_nothing_tells_the_sum(tmp_path: Path, used: dict[str, int]) -> None:
    done = event("session.compaction_complete", success=True, summaryContent="Short.", compactionTokensUsed=used)
    assert amounts(write(tmp_path, *TWO, done)) == [600, 51, 300, None, None]
    assert amounts(write(tmp_path, *TWO, done, shutdown({"m": (3, 1000, 51)})))[:2] == [1000, 51]


@pytest.mark.parametrize("better", [shutdown({"m": (2, 50, 11)}), usage("k", 50, 11)], ids=["shutdown", "usage record"])
def test_better_numbers_than_those_told_ask_for_a_full_read(tmp_path: Path, better: Any) -> None:
    earlier = fold(write(tmp_path, *TWO))
    grown = write(tmp_path, *TWO, better)
    with pytest.raises(Stale):
        resumed(adapter, earlier, grown)
    assert amounts(grown)[:2] == [50, 11]


def test_a_changed_title_asks_for_a_full_read_and_a_changed_date_does_not(tmp_path: Path) -> None:
    source = write(tmp_path, *TWO)
    noted = Path(source.path).with_name("workspace.yaml")
    noted.write_text("name: Old\nupdated_at: 2026-05-01\n")
    earlier = fold(source)
    noted.write_text("name: Old\nupdated_at: 2026-05-02\n")
    assert [one.title for one in resumed(adapter, earlier, source).readings()] == ["Old"]
    noted.write_text("name: New\n")
    with pytest.raises(Stale):
        resumed(adapter, earlier, source)


def database(home: Path, *calls: tuple[str, str | None, int, int]) -> Path:
    """Write the runtime's database, with session, sub-agent, input and output of each call."""
    path = home / ".copilot" / "session-store.db"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as db:
        counts = ", ".join(f"{name} INTEGER" for name in store.COUNTS)
        db.execute(f"CREATE TABLE {store.TABLE} (id INTEGER PRIMARY KEY, session_id, agent_id, model, created_at, {counts})")
        for session, agent, input, output in calls:
            values = (session, agent, "gpt-mock", "2026-05-01T10:00:02Z", input, output)
            columns = "session_id, agent_id, model, created_at, input_tokens, output_tokens"
            db.execute(f"INSERT INTO {store.TABLE} ({columns}) VALUES (?, ?, ?, ?, ?, ?)", values)
        db.commit()
    return path


def test_the_database_tells_what_a_log_does_not_and_is_asked_for_nothing_else(tmp_path: Path) -> None:
    database(tmp_path, (SESSION, None, 70, 5), (SESSION, "unheard of", 30, 6), ("other", None, 1, 1))
    assert amounts(write(tmp_path, *TWO)) == [100, 11, None, None, None]
    assert amounts(write(tmp_path, *TWO, shutdown({"m": (2, 50, 11)})))[:2] == [50, 11]


def test_what_the_database_told_may_change_so_that_the_log_is_read_from_its_start(tmp_path: Path) -> None:
    database(tmp_path, (SESSION, None, 70, 5))
    assert fold(write(tmp_path, *TWO)).checkpoint is None


def test_a_database_that_comes_to_know_more_than_the_messages_asks_for_a_full_read(tmp_path: Path) -> None:
    source = write(tmp_path, *TWO)
    earlier = fold(source)
    database(tmp_path, (SESSION, None, 70, 5))
    with pytest.raises(Stale):
        resumed(adapter, earlier, source)


@pytest.mark.parametrize("damage", [b"", b"no database", b"SQLite format 3\0 and no more"])
def test_a_damaged_database_costs_no_session(tmp_path: Path, damage: bytes) -> None:
    database(tmp_path).write_bytes(damage)
    assert amounts(write(tmp_path, *TWO)) == [None, 11, None, None, None]


def test_a_database_of_another_form_says_nothing(tmp_path: Path) -> None:
    with closing(sqlite3.connect(database(tmp_path, (SESSION, None, 70, 5)))) as db:
        db.execute(f"ALTER TABLE {store.TABLE} RENAME COLUMN agent_id TO agent")
        db.commit()
    assert amounts(write(tmp_path, *TWO)) == [None, 11, None, None, None]


def test_a_log_follows_the_database_only_while_both_are_written(tmp_path: Path) -> None:
    known = database(tmp_path, (SESSION, None, 70, 5))
    log = write(tmp_path, *TWO).path
    for age, followed in ((0, True), (3000, True), (4000, False)):
        os.utime(log, (known.stat().st_mtime - age,) * 2)
        (source,) = sources(tmp_path)
        assert (str(known) in source.files) == followed
