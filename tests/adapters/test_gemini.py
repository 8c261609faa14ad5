"""Gemini CLI: the replay of its logs, what its messages hold, and where its projects stand."""

import hashlib
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from coding_agents_sidecar.adapter import Source
from coding_agents_sidecar.adapters.gemini import Gemini
from coding_agents_sidecar.config import Settings
from coding_agents_sidecar.fold import Fold
from coding_agents_sidecar.model import Stale
from coding_agents_sidecar.ops import ListQuery, Sidecar
from tests.adapters.growth import around_line_ends, check_cuts, fold_of, resumed, unknown
from tests.adapters.home import laid, logs, shown, sources

FIXTURES = Path(__file__).parent.parent / "fixtures" / "gemini"
SESSION = "0e000001-0000-4000-8000-000000000001"

adapter = Gemini()


def start(**more: Any) -> dict[str, Any]:
    return {"sessionId": SESSION, "projectHash": "0" * 64, "startTime": "2026-05-01T10:00:00Z", "kind": "main", **more}


def message(type: str, id: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"id": id, "timestamp": "2026-05-01T10:00:00Z", "type": type, "content": content, **more}


def user(id: str, content: Any, **more: Any) -> dict[str, Any]:
    return message("user", id, content, **more)


def gemini(id: str, content: Any, **more: Any) -> dict[str, Any]:
    return message("gemini", id, content, model="gemini-3-pro", **more)


def response(id: str, output: str, name: str = "ls") -> dict[str, Any]:
    return {"functionResponse": {"id": id, "name": name, "response": {"output": output}}}


def write(home: Path, *lines: dict[str, Any], folder: str = "shop") -> Source:
    path = home / ".gemini" / "tmp" / folder / "chats" / "session-2026-05-01T10-00-0e000001.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return next(sources(adapter, home))


def transcript(source: Source) -> tuple[list[Any], list[Any]]:
    """Return the messages of the conversation, and those taken out of it."""
    return shown(adapter, source, SESSION)


def said(messages: list[dict[str, Any]]) -> list[tuple[str, Any]]:
    return [(one["role"], one["content"]) for one in messages]


def test_a_message_written_again_keeps_its_place(tmp_path: Path) -> None:
    lines = [user("u1", "One"), gemini("a1", "Wait"), user("u2", "Two"), gemini("a1", "Done")]
    kept, left = transcript(write(tmp_path, start(), *lines))
    assert said(kept) == [("user", "One"), ("assistant", "Done"), ("user", "Two")]
    assert left == []


def test_a_rewind_takes_out_a_message_and_all_behind_it(tmp_path: Path) -> None:
    lines = [user("u1", "One"), gemini("a1", "1"), user("u2", "Two"), gemini("a2", "2"), {"$rewindTo": "u2"}]
    kept, left = transcript(write(tmp_path, start(), *lines))
    assert said(kept) == [("user", "One"), ("assistant", "1")]
    assert said(left) == [("user", "Two"), ("assistant", "2")]


def test_a_rewind_to_an_unknown_message_takes_out_everything(tmp_path: Path) -> None:
    lines = [user("u1", "One"), gemini("a1", "1"), {"$rewindTo": "u0"}, user("u2", "Two")]
    kept, left = transcript(write(tmp_path, start(), *lines))
    assert said(kept) == [("user", "Two")]
    assert said(left) == [("user", "One"), ("assistant", "1")]


def test_a_snapshot_replaces_the_conversation_and_later_lines_go_on_from_it(tmp_path: Path) -> None:
    summary = user("s1", [{"text": "<state_snapshot>it was about one</state_snapshot>"}])
    thanks = message("gemini", "s2", [{"text": "Got it. Thanks for the additional context!"}])
    lines = [user("u1", "One"), gemini("a1", "1"), {"$set": {"messages": [summary, thanks]}}, user("u2", "Two")]
    kept, left = transcript(write(tmp_path, start(), *lines))
    assert [one["role"] for one in kept] == ["system", "system", "user"]
    assert said(left) == [("user", "One"), ("assistant", "1")]


