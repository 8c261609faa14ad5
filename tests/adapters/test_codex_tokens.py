"""Codex: running totals taken apart, and what copied histories used counted once."""

import json
from pathlib import Path
from typing import Any

import pytest

from coding_agents_sidecar.config import Settings
from coding_agents_sidecar.ops import ListQuery, Sidecar
from tests.adapters.codex import (
    THREAD,
    Record,
    adapter,
    assistant,
    count,
    entry,
    event,
    item,
    messages,
    meta,
    reading,
    turn,
    typed,
    usage,
    used,
    user,
    write,
)
from tests.adapters.growth import fold_of

ONE, TWO = usage(1000, 400, 100), usage(1500, 900, 150)
STEP = usage(500, 500, 50)


def spent(last: Record, total: Record | None, response: str = "resp_1", id: str | None = None) -> Record:
    record = {"thread_id": THREAD, "turn_id": id, "response_id": response, "usage": last, "thread_token_usage": total}
    return entry("token_usage_record", record)


def talk(*entries: Record) -> list[Record]:
    return [meta(), turn(None), *typed("Go"), assistant("1"), *entries]


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        pytest.param([(ONE, ONE)], [600, 100, 400, None, 0], id="one request"),
        pytest.param([(ONE, ONE), (ONE, ONE), (TWO, STEP), (TWO, STEP)], [600, 150, 900, None, 0], id="every total twice"),
        pytest.param([(TWO, STEP)], [0, 50, 500, None, 0], id="the first total goes on from another thread's"),
        pytest.param([(TWO, None)], [600, 150, 900, None, 0], id="nothing but a total"),
        pytest.param([(ONE, ONE), (STEP, STEP)], [600, 150, 900, None, 0], id="began anew below"),
        pytest.param([(STEP, STEP), (ONE, ONE)], [600, 150, 900, None, 0], id="began anew above"),
        pytest.param([(TWO, TWO), (ONE, STEP), (TWO, STEP)], [600, 150, 900, None, 0], id="a late copy"),
        pytest.param([(None, ONE)], None, id="no total"),
        pytest.param([({}, {})], None, id="empty"),
        pytest.param([(usage(0, 0, 0), usage(0, 0, 0))], [0, 0, 0, None, 0], id="nothing was used"),
        pytest.param([(usage(10, 40, 1), usage(10, 40, 1))], [0, 1, 40, None, 0], id="more cached than there was"),
    ],
)
def test_what_was_used_is_the_difference_of_totals(tmp_path: Path, counts: list[Any], expected: Any) -> None:
    source = write(tmp_path, *talk(*(count(total, last) for total, last in counts)))
    assert used(source) == (expected or [None] * 5)


@pytest.mark.parametrize(
    ("total_tokens", "expected"),
    [(110, [30, 10, 40, 30, 0]), (140, [60, 10, 40, 30, 0]), (None, [30, 10, 40, 30, 0])],
)
def test_tokens_written_to_the_cache_are_input_where_the_runtimes_total_has_them_there(
    tmp_path: Path, total_tokens: int | None, expected: list[int]
) -> None:
    counted = usage(100, 40, 10, cache_write_input_tokens=30, total_tokens=total_tokens)
    assert used(write(tmp_path, *talk(count(counted, counted)))) == expected


@pytest.mark.parametrize(
    "entries",
    [
        pytest.param([spent(ONE, ONE), count(ONE, ONE), spent(STEP, TWO, "resp_2"), count(TWO, STEP)], id="both"),
        pytest.param([count(ONE, ONE), spent(ONE, ONE), count(TWO, STEP), spent(STEP, TWO, "resp_2")], id="counter first"),
        pytest.param([count(ONE, ONE), spent(STEP, TWO, "resp_2"), count(TWO, STEP)], id="records came with an update"),
        pytest.param([spent(ONE, None), count(ONE, ONE), count(ONE, ONE), count(TWO, STEP)], id="records without totals"),
        pytest.param([spent(ONE, ONE), spent(ONE, ONE), spent(STEP, TWO, "resp_2")], id="a record twice"),
    ],
)
def test_a_response_that_a_record_and_a_counter_tell_is_counted_once(tmp_path: Path, entries: list[Record]) -> None:
    assert used(write(tmp_path, *talk(*entries))) == [600, 150, 900, None, 0]


