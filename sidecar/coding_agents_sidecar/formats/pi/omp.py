"""Entries as Oh My Pi writes them.

attribution agent, synthetic     nobody typed that message
session_init                     what a sub-agent was started with
"""

from collections.abc import Iterator
from typing import Any

from ...model import Event, Info, Role
from .. import fields
from . import content
from .entries import Entries, Record


class OmpEntries(Entries):
    """The entries of one session.

    Args:
        subagent: its first message is the prompt that started it, whoever wrote that.
    """

    def __init__(self, state: dict[str, Any] | None = None, *, subagent: bool = False) -> None:
        super().__init__(state)
        self.prompted: bool = (state or {}).get("prompted", not subagent)

    def state(self) -> dict[str, Any]:
        return {**super().state(), "prompted": self.prompted}

    def spoken(self, message: Record) -> list[tuple[Role, list[Any]]]:
        injected = fields.text(message, "attribution") == "agent" or fields.flag(message, "synthetic")
        role: Role = "system" if injected and self.prompted else "user"
        self.prompted = True
        return [(role, content.parts_of(fields.at(message, "content")))]

    def usage(self, record: Record, kind: str | None, key: str | None, time: float | None) -> Iterator[Event]:
        # The result of a task repeats what the sub-agent used, which its own file tells.
        if fields.text(record, "message", "role") != "toolResult":
            yield from super().usage(record, kind, key, time)

    def facts(self, record: Record, kind: str | None) -> Iterator[Event]:
        yield from super().facts(record, kind)
        if kind == "session_init" and (agent := fields.text(record, "agent")):
            yield Info(meta={"agent_type": agent})
