"""OpenCode: what its records mean, and how little is read of them, beyond what the contract of all adapters asks for."""

import json
import os
import sqlite3
import tracemalloc
from pathlib import Path

import pytest

from coding_agents_sidecar.adapter import Root, Source
from coding_agents_sidecar.adapters.opencode import OpenCode
from coding_agents_sidecar.errors import ParseError
from coding_agents_sidecar.fold import Fold
from coding_agents_sidecar.model import Skipped, Start
from coding_agents_sidecar.testing import build, lay
from tests.adapters.growth import unknown
from tests.adapters.home import shown, sources

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures" / "opencode"
DATA = ".local/share/opencode"
adapter = OpenCode()


def laid(case: str, tmp_path: Path) -> list[Source]:
    """Lay a fixture out and return its sources."""
    lay(FIXTURES / case, tmp_path / "home")
    return list(sources(adapter, tmp_path / "home"))


def started(source: Source, session_id: str | None = None) -> list[str]:
    """Return the ids of the sessions that reading a source begins."""
    return [event.session_id for event in adapter.events(source, session_id) if isinstance(event, Start)]


@pytest.fixture
def fork(tmp_path: Path) -> Source:
    """A database of four sessions."""
    return laid("fork", tmp_path)[0]


def change(source: Source, *statements: str) -> None:
    """Change a database as its program would."""
    db = sqlite3.connect(source.path)
    for statement in statements:
        db.execute(statement)
    db.commit()
    db.close()


def test_a_prompt_holds_what_was_typed_and_media_without_their_data(tmp_path: Path) -> None:
    messages, _ = shown(adapter, laid("storage", tmp_path)[0], "ses_storage1")
    prompt, injected = messages[:2]
    assert prompt["content"] == [
        {"type": "text", "text": "Rename the button, see @label.txt"},
        {"type": "file", "media_type": "text/plain", "name": "label.txt", "url": "file:///home/kim/shop/web/label.txt"},
        {"type": "image", "media_type": "image/png", "name": "shot.png", "bytes": 6},
    ]
    assert (injected["role"], injected["id"]) == ("system", "prt_011")
    assert injected["content"].startswith("Called the Read tool")


def test_an_answer_holds_its_thinking_its_tokens_and_its_calls_answered(tmp_path: Path) -> None:
    messages, _ = shown(adapter, laid("storage", tmp_path)[0], "ses_storage1")
    answer, result = messages[2:4]
    assert (answer["content"], answer["thinking"], answer["model"]) == (
        "I will look.",
        "The label lives in one file.",
        "acme-large",
    )
    assert answer["tokens"] == {
        "input": 400,
        "output": 150,
        "cache_read": 600,
        "cache_write": 0,
        "reasoning": 50,
        "total": 1150,
    }
    assert answer["cost"] == 0.004
    assert answer["tool_calls"] == [
        {
            "id": "call_1",
            "name": "bash",
            "input": {"command": "grep -rn label"},
            "output": "web/label.txt:1:Go\n",
            "is_error": False,
            "duration_ms": 400,
        }
    ]
    assert (result["role"], result["tool_result"]["tool_call_id"], result["timestamp"]) == ("tool", "call_1", 1770000003)


def test_a_command_of_the_person_is_no_answer(tmp_path: Path) -> None:
    messages, _ = shown(adapter, laid("storage", tmp_path)[0], "ses_storage1")
    assert [(one["role"], one["content"], one["tool_calls"]) for one in messages[-2:]] == [
        ("system", "The following tool was executed by the user", None),
        ("system", [{"type": "text", "text": "ls"}, {"type": "text", "text": "label.txt\n"}], None),
    ]


def test_a_failed_tool_and_an_attached_result_are_shown_as_such(tmp_path: Path) -> None:
    messages, _ = shown(adapter, laid("database-newest", tmp_path)[0], "ses_newest1")
    image, failure = (one["tool_result"] for one in messages if one["role"] == "tool")
    assert image["output"] == [{"type": "text", "text": "Image read"}, {"type": "image", "media_type": "image/png", "bytes": 7}]
    assert (failure["output"], failure["is_error"]) == ("not found", True)


