"""Copilot CLI: what its events say, which of them count, and where it looks."""

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from coding_agents_sidecar.adapters.copilot import Copilot
from coding_agents_sidecar.model import Unknown
from tests.adapters.copilot import (
    FIXTURES,
    SESSION,
    adapter,
    answer,
    event,
    fold,
    read,
    reading,
    said,
    sources,
    start,
    usage,
    user,
    write,
)


def test_a_response_shows_its_calls_with_their_results_how_long_they_took_and_what_it_used() -> None:
    home = FIXTURES / "current" / "home"
    (source,) = sources(home)
    messages = read(source, "c0000001-0000-4000-8000-000000000001")
    image = {"type": "image", "media_type": "image/png", "bytes": 8}
    attached = {"type": "file", "path": "/srv/shop/a.php", "displayName": "a.php"}
    assert messages[0]["content"] == [{"type": "text", "text": "Find the slow query"}, image, attached]
    looking = messages[1]
    assert (looking["content"], looking["thinking"], looking["model"]) == ("Looking.", "The log comes first.", "gpt-mock")
    bash, view = looking["tool_calls"]
    assert bash == {
        "id": "call-1", "name": "bash", "input": {"command": "ls"}, "duration_ms": 500, "output": "a.php", "is_error": False,
    }  # fmt: skip
    assert (view["input"], view["output"], view["is_error"]) == ({"path": "a.php"}, "Permission denied", True)
    assert looking["tokens"] == {
        "input": 600, "output": 50, "cache_read": 300, "cache_write": 100, "reasoning": 20, "total": 1050,
    }  # fmt: skip
    assert messages[4]["content"] == "It is the join.\n\nAdd an index."
    assert messages[4]["tokens"]["output"] == 60


@pytest.mark.parametrize(
    ("data", "role"),
    [
        ({}, "user"),
        ({"source": "user", "delivery": "queued"}, "user"),
        ({"source": "skill-pdf"}, "system"),
        ({"source": "system"}, "system"),
        ({"source": "agent-7"}, "system"),
        ({"source": "autopilot"}, "system"),
        ({"isAutopilotContinuation": True}, "system"),
        ({"crossSession": {"version": 1, "origin": "authenticated-cross-session"}}, "system"),
        ({"content": "<skill-context name='pdf'>Read it.</skill-context>"}, "system"),
        ({"content": "<system_notification>The shell has finished.</system_notification>"}, "system"),
    ],
)
def test_a_user_message_says_who_is_behind_it(tmp_path: Path, data: dict[str, Any], role: str) -> None:
    message = event("user.message", **{"content": "Words", **data})
    assert said(write(tmp_path, start(), user("First"), message))[1][0] == role


def test_the_words_of_another_agent_are_a_sub_agents_prompt_and_other_injected_text_is_not(tmp_path: Path) -> None:
    source = write(tmp_path, start(), user("Do it", "a1", source="agent-0"), user("Rules", "a1", source="skill-x"))
    assert said(source, f"{SESSION}/a1") == [("user", "Do it"), ("system", "Rules")]


def test_what_the_runtime_says_and_what_a_person_says_to_it_alone_is_system(tmp_path: Path) -> None:
    source = write(
        tmp_path,
        start(),
        user("Go"),
        event("tool.user_requested", toolCallId="u1", toolName="bash", arguments={"command": "ls"}),
        event("tool.execution_complete", toolCallId="u1", success=True, isUserRequested=True, result={"content": "a.php"}),
        event("session.error", errorType="query", message="402"),
        event("session.handoff", sourceType="remote", summary="Half of it is done."),
        event("system.notification", content="done"),
        event("system.message", role="system", content="You are an agent."),
    )
    words = ["ls", "a.php", "402", "Half of it is done.", "done"]
    assert said(source) == [("user", "Go"), *(("system", one) for one in words)]


def test_the_bytes_of_an_attachment_stay_out_whatever_it_is(tmp_path: Path) -> None:
    given = [{"type": "blob", "mimeType": "text/csv", "data": "YSxi"}, {"type": "scan", "name": "x", "data": "YSxi"}]
    source = write(tmp_path, start(), user("", attachments=given))
    assert said(source) == [("user", [{"type": "blob", "media_type": "text/csv", "bytes": 4 - 1}, {"type": "scan", "name": "x"}])]


