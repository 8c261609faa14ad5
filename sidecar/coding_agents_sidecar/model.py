"""What an adapter says of a session: events, in conversation order. ``fold`` turns them into a session.

All times are Unix seconds (float, UTC); ``None`` means unknown, which is never 0. Part of the public API for plugins.
"""

from dataclasses import dataclass, field
from typing import Any, Literal

Role = Literal["user", "assistant", "tool", "system"]
Kind = Literal["session", "subagent"]
Status = Literal["missing", "archived", "active", "truncated", "error", "aborted", "completed"]
Ending = Literal["completed", "aborted", "error"]


@dataclass(slots=True)
class Tokens:
    """Token counts of one API response; ``None`` where the runtime does not record the part.

    ``input`` is without cached tokens, ``output`` includes ``reasoning``.
    """

    input: int | None = None
    output: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None
    reasoning: int | None = None


@dataclass(slots=True)
class Start:
    """What follows belongs to this session: opens it, or goes back to it when it is open already.

    Args:
        session_id: the runtime's own id, unchanged.
        parent_id: native id of the session it was started, forked or resumed from, where the runtime says so.
        origin: label of the store inside the runtime (profile, agent); '' for the default one.
        preference: where one session lies in several sources, the highest wins; then the one with more messages, then
            the newer.
        modified: the session's own time of change, where its source holds many sessions.
    """

    session_id: str
    kind: Kind = "session"
    parent_id: str | None = None
    origin: str = ""
    preference: int = 0
    modified: float | None = None


@dataclass(slots=True)
class Info:
    """Facts of the session, whenever they turn up; ``None`` says nothing.

    Args:
        project_path: the first one given wins.
        title: the highest ``title_rank`` wins, then the last. Rank 0 is below the first prompt: a mere fallback.
        model: the model chosen for the session; counts only while no message or usage names one.
        started_at: the runtime's authoritative start; without it the first own record counts.
        last_activity_at: widens the time of the last record.
        ended_at: the runtime's authoritative time of the last change, whatever its records say. The last one given wins.
        cost_usd: the session's native cost as a whole, where responses do not carry it. The last one given wins.
        tokens: running totals of the session as a whole, where responses do not carry them. The last one given wins.
        tags: labels the runtime keeps.
        meta: anything else worth keeping (``version`` of the runtime, provider, channel), merged; shown by ``read``, never
            stored in WordPress.
    """

    project_path: str | None = None
    title: str | None = None
    title_rank: int = 1
    model: str | None = None
    started_at: float | None = None
    last_activity_at: float | None = None
    parent_id: str | None = None
    archived: bool | None = None
    cost_usd: float | None = None
    tokens: Tokens | None = None
    tags: tuple[str, ...] | None = None
    meta: dict[str, Any] | None = None
    ended_at: float | None = None


@dataclass(slots=True)
class ToolCall:
    """A request of the assistant. ``input`` is JSON-like; the fold adds output, error and duration from the result."""

    id: str | None
    name: str
    input: Any = None
    duration_ms: int | None = None


@dataclass(slots=True)
class ToolResult:
    """The answer to a tool call. ``output`` is text or a list of parts."""

    tool_call_id: str | None
    output: Any
    is_error: bool = False
    tool_name: str | None = None
    duration_ms: int | None = None


@dataclass(slots=True)
class Message:
    """One entry of the conversation.

    Args:
        id: native id, unique in the session; the fold makes one up from the position when it is ``None``.
        key: native id of the API response, unique in the runtime. Messages of one key are one message: later ones add
            their content, thinking and tool calls to the first. The same key in two sessions is a copied response.
        content: text, or a list of parts such as ``{"type": "text", "text": …}`` or
            ``{"type": "image", "media_type": …, "bytes": n}``.
        model: the model that answered; placeholders are ``None``.
        branch: label of the stretch of the conversation it belongs to; see ``Abandoned``.
        raw: the native record, for ``read --raw``.
    """

    role: Role
    time: float | None = None
    id: str | None = None
    key: str | None = None
    content: str | list[Any] = ""
    tool_calls: list[ToolCall] | None = None
    tool_result: ToolResult | None = None
    thinking: str | None = None
    model: str | None = None
    branch: int | str = 0
    raw: Any = None


@dataclass(slots=True)
class Usage:
    """What one API response used; follows its ``Message``, if it has one.

    Args:
        key: as in ``Message``. The same key again is the same response: the larger value of every part counts.
            ``None``: usage without an identity, it is added.
        cost_usd: native cost of the response.
        time: when it was used; the day in reports.
        aside: a request beside the conversation (a title, a warm cache): its model is not the session's.
    """

    tokens: Tokens
    key: str | None = None
    model: str | None = None
    time: float | None = None
    cost_usd: float | None = None
    aside: bool = False


@dataclass(slots=True)
class Seen:
    """A record without a message: only its time counts, for first and last record."""

    time: float


@dataclass(slots=True)
class Ended:
    """How the session stands if no message of user, assistant or tool follows.

    Without it the fold decides: a prompt, tool result or tool call that nothing answers is ``aborted``.
    """

    how: Ending


@dataclass(slots=True)
class Abandoned:
    """The branches that left the conversation (rewound, reverted); the last such event of a session counts.

    Their messages are not counted, their tokens are.
    """

    branches: frozenset[int | str]


@dataclass(slots=True)
class Skipped:
    """A record that could not be read.

    Args:
        reason: in words, without content.
        tail: it is the last one of the source: a cut, or a write that is not finished yet.
    """

    reason: str
    tail: bool = False


@dataclass(slots=True)
class Unknown:
    """A record of a type that the adapter does not know: read past, and counted for ``doctor``."""


@dataclass(slots=True)
class Checkpoint:
    """All events so far follow from the first ``offset`` bytes; reading may go on there when the source has grown.

    Yield it once, after the last line that ended with a newline. Events of a last line without one come after it.

    Args:
        offset: byte offset just after a line's end.
        state: what the adapter itself must remember, as JSON-like data; given back in ``resume``.
    """

    offset: int
    state: dict[str, Any] = field(default_factory=dict)


Event = Start | Info | Message | Usage | Seen | Ended | Abandoned | Skipped | Unknown | Checkpoint


class Stale(Exception):
    """What was appended changes what was said before: the source must be read from its start."""
