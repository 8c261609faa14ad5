"""Titles that a runtime keeps apart from its sessions. They come before those that sessions have in themselves."""

import os

from ..formats import text
from .database import Database


def stamp(ledger: Database, runtime: str, store: str) -> str:
    """Return the stamp under which titles were read last; '' when they must be read again."""
    return ledger.meta(name(runtime, store)) or ""


def replace(ledger: Database, runtime: str, store: str, stamp: str, titles: dict[str, str]) -> set[int]:
    """Keep these titles by native id in place of what the store had; return the sessions whose title may change.

    Stands inside a transaction of the caller's.
    """
    key = (runtime, os.fsencode(store))
    before = dict(ledger.db.execute("SELECT session_id, title FROM title WHERE runtime = ? AND store = ?", key).fetchall())
    after = {text.path(text.clean(id)): text.clean(title) for id, title in titles.items()}
    changed = [id for id in before.keys() | after.keys() if before.get(id) != after.get(id)]
    ledger.db.executemany("DELETE FROM title WHERE runtime = ? AND store = ? AND session_id = ?", [(*key, id) for id in changed])
    rows = [(*key, id, after[id]) for id in changed if id in after]
    ledger.db.executemany("INSERT INTO title (runtime, store, session_id, title) VALUES (?, ?, ?, ?)", rows)
    ledger.set_meta(name(runtime, store), stamp)
    query = "SELECT id FROM session WHERE runtime = ? AND session_id = ?"
    return {row[0] for id in changed for row in ledger.db.execute(query, (runtime, id))}


def of(ledger: Database, session: int) -> str | None:
    """Return the title of a session; ``None`` when none is kept."""
    row = ledger.db.execute(
        "SELECT t.title FROM session s JOIN title t ON t.runtime = s.runtime AND t.session_id = s.session_id"
        " WHERE s.id = ? ORDER BY t.store LIMIT 1",
        (session,),
    ).fetchone()
    return row[0] if row else None


def name(runtime: str, store: str) -> str:
    """Return under which name the stamp of a store's titles is kept."""
    return f"titles:{runtime}:{text.path(store)}"
