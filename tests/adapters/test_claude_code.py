"""Claude Code: what its records mean, beyond what the contract of all adapters asks for."""

from pathlib import Path
from typing import Any

import pytest

from coding_agents_sidecar.transcript import Transcript
from tests.adapters.claude_code import (
    FIXTURES,
    SESSION,
    adapter,
    assistant,
    fold_of,
    read,
    record,
    said,
    text,
    user,
    write,
)
from tests.adapters.home import sources


def test_the_lines_of_a_response_become_one_message_with_its_tool_calls_answered() -> None:
    source = next(sources(adapter, FIXTURES / "current" / "home"))
    _, prompt, answer, first, second, _ = read(source, "c0000001-0000-4000-8000-000000000001")
    assert prompt["content"] == "Which plugins need an update?"
    assert (answer["content"], answer["thinking"]) == ("Let me look.", "Ask WP-CLI.")
    assert answer["tokens"]["output"] == 88
    assert [(call["name"], call["output"], call["is_error"], call["duration_ms"]) for call in answer["tool_calls"]] == [
        ("Bash", "akismet 5.3 available", False, 2000),
        ("Glob", "No files found", True, 12),
    ]
    assert [one["tool_result"]["tool_call_id"] for one in (first, second)] == ["toolu_c1", "toolu_c2"]


def test_a_prompt_beside_tool_results_is_a_message_of_its_own(tmp_path: Path) -> None:
    results = [{"type": "tool_result", "tool_use_id": name, "content": name} for name in ("t1", "t2")]
    source = write(tmp_path, user("u1", None, [*results, text("Stop there")]))
    assert said(source) == [("tool", ""), ("tool", ""), ("user", "Stop there")]


@pytest.mark.parametrize(("results", "duration"), [(1, 40), (2, 0)])
def test_how_long_a_tool_ran_is_recorded_for_a_single_result(tmp_path: Path, results: int, duration: int) -> None:
    calls = [{"type": "tool_use", "id": f"t{n}", "name": "Task", "input": {}} for n in range(results)]
    answers = [{"type": "tool_result", "tool_use_id": f"t{n}", "content": ""} for n in range(results)]
    took = {"toolUseResult": {"totalDurationMs": 40}}
    message = read(write(tmp_path, assistant("a1", None, "m1", *calls), user("r1", "a1", answers, **took)))[0]
    assert [call["duration_ms"] for call in message["tool_calls"]] == [duration] * results


def test_media_are_described_and_not_carried(tmp_path: Path) -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0="}}
    paper = {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "caf\u00e9"}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": [text("A page"), image]}
    prompt, answer = read(write(tmp_path, user("u1", None, [image, paper]), user("u2", "u1", [result])))
    assert prompt["content"] == [
        {"type": "image", "media_type": "image/png", "bytes": 5},
        {"type": "document", "media_type": "text/plain", "bytes": 5},
    ]
    assert answer["tool_result"]["output"] == [text("A page"), prompt["content"][0]]


@pytest.mark.parametrize(
    ("blocks", "more", "role", "content"),
    [
        ([], {}, "system", ""),
        ([], {"stop_reason": "end_turn"}, "assistant", ""),
        ([{"type": "redacted_thinking", "data": "x"}], {}, "assistant", ""),
        (["Plain"], {}, "assistant", "Plain"),
    ],
)
def test_a_response_is_the_assistants_when_it_says_or_ends_anything(
    tmp_path: Path, blocks: list[Any], more: dict[str, Any], role: str, content: str
) -> None:
    answer = assistant("a1", "u1", "m1", *blocks)
    answer["message"].update(more)
    assert said(write(tmp_path, user("u1", None, "Go"), answer)) == [("user", "Go"), (role, content)]


def test_cache_writes_are_added_up_where_their_sum_is_missing(tmp_path: Path) -> None:
    answer = assistant("a1", "u1", "m1", text("Hi"))
    answer["message"]["usage"]["cache_creation"] = {"ephemeral_5m_input_tokens": 3, "ephemeral_1h_input_tokens": 4}
    assert read(write(tmp_path, user("u1", None, "Hello"), answer))[1]["tokens"]["cache_write"] == 7