def test_a_first_turn_that_was_rolled_back_leaves_no_session(tmp_path: Path) -> None:
    context = user("c1", [{"text": "<session_context>\nToday\n</session_context>"}])
    lines = [{"$set": {"messages": [context]}}, user("u1", "Fail"), {"$set": {"messages": [context]}}]
    assert fold_of(adapter, write(tmp_path, start(), *lines)).readings() == []


def test_the_largest_count_of_every_kind_is_what_a_response_used(tmp_path: Path) -> None:
    early = {"input": 900, "output": 10, "cached": 0, "thoughts": 20}
    late = {"input": 900, "output": 50, "cached": 400, "thoughts": 5}
    lines = [user("u1", "One"), gemini("a1", "1", tokens=early), gemini("a1", "1", tokens=late), {"$rewindTo": "u1"}]
    kept, _ = transcript(write(tmp_path, start(), *lines, user("u2", "Two"), gemini("a2", "2")))
    assert "tokens" not in kept[1]
    (reading,) = fold_of(adapter, next(sources(adapter, tmp_path))).readings()
    assert list(reading.usage.values()) == [[500, 70, 400, None, 20, None]]


def test_the_last_word_on_a_fact_counts(tmp_path: Path) -> None:
    throw_away = {**start(), "sessionId": "another", "startTime": "2026-05-02T10:00:00Z"}
    source = write(
        tmp_path, throw_away, start(), {"$set": {"summary": "Early"}}, {"$set": {"summary": "Late"}}, user("u1", "One")
    )
    (reading,) = fold_of(adapter, source).readings()
    assert (reading.start.session_id, reading.info.started_at, reading.title) == (SESSION, 1777629600, "Late")


def test_a_document_over_many_lines_in_a_log_is_read_as_one(tmp_path: Path) -> None:
    source = write(tmp_path)
    Path(source.path).write_text(json.dumps({**start(), "messages": [user("u1", "One"), gemini("a1", "1")]}, indent=2))
    fold = fold_of(adapter, source)
    assert [(reading.start.session_id, reading.message_count) for reading in fold.readings()] == [(SESSION, 2)]
    assert (fold.skipped, fold.checkpoint) == (0, None)


def test_an_answer_has_its_thoughts_calls_and_results_once(tmp_path: Path) -> None:
    # The runtime may store a whole record of responses as the result of each call.
    result = [response("t0", "other"), response("t1", "a.csv")]
    ended = "2026-05-01T10:00:02.500Z"
    call = {"id": "t1", "name": "ls", "args": {"path": "."}, "status": "success", "timestamp": ended, "result": result}
    content = [
        {"text": "**Plan** Look first.", "thought": True},
        {"text": "Looking."},
        {"functionCall": {"id": "t1", "name": "ls", "args": {"path": "."}}},
    ]
    answer = gemini("a1", content, thoughts=[{"subject": "Plan", "description": "Look first."}])
    kept, _ = transcript(write(tmp_path, start(), user("u1", "One"), {**answer, "toolCalls": [call]}))
    assert [one["role"] for one in kept] == ["user", "assistant", "tool"]
    assert kept[1]["thinking"] == "**Plan**\nLook first."
    assert kept[1]["tool_calls"] == [
        {"id": "t1", "name": "ls", "input": {"path": "."}, "output": "a.csv", "is_error": False, "duration_ms": 2500}
    ]
    assert kept[2]["tool_result"] == {"tool_call_id": "t1", "tool_name": "ls", "output": "a.csv", "is_error": False}


