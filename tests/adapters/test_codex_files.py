"""Codex: which files are sessions, reading on in files that have grown, and names that lie beside the sessions."""

import json
import os
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest
import zstandard

from coding_agents_sidecar import indexer
from coding_agents_sidecar.adapter import Source
from coding_agents_sidecar.config import Settings
from coding_agents_sidecar.errors import ParseError
from coding_agents_sidecar.fold import Fold
from coding_agents_sidecar.model import Stale
from coding_agents_sidecar.ops import ListQuery, Sidecar
from coding_agents_sidecar.testing import lay, opens_below
from tests.adapters.codex import (
    FIXTURES,
    NAME,
    THREAD,
    Record,
    adapter,
    assistant,
    count,
    event,
    item,
    meta,
    reading,
    said,
    turn,
    typed,
    usage,
    user,
    write,
)
from tests.adapters.growth import around_line_ends, check_cuts, fold_of, resumed
from tests.adapters.home import sources

OTHER = "0a000002-0000-7000-8000-000000000002"


def test_the_default_folder_is_read_beside_those_the_variable_names(tmp_path: Path) -> None:
    assert [root.path for root in adapter.roots({"CODEX_HOME": f"{tmp_path}/one"}, tmp_path)] == [
        f"{tmp_path}/one/sessions",
        f"{tmp_path}/one/archived_sessions",
        f"{tmp_path}/.codex/sessions",
        f"{tmp_path}/.codex/archived_sessions",
    ]


def found(home: Path) -> list[list[str]]:
    """Return the files of each source, by their names."""
    return [[os.path.basename(path) for path in source.files or (source.path,)] for source in sources(adapter, home)]


def test_only_files_named_like_sessions_are_sources(tmp_path: Path) -> None:
    names = [
        NAME,
        "2026/02/03/rollout-2026-02-03T11-00-00-a.jsonl",
        "rollout-2025-05-06-b.json",
        "c.jsonl",
        "rollout-2026-02-03T10-00-00-d.jsonl.zst",
        "notes.json",
        "notes.txt",
        "rollout-2026-02-03T10-00-00-e.jsonl.tmp",
        "rollout-2026-02-03T10-00-00-f.log",
    ]
    for name in names:
        path = tmp_path / ".codex" / "sessions" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    (tmp_path / ".codex" / "history.jsonl").write_text("")
    assert sorted(name for (name,) in found(tmp_path)) == sorted(os.path.basename(name) for name in names[:5])


def test_a_thread_in_both_forms_is_read_from_the_plain_one(tmp_path: Path) -> None:
    write(tmp_path, meta())
    write(tmp_path, name=f"{NAME}.zst")
    assert found(tmp_path) == [[NAME]]


def test_files_of_a_thread_are_one_source_only_after_a_revert(tmp_path: Path) -> None:
    names = [f"rollout-2026-02-03T{hour}-00-00-{thread}.jsonl" for hour, thread in ((10, "a"), (12, "a_r2"), (11, "a_r1"))]
    names += [f"rollout-2026-02-03T{hour}-00-00-b.jsonl" for hour in (10, 11)]
    for name in names:
        write(tmp_path, name=name)
    assert found(tmp_path) == [[names[0], names[2], names[1]], [names[3]], [names[4]]]


def numbered(first: int, *records: Record) -> list[Record]:
    return [{**record, "ordinal": first + index} for index, record in enumerate(records)]


def test_each_revert_takes_back_what_came_after_its_point_in_all_files_before(tmp_path: Path) -> None:
    def base(end: int) -> Record:
        return meta(history_base={"thread_id": THREAD, "end_ordinal_exclusive": end})

    talk = {word: [*typed(f"{word}?"), assistant(f"{word}!")] for word in "abcde"}
    write(tmp_path, *numbered(0, meta(), *talk["a"], *talk["b"]))
    stem = NAME.removesuffix(".jsonl")
    write(tmp_path, *numbered(4, base(4), *talk["c"], *talk["d"]), name=f"{stem}_r1.jsonl")
    write(tmp_path, *numbered(8, base(8), *talk["e"]), name=f"{stem}_r2.jsonl")
    (source,) = sources(adapter, tmp_path)
    assert [content for _, content in said(source)] == ["a?", "a!", "c?", "c!", "e?", "e!"]
    # A later revert to before an earlier one.
    write(tmp_path, *numbered(1, base(1), *talk["e"]), name=f"{stem}_r3.jsonl")
    (source,) = sources(adapter, tmp_path)
    assert [content for _, content in said(source)] == ["e?", "e!"]


