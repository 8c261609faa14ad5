"""Continue: its list and its files, half-written ones, and what its messages hold."""

import json
import os
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from coding_agents_sidecar import indexer
from coding_agents_sidecar.adapter import Source
from coding_agents_sidecar.adapters.continue_dev import Continue
from coding_agents_sidecar.config import Settings
from coding_agents_sidecar.fold import Fold
from coding_agents_sidecar.formats.places import Unlisted
from coding_agents_sidecar.model import Unknown
from coding_agents_sidecar.ops import ListQuery, Sidecar
from coding_agents_sidecar.testing import opens_below
from coding_agents_sidecar.transcript import Transcript

SETTLED = 1777629600  # 2026-05-01T10:00:00Z

adapter = Continue()


class Bench:
    """A home folder with a store."""

    def __init__(self, base: Path) -> None:
        self.home = base / "home"
        self.store = self.home / ".continue" / "sessions"
        self.store.mkdir(parents=True)
        self.state = base / "state"

    def write(self, name: str, value: Any, age: float | None = None) -> Path:
        """Write a file of JSON, or of text as it is, that was last written so many seconds ago; by default long ago."""
        path = self.store / f"{name}.json"
        path.write_text(value if isinstance(value, str) else json.dumps(value, indent=2))
        moment = SETTLED if age is None else time.time() - age
        os.utime(path, (moment, moment))
        return path

    def enlist(self, *rows: dict[str, Any], age: float | None = None) -> None:
        self.write("sessions", list(rows), age)

    def found(self) -> Iterator[Source | Unlisted]:
        for root in adapter.roots({}, self.home):
            yield from adapter.discover(root)

    def read(self, *items: Any, **more: Any) -> list[dict[str, Any]]:
        """Return the messages of a session with these items."""
        self.write("a", {"history": list(items), **more})
        (source,) = self.found()
        assert isinstance(source, Source)
        transcript = Transcript(adapter.name)
        transcript.run(adapter.events(source))
        return transcript.sessions["a"].finished(-1, raw=False)[0]

    def reindex(self) -> dict[str, Any]:
        with closing(Sidecar(Settings(self.home, {}, self.state, ""))) as sidecar:
            return sidecar.reindex(runtimes=["continue"])

    def rows(self) -> dict[str, dict[str, Any]]:
        with closing(Sidecar(Settings(self.home, {}, self.state, ""))) as sidecar:
            return {row["session_id"]: row for row in sidecar.list(ListQuery(runtimes=("continue",), limit=None))}


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def row(id: str, title: str = "Listed", created: int = SETTLED) -> dict[str, Any]:
    return {"sessionId": id, "title": title, "dateCreated": str(created * 1000), "workspaceDirectory": "/srv/shop"}


def item(role: str, content: Any = "", **more: Any) -> dict[str, Any]:
    message = {name: more.pop(name) for name in ("toolCalls", "toolCallId", "usage") if name in more}
    return {"message": {"role": role, "content": content, **message}, "contextItems": [], **more}


def session(*prompts: str) -> dict[str, Any]:
    return {"title": "", "history": [one for words in prompts for one in (item("user", words), item("assistant", "Yes"))]}


def call(id: str) -> dict[str, Any]:
    return {"id": id, "type": "function", "function": {"name": "read_file", "arguments": '{"path": "a.py"}'}}


def state(id: str, status: str, output: list[str] | None = None) -> dict[str, Any]:
    shown = {} if output is None else {"output": [{"name": "a.py", "content": words} for words in output]}
    return {"toolCallId": id, "toolCall": call(id), "status": status, **shown}