def test_titles_tags_and_links_are_the_last_ones_recorded(tmp_path: Path) -> None:
    log = [
        user("u1", None, "Hello"),
        record("summary", "", None, summary="Summed up", leafUuid="u1"),
        record("ai-title", "", None, aiTitle="Generated"),
        record("ai-title", "", None, aiTitle="Generated again"),
        record("tag", "", None, tag="first"),
        record("tag", "", None, tag="second"),
        record("pr-link", "", None, prUrl="https://example.org/pull/1"),
        record("custom-title", "", None, customTitle="Given"),
        record("ai-title", "", None, aiTitle="Too late"),
        record("tag", "", None, tag=""),
    ]
    found = [fold_of(write(tmp_path, *log[:length])).readings()[0] for length in (2, 4, 6, len(log))]
    assert [reading.title for reading in found] == ["Summed up", "Generated again", "Generated again", "Given"]
    assert [reading.info.tags for reading in found] == [None, None, ("second",), ()]
    assert found[-1].info.meta == {"pull_request": "https://example.org/pull/1"}


def test_results_of_the_servers_own_tools_are_tool_messages(tmp_path: Path) -> None:
    call = {"type": "server_tool_use", "id": "srv1", "name": "web_search", "input": {"query": "x"}}
    found = {"type": "web_search_tool_result", "tool_use_id": "srv1", "content": {"type": "web_search_tool_result_error"}}
    source = write(tmp_path, user("u1", None, "Search"), assistant("a1", "u1", "m1", call, found, text("Nothing.")))
    _, answer, result = read(source)
    assert (answer["content"], answer["tool_calls"][0]["is_error"]) == ("Nothing.", True)
    assert (result["role"], result["tool_result"]["tool_name"]) == ("tool", "web_search")
    assert [reading.ending for reading in fold_of(source).readings()] == ["completed"]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("Plain words", [("user", "Plain words")]),
        ("<b>not</b> a tag of the runtime", [("user", "<b>not</b> a tag of the runtime")]),
        ("see <system-reminder>this</system-reminder>", [("user", "see <system-reminder>this</system-reminder>")]),
        (" ", []),
        (None, []),
        (
            "<ide_selection>a</ide_selection>\n<system-reminder>b</system-reminder> Why?",
            [
                ("system", [text("<ide_selection>a</ide_selection>"), text("<system-reminder>b</system-reminder>")]),
                ("user", "Why?"),
            ],
        ),
        ("<system-reminder>never closed", [("system", "<system-reminder>never closed")]),
        ("<command-name>/init</command-name>", [("system", "<command-name>/init</command-name>")]),
        ("<command-name>fix</command-name><command-args> it\nall </command-args>", [("user", "/fix it\nall")]),
        ("<command-message>odd</command-message>", [("system", "<command-message>odd</command-message>")]),
        (
            [text("<command-name>/fix</command-name>\n<command-args>12</command-args>"), text("Fix the issue.")],
            [("system", "Fix the issue."), ("user", "/fix 12")],
        ),
        ("Caveat: The messages below were generated", [("system", "Caveat: The messages below were generated")]),
        *(
            (words, [("system", words)])
            for words in (
                "<local-command-stdout>done</local-command-stdout>",
                "<local-command-stderr>failed</local-command-stderr>",
                "<local-command-caveat>Caveat</local-command-caveat>",
                "<bash-input>ls</bash-input>",
                "<bash-stdout>a</bash-stdout><bash-stderr></bash-stderr>",
                "<task-notification><task-id>1</task-id></task-notification> Read the file.",
                "<user-memory-input>Use tabs</user-memory-input>",
                "<session-start-hook>ready</session-start-hook>",
                "[Request interrupted by user]",
                "[Request interrupted by user for tool use]",
                "This session is being continued from a previous conversation that ran out of context.",
            )
        ),
    ],
)
def test_what_a_person_typed_is_told_from_what_the_runtime_put_in(tmp_path: Path, content: Any, expected: Any) -> None:
    assert said(write(tmp_path, user("u1", None, content), assistant("a1", "u1", "m1", text("Yes")))) == [
        *expected,
        ("assistant", "Yes"),
    ]


