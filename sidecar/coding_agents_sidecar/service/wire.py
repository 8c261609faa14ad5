"""What crosses the link, with its limits: requests and index rows. docs/protocol.md says what they mean."""

import re
from contextlib import suppress
from typing import Annotated, Any, Literal, TypeVar

import orjson
from pydantic import BaseModel, ConfigDict, Field, Strict, ValidationError

from ..errors import InvalidArgument, VersionMismatch
from ..formats import fields
from ..model import Kind, Status
from ..ops import PROTOCOL

MAX_INT = 2**53 - 1
"""What JSON carries exactly everywhere."""

EARLY_ID = re.compile(rb'\s*\{[^{}\[\]]{0,200}?"id"\s*:\s*([1-9]\d{0,14})\s*[,}]')
MAX_COST = 99999999.999999
"""What decimal(14,6) holds."""

Model = TypeVar("Model", bound=BaseModel)
Count = Annotated[int, Field(ge=0)]
Moment = Annotated[int, Field(ge=0, le=MAX_INT)]
Key = Annotated[str, Field(min_length=32, max_length=32, pattern=r"^[0-9a-f]{32}$")]
RowHash = Annotated[str, Field(min_length=16, max_length=16, pattern=r"^[0-9a-f]{16}$")]
Text191 = Annotated[str, Field(max_length=191)]
Path = Annotated[str, Field(max_length=16000)]
Label = Annotated[str, Field(max_length=64)]
SessionName = Annotated[tuple[str, str, str], Strict(False)]
"""Runtime, origin, native id."""
Names = Annotated[tuple[str, ...], Strict(False)]


