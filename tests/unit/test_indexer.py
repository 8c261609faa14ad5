"""One pass over a ledger, with the smallest runtime there is."""

import json
import os
import sqlite3
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from coding_agents_sidecar import indexer
from coding_agents_sidecar.config import Settings
from coding_agents_sidecar.indexer import Pass
from coding_agents_sidecar.ledger.database import Database, open_ledger
from coding_agents_sidecar.ledger.derive import Changes
from tests.toy import Toy

OLD = 1_700_000_000
PROMPT = {"role": "user", "t": OLD, "text": "Hello"}
ANSWER = {"role": "assistant", "t": OLD + 5, "key": "r1", "tokens": [10, 3], "model": "m", "text": "Hi"}


class Bench:
    """A home with a ledger."""

    def __init__(self, base: Path) -> None:
        self.home = base / "home"
        self.root = self.home / ".toy"
        self.root.mkdir(parents=True)
        self.ledger: Database = open_ledger(base / "state" / "ledger.db")
        self.settings = Settings(self.home, {}, base / "state", "")
        self.failures: list[dict[str, Any]] = []

    def write(self, name: str, *records: dict[str, Any], end: str = "", age: float = 3600) -> Path:
        """Write a session whose file was last written so many seconds ago."""
        path = self.root / f"{name}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps(record) + "\n" for record in records) + end)
        self.settle(path, age)
        return path

    def settle(self, path: Path, age: float = 3600) -> None:
        moment = time.time() - age
        os.utime(path, (moment, moment))

    def run(self, **options: Any) -> Changes:
        work = Pass(self.ledger, self.settings, **options)
        changes = work.run([Toy()])
        self.failures = work.failures
        return changes

    def counts(self, **options: Any) -> tuple[int, int, int]:
        changes = self.run(**options)
        return len(changes.indexed), len(changes.updated), len(changes.missing)

    def row(self, session_id: str = "a") -> dict[str, Any]:
        self.ledger.db.row_factory = sqlite3.Row
        try:
            return dict(self.ledger.db.execute("SELECT * FROM session WHERE session_id = ?", (session_id,)).fetchone())
        finally:
            self.ledger.db.row_factory = None


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    # Tests write and scan within one tick of the clock; what that means has a test of its own.
    monkeypatch.setattr(indexer, "FINE_GRAIN", -1.0)
    bench = Bench(tmp_path)
    yield bench
    bench.ledger.close()


class Meter:
    """What this process opens for reading below a folder, by the interpreter's own audit events."""

    def __init__(self) -> None:
        self.folder = "\0"
        self.opened: list[str] = []
        sys.addaudithook(self.hear)

    def hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open" and isinstance(arguments[0], str) and arguments[0].startswith(self.folder):
            self.opened.append(arguments[0])


METER = Meter()


@pytest.fixture
def meter(bench: Bench) -> Iterator[Meter]:
    METER.folder, METER.opened = str(bench.home), []
    yield METER
    METER.folder = "\0"


def test_a_pass_without_changes_opens_no_file_and_writes_no_row(bench: Bench, meter: Meter) -> None:
    bench.write("a", PROMPT, ANSWER)
    meter.opened.clear()
    assert bench.counts() == (1, 0, 0)
    assert meter.opened == [str(bench.root / "a.jsonl")] * 2  # once to read it, once for the hash of the checkpoint
    before = bench.ledger.db.total_changes
    meter.opened.clear()
    assert bench.counts() == (0, 0, 0)
    assert meter.opened == []
    assert bench.ledger.db.total_changes == before


