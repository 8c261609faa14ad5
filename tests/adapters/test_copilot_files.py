"""Copilot CLI: damaged lines, ``workspace.yaml``, documents, and reading on in a log that has grown."""

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from coding_agents_sidecar.formats.copilot import lines, workspace
from coding_agents_sidecar.formats.copilot.document import Document
from coding_agents_sidecar.formats.jsonl import Line
from coding_agents_sidecar.model import Info, Message, Skipped
from tests.adapters.copilot import FIXTURES, adapter, answer, lay, reading, sources, start, usage, user, write
from tests.adapters.growth import around_line_ends, check_cuts

LOGS = [
    os.path.relpath(source.path, FIXTURES)
    for case in sorted(FIXTURES.iterdir())
    for source in sources(case / "home", {"COPILOT_HOME": str(case / "home" / "copilot")})
    if source.path.endswith(".jsonl")
]

ONE, TWO = ('{"type":"a","data":{"n":1}}', '{"type":"b","data":{"n":2}}')
NESTED = '{"type":"a","data":{"list":[{"type":"x","data":{}},{"type":"file","data":{"pa'


def seen(tmp_path: Path, data: str | bytes) -> list[Any]:
    """Return the records of a file, and for what was skipped whether it is the end."""
    path = tmp_path / "events.jsonl"
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    found = lines.records(str(path))
    return [one.record if isinstance(one, Line) else one.tail for one in found if isinstance(one, Line | Skipped)]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (f"{ONE}\n{TWO}\n", [1, 2]),
        (f"{ONE}{TWO}\n", [1, 2]),
        (f"{ONE} \0\0{TWO}\n", [1, 2]),
        (f"{ONE[:20]}{TWO}\n{ONE}\n", [False, 2, 1]),
        (f"{NESTED}{TWO}\n", [False, 2]),
        (f"{NESTED}\n{TWO}\n", [False, 2]),
        (f"{ONE}{TWO[:20]}\n{TWO}\n", [False, 1, 2]),
        (f"{ONE[:20]}\n{TWO}\n", [False, 2]),
        (f"{ONE}\n{TWO[:20]}", [1, True]),
        (f"{ONE}\n{TWO[:20]}\n", [1, True]),
        (f"{ONE}\n\0\0\0", [1, True]),
        (f"{ONE}\n\0\0\0\n{TWO}\n", [1, False, 2]),
        (f"\0\0{ONE}\n\0{TWO}\n", [1, 2]),
        ("[]\nnull\n\n7\n", []),
        ("a lone word", [True]),
    ],
)
def test_whole_events_are_kept_whatever_has_been_glued_to_them(tmp_path: Path, data: str, expected: list[Any]) -> None:
    found = seen(tmp_path, data)
    assert [one if isinstance(one, bool) else one["data"]["n"] for one in found] == expected


@pytest.mark.parametrize("breaks", [1, 2, lines.PIECES - 1])
def test_an_event_that_raw_line_breaks_have_split_is_joined(tmp_path: Path, breaks: int) -> None:
    whole = f'{{"type":"a","data":{{"words":"one{chr(10) * breaks}two"}}}}'
    assert seen(tmp_path, f"{ONE}\n{whole}\n{TWO}\n")[1]["data"] == {"words": f"one{chr(10) * breaks}two"}


def test_an_event_of_too_many_lines_costs_each_of_them(tmp_path: Path) -> None:
    words = "\n".join(f"{n} words" for n in range(lines.PIECES + 1))
    expected = [False] * (lines.PIECES + 1) + [json.loads(TWO)]
    assert seen(tmp_path, f'{{"type":"a","data":{{"words":"{words}"}}}}\n{TWO}') == expected


def test_other_breaks_than_newlines_are_ordinary_characters(tmp_path: Path) -> None:
    assert seen(tmp_path, '{"type":"a","data":{"words":"1\u20282\u20293\x854"}}\n')[0]["data"] == {
        "words": "1\u20282\u20293\x854"
    }


def test_half_a_surrogate_pair_in_a_glued_event_is_replaced(tmp_path: Path) -> None:
    assert seen(tmp_path, ONE + '{"type":"a","data":{"words":"\\ud83d"}}\n')[1]["data"] == {"words": "\ufffd"}


def test_a_split_event_still_being_written_counts_once_it_is_whole(tmp_path: Path) -> None:
    log = "".join(json.dumps(one) + "\n" for one in (start(), user("Go"), answer("one\ntwo"), user("On"), answer("Three.")))
    source = lay(tmp_path, log.replace("one\\ntwo", "one\n\ntwo").encode())
    assert reading(source).message_count == 4
    assert check_cuts(adapter, source, range(len(log))) > 100


