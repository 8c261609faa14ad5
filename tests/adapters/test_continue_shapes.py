"""Continue: counts, dates, workspaces and titles as it writes them, and JSON that is cut off."""

import json
from typing import Any

import pytest

from coding_agents_sidecar.formats.continue_dev import cut, index, shapes
from coding_agents_sidecar.model import Tokens

SETTLED = 1777629600  # 2026-05-01T10:00:00Z


@pytest.mark.parametrize(
    ("prompt", "read", "written", "expected"),
    [
        (711, 3353, 0, (Tokens(711, 5, 3353), False)),
        (1000, 400, 100, (Tokens(1000, 5, 400, 100), True)),
        (1000, 900, 200, (Tokens(1000, 5, 900, 200), False)),
        (1000, 0, 0, (Tokens(1000, 5), False)),
    ],
)
def test_cached_tokens_are_known_to_be_apart_only_where_they_are_more(
    prompt: int, read: int, written: int, expected: tuple[Tokens, bool]
) -> None:
    details = {"cachedTokens": read, "cacheWriteTokens": written}
    assert shapes.tokens_of({"promptTokens": prompt, "completionTokens": 5, "promptTokensDetails": details}) == expected


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("1777629600000", SETTLED),
        (1777629600000, SETTLED),
        ("1777629600.25", SETTLED + 0.25),
        ("2026-05-01T12:00:00+02:00", SETTLED),
        ("1709123012345", 1709123012.345),
        ("1", None),
        ("nan", None),
        ("yesterday", None),
        ("", None),
        (None, None),
        ([], None),
    ],
)
def test_a_date_has_had_many_forms(value: Any, seconds: float | None) -> None:
    assert index.moment({"dateCreated": value}, "dateCreated") == seconds


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("/srv/shop", ("/srv/shop", None)),
        ("file:///srv/my%20shop", ("/srv/my shop", None)),
        ("file:///c%3A/srv", ("C:/srv", None)),
        ("c:\\srv", ("c:\\srv", None)),
        ("vscode-remote://wsl%2Bubuntu/srv/shop", ("/srv/shop", "wsl+ubuntu")),
        ("", (None, None)),
        (None, (None, None)),
    ],
)
def test_a_workspace_is_a_path_or_a_uri(value: str | None, expected: tuple[str | None, str | None]) -> None:
    assert shapes.workspace_of(value) == expected


@pytest.mark.parametrize(
    ("titles", "title"),
    [
        (("<think>\nwhat?\n</think>\n A cart ", None), "A cart"),
        (("<think>never closed", "Listed"), "Listed"),
        (("New Session", "Untitled Session"), None),
        (("chat", "Chat about chat"), "Chat about chat"),
    ],
)
def test_a_title_is_what_is_left_without_thoughts_and_placeholders(titles: tuple[str | None, ...], title: str | None) -> None:
    assert shapes.title_of(*titles) == title


WHOLE = '{"a": [1, {"b": "c"}], "history": [{"message": {"x": [1]}, "n": -1.5}, {"message": {"y": "]}"}, "k": null}], "z": true}'


@pytest.mark.parametrize("end", range(len(WHOLE) + 1))
def test_a_cut_takes_nothing_that_stands_whole_before_it_and_invents_nothing(end: int) -> None:
    value, is_ended = cut.read(WHOLE[:end], {"history"})
    whole = json.loads(WHOLE)
    assert is_ended == (end == len(WHOLE))
    assert (value is None) == (end == 0)
    found = {} if value is None else dict(value)
    history = found.pop("history", [])
    assert all(found[name] == whole[name] for name in found)
    for one, expected in zip(history, whole["history"], strict=False):
        assert all(one[name] == expected[name] for name in one)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ('{"history": [{"message": {"role": "user"}, "more": {"cu', ({"history": [{"message": {"role": "user"}}]}, False)),
        ('{"history": [{"message": {"role": "us', ({"history": [{}]}, False)),
        ('{"other": [1, 2', ({}, False)),
        ('{"a": 1} }', ({"a": 1}, True)),
        ('{"history": [1, 2 oops, 3]}', ({"history": [1, 2]}, False)),
        ("no JSON", (None, False)),
        ('{"history":' * 5000, ({"history": {"history": {"history": {"history": {"history": {}}}}}}, False)),
    ],
)
def test_what_is_cut_is_opened_only_where_that_makes_sense(words: str, expected: tuple[Any, bool]) -> None:
    assert cut.read(words, {"history"}) == expected
