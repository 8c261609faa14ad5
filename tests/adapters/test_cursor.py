"""Cursor: what its records mean, beyond what the contract of all adapters asks for."""

import json
from pathlib import Path
from typing import Any

import pytest

from coding_agents_sidecar.fold import Fold
from coding_agents_sidecar.formats.blocks import text_part
from coding_agents_sidecar.formats.cursor import moments, replies, uris, wire
from coding_agents_sidecar.formats.cursor.spoken import Spoken
from coding_agents_sidecar.model import ToolResult

from .cursor import GLOBAL, adapter, converse, database, fixture, read, source_of

EDITOR = "ed000001-0000-4000-8000-000000000001"
CHAT = "c1000001-0000-4000-8000-000000000001"
UNKNOWN = {"input": None, "output": None, "cache_read": None, "cache_write": None, "reasoning": None, "total": None}


@pytest.fixture
def editor(tmp_path: Path) -> list[dict[str, Any]]:
    """The messages of a conversation of the editor."""
    return read(source_of(fixture("editor", tmp_path / "home"), GLOBAL), EDITOR)


def test_a_prompt_holds_what_was_typed_and_images_without_their_data(editor: list[dict[str, Any]]) -> None:
    assert editor[0]["content"] == [
        {"type": "text", "text": "Sort the shelf"},
        {"type": "image", "media_type": "image/png", "bytes": None},
    ]
    injected, typed = editor[-3:-1]
    assert (injected["role"], injected["content"]) == ("system", "<attached_files>\n<file>box.txt</file>\n</attached_files>")
    assert (typed["role"], typed["content"], typed["id"]) == ("user", "And the box", "u2")


def test_the_messages_stand_in_the_order_of_the_list(editor: list[dict[str, Any]]) -> None:
    ids = [one["id"] for one in editor if one["role"] in ("user", "assistant")]
    assert ids == ["u1", "a1", "t1", "t2", "t3", "a2", "u2", "a3"]


def test_a_tool_is_a_call_and_its_result(editor: list[dict[str, Any]]) -> None:
    calls = {call["id"]: call for one in editor for call in one["tool_calls"] or ()}
    assert calls["c1"] == {
        "id": "c1",
        "name": "read_file_v2",
        "input": {"path": "shelf.txt"},
        "output": {"contents": "b\na"},
        "is_error": False,
        "duration_ms": 1500,
    }
    assert calls["c2"] == {"id": "c2", "name": "run_terminal_command_v2", "input": {"command": "rm -r ."}}
    # Nothing tells when it ended: a duration of 0 would be made up.
    assert calls["c3"] == {
        "id": "c3",
        "name": "edit_file_v2",
        "input": {"path": "shelf.txt"},
        "output": "no such file",
        "is_error": True,
    }
    assert [one["tool_result"]["tool_call_id"] for one in editor if one["role"] == "tool"] == ["c1", "c3"]


def test_counts_of_zero_are_unknown_and_others_stand_at_their_message(editor: list[dict[str, Any]]) -> None:
    tokens = {one["id"]: one["tokens"] for one in editor if "tokens" in one}
    assert tokens == {
        "t1": {**UNKNOWN, "output": 50, "total": 50},
        "a2": {**UNKNOWN, "input": 1200, "output": 300, "total": 1500},
    }


def test_answers_have_the_model_of_their_prompt_but_for_a_placeholder(editor: list[dict[str, Any]]) -> None:
    models = {one["id"]: one.get("model") for one in editor if one["role"] == "assistant"}
    assert models == dict.fromkeys(("a1", "t1", "t2", "t3", "a2"), "acme-large") | {"a3": None}


def test_thinking_is_shown_apart(editor: list[dict[str, Any]]) -> None:
    assert [(one["content"], one["thinking"]) for one in editor if "thinking" in one] == [("", "Look first.")]


def test_the_error_in_an_answers_place_is_told_by_the_runtime(tmp_path: Path) -> None:
    home = fixture("editor", tmp_path / "home")
    messages = read(source_of(home, GLOBAL), "ed000003-0000-4000-8000-000000000003")
    assert [(one["role"], one["content"]) for one in messages] == [("user", "An idea"), ("system", "rate limited")]


