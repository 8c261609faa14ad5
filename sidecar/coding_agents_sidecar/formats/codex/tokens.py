"""Token counts: running totals of a thread, repeated at will -> what each response used.

    {input_tokens, cached_input_tokens, cache_write_input_tokens?, output_tokens, reasoning_output_tokens, total_tokens}

Input includes cached tokens, output includes reasoning. A token_count has the totals of the thread (``total_token_usage``)
and of its last request (``last_token_usage``); a fork's begin with those of its parent. Since 0.17 a token_usage_record
tells each response by itself.
"""

from typing import Any

from ...model import Tokens
from .. import fields

NAMES: tuple[tuple[tuple[str, ...], ...], ...] = (
    (("input_tokens",), ("prompt_tokens",)),
    (("cached_input_tokens",), ("prompt_tokens_details", "cached_tokens"), ("input_tokens_details", "cached_tokens")),
    (("cache_write_input_tokens",),),
    (("output_tokens",), ("completion_tokens",)),
    (
        ("reasoning_output_tokens",),
        ("completion_tokens_details", "reasoning_tokens"),
        ("output_tokens_details", "reasoning_tokens"),
    ),
    (("total_tokens",),),
)
"""Where the parts stand: as Codex has them, then as OpenAI's interfaces do."""

Counts = list[int | None]
"""The parts in the order of ``NAMES``; ``None`` where not recorded."""


def counts_of(usage: Any) -> Counts | None:
    """Return the counts of a record; ``None`` when it has none."""
    found = [next((n for path in paths if (n := fields.count(usage, *path)) is not None), None) for paths in NAMES]
    return None if found == [None] * len(NAMES) else found


def total_of(counts: Counts) -> int:
    """Return the tokens in all."""
    return (counts[0] or 0) + (counts[3] or 0) if counts[5] is None else counts[5]


def tokens_of(counts: Counts) -> Tokens:
    """Return counts with cached tokens outside of input."""
    input, cached, written, output, reasoning, total = counts
    if input is not None:
        inside = cached or 0
        # Where the runtime's total shows that written tokens are not part of input, they are left out of it.
        if total is None or total == input + (output or 0):
            inside += written or 0
        input = max(0, input - inside)
    return Tokens(input, output, cached, written, reasoning)


class Counter:
    """The running totals of one file.

    Args:
        state: as ``state`` returned it; ``None`` at the start of a file.
    """

    def __init__(self, state: list[Counts | None] | None = None) -> None:
        self.total: Counts | None = state[0] if state else None
        self.told: Counts | None = state[1] if state else None

    def state(self) -> list[Counts | None]:
        """Return what reading on needs, as JSON-like data."""
        return [self.total, self.told]

    def record(self, usage: Any, thread: Any) -> Counts | None:
        """Take a token_usage_record; return what its response used.

        Args:
            thread: the thread's totals after it.
        """
        used = counts_of(usage)
        self.total = counts_of(thread) or self.total
        self.told = used
        return used

    def count(self, info: Any, *, inherited: bool) -> Counts | None:
        """Take a token_count; return what was used since the one before, ``None`` when that is nothing new.

        Args:
            inherited: no response of this file can have been counted yet.
        """
        total, last = counts_of(fields.at(info, "total_token_usage")), counts_of(fields.at(info, "last_token_usage"))
        before = self.total
        if total is None or (before is not None and total_of(total) == total_of(before)):
            return None
        if self.told is not None and last == self.told:
            self.total, self.told = total, None
            return None
        if before is None:
            self.total = total
            return None if inherited else last or total
        if last == total:
            # One request makes the whole total: the counter began anew.
            self.total = total
            return last
        if total_of(total) < total_of(before):
            return None
        self.total = total
        return [None if now is None else max(0, now - (then or 0)) for now, then in zip(total, before, strict=True)]
