"""Which entries the conversation consists of, in a log where every entry names its parent and nothing is ever taken out.

Every entry that speaks is a node, numbered in the order of the log; one that does not lies on its parent's. The last entry
is where the conversation stands, the nodes above it are the conversation, all others have been left.

    parentId absent          the entry follows the one before it: version 1 has no ids at all
    parentId null            it begins anew; node 0 is what lies above every beginning
    parentId names nobody    the parent's line was damaged: as if it were absent
    type leaf                the conversation goes back to targetId; no entry of it
"""

from typing import Any

from ...model import Ending, Stale
from .. import fields

ROOT = 0
ABSENT = object()

Entry = dict[str, Any]


class Tree:
    """The entries while a log is read.

    Args:
        state: as ``state`` returned it for a shorter log; ``None`` when the log is read from its start.
    """

    def __init__(self, state: dict[str, Any] | None = None) -> None:
        self.resumed = state is not None
        state = state or {}
        self.nodes: int = state.get("nodes", 0)
        self.leaf: int = state.get("leaf", ROOT)
        self.tip: str | None = state.get("tip")
        self.jumps: dict[int, int] = dict(state.get("jumps", ()))
        self.endings: dict[int, Ending | None] = {self.leaf: state.get("ending")}
        self.places: dict[str, int] = {}

    def state(self) -> dict[str, Any]:
        """Return what a later reading of the grown log needs, as JSON-like data."""
        jumps = [list(jump) for jump in self.jumps.items()]
        return {"nodes": self.nodes, "leaf": self.leaf, "tip": self.tip, "jumps": jumps, "ending": self.endings.get(self.leaf)}

    def repeats(self, entry: Entry) -> bool:
        """Return whether an entry with this id was there before."""
        return fields.text(entry, "id") in self.places

    def add(self, entry: Entry, *, speaks: bool, ending: Ending | None = None) -> int:
        """Return the node of the next entry of the log.

        Args:
            ending: how the conversation stands after it; ``None`` when it changes nothing.

        Raises:
            Stale: it may hang on an entry before those that a resumed reading knows.
        """
        above = self.above(entry)
        self.leaf = above
        if speaks:
            self.nodes += 1
            self.leaf = self.nodes
            self.endings[self.leaf] = ending or self.endings.get(above)
            if above != self.nodes - 1:
                self.jumps[self.nodes] = above
        self.tip = fields.text(entry, "id")
        if self.tip is not None:
            self.places[self.tip] = self.leaf
        return self.leaf

    def above(self, entry: Entry) -> int:
        """Return the node an entry hangs on."""
        parent = entry.get("parentId", ABSENT)
        if parent is None and fields.text(entry, "id"):
            return ROOT
        if not isinstance(parent, str) or parent == self.tip:
            return self.leaf
        if parent not in self.places and self.resumed:
            raise Stale
        return self.places.get(parent, self.leaf)

    def move(self, entry: Entry) -> None:
        """Go where a ``leaf`` entry says; one that names an unknown entry says nothing.

        Raises:
            Stale: as in ``add``.
        """
        target = fields.text(entry, "targetId")
        if target in self.places:
            self.leaf, self.tip = self.places[target], target
        elif "targetId" in entry and entry["targetId"] is None:
            self.leaf, self.tip = ROOT, None
        elif self.resumed:
            raise Stale
        if own := fields.text(entry, "id"):
            self.places[own] = self.leaf

    def go(self, entry_id: str) -> None:
        """Let the conversation stand on an entry that something outside of the log names."""
        self.leaf = self.places.get(entry_id, self.leaf)

    def ending(self) -> Ending:
        """Return how the conversation stands."""
        return self.endings.get(self.leaf) or "completed"

    def abandoned(self) -> frozenset[int]:
        """Return the nodes that the conversation has left."""
        node, kept = self.leaf, set()
        while node:
            kept.add(node)
            node = self.jumps.get(node, node - 1)
        return frozenset(range(1, self.nodes + 1)) - kept