@pytest.mark.parametrize("flag", ["isMeta", "isCompactSummary", "isVisibleInTranscriptOnly"])
def test_text_that_the_runtime_marks_as_its_own_is_no_prompt(tmp_path: Path, flag: str) -> None:
    assert said(write(tmp_path, user("u1", None, "Looks typed", **{flag: True}))) == [("system", "Looks typed")]


def test_a_parent_that_was_never_written_leaves_nothing_behind(tmp_path: Path) -> None:
    source = write(
        tmp_path,
        user("u1", None, "One"),
        assistant("a1", "u1", "m1", text("1")),
        user("u2", "never-written", "Two"),
        assistant("a2", "u2", "m2", text("2")),
    )
    assert [content for _, content in said(source)] == ["One", "1", "Two", "2"]


def test_a_log_that_links_no_records_leaves_nothing_behind(tmp_path: Path) -> None:
    source = write(tmp_path, user("u1", None, "One"), assistant("a1", None, "m1", text("1")), user("u2", None, "Two"))
    assert [content for _, content in said(source)] == ["One", "1", "Two"]


def test_a_lost_link_is_no_way_back_to_the_start(tmp_path: Path) -> None:
    source = write(
        tmp_path,
        record("progress", "p1", None),
        user("u1", "p1", "One"),
        assistant("a1", "u1", "m1", text("1")),
        user("u2", None, "Two"),
    )
    assert [content for _, content in said(source)] == ["One", "1", "Two"]


def test_a_queued_prompt_without_an_id_survives_the_next_prompt(tmp_path: Path) -> None:
    asked = {"type": "queued_command", "prompt": "Faster", "timestamp": "2026-02-03T10:00:07Z"}
    queued = {"type": "attachment", "attachment": asked}
    source = write(
        tmp_path,
        user("u1", None, "One"),
        queued,
        assistant("a1", "u1", "m1", text("1")),
        user("u2", "a1", "Two"),
    )
    messages = read(source)
    assert [message["content"] for message in messages] == ["One", "Faster", "1", "Two"]
    assert messages[1]["timestamp"] == messages[0]["timestamp"] + 7


@pytest.mark.parametrize("records", [3, 4, 5])
def test_what_was_typed_while_an_answer_came_takes_nothing_back_and_stays(tmp_path: Path, records: int) -> None:
    log = [
        user("u1", None, "One"),
        user("u2", "u1", "Aside"),
        assistant("a1", "u1", "m1", text("1")),
        user("u3", "a1", "Two"),
        assistant("a2", "u3", "m2", text("2")),
    ]
    assert [content for _, content in said(write(tmp_path, *log[:records]))] == ["One", "Aside", "1", "Two", "2"][:records]


def test_a_branch_gone_on_with_is_the_conversation_again(tmp_path: Path) -> None:
    source = write(
        tmp_path,
        user("u1", None, "One"),
        assistant("a1", "u1", "m1", text("1")),
        user("u2", "a1", "Left"),
        user("u3", "a1", "Right"),
        assistant("a3", "u3", "m3", text("right")),
        assistant("a2", "u2", "m2", text("left")),
        user("u4", "a2", "Further left"),
    )
    assert [content for _, content in said(source)] == ["One", "1", "Left", "left", "Further left"]


def test_what_followed_a_prompt_that_was_taken_back_is_gone_with_it(tmp_path: Path) -> None:
    source = write(
        tmp_path,
        user("u1", None, "One"),
        assistant("a1", "u1", "m1", text("1")),
        user("u2", "a1", "Two"),
        user("c1", "u2", "<command-name>/review</command-name>"),
        assistant("a2", "c1", "m2", text("2")),
        user("u3", "u1", "Instead"),
    )
    assert [content for _, content in said(source)] == ["One", "1", "Instead"]


@pytest.mark.parametrize(
    ("more", "parent"),
    [
        ({}, None),
        ({"sessionId": "0a000002-0000-4000-8000-000000000002"}, "0a000002-0000-4000-8000-000000000002"),
        ({"forkedFrom": {"sessionId": "0a000003-0000-4000-8000-000000000003"}}, "0a000003-0000-4000-8000-000000000003"),
    ],
)
def test_a_copied_record_names_the_session_it_came_from(tmp_path: Path, more: dict[str, Any], parent: str | None) -> None:
    fold = fold_of(write(tmp_path, user("u1", None, "Copied", **more), user("u2", "u1", "Own")))
    assert [reading.info.parent_id for reading in fold.readings()] == [parent]


