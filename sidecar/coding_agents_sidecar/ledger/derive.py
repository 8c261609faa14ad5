"""Keeping the rows true: whatever changed, every session that it touches is derived again, in the same transaction."""

import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from . import titles
from .database import HOLDING, Database
from .facts import Facts
from .lineage import Held, Member, Own, own, owners
from .rows import HASHED, STORED, derive, row_hash, usage_of

ROW = ", ".join(dict.fromkeys((*HASHED, *STORED, "row_hash", "revision")))


@dataclass(slots=True)
class Changes:
    """Ids of the sessions that a pass made, changed, and found missing."""

    indexed: set[int] = field(default_factory=set)
    updated: set[int] = field(default_factory=set)
    missing: set[int] = field(default_factory=set)


@dataclass(slots=True)
class Best:
    """The reading that stands for a session: not gone before gone, then the preference of ``model.Start``."""

    reading: int
    facts: Facts
    gone: bool
    source: tuple[bytes, int]


class Deriver:
    """Derives the rows of the sessions that a transaction touched."""

    def __init__(self, ledger: Database, changes: Changes, now: float | None = None) -> None:
        self.ledger = ledger
        self.db = ledger.db
        self.changes = changes
        self.now = time.time() if now is None else now
        self.best: dict[int, Best] = {}

    def run(self, touched: Iterable[int]) -> None:
        """Derive these sessions and all that share responses with them, however indirectly."""
        queue = set(touched)
        for session in list(queue):
            queue |= self.choose(session)
        done: set[int] = set()
        for session in sorted(queue):
            if session not in done:
                family = self.family(session)
                done |= family
                self.derive(family)

    def choose(self, session: int) -> set[int]:
        """Let the best reading stand for a session; return the sessions that shared responses with the one before."""
        before = self.db.execute("SELECT reading FROM session WHERE id = ?", (session,)).fetchone()[0]
        best = self.load(session)
        if best is None or best.reading == before:
            return set()
        touched = self.partners(before) if before else set()
        self.db.execute("UPDATE session SET reading = ? WHERE id = ?", (best.reading, session))
        return touched

    def load(self, session: int) -> Best | None:
        """Return the best reading of a session; ``None`` for one that only WordPress remembers."""
        if session in self.best:
            return self.best[session]
        found = []
        rows = self.db.execute(
            "SELECT r.id, r.facts, r.gone, s.path, s.mtime FROM reading r JOIN source s ON s.id = r.source WHERE r.session = ?",
            (session,),
        )
        for reading, blob, gone, path, mtime in rows:
            facts = Facts.load(blob)
            found.append(
                ((not gone, facts.preference, facts.messages, mtime, path), Best(reading, facts, bool(gone), (path, mtime)))
            )
        if not found:
            return None
        best, *others = [one for _, one in sorted(found, key=lambda one: one[0], reverse=True)]
        for other in others:
            complete(best.facts, other.facts)
        self.best[session] = best
        return best

    def partners(self, reading: int) -> set[int]:
        """Return the sessions that hold a response of this reading."""
        rows = self.db.execute(
            "SELECT DISTINCT s.id FROM holding h JOIN holding o ON o.key = h.key AND o.reading <> h.reading"
            " JOIN session s ON s.reading = o.reading WHERE h.reading = ?",
            (reading,),
        )
        return {row[0] for row in rows}

    def family(self, session: int) -> set[int]:
        """Return the session and all that share responses with it, however indirectly."""
        family, queue = set(), [session]
        while queue:
            one = queue.pop()
            if one not in family:
                family.add(one)
                best = self.load(one)
                queue.extend(self.partners(best.reading) - family if best else ())
        return family

    def derive(self, family: set[int]) -> None:
        """Derive the rows of one family."""
        if len(family) == 1:
            for session in family:
                self.write(session, None, {})
            return
        names_in = {self.name(session): session for session in sorted(family)}
        members = {session: self.member(session, self.ancestors(session, names_in)) for session in family}
        owner = owners(members)
        names = {member.id: member.name[0] for member in members.values()}
        for session in sorted(family):
            self.write(session, own(members[session], owner), names)

    def name(self, session: int) -> tuple[str, str]:
        """Return native id and origin of a session."""
        row: tuple[str, str] = self.db.execute("SELECT session_id, origin FROM session WHERE id = ?", (session,)).fetchone()
        return row

    def member(self, session: int, ancestors: frozenset[int]) -> Member:
        """Return a session with everything that decides about ownership."""
        best = self.best[session]
        rows = self.db.execute(f"SELECT {HOLDING} FROM holding WHERE reading = ? ORDER BY position", (best.reading,))
        held = [
            Held(key, position, at, next_time, turns, model, bool(used), list(amounts))
            for key, position, at, next_time, turns, model, used, *amounts in rows
        ]
        return Member(session, self.name(session), best.facts.birth(), best.facts.opening, ancestors, held)

    def ancestors(self, session: int, family: dict[tuple[str, str], int]) -> frozenset[int]:
        """Return the members of its family that a session explicitly descends from, of its own store before others.

        Sessions outside the family decide nothing: when they come and go, nothing of the family is touched.
        """
        found: set[int] = set()
        while True:
            parent, origin = self.best[session].facts.parent, self.name(session)[1]
            namesakes = sorted((name[1] != origin, name[1], one) for name, one in family.items() if name[0] == parent)
            if not namesakes or namesakes[0][2] in found:
                return frozenset(found)
            session = namesakes[0][2]
            found.add(session)

    def write(self, session: int, owned: Own | None, names: dict[int, str]) -> None:
        """Store the row of a session if it differs, with a new revision where WordPress would see it."""
        best = self.load(session)
        if best is None:
            return
        columns = dict(
            zip(ROW.split(", "), self.db.execute(f"SELECT {ROW} FROM session WHERE id = ?", (session,)).fetchone(), strict=True)
        )
        usage = usage_of(best.facts, owned)
        row = {**columns, **derive(best.facts, owned, usage, best.source, best.gone, self.now)}
        row["title"] = titles.of(self.ledger, session) or row["title"]
        if row["parent_id"] is None and owned and owned.parent is not None:
            row["parent_id"] = names[owned.parent]
        row["row_hash"] = row_hash(row)
        self.db.execute("DELETE FROM usage WHERE session = ?", (session,))
        self.db.executemany(
            "INSERT INTO usage VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [(session, *slot, *amounts) for slot, amounts in sorted(usage.items())],
        )
        if row == columns:
            return
        if any(row[name] != columns[name] for name in ("row_hash", "file_mtime", "cost", "cost_source")):
            row["revision"] = self.ledger.next_revision()
        self.note(session, columns, row)
        names_to_set = [*STORED, "row_hash", "revision"]
        assignments = ", ".join(f"{name} = ?" for name in names_to_set)
        self.db.execute(f"UPDATE session SET {assignments} WHERE id = ?", (*(row[name] for name in names_to_set), session))

    def note(self, session: int, before: dict[str, Any], after: dict[str, Any]) -> None:
        """Remember what happened to a session, for the report."""
        if before["revision"] is None:
            self.changes.indexed.add(session)
        elif before["row_hash"] != after["row_hash"] and session not in self.changes.indexed:
            (self.changes.missing if after["status"] == "missing" else self.changes.updated).add(session)
            (self.changes.updated if after["status"] == "missing" else self.changes.missing).discard(session)


def complete(facts: Facts, other: Facts) -> None:
    """Fill in what the reading that stands for a session does not know, and another one does."""
    facts.project = facts.project or other.project
    facts.model = facts.model or other.model
    if facts.parent is None and other.parent is not None:
        facts.parent = other.parent
        facts.kind = "subagent" if other.kind == "subagent" else facts.kind


def close_settled(ledger: Database, changes: Changes, runtimes: Iterable[str], now: float) -> None:
    """End the sessions that nobody has written to for long enough; the clock alone does it, no file is opened."""
    marks = list(runtimes)
    holes = ", ".join("?" * len(marks))
    with ledger.transaction():
        due = ledger.db.execute(
            f"SELECT id FROM session WHERE settles_at <= ? AND runtime IN ({holes})", (now, *marks)
        ).fetchall()
        Deriver(ledger, changes, now).run(row[0] for row in due)
