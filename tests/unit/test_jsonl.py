import os
from pathlib import Path
from typing import Any

import pytest

from coding_agents_sidecar.errors import ParseError
from coding_agents_sidecar.formats import jsonl
from coding_agents_sidecar.model import Checkpoint, Ended, Event, Seen, Skipped


def read(path: Path, start: int = 0, block: int | None = None) -> list[Any]:
    """Return (record, end, whole) a line, and (reason, tail) for what was skipped."""
    return [
        (item.reason, item.tail) if isinstance(item, Skipped) else (item.record, item.end, item.whole)
        for item in jsonl.records(str(path), start, block)
    ]


def put(tmp_path: Path, data: bytes) -> Path:
    path = tmp_path / "a.jsonl"
    path.write_bytes(data)
    return path


SAMPLE = b'{"a":1}\n\n  {"b":"\xc3\xa9"}\r\n[1]\nnull\n{"c":3}\n{"d":4}'


def test_every_block_size_reads_the_same(tmp_path: Path) -> None:
    path = put(tmp_path, SAMPLE)
    expected = [({"a": 1}, 8, True), ({"b": "é"}, 23, True), ({"c": 3}, 40, True), ({"d": 4}, 47, False)]
    assert read(path) == expected
    for block in range(1, len(SAMPLE) + 2):
        assert read(path, block=block) == expected


def test_reading_goes_on_at_the_end_of_any_line(tmp_path: Path) -> None:
    path = put(tmp_path, SAMPLE)
    for _, end, whole in read(path):
        if whole:
            assert read(path, end) == [one for one in read(path) if one[1] > end]


def test_an_unfinished_last_line_is_a_tail_and_a_bad_line_before_others_is_not(tmp_path: Path) -> None:
    bad = "a line that is no JSON"
    assert read(put(tmp_path, b'{"a":1}\n{"b":')) == [({"a": 1}, 8, True), (bad, True)]
    assert read(put(tmp_path, b'{"a":1}\n{"b":\n')) == [({"a": 1}, 8, True), (bad, True)]
    assert read(put(tmp_path, b'{"b":\n{"a":1}\n')) == [(bad, False), ({"a": 1}, 14, True)]


def test_nul_padding_is_a_damaged_tail_or_a_damaged_place(tmp_path: Path) -> None:
    nul = "NUL bytes instead of a record"
    assert read(put(tmp_path, b'{"a":1}\n\0\0\0\0')) == [({"a": 1}, 8, True), (nul, True)]
    assert read(put(tmp_path, b'\0\0\0\n{"a":1}\n')) == [(nul, False), ({"a": 1}, 12, True)]
    assert read(put(tmp_path, b'\0\0{"a":1}\n')) == [({"a": 1}, 10, True)]


def test_a_byte_order_mark_is_taken_off_the_first_line_only(tmp_path: Path) -> None:
    assert read(put(tmp_path, b'\xef\xbb\xbf{"a":1}\r\n{"b":2}\r\n')) == [({"a": 1}, 12, True), ({"b": 2}, 21, True)]


def test_half_a_surrogate_pair_costs_itself_only(tmp_path: Path) -> None:
    records = read(put(tmp_path, b'{"a":"x\\ud83d y","b":"\\ud83d\\ude80"}\n{"c":"\xff ok"}\n'))
    assert [record for record, *_ in records] == [{"a": "x\ufffd y", "b": "🚀"}, {"c": "\ufffd ok"}]


def test_line_separators_of_unicode_end_no_line(tmp_path: Path) -> None:
    assert read(put(tmp_path, '{"a":"x\u2028y\u0085z"}\n'.encode()))[0][0] == {"a": "x\u2028y\u0085z"}


def test_a_line_that_is_too_long_is_skipped_and_the_next_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonl, "MAX_LINE", 50)
    path = put(tmp_path, b'{"a":"' + b"x" * 90 + b'"}\n{"b":2}\n')
    for block in (7, 20, 45):
        [(reason, tail), last] = read(path, block=block)
        assert (reason.startswith("a line of more than"), tail, last) == (True, False, ({"b": 2}, 107, True))


def test_deep_nesting_is_skipped_not_fatal(tmp_path: Path) -> None:
    assert read(put(tmp_path, b"[" * 100_000 + b'\n{"a":1}\n'))[-1][0] == {"a": 1}


def test_a_missing_file_is_a_parse_error_without_content(tmp_path: Path) -> None:
    with pytest.raises(ParseError, match="No such file") as caught:
        read(tmp_path / "gone.jsonl")
    assert caught.value.transient


def test_a_path_that_is_no_unicode_is_named_readably(tmp_path: Path) -> None:
    name = os.fsdecode(b"bad\xff.jsonl")
    with pytest.raises(ParseError, match="bad%FF"):
        read(tmp_path / name)


def followed(path: Path, offset: int = 0, **more: Any) -> list[Event]:
    """Return the events of a file whose records are times."""
    return list(jsonl.follow(jsonl.records(str(path), offset), offset, lambda record: [Seen(record["t"])], **more))


GROWING = b'{"t":1}\nbad\n{"t":2}\nworse\n{"t":3}'


def test_what_may_still_change_comes_after_the_checkpoint(tmp_path: Path) -> None:
    path, bad, end = put(tmp_path, GROWING), Skipped("a line that is no JSON"), Ended("completed")
    assert followed(path) == [Seen(1), bad, Seen(2), Checkpoint(20), bad, Seen(3)]
    settled = followed(path, settle=lambda: [end], state=lambda: {"a": 1})
    assert settled == [Seen(1), bad, Seen(2), end, Checkpoint(20, {"a": 1}), bad, Seen(3), end]
    assert followed(path, state=lambda: None) == [Seen(1), bad, Seen(2), bad, Seen(3)]


def test_going_on_at_a_checkpoint_gives_what_a_full_reading_gives(tmp_path: Path) -> None:
    for cut in range(len(GROWING) + 1):
        earlier = followed(put(tmp_path, GROWING[:cut]))
        marks = [index for index, event in enumerate(earlier) if isinstance(event, Checkpoint)]
        assert len(marks) == (cut >= 8)
        path = put(tmp_path, GROWING)
        for index in marks:
            mark = earlier[index]
            assert isinstance(mark, Checkpoint)
            assert earlier[:index] + followed(path, mark.offset) == followed(path)
