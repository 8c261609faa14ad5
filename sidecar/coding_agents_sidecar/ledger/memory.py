"""What the ledger remembers of sessions without a source: taking over rows that only WordPress kept, and forgetting."""

from collections.abc import Callable
from typing import Any

from .database import Database
from .derive import Changes, Deriver
from .queries import INDEXED, select
from .rows import STORED, row_hash


def adopt(
    ledger: Database, rows: list[dict[str, Any]], host: str, is_evident: Callable[[str, str], bool]
) -> list[dict[str, Any]]:
    """Take over rows of this host that a lost ledger wrote, as ``missing``; return them as index rows to write.

    Args:
        is_evident: tells, from runtime and file path, whether the file's absence was seen. Other rows are left alone.
    """
    adopted = []
    with ledger.transaction():
        for row in rows:
            name = (row["runtime"], row["origin"], row["session_id"])
            known = ledger.db.execute(
                "SELECT 1 FROM session WHERE runtime = ? AND origin = ? AND session_id = ?", name
            ).fetchone()
            if row["host"] != host or known or not is_evident(row["runtime"], row["file_path"]):
                continue
            cost = row["cost_usd"]
            kept = {
                **row,
                "inherited": -1,
                "settles_at": None,
                "title": None,
                "tags": None,
                "cost": None if cost is None else round(float(cost) * 1_000_000),
                "status": "missing",
                "ended_at": row["last_activity_at"],
            }
            columns = ["runtime", "origin", "session_id", *STORED, "row_hash", "revision"]
            kept["row_hash"], kept["revision"] = row_hash(kept), ledger.next_revision()
            holes = ", ".join("?" * len(columns))
            ledger.db.execute(f"INSERT INTO session ({', '.join(columns)}) VALUES ({holes})", [kept[name] for name in columns])
            adopted.append(kept["revision"])
    if not adopted:
        return []
    return [
        {name: row[name] for name in INDEXED}
        for row in select(ledger, "WHERE revision >= ? ORDER BY revision", (adopted[0],), host)
    ]


def prune(
    ledger: Database, sessions: list[tuple[str, str, str]] | None, changes: Changes, *, dry_run: bool = False
) -> list[tuple[str, str, str]]:
    """Forget missing sessions, what they owned included; return their names as (runtime, origin, native id).

    Args:
        sessions: only these; ``None`` for all that are missing.
    """
    with ledger.transaction():
        missing = ledger.db.execute(
            "SELECT runtime, origin, session_id, id FROM session WHERE status = 'missing' ORDER BY runtime, origin, session_id"
        ).fetchall()
        wanted = None if sessions is None else set(sessions)
        chosen = [row for row in missing if wanted is None or row[:3] in wanted]
        if not dry_run:
            forget(ledger, [row[3] for row in chosen], changes)
    return [row[:3] for row in chosen]


def forget(ledger: Database, ids: list[int], changes: Changes) -> None:
    """Delete sessions; responses they owned go to the next holder."""
    deriver = Deriver(ledger, changes)
    touched: set[int] = set()
    for id in ids:
        for (reading,) in ledger.db.execute("SELECT id FROM reading WHERE session = ?", (id,)).fetchall():
            touched |= deriver.partners(reading)
            ledger.db.execute("DELETE FROM holding WHERE reading = ?", (reading,))
        for statement in (
            "DELETE FROM reading WHERE session = ?",
            "DELETE FROM usage WHERE session = ?",
            "DELETE FROM session WHERE id = ?",
        ):
            ledger.db.execute(statement, (id,))
    ledger.db.execute(
        "DELETE FROM source WHERE stamp = '' AND NOT EXISTS (SELECT 1 FROM reading WHERE reading.source = source.id)"
    )
    deriver.run(touched - set(ids))


def restamp(ledger: Database) -> None:
    """Give every row a new revision, so that all of them are published again and rows nobody knows stand out below."""
    with ledger.transaction():
        for (id,) in ledger.db.execute("SELECT id FROM session WHERE revision IS NOT NULL ORDER BY revision").fetchall():
            ledger.db.execute("UPDATE session SET revision = ? WHERE id = ?", (ledger.next_revision(), id))
