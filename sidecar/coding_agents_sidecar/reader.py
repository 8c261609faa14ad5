"""Reading one session in full, from its source, brought up to date first."""

from collections.abc import Iterator
from typing import Any

from .adapter import Adapter, Root, Source
from .config import Settings
from .errors import ParseError, SessionNotFound, Timeout
from .formats import text
from .formats.places import Unlisted
from .indexer import Pass, root_states
from .ledger import queries
from .ledger.database import Database, exclusive
from .ledger.queries import LISTED, Found
from .ledger.rows import TOKEN_COLUMNS
from .model import Tokens
from .transcript import SessionTranscript, Transcript, token_document

ATTEMPTS = 3
"""A session that grows while it is read is read again so often, so that its head and its messages agree."""

LOCK_SECONDS = 5
"""So long a read waits for a running pass before it goes on with what the ledger knows."""


def read(
    ledger: Database, settings: Settings, adapter: Adapter, found: Found, *, raw: bool
) -> tuple[dict[str, Any], Iterator[dict[str, Any]]]:
    """Return a session without its messages, and its messages.

    Args:
        raw: keep the native records beside each message and the abandoned messages in the head.

    Raises:
        SessionNotFound: its source is gone.
        ParseError: its source cannot be read.
    """
    for attempt in range(ATTEMPTS):
        source = locate(settings, adapter, found)
        refresh(ledger, settings, adapter, source)
        before = source.stamp()
        session = parse(adapter, source, found)
        if before == source.stamp() or attempt == ATTEMPTS - 1:
            break
    now = queries.find(ledger, found.runtime, found.session_id, found.origin)
    row = queries.row_of(ledger, now.id, settings.host)
    messages, abandoned = session.finished(now.inherited, raw)
    head = {name: row[name] for name in LISTED}
    head["message_count"] = len(messages)
    head["turn_count"] = sum(1 for one in messages if one["role"] == "user" and not one["inherited"])
    head["meta"] = meta(session, row)
    if raw:
        head["abandoned"] = abandoned
    return head, iter(messages)


def parse(adapter: Adapter, source: Source, found: Found) -> SessionTranscript:
    """Return the session as its source has it."""
    fold = Transcript(adapter.name)
    fold.run(adapter.events(source, found.session_id))
    for session in fold.sessions.values():
        if text.path(text.clean(session.start.session_id)) == found.session_id:
            return session
    raise SessionNotFound(f"{found.runtime}:{found.session_id} is no longer in {text.path(source.path)}")


def locate(settings: Settings, adapter: Adapter, found: Found) -> Source:
    """Return the source of a session, found again below the runtime's roots: a path in the ledger alone opens nothing."""
    name = f"{found.runtime}:{found.session_id}"
    if found.source_path is None or found.source_root is None:
        raise SessionNotFound(f"the source of {name} is gone")
    for root, state in root_states(adapter, settings):
        if root.path != found.source_root:
            continue
        if state != "listed":
            raise ParseError(f"{text.path(root.path)}, where {name} lies, is {state}", transient=True)
        source = within(adapter, root, found.source_path)
        if source:
            return source
    raise SessionNotFound(f"the source of {name} is gone: {text.path(found.source_path)}")


def within(adapter: Adapter, root: Root, path: str) -> Source | None:
    """Return the source with this path, if the adapter finds it below the root."""
    for one in adapter.discover(root):
        if not isinstance(one, Unlisted) and one.path == path:
            return one
    return None


def refresh(ledger: Database, settings: Settings, adapter: Adapter, source: Source) -> None:
    """Bring one source of the ledger up to date; while another process writes the ledger for long, leave it as it is."""
    try:
        with exclusive(ledger.path, LOCK_SECONDS):
            Pass(ledger, settings).refresh(adapter, source)
    except Timeout:
        return


def meta(session: SessionTranscript, row: dict[str, Any]) -> dict[str, Any]:
    """Return what a session tells beside its messages."""
    tokens = Tokens(*(row[name] for name in TOKEN_COLUMNS))
    return {
        **(text.clean_json(session.info.meta) if session.info.meta else {}),
        "model": row["model"],
        "models": session.models,
        "tokens": token_document(tokens),
        "cost": row["cost_usd"],
        "tags": row["tags"],
        "skipped_records": session.skipped,
    }
