"""``sessions.json``, the list of sessions. It tells when each was made, and what it is called where its own file does not.

{sessionId, title, dateCreated, workspaceDirectory}          today; the date is text with milliseconds, or ISO
{session_id, title, date_created, workspace_directory}       2023; the date is text with seconds

Neither is it complete, nor is there a file for each of its rows; files are the sessions. The program writes it in place, and
stops writing it at all while it is damaged.
"""

import hashlib
import os
from dataclasses import dataclass, replace
from typing import Any

from ...adapter import Source
from .. import beside, fields, jsonl, places, rewrites

NAME = "sessions.json"
LIMIT = 64 << 20


@dataclass(frozen=True, slots=True)
class Entry:
    """What the list says of a session."""

    created: float | None
    title: str | None
    workspace: str | None


@dataclass(frozen=True, slots=True)
class Listed(Source):
    """A session's file. That the list has changed is no change of the sessions of which it says what it did.

    Args:
        entry: ``None`` where the list does not name the session.
    """

    entry: Entry | None = None

    def stamp(self) -> places.Stamp | None:
        found = Source.stamp(self)
        said = hashlib.blake2b(repr(self.entry).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
        return replace(found, value=f"{found.value}/{said}") if found and self.entry else found


def read(path: str) -> dict[str, Entry] | None:
    """Return what the list says by id; ``None`` when it cannot be read."""
    data = beside.kept(path, limit=LIMIT)
    if data is None:
        return None if os.path.lexists(path) else {}
    words = data.removeprefix(jsonl.BOM).strip(jsonl.BLANK)
    rows = jsonl.load(words)
    if isinstance(rows, list):
        found: dict[str, Entry] = {}
        for row in rows:
            if id := fields.text(row, "sessionId") or fields.text(row, "session_id"):
                found.setdefault(id, entry_of(row))
        return found
    # An empty list may be one that is just being written.
    return None if words or rewrites.is_recent(path) else {}


def entry_of(record: Any) -> Entry:
    """Return what a row of the list says, or what a session of 2023 says of itself in its form."""
    created = [moment(record, name) for name in ("dateCreated", "date_created")]
    return Entry(
        created=next((time for time in created if time is not None), None),
        title=fields.text(record, "title"),
        workspace=fields.text(record, "workspaceDirectory") or fields.text(record, "workspace_directory"),
    )


def moment(record: Any, name: str) -> float | None:
    """Return Unix seconds from a number of seconds or milliseconds, also as text, or from ISO 8601."""
    words = fields.text(record, name)
    try:
        return fields.seconds(float(words or ""))
    except ValueError:
        return fields.seconds(record, name)