def test_the_last_answer_shows_what_its_response_used(tmp_path: Path) -> None:
    source = write(tmp_path, *talk(count(ONE, ONE), assistant("2"), count(TWO, STEP)))
    assert [one["tokens"]["total"] for one in messages(source) if one["role"] == "assistant"] == [1100, 550]


def rows(home: Path) -> dict[str, dict[str, Any]]:
    sidecar = Sidecar(Settings(home, {}, home / "state", ""))
    sidecar.reindex()
    found = {row["session_id"]: row for row in sidecar.list(ListQuery(kinds=(), limit=None))}
    sidecar.close()
    return found


def shown(home: Path, thread: str) -> list[tuple[str, Any, bool]]:
    sidecar = Sidecar(Settings(home, {}, home / "state", ""))
    _, found = sidecar.read("codex", thread, None, False)
    result = [(one["role"], one["content"], one["inherited"]) for one in found]
    sidecar.close()
    return result


PARENT, CHILD = "0a000002-0000-7000-8000-000000000002", "0a000003-0000-7000-8000-000000000003"
TURNS = [f"0a000002-0000-7000-8000-0000000000a{n}" for n in range(4)]
OWN = "0a000003-0000-7000-8000-0000000000a1"


def ask(id: str | None, words: str, *answer: Record) -> list[Record]:
    return [turn(id), *typed(words), *answer]


def put(home: Path, thread: str, *records: Record) -> None:
    write(home, *records, name=f"rollout-2026-02-03T10-00-00-{thread}.jsonl")


@pytest.mark.parametrize("ids", [TURNS, [None] * 4, [f"t-{n}" for n in range(4)]], ids=["uuids", "none", "small"])
def test_a_copy_is_inherited_to_its_last_response_and_a_prompt_asked_again_is_new(tmp_path: Path, ids: list[str | None]) -> None:
    history = [*ask(ids[0], "One", assistant("1"), count(ONE, ONE))]
    put(tmp_path, PARENT, meta(PARENT), *history, *ask(ids[1], "Two", assistant("2"), count(TWO, STEP)))
    again = ask(OWN if ids[0] else None, "Two", assistant("2, otherwise"), count(usage(1600, 900, 160), usage(600, 500, 60)))
    put(tmp_path, CHILD, meta(CHILD, forked_from_id=PARENT), meta(PARENT), *history, *again)
    found = rows(tmp_path)
    assert (found[PARENT]["token_total"], found[CHILD]["token_total"]) == (1650, 660)
    assert (found[CHILD]["parent_id"], found[CHILD]["turn_count"]) == (PARENT, 1)
    assert shown(tmp_path, CHILD) == [
        ("user", "One", True),
        ("assistant", "1", True),
        ("user", "Two", False),
        ("assistant", "2, otherwise", False),
    ]


def test_a_copy_without_any_count_is_inherited_all_the_same(tmp_path: Path) -> None:
    history = ask(None, "One", assistant("1"))
    put(tmp_path, PARENT, meta(PARENT), *history)
    put(tmp_path, CHILD, meta(CHILD), meta(PARENT), *history, *ask(None, "Two", assistant("2")))
    assert rows(tmp_path)[CHILD]["parent_id"] == PARENT
    assert [inherited for _, _, inherited in shown(tmp_path, CHILD)] == [True, True, False, False]


