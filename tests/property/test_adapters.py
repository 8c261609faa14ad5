"""What holds for every adapter on every fixture, whatever happens to the files: nothing but a clean result ever comes out."""

import json
import os
import random
import shutil
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from coding_agents_sidecar import indexer, registry, scan
from coding_agents_sidecar.adapter import Adapter, Source
from coding_agents_sidecar.config import Settings
from coding_agents_sidecar.formats import jsonl
from coding_agents_sidecar.formats.places import Unlisted
from coding_agents_sidecar.ledger.database import open_ledger
from coding_agents_sidecar.ledger.queries import ListQuery, list_rows, skipped_records
from coding_agents_sidecar.testing import LAID_AT, lay
from tests.property.effort import EFFORT, some

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"
CASES = sorted(path.parent for path in FIXTURES.glob("*/*/expected.json"))
SMALL = 4096
STRANGE: tuple[Any, ...] = (None, True, -1, 0, 2**70, 1e308, "", "x", "2020-01-01", "\ud83d", [], {}, [[]], [None], {"": None})

every_case = pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.parent.name}-{case.name}")


class Home:
    """A fixture's home folder that is damaged and read again and again."""

    def __init__(self, case: Path, base: Path) -> None:
        self.path = base / "home"
        self.path.mkdir()
        lay(case, self.path)
        self.adapter: Adapter = registry.load(plugins=False).get(case.parent.name)
        environ = json.loads((case / "expected.json").read_text(encoding="utf-8")).get("env", {})
        environ = {name: value.replace("@HOME@", str(self.path)) for name, value in environ.items()}
        self.settings = Settings(self.path, environ, base / "state", "")
        self.known = list(self.sources())

    def files(self) -> list[Path]:
        return [path for path in sorted(self.path.rglob("*")) if path.is_file() and not path.is_symlink()]

    def sources(self) -> Iterator[Source]:
        for root, state in indexer.root_states(self.adapter, self.settings):
            if state == "listed":
                yield from (one for one in self.adapter.discover(root) if not isinstance(one, Unlisted))

    def messages(self, path: Path) -> int:
        """Read the sources a file belongs to; return how many messages they have. Fails on anything but a clean result."""
        total = 0
        for source in self.known:
            if str(path) not in (source.path, *source.files):
                continue
            result = scan.scan(self.adapter, source, None)
            assert result.code in (None, "PARSE_ERROR"), result.message
            total += sum(reading.message_count for reading in result.readings)
        return total

    def rows(self, state: Path) -> list[dict[str, Any]]:
        """Run a pass and return its rows, but for what tells one file time from another."""
        ledger = open_ledger(state / "ledger.db")
        try:
            work = indexer.Pass(ledger, self.settings)
            work.run([self.adapter])
            rows = list_rows(ledger, ListQuery(kinds=(), limit=None), "")
            codes = [row[0] for row in ledger.db.execute("SELECT code FROM source WHERE code IS NOT NULL")]
            assert set(codes) <= {"PARSE_ERROR"}
            skipped = sum(skipped_records(ledger, ()).values())
            return [*({**row, "file_mtime": 0} for row in rows if row["status"] != "missing"), {"skipped": skipped}]
        finally:
            ledger.close()


@pytest.fixture
def home(case: Path, tmp_path: Path) -> Home:
    return Home(case, tmp_path)


def settle(path: Path) -> None:
    """Make a file look long unused."""
    os.utime(path, (LAID_AT, LAID_AT))


@every_case
@pytest.mark.timeout(120)
def test_a_cut_at_any_byte_costs_at_most_what_is_behind_it(home: Home) -> None:
    for path in home.files():
        whole = home.messages(path)
        data = path.read_bytes()
        every = EFFORT >= 1 and len(data) <= SMALL
        cuts = range(len(data)) if every else random.Random(7).sample(range(len(data)), min(len(data), some(60)))
        for cut in cuts:
            path.write_bytes(data[:cut])
            # What was written just now may be taken for a file that is still being written.
            settle(path)
            left = home.messages(path)
            if path.suffix == ".jsonl":
                assert left <= whole
        path.write_bytes(data)
        settle(path)
        assert home.messages(path) == whole


