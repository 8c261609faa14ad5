"""OpenCode: what single values mean, whose form or sense changed over the years."""

from typing import Any

import pytest

from coding_agents_sidecar.adapters.opencode import OpenCode, title_of
from coding_agents_sidecar.formats.opencode import tokens
from coding_agents_sidecar.model import Tokens

OLD, NEW = tokens.Counting(False, False), tokens.Counting(True, True)


def counts(input: Any, output: Any, reasoning: Any, read: Any, write: Any, total: Any = None) -> dict[str, Any]:
    """Return a response's counts as they are recorded."""
    found = {"input": input, "output": output, "reasoning": reasoning, "cache": {"read": read, "write": write}}
    return found if total is None else {**found, "total": total}


@pytest.mark.parametrize(
    ("recorded", "more", "meaning", "expected"),
    [
        (counts(1500, 62, 7, 600, 0), {}, OLD, Tokens(900, 62, 600, 0, 7)),
        (counts(900, 62, 7, 600, 0, 1562), {}, OLD, Tokens(900, 62, 600, 0, 7)),
        (counts(900, 55, 7, 600, 0, 1562), {}, OLD, Tokens(900, 62, 600, 0, 7)),
        (counts(900, 55, 7, 600, 0), {}, NEW, Tokens(900, 62, 600, 0, 7)),
        (counts(700, 62, 7, 600, 0), {"finish": "stop"}, OLD, Tokens(700, 62, 600, 0, 7)),
        (counts(500, 62, 7, 600, 0), {}, OLD, Tokens(500, 62, 600, 0, 7)),
        (counts(700, 62, 0, 600, 0), {"providerID": "anthropic"}, OLD, Tokens(700, 62, 600, 0, 0)),
        (counts(700, 62, 0, 600, 0), {"providerID": "opencode", "modelID": "claude-x"}, OLD, Tokens(700, 62, 600, 0, 0)),
        (counts(700, 62, 0, 600, 9), {}, OLD, Tokens(700, 62, 600, 9, 0)),
        (counts(0, 0, 0, 0, 0), {}, NEW, None),
        (counts(-5, 7, 0, 600, 0), {}, NEW, Tokens(None, 7, 600, 0, 0)),
        (counts("x", None, [], {}, True), {}, NEW, None),
        ({"input": 5}, {}, NEW, Tokens(5, None, None, None, None)),
        (None, {}, NEW, None),
    ],
)
def test_counts_mean_what_their_version_meant(
    recorded: Any, more: dict[str, Any], meaning: tokens.Counting, expected: Tokens | None
) -> None:
    assert tokens.used({"tokens": recorded, **more}, [], meaning) == expected


def test_the_steps_of_one_message_are_added_and_a_single_one_repeats_it() -> None:
    steps: list[Any] = [{"type": "step-finish", "tokens": counts(number, 1, 0, 0, 0)} for number in (10, 20)]
    info = {"tokens": counts(20, 1, 0, 0, 0)}
    assert tokens.used(info, steps, NEW) == Tokens(30, 2, 0, 0, 0)
    assert tokens.used(info, steps[1:], NEW) == Tokens(20, 1, 0, 0, 0)
    assert tokens.used({"tokens": counts(0, 0, 0, 0, 0)}, steps[:1], NEW) == Tokens(10, 1, 0, 0, 0)


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("0.5.29", (False, False)),
        ("1.0.61", (False, False)),
        ("1.0.62", (True, False)),
        ("1.2.1", (True, False)),
        ("1.14.0", (True, True)),
        ("v1.19.0-local-dev", (True, True)),
        ("local", (False, False)),
        (None, (False, False)),
    ],
)
def test_a_version_tells_how_it_counted(version: str | None, expected: tuple[bool, bool]) -> None:
    found = tokens.counting(version, OpenCode.cached_apart, OpenCode.reasoning_apart)
    assert (found.cached_apart, found.reasoning_apart) == expected


@pytest.mark.parametrize(
    ("recorded", "expected"), [(0.5, 0.5), (2, 2.0), (0, None), (-1, None), (1e300, None), ("1", None), (None, None)]
)
def test_a_cost_is_a_price_that_somebody_may_have_paid(recorded: Any, expected: float | None) -> None:
    assert tokens.cost({"cost": recorded}) == expected


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("New session - 2026-02-02T02:40:00.000Z", None),
        ("New Session - 2025-07-01T10:00:00.000Z", None),
        ("Child session - 2026-02-02T02:40:00.000Z", None),
        ("New session - 2026-02-02T02:40:00.000Z (fork #2)", None),
        ("New session - plans", "New session - plans"),
        ('"Fix the \\"shop\\""', 'Fix the "shop"'),
        ('"a" and "b"', '"a" and "b"'),
        ("  ", None),
        (7, None),
    ],
)
def test_placeholders_are_no_titles_and_quotes_around_one_go(title: Any, expected: str | None) -> None:
    assert title_of({"title": title}) == expected
