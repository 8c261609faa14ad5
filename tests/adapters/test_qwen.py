"""Qwen Code: what its records say, which of them count, and reading on in a grown file."""

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from coding_agents_sidecar.adapter import Source
from coding_agents_sidecar.adapters.qwen import Qwen
from coding_agents_sidecar.model import Stale
from tests.adapters.growth import around_line_ends, check_cuts, fold_of, resumed, unknown
from tests.adapters.home import laid, logs, shown, sources

FIXTURES = Path(__file__).parent.parent / "fixtures" / "qwen"
SESSION = "0c000001-0000-4000-8000-000000000001"

adapter = Qwen()


def record(type: str, uuid: str, parent: str | None, **more: Any) -> dict[str, Any]:
    return {"uuid": uuid, "parentUuid": parent, "sessionId": SESSION, "timestamp": "2026-05-01T10:00:00Z", "type": type, **more}


def user(uuid: str, parent: str | None, *parts: Any, **more: Any) -> dict[str, Any]:
    return record("user", uuid, parent, message={"role": "user", "parts": list(parts)}, **more)


def assistant(uuid: str, parent: str | None, *parts: Any, **more: Any) -> dict[str, Any]:
    return record("assistant", uuid, parent, model="qwen3-coder", message={"role": "model", "parts": list(parts)}, **more)


def system(uuid: str, parent: str | None, subtype: str, **payload: Any) -> dict[str, Any]:
    return record("system", uuid, parent, subtype=subtype, systemPayload=payload)


def text(words: str) -> dict[str, str]:
    return {"text": words}


def write(home: Path, *records: dict[str, Any], session: str = SESSION) -> Source:
    path = home / ".qwen" / "projects" / "-srv-shop" / "chats" / f"{session}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
    return next(source for source in sources(adapter, home) if source.path == str(path))


def read(source: Source) -> list[dict[str, Any]]:
    return shown(adapter, source, SESSION)[0]


def said(source: Source) -> list[tuple[str, Any]]:
    return [(message["role"], message["content"]) for message in read(source)]


def test_a_call_is_paired_with_its_result_and_how_long_it_took(tmp_path: Path) -> None:
    call = {"functionCall": {"id": "c1", "name": "shell", "args": {"command": "ls"}}}
    result = {"functionResponse": {"id": "c1", "name": "shell", "response": {"error": "denied"}}}
    answer = assistant("a1", "u1", {"text": "I must look.", "thought": True}, text("Looking."), call)
    output = record("tool_result", "r1", "a1", message={"parts": [result]}, toolCallResult={"status": "error", "durationMs": 70})
    messages = read(write(tmp_path, user("u1", None, text("One")), answer, output))
    assert (messages[1]["content"], messages[1]["thinking"]) == ("Looking.", "I must look.")
    assert messages[1]["tool_calls"] == [
        {"id": "c1", "name": "shell", "input": {"command": "ls"}, "duration_ms": 70, "output": "denied", "is_error": True}
    ]
    assert messages[2]["tool_result"] == {"tool_call_id": "c1", "tool_name": "shell", "output": "denied", "is_error": True}


