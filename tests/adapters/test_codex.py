"""Codex: what its entries mean, beyond what the contract of all adapters asks for."""

from pathlib import Path
from typing import Any

import pytest

from coding_agents_sidecar.formats.blocks import text_part
from tests.adapters.codex import (
    FIXTURES,
    THREAD,
    Record,
    adapter,
    assistant,
    entry,
    event,
    item,
    messages,
    meta,
    reading,
    said,
    text,
    turn,
    typed,
    user,
    write,
)
from tests.adapters.home import sources


def test_a_response_has_its_thinking_its_calls_answered_and_its_tokens() -> None:
    source = next(sources(adapter, FIXTURES / "current" / "home"))
    shown = messages(source, "c0000001-0000-7000-8000-000000000001")
    prompt, response, first, second, answer = (one for one in shown[:7] if one["role"] != "system")
    assert prompt["content"] == [{"type": "image", "media_type": "image/png", "bytes": 8}, text_part("Make it look like this")]
    assert (response["content"], response["thinking"], response["tokens"]["total"]) == ("", "Styles first.", 1060)
    assert [(call["name"], call["input"], call["is_error"], call["duration_ms"]) for call in response["tool_calls"]] == [
        ("exec_command", {"cmd": "cat style.css"}, False, 120),
        ("apply_patch", "*** Begin Patch\n*** End Patch", True, 2000),
    ]
    assert [one["tool_result"]["tool_name"] for one in (first, second)] == ["exec_command", "apply_patch"]
    assert (answer["content"], answer["model"], answer["tokens"]["output"]) == ("Like this?", "gpt-5.2-codex", 40)


@pytest.mark.parametrize(
    ("output", "shown", "is_error", "took"),
    [
        ("plain", "plain", False, None),
        ('{"output":"no\\n","metadata":{"exit_code":2,"duration_seconds":0.25}}', "no\n", True, 250),
        ('{"output":"cut', '{"output":"cut', False, None),
        ("Exit code: 0\nWall time: 1.5 seconds\nOutput:\nok", "Exit code: 0\nWall time: 1.5 seconds\nOutput:\nok", False, 1500),
        ("Process exited with code -9\nOutput:\n", "Process exited with code -9\nOutput:\n", True, None),
        ("say: Process exited with code 3\n", "say: Process exited with code 3\n", False, None),
        ({"content": "no", "success": False}, "no", True, None),
        ({"content": [text("a")], "success": True}, "a", False, None),
        ([text("a"), {"type": "input_image", "image_url": "data:image/png;base64,AAAA"}], None, False, None),
        (None, "", False, None),
        (7, 7, False, None),
    ],
)
def test_output_of_every_form_is_shown_with_how_it_went(
    tmp_path: Path, output: Any, shown: Any, is_error: bool, took: int | None
) -> None:
    call = item("function_call", name="shell", arguments="{}", call_id="call_1")
    source = write(tmp_path, meta(), *typed("Go"), call, item("function_call_output", call_id="call_1", output=output))
    _, response, result = messages(source)
    if shown is None:
        shown = [text_part("a"), {"type": "image", "media_type": "image/png", "bytes": 3}]
    assert (result["tool_result"]["output"], result["tool_result"]["is_error"]) == (shown, is_error)
    # Call and result have the same time, which is how long it took where nothing tells better.
    assert response["tool_calls"][0]["duration_ms"] == (took or 0)


@pytest.mark.parametrize(
    ("told", "is_error", "took"),
    [
        (event("mcp_tool_call_end", call_id="c", duration={"secs": 1, "nanos": 5_000_000}, result={"Err": "no"}), True, 1005),
        (event("mcp_tool_call_end", call_id="c", result={"Ok": {"isError": True}}), True, 0),
        (event("mcp_tool_call_end", call_id="c", result={"Ok": {"content": []}}), False, 0),
        (event("patch_apply_end", call_id="c", success=False), True, 0),
        (event("item_completed", item={"type": "CommandExecution", "id": "c", "exit_code": 1}), True, 0),
        (event("item_completed", item={"id": "c"}, started_at_ms=1770112800001, completed_at_ms=1770112800031), False, 30),
        (event("patch_apply_end", call_id="another", success=False), False, 0),
    ],
)
def test_events_tell_what_the_output_does_not(tmp_path: Path, told: Record, is_error: bool, took: int) -> None:
    call = item("function_call", name="click", namespace="mcp__browser__", arguments="{bad", call_id="c")
    source = write(tmp_path, meta(), *typed("Go"), call, told, item("function_call_output", call_id="c", output="x"))
    (shown,) = messages(source)[1]["tool_calls"]
    assert (shown["name"], shown["input"], shown["output"]) == ("mcp__browser__click", "{bad", "x")
    assert (shown["is_error"], shown["duration_ms"]) == (is_error, took)