def test_a_response_in_a_user_record_is_a_result_only_where_its_call_holds_none(tmp_path: Path) -> None:
    call = {"name": "ls", "args": {}, "status": "success"}
    calls = [{**call, "id": "t1", "result": [response("t1", "a")]}, {**call, "id": "t2", "result": None}]
    again = user("r1", [response("t1", "a"), response("t2", "b")])
    kept, _ = transcript(write(tmp_path, start(), user("u1", "One"), gemini("a1", "", toolCalls=calls), again))
    assert [(one["role"], one["tool_result"] and one["tool_result"]["output"]) for one in kept[2:]] == [
        ("tool", "a"),
        ("tool", "b"),
    ]


@pytest.mark.parametrize(
    ("status", "output"),
    [("error", {"error": "no"}), ("cancelled", {"error": "no"}), ("validating", {"error": "no"})],
)
def test_a_failed_call_is_an_error(tmp_path: Path, status: str, output: dict[str, Any]) -> None:
    result = [{"functionResponse": {"id": "t1", "name": "ls", "response": output}}]
    call = {"id": "t1", "name": "ls", "args": {}, "status": status, "result": result}
    kept, _ = transcript(write(tmp_path, start(), user("u1", "One"), gemini("a1", "", toolCalls=[call])))
    assert kept[2]["tool_result"] == {"tool_call_id": "t1", "tool_name": "ls", "output": "no", "is_error": True}