def test_a_copied_prompt_that_was_never_answered_is_inherited_too(tmp_path: Path) -> None:
    history = [*ask(TURNS[0], "One", assistant("1")), *ask(TURNS[1], "Two"), event("turn_aborted", reason="interrupted")]
    put(tmp_path, PARENT, meta(PARENT), *history)
    put(tmp_path, CHILD, meta(CHILD), meta(PARENT), *history, *ask(OWN, "Three", assistant("3")))
    assert rows(tmp_path)[CHILD]["turn_count"] == 1


def test_equal_sessions_that_copied_nothing_share_nothing(tmp_path: Path) -> None:
    same = ask("t-1", "Hello", assistant("Hi"), spent(ONE, ONE, "resp_1", "t-1"), count(ONE, ONE))
    put(tmp_path, PARENT, meta(PARENT), *same)
    put(tmp_path, CHILD, meta(CHILD), *same)
    found = rows(tmp_path)
    assert [found[one]["token_total"] for one in (PARENT, CHILD)] == [1100, 1100]
    assert [found[one]["parent_id"] for one in (PARENT, CHILD)] == [None, None]


def test_a_sub_agents_copy_without_calls_and_records_counts_for_its_origin(tmp_path: Path) -> None:
    call = [item("function_call", name="x", arguments="{}", call_id="c"), item("function_call_output", call_id="c", output="")]
    task = event("task_started", turn_id=TURNS[0])
    whole = [task, turn(TURNS[0]), *typed("One"), *call, spent(ONE, ONE, "r1", TURNS[0]), count(ONE, ONE), assistant("1")]
    put(tmp_path, PARENT, meta(PARENT), *whole, spent(STEP, TWO, "r2", TURNS[0]), count(TWO, STEP))
    copied = [task, *typed("One"), count(ONE, ONE), assistant("1"), count(TWO, STEP)]
    own = [turn(OWN), *typed("Do"), assistant("Done"), count(usage(1700, 1000, 170), usage(200, 100, 20))]
    spawned = {"subagent": {"thread_spawn": {"parent_thread_id": PARENT}}}
    put(tmp_path, CHILD, meta(CHILD, source=spawned), meta(PARENT), *copied, *own)
    found = rows(tmp_path)
    assert (found[PARENT]["token_total"], found[CHILD]["token_total"]) == (1650, 220)
    assert (found[CHILD]["kind"], found[CHILD]["title"], found[CHILD]["turn_count"]) == ("subagent", "Do", 1)


def test_totals_handed_down_before_a_fork_answered_are_not_its_own(tmp_path: Path) -> None:
    source = write(tmp_path, meta(forked_from_id=PARENT), count(ONE, ONE), *typed("Go"), assistant("1"), count(TWO, STEP))
    assert used(source) == [0, 50, 500, None, 0]


def test_a_name_repeated_in_a_copied_history_changes_nothing(tmp_path: Path) -> None:
    history = [
        *ask(None, "One", assistant("1"), count(ONE, ONE)),
        meta(PARENT),
        *ask(None, "Two", assistant("2"), count(TWO, STEP)),
    ]
    grand = "0a000001-0000-7000-8000-000000000009"
    put(tmp_path, grand, meta(grand), *history[:5])
    put(tmp_path, PARENT, meta(PARENT), meta(grand), *history)
    put(tmp_path, CHILD, meta(CHILD), meta(PARENT), meta(grand), *history)
    found = rows(tmp_path)
    assert [found[one]["token_total"] for one in (grand, PARENT, CHILD)] == [1100, 550, 0]
    assert [found[one]["parent_id"] for one in (grand, PARENT, CHILD)] == [None, grand, PARENT]


def test_the_state_kept_for_a_grown_file_stays_small(tmp_path: Path) -> None:
    long = "x" * 10_000
    turns = [one for n in range(50) for one in ask(None, f"{n}{long}", user(long), assistant(long))]
    source = write(tmp_path, meta(base_instructions={"text": long}), *turns)
    checkpoint = fold_of(adapter, source).checkpoint
    assert checkpoint is not None
    assert reading(source).turn_count == 50
    assert len(json.dumps(checkpoint.state)) < 2000
