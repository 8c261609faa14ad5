"""Hermes: what its records mean, what stays private, and how little is read, beyond what the contract of all adapters asks for."""

import json
import os
import sqlite3
import time
from pathlib import Path
from typing import Any

import pytest

from coding_agents_sidecar.adapter import Source
from coding_agents_sidecar.adapters.hermes import Hermes
from coding_agents_sidecar.errors import ParseError
from coding_agents_sidecar.fold import Fold
from coding_agents_sidecar.formats.hermes.compaction import Trace, repeated
from coding_agents_sidecar.formats.hermes.injected import parted
from coding_agents_sidecar.formats.hermes.messages import moment
from coding_agents_sidecar.formats.places import Unlisted
from coding_agents_sidecar.model import Start
from coding_agents_sidecar.testing import lay
from coding_agents_sidecar.transcript import Transcript
from tests.adapters.growth import around_line_ends, check_cuts

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures" / "hermes"
adapter = Hermes()


def sources(home: Path, environ: dict[str, str] | None = None) -> dict[str, Source]:
    """Return the sources that a home folder holds, by their path in it."""
    roots = [root for root in adapter.roots(environ or {}, home) if os.path.isdir(root.path)]
    found = [source for root in roots for source in adapter.discover(root)]
    assert not [source for source in found if isinstance(source, Unlisted)]
    return {os.path.relpath(source.path, home): source for source in found if isinstance(source, Source)}


def laid(case: str, tmp_path: Path) -> Source:
    """Lay a fixture out and return its database, all of it in the main file."""
    lay(FIXTURES / case, tmp_path / "home")
    source = sources(tmp_path / "home")[".hermes/state.db"]
    change(source, "PRAGMA journal_mode = DELETE")
    return source


def change(source: Source, *statements: str) -> None:
    """Change a database as its program would."""
    db = sqlite3.connect(source.path)
    for statement in statements:
        db.execute(statement)
    db.commit()
    db.close()


