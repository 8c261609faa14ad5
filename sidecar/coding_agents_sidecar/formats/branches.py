"""Which records a rewind left behind, in logs where every record names its parent and nothing is ever taken out.

A log is cut into stretches: one begins at every prompt, stretch 0 is what comes before the first. A stretch hangs on the
one its prompt's parent lies in, and so the stretches form a tree. A prompt whose parent was written before an earlier
prompt took that one back: of the two, only the one is left from which the newest prompt or answer can be reached. Single
records are never judged: the results of parallel tool calls hang side by side, and a log may lack any parent.
"""

from typing import Any

from ..model import Stale

RECENT = 64
"""Records whose place is remembered for a later reading. New records name recent ones as their parents."""

Place = tuple[int, int]
"""A record's stretch, and how many stretches there were when it was written."""


class Branches:
    """The tree of stretches while a log is read.

    Args:
        state: as ``state`` returned it for a shorter log; ``None`` when the log is read from its start.
    """

    def __init__(self, state: dict[str, Any] | None = None) -> None:
        self.resumed = state is not None
        state = state or {}
        self.parents: list[Place] = [(stretch, written) for stretch, written in state.get("parents", [(0, 0)])]
        self.newest: int = state.get("newest", 0)
        self.places: dict[str, Place] = {record: (place[0], place[1]) for record, place in state.get("places", {}).items()}
        self.linked: bool = state.get("linked", False)
        self.rootless: bool = state.get("rootless", False)

    def state(self) -> dict[str, Any]:
        """Return what a later reading of the grown log needs, as JSON-like data."""
        return {
            "parents": list(self.parents),
            "newest": self.newest,
            "places": dict(list(self.places.items())[-RECENT:]),
            "linked": self.linked,
            "rootless": self.rootless,
        }

    def place(self, record: str | None, parent: str | None) -> int:
        """Return the stretch of a record that is neither prompt nor answer."""
        stretch = self.above(record, parent, prompt=False)[0]
        self.note(record, stretch)
        return stretch

    def answer(self, record: str | None, parent: str | None) -> int:
        """Return the stretch of an answer; the conversation has reached it."""
        self.newest = self.place(record, parent)
        return self.newest

    def prompt(self, record: str | None, parent: str | None) -> int:
        """Return the stretch that a prompt begins."""
        self.parents.append(self.above(record, parent, prompt=True))
        self.newest = len(self.parents) - 1
        self.note(record, self.newest)
        return self.newest

    def above(self, record: str | None, parent: str | None, *, prompt: bool) -> Place:
        """Return the place a record hangs on: its parent's, or the newest one when the parent is not in the log.

        Raises:
            Stale: the parent may lie before what a resumed reading remembers.
        """
        end = (self.newest, len(self.parents))
        if record is None:
            return end
        if parent is None:
            first = len(self.parents) == 1
            if prompt and first:
                self.rootless = True
            # Back to the very start, unless the log never links its records or began with a parent of its first prompt.
            return (0, 1) if prompt and not first and self.linked and self.rootless else end
        place = self.places.get(parent)
        if place is not None:
            self.linked = True
            return place
        if self.resumed:
            raise Stale
        return end

    def note(self, record: str | None, stretch: int) -> None:
        """Remember where a record lies."""
        if record is not None:
            self.places[record] = (stretch, len(self.parents))

    def abandoned(self) -> frozenset[int]:
        """Return the stretches that the conversation has left."""
        onward: dict[int, int] = {}
        stretch = self.newest
        while stretch:
            onward[self.parents[stretch][0]] = stretch
            stretch = self.parents[stretch][0]
        left: set[int] = set()
        for stretch, (parent, _) in enumerate(self.parents):
            other = onward.get(parent)
            if stretch == 0 or stretch == other:
                continue
            if parent in left or (other is not None and self.took_back(other, stretch)):
                left.add(stretch)
        return frozenset(left)

    def took_back(self, one: int, other: int) -> bool:
        """Return whether the later of two stretches that hang on the same one was begun in the earlier one's place."""
        return min(one, other) >= self.parents[max(one, other)][1]