def test_bubbles_without_a_time_get_none(tmp_path: Path) -> None:
    source = source_of(fixture("editor-older", tmp_path / "home"), GLOBAL)
    messages = read(source, "ed000011-0000-4000-8000-000000000011")
    assert [one["timestamp"] for one in messages] == [None, 1750000005, None]
    assert [one["content"] for one in messages] == ["Old style?", "Yes.", "More, please"]
    assert messages[1]["thinking"] == "Hm."
    assert {one["timestamp"] for one in read(source, "ed000013-0000-4000-8000-000000000013")} == {None}


def test_a_bubble_is_found_by_the_id_in_it_before_that_in_its_key(tmp_path: Path) -> None:
    home = fixture("editor-older", tmp_path / "home")
    with database(home / GLOBAL) as db:
        converse(db, "swapped", [{"type": 1, "bubbleId": "b1", "text": "second"}, {"type": 1, "bubbleId": "b0", "text": "first"}])
    assert [one["content"] for one in read(source_of(home, GLOBAL), "swapped")] == ["first", "second"]
    contents = [one["content"] for one in read(source_of(home, GLOBAL), "ed000013-0000-4000-8000-000000000013")]
    assert contents == ["Where are you?", "Under another key.", "And the empty one?", "Here too.", "From the map."]


def test_tokens_noted_on_a_prompt_count_without_being_the_answers(tmp_path: Path) -> None:
    with database(tmp_path / GLOBAL) as db:
        prompt = {"type": 1, "text": "Go", "tokenCount": {"inputTokens": 70, "outputTokens": 0}}
        converse(db, "c", [{"type": 1, "text": "?"}, {"type": 2, "text": "!"}, prompt])
    source = source_of(tmp_path, GLOBAL)
    assert [one for one in read(source) if "tokens" in one] == []
    (reading,) = Fold("cursor").run(adapter.events(source)).readings()
    assert list(reading.usage.values()) == [[70, None, None, None, None, None]]


@pytest.mark.parametrize(
    ("bubbles", "status", "expected"),
    [
        ([{"type": 1, "text": "?"}, {"type": 2, "text": "!"}], "none", "completed"),
        ([{"type": 1, "text": "?"}], "none", "aborted"),
        ([{"type": 1, "text": "?"}], "completed", "completed"),
        ([{"type": 1, "text": "?"}, {"type": 2, "toolFormerData": {"name": "x", "toolCallId": "c", "status": "loading"}}], None, "aborted"),
        ([{"type": 1, "text": "?"}, {"type": 2, "toolFormerData": {"name": "x", "toolCallId": "c", "status": "completed"}}], None, "completed"),
        ([{"type": 1, "text": "?"}, {"type": 2, "text": "…", "errorDetails": {"message": "x"}}], None, "error"),
        ([{"type": 1, "text": "?"}, {"type": 2, "text": "…"}], "generating", "aborted"),
    ],
)  # fmt: skip
def test_a_conversation_ends_as_it_says_else_as_its_last_bubble_does(
    tmp_path: Path, bubbles: list[dict[str, Any]], status: str | None, expected: str
) -> None:
    with database(tmp_path / GLOBAL) as db:
        converse(db, "c", bubbles, status=status)
    (reading,) = Fold("cursor").run(adapter.events(source_of(tmp_path, GLOBAL))).readings()
    assert reading.ending == expected


def test_a_chat_of_the_command_line_holds_thinking_calls_and_media(tmp_path: Path) -> None:
    system, info, beside, prompt, answer, result, last = read(source_of(fixture("chats", tmp_path / "home"), f"{CHAT}/store.db"))
    assert [one["role"] for one in (system, info, beside)] == ["system"] * 3
    assert prompt["content"] == [
        {"type": "text", "text": "List the shelf, see <user_info>"},
        {"type": "image", "media_type": "image/png", "bytes": 5},
    ]
    assert (answer["id"], answer["content"], answer["thinking"]) == ("m4", "", "I list.")
    assert answer["tool_calls"] == [
        {"id": "c1", "name": "Shell", "input": {"command": "ls"}, "output": "a\nb", "is_error": False}
    ]
    assert result["tool_result"]["output"] == "a\nb"
    assert (last["content"], last["timestamp"], last["id"]) == ("Two things.", None, "06" * 32)


