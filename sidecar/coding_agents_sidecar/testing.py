"""The contract of adapters as tests, for this package and for plugins.

    from coding_agents_sidecar.testing import contract
    test_zed = contract("zed", fixtures="tests/fixtures")

A fixture is a folder ``<fixtures>/<runtime>/<case>/`` with ``home/``, the runtime's files as they lie below a home folder,
``expected.json``, the facts of its sessions worked out by hand, and ``NOTE.md``. Databases stand in it as text:
``home/…/name.db.sql`` is run into ``name.db``. In ``expected.json`` ``@HOME@`` is the home folder, ``@HASH:path@`` the first
12 hex digits of the SHA-256 of the absolute path of something below it. Needs pytest.
"""

import fnmatch
import hashlib
import json
import os
import re
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from . import indexer, registry
from .config import Settings
from .ledger.rows import TOKEN_COLUMNS
from .ops import ListQuery, Sidecar

LAID_AT = 1782864000
"""Time of change of every file that is laid out: 2026-07-01T00:00:00Z."""


HASH = re.compile("@HASH:([^@]+)@")


def path_hash(path: Path) -> str:
    """Return the hash of a path that names a session of a runtime without ids."""
    return hashlib.sha256(os.fsencode(path.resolve())).hexdigest()[:12]


def lay(case: Path, home: Path) -> None:
    """Lay a fixture out below a home folder, all with one old time of change.

    A ``.sql`` file whose first line is ``-- wal`` becomes a database in WAL mode as a crashed writer leaves it: all its
    rows lie in the ``-wal``.
    """
    shutil.copytree(case / "home", home, symlinks=True, dirs_exist_ok=True)
    for script in sorted(home.rglob("*.sql")):
        build(script.read_text(encoding="utf-8"), script.with_suffix(""))
        script.unlink()
    for path in [home, *home.rglob("*")]:
        os.utime(path, (LAID_AT, LAID_AT), follow_symlinks=False)


def build(script: str, target: Path) -> None:
    """Make a database from SQL; see ``lay``."""
    with tempfile.TemporaryDirectory() as folder, closing(sqlite3.connect(Path(folder, "new.db"))) as db:
        if script.startswith("-- wal\n"):
            db.execute("PRAGMA journal_mode=WAL")
            db.execute("PRAGMA wal_autocheckpoint=0")
        db.executescript(script)
        # Closing would move the rows of the -wal into the database.
        for made in Path(folder).glob("new.db*"):
            if not made.name.endswith("-shm"):
                shutil.copyfile(made, target.with_name(target.name + made.name.removeprefix("new.db")))


class Lab:
    """A fixture laid out below a home folder of its own, with a ledger."""

    def __init__(self, runtime: str, case: Path, base: Path) -> None:
        self.runtime = runtime
        self.home = base / "home"
        self.home.mkdir()
        lay(case, self.home)
        words = (case / "expected.json").read_text(encoding="utf-8").replace("@HOME@", str(self.home))
        self.expected: dict[str, Any] = json.loads(HASH.sub(lambda found: path_hash(self.home / found[1]), words))
        self.sidecar = Sidecar(Settings(self.home, self.expected.get("env", {}), base / "state", ""))
        self.adapter = self.sidecar.registry.get(runtime)

    def index(self) -> dict[str, Any]:
        """Run a pass over the runtime; return its report."""
        return self.sidecar.reindex(runtimes=[self.runtime])

    def rows(self) -> dict[tuple[str, str], dict[str, Any]]:
        """Return all rows by origin and native id."""
        found = self.sidecar.list(ListQuery(runtimes=(self.runtime,), kinds=(), limit=None))
        return {(row["origin"], row["session_id"]): row for row in found}

    def read(self, row: dict[str, Any], raw: bool = False) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """Return head and messages of a session."""
        head, messages = self.sidecar.read(self.runtime, row["session_id"], row["origin"], raw)
        return head, list(messages)


def facts_are_met(lab: Lab) -> None:
    """Rows and messages are what was worked out by hand, and there is no other row."""
    report = lab.index()
    rows = lab.rows()
    expected = {(one.get("origin", ""), one["session_id"]): one for one in lab.expected["sessions"]}
    assert rows.keys() == expected.keys()
    for name, facts in expected.items():
        assert observed(lab, rows[name], facts) == facts
    assert report["skipped_records"] == lab.expected["skipped_records"]
    failed = [os.path.relpath(failure["source"], lab.home) for failure in report["failed"]]
    assert failed == lab.expected["failed"]


def observed(lab: Lab, row: dict[str, Any], facts: dict[str, Any]) -> dict[str, Any]:
    """Return what is seen of a session, in the words of ``expected.json``."""
    head, messages = lab.read(row)
    roles = {role: sum(1 for one in messages if one["role"] == role) for role in ("user", "assistant", "tool", "system")}
    names = ("input", "output", "cache_read", "cache_write", "reasoning")
    seen = {
        **{key: row[key] for key in facts if key in row},
        "roles": roles,
        "tokens": {**{name: row[column] for name, column in zip(names, TOKEN_COLUMNS, strict=True)}, "total": row["token_total"]},
        "file": os.path.relpath(row["file_path"], lab.home),
    }
    assert head["message_count"] == row["message_count"] == len(messages)
    return {key: seen[key] for key in facts}


