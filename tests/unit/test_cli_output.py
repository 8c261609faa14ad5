"""Session text is hostile: no format may break by it, and no terminal obey it."""

import csv
import io
import json
import os
import pty
import subprocess
from pathlib import Path
from typing import Any

import pytest

from coding_agents_sidecar.cli import output
from coding_agents_sidecar.service.documents import dumps
from tests.homes import SESSION, Home

HOSTILE = "a\x1b[31mb\x07\r\nc\u202ed\u2066e\x9bf\u0085g\ufeffh\ud83di\x00"


def table(rows: list[dict[str, Any]]) -> list[str]:
    return "".join(output.table(rows, list(rows[0]))).splitlines()


def test_a_table_cell_holds_nothing_that_a_terminal_obeys() -> None:
    assert table([{"title": HOSTILE}]) == ["title", "a [31mb c d e f g h\ufffdi\ufffd"]


def test_wide_and_combining_characters_keep_the_columns_aligned() -> None:
    lines = table([{"title": "日本", "kind": "x"}, {"title": "e\u0301te\u0301", "kind": "y"}])
    assert lines == ["title  kind", "日本   x", "e\u0301te\u0301    y"]


def test_numbers_are_set_to_the_right_and_unknown_ones_are_empty() -> None:
    rows: list[dict[str, Any]] = [{"turns": 1, "cost": 0.5}, {"turns": 100, "cost": None}]
    assert table(rows) == ["turns      cost", "    1  0.500000", "  100"]


def test_a_time_beyond_the_calendar_is_shown_as_it_is() -> None:
    assert output.cell("file_mtime", 10**14) == "100000000000000"


@pytest.mark.parametrize(("limit", "expected"), [(3, "ab…"), (4, "abc日"[:3] + "…"), (5, "abc日"), (9, "abc日")])
def test_a_line_is_cut_by_the_columns_it_needs(limit: int, expected: str) -> None:
    assert output.cut("abc日", limit) == expected


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path)
    home.lay()
    return home


def on_terminal(home: Home, stream: str, *arguments: str) -> tuple[str, str]:
    """Run a command with a terminal of 60 columns for one stream; return what came out there and on the other one."""
    master, terminal = pty.openpty()
    streams: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, stream: terminal}
    with subprocess.Popen(["coding-agents", *arguments], env=home.environment({"COLUMNS": "60"}), **streams) as process:
        os.close(terminal)
        shown = b""
        while chunk := read(master):
            shown += chunk
        other = process.stdout or process.stderr
        assert other is not None
        rest = other.read().decode()
    os.close(master)
    assert process.returncode == 0
    return shown.decode(), rest


def read(terminal: int) -> bytes:
    """Return what the other side wrote; nothing when it is closed, for which Linux has an error of its own."""
    try:
        return os.read(terminal, 4096)
    except OSError:
        return b""


def test_a_table_is_cut_on_a_terminal_only(home: Home) -> None:
    home.reindex()
    shown, _ = on_terminal(home, "stdout", "sessions", "list")
    whole = home.run("sessions", "list").out.decode().splitlines()
    assert [len(line) for line in shown.splitlines()] == [60, 60]
    assert min(len(line) for line in whole) > 60


def test_progress_is_drawn_on_a_terminal_and_wiped(home: Home) -> None:
    drawn, data = on_terminal(home, "stderr", "sessions", "reindex", "--format=json")
    assert drawn == "\r1 of 1 sources\r\x1b[K"
    assert json.loads(data)["indexed"] == 1
    assert home.run("sessions", "reindex").err == ""


def test_csv_keeps_text_whole_and_disarms_formulas() -> None:
    cells = ['say "hi", twice\nor more', "=1+1", "+1", "-1", "@SUM(A1)", "\tx", "plain", -1, 1e-06, ["a", "b"]]
    text = "".join(output.comma_separated([{str(n): cell for n, cell in enumerate(cells)}], [str(n) for n in range(len(cells))]))
    assert list(csv.reader(io.StringIO(text, newline="")))[1] == [
        'say "hi", twice\nor more',
        "'=1+1",
        "'+1",
        "'-1",
        "'@SUM(A1)",
        "'\tx",
        "plain",
        "-1",
        "0.000001",
        '["a", "b"]',
    ]


def test_a_yaml_value_is_json_without_anything_yaml_would_fold() -> None:
    text = "yes: #no\u2028\u2029\u0085\x7f\ufeff😀\ud83d\n'"
    assert output.scalar(text) == '"yes: #no\\u2028\\u2029\\u0085\\u007f\\ufeff😀\ufffd\\n\'"'
    assert [output.scalar(value) for value in (None, True, 1, 1e-06, 2.5, [{"a": "\u2028"}])] == [
        "null",
        "true",
        "1",
        "0.000001",
        "2.5",
        '[{"a": "\\u2028"}]',
    ]


def test_no_rows_are_an_empty_list_in_yaml() -> None:
    assert list(output.yaml([], ["a"])) == ["--- []\n"]


def nested(levels: int) -> Any:
    value: Any = "bottom"
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize("value", [{"a": HOSTILE}, nested(5000), {"n": 2**70, "f": float("nan")}, "\udcff"])
def test_every_document_becomes_json(value: Any) -> None:
    text = dumps(value).decode()
    assert "\n" not in text
    json.dumps(json.loads(text)).encode("utf-8", "strict")


def test_what_json_can_say_is_left_alone() -> None:
    value = {"a": [1, 2.5, None, True, "ü😀"], "b": {}, "c": nested(190)}
    assert json.loads(dumps(value)) == value


def test_a_reader_that_goes_away_ends_the_program_quietly(home: Home) -> None:
    home.reindex()
    with home.spawn("sessions", "read", SESSION) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert (process.stderr.read(), process.wait(15)) == (b"", 141)
