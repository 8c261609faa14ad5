"""Pi and Oh My Pi: what reading shows, where sessions are found, and reading on in a grown file."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from coding_agents_sidecar.adapter import Source
from coding_agents_sidecar.adapters.pi import OhMyPi, Pi
from coding_agents_sidecar.config import Settings
from coding_agents_sidecar.formats.pi import files
from coding_agents_sidecar.model import Stale
from coding_agents_sidecar.ops import Sidecar
from coding_agents_sidecar.testing import Lab
from tests.adapters.growth import around_line_ends, check_cuts, fold_of, resumed, unknown
from tests.adapters.home import laid, logs, shown, sources

FIXTURES = Path(__file__).parent.parent / "fixtures"
HEADER = {"type": "session", "version": 3, "id": "one", "timestamp": "2026-02-03T10:00:00Z", "cwd": "/srv/shop"}

pi, omp = Pi(), OhMyPi()


def names(adapter: Pi, home: Path, environ: dict[str, str] | None = None) -> list[str]:
    return sorted(os.path.relpath(source.path, home) for source in sources(adapter, home, environ))


def entry(type: str, id: str, parent: str | None, **more: Any) -> dict[str, Any]:
    return {"type": type, "id": id, "parentId": parent, "timestamp": "2026-02-03T10:00:01Z", **more}


def user(id: str, parent: str | None, words: str) -> dict[str, Any]:
    return entry("message", id, parent, message={"role": "user", "content": words})


def assistant(id: str, parent: str | None, words: str, **more: Any) -> dict[str, Any]:
    content = [{"type": "text", "text": words}]
    return entry("message", id, parent, message={"role": "assistant", "content": content, "stopReason": "stop", **more})


def put(path: Path, *records: dict[str, Any] | str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [one if isinstance(one, str) else json.dumps(one) for one in records]
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return path


def session(home: Path, *records: dict[str, Any]) -> Source:
    path = put(home / ".pi/agent/sessions/--srv-shop--/2026-02-03T10-00-00-000Z_one.jsonl", HEADER, *records)
    return Source(str(path), str(path.parent.parent))


def texts(messages: list[dict[str, Any]]) -> list[Any]:
    return [message["content"] for message in messages]


def test_pictures_thinking_and_tools_stand_in_their_messages(tmp_path: Path) -> None:
    lab = Lab("pi", FIXTURES / "pi" / "current", tmp_path)
    lab.index()
    [row] = lab.rows().values()
    head, messages = lab.read(row)
    prompt, answer, result = messages[1:4]
    assert prompt["content"][1] == {"type": "image", "media_type": "image/png", "bytes": 5}
    assert (answer["thinking"], answer["content"], answer["model"], answer["cost"]) == (
        "Look at the file first.",
        "I look.",
        "acme-1",
        0.01,
    )
    [call] = answer["tool_calls"]
    assert (call["name"], call["input"], call["output"], call["duration_ms"]) == (
        "bash",
        {"command": "file logo.png"},
        "logo.png: PNG, 16 x 16",
        1500,
    )
    assert (result["tool_result"]["tool_name"], result["tokens"]["total"]) == ("bash", 10)
    assert (head["meta"]["provider"], head["meta"]["models"]) == ("acme", ["acme-1"])


def test_what_was_left_is_kept_apart_with_its_records(tmp_path: Path) -> None:
    path = next((FIXTURES / "pi/rewind/home").rglob("*.jsonl"))
    kept, left = shown(pi, Source(str(path), str(path.parent.parent)), "0f000001-0000-7000-8000-000000000001", raw=True)
    assert [text for text in texts(kept) if text] == [
        *("Sort the products", "By name?", "Sorting by price was tried.", "By stock", "I try.", "Downwards, please"),
        "Sorted downwards.",
    ]
    assert texts(left) == ["By price", "overloaded", "Sorted upwards."]
    assert [record["id"] for message in kept + left for record in message["raw"]] == [
        *("c1", "c2", "c5", "c6", "c7", "c8", "ca", "cb"),
        *("c3", "c4", "c9"),
    ]


def test_a_second_beginning_leaves_the_first(tmp_path: Path) -> None:
    source = session(tmp_path, user("a", None, "First"), user("b", None, "Second"), assistant("c", "b", "Yes."))
    kept, left = shown(pi, source, "one", raw=True)
    assert (texts(kept), texts(left)) == (["Second", "Yes."], ["First"])


def test_a_settings_entry_decides_where_the_conversation_stands(tmp_path: Path) -> None:
    records = [user("a", None, "First"), assistant("b", "a", "Yes."), user("c", "b", "Never mind"), entry("label", "d", "b")]
    kept, left = shown(pi, session(tmp_path, *records), "one")
    assert (texts(kept), texts(left)) == (["First", "Yes."], ["Never mind"])
    [reading] = fold_of(pi, session(tmp_path, *records)).readings()
    assert reading.ending == "completed"


def test_an_empty_name_takes_the_title_back(tmp_path: Path) -> None:
    records = [user("a", None, "First"), entry("session_info", "b", "a", name="Named"), entry("session_info", "c", "b", name="")]
    source = session(tmp_path, *records[:2])
    earlier = fold_of(pi, source)
    assert [reading.title for reading in earlier.readings()] == ["Named"]
    grown = session(tmp_path, *records)
    with pytest.raises(Stale):
        resumed(pi, earlier, grown)
    assert [reading.title for reading in fold_of(pi, grown).readings()] == ["First"]


def test_a_rewind_in_a_grown_file_is_read_from_the_start(tmp_path: Path) -> None:
    records = [user("a", None, "First"), assistant("b", "a", "Yes.")]
    earlier = fold_of(pi, session(tmp_path, *records))
    with pytest.raises(Stale):
        resumed(pi, earlier, session(tmp_path, *records, user("c", "a", "Again")))
    assert resumed(pi, earlier, session(tmp_path, *records, user("c", "b", "Go on"))).readings()[0].message_count == 3


def test_a_small_model_beside_the_conversation_is_not_the_sessions(tmp_path: Path) -> None:
    usage = entry("usage", "c", "b", provider="acme", model="acme-mini", usage={"input": 1, "output": 1})
    [reading] = fold_of(
        pi, session(tmp_path, user("a", None, "Hi"), assistant("b", "a", "Hi.", model="acme-1"), usage)
    ).readings()
    assert (reading.model, {model for _, model in reading.usage}) == ("acme-1", {"acme-mini"})


LOGS = [
    (adapter, log)
    for adapter in (pi, omp)
    for log in logs(adapter, FIXTURES / adapter.name)
    if files.opening(str(FIXTURES / adapter.name / log)).end and not log.startswith("documented")
]


@pytest.mark.parametrize(("adapter", "log"), LOGS, ids=[f"{adapter.name}/{log}" for adapter, log in LOGS])
def test_reading_on_from_a_cut_around_any_line_end_equals_reading_the_whole_file(adapter: Pi, log: str, tmp_path: Path) -> None:
    source = laid(adapter, FIXTURES / adapter.name, log, tmp_path)
    header = files.opening(source.path).end
    assert check_cuts(adapter, source, [place for place in around_line_ends(source.path) if place >= header])


def test_the_origin_of_a_fork_is_looked_up_below_the_root_only(tmp_path: Path) -> None:
    outside = put(tmp_path / "outside" / "x_two.jsonl", {**HEADER, "id": "secret"})
    source = session(tmp_path, user("a", None, "Hi"))
    for parent in (str(outside), "../../../../outside/x_two.jsonl", f"C:\\elsewhere\\{outside.name}"):
        put(Path(source.path), {**HEADER, "parentSession": parent}, user("a", None, "Hi"))
        [reading] = fold_of(pi, source).readings()
        assert reading.start.parent_id == "two"


def test_the_agents_folder_that_both_runtimes_may_name_is_that_of_one(tmp_path: Path) -> None:
    put(tmp_path / "a/sessions/--srv-shop--/x_one.jsonl", HEADER)
    put(tmp_path / "b/sessions/-shop/x_two.jsonl", HEADER)
    for folder, of_pi, of_omp in (
        ("a", ["a/sessions/--srv-shop--/x_one.jsonl"], []),
        ("b", [], ["b/sessions/-shop/x_two.jsonl"]),
    ):
        environ = {"PI_CODING_AGENT_DIR": str(tmp_path / folder)}
        assert (names(pi, tmp_path, environ), names(omp, tmp_path, environ)) == (of_pi, of_omp)


def test_a_session_elsewhere_is_found_by_its_marker_with_its_sub_agents_and_nothing_beside_it(tmp_path: Path) -> None:
    markers = tmp_path / ".omp/agent/custom-session-files"
    store = put(tmp_path / ".omp/agent/sessions/-shop/x_two.jsonl", HEADER)
    mine = put(tmp_path / "mine/a.jsonl", HEADER)
    put(tmp_path / "mine/a/Helper.jsonl", {**HEADER, "id": "helper"}, user("a", None, "Help"))
    put(tmp_path / "mine/other.jsonl", HEADER)
    for name, path in (
        ("0000000a", mine),
        ("0000000b", store),
        ("0000000c", "relative.jsonl"),
        ("0000000d", tmp_path / "gone.jsonl"),
    ):
        put(markers / name, str(path))
    assert names(omp, tmp_path) == [".omp/agent/sessions/-shop/x_two.jsonl", "mine/a.jsonl", "mine/a/Helper.jsonl"]
    helper = next(one for one in sources(omp, tmp_path) if one.path.endswith("Helper.jsonl"))
    [reading] = fold_of(omp, helper).readings()
    assert (reading.start.kind, reading.start.parent_id) == ("subagent", "one")


def test_a_title_changed_in_its_slot_is_seen(tmp_path: Path) -> None:
    lab = Lab("omp", FIXTURES / "omp" / "current", tmp_path)
    lab.index()
    path = next(lab.home.rglob("*.jsonl"))
    stamp = path.stat()
    path.write_bytes(path.read_bytes().replace(b"Tidy the shop", b"Tidy the blog"))
    os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns + 1))
    assert lab.index()["updated"] == 0, "a title is no fact of the row"
    assert [row["title"] for row in lab.rows().values()] == ["Tidy the blog"]


def test_sessions_whose_folder_is_away_are_not_missing(tmp_path: Path) -> None:
    home = tmp_path / "home"
    session(home, user("a", None, "Hi"))
    sidecar = Sidecar(Settings(home, {}, tmp_path / "state", ""))
    assert sidecar.reindex(runtimes=["pi"])["indexed"] == 1
    (home / ".pi/agent/sessions").rename(tmp_path / "unmounted")
    assert sidecar.reindex(runtimes=["pi"])["missing"] == 0


@pytest.mark.parametrize("adapter", [pi, omp], ids=lambda adapter: adapter.name)
def test_entries_and_roles_that_are_unknown_are_counted_and_settings_are_not(adapter: Pi, tmp_path: Path) -> None:
    settings = [entry(kind, kind, "a") for kind in ("thinking_level_change", "custom", "credential_pin", "reset_boundary")]
    strange = [entry("hologram", "x", "a"), entry("message", "y", "x", message={"role": "oracle", "content": "?"}), {"id": "z"}]
    assert unknown(adapter, session(tmp_path, user("a", None, "Hi"), *settings, *strange)) == [3]