def test_a_compressed_file_reads_like_the_plain_one_and_is_read_anew_when_it_changes(tmp_path: Path) -> None:
    source = write(tmp_path, meta(), *typed("Hello"), assistant("Hi"))
    packed = Source(f"{source.path}.zst", source.root)
    Path(packed.path).write_bytes(zstandard.ZstdCompressor(level=3).compress(Path(source.path).read_bytes()))
    assert said(packed) == said(source)
    assert fold_of(adapter, packed).checkpoint is None


@pytest.mark.parametrize("data", [b"", b"\x28\xb5\x2f\xfd", b"no zstd"])
def test_a_compressed_file_of_which_nothing_is_left_is_no_session(tmp_path: Path, data: bytes) -> None:
    source = write(tmp_path, name=f"{NAME}.zst")
    Path(source.path).write_bytes(data)
    with pytest.raises(ParseError, match="no whole compressed file"):
        fold_of(adapter, source)


@pytest.mark.parametrize(
    ("records", "id"),
    [
        pytest.param([meta(OTHER)], OTHER, id="the first entry says it"),
        pytest.param([meta(session_id=OTHER)], THREAD, id="session_id is the main thread's"),
        pytest.param([meta(), meta(OTHER)], THREAD, id="a copied history follows"),
        pytest.param(["{torn", meta(OTHER)], THREAD, id="the first line is torn"),
        pytest.param([turn(None)], THREAD, id="nothing says it"),
        pytest.param([meta(7)], THREAD, id="no id at all"),  # type: ignore[arg-type]
    ],
)
def test_the_id_is_that_of_the_first_entry_else_the_files(tmp_path: Path, records: list[Any], id: str) -> None:
    source = write(tmp_path)
    lines = [one if isinstance(one, str) else json.dumps(one) for one in (*records, *typed("Hello"), assistant("Hi"))]
    Path(source.path).write_text("\n".join(lines) + "\n")
    assert reading(source).start.session_id == id


FILES = [
    pytest.param(source, id=os.path.relpath(source.path, FIXTURES))
    for case in sorted(FIXTURES.iterdir())
    for source in sources(adapter, case / "home")
    # Of a log without times the file's own time is the end, which moves when it is cut.
    if source.path.endswith(".jsonl") and not source.files and case.name != "oldest"
]


def copied(source: Source, folder: Path) -> Source:
    """Return the same file below another folder, where it may be cut."""
    root = folder / os.path.basename(source.root)
    root.mkdir()
    return Source(shutil.copy(source.path, str(root)), str(root))


@pytest.mark.parametrize("source", FILES)
def test_reading_on_from_a_cut_around_any_line_end_equals_reading_the_whole_file(source: Source, tmp_path: Path) -> None:
    part = copied(source, tmp_path)
    check_cuts(adapter, part, around_line_ends(part.path))


@pytest.mark.parametrize("name", ["counters/c0c00003", "forked/f0000003"])
def test_reading_on_from_any_byte_equals_reading_the_whole_file(name: str, tmp_path: Path) -> None:
    case, thread = name.split("/")
    part = copied(next(one for one in sources(adapter, FIXTURES / case / "home") if thread in one.path), tmp_path)
    assert check_cuts(adapter, part, range(os.path.getsize(part.path) + 1)) > os.path.getsize(part.path) // 3


def test_a_grown_file_is_read_only_from_where_reading_stopped(tmp_path: Path) -> None:
    call = item("function_call", name="shell", arguments="{}", call_id="c")
    source = write(tmp_path, meta(), turn(None), *typed("Go"), call)
    before = fold_of(adapter, source)
    assert before.checkpoint is not None
    more = [item("function_call_output", call_id="c", output="ok"), assistant("Done"), count(usage(9, 0, 1), usage(9, 0, 1))]
    # Were any earlier byte read again, it would no longer be JSON.
    Path(source.path).write_bytes(b"#" * before.checkpoint.offset + "".join(json.dumps(one) + "\n" for one in more).encode())
    (after,) = resumed(adapter, before, source).readings()
    assert (after.message_count, after.ending, after.model) == (4, "completed", "gpt-x")


@pytest.mark.parametrize(
    ("before", "appended"),
    [
        pytest.param([user("Looks typed")], [*typed("Hello")], id="prompts turn out to be marked"),
        pytest.param([*typed("Hello"), assistant("Hi"), user("Bye")], [event("user_message", message="Bye")], id="marked prompt"),
        pytest.param([*typed("Hello"), assistant("Hi"), user("Bye")], [assistant("What?")], id="prompt that is none"),
        pytest.param([*typed("Hello"), assistant("Hi")], [event("thread_rolled_back", num_turns=1)], id="rollback"),
    ],
)
def test_what_changes_the_past_asks_for_a_full_read(tmp_path: Path, before: list[Record], appended: list[Record]) -> None:
    fold = fold_of(adapter, write(tmp_path, meta(), *before))
    grown = write(tmp_path, meta(), *before, *appended)
    with pytest.raises(Stale):
        resumed(adapter, fold, grown)