def test_calls_that_the_provider_answers_keep_nothing_waiting(tmp_path: Path) -> None:
    search = item("web_search_call", status="completed", action={"type": "search", "query": "x"})
    draw = item("image_generation_call", id="ig_1", status="completed", revised_prompt="A cat", result="iVBORw0=")
    shell = item("local_shell_call", call_id="c", status="completed", action={"type": "exec", "command": ["ls"]})
    source = write(tmp_path, meta(), *typed("Go"), search, draw, shell, assistant("Here."))
    _, answer = messages(source)
    assert [(call["name"], call["input"]) for call in answer["tool_calls"]] == [
        ("web_search", {"type": "search", "query": "x"}),
        ("image_generation", {"prompt": "A cat"}),
        ("local_shell", {"type": "exec", "command": ["ls"]}),
    ]
    assert answer["content"] == [{"type": "image", "media_type": "image/png", "bytes": 5}, text_part("Here.")]
    assert reading(source).ending == "completed"


def test_a_call_that_waits_for_its_output_leaves_the_session_waiting(tmp_path: Path) -> None:
    call = item("function_call", name="shell", arguments="{}", call_id="c")
    assert reading(write(tmp_path, meta(), *typed("Go"), call, assistant("Running it."))).ending == "aborted"
    done = item("function_call_output", call_id="c", output="ok")
    assert reading(write(tmp_path, meta(), *typed("Go"), call, done, assistant("Done."))).ending == "completed"


def test_each_text_is_a_message_with_the_calls_around_it(tmp_path: Path) -> None:
    calls = [item("function_call", name="shell", arguments="{}", call_id=f"c{n}") for n in range(3)]
    outputs = [item("function_call_output", call_id=f"c{n}", output="ok") for n in range(3)]
    source = write(
        tmp_path, meta(), *typed("Go"), assistant("One"), assistant("Two"), *calls[:2], *outputs[:2], calls[2], outputs[2]
    )
    shown = [(one["content"], len(one["tool_calls"] or ())) for one in messages(source) if one["role"] == "assistant"]
    assert shown == [("One", 0), ("Two", 2), ("", 1)]


INJECTED = [
    "<environment_context>\n<cwd>/x</cwd>\n</environment_context>",
    "<user_instructions>\nBe brief\n</user_instructions>",
    "# AGENTS.md instructions for /srv/shop\n\n<INSTRUCTIONS>\nBe brief\n</INSTRUCTIONS>",
    "<INSTRUCTIONS>\nBe brief\n</INSTRUCTIONS>",
    "<turn_aborted>\nInterrupted\n</turn_aborted>",
    "<SUBAGENT_NOTIFICATION>{}</SUBAGENT_NOTIFICATION>",
    "<user_shell_command>\n<command>ls</command>\n</user_shell_command>",
    "<skill>\n<name>x</name>\n</skill>",
    "<goal_context>\nx\n</goal_context>",
    '<internal_context source="goal">x</internal_context>',
    '<hook_prompt hook_run_id="1">x</hook_prompt>',
    "<permissions instructions>\nx\n</permissions instructions>",
    "Another language model started to solve this problem and produced a summary",
]


@pytest.mark.parametrize("words", INJECTED)
def test_what_the_runtime_put_in_is_known_by_its_tags_where_nothing_marks_prompts(tmp_path: Path, words: str) -> None:
    source = write(tmp_path, meta(), user(words), user("Hello"), assistant("Hi"))
    assert said(source) == [("system", words), ("user", "Hello"), ("assistant", "Hi")]


@pytest.mark.parametrize("words", ["<skillful> people", "<b>bold</b>", "Use <environment_context> here"])
def test_tags_that_are_not_the_runtimes_are_typed(tmp_path: Path, words: str) -> None:
    assert said(write(tmp_path, meta(), user(words), assistant("Hi")))[0] == ("user", words)


def test_an_item_of_both_kinds_is_taken_apart(tmp_path: Path) -> None:
    source = write(tmp_path, meta(), user(INJECTED[0], "Hello"), assistant("Hi"))
    assert said(source)[:2] == [("system", INJECTED[0]), ("user", "Hello")]


def test_where_prompts_are_marked_only_what_is_marked_was_typed(tmp_path: Path) -> None:
    context = event("user_message", message="", kind="environment_context")
    source = write(
        tmp_path, meta(), user("No tag at all"), *typed(INJECTED[0]), assistant("Hi"), user("Injected"), context, *typed("Bye")
    )
    assert said(source) == [
        ("system", "No tag at all"),
        ("user", INJECTED[0]),
        ("assistant", "Hi"),
        ("system", "Injected"),
        ("user", "Bye"),
    ]