def test_a_row_of_the_list_that_changes_has_only_its_own_session_read(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    # What was written within a tick of being read would be looked at again.
    monkeypatch.setattr(indexer, "FINE_GRAIN", -1.0)
    for id in "abc":
        bench.write(id, session("Hello"))
    bench.enlist(row("a"), row("b"))
    bench.reindex()
    before = bench.rows()
    bench.enlist(row("a"), row("b", "Renamed", SETTLED - 60), row("d"))
    with opens_below(bench.store) as opened:
        report = bench.reindex()
    assert sorted(map(os.path.basename, opened)) == ["b.json", "sessions.json"]
    assert (report["updated"], report["unchanged"]) == (1, 2)
    after = bench.rows()
    assert (after["b"]["title"], after["b"]["started_at"]) == ("Renamed", SETTLED - 60)
    assert {id: after[id] for id in "ac"} == {id: before[id] for id in "ac"}


@pytest.mark.parametrize("words", ["", '[{"sessionId": "a", "ti'], ids=["empty", "half"])
def test_a_list_that_is_just_being_written_changes_nothing(bench: Bench, words: str) -> None:
    bench.write("a", session("Hello"))
    bench.enlist(row("a"))
    bench.reindex()
    before = bench.rows()
    bench.write("sessions", words, age=1)
    report = bench.reindex()
    assert (report["updated"], report["missing"], len(report["failed"])) == (0, 0, 1)
    assert bench.rows() == before
    bench.enlist(row("a"), age=1)
    assert bench.reindex()["failed"] == []
    assert bench.rows() == before


def test_a_list_that_stays_damaged_is_reported_until_it_is_whole_again(bench: Bench) -> None:
    bench.write("a", session("Hello"))
    bench.write("sessions", '[{"sessionId": "a", "ti')
    for _ in range(2):
        report = bench.reindex()
        assert [os.path.basename(failure["source"]) for failure in report["failed"]] == ["sessions.json"]
    assert bench.rows().keys() == {"a"}
    bench.enlist(row("a"))
    assert bench.reindex()["failed"] == []
    assert bench.rows()["a"]["project_path"] == "/srv/shop"


def test_an_empty_list_is_none(bench: Bench) -> None:
    bench.write("a", session("Hello"))
    bench.write("sessions", " \n")
    assert bench.reindex()["failed"] == []


def test_a_session_that_is_just_being_written_keeps_its_row_until_it_is_whole(bench: Bench) -> None:
    bench.write("a", session("Hello"))
    bench.reindex()
    before = bench.rows()["a"]
    whole = json.dumps(session("Hello", "More"))
    bench.write("a", whole[:-40], age=1)
    report = bench.reindex()
    assert (report["updated"], report["missing"], len(report["failed"])) == (0, 0, 1)
    assert bench.rows()["a"] == before
    bench.write("a", whole, age=1)
    assert bench.reindex()["failed"] == []
    assert bench.rows()["a"]["message_count"] == 4


def test_a_session_that_stays_cut_is_truncated(bench: Bench) -> None:
    bench.write("a", json.dumps(session("Hello", "More"))[:-40])
    report = bench.reindex()
    assert (report["failed"], report["skipped_records"]) == ([], 1)
    assert (bench.rows()["a"]["status"], bench.rows()["a"]["message_count"]) == ("truncated", 3)


def test_the_variable_names_another_folder(tmp_path: Path) -> None:
    roots = adapter.roots({"CONTINUE_GLOBAL_DIR": "/srv/continue"}, tmp_path)
    assert [root.path for root in roots] == ["/srv/continue/sessions"]


def test_a_result_stands_once_whether_a_state_or_a_message_tells_it(bench: Bench) -> None:
    states = [
        state("c1", "done", ["one", "more"]),
        state("c2", "errored", ["no"]),
        state("c3", "canceled"),
        state("c4", "done", []),
    ]
    messages = bench.read(
        item("user", "Look"),
        item("assistant", "", toolCalls=[call("c1"), call("c2")], toolCallStates=states),
        item("tool", "not at all", toolCallId="c2"),
        item("assistant", "Done"),
    )
    assert [(one["role"], (one["tool_result"] or {}).get("output")) for one in messages] == [
        ("user", None),
        ("assistant", None),
        ("tool", [{"type": "text", "text": "one"}, {"type": "text", "text": "more"}]),
        ("tool", ""),
        ("tool", "not at all"),
        ("assistant", None),
    ]
    assert messages[4]["tool_result"]["is_error"]
    calls = messages[1]["tool_calls"]
    assert [(one["id"], one["input"], one.get("is_error")) for one in calls] == [
        ("c1", {"path": "a.py"}, False),
        ("c2", {"path": "a.py"}, True),
        ("c3", {"path": "a.py"}, None),
        ("c4", {"path": "a.py"}, False),
    ]


def test_images_and_attachments_stand_without_their_data(bench: Bench) -> None:
    image = {"type": "imageUrl", "imageUrl": {"url": "data:image/png;base64,iVBORw0KGgo="}}
    far = {"type": "imageUrl", "imageUrl": {"url": "https://pictures.example/1.png"}}
    given = [{"name": "a.py", "content": "ä = 1"}, {"name": "rules", "content": "x", "hidden": True}, {"name": "b.py"}]
    parts = [{"type": "text", "text": "Look"}, image, far, "too", {"type": "hologram", "data": "x"}]
    (prompt,) = bench.read(item("user", parts, contextItems=given))
    assert prompt["content"] == [
        {"type": "text", "text": "Look"},
        {"type": "image", "media_type": "image/png", "bytes": 8},
        {"type": "image", "media_type": None, "bytes": None, "url": "https://pictures.example/1.png"},
        {"type": "text", "text": "too"},
        {"type": "hologram"},
        {"type": "file", "name": "a.py", "bytes": 6},
        {"type": "file", "name": "b.py", "bytes": None},
    ]


def test_thinking_belongs_to_the_answer_that_follows(bench: Bench) -> None:
    messages = bench.read(
        item("user", "Think"),
        item("thinking", [{"type": "text", "text": "First."}]),
        item("thinking", "Second."),
        item("assistant", "So", reasoning={"text": "Second.", "active": False}),
        item("assistant", "And", reasoning={"text": "Third."}),
        item("thinking", "Lost."),
        item("user", "Stop"),
    )
    assert [(one["role"], one.get("thinking")) for one in messages] == [
        ("user", None),
        ("assistant", "First.\n\nSecond."),
        ("assistant", "Third."),
        ("system", "Lost."),
        ("user", None),
    ]


@pytest.mark.parametrize(
    ("logs", "chosen", "model"),
    [
        pytest.param([{"completionOptions": {"model": "id-1"}, "modelTitle": "Mine"}, {"modelTitle": "Other"}], "Chosen", "id-1"),
        pytest.param([{"modelTitle": "Mine"}, {"modelTitle": "Other"}], "Chosen", "Other"),
        pytest.param([["prompt", "completion"]], "Chosen", "Chosen"),
        pytest.param([], None, None),
    ],
    ids=["an id", "a name", "what was chosen", "nothing"],
)
def test_a_name_stands_for_the_model_only_where_no_id_is_told(
    bench: Bench, logs: list[Any], chosen: str | None, model: str | None
) -> None:
    items = [item("user", "Hello"), *(item("assistant", "Yes", promptLogs=[log]) for log in logs), item("assistant", "Yes")]
    bench.write("a", {"history": items, "chatModelTitle": chosen})
    bench.reindex()
    assert bench.rows()["a"]["model"] == model


def test_what_a_message_used_counts_only_where_the_session_does_not_tell(bench: Bench) -> None:
    items = [
        item("user", "Hello"),
        *(item("assistant", "Yes", usage={"promptTokens": 10, "completionTokens": n}) for n in (1, 2)),
    ]
    bench.write("a", {"history": items})
    bench.write("b", {"history": items, "usage": {"promptTokens": 100, "completionTokens": 7, "totalCost": 0.5}})
    bench.write("c", {"history": items, "usage": {"promptTokens": 0, "completionTokens": 0, "totalCost": 0}})
    bench.reindex()
    assert {id: (one["input_tokens"], one["output_tokens"], one["cost_usd"]) for id, one in bench.rows().items()} == {
        "a": (20, 3, None),
        "b": (100, 7, 0.5),
        "c": (20, 3, None),
    }


def test_a_role_that_is_not_known_is_the_programs_and_counted(bench: Bench) -> None:
    messages = bench.read(item("user", "Hello"), item("robot", "Beep"), item("assistant", "Yes"))
    assert [(one["role"], one["content"]) for one in messages] == [("user", "Hello"), ("system", "Beep"), ("assistant", "Yes")]
    (source,) = bench.found()
    assert isinstance(source, Source)
    assert sum(isinstance(event, Unknown) for event in adapter.events(source)) == 1
    (reading,) = Fold(adapter.name).run(adapter.events(source)).readings()
    assert (reading.unknown, reading.ending) == (1, "completed")
