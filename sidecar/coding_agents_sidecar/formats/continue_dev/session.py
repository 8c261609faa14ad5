"""A session's file -> events.

{sessionId, title, workspaceDirectory, history: […], mode, chatModelTitle, usage}        today, see ``history``
{session_id, history: {timeline: […]}, session_info: {…}, config: {…}}                   2023, see ``timeline``

The program writes the file anew each time, in place. Its name is the id, whatever the id in it says. When a session ended
is known by the time of the file alone.
"""

import os
from collections.abc import Iterator
from typing import Any

from ...errors import ParseError
from ...model import Event, Info, Skipped, Start
from .. import fields, jsonl, rewrites, text
from . import cut, index, shapes, timeline
from .history import History
from .index import Entry, Listed

INTO = frozenset(("history", "timeline"))
UNLISTED = Entry(None, None, None)


def events(source: Listed) -> Iterator[Event]:
    """Yield what a session's file says.

    Raises:
        ParseError: it cannot be read, holds nothing, or is just being written.
    """
    document, lost = read(source.path)
    yield Start(os.path.splitext(os.path.basename(source.path))[0])
    yield from lost
    entry = source.entry or UNLISTED
    nodes, items = fields.rows(document, "history", "timeline"), fields.rows(document, "history")
    if isinstance(fields.at(document, "history"), dict):
        yield facts(index.entry_of(fields.table(document, "session_info")), entry, source.path)
        yield Info(model=fields.text(document, "config", "models", "default", "model"))
        yield from timeline.events(whole(nodes, "step", lost))
        return
    total, is_approximate = shapes.tokens_of(fields.at(document, "usage"))
    history = History(whole(items, "message", lost), counts=total is None)
    yield facts(index.entry_of(document), entry, source.path, history.times())
    cost = fields.number(document, "usage", "totalCost")
    meta = {
        "mode": fields.text(document, "mode"),
        "provider": history.provider(),
        "approximate_tokens": True if is_approximate or history.is_approximate() else None,
    }
    yield Info(
        model=history.model() or fields.text(document, "chatModelTitle"),
        tokens=total,
        # It begins as 0, which says nothing.
        cost_usd=cost if cost and cost > 0 else None,
        meta={name: value for name, value in meta.items() if value is not None},
    )
    yield from history.events()


def read(path: str) -> tuple[dict[str, Any], list[Skipped]]:
    """Return the document in a file, as far as it can be read, and what of it was lost."""
    words = (rewrites.content(path) or b"").removeprefix(jsonl.BOM).strip(jsonl.BLANK)
    document = jsonl.load(words)
    if isinstance(document, dict):
        return document, []
    rewrites.settle(path)
    document, is_ended = cut.read(words.decode("utf-8", "replace"), INTO)
    if not isinstance(document, dict) or not document:
        raise ParseError(f"{text.path(path)} holds no session")
    lost = [Skipped("what stands behind the damage")]
    return text.clean_json(document), lost if is_ended else [*lost, Skipped("the end of the session", tail=True)]


def whole(items: list[Any], member: str, lost: list[Skipped]) -> list[Any]:
    """Return items but for the last one, if the cut took from it what it is there for."""
    return items[:-1] if lost and not fields.table(items, -1, member) else items


def facts(own: Entry, listed: Entry, path: str, times: list[float] | None = None) -> Info:
    """Return what a session is called, where it was about, and when.

    Args:
        own: what it says itself.
        listed: what the list says.
        times: of its items.
    """
    workspace, machine = shapes.workspace_of(own.workspace or listed.workspace)
    # The list has the time of the first save, which follows the first answer.
    known = [time for time in (listed.created, own.created, *(times or ())) if time is not None]
    return Info(
        project_path=workspace,
        title=shapes.title_of(own.title, listed.title),
        started_at=min(known, default=None),
        last_activity_at=written_at(path),
        meta={"approximate_end": True, **({"remote": machine} if machine else {})},
    )


def written_at(path: str) -> float | None:
    """Return when a file was last written."""
    try:
        return os.stat(path).st_mtime
    except OSError:
        return None
