"""The conversations of a log: the main one and those of sub-agents, whose events stand among its own."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from ...model import Event, Info, Start, Usage
from .content import real

UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


@dataclass(slots=True)
class Lane:
    """A conversation.

    Args:
        name: '' for the main one, else what marks the events of the sub-agent.
        parent: name of the sub-agent that started it; '' for the main one.
        model: the one chosen last.
        placed: its project has been told.
        message, key, call: its last response: id, key, and the API call it came by.
        metered: what that call used has been told.
        closing: calls without a result of the tool that ends an autonomous run.
        waiting: an API call whose response has not come yet, and what it used.
        thoughts: reasoning for the response to come.
    """

    name: str
    parent: str = ""
    model: str | None = None
    placed: bool = False
    message: str | None = None
    key: str | None = None
    call: str | None = None
    metered: bool = False
    closing: list[str] = field(default_factory=list)
    waiting: tuple[str | None, Usage] | None = None
    thoughts: list[str] = field(default_factory=list)

    def state(self) -> list[Any]:
        """Return what reading on needs, in the order of the arguments."""
        last = [self.message, self.key, self.call, self.metered]
        return [self.name, self.parent, self.model, self.placed, *last, list(self.closing)]

    def answer(self, message: str | None, call: str | None, time: str | None) -> bool:
        """Take a response as its last one; return whether it is new and no further piece of the last.

        Args:
            time: as its event has it.
        """
        fresh = message is None or message != self.message
        if fresh:
            # An id that is not unique by itself is that of a copy only when its time is the same, too.
            self.key = message if message is None or UUID.fullmatch(message) else f"{message}@{time}"
            self.metered = False
        self.message, self.call = message, call
        return fresh

    def choose(self, model: str | None) -> Iterator[Event]:
        """Tell which model has been chosen, as far as it is news."""
        if (model := real(model)) and model != self.model:
            self.model = model
            yield Info(model=model)

    def flush(self) -> Iterator[Event]:
        """Tell what an API call used whose response does not come."""
        if self.waiting:
            yield self.waiting[1]
            self.waiting = None

    def start(self, main: Start) -> Start:
        """Return it as a session, next to the main one."""
        if not self.name:
            return main
        parent = f"{main.session_id}/{self.parent}" if self.parent else main.session_id
        return replace(main, session_id=f"{main.session_id}/{self.name}", kind="subagent", parent_id=parent)