def test_a_compaction_is_the_runtimes_request_and_the_models_answer(tmp_path: Path) -> None:
    messages, _ = shown(adapter, laid("database-newest", tmp_path)[0], "ses_newest1")
    assert [(one["role"], one["content"]) for one in messages[2:4]] == [
        ("system", [{"type": "compaction", "auto": False, "id": "prt_030"}]),
        ("assistant", "Summary: shelves sorted."),
    ]


def test_an_error_without_content_is_told_by_the_runtime(tmp_path: Path) -> None:
    messages, _ = shown(adapter, laid("endings", tmp_path)[0], "ses_e2error")
    assert [(one["role"], one["content"]) for one in messages] == [("user", "Fail"), ("system", "APIError: overloaded")]


def test_the_oldest_messages_have_their_calls_answered_too(tmp_path: Path) -> None:
    _, answer, result = shown(adapter, laid("project-inline", tmp_path)[0], "ses_inline")[0]
    assert answer["content"] == [{"type": "text", "text": "I look."}, {"type": "text", "text": "Two files."}]
    assert [(call["name"], call["output"], call["duration_ms"]) for call in answer["tool_calls"]] == [
        ("bash", "a.md\nb.md\n", 100)
    ]
    assert result["tool_result"]["output"] == "a.md\nb.md\n"


def test_the_newest_messages_have_their_calls_answered_too(tmp_path: Path) -> None:
    prompt, answer, result, shell, summary = shown(adapter, laid("session-message", tmp_path)[0], "ses_event1")[0]
    assert prompt["content"][1] == {"type": "image", "media_type": "image/png", "bytes": 6}
    assert (answer["content"], answer["thinking"]) == ("One note.", "List.")
    assert result["tool_result"]["output"] == [{"type": "text", "text": "a.md\n"}]
    assert [one["text"] for one in shell["content"]] == ["pwd", "/home/kim\n"]
    assert summary["content"] == "Notes listed."


def test_what_was_reverted_is_kept_apart(tmp_path: Path) -> None:
    source = laid("revert", tmp_path)[0]
    kept, left = shown(adapter, source, "ses_revert1")
    assert [one["content"] for one in kept] == ["Keep this", "Kept."]
    assert [one["id"] for one in left] == ["msg_03", "msg_04", "msg_05"]
    kept, left = shown(adapter, source, "ses_revert2")
    assert [(one["content"], one["tool_calls"]) for one in kept] == [("Do two things", None), ("First this.", None)]
    assert [one["role"] for one in left] == ["assistant", "tool"]
    assert left[0]["tool_calls"][0]["name"] == "bash"


def test_raw_messages_carry_the_native_records(tmp_path: Path) -> None:
    messages, _ = shown(adapter, laid("database-newest", tmp_path)[0], "ses_newest1", raw=True)
    record = messages[1]["raw"][0]
    assert record["message"]["session_id"] == "ses_newest1"
    assert record["message"]["data"]["finish"] == "stop"
    assert [part["data"]["type"] for part in record["parts"]] == ["step-start", "reasoning", "text", "step-finish"]


def test_parts_and_messages_of_unknown_types_are_counted_and_snapshots_are_not(tmp_path: Path) -> None:
    source = laid("database-newest", tmp_path)[0]
    before = unknown(adapter, source)
    change(
        source,
        """UPDATE part SET data = '{"type":"patch"}' WHERE id = 'prt_070'""",
        """UPDATE part SET data = '{"type":"hologram"}' WHERE id IN ('prt_020', 'prt_040')""",
        """UPDATE message SET data = '{"role":"oracle"}' WHERE id = 'msg_05'""",
    )
    assert (before, unknown(adapter, source)) == ([0], [3])


def test_rows_of_the_newest_form_of_unknown_types_are_counted_and_switches_are_not(tmp_path: Path) -> None:
    source = laid("session-message", tmp_path)[0]
    before = unknown(adapter, source)
    change(source, "UPDATE session_message SET type = 'hologram' WHERE id = 'msg_05'")
    assert (before, unknown(adapter, source)) == ([0, 0], [1, 0])


def test_reading_one_session_reads_no_other(fork: Source) -> None:
    change(
        fork,
        "UPDATE message SET data = '{' WHERE session_id <> 'ses_f2fork'",
        "UPDATE part SET data = '{' WHERE session_id <> 'ses_f2fork'",
    )
    events = list(adapter.events(fork, "ses_f2fork"))
    assert [event.session_id for event in events if isinstance(event, Start)] == ["ses_f2fork"]
    assert not [event for event in events if isinstance(event, Skipped)]
    assert [reading.message_count for reading in Fold("opencode").run(events).readings()] == [4]
    assert started(fork, "ses_nothing") == []