def test_the_newest_rollouts_mark_prompts_by_a_completed_item_and_label_the_parts(tmp_path: Path) -> None:
    labels = {"internal_chat_message_metadata_passthrough": {"content_item_kinds": ["skills.text", "user.text"]}}
    mark = event("item_completed", item={"type": "UserMessage", "content": []})
    source = write(tmp_path, meta(), user("Unmarked"), user("A skill", "Hello", **labels), mark, assistant("Hi"))
    assert said(source)[:3] == [("system", "Unmarked"), ("system", "A skill"), ("user", "Hello")]


def test_a_prompt_that_was_just_written_is_told_by_its_labels(tmp_path: Path) -> None:
    labels = {"internal_chat_message_metadata_passthrough": {"content_item_kinds": ["user.text"]}}
    source = write(tmp_path, meta(), *typed("Hello"), assistant("Hi"), user("<skill>", **labels))
    assert said(source)[-1] == ("user", "<skill>")


def test_what_an_editor_puts_above_the_request_is_not_typed(tmp_path: Path) -> None:
    above = "# Context from my IDE setup:\n\n## Open tabs:\n- a.php\n"
    source = write(tmp_path, meta(), *typed(f"{above}\n## My request for Codex:\nFix it"), assistant("Done"))
    assert said(source)[:2] == [("system", above.strip()), ("user", "Fix it")]
    assert reading(source).title == "Fix it"


def test_a_quoted_heading_is_no_editors(tmp_path: Path) -> None:
    words = "Why does it say\n## My request for Codex:\nthere?"
    assert said(write(tmp_path, meta(), *typed(words), assistant("Hm")))[0] == ("user", words)


def test_media_are_described_and_not_carried(tmp_path: Path) -> None:
    image = {"type": "input_image", "image_url": "data:image/jpeg;base64,iVBORw0="}
    linked = {"type": "input_image", "image_url": "https://example.org/a.png"}
    source = write(tmp_path, meta(), *typed("<image name=[Image #1]>", image, "</image>", linked), assistant("Nice"))
    role, (shown, named) = said(source)[0]
    assert (role, shown) == ("user", {"type": "image", "media_type": "image/jpeg", "bytes": 5})
    assert (named["media_type"], named["bytes"]) == (None, None)


def test_thinking_is_the_summary_else_the_raw_words_and_never_what_is_encrypted(tmp_path: Path) -> None:
    def thought(**more: Any) -> Record:
        return item("reasoning", **{"summary": [], "content": None, "encrypted_content": "b3BhcXVl", **more})

    thoughts = [
        thought(summary=[{"type": "summary_text", "text": "a"}, {"type": "summary_text", "text": "b"}]),
        thought(content=[{"type": "reasoning_text", "text": "c"}]),
        thought(),
    ]
    shown = messages(write(tmp_path, meta(), *typed("Go"), *thoughts, assistant("Done")))
    assert shown[1]["thinking"] == "a\n\nb\n\nc"
    assert "thinking" not in messages(write(tmp_path, meta(), *typed("Go"), thought(), assistant("Done")))[1]


def test_thinking_that_led_to_nothing_does_not_move_on_to_the_next_turn(tmp_path: Path) -> None:
    lost = item("reasoning", summary=[{"type": "summary_text", "text": "lost"}])
    shown = messages(write(tmp_path, meta(), *typed("Go"), lost, *typed("Stop"), assistant("Done")))
    assert "thinking" not in shown[-1]


def test_the_model_of_each_answer_is_that_of_its_turn(tmp_path: Path) -> None:
    source = write(
        tmp_path,
        meta(),
        turn(None, "a"),
        *typed("1"),
        assistant("1"),
        turn(None, "b"),
        *typed("2"),
        assistant("2"),
        turn(None, "c"),
    )
    assert [one["model"] for one in messages(source) if one["role"] == "assistant"] == ["a", "b"]
    assert reading(source).model == "b"


def test_settings_name_the_model_where_no_turn_does(tmp_path: Path) -> None:
    settings = event("thread_settings_applied", thread_settings={"model": "chosen"})
    assert reading(write(tmp_path, meta(), settings, *typed("Go"))).model == "chosen"


def test_the_folder_of_a_turn_is_second_to_that_of_the_thread(tmp_path: Path) -> None:
    elsewhere = entry("turn_context", {"cwd": "/srv/elsewhere"})
    assert reading(write(tmp_path, meta(), elsewhere, *typed("Go"))).info.project_path == "/srv/shop"
    assert reading(write(tmp_path, meta(cwd=None), elsewhere, *typed("Go"))).info.project_path == "/srv/elsewhere"