def test_a_session_lasts_as_long_as_its_sub_agents(tmp_path: Path) -> None:
    source = write(tmp_path, start(), user("Go"), user("Help", "a1"), answer("Helped.", "a1", at=30), event("abort", at=2))
    assert [one.last_time and one.last_time % 60 for one in fold(source).readings()] == [30, 30]


def test_what_lies_beside_a_log_does_not_make_it_newer(tmp_path: Path) -> None:
    source = write(tmp_path, start(), user("Go"))
    Path(source.path).with_name("workspace.yaml").write_text("name: New\n")
    os.utime(source.path, (1777629600, 1777629600))
    assert reading(source).start.modified == 1777629600


def test_a_log_that_may_still_come_to_name_its_session_is_read_from_its_start(tmp_path: Path) -> None:
    nameless = [user(str(number)) for number in range(30)]
    assert fold(write(tmp_path, *nameless[:5])).checkpoint is None
    assert fold(write(tmp_path, *nameless)).checkpoint is not None
    assert fold(write(tmp_path, start(), *nameless[:5])).checkpoint is not None


def test_media_of_a_result_are_described_once_and_kept_out(tmp_path: Path) -> None:
    block = {"type": "image", "mimeType": "image/png", "data": "iVBORw0KGgo="}
    kept = {"type": "image", "mimeType": "image/png", "assetId": "sha256:0", "byteLength": 99}
    result = {"content": "A picture.", "contents": [block], "binaryResultsForLlm": [kept]}
    source = write(tmp_path, start(), user("Go"), event("tool.execution_complete", toolCallId="c", success=True, result=result))
    image = {"type": "image", "media_type": "image/png", "bytes": 99}
    assert read(source)[1]["tool_result"]["output"] == [{"type": "text", "text": "A picture."}, image]


@pytest.mark.parametrize(
    ("result", "output"),
    [
        ("Friday", "Friday"),
        ({"content": "short", "detailedContent": "long"}, "short"),
        ({"content": "", "detailedContent": "long"}, "long"),
        ({"contents": [{"type": "text", "text": "a"}, {"type": "terminal", "text": "b"}]}, "a\nb"),
        (None, ""),
    ],
)
def test_the_output_of_a_tool_is_what_the_model_was_given(tmp_path: Path, result: Any, output: str) -> None:
    source = write(tmp_path, start(), user("Go"), event("tool.execution_complete", toolCallId="c", success=True, result=result))
    assert read(source)[1]["tool_result"]["output"] == output


def test_reasoning_of_its_own_belongs_to_the_response_behind_it_unless_that_repeats_it(tmp_path: Path) -> None:
    def thought(**data: Any) -> Any:
        events = [start(), user("Go"), event("assistant.reasoning", content="First this."), usage("k", 1, 1)]
        return read(write(tmp_path, *events, answer("Gone.", **data)))[1]["thinking"]

    assert thought() == "First this."
    assert thought(reasoningText="First this.") == "First this."


def test_reasoning_without_a_response_belongs_to_no_other(tmp_path: Path) -> None:
    lost = [event("assistant.reasoning", content="Lost."), event("abort", reason="user_initiated")]
    assert "thinking" not in read(write(tmp_path, start(), user("Go"), *lost, user("Again"), answer("Gone.")))[2]


@pytest.mark.parametrize(
    ("events", "model"),
    [
        ([answer("1", model="gpt-b")], "gpt-b"),
        ([answer("1"), event("session.model_change", newModel="gpt-c")], "gpt-c"),
        ([event("session.model_change", newModel="auto")], "gpt-a"),
        ([answer("1", model="auto"), event("tool.execution_complete", toolCallId="c", model="gpt-d")], "gpt-d"),
        ([usage("k", 1, 1, model="gpt-e"), answer("1", apiCallId="k")], "gpt-e"),
        ([usage("k", 1, 1, model="gpt-e-2026"), answer("1", model="gpt-e", apiCallId="k")], "gpt-e"),
        ([answer("1", model="gpt-b"), usage("k", 1, 1, model="gpt-summary"), event("assistant.turn_end")], "gpt-b"),
    ],
)
def test_the_model_is_the_last_that_answered_else_the_one_chosen(tmp_path: Path, events: list[Any], model: str) -> None:
    assert reading(write(tmp_path, start(selectedModel="gpt-a"), user("Go"), *events)).model == model


