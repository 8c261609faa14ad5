"""The token counts of a response, whose meaning changed twice, as ``model.Tokens``.

    {input, output, reasoning, cache: {read, write}, total?}

    1.0.61 and older   input as the provider tells it: with cached tokens, except from Anthropic; output with reasoning
    from 1.0.62 on     input without cached tokens; output with reasoning
    from 1.14 on       input without cached tokens; output without reasoning

Records of 1.1 and newer mostly carry ``total``, which shows whether reasoning lies in output. The others are judged by
the version that made the session and by ``finish``, which 1.0.61 did not write. All zero means that nothing was recorded.
"""

import re
from collections.abc import Iterable
from dataclasses import astuple, dataclass
from typing import Any

from ...model import Tokens
from .. import fields

Version = tuple[int, int, int]

NUMBERS = re.compile(r"v?(\d{1,4})\.(\d{1,4})\.(\d{1,4})")
ANTHROPIC = {"anthropic", "amazon-bedrock", "google-vertex-anthropic"}
"""Providers that never count cached tokens as input."""
MAX_COST = 1e9
"""More is damage."""


@dataclass(frozen=True, slots=True)
class Counting:
    """How a session's counts are meant where they do not show it themselves.

    Args:
        cached_apart: input is without cached tokens.
        reasoning_apart: output is without reasoning.
    """

    cached_apart: bool
    reasoning_apart: bool


def counting(version: str | None, cached_apart: Version, reasoning_apart: Version) -> Counting:
    """Return the meaning for sessions of a version, given the first versions with either meaning."""
    found = NUMBERS.match(version or "")
    made = tuple(int(number) for number in found.groups()) if found else (0, 0, 0)
    return Counting(made >= cached_apart, made >= reasoning_apart)


def used(info: Any, parts: Iterable[Any], meaning: Counting) -> Tokens | None:
    """Return what a message's response used, ``None`` when nothing was recorded.

    Before 1.0 a message holds several steps and tells only the last one's counts; the steps then tell all.
    """
    steps = [read(part, info, meaning) for part in parts if fields.text(part, "type") == "step-finish"]
    known = [step for step in steps if step is not None]
    if len(known) > 1:
        return Tokens(*map(add, *map(astuple, known)))
    return read(info, info, meaning) or (known[0] if known else None)


def add(*counts: int | None) -> int | None:
    """Return the sum of the counts that are known, ``None`` when none is."""
    return sum(count or 0 for count in counts) if any(count is not None for count in counts) else None


def read(record: Any, info: Any, meaning: Counting) -> Tokens | None:
    """Return the counts of one record, ``None`` when all are zero or absent.

    Args:
        info: the message, which names provider and model.
    """
    counts = fields.table(record, "tokens")
    input, output, reasoning = (fields.count(counts, name) for name in ("input", "output", "reasoning"))
    cache_read, cache_write = fields.count(counts, "cache", "read"), fields.count(counts, "cache", "write")
    parts = (input, output, reasoning, cache_read, cache_write)
    if not any(parts):
        return None
    total = fields.count(counts, "total")
    if total is None:
        cached_apart = meaning.cached_apart or fields.text(info, "finish") is not None
        reasoning_apart = meaning.reasoning_apart
    else:
        cached_apart, reasoning_apart = True, total >= sum(part or 0 for part in parts)
    if not cached_apart and not cache_write and not is_anthropic(info) and input and cache_read and input >= cache_read:
        input -= cache_read
    if reasoning_apart and output is not None:
        output += reasoning or 0
    return Tokens(input, output, cache_read, cache_write, reasoning)


def cost(record: Any) -> float | None:
    """Return the cost of a response or session in US dollars; ``None`` for 0, which only says that a model has no price."""
    found = fields.number(record, "cost")
    return found if found is not None and 0 < found <= MAX_COST else None


def is_anthropic(info: Any) -> bool:
    """Return whether a message was answered through Anthropic's own interface."""
    provider, model = fields.text(info, "providerID"), fields.text(info, "modelID") or ""
    return provider in ANTHROPIC or (provider == "opencode" and model.startswith("claude"))