def read(source: Source, session_id: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the messages of a session with their native records, and those that were taken back."""
    fold = Transcript("hermes")
    fold.run(adapter.events(source, session_id))
    return fold.sessions[session_id].finished(-1, True)


def everything(source: Source) -> str:
    """Return all that is told of a source, native records too, as one text."""
    return repr(list(adapter.events(source)))


def test_a_call_is_paired_with_its_result_and_the_time_it_took(tmp_path: Path) -> None:
    messages, _ = read(laid("current", tmp_path), "20260203_090000_aa0001")
    answer = next(one for one in messages if one["tool_calls"])
    assert answer["tool_calls"] == [
        {
            "id": "c1",
            "name": "terminal",
            "input": {"command": "ls"},
            "output": '{"output": "a b", "exit_code": 0, "error": null}',
            "is_error": False,
            "duration_ms": 1500,
        }
    ]
    assert answer["thinking"] == "Listing first."
    assert messages[2]["tool_result"]["tool_name"] == "terminal"


def test_an_image_is_shown_without_its_data(tmp_path: Path) -> None:
    messages, _ = read(laid("current", tmp_path), "20260203_090000_aa0001")
    assert messages[5]["content"] == [
        {"type": "text", "text": "What is this?"},
        {"type": "image", "media_type": "image/png", "bytes": 6},
    ]
    assert messages[5]["raw"][0]["content"][0] == {"type": "text", "text": "What is this?"}


def test_an_output_that_tells_of_a_failure_is_an_error(tmp_path: Path) -> None:
    messages, _ = read(laid("current", tmp_path), "cron_daily_20260203_060000")
    assert [one["tool_result"]["is_error"] for one in messages if one["tool_result"]] == [True]


def test_what_was_taken_back_is_kept_apart(tmp_path: Path) -> None:
    messages, taken_back = read(laid("current", tmp_path), "20260203_090000_aa0001")
    assert [one["content"] for one in taken_back] == ["Draw another one", "Drawing."]
    assert taken_back[1]["tool_calls"] == [{"id": "c2", "name": "draw", "input": "{"}]
    assert "Draw another one" not in [one["content"] for one in messages]


def test_each_model_has_its_own_share_of_what_was_used(tmp_path: Path) -> None:
    fold = Fold("hermes").run(adapter.events(laid("current", tmp_path), "20260203_090000_aa0001"))
    usage = fold.readings()[0].usage
    shares: dict[str, list[int]] = {}
    for (_, model), amounts in usage.items():
        shares.setdefault(model, []).append(sum(amount or 0 for amount in amounts[:4]))
    assert shares == {"acme-large": [560], "acme-small": [70]}


def test_shares_that_do_not_come_to_the_whole_are_not_told(tmp_path: Path) -> None:
    source = laid("current", tmp_path)
    change(source, "UPDATE sessions SET input_tokens = 151 WHERE id = '20260203_090000_aa0001'")
    usage = Fold("hermes").run(adapter.events(source, "20260203_090000_aa0001")).readings()[0].usage
    assert [(model, amounts[0]) for (_, model), amounts in usage.items()] == [("acme-small", 151)]


def test_a_model_stands_without_the_provider_that_is_told_apart(tmp_path: Path) -> None:
    source = laid("current", tmp_path)
    change(source, "UPDATE session_model_usage SET model = 'acme/huge' WHERE model = 'acme-small'")
    reading = Fold("hermes").run(adapter.events(source, "20260203_090000_aa0001")).readings()[0]
    assert (reading.model, reading.info.meta) == ("huge", {"provider": "acme", "source": "cli", "git_branch": "main"})


@pytest.mark.parametrize("case", ["current", "documented"])
def test_what_is_remembered_of_the_user_is_never_told(case: str, tmp_path: Path) -> None:
    assert "mornings" not in everything(laid(case, tmp_path))


def test_what_is_remembered_of_the_user_is_never_told_by_a_log(tmp_path: Path) -> None:
    lay(FIXTURES / "transcripts", tmp_path)
    told = "".join(everything(source) for path, source in sources(tmp_path).items() if "dd0004" not in path)
    assert "honcho_profile" in told
    assert "mornings" not in told
    assert "kim" not in told.lower()


def test_what_was_recalled_for_a_prompt_is_left_out_of_it(tmp_path: Path) -> None:
    source = laid("documented", tmp_path)
    recalled = "When do we open?\n\n<memory-context>\nKim likes tea.\n</memory-context>"
    change(source, f"UPDATE messages SET content = '{recalled}' WHERE id = 1")
    messages, _ = read(source, "2f1c7a80-53bb-4d0e-9a55-0c6f2d1e4b01")
    assert messages[0]["content"] == messages[0]["raw"][0]["content"] == "When do we open?"


def test_broken_tables_for_full_text_search_disturb_nothing(tmp_path: Path) -> None:
    source = laid("documented", tmp_path)
    before = everything(source)
    change(source, "DELETE FROM sessions_fts_data", "DELETE FROM memory_data")
    assert everything(source) == before


@pytest.mark.parametrize(
    ("statement", "changed"),
    [
        ("UPDATE messages SET active = 0 WHERE id = 8", {"20260203_090000_aa0001"}),
        ("DELETE FROM messages WHERE id = 12", {"20260203_090300_aa0002"}),
        (
            "INSERT INTO messages (session_id, role, content, timestamp) VALUES ('a1b2c3d4', 'user', 'Hm', 1770109600)",
            {"a1b2c3d4"},
        ),
        ("UPDATE sessions SET title = 'Other' WHERE id = 'a1b2c3d4'", {"a1b2c3d4"}),
        ("UPDATE session_model_usage SET last_seen = 1 WHERE model = 'acme-small'", {"20260203_090000_aa0001"}),
        (
            "UPDATE sessions SET cwd = '/srv/blog' WHERE id = '20260203_090000_aa0001'",
            {"20260203_090000_aa0001", "20260203_090300_aa0002"},
        ),
        ("INSERT INTO messages_fts (content) VALUES ('x')", set()),
    ],
)
def test_a_change_shows_in_the_stamps_of_those_it_touches(statement: str, changed: set[str], tmp_path: Path) -> None:
    source = laid("current", tmp_path)
    before = adapter.stamps(source)
    change(source, statement)
    after = adapter.stamps(source)
    assert before is not None
    assert after is not None
    assert {one for one in after if after[one] != before[one]} == changed


def test_one_session_is_read_without_the_others(tmp_path: Path) -> None:
    source = laid("current", tmp_path)
    events = [event for event in adapter.events(source, "a1b2c3d4") if isinstance(event, Start)]
    assert [event.session_id for event in events] == ["a1b2c3d4"]
    assert events[0].modified == 1770109506.0


def test_parents_in_a_circle_are_damage_and_nothing_worse(tmp_path: Path) -> None:
    source = laid("compaction", tmp_path)
    change(source, "UPDATE sessions SET parent_session_id = '20260301_121000_cc0003' WHERE id = '20260301_120000_cc0002'")
    assert len([event for event in adapter.events(source) if isinstance(event, Start)]) == 5


def test_a_log_that_grows_is_read_on_from_where_it_ended(tmp_path: Path) -> None:
    lay(FIXTURES / "transcripts", tmp_path)
    for name in ("20260101_100000_dd0001", "20260101_110000_dd0002"):
        source = sources(tmp_path)[f".hermes/sessions/{name}.jsonl"]
        assert check_cuts(adapter, source, around_line_ends(source.path)) > 10


@pytest.mark.parametrize(("age", "transient"), [(5, True), (3600, False)])
def test_half_a_snapshot_is_looked_at_again_while_it_may_be_written(age: int, transient: bool, tmp_path: Path) -> None:
    lay(FIXTURES / "transcripts", tmp_path)
    source = sources(tmp_path)[".hermes/sessions/session_20260101_130000_dd0004.json"]
    os.utime(source.path, (time.time() - age, time.time() - age))
    with pytest.raises(ParseError) as raised:
        list(adapter.events(source))
    assert raised.value.transient is transient


@pytest.mark.parametrize("named", [".hermes", ".hermes/profiles/work"])
def test_the_variable_may_name_a_home_or_a_profile_in_it(named: str, tmp_path: Path) -> None:
    lay(FIXTURES / "profiles", tmp_path)
    found = sources(tmp_path, {"HERMES_HOME": str(tmp_path / named)})
    assert {path: source.origin for path, source in found.items()} == {
        ".hermes/state.db": "",
        ".hermes/profiles/work/state.db": "work",
        ".hermes/profiles/work/sessions/20260401_080000_ee0002.jsonl": "work",
    }


def test_times_without_an_offset_say_nothing() -> None:
    assert moment("2026-02-03T09:00:00.000001") is None
    assert moment("2026-02-03") is None
    assert moment("2026-02-03T10:00:00+01:00") == moment("2026-02-03T09:00:00Z") == moment(1770109200.0) == 1770109200.0


@pytest.mark.parametrize(
    ("words", "note", "prompt"),
    [
        ("Hello", "", "Hello"),
        ("[System note: The session was reset.]\n\nHello", "[System note: The session was reset.]", "Hello"),
        (
            "[System note: a] [Note: model was just switched from a to b] Hello [x]",
            "[System note: a] [Note: model was just switched from a to b]",
            "Hello [x]",
        ),
        ("[System note: nothing follows]", "[System note: nothing follows]", ""),
        ("[System note: never closed", "", "[System note: never closed"),
    ],
)
def test_notes_before_a_prompt_are_not_part_of_it(words: str, note: str, prompt: str) -> None:
    assert parted(words) == (note, prompt)


def traces(*said: str) -> list[Trace]:
    """Return rows, numbered from 0, that say this; ``S…`` is a summary, ``+`` what a compaction writes beside it."""
    return [Trace(id, one.encode(), one.startswith("S"), one == "+") for id, one in enumerate(said)]


@pytest.mark.parametrize(
    ("said", "copies"),
    [
        ("u1 a1 u2 a2", set()),
        ("u1 a1 u2 a2 S u2 a2 u3", {5, 6}),
        ("u1 a1 u2 a2 u1 a1 S a2 + u3", {4, 5, 7}),
        ("u1 a1 u2 a2 S a2 u2 u2", {5}),
        ("u1 a1 S1 a1 u2 a2 S2 u2 a2 u3", {3, 7, 8}),
        ("u1 a1 S u2 a2 u1", set()),
        ("S0 u1 a1 u2 S1 u2 a2", {5}),
    ],
)
def test_a_compaction_repeats_the_first_and_the_newest_rows(said: str, copies: set[int]) -> None:
    assert repeated(traces(*said.split())) == copies


def test_native_records_are_json(tmp_path: Path) -> None:
    source = laid("current", tmp_path)
    change(source, "UPDATE messages SET content = x'ff00', timestamp = 9e999 WHERE id = 12")
    messages, _ = read(source, "20260203_090300_aa0002")
    assert json.dumps(messages, allow_nan=False)
