"""Where the files of a session and of its sub-agents lie, and which session a file belongs to."""

import os
import re
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from ...adapter import Source
from ...model import Skipped, Start
from .. import beside, fields, jsonl

UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
AGENT = "agent-"
META_LIMIT = 1 << 20


def is_session(path: str) -> bool:
    """Return whether a path below a root is a session's or a sub-agent's file."""
    *folders, name = path.split(os.sep)
    stem, extension = os.path.splitext(name)
    if extension != ".jsonl":
        return False
    if len(folders) == 1:
        return stem.startswith(AGENT) or UUID.fullmatch(stem) is not None
    nested = len(folders) > 2 and folders[2] == "subagents" and UUID.fullmatch(folders[1]) is not None
    return nested and stem.startswith(AGENT)


def files_of(path: str) -> tuple[str, ...]:
    """Return the files whose change is a change of the session in this one."""
    return (path, meta_file(path)) if os.path.basename(path).startswith(AGENT) else (path,)


def meta_file(path: str) -> str:
    """Return where a sub-agent's description lies."""
    return f"{path.removesuffix('.jsonl')}.meta.json"


@dataclass(slots=True)
class Place:
    """Whose a file is.

    Args:
        project: the folder below the root.
        main: native id of the session it belongs to; ``None`` for a sub-agent that does not say it.
        start: the session it is the file of.
        agent: the file is a sub-agent's.
        meta: what the runtime noted of the sub-agent.
    """

    project: str
    main: str | None
    start: Start
    agent: bool = False
    meta: dict[str, Any] = field(default_factory=dict)


def place_of(source: Source) -> Place:
    """Return whose file a source is.

    Raises:
        ParseError: the file cannot be read.
    """
    folder, *inner, name = os.path.relpath(source.path, source.root).split(os.sep)
    project, stem = os.path.join(source.root, folder), name.removesuffix(".jsonl")
    if not stem.startswith(AGENT):
        return Place(project, stem, Start(stem))
    main = inner[0] if inner else recorded_session(source.path)
    data = beside.read(project, *inner, meta_file(name), limit=META_LIMIT)
    meta = fields.table(jsonl.load(data)) if data else {}
    around = next((folder for folder in reversed(inner) if folder.startswith(AGENT)), "")
    own, outer = (one.removeprefix(AGENT) for one in (stem, fields.text(meta, "parentAgentId") or around))
    if main is None:
        return Place(project, None, Start(own, "subagent"), True, meta)
    parent = f"{main}/{outer}" if outer else main
    return Place(project, main, Start(f"{main}/{own}", "subagent", parent), True, meta)


def recorded_session(path: str) -> str | None:
    """Return the session that the first records name; ``None`` when they name none.

    Raises:
        ParseError: the file cannot be read.
    """
    lines = islice(jsonl.records(path), 20)
    names = (None if isinstance(line, Skipped) else fields.text(line.record, "sessionId") for line in lines)
    return next(filter(None, names), None)
