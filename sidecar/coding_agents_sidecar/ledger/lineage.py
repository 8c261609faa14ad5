"""Who owns a response that several sessions hold: the session it was copied from.

The owner of a key is the first of its holders by: an explicit ancestor before its descendants; earlier first record
(earliest time, then the one the source opens with); earlier first record that is not shared; native id and origin. It
depends on nothing but the holdings, so the order in which sources are read cannot change it.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from ..reading import Amounts, add, quarter


@dataclass(slots=True)
class Held:
    """One response in one session; fields as in ``fold.Holding``."""

    key: bytes
    position: int
    time: float | None
    next_time: float | None
    turns: int
    model: str | None
    used: bool
    amounts: Amounts


@dataclass(slots=True)
class Member:
    """A session among those that share responses.

    Args:
        ancestors: ids of the sessions it explicitly descends from, however far.
        shared: keys of its holdings that another session holds too.
    """

    id: int
    name: tuple[str, str]
    first_time: float | None
    opening_time: float | None
    ancestors: frozenset[int]
    held: list[Held]
    shared: set[bytes] = field(default_factory=set)

    def rank(self) -> tuple[float, float, float, tuple[str, str]]:
        """Return what decides between holders of one key, the owner having the least."""
        return (age(self.first_time), age(self.opening_time), self.unshared_time(), self.name)

    def unshared_time(self) -> float:
        """Return the time of the first record no other session holds; without one this session is all original."""
        own = [age(one.time) for one in self.held if one.key not in self.shared]
        last = max((one for one in self.held if one.key in self.shared), key=lambda one: one.position, default=None)
        if last is not None and last.next_time is not None:
            own.append(last.next_time)
        return min(own, default=-math.inf)


@dataclass(slots=True)
class Own:
    """What is left to a session once copied responses are with their owners.

    Args:
        inherited: position up to which its messages are copies; -1 when none is.
        turns: user messages up to there.
        start: time of its first own record; ``None`` when unknown or when nothing is inherited.
        parent: id of the session its last copied response belongs to.
        usage: (quarter hour, model) -> amounts of the responses it owns.
    """

    inherited: int = -1
    turns: int = 0
    start: float | None = None
    parent: int | None = None
    usage: dict[tuple[int, str], Amounts] = field(default_factory=dict)


def owners(members: Mapping[int, Member]) -> dict[bytes, int]:
    """Return the owner of every key that several members hold, and note in each member which of its keys are shared."""
    holders: dict[bytes, list[int]] = {}
    for member in members.values():
        for one in member.held:
            holders.setdefault(one.key, []).append(member.id)
    shared = {key: ids for key, ids in holders.items() if len(ids) > 1}
    for member in members.values():
        member.shared = {one.key for one in member.held if one.key in shared}
    ranks = {member.id: member.rank() for member in members.values()}
    owner = {}
    for key, ids in shared.items():
        among = set(ids)
        oldest = [one for one in ids if not members[one].ancestors & among] or ids
        owner[key] = min(oldest, key=lambda one: ranks[one])
    return owner


def own(member: Member, owner: Mapping[bytes, int]) -> Own:
    """Return what a member owns."""
    result = Own()
    for one in member.held:
        holder = owner.get(one.key, member.id)
        if holder != member.id:
            if one.position > result.inherited:
                result.inherited, result.turns = one.position, one.turns
                result.start, result.parent = one.next_time, holder
        elif one.used:
            add(result.usage.setdefault((quarter(one.time or 0), one.model or ""), [None] * 6), one.amounts)
    return result


def age(time: float | None) -> float:
    """Return a time that sorts; unknown counts as the newest."""
    return math.inf if time is None else time