@pytest.mark.parametrize(
    ("words", "value"),
    [
        ("name: Fix the cart", "Fix the cart"),
        ("name: Fix#12 of 3 # not this", "Fix#12 of 3"),
        ("name: 'It''s late'", "It's late"),
        ("name: 'It''s\n  late' # not this", "It's late"),
        ('name: "A \\"quoted\\" \\u00e4 \\x41 \\U0001F600\\tword" # not this', 'A "quoted" ä A 😀\tword'),
        ('name: "a long one\\\n  \\ goes on"', "a long one goes on"),
        ('name: "ends in \\\\\n  x"', "ends in \\ x"),
        ("name: a plain one\n  goes on\n\n  and on", "a plain one goes on and on"),
        ("name: >-\n  folded\n  words\nid: x", "folded words"),
        ("name: |\n  two\n  lines\n", "two\nlines"),
        ("name: DO:tool run it", "DO:tool run it"),
        ("\ufeffname: 日本語\r\nid: x\r\n", "日本語"),
        ("name:\n  below", "below"),
        ("name: null", None),
        ("name: ''", None),
        ("name:", None),
        ("name: \"never closed", "never closed"),
        ("nested:\n  name: no\n", None),
    ],
)  # fmt: skip
def test_a_scalar_is_read_in_every_form_it_is_written_in(tmp_path: Path, words: str, value: str | None) -> None:
    (tmp_path / workspace.NAME).write_bytes(words.encode())
    assert workspace.read(str(tmp_path)).get("name") == value


def test_bytes_that_are_no_yaml_say_nothing(tmp_path: Path) -> None:
    (tmp_path / workspace.NAME).write_bytes(b"\xff\xfe\0name: x\n- [}\n:\n")
    assert workspace.read(str(tmp_path)) == {}


def told(whole: Any) -> list[tuple[str, Any]]:
    """Return who said what in a document."""
    return [(one.role, one.content) for one in Document(whole).events() if isinstance(one, Message)]


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ({"role": "human", "content": "Go"}, [("user", "Go")]),
        ({"role": "Model", "content": "Gone"}, [("assistant", "Gone")]),
        ({"role": "developer", "content": "Rules"}, [("system", "Rules")]),
        ({"prompt": "Go", "output": "Gone"}, [("user", "Go"), ("assistant", "Gone")]),
        ({"human": "Go", "assistant": "Gone"}, [("user", "Go"), ("assistant", "Gone")]),
        ({"role": "user", "content": "<reminder>Be brief.</reminder>"}, [("system", "<reminder>Be brief.</reminder>")]),
        ({"role": "user", "content": "<current_datetime>now</current_datetime>\n\nGo"}, [("user", "Go")]),
        ({"role": "user", "content": "<skill-context>x</skill-context>"}, [("system", "<skill-context>x</skill-context>")]),
        ({"role": "user", "content": None}, []),
        ({"role": "judge", "content": "?"}, []),
        ({"role": "assistant", "content": ""}, []),
    ],
)
@pytest.mark.parametrize("name", ["chatMessages", "messages", "history", "conversation"])
def test_a_message_of_a_document_has_a_role_under_many_names(name: str, message: Any, expected: list[Any]) -> None:
    assert told({name: [message]}) == expected
    assert told([message]) == expected


def test_the_screen_tells_what_was_typed_and_when() -> None:
    timeline = [
        {"type": "user", "text": "Go", "timestamp": "2025-10-01T10:00:01Z"},
        {"type": "copilot", "text": "Half of it.", "timestamp": "2025-10-01T10:00:02Z"},
        {"type": "user", "text": "On", "timestamp": "2025-10-01T10:00:03Z"},
    ]
    messages = [
        {"role": "user", "content": "Rules.\n\nGo"},
        {"role": "assistant", "content": "Half of it. No more."},
        {"role": "user", "content": "On"},
    ]
    found = [one for one in Document({"chatMessages": messages, "timeline": timeline}).events() if isinstance(one, Message)]
    assert [(one.content, one.time and one.time % 60) for one in found] == [("Go", 1), ("Half of it. No more.", None), ("On", 3)]


def test_a_document_names_its_project_in_words() -> None:
    words = "You are an agent.\nCurrent working directory: /srv/shop\n"
    found = [one.project_path for one in Document([{"role": "system", "content": words}]).events() if isinstance(one, Info)]
    assert found == [None, "/srv/shop"]


@pytest.mark.parametrize("log", LOGS)
@pytest.mark.timeout(60)
def test_reading_on_from_a_cut_around_any_line_end_equals_reading_the_whole_log(log: str, tmp_path: Path) -> None:
    case, _, below = log.split(os.sep, 2)
    shutil.copytree(FIXTURES / case / "home", tmp_path, dirs_exist_ok=True)
    for script in tmp_path.rglob("*.sql"):
        script.unlink()
    (source,) = (
        one for one in sources(tmp_path, {"COPILOT_HOME": str(tmp_path / "copilot")}) if one.path == str(tmp_path / below)
    )
    # A log that does not name its session, or is cut, is read from its start.
    nameless = not any(b"session.start" in line for line in Path(source.path).read_bytes().splitlines()[:1])
    times = check_cuts(adapter, source, around_line_ends(source.path))
    assert times > 0 or nameless or "da000005" in log


def test_reading_on_from_any_byte_equals_reading_the_whole_log(tmp_path: Path) -> None:
    calls = [one for n in range(2) for one in (user("?", None), usage(f"k{n}", 9, 1), answer("!", apiCallId=f"k{n}"))]
    source = write(tmp_path, start(), *calls, user("Help", "a1"), answer("Helped.", "a1"))
    assert check_cuts(adapter, source, range(os.path.getsize(source.path) + 1)) > 100