def test_a_summary_of_a_compaction_is_the_runtimes_word(tmp_path: Path) -> None:
    compacted = entry("compacted", {"message": "They greeted.", "replacement_history": [user("Hello")["payload"]]})
    source = write(tmp_path, meta(), *typed("Hello"), assistant("Hi"), compacted, entry("compacted", {"message": ""}))
    assert said(source) == [("user", "Hello"), ("assistant", "Hi"), ("system", "They greeted.")]


@pytest.mark.parametrize(
    ("entries", "ending"),
    [
        ([assistant("Hi")], "completed"),
        ([], "aborted"),
        ([event("task_started"), assistant("Hi")], "aborted"),
        ([event("task_started"), assistant("Hi"), event("task_complete", last_agent_message="Hi")], "completed"),
        ([event("task_started"), event("task_complete", last_agent_message=None)], "error"),
        ([assistant("Hi"), event("task_complete", last_agent_message=None)], "completed"),
        ([assistant("Hi"), event("task_complete", last_agent_message="Hi", error={"message": "no"})], "error"),
        ([event("error", message="no")], "error"),
        ([assistant("Hi"), event("error", message="no"), event("task_complete", last_agent_message="Hi")], "error"),
        ([assistant("Hi"), event("turn_aborted", reason="interrupted")], "aborted"),
        ([assistant("Hi"), event("turn_aborted", reason="review_ended")], "completed"),
        ([event("turn_aborted", reason="interrupted"), *typed("Again"), assistant("Hi")], "completed"),
    ],
)
def test_how_a_thread_stands_after(tmp_path: Path, entries: list[Record], ending: str) -> None:
    assert reading(write(tmp_path, meta(), *typed("Hello"), *entries)).ending == ending


def test_turns_that_were_rolled_back_leave_the_conversation(tmp_path: Path) -> None:
    talk = [one for n in range(4) for one in (*typed(f"{n}?"), assistant(f"{n}!"))]
    back = [event("thread_rolled_back", num_turns=2), *typed("4?"), assistant("4!"), event("thread_rolled_back", num_turns=1)]
    source = write(tmp_path, meta(), *talk, *back)
    assert [content for _, content in said(source)] == ["0?", "0!", "1?", "1!"]
    assert reading(source).ending == "completed"
    assert said(write(tmp_path, meta(), *talk, event("thread_rolled_back", num_turns=0))) == said(write(tmp_path, meta(), *talk))


def test_rolling_back_all_turns_leaves_no_session(tmp_path: Path) -> None:
    source = write(tmp_path, meta(), *typed("Hello"), assistant("Hi"), event("thread_rolled_back", num_turns=9))
    assert said(source) == []


def test_a_task_between_agents_is_the_prompt_of_the_one_it_starts(tmp_path: Path) -> None:
    spawned = {"subagent": {"thread_spawn": {"parent_thread_id": "main"}}}
    task = entry("inter_agent_communication", {"content": "Count them", "trigger_turn": True})
    later = item("agent_message", content=[text("Message Type: FINAL_ANSWER\nTask name: /root\nSender: /x\nPayload:\nSeven")])
    source = write(tmp_path, meta(source=spawned), task, assistant("Five."), later)
    assert [role for role, _ in said(source)] == ["user", "assistant", "system"]
    assert (reading(source).start.kind, reading(source).start.parent_id, reading(source).title) == (
        "subagent",
        "main",
        "Count them",
    )
    assert [role for role, _ in said(write(tmp_path, meta(), *typed("Hello"), task))] == ["user", "system"]


@pytest.mark.parametrize(
    ("recorded", "kind", "parent"),
    [
        ({"source": "vscode", "session_id": "root"}, "session", None),
        ({"source": {"subagent": "review"}}, "subagent", None),
        ({"source": {"subagent": {"other": "guardian"}}, "parent_thread_id": "main"}, "subagent", "main"),
        ({"thread_source": "subagent", "parent_thread_id": "main", "forked_from_id": "other"}, "subagent", "main"),
        ({"thread_source": "user", "parent_thread_id": "main"}, "session", None),
        ({"forked_from_id": "other"}, "session", "other"),
    ],
)
def test_sub_agents_and_forks_name_where_they_come_from(tmp_path: Path, recorded: Record, kind: str, parent: str | None) -> None:
    start = reading(write(tmp_path, meta(**recorded), *typed("Go"))).start
    assert (start.session_id, start.kind, start.parent_id) == (THREAD, kind, parent)


def test_entries_of_unknown_types_are_counted_and_known_ones_without_words_are_not(tmp_path: Path) -> None:
    noise = [entry("world_state", {}), item("ghost_snapshot"), event("never_heard_of")]
    unknown = [entry("never_heard_of", {}), item("never_heard_of"), {"type": "never_heard_of"}]
    assert reading(write(tmp_path, meta(), *noise, *typed("Go"), *unknown)).unknown == 3
