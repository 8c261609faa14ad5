"""Sub-agents whose records lie in their session's own log, each a tree of its own."""

import hashlib
from typing import Any

from ...model import Stale, ToolCall
from .. import fields
from ..branches import RECENT, Branches


class Sides:
    """The sub-agents of a log while it is read.

    Args:
        main: the branches of the log's own session.
        state: as ``state`` returned it for a shorter log; ``None`` when the log is read from its start.
    """

    def __init__(self, main: Branches, state: dict[str, Any] | None = None) -> None:
        self.main = main
        self.resumed = state is not None
        state = state or {}
        self.names: dict[str, str] = dict(state.get("names", {}))
        self.last: str | None = None
        self.tasks: dict[str, list[str]] = dict(state.get("tasks", {}))

    def state(self) -> dict[str, Any]:
        """Return what a later reading of the grown log needs, as JSON-like data."""
        return {"names": dict(list(self.names.items())[-RECENT:]), "tasks": dict(self.tasks)}

    def place(self, record: str | None, parent: str | None, name: str | None) -> tuple[str, bool]:
        """Return the name of the sub-agent a record belongs to, and whether it begins there: it is its first record's id.

        Args:
            name: the sub-agent's own name, where the record says it.

        Raises:
            Stale: the parent may lie before what a resumed reading remembers.
        """
        name = name or self.names.get(parent or "")
        if name is None and parent and parent not in self.main.places:
            if self.resumed:
                raise Stale
            name = self.last
        begins = name is None
        self.last = name = name or record or str(len(self.names))
        if record:
            self.names[record] = name
        return name, begins

    def called(self, call: ToolCall) -> None:
        """Keep a task's description until it is over: which sub-agent it is can be told by the prompt only."""
        prompt, title = fields.text(call.input, "prompt"), fields.text(call.input, "description")
        if call.id and prompt and title:
            self.tasks[call.id] = [digest(prompt), title]

    def answered(self, call_id: str | None) -> None:
        """Forget a task that is over."""
        self.tasks.pop(call_id or "", None)

    def title(self, prompt: str | list[Any]) -> str | None:
        """Return the description of the running task with this prompt."""
        known = digest(str(prompt))
        return next((title for prompted, title in self.tasks.values() if prompted == known), None)


def digest(prompt: str) -> str:
    """Return what a prompt can be recognized by without keeping it."""
    return hashlib.blake2b(prompt.encode("utf-8", "replace"), digest_size=8).hexdigest()
