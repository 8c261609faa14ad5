"""What is refused at the boundary, and how the refusal is worded."""

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from coding_agents_sidecar.errors import InvalidArgument, VersionMismatch
from coding_agents_sidecar.ops import PROTOCOL
from coding_agents_sidecar.publish.rows import fitting
from coding_agents_sidecar.service import wire
from tests.homes import Home

SECRET = "correct horse battery staple"


def parsed(line: Any) -> wire.Part:
    """Return the arguments of a request."""
    return wire.arguments(wire.request(wire.decode(json.dumps(line).encode())))


@pytest.mark.parametrize("line", [b"", b"hello", b"[]", b"7", b'{"v":1', b'{"v":1,"id":\xff}', b"[" * 2000])
def test_a_line_that_is_no_object_is_refused(line: bytes) -> None:
    with pytest.raises(InvalidArgument, match="one JSON object on one line"):
        wire.decode(line)


@pytest.mark.parametrize(("version", "older"), [(PROTOCOL + 1, "sidecar"), (PROTOCOL - 1, "plugin")])
def test_another_version_says_which_side_to_update(version: int, older: str) -> None:
    with pytest.raises(VersionMismatch, match=f"update the {older}$"):
        parsed({"v": version, "id": 7, "op": "ping"})


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"v": "1"}, "v"),
        ({"id": 0}, "id"),
        ({"id": True}, "id"),
        ({"op": None}, "op"),
        ({"args": []}, "args"),
        ({"op": "reindex", "args": {"runtime": "codex"}}, "args.runtime"),
        ({"op": "reindex", "args": {"full": 1}}, "args.full"),
        ({"op": "read", "args": {"runtime": "codex"}}, "args.session_id"),
        ({"op": "titles", "args": {"sessions": [["codex", ""]]}}, "args.sessions.0.2"),
        ({"op": "list", "args": {"since": "7d"}}, "args.since"),
        ({"op": "list", "args": {"until": 2**70}}, "args.until"),
        ({"op": "list", "args": {"limit": 2**70}}, "args.limit"),
        ({"op": "reindex", "args": {"publish": {"table": "wp_x", "revision": 2**70}}}, "args.publish.revision"),
    ],
)
def test_a_wrong_request_names_the_place(change: dict[str, Any], place: str) -> None:
    with pytest.raises(InvalidArgument, match=f"^{place}: "):
        parsed({"v": 1, "id": 7, "op": "ping", "args": {}, **change})


@pytest.mark.parametrize("database", [SECRET, {"password": SECRET}, {"user": 1, "name": "x", "password": SECRET}])
def test_a_refusal_never_quotes_what_it_refuses(database: Any) -> None:
    args = {"publish": {"table": "wp_x", "revision": 0, "database": database}}
    with pytest.raises(InvalidArgument) as caught:
        parsed({"v": 1, "id": 7, "op": "reindex", "args": args})
    assert SECRET not in f"{caught.value!r} {caught.value.__cause__!r}"


def test_a_password_is_not_in_the_representation_of_a_request() -> None:
    database = {"user": "u", "name": "n", "password": SECRET}
    assert SECRET not in repr(parsed({"v": 1, "id": 7, "op": "reindex", "args": {"publish": publish(database)}}))


def publish(database: Any) -> dict[str, Any]:
    return {"table": "wp_x", "revision": 0, "database": database}


@pytest.mark.parametrize("table", ["", "wp x", "wp_x`; DROP TABLE wp_users; --", "wp_x\n", "ü", "t" * 65])
def test_a_table_name_is_letters_digits_underscore_and_dollar(table: str) -> None:
    with pytest.raises(InvalidArgument, match="table"):
        parsed({"v": 1, "id": 7, "op": "reindex", "args": {"publish": {"table": table, "revision": 0}}})


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b'{"v":1,"id":7,"op":"adopt","args":{"rows":[', 7),
        (b' { "id" : 12 , "args" : [', 12),
        (b'{"v":1,"op":"adopt","args":{"id":7,', None),
        (b'{"id":0,"x":', None),
        (b'{"id":"7","x":', None),
        (b"", None),
    ],
)
def test_the_id_of_a_broken_request_is_found_before_its_arguments(line: bytes, expected: int | None) -> None:
    assert wire.early_id(line) == expected


def test_rows_that_do_not_fit_are_named_and_the_others_go_on(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.lay()
    home.reindex()
    with closing(home.sidecar()) as sidecar:
        (row,) = sidecar.rows_above(0)
    changes = {"session_id": "s" * 192, "file_path": "p" * 16001, "cost_usd": 1e8, "model": "\ud83d", "status": "running"}
    wrong = [{**row, "session_key": f"{n:032x}", name: value} for n, (name, value) in enumerate(changes.items())]
    refused: list[dict[str, Any]] = []
    assert list(fitting([wrong[0], row, *wrong[1:], row], refused)) == [row, row]
    assert [set(one) for one in refused] == [{"runtime", "source", "code", "message"}] * len(wrong)
    for number, (one, name) in enumerate(zip(refused, changes, strict=True)):
        assert one["code"] == "INVALID_ARGUMENT"
        assert one["message"].startswith(f"row {number:032x} does not fit the table: {name}: ")


def test_columns_count_characters_not_bytes(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.lay()
    home.reindex()
    with closing(home.sidecar()) as sidecar:
        (row,) = sidecar.rows_above(0)
    row = {**row, "session_id": "😀" * 191, "file_path": "ü" * 16000}
    refused: list[dict[str, Any]] = []
    assert (list(fitting([row], refused)), refused) == ([row], [])
