"""Cline's sessions since 4.0: what their messages hold, which files belong to them, and files that are being written."""

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from coding_agents_sidecar.adapters.cline import Cline
from coding_agents_sidecar.testing import LAID_AT
from tests.adapters.cline import Index, assistant, found, read, result, said, sources, text, use, user, write

ID = "1782800000000_ab1cd"
adapter = Cline()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def folder(home: Path) -> Path:
    return home / ".cline/data/sessions" / ID


def messages(*records: Any, **head: Any) -> dict[str, Any]:
    return {"version": 1, "sessionId": ID, **head, "messages": list(records)}


def lay(folder: Path, *records: Any) -> Path:
    """Write a session and return its file of messages."""
    write(
        folder / f"{ID}.json",
        {"session_id": ID, "started_at": "2026-06-30T06:13:20Z", "status": "idle", "workspace_root": "/srv"},
    )
    return write(folder / f"{ID}.messages.json", messages(*records))


def test_a_prompt_holds_files_and_media_without_their_content(home: Path, folder: Path) -> None:
    media = {"type": "image", "data": "aGVsbG8=", "mediaType": "image/png"}
    lay(folder, user(text("See @a.py"), {"type": "file", "path": "/srv/a.py", "content": "é"}, media), assistant(text("Seen.")))
    assert said(adapter, home)[0] == (
        "user",
        [
            text("See @a.py"),
            {"type": "file", "name": "/srv/a.py", "bytes": 2},
            {"type": "image", "media_type": "image/png", "bytes": 5},
        ],
    )


def test_a_notice_before_a_prompt_is_the_programs(home: Path, folder: Path) -> None:
    notice = "<mode_notice>now in act mode</mode_notice>"
    lay(
        folder,
        user(text(f'{notice}\n<user_input mode="act">Go</user_input>')),
        user(text(f"{notice}\nOn")),
        assistant(text("Gone.")),
    )
    assert said(adapter, home)[:-1] == [("system", notice), ("user", "Go"), ("system", notice), ("user", "On")]


def test_a_tool_none_of_whose_queries_succeeded_has_failed(home: Path, folder: Path) -> None:
    outputs: dict[str, Any] = {
        "c1": [{"query": "a", "result": "", "success": False}],
        "c2": [{"query": "a", "result": "", "success": False}, {"query": "b", "result": "x", "success": True}],
        "c3": json.dumps({"query": "edit:a", "result": "", "success": False}),
        "c4": json.dumps({"success": False}),
    }
    calls = [use(id, "run_commands") for id in outputs]
    lay(folder, user(text("Go")), assistant(*calls), user(*(result(id, output) for id, output in outputs.items())))
    results = [one["tool_result"] for one in read(adapter, home) if one["role"] == "tool"]
    assert [(one["tool_call_id"], one["tool_name"], one["is_error"]) for one in results] == [
        ("c1", "run_commands", True),
        ("c2", "run_commands", False),
        ("c3", "run_commands", True),
        ("c4", "run_commands", False),
    ]


def test_a_sub_agent_has_the_id_and_the_parent_that_its_file_names(home: Path, folder: Path) -> None:
    child = f"{ID}__teamtask__lead__Aa1_-b__teamtask__deep__Zz9_-y"
    lay(folder, user(text("Go")), assistant(text("Gone.")))
    told = messages(user(text("Deep")), assistant(text("Done.")), origin={"parentThreadId": f"{ID}__teamtask__lead__Aa1_-b"})
    write(folder / "deep__Zz9_-y.messages.json", {**told, "sessionId": child})
    write(folder / "other.messages.json", {**told, "sessionId": "somewhere-else", "origin": {}})
    index = Index("cline", home)
    index.run()
    assert {name: row["parent_id"] for (_, name), row in index.rows().items() if row["kind"] == "subagent"} == {
        child: f"{ID}__teamtask__lead__Aa1_-b",
        f"{ID}__other": ID,
    }


def test_the_manifest_tells_a_sub_agent_its_project_and_not_its_time(home: Path, folder: Path) -> None:
    lay(folder, user(text("Go")), assistant(text("Gone.")))
    write(folder / "agent_1.messages.json", messages(user(text("Sub")), assistant(text("Done."))))
    os.utime(folder / f"{ID}.json", (LAID_AT + 5000, LAID_AT + 5000))
    index = Index("cline", home)
    index.run()
    rows = {name: (row["project_path"], row["file_mtime"]) for (_, name), row in index.rows().items()}
    assert rows == {ID: ("/srv", LAID_AT + 5000), f"{ID}__agent_1": ("/srv", LAID_AT)}


@pytest.mark.parametrize("name", [f"{ID}.messages.json", f"{ID}.json"])
@pytest.mark.parametrize("kept", [0, 25])
def test_a_file_that_is_being_written_in_place_keeps_its_row_and_is_looked_at_again(
    home: Path, folder: Path, name: str, kept: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    lay(folder, user(text("Go")), assistant(text("Gone.")))
    index = Index("cline", home)
    index.run()
    before = index.rows()
    path = folder / name
    whole = path.read_text(encoding="utf-8")
    path.write_text(whole[:kept], encoding="utf-8")
    report = index.run()
    assert ([one["code"] for one in report["failed"]], report["missing"], index.rows()) == (["PARSE_ERROR"], 0, before)
    written = path.stat().st_mtime
    monkeypatch.setattr(time, "time", lambda: written + 10**6)
    # Nothing has changed but the clock: what is still so is so for good.
    assert index.run()["failed"] == []
    path.write_text(whole, encoding="utf-8")
    os.utime(path, (LAID_AT, LAID_AT))
    index.run()
    assert index.rows() == before


def test_a_session_that_was_cut_off_for_good_is_read_up_to_there(home: Path, folder: Path) -> None:
    path = lay(folder, user(text("Go"), id="m1"), assistant(text("Gone."), id="m2"), user(text("On"), id="m3"))
    write(path, path.read_text(encoding="utf-8")[:-8])
    index = Index("cline", home)
    assert index.run()["skipped_records"] == 1
    row = index.rows()["", ID]
    assert (row["message_count"], row["status"], row["project_path"]) == (2, "truncated", "/srv")


def test_what_stands_before_the_cut_is_kept_with_the_object_around_it(home: Path, folder: Path) -> None:
    child = f"{ID}__agent_1"
    lay(folder, user(text("Go")), assistant(text("Gone.")))
    path = write(folder / "odd name.messages.json", {**messages(user(text("Sub")), assistant(text("x"))), "sessionId": child})
    write(path, path.read_text(encoding="utf-8")[:-8])
    index = Index("cline", home)
    index.run()
    assert index.rows()["", child]["message_count"] == 1


def test_other_files_beside_sessions_are_none(home: Path, folder: Path) -> None:
    lay(folder, user(text("Go")), assistant(text("Gone.")))
    whole = messages(user(text("No")), assistant(text("No.")))
    for name in (
        f"{ID}.compaction.json",
        f"{ID}.messages.json.tmp",
        ".x.messages.json",
        "deep/x.messages.json",
        "../x.messages.json",
    ):
        write(folder / name, whole)
    assert [source.path for source in sources(adapter, home)] == [str(folder / f"{ID}.messages.json")]
    assert len(list(found(adapter, home))) == 1
