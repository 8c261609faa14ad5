"""Writing what was read: sources, readings, holdings. Each call stands inside a transaction of the caller's."""

import os
from dataclasses import dataclass

from ..adapter import Source
from ..formats import fields, text
from ..formats.places import Stamp
from ..reading import Holding, Reading
from ..scan import Resume, Scan
from .database import HOLDING, Database
from .facts import Facts

LIVING = "FROM reading r JOIN session s ON s.id = r.session WHERE r.source = ? AND NOT r.gone"


@dataclass(slots=True)
class Known:
    """A source as the ledger knows it; ``stamp`` is '' when it must be looked at again."""

    id: int
    stamp: str
    version: str
    resumable: bool


class Store:
    """The sources of a ledger."""

    def __init__(self, ledger: Database) -> None:
        self.ledger = ledger
        self.db = ledger.db

    def sources(self, runtime: str) -> dict[bytes, Known]:
        """Return the known sources of a runtime by path."""
        rows = self.db.execute(
            "SELECT path, id, stamp, version, checkpoint IS NOT NULL FROM source WHERE runtime = ?", (runtime,)
        )
        return {path: Known(id, stamp, version, bool(resumable)) for path, id, stamp, version, resumable in rows}

    def resume(self, known: Known) -> Resume | None:
        """Return where the last reading of a source stopped; ``None`` when its holdings are not those of the checkpoint."""
        # A session that is gone keeps what it held, which a checkpoint made after its end knows nothing of.
        blob = self.db.execute(
            "SELECT checkpoint FROM source WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM reading WHERE source = ?1 AND gone)",
            (known.id,),
        ).fetchone()
        if blob is None or blob[0] is None:
            return None
        holdings: dict[str, list[Holding]] = {}
        rows = self.db.execute(
            f"SELECT (SELECT session_id FROM session WHERE id = r.session), {HOLDING}"
            " FROM reading r JOIN holding h ON h.reading = r.id WHERE r.source = ?",
            (known.id,),
        )
        for session_id, key, position, time, next_time, turns, model, used, *amounts in rows:
            one = Holding(key, position, time, next_time, turns, model, list(amounts), bool(used))
            holdings.setdefault(session_id, []).append(one)
        return Resume(blob[0], holdings)

    def session_stamps(self, source_id: int) -> dict[tuple[str, str], str]:
        """Return the stamps under which the sessions of a source were read: (origin, native id) -> stamp."""
        rows = self.db.execute(
            f"SELECT s.origin, s.session_id, r.stamp {LIVING}",
            (source_id,),
        )
        return {(origin, session_id): stamp for origin, session_id, stamp in rows}

    def touch(self, runtime: str, source: Source, stamp: Stamp) -> int:
        """Return the id of a source, made when it is new."""
        row = self.db.execute(
            "INSERT INTO source (runtime, path, root, stamp, mtime, size, version, skipped) VALUES (?, ?, ?, '', ?, ?, '', 0)"
            " ON CONFLICT (runtime, path) DO UPDATE SET root = excluded.root, mtime = excluded.mtime, size = excluded.size"
            " RETURNING id",
            (runtime, os.fsencode(source.path), os.fsencode(source.root), stamp.modified_ns // 1_000_000_000, stamp.size),
        ).fetchone()
        return int(row[0])

    def finish(self, source_id: int, stamp: str, version: str, scan: Scan) -> None:
        """Note how reading a source ended. A failure leaves its earlier readings as they are."""
        self.db.execute(
            "UPDATE source SET stamp = ?, version = ?, checkpoint = ?, code = ?, message = ?, skipped = ? WHERE id = ?",
            (stamp, version, scan.checkpoint, scan.code, scan.message, scan.skipped, source_id),
        )

    def write(self, runtime: str, source: Source, source_id: int, reading: Reading, stamp: str = "") -> set[int]:
        """Store what a source says of one session; return it and the sessions that its lost responses touch."""
        session = self.session(runtime, reading.start.origin or source.origin, reading.start.session_id)
        reading_id = self.db.execute(
            "INSERT INTO reading (source, session, gone, stamp, skipped, unknown, seen, version, facts)"
            " VALUES (?, ?, 0, ?, ?, ?, ?, ?, ?) ON CONFLICT (source, session) DO UPDATE SET gone = 0, stamp = excluded.stamp,"
            " skipped = excluded.skipped, unknown = excluded.unknown, seen = excluded.seen, version = excluded.version,"
            " facts = excluded.facts RETURNING id",
            (source_id, session, stamp, *noted(reading), Facts.of(reading).dump()),
        ).fetchone()[0]
        touched = {session} if reading.resumed else {session} | self.drop_holdings(reading_id)
        self.db.executemany(
            f"INSERT OR REPLACE INTO holding (reading, {HOLDING}) VALUES ({', '.join('?' * 14)})",
            [
                (reading_id, one.key, one.position, one.time, one.next_time, one.turns, one.model, one.used, *one.amounts)
                for one in reading.holdings
            ],
        )
        return touched

    def session(self, runtime: str, origin: str, session_id: str) -> int:
        """Return the id of a session, made when it is new."""
        name = (runtime, text.clean(origin), text.path(text.clean(session_id)))
        row = self.db.execute("SELECT id FROM session WHERE runtime = ? AND origin = ? AND session_id = ?", name).fetchone()
        if row is None:
            row = self.db.execute(
                "INSERT INTO session (runtime, origin, session_id) VALUES (?, ?, ?) RETURNING id", name
            ).fetchone()
        return int(row[0])

    def drop_holdings(self, reading_id: int) -> set[int]:
        """Forget the holdings of a reading; return the sessions that held some of them too."""
        touched = self.sharing(reading_id)
        self.db.execute("DELETE FROM holding WHERE reading = ?", (reading_id,))
        return touched

    def sharing(self, reading_id: int) -> set[int]:
        """Return the sessions with a reading that holds a response of this one."""
        rows = self.db.execute(
            "SELECT DISTINCT r.session FROM holding h JOIN holding o ON o.key = h.key AND o.reading <> h.reading"
            " JOIN reading r ON r.id = o.reading WHERE h.reading = ?",
            (reading_id,),
        )
        return {row[0] for row in rows}

    def keep_only(self, source_id: int, present: set[tuple[str, str]]) -> set[int]:
        """Note which sessions, as (origin, native id), a source still has; return those that turned gone."""
        rows = self.db.execute(
            f"SELECT s.origin, s.session_id, r.id, s.id {LIVING}",
            (source_id,),
        ).fetchall()
        names = {(text.clean(origin), text.path(text.clean(session_id))) for origin, session_id in present}
        lost = {reading: session for origin, session_id, reading, session in rows if (origin, session_id) not in names}
        self.db.executemany("UPDATE reading SET gone = 1 WHERE id = ?", [(reading,) for reading in lost])
        return set(lost.values())

    def lose(self, source_id: int) -> set[int]:
        """Note that a source is gone; return the sessions it held."""
        forgotten = "stamp = '', version = '', checkpoint = NULL, code = NULL, message = NULL, skipped = 0"
        self.db.execute(f"UPDATE source SET {forgotten} WHERE id = ?", (source_id,))
        return self.keep_only(source_id, set())


def noted(reading: Reading) -> tuple[int, int, int, str | None]:
    """Return what only ``doctor`` asks for: records skipped, unknown and seen, and the runtime's version."""
    version = fields.text(reading.info.meta, "version")
    return reading.skipped, reading.unknown, reading.seen, text.clean(version[:64]) if version else None
