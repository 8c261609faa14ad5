"""The law of copies: any order of sources and any split into passes gives the same rows as one full pass."""

import json
import os
import random
import sqlite3
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from coding_agents_sidecar.config import Settings
from coding_agents_sidecar.indexer import Pass
from coding_agents_sidecar.ledger.database import open_ledger
from tests.property.effort import some
from tests.toy import Toy

Record = dict[str, Any]
OLD = 1_700_000_000


@st.composite
def families(draw: Any) -> dict[str, list[Record]]:
    """Sessions of which some begin as copies of others: chains, stars, copies of copies, with and without a parent link."""
    count = draw(st.integers(2, 5))
    names: list[str] = draw(st.permutations([f"s{number}" for number in range(count)]))
    sessions: dict[str, list[Record]] = {}
    clock = OLD
    for index, name in enumerate(names):
        records: list[Record] = []
        if index and draw(st.booleans()):
            origin = draw(st.sampled_from(names[:index]))
            cut = draw(st.integers(0, len(sessions[f".toy/{origin}"])))
            records = [dict(record) for record in sessions[f".toy/{origin}"][:cut]]
            if draw(st.booleans()):
                # Some runtimes give copied lines new times.
                for record in records:
                    record["t"] = clock
            if records and draw(st.booleans()):
                records.insert(0, {"role": "note", "t": clock, "parent": origin})
        for turn in range(draw(st.integers(0, 3))):
            clock += draw(st.integers(0, 40))
            records.append({"role": "user", "t": clock, "text": f"{name} {turn}"})
            clock += draw(st.integers(0, 40))
            tokens = [draw(st.integers(0, 9)), draw(st.integers(0, 9))]
            records.append({"role": "assistant", "t": clock, "key": f"{name}-{turn}", "tokens": tokens, "model": "m"})
        sessions[f".toy/{name}"] = records
        if draw(st.booleans()):
            # The same session in a second place, from an earlier time.
            sessions[f".toy2/{name}"] = records[: draw(st.integers(0, len(records)))]
    return sessions


def rows(home: Path, ledger_path: Path) -> list[tuple[Any, ...]]:
    """Return the rows of a ledger, but for what differs between two ledgers by nature."""
    db = sqlite3.connect(ledger_path)
    found = db.execute(
        "SELECT session_id, started_at, ended_at, last_activity_at, message_count, turn_count, token_total, input_tokens,"
        " output_tokens, status, parent_id, inherited, row_hash FROM session WHERE revision IS NOT NULL ORDER BY session_id"
    ).fetchall()
    usage = db.execute(
        "SELECT s.session_id, u.quarter, u.model, u.input, u.output FROM usage u JOIN session s ON s.id = u.session"
        " ORDER BY 1, 2, 3"
    ).fetchall()
    db.close()
    return found + usage


def index(home: Path, state: Path) -> None:
    """Run one pass."""
    ledger = open_ledger(state / "ledger.db")
    Pass(ledger, Settings(home, {}, state, "")).run([Toy()])
    ledger.close()


def write(home: Path, name: str, records: list[Record]) -> None:
    """Write a session as its runtime would have left it long ago."""
    path = home / f"{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    os.utime(path, (OLD, OLD))


@pytest.mark.timeout(120)
@settings(max_examples=some(100), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(family=families(), seed=st.integers(0, 2**32))
def test_any_order_and_any_split_give_the_rows_of_one_full_pass(
    tmp_path_factory: Any, family: dict[str, list[Record]], seed: int
) -> None:
    base = tmp_path_factory.mktemp("law")
    home = base / "home"
    for name, records in family.items():
        write(home, name, records)
    index(home, base / "whole")
    expected = rows(home, base / "whole" / "ledger.db")

    chance = random.Random(seed)
    for name in family:
        (home / f"{name}.jsonl").unlink()
    shown: dict[str, int] = {}
    while any(shown.get(name, -1) < len(records) for name, records in family.items()):
        for name in chance.sample(sorted(family), k=chance.randint(1, len(family))):
            # Files grow, are cut back, vanish and return; what counts is where they arrive.
            step = chance.choice((0, 1, 2, 3, 4, 5, -3, None))
            if step is None and name in shown:
                (home / f"{name}.jsonl").unlink()
                del shown[name]
            else:
                shown[name] = max(0, min(len(family[name]), shown.get(name, 0) + (step or 0)))
                write(home, name, family[name][: shown[name]])
        index(home, base / "split")
    assert rows(home, base / "split" / "ledger.db") == expected


@pytest.mark.timeout(120)
@settings(max_examples=some(100), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(family=families())
def test_every_response_counts_once_and_none_is_lost(tmp_path_factory: Any, family: dict[str, list[Record]]) -> None:
    base = tmp_path_factory.mktemp("sum")
    for name, records in family.items():
        write(base / "home", name, records)
    index(base / "home", base / "state")
    responses = {record["key"]: sum(record["tokens"]) for records in family.values() for record in records if "key" in record}
    db = sqlite3.connect(base / "state" / "ledger.db")
    total = db.execute("SELECT COALESCE(SUM(token_total), 0) FROM session").fetchone()[0]
    by_day = db.execute("SELECT COALESCE(SUM(COALESCE(input, 0) + COALESCE(output, 0)), 0) FROM usage").fetchone()[0]
    db.close()
    assert (total, by_day) == (sum(responses.values()), sum(responses.values()))


def test_an_ancestor_that_shares_nothing_changes_no_owner_by_when_it_comes(tmp_path: Path) -> None:
    prompt, answer = {"role": "user", "t": OLD}, {"role": "assistant", "t": OLD + 1, "key": "k", "tokens": [1, 1], "model": "m"}
    copied = [{"role": "note", "t": OLD, "parent": "b"}, prompt, answer]
    family = {"a": [{**prompt, "t": OLD + 9}, answer], "b": [{"role": "note", "t": OLD, "parent": "a"}, prompt], "c": copied}
    results = []
    for number, order in enumerate(permutations(family)):
        base = tmp_path / str(number)
        for name in order:
            write(base, f".toy/{name}", family[name])
            index(base, base)
        results.append(rows(base, base / "ledger.db"))
    assert all([row[:-1] for row in result] == [row[:-1] for row in results[0]] for result in results)
