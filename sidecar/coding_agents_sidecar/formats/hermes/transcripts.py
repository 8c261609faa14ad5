"""Files in ``sessions/``: transcripts of versions that had no database, or wrote them beside it.

    <id>.jsonl             lines as in ``messages``, first {role: session_meta, model, platform}
    session_<id>.json      {session_id, model, platform, messages}, written anew each time

None tells how many tokens were used. What else lies there is no session: ``sessions.json`` routes chats to sessions, and
``request_dump_….json`` holds requests that failed.
"""

import os
import re
from collections.abc import Iterator
from functools import partial
from typing import Any

from ...adapter import Source
from ...errors import ParseError
from ...model import Checkpoint, Event, Info, Skipped, Start
from .. import fields, jsonl, rewrites, text
from .messages import Conversation
from .private import Privacy

NAME = re.compile(r"session_(.+)\.json|(?!request_dump_)(.+)\.jsonl")


def id_in(name: str) -> str | None:
    """Return the id in the name of a transcript; ``None`` for any other file."""
    found = NAME.fullmatch(name)
    return found and (found[1] or found[2])


def events(source: Source, resume: Checkpoint | None) -> Iterator[Event]:
    """Yield what a transcript says.

    Raises:
        ParseError: a snapshot is no whole document.
    """
    id = id_in(os.path.basename(source.path)) or ""
    if source.path.endswith(".json"):
        yield from snapshot(source.path, id)
    else:
        yield Start(id)
        yield from log(source.path, resume)


def snapshot(path: str, id: str) -> Iterator[Event]:
    """Yield what a snapshot says."""
    document = jsonl.document(path)
    if not isinstance(document, dict):
        raise ParseError(f"{text.path(path)} holds no whole session", transient=rewrites.is_recent(path))
    delegated = fields.text(document, "platform") == "subagent"
    yield Start(fields.text(document, "session_id") or id, "subagent" if delegated else "session")
    yield facts(document)
    conversation = Conversation()
    for record in fields.rows(document, "messages"):
        if isinstance(record, dict):
            yield from conversation.message(record)
        else:
            yield Skipped("a message that is no JSON object")


def log(path: str, resume: Checkpoint | None) -> Iterator[Event]:
    """Yield what a log says from a checkpoint on."""
    offset, calls = (resume.offset, fields.rows(resume.state, "calls")) if resume else (0, [])
    privacy = Privacy(calls)
    read = partial(entry, Conversation(privacy))
    return jsonl.follow(jsonl.records(path, offset), offset, read, state=lambda: {"calls": sorted(privacy.calls)})


def entry(conversation: Conversation, record: dict[str, Any]) -> Iterator[Event]:
    """Yield what a line of a log says."""
    if fields.text(record, "role") == "session_meta":
        yield facts(record)
    yield from conversation.message(record)


def facts(record: dict[str, Any]) -> Info:
    """Return what the head of a transcript says of its session."""
    source = fields.text(record, "platform")
    return Info(model=fields.text(record, "model"), meta={"source": source} if source else None)