def test_an_interrupted_answer_ends_a_session_as_aborted_until_it_goes_on(tmp_path: Path) -> None:
    log = [
        user("u1", None, "Go"),
        assistant("a1", "u1", "m1", text("Going")),
        user("i1", "a1", [text("[Request interrupted by user]")]),
        user("c1", "i1", "<command-name>/exit</command-name>"),
        user("u2", "c1", "Go on"),
        assistant("a2", "u2", "m2", text("Gone")),
    ]
    endings = [fold_of(write(tmp_path, *log[:length])).readings()[0].ending for length in (2, 3, 4, 6)]
    assert endings == ["completed", "aborted", "aborted", "completed"]


def test_a_response_without_an_id_is_known_by_its_record(tmp_path: Path) -> None:
    fold = fold_of(write(tmp_path, user("u1", None, "Go"), assistant("a1", "u1", "", text("Gone"))))
    assert [(len(reading.holdings), reading.keyless) for reading in fold.readings()] == [(1, {})]


@pytest.mark.parametrize("mark", [{"commandMode": "task-notification"}, {"isMeta": True}])
def test_what_the_runtime_queued_is_no_prompt(tmp_path: Path, mark: dict[str, Any]) -> None:
    queued = {"type": "queued_command", "prompt": "Looks typed", **mark}
    assert said(write(tmp_path, user("u1", None, "Go"), record("attachment", "q1", "u1", attachment=queued))) == [
        ("user", "Go"),
        ("system", "Looks typed"),
    ]


def test_inline_sub_agents_are_told_apart_by_their_roots(tmp_path: Path) -> None:
    side = {"isSidechain": True}
    source = write(
        tmp_path,
        user("u1", None, "Both"),
        assistant("a1", "u1", "m0", text("At once")),
        user("s1", None, "First", **side),
        user("t1", None, "Second", **side),
        assistant("s2", "s1", "m1", text("of the first"), **side),
        assistant("t2", "t1", "m2", text("of the second"), **side),
        assistant("t3", "never-written", "m3", text("of the second, too"), **side),
    )
    assert {reading.start.session_id: reading.message_count for reading in fold_of(source).readings()} == {
        SESSION: 2,
        f"{SESSION}/s1": 2,
        f"{SESSION}/t1": 3,
    }


def test_an_inline_sub_agent_is_named_by_the_task_that_still_runs(tmp_path: Path) -> None:
    def task(number: int, parent: str | None) -> list[dict[str, Any]]:
        call = {"description": f"Task {number}", "prompt": "Look"}
        return [
            assistant(
                f"a{number}", parent, f"m{number}", {"type": "tool_use", "id": f"t{number}", "name": "Task", "input": call}
            ),
            user(f"s{number}", None, "Look", isSidechain=True),
            user(f"r{number}", f"a{number}", [{"type": "tool_result", "tool_use_id": f"t{number}", "content": ""}]),
        ]

    source = write(tmp_path, user("u1", None, "Look twice"), *task(1, "u1"), *task(2, "r1"))
    assert [reading.title for reading in fold_of(source).readings()] == ["Look twice", "Task 1", "Task 2"]


def test_one_sub_agent_of_a_file_can_be_read_alone() -> None:
    source = next(sources(adapter, FIXTURES / "oldest" / "home"))
    wanted = "01d00001-0000-4000-8000-000000000001/s1"
    transcript = Transcript(adapter.name).run(adapter.events(source, wanted))
    assert list(transcript.sessions) == [wanted]


def test_records_of_unknown_types_are_counted_and_noise_is_not(tmp_path: Path) -> None:
    noise = [record("system", "s1", "u1", subtype="unheard-of"), record("progress", "p1", "s1"), record("mode", "m1", "p1")]
    source = write(tmp_path, user("u1", None, "One"), *noise, record("hologram", "x1", "m1"), {"uuid": "x2"})
    assert [reading.unknown for reading in fold_of(source).readings()] == [2]