def test_what_was_appended_is_all_that_is_read(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    many = [{**ANSWER, "key": f"r{number}", "text": "x" * 100} for number in range(1000)]
    path = bench.write("a", PROMPT, *many)
    bench.run()
    size = path.stat().st_size
    with path.open("a") as file:
        file.write(json.dumps({**ANSWER, "key": "new"}) + "\n")
    bench.settle(path)
    read: list[int] = []
    lines = Toy.events.__globals__["jsonl"].lines

    def counted(name: str, start: int, block: int) -> Iterator[Any]:
        for line, end, whole in lines(name, start, block):
            read.append(len(line))
            yield line, end, whole

    monkeypatch.setattr("coding_agents_sidecar.formats.jsonl.lines", counted)
    assert bench.counts() == (0, 1, 0)
    assert sum(read) == path.stat().st_size - size
    assert bench.row()["message_count"] == 1002
    assert bench.row()["input_tokens"] == 10_010


def test_growth_that_keeps_the_file_time_is_seen(bench: Bench) -> None:
    path = bench.write("a", PROMPT)
    bench.run()
    stamp = path.stat().st_mtime_ns
    with path.open("a") as file:
        file.write(json.dumps(ANSWER) + "\n")
    os.utime(path, ns=(stamp, stamp))
    assert bench.counts() == (0, 1, 0)
    assert bench.row()["message_count"] == 2


def test_a_rewrite_of_equal_size_and_time_is_seen(bench: Bench) -> None:
    path = bench.write("a", PROMPT, ANSWER)
    bench.run()
    stamp = path.stat().st_mtime_ns
    path.write_text(path.read_text().replace('"r1"', '"r2"').replace("[10, 3]", "[20, 3]"))
    os.utime(path, ns=(stamp, stamp))
    assert bench.counts() == (0, 1, 0)
    assert bench.row()["input_tokens"] == 20


def test_a_source_written_within_the_clocks_grain_is_looked_at_again(
    bench: Bench, meter: Meter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexer, "FINE_GRAIN", 3600.0)
    bench.write("a", PROMPT, ANSWER)
    bench.run()
    meter.opened.clear()
    assert bench.counts() == (0, 0, 0)
    assert meter.opened != []


def test_a_new_time_of_an_unchanged_file_updates_no_session(bench: Bench) -> None:
    path = bench.write("a", PROMPT, ANSWER)
    bench.run()
    before = bench.row()
    bench.settle(path, 1800)
    assert bench.counts() == (0, 0, 0)
    after = bench.row()
    assert after["file_mtime"] > before["file_mtime"]
    assert after["revision"] > before["revision"]
    assert after["row_hash"] == before["row_hash"]


def test_a_cut_tail_is_pending_and_the_completed_line_counts_once(bench: Bench) -> None:
    line = json.dumps(ANSWER)
    path = bench.write("a", PROMPT, end=line[:20], age=0)
    bench.run()
    assert (bench.row()["message_count"], bench.row()["status"]) == (1, "active")
    path.write_text(json.dumps(PROMPT) + "\n" + line)
    bench.run()
    assert bench.row()["message_count"] == 2
    path.write_text(json.dumps(PROMPT) + "\n" + line + "\n" + json.dumps({**PROMPT, "t": OLD + 9}) + "\n")
    bench.run()
    assert (bench.row()["message_count"], bench.row()["input_tokens"]) == (3, 10)


def test_a_settled_file_with_a_cut_tail_is_truncated(bench: Bench) -> None:
    bench.write("a", PROMPT, ANSWER, end='{"role":')
    bench.run()
    assert bench.row()["status"] == "truncated"


def test_damage_in_the_middle_is_counted_and_changes_no_status(bench: Bench) -> None:
    path = bench.write("a", PROMPT)
    path.write_text(path.read_text() + "no json\n" + json.dumps(ANSWER) + "\n")
    bench.settle(path)
    bench.run()
    assert bench.row()["status"] == "completed"
    assert bench.ledger.db.execute("SELECT SUM(skipped) FROM reading").fetchone() == (1,)


def test_the_clock_ends_an_active_session_without_opening_it(bench: Bench, meter: Meter, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.write("a", PROMPT, ANSWER, age=60)
    bench.run()
    assert (bench.row()["status"], bench.row()["ended_at"]) == ("active", None)
    meter.opened.clear()
    now = time.time()
    monkeypatch.setattr("time.time", lambda: now + 601)
    assert bench.counts() == (0, 1, 0)
    assert (bench.row()["status"], bench.row()["ended_at"]) == ("completed", OLD + 5)
    assert meter.opened == []


def test_a_time_in_the_future_keeps_no_session_active_for_ever(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.write("a", PROMPT, {**ANSWER, "t": time.time() + 86400}, age=0)
    bench.run()
    assert bench.row()["status"] == "active"
    now = time.time()
    monkeypatch.setattr("time.time", lambda: now + 700)
    bench.run()
    assert bench.row()["status"] == "completed"


def test_a_file_gone_from_a_listed_root_is_missing_and_keeps_its_numbers(bench: Bench) -> None:
    path = bench.write("a", PROMPT, ANSWER)
    bench.write("b", PROMPT)
    bench.run()
    path.unlink()
    assert bench.counts() == (0, 0, 1)
    assert (bench.row()["status"], bench.row()["token_total"], bench.row()["ended_at"]) == ("missing", 13, OLD + 5)
    assert bench.counts() == (0, 0, 0)
    bench.write("a", PROMPT, ANSWER)
    assert bench.counts() == (0, 1, 0)
    assert bench.row()["status"] == "completed"


def test_an_absent_root_is_evidence_of_nothing(bench: Bench) -> None:
    bench.write("a", PROMPT, ANSWER)
    bench.run()
    bench.root.rename(bench.home / "away")
    assert bench.counts() == (0, 0, 0)
    assert bench.row()["status"] == "completed"
    (bench.home / "away").rename(bench.root)
    assert bench.counts() == (0, 0, 0)


def test_what_a_missing_session_owned_stays_its_own(bench: Bench) -> None:
    path = bench.write("a", PROMPT, ANSWER)
    bench.write("b", PROMPT, ANSWER, {**PROMPT, "t": OLD + 50})
    bench.run()
    assert (bench.row("a")["token_total"], bench.row("b")["token_total"]) == (13, 0)
    path.unlink()
    bench.run()
    assert (bench.row("a")["token_total"], bench.row("b")["token_total"]) == (13, 0)


def test_a_failing_source_costs_only_itself_and_keeps_its_row(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.write("a", PROMPT, ANSWER)
    bench.run()
    bench.write("a", PROMPT)
    bench.write("b", PROMPT)
    plain = Toy.events

    def failing(self: Toy, source: Any, *rest: Any) -> Iterator[Any]:
        if source.path.endswith("a.jsonl"):
            raise RuntimeError("secret words")
        yield from plain(self, source, *rest)

    monkeypatch.setattr(Toy, "events", failing)
    assert bench.counts() == (1, 0, 0)
    assert bench.row("a")["message_count"] == 2
    [(code, message)] = bench.ledger.db.execute("SELECT code, message FROM source WHERE code IS NOT NULL").fetchall()
    assert (code, message) == ("INTERNAL_ERROR", "the toy adapter failed with RuntimeError")


def test_a_new_version_of_the_adapter_reads_everything_again(bench: Bench, meter: Meter, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.write("a", PROMPT, ANSWER)
    bench.run()
    meter.opened.clear()
    monkeypatch.setattr(Toy, "version", 2)
    assert bench.counts() == (0, 0, 0)
    assert meter.opened != []


def test_a_full_pass_reads_everything_again(bench: Bench, meter: Meter) -> None:
    bench.write("a", PROMPT, ANSWER)
    bench.run()
    meter.opened.clear()
    assert bench.counts(full=True) == (0, 0, 0)
    assert meter.opened != []


def test_many_sources_are_read_in_processes_with_the_same_result(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    from coding_agents_sidecar import registry, workers

    monkeypatch.setattr(workers, "WORTH_BYTES", 0)
    monkeypatch.setattr(registry, "load", lambda plugins: registry.Registry([registry.Registered(Toy(), "test")]))
    for number in range(30):
        bench.write(f"s{number}", PROMPT, {**ANSWER, "key": f"r{number}"})
    assert bench.counts() == (30, 0, 0)
    assert bench.ledger.db.execute("SELECT SUM(token_total) FROM session").fetchone() == (390,)


def test_a_source_that_kills_its_reader_costs_only_itself(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    from coding_agents_sidecar import registry, workers

    plain = Toy.events

    def deadly(self: Toy, source: Any, *rest: Any) -> Iterator[Any]:
        if source.path.endswith("s3.jsonl"):
            os._exit(9)
        yield from plain(self, source, *rest)

    monkeypatch.setattr(Toy, "events", deadly)
    monkeypatch.setattr(workers, "WORTH_BYTES", 0)
    monkeypatch.setattr(registry, "load", lambda plugins: registry.Registry([registry.Registered(Toy(), "test")]))
    for number in range(8):
        bench.write(f"s{number}", PROMPT)
    assert bench.counts() == (7, 0, 0)
    [(path, code)] = bench.ledger.db.execute("SELECT path, code FROM source WHERE code IS NOT NULL").fetchall()
    assert path.endswith(b"s3.jsonl")
    assert code == "INTERNAL_ERROR"


def test_an_edit_in_the_middle_that_keeps_the_size_is_seen(bench: Bench) -> None:
    answers = [{**ANSWER, "key": f"r{number}", "text": "x" * 200} for number in range(100)]
    path = bench.write("a", PROMPT, *answers)
    bench.run()
    assert bench.row()["input_tokens"] == 1000
    lines = path.read_text().splitlines(keepends=True)
    lines[50] = lines[50].replace("[10, 3]", "[99, 3]")
    path.write_text("".join(lines))
    bench.settle(path, 1800)
    assert bench.counts() == (0, 1, 0)
    assert bench.row()["input_tokens"] == 1089


def test_a_file_written_anew_and_longer_is_read_from_its_start(bench: Bench) -> None:
    answers = [{**ANSWER, "key": f"r{number}", "text": "x" * 200} for number in range(100)]
    path = bench.write("a", PROMPT, *answers)
    bench.run()
    lines = path.read_text().splitlines(keepends=True)
    lines[50] = lines[50].replace("[10, 3]", "[99, 3]")
    other = path.with_suffix(".new")
    other.write_text("".join([*lines, lines[-1].replace("r99", "r100")]))
    os.replace(other, path)
    bench.run()
    assert bench.row()["input_tokens"] == 1099


def test_sums_stop_at_what_a_database_can_store(bench: Bench) -> None:
    bench.write("a", PROMPT, *[{**ANSWER, "key": f"a{number}", "tokens": [2**53, 2**40]} for number in range(300)])
    bench.write("b", PROMPT, ANSWER)
    assert bench.counts() == (2, 0, 0)
    assert (bench.row("a")["input_tokens"], bench.row("a")["output_tokens"]) == (2**60, 300 * 2**40)
    assert bench.row("b")["token_total"] == 13


@pytest.mark.parametrize("method", ["stamps", "discover"])
def test_an_adapter_that_fails_costs_no_other_runtime_a_row(bench: Bench, monkeypatch: pytest.MonkeyPatch, method: str) -> None:
    class Other(Toy):
        name = "other"

    bench.write("a", PROMPT, ANSWER)
    work = Pass(bench.ledger, bench.settings)
    work.run([Toy(), Other()])

    def failing(self: Toy, *rest: Any) -> Any:
        raise RuntimeError("secret words")

    monkeypatch.setattr(Other, method, failing)
    bench.write("a", PROMPT, ANSWER, {**PROMPT, "t": OLD + 9})
    work = Pass(bench.ledger, bench.settings)
    changes = work.run([Toy(), Other()])
    assert (len(changes.updated), len(changes.missing)) == (1, 0)
    said = [failure["message"] for failure in work.failures]
    said += [row[0] for row in bench.ledger.db.execute("SELECT message FROM source WHERE code IS NOT NULL")]
    assert ["secret" in message for message in said] == [False]


def test_a_folder_link_whose_disk_is_away_is_evidence_of_nothing(bench: Bench, tmp_path: Path) -> None:
    bench.write("shop/a", PROMPT, ANSWER)
    (bench.root / "shop").rename(tmp_path / "disk")
    (bench.root / "shop").symlink_to(tmp_path / "disk")
    assert bench.counts() == (1, 0, 0)
    (tmp_path / "disk").rename(tmp_path / "away")
    assert (bench.counts(), bench.failures) == ((0, 0, 0), [])
    assert bench.row()["status"] == "completed"
