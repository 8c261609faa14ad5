"""Names that people gave to threads, kept beside the sessions.

session_index.jsonl    {id, thread_name, updated_at}, appended; the last one counts
state_<n>.sqlite       threads: id, name; title where it is not what the thread began with
"""

import os
import re

from ...errors import ParseError
from .. import beside, fields, jsonl, sqlite

INDEX = "session_index.jsonl"
DATABASE = re.compile(r"state_(\d+)\.sqlite")
LIMIT = 64 << 20


def files(home: str) -> tuple[str, ...]:
    """Return the files whose change may change a name."""
    index = os.path.join(home, INDEX)
    found = database(home)
    return (index, found, f"{found}-wal") if found else (index,)


def database(home: str) -> str | None:
    """Return the newest state database; ``None`` when there is none."""
    try:
        names = [named for name in os.listdir(home) if (named := DATABASE.fullmatch(name))]
    except OSError:
        return None
    newest = max(names, key=lambda named: int(named[1]), default=None)
    return os.path.join(home, newest[0]) if newest else None


def read(home: str) -> dict[str, str]:
    """Return thread id -> name. The index counts more than the database, of which a damaged one says nothing.

    Raises:
        ParseError: the database cannot be read at the moment.
    """
    named = {}
    found = database(home)
    if found and os.path.isfile(found) and not os.path.islink(found):
        try:
            named = stored(found)
        except ParseError as error:
            if error.transient:
                raise
    for line in (beside.read(home, INDEX, limit=LIMIT) or b"").splitlines():
        record = jsonl.load(line)
        id, name = fields.text(record, "id"), (fields.text(record, "thread_name") or "").strip()
        if id and name:
            named[id] = name
    return named


def stored(path: str) -> dict[str, str]:
    """Return thread id -> name, as the database has it."""
    named = {}
    with sqlite.read_only(path) as db:
        columns = sqlite.columns(db, "threads") & {"id", "name", "title", "first_user_message"}
        if "id" not in columns:
            return {}
        for row in sqlite.rows(db, f"SELECT {', '.join(sorted(columns))} FROM threads"):
            id, name = fields.text(row, "id"), (fields.text(row, "name") or "").strip()
            title, first = fields.text(row, "title"), fields.text(row, "first_user_message")
            if not name and title and first and not first.startswith(title):
                name = title.strip()
            if id and name:
                named[id] = name
    return named