def test_every_response_of_a_record_is_a_result(tmp_path: Path) -> None:
    parts = [{"functionResponse": {"id": id, "name": "ls", "response": {"output": id}}} for id in ("c1", "c2")]
    image = {"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}}
    output = record(
        "tool_result", "r1", "u1", message={"parts": [*parts, image]}, toolCallResult={"callId": "c1", "status": "error"}
    )
    results = [message["tool_result"] for message in read(write(tmp_path, user("u1", None, text("One")), output))[1:]]
    assert [(one["tool_call_id"], one["is_error"]) for one in results] == [("c1", False), ("c2", False)]
    shown = {"type": "image", "media_type": "image/png", "bytes": 8}
    assert [one["output"] for one in results] == ["c1", [{"type": "text", "text": "c2"}, shown]]


@pytest.mark.parametrize(
    ("more", "role"),
    [
        ({}, "user"),
        ({"provenance": "real_user"}, "user"),
        ({"subtype": "mid_turn_user_message"}, "user"),
        ({"externalInputKind": "message"}, "user"),
        ({"subtype": "cron", "provenance": "system"}, "system"),
        ({"subtype": "notification"}, "system"),
        ({"subtype": "goal_runtime", "provenance": "goal_runtime"}, "system"),
        ({"provenance": "system"}, "system"),
        ({"externalInputKind": "notification"}, "system"),
    ],
)
def test_a_user_record_says_who_is_behind_it(tmp_path: Path, more: dict[str, Any], role: str) -> None:
    source = write(tmp_path, user("u0", None, text("First")), user("u1", "u0", text("Words"), **more))
    assert said(source)[1:] == [(role, "Words")]


def test_what_was_typed_stands_apart_from_what_a_hook_added(tmp_path: Path) -> None:
    payload = {"displayText": "Build it", "hookContext": "rules"}
    source = write(tmp_path, user("u1", None, text("Build it"), text("Follow the rules"), systemPayload=payload))
    assert said(source) == [("system", "Follow the rules"), ("user", "Build it")]


@pytest.mark.parametrize(
    ("usage", "amounts"),
    [
        ({"candidatesTokenCount": 20, "thoughtsTokenCount": 5, "totalTokenCount": 920}, [600, 20, 300, None, 5, None]),
        ({"candidatesTokenCount": 20, "thoughtsTokenCount": 5, "totalTokenCount": 925}, [600, 25, 300, None, 5, None]),
        ({"candidatesTokenCount": 20, "totalTokenCount": 920}, [600, 20, 300, None, None, None]),
        ({"candidatesTokenCount": 2, "thoughtsTokenCount": 5}, [600, 7, 300, None, 5, None]),
    ],
    ids=["thoughts inside", "thoughts beside", "no thoughts", "more thoughts than candidates"],
)
def test_the_total_tells_where_thoughts_are_counted(tmp_path: Path, usage: dict[str, int], amounts: list[int | None]) -> None:
    whole = {"promptTokenCount": 900, "cachedContentTokenCount": 300, **usage}
    source = write(tmp_path, user("u1", None, text("One")), assistant("a1", "u1", text("1"), usageMetadata=whole))
    (reading,) = fold_of(adapter, source).readings()
    assert list(reading.usage.values()) == [amounts]


def test_a_session_whose_first_request_failed_has_no_model_and_no_tokens(tmp_path: Path) -> None:
    event = {"event.name": "qwen-code.api_error", "model": "qwen3-coder"}
    source = write(tmp_path, user("u1", None, text("One")), system("t1", "u1", "ui_telemetry", uiEvent=event))
    (reading,) = fold_of(adapter, source).readings()
    assert (reading.model, reading.usage, reading.ending) == (None, {}, "error")


def test_the_model_chosen_counts_until_one_answers(tmp_path: Path) -> None:
    chosen = [user("u1", None, text("One")), system("m1", "u1", "session_model", modelId="qwen3-max", authType="x")]
    (reading,) = fold_of(adapter, write(tmp_path, *chosen)).readings()
    assert reading.model == "qwen3-max"
    (reading,) = fold_of(adapter, write(tmp_path, *chosen, assistant("a1", "m1", text("1")))).readings()
    assert reading.model == "qwen3-coder"


def test_a_session_that_another_one_started_names_it_but_a_copy_of_it_does_not(tmp_path: Path) -> None:
    parent = system("p1", None, "parent_session", parentSessionId="started-by")
    (reading,) = fold_of(adapter, write(tmp_path, parent, user("u1", "p1", text("One")))).readings()
    assert reading.info.parent_id == "started-by"
    copied = {"forkedFrom": {"sessionId": "copied-from", "messageUuid": "p1"}}
    (reading,) = fold_of(adapter, write(tmp_path, parent | copied, user("u1", "p1", text("One"), **copied))).readings()
    assert reading.info.parent_id == "copied-from"


def test_ids_that_are_no_uuids_tell_nothing_of_other_sessions(tmp_path: Path) -> None:
    lines = [user("u1", None, text("One")), assistant("a1", "u1", text("1"), usageMetadata={"promptTokenCount": 1})]
    copies = [line | {"forkedFrom": {"sessionId": SESSION, "messageUuid": line["uuid"]}} for line in lines]

    def keys(session: str, *records: dict[str, Any]) -> set[bytes]:
        (reading,) = fold_of(adapter, write(tmp_path, *records, session=session)).readings()
        return {holding.key for holding in reading.holdings}

    assert keys(SESSION, *lines) != keys("0c000002-0000-4000-8000-000000000002", *lines)
    assert keys(SESSION, *lines) == keys("0c000003-0000-4000-8000-000000000003", *copies)


def test_a_rewind_leaves_what_it_took_back_at_once(tmp_path: Path) -> None:
    before = [user("u1", None, text("One")), assistant("a1", "u1", text("1")), user("u2", "a1", text("Two"))]
    source = write(tmp_path, *before, system("w1", "a1", "rewind", truncatedCount=1))
    assert said(source) == [("user", "One"), ("assistant", "1")]


def test_variables_name_other_folders_and_the_default_is_read_too(tmp_path: Path) -> None:
    for folder in (".qwen", "runtime", "config"):
        shutil.copytree(FIXTURES / "oldest" / "home" / ".qwen", tmp_path / folder)
    found = sources(adapter, tmp_path, {"QWEN_RUNTIME_DIR": "~/runtime", "QWEN_HOME": str(tmp_path / "config")})
    assert [os.path.relpath(source.path, tmp_path).split(os.sep)[0] for source in found] == ["runtime", "config", ".qwen"]


@pytest.mark.parametrize("log", logs(adapter, FIXTURES))
def test_reading_on_from_a_cut_around_any_line_end_equals_reading_the_whole_file(log: str, tmp_path: Path) -> None:
    source = laid(adapter, FIXTURES, log, tmp_path)
    if os.path.getsize(source.path):
        assert check_cuts(adapter, source, around_line_ends(source.path)) > 0


def test_reading_on_from_any_byte_equals_reading_the_whole_file(tmp_path: Path) -> None:
    turns = [line for n in range(2) for line in (user(f"u{n}", f"a{n - 1}", text("?")), assistant(f"a{n}", f"u{n}", text("!")))]
    source = write(tmp_path, *turns)
    assert check_cuts(adapter, source, range(os.path.getsize(source.path) + 1)) > len(turns)


@pytest.mark.parametrize(
    "appended",
    [
        pytest.param(system("w1", "a1", "rewind"), id="rewind"),
        pytest.param(user("u3", "lost", text("Go on")), id="unknown parent"),
    ],
)
def test_what_changes_the_past_asks_for_a_full_read(tmp_path: Path, appended: dict[str, Any]) -> None:
    before = [user("u1", None, text("One")), assistant("a1", "u1", text("1")), user("u2", "a1", text("Two"))]
    earlier = fold_of(adapter, write(tmp_path, *before))
    with pytest.raises(Stale):
        resumed(adapter, earlier, write(tmp_path, *before, appended))


def test_a_changed_description_of_a_sub_agent_asks_for_a_full_read(tmp_path: Path) -> None:
    shutil.copytree(FIXTURES / "subagents" / "home", tmp_path, dirs_exist_ok=True)
    (source,) = (source for source in sources(adapter, tmp_path) if "subagents" in source.path)
    earlier = fold_of(adapter, source)
    (meta,) = tmp_path.rglob("*.meta.json")
    meta.write_text(meta.read_text().replace("completed", "failed"))
    with pytest.raises(Stale):
        resumed(adapter, earlier, source)
    assert [reading.ending for reading in fold_of(adapter, source).readings()] == ["error"]


def test_records_of_unknown_types_are_counted_and_moments_are_not(tmp_path: Path) -> None:
    known = [user("u1", None, text("One")), system("s1", "u1", "unheard_of"), assistant("a1", "s1", text("1"))]
    source = write(tmp_path, *known, record("hologram", "x1", "a1"), {"uuid": "x2", "parentUuid": "x1"})
    assert unknown(adapter, source) == [2]