class PublishedRow(BaseModel):
    """An index row without what belongs to its writer. Columns and limits: schema/index-row.schema.json."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    session_key: Key
    session_id: Annotated[str, Field(min_length=1, max_length=191)]
    runtime: Annotated[str, Field(min_length=1, max_length=32)]
    host: Label
    origin: Label
    project_path: Path | None
    project_hash: Annotated[int, Field(ge=0, le=2**60 - 1)] | None
    started_at: int
    ended_at: int | None
    last_activity_at: int
    file_path: Path
    file_mtime: int
    message_count: Count
    turn_count: Count
    model: Text191 | None
    token_total: Count | None
    input_tokens: Count | None
    output_tokens: Count | None
    cache_read_tokens: Count | None
    cache_write_tokens: Count | None
    reasoning_tokens: Count | None
    cost_usd: Annotated[float, Field(ge=0, le=MAX_COST)] | None
    cost_source: Literal["native", "run_index", "estimated"] | None
    status: Status
    kind: Kind
    parent_id: Text191 | None
    row_hash: RowHash
    revision: Count


class IndexRow(PublishedRow):
    """A whole row of the WordPress table."""

    event_pending: Annotated[int, Field(ge=0, le=1)]
    event_attempts: Annotated[int, Field(ge=0, le=65535)]
    indexed_at: int


class Part(BaseModel):
    """A part of a request. Members it does not know come from a newer plugin."""

    model_config = ConfigDict(extra="ignore", frozen=True, strict=True)


class Request(Part):
    """One line from the plugin."""

    v: int
    id: Annotated[int, Field(ge=1, le=MAX_INT)]
    op: str
    args: dict[str, Any] = Field(default_factory=dict)


class Nothing(Part):
    """The arguments of an operation that takes none."""


class Database(Part):
    """How to reach the database, as PHP resolved it. ``flags``: 2048 asks for TLS, 64 for no check of the certificate."""

    host: str | None = None
    port: Annotated[int, Field(ge=0, le=65535)] | None = None
    socket: str | None = None
    user: str
    password: Annotated[str, Field(repr=False)]
    name: str
    flags: int = 0
    ssl_ca: str | None = None


class Publish(Part):
    """Which table to publish to, and what it already has."""

    table: Annotated[str, Field(pattern=r"^[A-Za-z0-9_$]{1,64}$")]
    revision: Annotated[int, Field(ge=0, le=MAX_INT)]
    database: Database | None = None


class Reindex(Part):
    """Arguments of ``reindex``."""

    runtime: Names | None = None
    project: str | None = None
    full: bool = False
    dry_run: bool = False
    publish: Publish | None = None


class Adopt(Part):
    """Arguments of ``adopt``."""

    rows: list[PublishedRow]


class ListSessions(Part):
    """Arguments of ``list``, with the defaults of ``sessions list``; an empty list and a null limit take all."""

    runtime: Names = ()
    project: str | None = None
    since: Moment | None = None
    until: Moment | None = None
    model: Names = ()
    status: Annotated[tuple[Status, ...], Strict(False)] = ()
    kind: Annotated[tuple[Kind, ...], Strict(False)] = ("session",)
    host: Names = ()
    sort: Literal["date", "cost", "turns", "tokens"] = "date"
    order: Literal["desc", "asc"] = "desc"
    limit: Annotated[int, Field(ge=1, le=10**9)] | None = 100


class Titles(Part):
    """Arguments of ``titles``."""

    sessions: list[SessionName]


class Read(Part):
    """Arguments of ``read``."""

    runtime: str
    session_id: str
    origin: str | None = None
    raw: bool = False


class Prune(Part):
    """Arguments of ``prune``; ``None`` means all that are missing."""

    sessions: list[SessionName] | None = None


ARGUMENTS: dict[str, type[Part]] = {
    "hello": Nothing,
    "ping": Nothing,
    "runtimes": Nothing,
    "doctor": Nothing,
    "reindex": Reindex,
    "adopt": Adopt,
    "list": ListSessions,
    "titles": Titles,
    "read": Read,
    "prune": Prune,
}
"""The operations."""


def decode(line: bytes) -> dict[str, Any]:
    """Return the JSON object of a line.

    Raises:
        InvalidArgument: it holds none.
    """
    with suppress(orjson.JSONDecodeError):
        value = orjson.loads(line)
        if isinstance(value, dict):
            return value
    raise InvalidArgument("a request is one JSON object on one line, in UTF-8")


def early_id(line: bytes) -> int | None:
    """Return the id of a request that cannot be read as a whole, if it stands before the arguments."""
    found = EARLY_ID.match(line)
    return int(found[1]) if found else None


def id_of(value: dict[str, Any]) -> int | None:
    """Return the id of a request that may be wrong in every other way; ``None`` when it has none."""
    found = fields.at(value, "id")
    return found if type(found) is int and 1 <= found <= MAX_INT else None


def request(value: dict[str, Any]) -> Request:
    """Return the request that a JSON object is.

    Raises:
        InvalidArgument: it is none.
        VersionMismatch: it speaks another version of the protocol.
    """
    version = fields.at(value, "v")
    if type(version) is int and version != PROTOCOL:
        older = "sidecar" if version > PROTOCOL else "plugin"
        raise VersionMismatch(f"the plugin speaks protocol {version}, the sidecar {PROTOCOL}: update the {older}")
    return checked(Request, value)


def arguments(request: Request) -> Part:
    """Return the arguments of a request.

    Raises:
        InvalidArgument: there is no such operation, or it does not take them.
    """
    if request.op not in ARGUMENTS:
        raise InvalidArgument(f"there is no operation {request.op!r}")
    return checked(ARGUMENTS[request.op], request.args, "args")


def checked(model: type[Model], value: Any, place: str = "") -> Model:
    """Return the model that a JSON value is.

    Args:
        place: where the value stands in the request, for the message, which never quotes it.

    Raises:
        InvalidArgument: it breaks a rule.
    """
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise InvalidArgument(words(error, place)) from None


def words(error: ValidationError, place: str = "") -> str:
    """Return the first rule that was broken, without the value that broke it: it may be a password."""
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    path = ".".join(str(step) for step in (place, *first["loc"]) if step != "")
    return f"{path or 'the request'}: {first['msg']}"
