"""Times on the command line, and the order of what a wrong command line says."""

import time
from collections.abc import Iterator

import pytest

from coding_agents_sidecar.cli.options import seconds


@pytest.fixture(autouse=True)
def new_york(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Live in a place with summer time, five hours behind UTC in winter."""
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "EST5EDT,M3.2.0,M11.1.0")
        time.tzset()
        yield
    time.tzset()


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("0", 0),
        ("1746093600", 1746093600),
        ("2025-05-01T10:00:00Z", 1746093600),
        ("2025-05-01T10:00:00.900Z", 1746093600),
        ("2025-05-01T12:00:00+02:00", 1746093600),
        ("2025-05-01T06:00", 1746093600),
        ("2025-05-01 06:00:00", 1746093600),
    ],
)
@pytest.mark.parametrize("last", [False, True])
def test_a_moment_is_the_same_as_a_first_and_as_a_last_one(value: str, expected: int, last: bool) -> None:
    assert seconds(value, last=last) == expected


@pytest.mark.parametrize(
    ("day", "length"),
    [("2025-05-01", 86400), ("2025-03-09", 82800), ("2025-11-02", 90000)],
)
def test_a_bare_date_is_that_whole_local_day(day: str, length: int) -> None:
    first, last = seconds(day, last=False), seconds(day, last=True)
    assert time.strftime("%F %T", time.localtime(first)) == f"{day} 00:00:00"
    assert time.strftime("%F %T", time.localtime(last)) == f"{day} 23:59:59"
    assert last - first + 1 == length


@pytest.mark.parametrize(("age", "expected"), [("7d", 7 * 86400), ("12h", 12 * 3600)])
def test_an_age_counts_back_from_the_present(age: str, expected: int) -> None:
    assert time.time() - seconds(age, last=False) == pytest.approx(expected, abs=2)


@pytest.mark.parametrize(
    "value", ["", "tomorrow", "7w", "-5", "2025-13-01", "9999-12-31", "99999999999999", "999999d", "\uff11\uff12"]
)
def test_anything_else_is_no_time(value: str) -> None:
    with pytest.raises((ValueError, OverflowError)):
        seconds(value, last=True)