def test_a_transcript_holds_calls_without_results_and_no_hidden_thoughts(tmp_path: Path) -> None:
    home = fixture("transcripts", tmp_path / "home")
    _, _, call, last = read(source_of(home, "000000000002.jsonl"))
    assert (call["content"], call["tool_calls"]) == ("", [{"id": None, "name": "Read", "input": {"path": "a.txt"}}])
    assert last["content"] == "Mended."


def test_the_oldest_transcript_holds_thinking_calls_and_results(tmp_path: Path) -> None:
    prompt, answer, result, last, _, thanks = read(source_of(fixture("transcripts", tmp_path / "home"), ".txt"))
    assert prompt["content"] == "Count the shelves\nuser:\nis text here"
    assert (answer["content"], answer["thinking"]) == ("", "I list.\n  And count.")
    assert answer["tool_calls"] == [{"id": None, "name": "Shell", "input": {"command": "ls |\nwc -l", "description": "count"}}]
    assert (result["tool_result"]["tool_name"], result["tool_result"]["output"]) == ("Shell", "7")
    assert (last["content"], last["tool_calls"]) == ("Seven.", None)
    assert (thanks["content"], thanks["tool_calls"][0]["input"]) == ("You are welcome.", {"text": "thanked"})


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        ({"type": "text", "text": "Words"}, "Words"),
        ({"type": "image", "image": "data:image/png;base64,aGVsbG8="}, {"type": "image", "media_type": "image/png", "bytes": 5}),
        ({"type": "image", "image": "https://acme.example/a.png"}, {"type": "image", "media_type": None, "bytes": None}),
        ({"type": "file", "data": {"type": "Buffer", "data": [1, 2]}}, {"type": "file", "media_type": None, "bytes": 2}),
        (
            {"type": "file", "data": {"0": 1}, "mediaType": "image/gif", "filename": "a.gif"},
            {"type": "image", "media_type": "image/gif", "bytes": 1, "name": "a.gif"},
        ),
        ({"type": "source", "url": "x"}, {"type": "source", "url": "x"}),
    ],
)
def test_a_part_of_a_reply_is_shown_without_its_data(part: dict[str, Any], expected: Any) -> None:
    (message,) = replies.messages_of({"role": "user", "content": [part]}, None)
    assert message.content == (expected if isinstance(expected, str) else [expected])


@pytest.mark.parametrize(
    ("answer", "output", "is_error"),
    [
        ({"result": "x"}, "x", False),
        ({"result": {"rows": 1}}, {"rows": 1}, False),
        ({"result": "no", "isError": True}, "no", True),
        ({"output": {"type": "error-text", "value": "no"}}, "no", True),
        ({"output": {"type": "json", "value": {"a": 1}}}, {"a": 1}, False),
        ({"experimental_content": [{"type": "text", "text": "x"}]}, "x", False),
        ({}, "", False),
    ],
)
def test_the_result_of_a_tool_has_several_shapes(answer: dict[str, Any], output: Any, is_error: bool) -> None:
    part = {"type": "tool-result", "toolCallId": "c", "toolName": "Read", **answer}
    (message,) = replies.messages_of({"role": "tool", "content": [part]}, None)
    assert message.tool_result == ToolResult("c", output, is_error, "Read")


def test_raw_messages_carry_the_native_records(tmp_path: Path) -> None:
    messages = read(source_of(fixture("editor", tmp_path / "home"), GLOBAL), EDITOR, raw=True)
    (record,) = messages[1]["raw"]
    assert (record["bubbleId"], record["capabilityType"]) == ("a1", 30)


