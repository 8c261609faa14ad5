"""Reading another program's database: what is seen, that nobody notices, and what happens when it cannot be read.

Writers are processes of their own, for SQLite behaves otherwise between two connections of one process. Root reads in
another way than others: where the tests run as root, they read as other users too.
"""

import os
import pickle
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from coding_agents_sidecar.errors import ParseError
from coding_agents_sidecar.formats import sqlite

NOBODY = 65534

WRITER = """
import sqlite3, sys
db = sqlite3.connect(sys.argv[1], isolation_level=None)
for line in sys.stdin:
    try:
        db.execute(line)
        print("done", flush=True)
    except sqlite3.Error as error:
        print(error, flush=True)
"""


class Writer:
    """A program that has a database open, and the folder of it."""

    def __init__(self, path: Path, *statements: str) -> None:
        self.path = path
        self.process = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for statement in statements:
            self.run(statement)

    def run(self, statement: str) -> None:
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(statement + "\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline() == "done\n"

    def end(self) -> None:
        """Kill the program: nothing is tidied up."""
        with self.process as process:
            process.kill()


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that everybody may enter, which the fixture ``tmp_path`` is not."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name, "store")
        path.mkdir()
        for one in (path.parent, path):
            one.chmod(0o755)
        yield path


@pytest.fixture
def start() -> Iterator[Callable[..., Writer]]:
    writers: list[Writer] = []

    def make(*arguments: Any) -> Writer:
        writers.append(Writer(*arguments))
        return writers[-1]

    yield make
    for writer in writers:
        writer.end()


def in_child(call: Callable[[], Any], user: int | None = None) -> Any:
    """Return what a function returns in a child process, which runs as another user if one is named."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            if user is not None:
                os.setgroups([])
                os.setgid(user)
                os.setuid(user)
            os.write(writing, pickle.dumps(call()))
        finally:
            os._exit(0)
    os.close(writing)
    with open(reading, "rb") as pipe:
        result = pipe.read()
    os.waitpid(child, 0)
    return pickle.loads(result)


def values(path: Path | str) -> list[Any]:
    """Return all values of the table ``t``."""
    with sqlite.read_only(str(path)) as db:
        return [row["x"] for row in sqlite.rows(db, "SELECT x FROM t ORDER BY rowid")]


def listing(folder: Path) -> dict[str, tuple[int, int, int]]:
    """Return name, size and times of everything in a folder, and of the folder itself."""
    found = {entry.name: entry.stat() for entry in os.scandir(folder)}
    return {name: (stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns) for name, stat in {**found, ".": folder.stat()}.items()}


@pytest.fixture(params=["self", "owner", "stranger"])
def seen(request: pytest.FixtureRequest) -> Callable[[Path], list[Any]]:
    """Read as this user, as one who owns the files, as one without rights; see to it that nothing in the folder changes."""
    root = os.geteuid() == 0
    user = NOBODY if root and request.param != "self" else None

    def read(path: Path) -> list[Any]:
        for file in (path.parent, *path.parent.iterdir()) if root and request.param == "owner" else ():
            os.chown(file, NOBODY, NOBODY)
        before = listing(path.parent)
        found: list[Any] = in_child(lambda: values(path), user)
        assert listing(path.parent) == before
        return found

    return read


Seen = Callable[[Path], list[Any]]
Start = Callable[..., Writer]
TABLE = "CREATE TABLE t (x)"
WAL = ("PRAGMA journal_mode=WAL", "PRAGMA wal_autocheckpoint=0", TABLE)


def test_rows_that_a_live_writer_has_only_in_its_wal_are_seen_without_a_trace(folder: Path, start: Start, seen: Seen) -> None:
    path = folder / "a.db"
    writer = start(path, *WAL, "INSERT INTO t VALUES (1)")
    assert seen(path) == [1]
    writer.run("INSERT INTO t VALUES (2)")
    assert seen(path) == [1, 2]
    writer.run("PRAGMA wal_checkpoint(TRUNCATE)")
    assert seen(path) == [1, 2]


def test_a_write_in_progress_neither_shows_nor_blocks_nor_is_blocked(folder: Path, start: Start, seen: Seen) -> None:
    path = folder / "a.db"
    writer = start(path, *WAL, "INSERT INTO t VALUES (1)", "BEGIN IMMEDIATE", "INSERT INTO t VALUES (2)")
    assert seen(path) == [1]
    with sqlite.read_only(str(path)) as db:
        writer.run("COMMIT")
        writer.run("PRAGMA wal_checkpoint")
        assert db.execute("SELECT count(*) FROM t").fetchone() == (1,)
    assert seen(path) == [1, 2]


@pytest.mark.parametrize("mode", ["WAL", "DELETE", "PERSIST"])
def test_a_database_under_an_exclusive_lock_is_read_as_it_was_committed(
    folder: Path, start: Start, seen: Seen, mode: str
) -> None:
    path = folder / "a.db"
    start(
        path,
        "PRAGMA locking_mode=EXCLUSIVE",
        f"PRAGMA journal_mode={mode}",
        TABLE,
        "INSERT INTO t VALUES (1)",
        "BEGIN EXCLUSIVE",
        "INSERT INTO t VALUES (2)",
    )
    assert seen(path) == [1]


def test_what_a_killed_writer_left_is_read_without_a_trace(folder: Path, start: Start, seen: Seen) -> None:
    path = folder / "a.db"
    start(path, *WAL, "INSERT INTO t VALUES (1)").end()
    assert sorted(os.listdir(folder)) == ["a.db", "a.db-shm", "a.db-wal"]
    assert seen(path) == [1]
    (folder / "a.db-shm").unlink()
    assert seen(path) == [1]


def test_a_half_written_transaction_is_rolled_back_in_a_copy(folder: Path, start: Start, seen: Seen) -> None:
    path = folder / "a.db"
    many = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500) "
    writer = start(path, TABLE, f"INSERT INTO t {many} SELECT 'old' FROM n", "PRAGMA cache_size=2", "BEGIN")
    before = path.read_bytes()
    writer.run("UPDATE t SET x = 'new' || hex(randomblob(200))")
    writer.end()
    assert path.read_bytes() != before
    assert seen(path) == ["old"] * 500


@pytest.mark.parametrize("left", [[], ["-wal"], ["-shm"]])
def test_a_settled_database_is_read_without_a_trace(folder: Path, start: Start, seen: Seen, left: list[str]) -> None:
    path = folder / "a.db"
    db = sqlite3.connect(path)
    for statement in (*WAL, "INSERT INTO t VALUES (1)", "COMMIT"):
        db.execute(statement)
    db.close()
    for suffix in left:
        (folder / f"a.db{suffix}").touch()
    assert seen(path) == [1]


def test_a_folder_that_cannot_be_written_is_read(folder: Path, start: Start, seen: Seen) -> None:
    path = folder / "a.db"
    start(path, *WAL, "INSERT INTO t VALUES (1)")
    folder.chmod(0o555)
    assert seen(path) == [1]


@pytest.mark.parametrize("mode", ["WAL", "DELETE"])
def test_every_name_a_file_can_have_is_opened(folder: Path, start: Start, seen: Seen, mode: str) -> None:
    last = "plain.db"
    start(folder / last, f"PRAGMA journal_mode={mode}", TABLE, "INSERT INTO t VALUES (1)").end()
    for name in ("a?mode=rwc#b.db", "100% a%41.db", "ä 'b'.db", "\udcff\udcfe.db", "file:a.db"):
        for file in list(folder.iterdir()):
            file.rename(folder / file.name.replace(last, name))
        assert seen(folder / name) == [1]
        last = name


class Meddler:
    """Does something whenever this process opens a file, as often as wanted."""

    def __init__(self, path: str, act: Callable[[], None], times: int) -> None:
        self.path, self.act, self.left = path, act, times
        # A hook stays for the life of the process; one without anything left does nothing.
        sys.addaudithook(self.hear)

    def hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self.left and event == "open" and arguments[0] == self.path:
            self.left -= 1
            self.act()

    def touch(self) -> None:
        os.utime(self.path, (self.left, self.left))


def test_a_copy_is_one_state_though_the_wal_grows_under_it(folder: Path, start: Start) -> None:
    path = folder / "a.db"
    writer = start(path, "PRAGMA locking_mode=EXCLUSIVE", *WAL, "INSERT INTO t VALUES (0)")
    meddler = Meddler(f"{path}-wal", lambda: writer.run("INSERT INTO t SELECT max(x) + 1 FROM t"), 1000)
    found = values(path)
    grown, meddler.left = 1000 - meddler.left, 0
    assert 0 < len(found) <= grown
    assert found == list(range(len(found)))


def test_copies_are_gone_afterwards_whatever_happens(
    folder: Path, start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    path = folder / "a.db"
    start(path, "PRAGMA locking_mode=EXCLUSIVE", *WAL)
    with sqlite.read_only(str(path)):
        assert len(list(tmp_path.iterdir())) == 1
    with pytest.raises(KeyError), sqlite.read_only(str(path)):
        raise KeyError
    with pytest.raises(ParseError), sqlite.read_only(str(path)) as db:
        db.execute("SELECT nothing FROM nowhere")
    assert list(tmp_path.iterdir()) == []


def damaged(path: Path) -> None:
    """Make a database whose table has a page of rubbish in its middle."""
    db = sqlite3.connect(path)
    db.execute(TABLE)
    db.executemany("INSERT INTO t VALUES (?)", [("secret " * 100,)] * 200)
    db.commit()
    db.close()
    with open(path, "r+b") as file:
        file.seek(4096 * 20)
        file.write(b"\xff" * 4096)


def test_damage_that_shows_only_while_reading_is_a_parse_error_without_content(folder: Path) -> None:
    path = folder / "a.db"
    damaged(path)
    found: list[Any] = []
    with pytest.raises(ParseError) as caught, sqlite.read_only(str(path)) as db:
        found.extend(sqlite.rows(db, "SELECT x FROM t"))
    assert found
    assert str(caught.value) == f"{path} is damaged"
    assert not caught.value.transient


def touch_and_read(path: Path, db: sqlite3.Connection) -> None:
    os.utime(path, (1, 1))
    db.execute("SELECT sum(length(x)) FROM t").fetchall()


def test_damage_in_a_file_that_changed_meanwhile_may_pass(folder: Path) -> None:
    path = folder / "a.db"
    damaged(path)
    with pytest.raises(ParseError) as caught, sqlite.read_only(str(path)) as db:
        touch_and_read(path, db)
    assert caught.value.transient


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"SQLite format 4\0" * 512, "is no SQLite database, or an encrypted one"),
        (bytes(range(256)) * 32, "is no SQLite database, or an encrypted one"),
        (b"{}\n", "is no SQLite database, or an encrypted one"),
        (b"SQLite format 3\0", "is no SQLite database, or an encrypted one"),
    ],
)
def test_what_is_no_database_is_a_parse_error_that_stays(folder: Path, content: bytes, words: str) -> None:
    path = folder / "a.db"
    path.write_bytes(content)
    with pytest.raises(ParseError) as caught, sqlite.read_only(str(path)):
        pass
    assert (str(caught.value), caught.value.transient) == (f"{path} {words}", False)


def test_a_truncated_database_is_a_parse_error_that_stays(folder: Path) -> None:
    path = folder / "a.db"
    damaged(path)
    os.truncate(path, path.stat().st_size // 2)
    with pytest.raises(ParseError) as caught:
        values(path)
    assert (str(caught.value), caught.value.transient) == (f"{path} is damaged", False)


def test_a_missing_database_is_a_parse_error_that_may_pass(folder: Path) -> None:
    with pytest.raises(ParseError) as caught:
        values(folder / "a.db")
    assert caught.value.transient
    assert list(folder.iterdir()) == []


def test_a_database_that_changes_while_it_is_copied_is_copied_again(folder: Path, start: Start) -> None:
    path = folder / "a.db"
    start(path, "PRAGMA locking_mode=EXCLUSIVE", *WAL, "INSERT INTO t VALUES (1)")
    meddler = Meddler(str(path), lambda: meddler.touch(), 2)
    assert values(path) == [1]


def test_a_database_that_never_holds_still_is_a_parse_error_that_may_pass(folder: Path, start: Start) -> None:
    path = folder / "a.db"
    start(path, "PRAGMA locking_mode=EXCLUSIVE", *WAL)
    meddler = Meddler(str(path), lambda: meddler.touch(), 1000)
    with pytest.raises(ParseError, match="changes too fast") as caught:
        values(path)
    meddler.left = 0
    assert caught.value.transient


def test_an_empty_file_is_a_database_without_tables(folder: Path) -> None:
    path = folder / "a.db"
    path.touch()
    with sqlite.read_only(str(path)) as db:
        assert sqlite.columns(db, "t") == set()


def test_columns_of_a_table_are_known_and_of_no_table_are_none(folder: Path) -> None:
    path = folder / "a.db"
    db = sqlite3.connect(path)
    db.execute('CREATE TABLE "odd name; --" ("a b" text, c)')
    db.close()
    with sqlite.read_only(str(path)) as db:
        assert sqlite.columns(db, "odd name; --") == {"a b", "c"}
        assert sqlite.columns(db, "t") == set()


def test_text_that_is_no_utf8_is_read_with_replacements(folder: Path) -> None:
    path = folder / "a.db"
    db = sqlite3.connect(path)
    db.execute(TABLE)
    db.execute("INSERT INTO t VALUES (CAST(X'61FF62' AS TEXT))")
    db.commit()
    db.close()
    assert values(path) == ["a\ufffdb"]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ('{"a": 1}', {"a": 1}),
        (b"[1]\x00\n", [1]),
        ('"\\ud83d"', "\ufffd"),
        ("", None),
        ("{", None),
        (None, None),
        (7, None),
    ],
)
def test_a_column_gives_the_json_value_it_holds(value: Any, expected: Any) -> None:
    assert sqlite.json_value(value) == expected


def test_a_row_becomes_json_like_data_whatever_its_columns_hold(folder: Path) -> None:
    path = folder / "a.db"
    sqlite3.connect(path).close()
    with sqlite.read_only(str(path)) as db:
        (row,) = sqlite.rows(db, "SELECT 1 AS a, 'b' AS b, X'63FF' AS c, 9e999 AS d, NULL AS e, 'raw' AS f")
    assert sqlite.native(row, f={}) == {"a": 1, "b": "b", "c": "c\ufffd", "d": None, "e": None, "f": {}}