def test_a_shutdown_names_the_model_where_nothing_else_does(tmp_path: Path) -> None:
    end = event("session.shutdown", modelMetrics={"gpt-z": {}})
    assert reading(write(tmp_path, start(selectedModel="auto"), user("Go"), answer("1"), end)).model == "gpt-z"


@pytest.mark.parametrize(
    ("events", "project"),
    [
        ([event("session.context_changed", cwd="/c")], "/srv/beside"),
        ([event("session.start", sessionId=SESSION, context={"cwd": "/srv/log"})], "/srv/log"),
    ],
)
def test_the_first_word_of_a_log_on_its_project_comes_before_what_lies_beside_it(
    tmp_path: Path, events: list[Any], project: str
) -> None:
    source = write(tmp_path, *events, user("Go"))
    Path(source.path).with_name("workspace.yaml").write_text("cwd: /srv/beside\n")
    assert reading(source).info.project_path == project


@pytest.mark.parametrize(
    "told",
    [
        event("session.resume", context={"cwd": "/srv/shop"}),
        event("session.context_changed", cwd="/srv/shop"),
        event("session.info", infoType="folder_trust", message="Folder /srv/shop has been added to trusted folders."),
        event("system.message", content="* Current working directory: /srv/shop\n* Git: yes"),
    ],
    ids=lambda told: str(told["type"]),
)
def test_events_tell_the_project_where_nothing_else_does(tmp_path: Path, told: Any) -> None:
    source = write(tmp_path, start(), told, user("Go"), event("session.context_changed", cwd="/later"))
    assert reading(source).info.project_path == "/srv/shop"


def test_equal_ids_that_are_no_uuids_are_copies_only_at_the_same_time(tmp_path: Path) -> None:
    def keys(folder: str, at: float) -> set[bytes]:
        first = event("session.start", sessionId=folder)
        source = write(tmp_path, first, user("Go"), answer("1", at=at, messageId="m1"), folder=folder)
        return {holding.key for holding in reading(source, folder).holdings}

    assert keys("a", 1) != keys("b", 2)
    assert keys("a", 1) == keys("c", 1)


def test_pieces_of_a_response_are_one_whatever_their_times(tmp_path: Path) -> None:
    pieces = [answer("One.", at=1, messageId="m1"), answer("Two.", at=2, messageId="m1")]
    assert said(write(tmp_path, start(), user("Go"), *pieces))[1:] == [("assistant", "One.\n\nTwo.")]


def test_a_record_of_an_unknown_type_is_counted_and_known_ones_are_not(tmp_path: Path) -> None:
    source = write(tmp_path, start(), user("Go"), event("hook.start"), event("session.tea_served"), event("abort"))
    assert sum(isinstance(one, Unknown) for one in adapter.events(source)) == 1


def test_the_file_is_named_by_its_folder_where_no_event_names_the_session(tmp_path: Path) -> None:
    (one,) = fold(write(tmp_path, user("Go"), folder="by-folder")).readings()
    assert one.start.session_id == "by-folder"


def test_only_what_lies_directly_in_a_sessions_folder_is_a_log(tmp_path: Path) -> None:
    write(tmp_path, start(), user("Go"))
    folder = tmp_path / ".copilot" / "session-state"
    for name in ("x/files/events.jsonl", "x/notes.jsonl", ".session-operation-locks/x", "x/events.jsonl.bak"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(json.dumps(user("No")))
    assert [os.path.relpath(source.path, folder) for source in sources(tmp_path)] == [f"{SESSION}/events.jsonl"]


def test_a_variable_names_another_folder_and_the_defaults_are_read_too(tmp_path: Path) -> None:
    for folder in ("elsewhere", ".copilot", ".config/.copilot", "state/.copilot"):
        shutil.copytree(FIXTURES / "endings" / "home" / ".copilot", tmp_path / folder)
    environ = {"COPILOT_HOME": "~/elsewhere", "XDG_STATE_HOME": str(tmp_path / "state")}
    found = {os.path.relpath(source.root, tmp_path) for source in sources(tmp_path, environ)}
    assert found == {f"{one}/session-state" for one in ("elsewhere", ".copilot", ".config/.copilot", "state/.copilot")}


def test_the_alias_is_the_name_of_the_program() -> None:
    assert Copilot.aliases == ("copilot-cli",)