@pytest.fixture
def named(tmp_path: Path) -> Path:
    """Return a home folder in which the names of threads lie beside them."""
    (tmp_path / "home").mkdir()
    lay(FIXTURES / "titles", tmp_path / "home")
    return tmp_path / "home"


def titles(home: Path) -> list[str]:
    sidecar = Sidecar(Settings(home, {}, home.parent / "state", ""))
    sidecar.reindex()
    shown = [str(row["title"]) for row in sorted(sidecar.list(ListQuery(limit=None)), key=lambda row: row["session_id"])]
    sidecar.close()
    return shown


@pytest.fixture(autouse=True)
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no file be looked at again only because it was written a moment ago."""
    monkeypatch.setattr(indexer, "FINE_GRAIN", -1.0)


KNOWN = ["Named in the index", "Only in the database", "A title of its own", "Named in the log", "Prompt 5"]


def test_a_new_name_reaches_the_session_without_reading_it_again(named: Path) -> None:
    assert titles(named) == KNOWN
    with open(named / ".codex" / "session_index.jsonl", "a") as index:
        index.write(json.dumps({"id": "7171e005-0000-7000-8000-000000000005", "thread_name": "Renamed"}) + "\n")
    with opens_below(named / ".codex" / "sessions") as opened:
        # The line that was cut is damaged for good by what was appended to it.
        assert titles(named) == KNOWN
    with open(named / ".codex" / "session_index.jsonl", "a") as index:
        index.write(json.dumps({"id": "7171e005-0000-7000-8000-000000000005", "thread_name": "Renamed"}) + "\n")
    with opens_below(named / ".codex" / "sessions") as more:
        assert titles(named) == [*KNOWN[:4], "Renamed"]
    assert (opened, more) == ([], [])


def test_a_name_that_is_gone_gives_way_to_the_next_best(named: Path) -> None:
    assert titles(named) == KNOWN
    (named / ".codex" / "session_index.jsonl").unlink()
    (named / ".codex" / "state_5.sqlite").unlink()
    assert titles(named) == ["Named in the log", "Prompt 2", "Prompt 3", "Named in the log", "From an older database"]


def test_a_name_is_there_before_its_session(named: Path) -> None:
    path = next((named / ".codex" / "sessions").rglob("*7171e002*"))
    path.rename(named / "away.jsonl")
    assert titles(named) == [KNOWN[0], *KNOWN[2:]]
    (named / "away.jsonl").rename(path)
    assert titles(named) == KNOWN


def test_a_damaged_database_says_nothing_and_the_index_still_counts(named: Path) -> None:
    for suffix in ("", "-wal"):
        (named / ".codex" / f"state_5.sqlite{suffix}").write_bytes(b"no database at all, and long enough to look like one")
    assert titles(named) == [KNOWN[0], "Prompt 2", "Prompt 3", KNOWN[3], KNOWN[4]]


@pytest.mark.parametrize("columns", ["other TEXT", "id TEXT", "id TEXT, title TEXT", "id BLOB, name BLOB"])
def test_a_database_of_another_form_does_no_harm(named: Path, columns: str) -> None:
    db = sqlite3.connect(named / ".codex" / "state_6.sqlite")
    db.execute(f"CREATE TABLE threads ({columns})")
    holes = ", ".join("?" for _ in columns.split(","))
    db.execute(f"INSERT INTO threads VALUES ({holes})", [b"\xff" for _ in columns.split(",")])
    db.commit()
    db.close()
    assert titles(named) == [KNOWN[0], "Prompt 2", "Prompt 3", KNOWN[3], KNOWN[4]]


def test_names_are_not_read_through_links(named: Path) -> None:
    for name in ("session_index.jsonl", "state_5.sqlite"):
        path = named / ".codex" / name
        path.rename(named / name)
        path.symlink_to(named / name)
    assert titles(named) == ["Named in the log", "Prompt 2", "Prompt 3", "Named in the log", "Prompt 5"]


def test_one_fold_holds_one_thread(tmp_path: Path) -> None:
    fold = Fold(adapter.name).run(adapter.events(write(tmp_path, meta(), meta(OTHER), *typed("Hello"))))
    assert list(fold.sessions) == [THREAD]