@pytest.mark.parametrize(
    ("words", "typed", "injected"),
    [
        ("Plain", ["Plain"], []),
        ("<user_query>\nOne\n</user_query> and <user_query>two</user_query>", ["One", "two"], ["and"]),
        ("<user_query>Cut", ["Cut"], []),
        ("What is <user_query>?", ["What is <user_query>?"], []),
        ("<user_info>x</user_info>\n<rules>y</rules>", [], ["<user_info>x</user_info>\n<rules>y</rules>"]),
        ("Do it\n<attached_files>\nf\n</attached_files>\n", ["Do it"], ["<attached_files>\nf\n</attached_files>"]),
        ("<user_info>never closed", ["<user_info>never closed"], []),
        ("<div>mine</div> <my_tag>too</my_tag>", ["<div>mine</div> <my_tag>too</my_tag>"], []),
        ("closed only</user_info>", ["closed only</user_info>"], []),
        (" \n", [], []),
    ],
)
def test_what_was_typed_is_told_from_what_stands_around_it(words: str, typed: list[str], injected: list[str]) -> None:
    spoken = Spoken([text_part(words)])
    assert [part["text"] for part in spoken.typed] == typed
    assert [part["text"] for part in spoken.injected] == injected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1770000000, 1770000000.0),
        (1770000000500, 1770000000.5),
        (1770000000500000, 1770000000.5),
        (1770000000500000000, 1770000000.5),
        ("1770000000500", 1770000000.5),
        ("2026-02-02T02:40:00Z", 1770000000.0),
        ("", None),
        (0, None),
        (True, None),
        (10**400, None),
    ],
)
def test_a_time_is_told_by_its_magnitude(value: Any, expected: float | None) -> None:
    assert moments.seconds({"at": value}, "at") == expected


def test_a_clock_that_counts_from_the_programs_start_is_no_time() -> None:
    assert moments.clock({"at": 700_000_000}, "at") is None
    assert moments.clock({"at": 1770000000500}, "at") == 1770000000.5


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("file:///home/kim/my%20shop", "/home/kim/my shop"),
        ("file:///c%3A/Users/kim/shop", "c:/Users/kim/shop"),
        ("file://server/share/shop", "//server/share/shop"),
        ("vscode-remote://ssh-remote%2Bbox/home/kim/shop", "/home/kim/shop"),
        ("/home/kim/100%25", "/home/kim/100%25"),
        ("C:\\Users\\kim", "C:\\Users\\kim"),
        ({"fsPath": "/home/kim", "external": "file:///other"}, "/home/kim"),
        ({"external": "file:///home/kim"}, "/home/kim"),
        ("file://[broken", None),
        ("", None),
        (7, None),
    ],
)
def test_a_folder_is_named_by_a_uri_its_parts_or_a_path(value: Any, expected: str | None) -> None:
    assert uris.path_of(value) == expected


def test_a_message_of_protocol_buffers_may_end_or_break_anywhere() -> None:
    data = bytes.fromhex("0a03616263" + "10ac02" + "1d01000000" + "2102000000" + "00000000" + "08ffffffffffffffffff01" + "0b")
    whole = list(wire.fields_of(data))
    assert whole == [(1, b"abc"), (2, 300), (3, b"\1\0\0\0"), (4, b"\2" + bytes(7)), (1, 2**64 - 1)]
    for end in range(len(data)):
        assert list(wire.fields_of(data[:end])) == whole[: len(list(wire.fields_of(data[:end])))]


def test_values_that_are_no_text_of_json_never_break_a_conversation(tmp_path: Path) -> None:
    with database(tmp_path / GLOBAL) as db:
        converse(db, "c", [{"type": 1, "text": "?"}, {"type": 2, "text": "!"}])
        for number, value in enumerate((7, b"\xff\xfe", "", "[]", json.dumps("text"))):
            db.execute("INSERT INTO cursorDiskKV VALUES (?, ?)", (f"bubbleId:c:x{number}", value))
            db.execute("INSERT INTO cursorDiskKV VALUES (?, ?)", (f"composerData:x{number}", value))
    assert [one["content"] for one in read(source_of(tmp_path, GLOBAL))] == ["?", "!"]
