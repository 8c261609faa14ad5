"""Roo Code and Zoo Code: where their tasks lie, and a file of a task that is just being replaced."""

import os
import time
from pathlib import Path

import pytest

from coding_agents_sidecar.adapters.roo_code import RooCode
from coding_agents_sidecar.fold import Fold
from coding_agents_sidecar.formats.places import Unlisted
from tests.adapters.cline import (
    AT,
    CODE,
    Index,
    assistant,
    found,
    read,
    request,
    result,
    say,
    sources,
    task,
    text,
    use,
    user,
    write,
)

ROO = f"{CODE}/rooveterinaryinc.roo-cline"
API = [user(text("<user_message>\nGo\n</user_message>")), assistant(text("Gone."))]
SHOWN = [say(0, "text", "Go"), request(10, tokensIn=5, tokensOut=1, cost=0.01)]
adapter = RooCode()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.mark.parametrize(
    "settings",
    [
        '{{\n  // the cache\n  "editor.fontSize": 12,\n  "{key}": "{path}",\n}}\n',
        '{{"editor.fontSize": 12, "{key}": "{path}"}}',
    ],
    ids=["commented", "line"],
)
@pytest.mark.parametrize("key", ["roo-cline.customStoragePath", "zoo-code.customStoragePath"])
def test_a_setting_of_an_editor_names_another_folder(home: Path, key: str, settings: str) -> None:
    task(home / "big disk", AT, API)
    write(home / ".config/VSCodium/User/settings.json", settings.format(key=key, path=home / "big disk"))
    assert [(source.path, source.origin) for source in sources(adapter, home)] == [
        (str(home / "big disk/tasks" / str(AT) / "api_conversation_history.json"), "VSCodium")
    ]


@pytest.mark.parametrize(
    "line",
    [
        '// "roo-cline.customStoragePath": "{path}"',
        '"roo-cline.customStoragePath": "big"',
        '"roo-cline.customStoragePath": 7',
        '"other-cline.customStoragePath": "{path}"',
    ],
)
def test_a_setting_that_is_commented_out_relative_or_anothers_names_none(home: Path, line: str) -> None:
    task(home / "big", AT, API)
    write(home / ".config/VSCodium/User/settings.json", "{\n  " + line.format(path=home / "big") + "\n}\n")
    assert sources(adapter, home) == []


def test_a_task_one_of_whose_files_is_just_being_replaced_keeps_its_row(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = task(home / ROO, AT, API, SHOWN)
    index = Index("roo-code", home)
    index.run()
    before = index.rows()
    (folder / "ui_messages.json").rename(folder / ".ui_messages.json.bak_1750000000000_a1b2c3.tmp")
    report = index.run()
    assert ([one["source"] for one in report["failed"]], report["missing"]) == ([str(folder)], 0)
    assert index.rows() == before
    # A crash leaves it like that for ever: then the rows are lost, and the task is what is left of it.
    later = time.time() + 3600
    monkeypatch.setattr(time, "time", lambda: later)
    assert (index.run()["failed"], index.rows()["", str(AT)]["token_total"]) == ([], None)


def test_a_task_of_which_nothing_is_left_but_a_file_put_aside_is_none(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = home / ROO / "tasks" / str(AT)
    write(folder / ".api_conversation_history.json.new_1750000000000_a1b2c3.tmp", API)
    assert list(found(adapter, home)) == [Unlisted(str(folder), "a file in it is being replaced")]
    later = time.time() + 3600
    monkeypatch.setattr(time, "time", lambda: later)
    assert list(found(adapter, home)) == []


def test_the_history_of_a_task_counts_before_the_list_and_the_list_before_nothing(home: Path) -> None:
    folder = task(home / ROO, AT, API)
    write(home / ROO / "tasks/_index.json", {"entries": [{"id": str(AT), "workspace": "/home/kim/listed", "ts": AT + 5000}]})
    index = Index("roo-code", home)
    index.run()
    assert index.rows()["", str(AT)]["project_path"] == "/home/kim/listed"
    write(folder / "history_item.json", {"id": str(AT), "workspace": "/home/kim/own", "ts": AT + 9000})
    index.run()
    row = index.rows()["", str(AT)]
    assert (row["project_path"], row["last_activity_at"]) == ("/home/kim/own", AT // 1000 + 9)


def test_words_in_an_approval_are_a_prompt_and_in_the_output_of_a_tool_are_not(home: Path) -> None:
    calls = [use(f"c{number}", "execute_command") for number in range(3)]
    answers = [
        result("c0", '{"status":"approved","feedback":"Faster"}'),
        result("c1", '{"status":"approved","feedback":"Of a program","id":7}'),
        result("c2", "The user denied this operation."),
    ]
    task(home / ROO, AT, [*API[:1], assistant(*calls), user(*answers)])
    messages = read(adapter, home)
    assert [one["content"] for one in messages if one["role"] == "user"] == ["Go", "Faster"]
    assert [one["tool_result"]["is_error"] for one in messages if one["role"] == "tool"] == [False, False, True]


def test_the_model_named_last_answers_until_another_one_is_named(home: Path) -> None:
    state = "<environment_details>\n# Current Mode\n<model>acme/{}</model>\n</environment_details>"
    small, large = user(text("Go"), text(state.format("small"))), user(text("On"), text(state.format("large")))
    answer = assistant(text("Gone."))
    task(home / ROO, AT, [small, answer, user(text("And a <model>word</model>")), answer, large, answer])
    assert [one["model"] for one in read(adapter, home) if one["role"] == "assistant"] == ["acme/small"] * 2 + ["acme/large"]


def test_reasoning_apart_from_a_response_is_known(home: Path) -> None:
    task(home / ROO, AT, [API[0], {"type": "reasoning", "encrypted_content": "AAAA"}, {"role": "narrator"}, API[1]])
    (source,) = sources(adapter, home)
    (reading,) = Fold("roo-code").run(adapter.events(source)).readings()
    assert (reading.message_count, reading.unknown) == (2, 1)


def test_a_task_is_dated_by_its_first_row_then_by_its_id(home: Path) -> None:
    uuid = "0197a000-1111-7333-8444-aaaaaaaaaaaa"
    random = "0197a000-1111-4333-8444-aaaaaaaaaaaa"
    task(home / ROO, uuid, API, [{**row, "ts": row["ts"] + 1000} for row in SHOWN])
    task(home / ROO, uuid.replace("aaaa-", "bbbb-").replace("1111", "2222"), API)
    folder = task(home / ROO, random, API)
    index = Index("roo-code", home)
    index.run()
    started = {name: row["started_at"] for (_, name), row in index.rows().items()}
    assert started == {
        uuid: AT // 1000 + 1,
        uuid.replace("1111", "2222"): int("0197a0002222", 16) // 1000,
        random: int(os.stat(folder / "api_conversation_history.json").st_mtime),
    }
