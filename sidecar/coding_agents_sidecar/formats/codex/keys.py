"""Names of prompts, responses and their usage that stay the same where a fork or a sub-agent copies them.

A copy has new times, may lack records, and since 2026 keeps the ids of turns. Where these are UUIDs, a turn's id and what is
said or counted in it are a name in themselves. Older rollouts are copied whole: there a name is a hash over the thread the
history began in and all items so far.
"""

import hashlib
import re
from typing import Any

from .. import fields
from . import content

UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class Keys:
    """The names while a rollout is read.

    Attributes:
        scope: id of the thread in which the history began.
    """

    def __init__(self, scope: str, state: dict[str, Any] | None = None) -> None:
        state = state or {}
        self.scope: str = state.get("scope", scope)
        self.copied: bool = state.get("copied", False)
        self.turn: str | None = state.get("turn")
        self.asked: bool = state.get("asked", True)
        self.chain: str = state.get("chain", "")
        self.said: dict[str, int] = dict(state.get("said", {}))

    def state(self) -> dict[str, Any]:
        """Return what reading on needs, as JSON-like data."""
        plain = ("scope", "copied", "turn", "asked", "chain")
        return {**{name: getattr(self, name) for name in plain}, "said": dict(self.said)}

    @property
    def is_unique(self) -> bool:
        """Whether the turn's id is unique among all threads."""
        return UUID.fullmatch(self.turn or "") is not None

    def is_younger(self, thread: str) -> bool:
        """Return whether the turn began after a thread did; UUIDs of version 7 sort by time."""
        turn = self.turn or ""
        return self.is_unique and turn[14] == thread[14:15] == "7" and turn > thread

    def enter(self, scope: str) -> None:
        """Begin the copied history of a thread, which may in turn begin with that of another one.

        Further on, the name of a thread only repeats who it is.
        """
        if not self.copied or not self.chain:
            self.scope, self.copied, self.chain = scope, True, ""

    def begin(self, turn: str | None) -> None:
        """Enter a turn, unless it is the current one or has no id."""
        if turn and turn != self.turn:
            self.turn, self.asked = turn, False
            self.said.clear()
            self.chain = digest(f"{self.chain}|{turn}")

    def item(self, payload: dict[str, Any]) -> None:
        """Pass a response item."""
        self.chain = digest(f"{self.chain}|{identity(payload)}")

    def response(self, payload: dict[str, Any]) -> str:
        """Return the name of the response that begins with an item, which has just been passed."""
        if not self.is_unique:
            return f"{self.scope}:{self.chain}"
        name = digest(identity(payload))
        self.said[name] = self.said.get(name, 0) + 1
        return f"{self.turn}:{name}:{self.said[name]}"

    def prompt(self) -> str | None:
        """Return the name of the prompt that the current turn begins with; ``None`` for any other.

        A prompt typed again in a fork is a new one: only a turn's id tells it from the copy.
        """
        if self.asked or not self.is_unique:
            return None
        self.asked = True
        return f"{self.turn}:prompt"

    def usage(self, total: int, turn: str | None = None) -> str:
        """Return the name of what was used when the thread's total became ``total``; ``turn`` where the record names it."""
        turn = turn or self.turn
        if UUID.fullmatch(turn or ""):
            return f"{turn}:used:{total}"
        return f"{self.scope}:{turn or self.chain}:used:{total}"


def identity(payload: dict[str, Any]) -> str:
    """Return what an item is known by, whatever version wrote or copied it."""
    known = fields.text(payload, "call_id")
    if known is None:
        known = "".join(fields.text(part, "text") or "" for part in content.parts_of(fields.at(payload, "content")))
    kind, role = fields.text(payload, "type"), fields.text(payload, "role")
    return f"{kind}|{role}|{known or fields.text(payload, 'id')}"


def digest(words: str) -> str:
    """Return a short hash."""
    return hashlib.blake2b(words.encode("utf-8", "surrogatepass"), digest_size=9).hexdigest()