@every_case
@pytest.mark.timeout(120)
def test_wrong_types_anywhere_never_break_a_pass(home: Home) -> None:
    chance = random.Random(11)
    for path in home.files():
        data = path.read_bytes()
        documents = [json.loads(line) for line in data.splitlines() if line.startswith(b"{") and jsonl.load(line) is not None]
        if not documents and isinstance(whole := jsonl.load(data), dict | list):
            documents = [whole]
        places = [place for index, document in enumerate(documents) for place in spots(document, (index,))]
        for place in chance.sample(places, min(len(places), some(80))):
            value = chance.choice(STRANGE)
            path.write_text("\n".join(json.dumps(one) for one in replaced(documents, place, value)) + "\n", encoding="utf-8")
            home.messages(path)
        path.write_bytes(data)


def spots(value: Any, place: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    """Yield the place of every value inside a JSON document."""
    yield place
    for key, item in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from spots(item, (*place, key))


def replaced(value: Any, place: tuple[Any, ...], new: Any) -> Any:
    """Return a copy of a JSON document with another value at a place."""
    if not place:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[place[0]] = replaced(copy[place[0]], place[1:], new)
    return copy


@every_case
@pytest.mark.timeout(120)
def test_wrong_types_in_a_database_never_break_a_pass(home: Home) -> None:
    chance = random.Random(13)
    for path in home.files():
        if not path.exists() or not path.read_bytes().startswith(b"SQLite format 3"):
            continue
        # What lies in the -wal goes into the database, which then can be put back as it was.
        sqlite3.connect(path).execute("PRAGMA journal_mode = DELETE").connection.close()
        backup = path.with_name("backup")
        shutil.copyfile(path, backup)
        for _ in range(some(40)):
            db = sqlite3.connect(path)
            tables = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
            table = chance.choice(tables)
            columns = [row[1] for row in db.execute(f"PRAGMA table_info([{table}])")]
            value = chance.choice((None, -1, 2**62, 1e308, "", "x", "{", "[1]", b"\xff\x00", '{"role":7}'))
            try:
                db.execute(f"UPDATE [{table}] SET [{chance.choice(columns)}] = ?", (value,))
                db.commit()
            except sqlite3.Error:
                pass
            db.close()
            home.messages(path)
            shutil.copyfile(backup, path)
        backup.unlink()


@every_case
@pytest.mark.timeout(120)
def test_garbage_lines_cost_only_themselves(home: Home) -> None:
    garbage = (
        b"",
        b"no json",
        b"\x00\x00",
        b"[]",
        b"null",
        b'"text"',
        b"{}",
        b'{"type":"unheard-of","timestamp":"2026-01-01T00:00:00Z"}',
        b"\xff\xfe",
    )
    chance = random.Random(17)
    for path in home.files():
        whole = home.messages(path)
        if path.suffix == ".jsonl":
            data = path.read_bytes()
            lines = data.splitlines(keepends=True)
            for _ in range(some(20)):
                at = chance.randint(0, max(0, len(lines) - 1))
                path.write_bytes(b"".join(lines[:at]) + chance.choice(garbage) + b"\n" + b"".join(lines[at:]))
                assert home.messages(path) == whole
            path.write_bytes(data)


@every_case
@pytest.mark.timeout(120)
@pytest.mark.parametrize("damage", [b"", b"no json\n{\n"], ids=["whole", "damaged"])
def test_files_that_grow_by_any_steps_end_as_if_read_once(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: bytes
) -> None:
    monkeypatch.setattr(time, "time", lambda: LAID_AT + 10**8)
    chance = random.Random(19)
    grown = [path for path in home.files() if path.suffix == ".jsonl"]
    for path in grown:
        lines = path.read_bytes().splitlines(keepends=True)
        at = chance.randint(0, len(lines))
        path.write_bytes(b"".join([*lines[:at], damage, *lines[at:]]))
        settle(path)
    expected = home.rows(tmp_path / "once")
    for path in grown:
        data = path.read_bytes()
        state = tmp_path / f"steps-{path.name}"
        # A cut at the end of a line leaves nothing torn: the place where counts go wrong.
        ends = [number + 1 for number, byte in enumerate(data) if byte == 10]
        cuts = {*chance.sample(range(len(data)), min(len(data), some(8))), *chance.sample(ends, min(len(ends), some(8)))}
        for cut in [*sorted(cuts), len(data)]:
            path.write_bytes(data[:cut])
            settle(path)
            home.rows(state)
        assert home.rows(state) == expected


@every_case
@pytest.mark.timeout(120)
def test_every_size_of_block_gives_the_same_rows(home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = home.rows(tmp_path / "once")
    largest = max(path.stat().st_size for path in home.files())
    for number, block in enumerate([*range(1, largest + 1 if EFFORT > 1 else 1 + some(39), 3), 1000]):
        monkeypatch.setattr(jsonl, "BLOCK", block)
        assert home.rows(tmp_path / f"block-{number}") == expected