def reading_agrees_with_the_index(lab: Lab) -> None:
    """What ``read`` shows adds up to the row, twice alike, and is valid JSON with unique message ids."""
    lab.index()
    for row in lab.rows().values():
        head, messages = lab.read(row, raw=True)
        again = lab.read(row, raw=True)
        assert json.dumps([head, messages], allow_nan=False).encode("utf-8") == json.dumps(list(again), allow_nan=False).encode(
            "utf-8"
        )
        assert {key: head[key] for key in row} == row
        assert len({one["id"] for one in messages}) == len(messages)
        turns = [one for one in messages if one["role"] == "user" and not one["inherited"]]
        assert (row["message_count"], row["turn_count"]) == (len(messages), len(turns))


def a_second_pass_changes_nothing(lab: Lab) -> None:
    """A pass without changes reads nothing and reports nothing."""
    with pytest.MonkeyPatch.context() as patch:
        # A fixture is read within a tick of being laid out; such sources would be looked at again.
        patch.setattr(indexer, "FINE_GRAIN", -1.0)
        lab.index()
        rows = lab.rows()
        with opens_below(lab.home) as opened:
            report = lab.index()
    assert (report["indexed"], report["updated"], report["missing"], opened) == (0, 0, 0, [])
    assert lab.rows() == rows


def nothing_is_written_or_left(lab: Lab) -> None:
    """The runtime's files keep names, bytes and times, and nothing joins them."""
    before = snapshot(lab.home)
    lab.index()
    for row in lab.rows().values():
        lab.read(row, raw=True)
    assert snapshot(lab.home) == before


def credentials_stay_closed(lab: Lab) -> None:
    """Files that match ``never_open`` are not opened although they lie beside sessions."""
    folders = [folder for folder in lab.home.rglob("*") if folder.is_dir()]
    for pattern in lab.adapter.never_open:
        for folder in folders:
            planted = folder / pattern.replace("*", "x")
            if not planted.exists():
                planted.write_text('{"key": "secret"}', encoding="utf-8")
    with opens_below(lab.home) as opened:
        lab.index()
        for row in lab.rows().values():
            lab.read(row, raw=True)
    patterns = lab.adapter.never_open
    assert [path for path in opened if any(fnmatch.fnmatch(os.path.basename(path), pattern) for pattern in patterns)] == []


def an_absent_root_is_no_error(lab: Lab) -> None:
    """Without any root there is nothing, quietly; rows and failures seen before stay as they are."""
    failed = lab.index()["failed"]
    rows = lab.rows()
    lab.home.rename(lab.home.with_name("away"))
    lab.home.mkdir()
    report = lab.index()
    assert (report["failed"], report["missing"]) == (failed, 0)
    assert lab.rows() == rows


CHECKS: tuple[Callable[[Lab], None], ...] = (
    facts_are_met,
    reading_agrees_with_the_index,
    a_second_pass_changes_nothing,
    nothing_is_written_or_left,
    credentials_stay_closed,
    an_absent_root_is_no_error,
)


def contract(runtime: str, fixtures: str | Path) -> Callable[..., None]:
    """Return a test of every fixture of a runtime against every check of the contract."""
    cases = sorted(path.parent for path in Path(fixtures, runtime).glob("*/expected.json"))

    @pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
    @pytest.mark.parametrize("case", cases, ids=lambda case: case.name)
    def test(case: Path, check: Callable[[Lab], None], tmp_path: Path) -> None:
        check(Lab(runtime, case, tmp_path))

    return test


def describes_itself(runtime: str) -> None:
    """Check what an adapter says about itself."""
    adapter = registry.load().get(runtime)
    assert adapter.name == adapter.name.lower().strip()
    assert all(alias == alias.lower().strip() and alias != adapter.name for alias in adapter.aliases)
    assert adapter.title
    assert len(adapter.evidence) > 20, "say what the knowledge of the format rests on, and when it was checked"
    assert (type(adapter).__doc__ or "").strip() or (sys.modules[type(adapter).__module__].__doc__ or "").strip()


def snapshot(folder: Path) -> dict[str, tuple[int, str]]:
    """Return time of change and content of everything below a folder."""
    found = {}
    for path in sorted(folder.rglob("*")):
        content = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
        found[str(path.relative_to(folder))] = (path.lstat().st_mtime_ns, content)
    return found


class Meter:
    """What this process opens below a folder, by the interpreter's audit events."""

    folder: str | None = None
    opened: list[str]

    def hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Note an opened file."""
        if self.folder is not None and event in ("open", "sqlite3.connect") and isinstance(arguments[0], str | bytes):
            path = os.fsdecode(arguments[0])
            if self.folder in path:
                self.opened.append(path)


@contextmanager
def opens_below(folder: Path) -> Iterator[list[str]]:
    """Collect the paths of the files opened below a folder."""
    if not METER:
        METER.append(Meter())
        sys.addaudithook(METER[0].hear)
    METER[0].folder, METER[0].opened = str(folder), []
    try:
        yield METER[0].opened
    finally:
        METER[0].folder = None


METER: list[Meter] = []
