"""What the API was asked and what that cost, from the rows of what was shown: ``ui_messages.json``.

    say api_req_started      text: JSON {tokensIn, tokensOut, cacheWrites, cacheReads, cost, cancelReason, …}
    say api_req_finished     the same, of the request before, in 2024
    say deleted_api_reqs     the sum of what going back to a checkpoint took out of the rows: it was paid for
    say subagent_usage       the sum of a sub-agent, which has no files of its own
    say condense_context     contextCondense: {cost}, of Roo

A row is a difference, not a running total. Whether tokensIn holds cached tokens depends on the provider.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ...model import Tokens
from .. import fields, jsonl

ASIDE = ("deleted_api_reqs", "subagent_usage")
APART = {
    *("anthropic", "vertex", "openrouter", "cline", "gemini", "deepseek", "groq", "moonshot", "openai-native", "minimax"),
    "bedrock",
}
"""Providers whose tokensIn is without cached tokens."""
WITHIN = {"openai", "litellm", "lmstudio", "fireworks", "doubao", "qwen", "hicap", "oca", "together", "aihubmix"}
"""Providers whose tokensIn holds them."""

MAX_COST = 1e6


@dataclass(slots=True)
class Request:
    """One request, or the sum of several beside the conversation.

    Args:
        tokens: ``None`` where nothing was recorded, as of a request that was stopped.
        aside: it is no request of the conversation.
        doubtful: nobody knows whether input holds cached tokens.
    """

    time: float | None
    tokens: Tokens | None = None
    cost: float | None = None
    provider: str | None = None
    model: str | None = None
    aside: bool = False
    doubtful: bool = False


@dataclass(frozen=True, slots=True)
class Choice:
    """The model that was chosen at a time."""

    time: float
    model: str | None
    provider: str | None


Count = Callable[[Any, Request], Tokens | None]
"""Returns the tokens of a row's JSON; may note on the request that they are doubtful."""


def requests(rows: Sequence[Any], choices: Sequence[Choice], count: Count) -> list[Request]:
    """Return the requests that rows tell of, in order."""
    found: list[Request] = []
    for row in rows:
        said = fields.text(row, "say")
        if said == "api_req_started" or said in ASIDE:
            request = begun(row, choices, aside=said in ASIDE)
            fill(request, told(row), count)
            found.append(request)
        elif said == "api_req_finished" and found and found[-1].tokens is None:
            fill(found[-1], told(row), count)
        elif cost := cost_of(fields.at(row, "contextCondense")):
            found.append(Request(fields.seconds(row, "ts"), None, cost, aside=True))
    return found


def begun(row: Any, choices: Sequence[Choice], *, aside: bool) -> Request:
    """Return a request of which only the model may be known, as the row or the last choice before it names it."""
    time = fields.seconds(row, "ts")
    chosen = next((one for one in reversed(choices) if time is not None and one.time <= time), None)
    return Request(
        time,
        provider=fields.text(row, "modelInfo", "providerId") or (chosen.provider if chosen else None),
        model=fields.text(row, "modelInfo", "modelId") or (chosen.model if chosen else None),
        aside=aside,
    )


def fill(request: Request, data: Any, count: Count) -> None:
    """Note what a row says that a request used."""
    request.tokens = count(data, request)
    request.cost = cost_of(data)


def told(row: Any) -> dict[str, Any]:
    """Return the JSON in the text of a row."""
    words = fields.text(row, "text")
    return fields.table(jsonl.load(words.encode("utf-8", "replace"))) if words else {}


def counts_of(data: Any) -> Tokens | None:
    """Return the counts of a row or of the list of tasks as they stand there; all zero is their begin and says nothing."""
    names = ("tokensIn", "tokensOut", "cacheReads", "cacheWrites")
    found = [fields.count(data, name) for name in names]
    return Tokens(*found) if any(found) else None


def by_provider(data: Any, request: Request) -> Tokens | None:
    """Return the tokens of a row of Cline's."""
    tokens = counts_of(data)
    cached = (tokens.cache_read or 0) + (tokens.cache_write or 0) if tokens else 0
    if tokens and tokens.input is not None and cached:
        if request.provider in WITHIN:
            tokens.input = max(0, tokens.input - cached)
        request.doubtful = request.provider not in WITHIN | APART
    return tokens


def by_size(data: Any, request: Request | None = None) -> Tokens | None:
    """Return the tokens of a row of Roo's and its kin, whose tokensIn holds cached tokens where it is no less than they are."""
    tokens = None if fields.flag(data, "usageMissing") else counts_of(data)
    if tokens and tokens.input is not None:
        cached = (tokens.cache_read or 0) + (tokens.cache_write or 0)
        tokens.input -= cached if tokens.input >= cached else 0
    return tokens


def cost_of(data: Any, name: str = "cost") -> float | None:
    """Return a cost in US dollars; ``None`` for 0, which only says that a model has no price."""
    cost = fields.number(data, name)
    return cost if cost is not None and 0 < cost <= MAX_COST else None


def paired(answers: Sequence[float | None], asked: Sequence[Request]) -> dict[int, Request]:
    """Return which request each of the responses answers, where that is certain: index of a response -> request.

    Args:
        answers: when each response was complete.
    """
    main = [request for request in asked if not request.aside]
    times = [time for time in answers if time is not None]
    if len(times) == len(answers) and all(request.time is not None for request in main):
        return dict(by_time(times, main))
    used = [request for request in main if request.tokens]
    for candidates in (used, main):
        if len(candidates) == len(answers):
            return dict(enumerate(candidates))
    return {}


def by_time(times: Sequence[float], main: Sequence[Request]) -> Iterator[tuple[int, Request]]:
    """Yield for each response the last request between the response before it and its own end."""
    position = 0
    for index, time in enumerate(times):
        last = None
        while position < len(main) and (main[position].time or 0) <= time:
            last = main[position]
            position += 1
        if last:
            yield index, last
