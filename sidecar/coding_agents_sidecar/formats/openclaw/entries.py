"""Entries as OpenClaw writes them.

provider openclaw     a record in an answer's place: delivery-mirror repeats what was sent, gateway-injected is the gateway's
"""

from collections.abc import Iterator
from dataclasses import astuple
from typing import Any

from ...model import Ended, Ending, Event, Message, Role, Stale
from .. import fields
from ..blocks import plain
from ..pi import content
from ..pi.entries import Entries, Record
from .index import Noted
from .spoken import ClawSpoken, undirected

GATEWAY = "openclaw"


class ClawEntries(Entries):
    """The entries of one OpenClaw session.

    Args:
        noted: what is known of it beside its transcript.

    Raises:
        Stale: something else was noted when the state was kept.
    """

    def __init__(self, noted: Noted, state: dict[str, Any] | None = None) -> None:
        super().__init__(state)
        self.noted = noted
        if state is not None and state.get("noted") != list(astuple(noted)):
            raise Stale

    def state(self) -> dict[str, Any]:
        return {**super().state(), "noted": list(astuple(self.noted))}

    def settle(self) -> Iterator[Event]:
        yield from super().settle()
        if self.noted.ending:
            yield Ended(self.noted.ending)

    def spoken(self, message: Record) -> list[tuple[Role, list[Any]]]:
        spoken = ClawSpoken(content.parts_of(fields.at(message, "content")))
        return [("system", spoken.injected), ("user", spoken.typed)]

    def answer(self, message: Record) -> tuple[list[Message], Ending | None]:
        if is_gateway(message):
            return [Message("system", content=plain(content.parts_of(fields.at(message, "content"))))], None
        said, ending = super().answer(message)
        for one in said:
            if isinstance(one.content, str):
                one.content = undirected(one.content)
        return said, ending

    def usage(self, record: Record, kind: str | None, key: str | None, time: float | None) -> Iterator[Event]:
        if not is_gateway(fields.table(record, "message")):
            yield from super().usage(record, kind, key, time)

    def facts(self, record: Record, kind: str | None) -> Iterator[Event]:
        if not is_gateway(fields.table(record, "message")):
            yield from super().facts(record, kind)


def is_gateway(message: Record) -> bool:
    """Return whether OpenClaw itself wrote a record in the place of an answer."""
    return fields.text(message, "provider") == GATEWAY
