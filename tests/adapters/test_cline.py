"""Cline's tasks: what their messages hold, whose words they are, and what a change of the list or of a file means."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from coding_agents_sidecar.adapters.cline import Cline
from coding_agents_sidecar.testing import lay
from tests.adapters.cline import (
    AT,
    CODE,
    Index,
    assistant,
    read,
    request,
    result,
    said,
    say,
    sources,
    task,
    text,
    use,
    user,
    write,
)

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures" / "cline"
STORAGE = f"{CODE}/saoudrizwan.claude-dev"
YES = assistant(text("Yes."))

adapter = Cline()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def storage(home: Path) -> Path:
    return home / STORAGE


def laid(case: str, tmp_path: Path, id: str) -> list[dict[str, Any]]:
    """Return the messages of one task of a fixture."""
    home = tmp_path / "home"
    home.mkdir()
    lay(FIXTURES / case, home)
    for folder in (home / STORAGE / "tasks").iterdir():
        if folder.name != id:
            folder.rename(home / folder.name)
    return read(adapter, home)


def test_a_prompt_holds_what_was_typed_and_media_without_their_data(tmp_path: Path) -> None:
    assert laid("classic", tmp_path, "1750000000000")[0]["content"] == [
        {"type": "text", "text": "Fix the tax rounding"},
        {"type": "image", "media_type": "image/png", "bytes": 5},
    ]


def test_an_answer_holds_its_thinking_its_model_and_what_its_own_request_used(tmp_path: Path) -> None:
    messages = laid("classic", tmp_path, "1750000000000")
    answers = [one for one in messages if one["role"] == "assistant"]
    assert [(one["model"], one["tokens"]["total"], one["cost"]) for one in answers] == [
        ("acme/plan-1", 120, 0.001),
        ("acme-4", 330, 0.002),
        ("acme-4", 355, 0.003),
        ("acme-4", 355, 0.004),
    ]
    assert answers[0]["thinking"] == "Rounding is naive."


def test_a_call_is_paired_with_its_result_and_a_refusal_is_an_error(tmp_path: Path) -> None:
    messages = laid("classic", tmp_path, "1750000000000")
    calls = [call for one in messages for call in one["tool_calls"] or ()]
    assert [(call["id"], call.get("is_error"), call.get("duration_ms")) for call in calls] == [
        ("t1", True, 3000),
        ("t2", False, 1000),
        ("t3", None, None),
    ]
    assert messages[5]["content"] == "Use half-even"


def test_calls_written_in_the_text_are_taken_out_and_answered_by_name_and_order(tmp_path: Path) -> None:
    messages = laid("oldest", tmp_path, "1722000000000")
    calls = [(one["content"], call) for one in messages for call in one["tool_calls"] or ()]
    assert calls == [
        (
            "<thinking>Read first.</thinking>",
            {
                "id": "read_file-1",
                "name": "read_file",
                "input": {"path": "README.md"},
                "output": "# Shop\n<feedback>\nof the file itself\n</feedback>\nend",
                "is_error": False,
            },
        ),
        (
            "Running it.",
            {
                "id": "execute_command-2",
                "name": "execute_command",
                "input": {"command": "cat README.md"},
                "output": "The user denied this operation and provided the following feedback:\n<feedback>\nNo shell\n</feedback>",
                "is_error": True,
            },
        ),
    ]
    assert [one["content"] for one in messages if one["role"] == "user"] == ["Show the readme", "All of it", "No shell"]


def test_records_without_a_time_have_that_of_the_request_that_sent_them(tmp_path: Path) -> None:
    messages = laid("oldest", tmp_path, "1722000000000")
    assert [one["timestamp"] for one in messages if one["role"] == "user"] == [1722000000, 1722000006, 1722000008]
    assert {one["timestamp"] for one in messages if one["role"] == "assistant"} == {None}


def test_a_task_told_by_its_rows_alone_has_media_without_their_data(tmp_path: Path) -> None:
    messages = laid("damaged", tmp_path, "1751000200000")
    assert [(one["role"], one["content"]) for one in messages] == [
        ("user", [{"type": "text", "text": "Only shown"}, {"type": "image", "media_type": "image/png", "bytes": 5}]),
        ("assistant", "Looking."),
        ("system", "It broke"),
        ("assistant", "Done."),
    ]
    assert [one["tokens"]["total"] for one in messages if one["role"] == "assistant"] == [12, 10]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        pytest.param(
            "<task>\nOne string\n</task>\n\n<environment_details>\nx\n</environment_details>",
            [("user", "One string")],
            id="string",
        ),
        pytest.param("Plain words", [("user", "Plain words")], id="plain"),
        pytest.param(
            "Why does\n<answer>\n42\n</answer>\nfail?", [("user", "Why does\n<answer>\n42\n</answer>\nfail?")], id="quoted"
        ),
        pytest.param(
            '<explicit_instructions type="new_rule">\nWrite one.\n</explicit_instructions>\n<task>\nbe brief\n</task>',
            [("system", '<explicit_instructions type="new_rule">\nWrite one.\n</explicit_instructions>'), ("user", "be brief")],
            id="instructions",
        ),
        pytest.param(
            '<task>\nsee a.py\n</task>\n\n<file_content path="a.py">\nx\n</file_content>',
            [("system", '<file_content path="a.py">\nx\n</file_content>'), ("user", "see a.py")],
            id="file",
        ),
        pytest.param(
            "[TASK RESUMPTION] This task was interrupted.",
            [("system", "[TASK RESUMPTION] This task was interrupted.")],
            id="resumed",
        ),
        pytest.param(
            "[TASK RESUMPTION] Interrupted.\n\nNew instructions:\n<user_message>\ngo on\n</user_message>",
            [("user", "go on")],
            id="resumed-with-words",
        ),
        pytest.param(
            "[attempt_completion] Result:\nThe user has provided feedback on the results.\n<feedback>\nmore\n</feedback>",
            [("user", "more")],
            id="feedback",
        ),
        pytest.param("[plan_mode_respond] Result:\n[Now in ACT MODE]", [("tool", "[Now in ACT MODE]")], id="no-words"),
        pytest.param(
            "[list_files for '.'] Result:\na.py\n\n<environment_details>\nx\n</environment_details>",
            [("tool", "a.py")],
            id="state-behind",
        ),
        pytest.param("<task>\nNever closed", [("user", "<task>\nNever closed")], id="open"),
    ],
)
def test_words_of_the_program_are_told_from_those_of_a_person(
    home: Path, storage: Path, content: str, expected: list[tuple[str, str]]
) -> None:
    task(storage, AT, [{"role": "user", "content": content}, YES])
    assert said(adapter, home)[:-1] == expected


def test_a_resumption_ends_the_result_before_it(home: Path, storage: Path) -> None:
    asked = user(
        text("[execute_command for 'ls'] Result:"),
        text("a.py"),
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGVsbG8="}},
        text("[TASK RESUMPTION] Interrupted."),
        text("New instructions for task continuation:\n<user_message>\ngo on\n</user_message>"),
    )
    task(storage, AT, [asked, YES])
    assert said(adapter, home) == [
        ("tool", [text("a.py"), {"type": "image", "media_type": "image/png", "bytes": 5}]),
        ("system", "[TASK RESUMPTION] Interrupted."),
        ("user", "go on"),
        ("assistant", "Yes."),
    ]


def test_an_answered_question_with_an_id_is_a_result_and_a_prompt(home: Path, storage: Path) -> None:
    api = [assistant(use("q1", "ask_followup_question", question="Which?")), user(result("q1", "<answer>\nBoth\n</answer>")), YES]
    task(storage, AT, [user(text("<task>\nGo\n</task>")), *api])
    assert said(adapter, home)[2:4] == [("tool", "<answer>\nBoth\n</answer>"), ("user", "Both")]


def test_a_response_without_content_is_no_answer(home: Path, storage: Path) -> None:
    task(storage, AT, [user(text("Go")), assistant(), assistant(text("Failure: I did not provide a response.")), YES])
    assert [role for role, _ in said(adapter, home)] == ["user", "system", "system", "assistant"]


@pytest.mark.parametrize(
    "last",
    [
        use("t9", "attempt_completion", result="Done."),
        text("<attempt_completion>\n<result>Done.</result>\n</attempt_completion>"),
    ],
    ids=["call", "text"],
)
def test_a_result_handed_over_ends_a_task_without_rows(home: Path, storage: Path, last: Any) -> None:
    task(storage, AT, [user(text("Go")), assistant(use("t1", "read_file")), user(text("On")), assistant(last)])
    index = Index("cline", home)
    index.run()
    assert index.rows()["", str(AT)]["status"] == "completed"


@pytest.mark.parametrize(("provider", "uncached", "doubtful"), [("anthropic", 50, None), ("openai", 20, None), ("new", 50, True)])
def test_cached_tokens_are_taken_out_where_the_provider_counts_them_as_input(
    home: Path, storage: Path, provider: str, uncached: int, doubtful: bool | None
) -> None:
    shown = [say(0, "task", "Go"), request(10, provider, tokensIn=50, tokensOut=1, cacheReads=20, cacheWrites=10)]
    task(storage, AT, [user(text("Go")), YES], shown)
    index = Index("cline", home)
    index.run()
    head, _ = index.sidecar.read("cline", str(AT), "", raw=False)
    assert (head["input_tokens"], head["meta"].get("approximate_tokens")) == (uncached, doubtful)


def test_a_cost_of_nothing_only_says_that_the_model_has_no_price(home: Path, storage: Path) -> None:
    task(storage, AT, [user(text("Go")), YES], [say(0, "task", "Go"), request(10, tokensIn=5, tokensOut=1, cost=0)])
    index = Index("cline", home)
    index.run()
    row = index.rows()["", str(AT)]
    assert (row["token_total"], row["cost_usd"], row["cost_source"]) == (6, None, None)


def test_requests_that_cannot_be_told_apart_count_but_show_at_no_message(home: Path, storage: Path) -> None:
    shown = [say(0, "task", "Go"), *(request(ms, tokensIn=5, tokensOut=1, cost=0.01) for ms in (10, 20))]
    task(storage, AT, [user(text("Go")), YES], shown)
    index = Index("cline", home)
    index.run()
    assert index.rows()["", str(AT)]["token_total"] == 12
    assert "tokens" not in read(adapter, home)[1]


def test_a_list_that_changes_touches_only_the_tasks_it_says_something_new_of(home: Path, storage: Path) -> None:
    for id in (AT, AT + 1):
        task(storage, id, [user(text("<task>\nGo\n</task>")), YES])
    items = [{"id": str(id), "task": "Go", "cwdOnTaskInitialization": "/home/kim/shop"} for id in (AT, AT + 1)]
    index = Index("cline", home)
    write(storage / "state/taskHistory.json", items)
    index.run()
    before = {source.path: source.stamp() for source in sources(adapter, home)}
    items[1]["cwdOnTaskInitialization"] = "/home/kim/other"
    write(storage / "state/taskHistory.json", json.dumps(items) + "]")
    changed = [os.path.dirname(one.path) for one in sources(adapter, home) if before[one.path] != one.stamp()]
    assert changed == [str(storage / "tasks" / str(AT + 1))]
    assert index.run()["updated"] == 1
    assert [index.rows()["", str(id)]["project_path"] for id in (AT, AT + 1)] == ["/home/kim/shop", "/home/kim/other"]


def test_a_list_that_is_lost_loses_no_task(home: Path, storage: Path) -> None:
    state = "<environment_details>\n# Current Working Directory (/home/kim/shop) Files\na.py\n</environment_details>"
    task(storage, AT, [user(text("<task>\nGo\n</task>"), text(state)), YES])
    items = write(
        storage / "state/taskHistory.json", [{"id": str(AT), "task": "Go", "cwdOnTaskInitialization": "/home/kim/shop"}]
    )
    index = Index("cline", home)
    index.run()
    before = index.rows()
    items.unlink()
    report = index.run()
    assert (report["updated"], report["missing"], index.rows()) == (0, 0, before)


def test_a_task_copied_from_another_editor_is_one_session_from_the_start(home: Path) -> None:
    insiders = home / ".config/Code - Insiders/User/globalStorage/saoudrizwan.claude-dev"
    task(insiders, AT, [user(text("<task>\nGo\n</task>")), YES])
    assert [source.origin for source in sources(adapter, home)] == ["Code - Insiders"]
    write(home / f".cline/data/sessions/{AT}/{AT}.messages.json", {"messages": [{"role": "user", "content": "Go"}, YES]})
    index = Index("cline", home)
    index.run()
    assert [(name, Path(row["file_path"]).name) for name, row in index.rows().items()] == [(("", str(AT)), f"{AT}.messages.json")]
