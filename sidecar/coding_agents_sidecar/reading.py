"""What a fold makes of a source: readings of sessions and the responses they hold, in amounts that add up."""

import hashlib
from dataclasses import dataclass, field

from .model import Ending, Info, Start

QUARTER = 900
"""Usage is kept by quarter hour: every time zone's days begin on one."""

Amounts = list[int | None]
"""The parts of ``Tokens`` in order, then micro-dollars; ``None`` where unknown."""

MAX_SUM = 2**60
MAX_USD = 99_999_999.0
"""The most that the index can store."""


@dataclass(slots=True)
class Holding:
    """A session holds an API response, its own or a copied one.

    Args:
        key: 16-byte hash of runtime and native key.
        position: index of its message in the session, abandoned ones counted too.
        time: of the response.
        next_time: of the first record after it; the start of the session's own part when this is its last copied response.
        turns: ``user`` messages of the conversation up to it.
    """

    key: bytes
    position: int
    time: float | None = None
    next_time: float | None = None
    turns: int = 0
    model: str | None = None
    amounts: Amounts = field(default_factory=lambda: [None] * 6)
    used: bool = False


@dataclass(slots=True)
class Reading:
    """What one source says of one session.

    Args:
        ending: how it stands once nobody writes to it any more.
        torn: its last record is damaged or not written to its end.
        skipped, unknown, seen: records that could not be read, records of unknown types, and those with the messages together.
        usage: (quarter hour as Unix seconds, model) -> amounts, over all responses held, copied ones included.
        keyless: the part of ``usage`` that has no holdings.
        holdings: all, or those new and changed since the checkpoint when ``resumed``.
    """

    start: Start
    info: Info
    title: str | None
    model: str | None
    message_count: int
    turn_count: int
    first_time: float | None
    opening_time: float | None
    last_time: float | None
    ending: Ending
    torn: bool
    skipped: int
    unknown: int
    seen: int
    usage: dict[tuple[int, str], Amounts]
    keyless: dict[tuple[int, str], Amounts]
    holdings: list[Holding]
    resumed: bool


def key_hash(runtime: str, key: str) -> bytes:
    """Return the hash under which the ledger knows a response."""
    return hashlib.blake2b(f"{runtime}\0{key}".encode("utf-8", "surrogatepass"), digest_size=16).digest()


def add(total: Amounts, more: Amounts) -> None:
    """Add amounts in place; unknown stays unknown until something is known. Sums stop at what a database can store."""
    for index, value in enumerate(more):
        if value is not None:
            total[index] = min((total[index] or 0) + value, MAX_SUM)


def larger(old: int | None, new: int | None) -> int | None:
    """Return the larger of two counts, unknown being less than any."""
    return old if new is None else new if old is None else max(old, new)


def quarter(time: float) -> int:
    """Return the start of the quarter hour a time lies in, as Unix seconds."""
    return int(time // QUARTER) * QUARTER


def micros(usd: float | None) -> int | None:
    """Return dollars as micro-dollars; a sum nobody can have spent is damage and unknown."""
    return round(usd * 1_000_000) if usd is not None and 0 <= usd <= MAX_USD else None