EVERY = {"ses_f0other", "ses_f1copy", "ses_f2fork", "ses_f3origin"}


@pytest.mark.parametrize(
    ("statement", "changed"),
    [
        ("UPDATE session SET title = 'Other' WHERE id = 'ses_f2fork'", {"ses_f2fork"}),
        ("UPDATE session SET time_archived = 1770000000000 WHERE id = 'ses_f2fork'", {"ses_f2fork"}),
        ("UPDATE session SET revert = '{}' WHERE id = 'ses_f2fork'", {"ses_f2fork"}),
        ("UPDATE message SET time_updated = time_updated + 1 WHERE id = 'msg_11'", {"ses_f2fork"}),
        ("UPDATE part SET time_updated = time_updated + 1 WHERE id = 'prt_110'", {"ses_f2fork"}),
        ("DELETE FROM part WHERE id = 'prt_110'", {"ses_f2fork"}),
        ("INSERT INTO message VALUES ('msg_new', 'ses_f2fork', 1, 1, '{}')", {"ses_f2fork"}),
        ("DELETE FROM session WHERE id = 'ses_f2fork'", {"ses_f2fork"}),
        ("UPDATE session SET directory = ''", EVERY),
        ("UPDATE project SET time_updated = 1, vcs = 'other'", set()),
        ("UPDATE session SET slug = 'other'", set()),
        ("CREATE TABLE todo (session_id text)", set()),
        ("SELECT 1", set()),
    ],
)
def test_a_stamp_changes_when_and_only_when_its_session_does(fork: Source, statement: str, changed: set[str]) -> None:
    before = adapter.stamps(fork)
    change(fork, statement)
    after = adapter.stamps(fork)
    assert before is not None
    assert after is not None
    assert {name for name in before if before[name] != after.get(name)} == changed


def test_a_stamp_changes_with_the_newer_table_and_with_the_projects_folder(tmp_path: Path) -> None:
    source = laid("session-message", tmp_path)[0]
    change(source, "UPDATE session SET directory = '' WHERE id = 'ses_event1'")
    stamps = [adapter.stamps(source)]
    for statement in ("UPDATE session_message SET time_updated = 1 WHERE id = 'msg_02'", "UPDATE project SET worktree = '/x'"):
        change(source, statement)
        stamps.append(adapter.stamps(source))
    assert len({stamp["ses_event1"] for stamp in stamps if stamp}) == 3


def test_a_database_changes_with_its_wal_and_a_tree_with_any_file_of_the_session(tmp_path: Path) -> None:
    database = laid("fork", tmp_path / "a")[0]
    tree = laid("storage", tmp_path / "b")[0]
    storage = tmp_path / "b" / "home" / DATA / "storage"
    for source, changes in (
        (database, [Path(database.path + "-wal")]),
        (tree, [storage / "message/ses_storage1/msg_06.json", storage / "part/msg_03/prt_039.json"]),
    ):
        for path in changes:
            before = source.stamp()
            path.write_text("{}")
            assert source.stamp() != before
    before = tree.stamp()
    (storage / "part/msg_03/prt_031.json").write_text('{"type": "text", "text": "Changed."}')
    assert tree.stamp() != before


def test_tables_that_hold_credentials_are_not_read(tmp_path: Path) -> None:
    source = laid("database-newest", tmp_path)[0]
    # A view in their place fails as soon as anything looks into it.
    broken = "AS SELECT abs(-9223372036854775808) AS id, 'x' AS session_id"
    change(
        source,
        "DROP TABLE credential",
        *(f"CREATE VIEW {name} {broken}" for name in ("credential", "account", "control_account")),
    )
    with pytest.raises(sqlite3.OperationalError):
        change(source, "SELECT count(id) FROM credential WHERE id > 0")
    assert adapter.stamps(source)
    assert started(source) == ["ses_newest1"]


