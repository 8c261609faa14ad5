"""``session-store.db``: what the runtime itself makes of its logs. Only its table of API calls knows more than they do."""

import os
from functools import lru_cache

from ...errors import ParseError
from ...model import Usage
from .. import fields, places, sqlite
from .content import real
from .usage import tokens_of

NAME = "session-store.db"
TABLE = "assistant_usage_events"
COLUMNS = ("id", "session_id", "agent_id", "model", "created_at")
COUNTS = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens")
SETTLED_SECONDS = 3600
"""When it is written so long after a log, that is because of other sessions."""

Calls = dict[str, list[tuple[str, Usage]]]


def files(root: str, log: str) -> tuple[str, ...]:
    """Return the files of the database below whose folder a log lies, while they may still come to say more of it."""
    path = os.path.join(os.path.dirname(root), NAME)
    found = (path, f"{path}-wal")
    try:
        written = max((os.stat(one).st_mtime for one in found if os.path.exists(one)), default=None)
        return () if written is None or written > os.stat(log).st_mtime + SETTLED_SECONDS else found
    except OSError:
        return ()


def calls_of(root: str, session_id: str) -> list[tuple[str, Usage]]:
    """Return what the API calls of a session used, each with the name of the sub-agent that made it or ''."""
    path = os.path.join(os.path.dirname(root), NAME)
    try:
        stamp = places.stamp(path, (path, f"{path}-wal"))
        return _calls(path, stamp.value).get(session_id, []) if stamp else []
    except (OSError, ParseError):
        # It can be rebuilt, and is at times: a session does not depend on it.
        return []


@lru_cache(maxsize=1)
def _calls(path: str, stamp: str) -> Calls:
    found: Calls = {}
    with sqlite.read_only(path) as db:
        if not {*COLUMNS, *COUNTS} <= sqlite.columns(db, TABLE):
            return found
        for row in sqlite.rows(db, f"SELECT {', '.join((*COLUMNS, *COUNTS))} FROM {TABLE} ORDER BY id"):
            session, tokens = fields.text(row, "session_id"), tokens_of([fields.count(row, name) for name in COUNTS])
            if session and tokens:
                key = f"{session}/call/{fields.count(row, 'id')}"
                usage = Usage(tokens, key, real(fields.text(row, "model")), fields.seconds(row, "created_at"), aside=True)
                found.setdefault(session, []).append((fields.text(row, "agent_id") or "", usage))
    return found
