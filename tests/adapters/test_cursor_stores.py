"""Cursor: how little is read of a large database, which places count, and what is left of a session when one fails."""

import json
import os
import sqlite3
import tracemalloc
from contextlib import closing
from pathlib import Path

import pytest

from coding_agents_sidecar.fold import Fold
from coding_agents_sidecar.formats.cursor import catalog, projects
from coding_agents_sidecar.model import Start

from .cursor import GLOBAL, Ledger, adapter, converse, database, fixture, put, source_of, sources

PROMPT, ANSWER = {"type": 1, "text": "?"}, {"type": 2, "text": "!"}
NEW = {"type": 2, "bubbleId": "b1", "text": "Changed in place"}
WORKSPACE = ".config/Cursor/User/workspaceStorage/" + "ab" * 16


def stamps(home: Path) -> dict[str, str]:
    """Return the stamps of the conversations in a home folder."""
    found = adapter.stamps(source_of(home, GLOBAL))
    assert found is not None
    return found


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home folder with two conversations and a draft."""
    with database(tmp_path / GLOBAL) as db:
        converse(db, "one", [PROMPT, ANSWER], lastUpdatedAt=1770000001000)
        converse(db, "two", [PROMPT, ANSWER])
        converse(db, "draft", [])
    return tmp_path


@pytest.mark.parametrize(
    "statement",
    [
        f"INSERT INTO cursorDiskKV VALUES ('bubbleId:one:b1', '{json.dumps(NEW)}')",
        f"UPDATE cursorDiskKV SET value = '{json.dumps(NEW)}' WHERE key = 'bubbleId:one:b1'",
        "UPDATE cursorDiskKV SET value = NULL WHERE key = 'bubbleId:one:b1'",
        "DELETE FROM cursorDiskKV WHERE key = 'bubbleId:one:b1'",
        "UPDATE cursorDiskKV SET value = replace(value, '1770000001000', '1770000002000') WHERE key = 'composerData:one'",
        'INSERT INTO ItemTable VALUES (\'composer.composerHeaders\', \'{"allComposers": [{"composerId": "one", "isArchived": true}]}\')',
        "INSERT INTO cursorDiskKV VALUES ('composerData:three', '{\"subagentComposerIds\": [\"one\"]}')",
    ],
)
def test_a_change_of_a_conversation_changes_its_stamp_and_no_other(home: Path, statement: str) -> None:
    before = stamps(home)
    assert before.keys() == {"one", "two"}
    with database(home / GLOBAL) as db:
        db.execute(statement)
    after = stamps(home)
    assert {id for id in before if before[id] != after[id]} == {"one"}


def test_the_workspace_that_lists_a_conversation_is_part_of_its_stamp(home: Path) -> None:
    before = stamps(home)
    with database(home / WORKSPACE / "state.vscdb") as db:
        listed = {"allComposers": [{"composerId": "one"}]}
        db.execute("INSERT INTO ItemTable VALUES ('composer.composerData', ?)", (json.dumps(listed),))
    assert stamps(home) == before
    (home / WORKSPACE / "workspace.json").write_text('{"folder": "file:///home/kim/shop"}')
    after = stamps(home)
    assert {id for id in before if before[id] != after[id]} == {"one"}


def test_in_a_large_database_rows_are_compared_by_their_numbers(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalog, "CLOSELY", 0)
    before = stamps(home)
    with database(home / GLOBAL) as db:
        plan = db.execute("EXPLAIN QUERY PLAN SELECT key, rowid FROM cursorDiskKV WHERE key >= 'a' AND key < 'b' ORDER BY key")
        assert ["COVERING INDEX" in row[3] for row in plan] == [True]
        put(db, "bubbleId:one:b1", NEW)
    after = stamps(home)
    assert {id for id in before if before[id] != after[id]} == {"one"}


def test_one_changed_conversation_reads_no_other(home: Path, tmp_path: Path) -> None:
    ledger = Ledger(home, tmp_path / "state")
    with database(home / GLOBAL) as db:
        for number in range(4):
            converse(db, f"more{number}", [PROMPT, ANSWER])
    assert ledger.index()["indexed"] == 6
    with database(home / GLOBAL) as db:
        converse(db, "one", [PROMPT, ANSWER, PROMPT], name="Grown")
    report = ledger.index()
    assert (report["indexed"], report["updated"], report["unchanged"]) == (0, 1, 5)
    events = list(adapter.events(source_of(home, GLOBAL), "one"))
    assert [event.session_id for event in events if isinstance(event, Start)] == ["one"]
    assert list(adapter.events(source_of(home, GLOBAL), "nobody")) == []


def test_memory_is_bounded_by_one_bubble(tmp_path: Path) -> None:
    with database(tmp_path / GLOBAL) as db:
        converse(db, "big", [{"type": 2, "text": "x" * 500_000} for _ in range(60)])
    source = source_of(tmp_path, GLOBAL)
    tracemalloc.start()
    try:
        assert adapter.stamps(source)
        (reading,) = Fold("cursor").run(adapter.events(source, "big")).readings()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert reading.message_count == 60
    assert peak < 15_000_000 < 60 * 500_000


@pytest.mark.parametrize("mode", ["DELETE", "WAL"])
def test_a_database_that_its_writer_has_locked_keeps_its_rows(home: Path, tmp_path: Path, mode: str) -> None:
    ledger = Ledger(home, tmp_path / "state")
    ledger.index()
    before = ledger.rows()
    with closing(sqlite3.connect(home / GLOBAL, isolation_level=None)) as db:
        db.execute(f"PRAGMA journal_mode = {mode}")
        db.execute("PRAGMA locking_mode = EXCLUSIVE")
        db.execute("BEGIN EXCLUSIVE")
        put(db, "composerData:one", {"composerId": "one"})
        db.execute("DELETE FROM cursorDiskKV WHERE key >= 'bubbleId:'")
        ledger.index()
        assert ledger.rows() == before
        db.execute("ROLLBACK")
    ledger.index()
    assert ledger.rows() == before


def test_a_database_that_cannot_be_read_any_more_keeps_its_rows(home: Path, tmp_path: Path) -> None:
    ledger = Ledger(home, tmp_path / "state")
    ledger.index()
    before = ledger.rows()
    (home / GLOBAL).write_text("no database")
    assert [failure["code"] for failure in ledger.index()["failed"]] == ["PARSE_ERROR"]
    assert ledger.rows() == before


def test_a_workspace_that_cannot_be_read_costs_only_what_it_tells(home: Path, tmp_path: Path) -> None:
    (home / WORKSPACE).mkdir(parents=True)
    (home / WORKSPACE / "state.vscdb").write_text("no database")
    (home / WORKSPACE / "workspace.json").write_text('{"folder": "file:///home/kim/shop"}')
    ledger = Ledger(home, tmp_path / "state")
    assert [os.path.basename(os.path.dirname(failure["source"])) for failure in ledger.index()["failed"]] == ["ab" * 16]
    assert {id: row["project_path"] for id, row in ledger.rows().items()} == {"one": None, "two": None}


def test_a_transcript_stands_for_a_conversation_whose_database_is_gone(tmp_path: Path) -> None:
    home = fixture("merged", tmp_path / "home")
    ledger = Ledger(home, tmp_path / "state")
    ledger.index()
    (home / GLOBAL).unlink()
    ledger.index()
    row = ledger.rows()["ab000001-0000-4000-8000-000000000001"]
    assert (row["status"], row["message_count"], os.path.basename(row["file_path"])) == (
        "completed",
        3,
        f"{row['session_id']}.jsonl",
    )


def test_a_transcript_that_an_update_emptied_leaves_its_row(tmp_path: Path) -> None:
    home = fixture("transcripts", tmp_path / "home")
    ledger = Ledger(home, tmp_path / "state")
    ledger.index()
    before = ledger.rows()["7a000002-0000-4000-8000-000000000002"]
    Path(before["file_path"]).write_bytes(b"")
    ledger.index()
    after = ledger.rows()["7a000002-0000-4000-8000-000000000002"]
    assert (after["status"], after["message_count"], after["title"]) == ("missing", before["message_count"], before["title"])


def test_a_name_of_a_project_is_its_folder_only_if_one_folder_fits(tmp_path: Path) -> None:
    folder = tmp_path / "my.shop" / "web"
    folder.mkdir(parents=True)
    name = projects.OTHERS.sub("-", str(folder)).strip("-")
    assert projects.path_of(f"/x/projects/{name}") == str(folder)
    assert projects.path_of(f"/x/projects/{name}-gone") is None
    (tmp_path / "my shop" / "web").mkdir(parents=True)
    assert projects.path_of(f"/x/projects/{name}") is None


@pytest.mark.parametrize("name", ["empty-window", "1783251917755"])
def test_a_window_without_a_folder_has_no_project(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    (tmp_path / name / projects.TRUSTED).write_text('{"workspacePath": "/home/kim"}')
    assert projects.path_of(str(tmp_path / name)) is None


def test_the_stores_may_lie_elsewhere_and_the_defaults_are_read_too(tmp_path: Path) -> None:
    chats = (
        "data/chats/x/a/store.db",
        "config/acp-sessions/b/store.db",
        ".cursor/chats/c/store.db",
        ".config/cursor/chats/d/store.db",
    )
    editors = ("roaming/Cursor/User/globalStorage/state.vscdb", "xdg/Cursor/User/globalStorage/state.vscdb")
    for path in (*chats, *editors):
        (tmp_path / path).parent.mkdir(parents=True)
        (tmp_path / path).write_bytes(b"")
    named = {"CURSOR_DATA_DIR": "data", "CURSOR_CONFIG_DIR": "config", "APPDATA": "roaming"}
    environ = {name: str(tmp_path / folder) for name, folder in named.items()}
    found = {os.path.relpath(source.path, tmp_path) for source in sources(tmp_path, environ)}
    assert found == {*chats, editors[0]}
    found = {os.path.relpath(source.path, tmp_path) for source in sources(tmp_path, {"XDG_CONFIG_HOME": str(tmp_path / "xdg")})}
    assert found == {chats[2], editors[1]}


def test_files_beside_chats_and_transcripts_are_no_sessions(tmp_path: Path) -> None:
    for path in (
        "projects/p/agent-transcripts/a/b.jsonl",
        "projects/p/agent-transcripts/a/subagents/deeper/c.jsonl",
        "projects/p/agent-transcripts/a/a.txt",
        "projects/p/agent-tools/d.txt",
        "projects/p/e.jsonl",
        "chats/store.db",
        "chats/x/y/z/store.db",
        "chats/x/y/store.db-wal",
        "sessions/other.db",
    ):
        (tmp_path / ".cursor" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / ".cursor" / path).write_bytes(b"")
    assert list(sources(tmp_path)) == []