def test_memory_is_bounded_by_one_message(tmp_path: Path) -> None:
    script = "".join(
        f"CREATE TABLE {name};"
        for name in (
            "session (id text PRIMARY KEY)",
            "message (id text, session_id text, data text)",
            "part (id text, message_id text, data text)",
        )
    )
    target = tmp_path / "opencode.db"
    build(script, target)
    db = sqlite3.connect(target)
    db.execute("INSERT INTO session VALUES ('ses_big')")
    part = json.dumps({"type": "text", "text": "x" * 500_000})
    for number in range(60):
        db.execute("INSERT INTO message VALUES (?, 'ses_big', ?)", (f"msg_{number}", '{"role": "user"}'))
        db.execute("INSERT INTO part VALUES (?, ?, ?)", (f"prt_{number}", f"msg_{number}", part))
    db.commit()
    db.close()
    tracemalloc.start()
    try:
        readings = Fold("opencode").run(adapter.events(Source(str(target), str(tmp_path)))).readings()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert readings[0].message_count == 60
    assert peak < 15_000_000 < 60 * 500_000


def table(name: str, path: Path) -> None:
    """Make a database with one session."""
    path.parent.mkdir(parents=True, exist_ok=True)
    build(f"CREATE TABLE session (id text PRIMARY KEY); INSERT INTO session VALUES ('{name}');", path)


@pytest.mark.parametrize(
    ("named", "expected"),
    [
        ("", ["default"]),
        (":memory:", ["default"]),
        ("opencode.db", ["default"]),
        ("work.sqlite", ["default", "relative"]),
        ("{home}/elsewhere/opencode.db", ["default", "absolute"]),
        ("{home}/nowhere/opencode.db", ["default"]),
    ],
)
def test_a_variable_may_name_another_database(tmp_path: Path, named: str, expected: list[str]) -> None:
    table("default", tmp_path / DATA / "opencode.db")
    table("relative", tmp_path / DATA / "work.sqlite")
    table("absolute", tmp_path / "elsewhere" / "opencode.db")
    table("neighbour", tmp_path / "elsewhere" / "opencode-dev.db")
    found = sources(adapter, tmp_path, {"OPENCODE_DB": named.format(home=tmp_path)})
    assert [name for source in found for name in started(source)] == expected


def test_the_data_folder_may_lie_elsewhere(tmp_path: Path) -> None:
    table("moved", tmp_path / "data" / "opencode" / "opencode-next.db")
    (found,) = sources(adapter, tmp_path, {"XDG_DATA_HOME": str(tmp_path / "data")})
    assert started(found) == ["moved"]


class Branch(OpenCode):
    """A runtime built on OpenCode, as far as it needs to be told."""

    name = "branch"
    stores = (Root("$XDG_DATA_HOME/branch", env="BRANCH_DATA_DIR"),)
    databases = "branch*.db"
    database_variable = "BRANCH_DB"


def test_a_runtime_built_on_it_only_names_its_places(tmp_path: Path) -> None:
    table("mine", tmp_path / ".local/share/branch/branch-beta.db")
    table("other", tmp_path / ".local/share/branch/opencode.db")
    table("opencode", tmp_path / DATA / "opencode.db")
    assert [name for source in sources(Branch(), tmp_path) for name in started(source)] == ["mine"]


def test_links_and_hidden_files_of_a_tree_are_no_records(tmp_path: Path) -> None:
    laid("storage", tmp_path)
    storage = tmp_path / "home" / DATA / "storage"
    outside = tmp_path / "outside"
    storage.rename(outside)
    storage.symlink_to(outside)
    (outside / "session/linked").symlink_to(outside / "session/9f1c")
    (outside / "message/ses_linked").symlink_to(outside / "message/ses_storage1")
    (outside / "session/9f1c/ses_linked.json").write_text("{}")
    (outside / "session/9f1c/ses_file.json").symlink_to(outside / "session/9f1c/ses_storage1.json")
    (outside / "session/9f1c/._ses_storage1.json").write_text("{}")
    found = list(sources(adapter, tmp_path / "home"))
    assert [os.path.relpath(source.path, storage) for source in found] == [
        "session/9f1c/ses_linked.json",
        "session/9f1c/ses_storage1.json",
    ]
    assert shown(adapter, found[0], "ses_linked") == ([], [])
    assert len(shown(adapter, found[1], "ses_storage1")[0]) == 7


def test_a_session_whose_own_file_cannot_be_read_is_a_parse_error(tmp_path: Path) -> None:
    source = laid("storage", tmp_path)[0]
    os.unlink(source.path)
    with pytest.raises(ParseError):
        started(source)