def test_media_are_shown_by_kind_and_size(tmp_path: Path) -> None:
    parts = [
        {"text": "Look"},
        {"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}},
        {"inlineData": {"mimeType": "application/pdf", "data": "JVBERi0x"}},
        {"fileData": {"mimeType": "video/mp4", "fileUri": "https://files.example/1"}},
    ]
    kept, _ = transcript(write(tmp_path, start(), user("u1", parts)))
    assert kept[0]["content"] == [
        {"type": "text", "text": "Look"},
        {"type": "image", "media_type": "image/png", "bytes": 8},
        {"type": "document", "media_type": "application/pdf", "bytes": 6},
        {"type": "video", "media_type": "video/mp4", "bytes": None, "uri": "https://files.example/1"},
    ]


def test_what_was_typed_stands_apart_from_what_it_became(tmp_path: Path) -> None:
    files = "\n--- Content from referenced files ---\nContent from @a:\nx\n--- End of content ---"
    command = user("u2", [{"text": "Review this carefully"}], displayContent=[{"text": "/review"}])
    hooked = user("u3", [{"text": "Go"}, {"text": "<hook_context>rules</hook_context>"}])
    kept, _ = transcript(write(tmp_path, start(), user("u1", "Read @a" + files), command, hooked))
    assert said(kept) == [
        ("system", files.strip("\n")),
        ("user", "Read @a"),
        ("system", "Review this carefully"),
        ("user", "/review"),
        ("system", "<hook_context>rules</hook_context>"),
        ("user", "Go"),
    ]


def test_ratings_of_a_blocked_answer_stay_in_its_raw_record(tmp_path: Path) -> None:
    shutil.copytree(FIXTURES / "documented" / "home", tmp_path, dirs_exist_ok=True)
    kept, _ = shown(adapter, next(sources(adapter, tmp_path)), "5e000001", raw=True)
    assert kept[-1]["role"] == "system"
    assert kept[-1]["raw"][0]["safetyRatings"] == [
        {"category": "HARM_CATEGORY_HARASSMENT", "probability": "HIGH", "blocked": True}
    ]


def test_the_variable_names_another_home_and_the_default_is_read_too(tmp_path: Path) -> None:
    write(tmp_path / "other", start(), user("u1", "One"))
    write(tmp_path, start(), user("u1", "One"))
    found = [source.path for source in sources(adapter, tmp_path, {"GEMINI_CLI_HOME": str(tmp_path / "other")})]
    assert [os.path.relpath(path, tmp_path).split(os.sep)[0] for path in found] == ["other", ".gemini"]


def test_a_project_that_becomes_known_later_reaches_the_row_without_making_the_session_young(tmp_path: Path) -> None:
    digest = hashlib.sha256(b"/srv/shop").hexdigest()
    source = write(tmp_path, start(projectHash=digest), user("u1", "One"), folder=digest)
    os.utime(source.path, (1777629600, 1777629600))
    sidecar = Sidecar(Settings(tmp_path, {}, tmp_path / "state", ""))
    sidecar.reindex(runtimes=["gemini"])
    (before,) = sidecar.list(ListQuery(runtimes=("gemini",)))
    (tmp_path / ".gemini" / "projects.json").write_text(json.dumps({"projects": {"/srv/shop": "shop"}}))
    sidecar.reindex(runtimes=["gemini"])
    (after,) = sidecar.list(ListQuery(runtimes=("gemini",)))
    assert before["project_path"] is None
    assert after == {**before, "project_path": "/srv/shop"}


@pytest.mark.parametrize("log", logs(adapter, FIXTURES))
def test_reading_on_from_a_cut_around_any_line_end_equals_reading_the_whole_file(log: str, tmp_path: Path) -> None:
    source = laid(adapter, FIXTURES, log, tmp_path)
    check_cuts(adapter, source, around_line_ends(source.path))


def test_reading_on_from_any_byte_equals_reading_the_whole_file(tmp_path: Path) -> None:
    update: dict[str, Any] = {"$set": {}}
    turns = [line for n in "123" for line in (user(f"u{n}", "?"), gemini(f"a{n}", "!", tokens={"input": 1}), update)]
    source = write(tmp_path, start(), *turns)
    assert check_cuts(adapter, source, range(os.path.getsize(source.path) + 1)) > len(turns)


def grown(home: Path, *appended: dict[str, Any]) -> Fold:
    """Return the fold over a settled session to which lines were appended, gone on with."""
    call = {"id": "t1", "name": "ls", "args": {}, "status": "success", "result": [response("t1", "a")]}
    before = [start(lastUpdated="2026-05-01T10:00:09Z", summary="One"), user("u1", "One"), gemini("a1", "", toolCalls=[call])]
    earlier = fold_of(adapter, write(home, *before, gemini("a2", "Done")))
    return resumed(adapter, earlier, write(home, *before, gemini("a2", "Done"), *appended))


def test_a_new_turn_is_read_without_the_turns_before_it(tmp_path: Path) -> None:
    update = {"$set": {"lastUpdated": "2026-05-01T10:01:00Z"}}
    fold = grown(tmp_path, user("u2", "Two"), gemini("a3", "Wait"), gemini("a3", "2"), update)
    (reading,) = fold.readings()
    assert (reading.message_count, reading.turn_count, reading.resumed) == (6, 2, True)


@pytest.mark.parametrize(
    "appended",
    [
        pytest.param(gemini("a1", "Otherwise"), id="an early message again"),
        pytest.param({"$rewindTo": "u1"}, id="rewind"),
        pytest.param({"$set": {"messages": []}}, id="snapshot"),
        pytest.param({"$set": {"summary": ""}}, id="a title that is gone"),
        pytest.param({"$set": {"lastUpdated": "2026-05-01T10:00:01Z"}}, id="an earlier time"),
        pytest.param({**start(), "sessionId": "another"}, id="another session"),
        pytest.param(user("r1", [response("t1", "a")]), id="a response to an early call"),
    ],
)
def test_what_changes_the_past_asks_for_a_full_read(tmp_path: Path, appended: dict[str, Any]) -> None:
    with pytest.raises(Stale):
        grown(tmp_path, appended)


def test_what_has_no_known_type_is_counted_wherever_reading_goes_on(tmp_path: Path) -> None:
    known = [start(memoryScratchpad={}), user("u1", "One"), message("info", "i1", "Note"), {"$set": {"other": 1}}]
    source = write(tmp_path, *known, message("hologram", "x1", "?"), {"$append": {}}, gemini("a1", "1"))
    assert unknown(adapter, source) == [2]
    assert check_cuts(adapter, source, around_line_ends(source.path)) > 0
