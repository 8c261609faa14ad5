"""Transcripts of agents, by the editor and the command line: plain files without times, ids or results of tools.

projects/<project>/agent-transcripts/<id>/<id>.jsonl                   before: <id>.jsonl, and at first <id>.txt
projects/<project>/agent-transcripts/<id>/subagents/<agent id>.jsonl

{role: user | assistant, message: {content: text or blocks}}
{type: turn_ended, status: success | aborted | error}
{type: error, error}

The conversation of the same id in a database says more and counts before its transcript. One that holds nothing but ends
of turns stands for a conversation whose content lies there. The times of a session are those of its file.
"""

import os
import re
from collections.abc import Iterator
from typing import Any

from ...adapter import Source
from ...model import Ended, Ending, Event, Info, Kind, Message, Skipped, Start
from .. import fields, jsonl
from ..blocks import Blocks, plain
from . import moments, notes, projects, replies
from .bubbles import error_words

FOLDER, AGENTS = "agent-transcripts", "subagents"
NAME = re.compile(r"(?P<id>.+)\.(?P<kind>jsonl|txt)")
TURNS: dict[str, Ending] = {"success": "completed", "aborted": "aborted", "error": "error"}


def is_transcript(path: str) -> bool:
    """Return whether a file below the projects is a transcript, by its path."""
    return place_of(path) is not None


def place_of(path: str) -> tuple[str, str | None] | None:
    """Return the native id and that of the session it was started by, ``None`` for what is no transcript."""
    *folders, name = path.split(os.sep)
    found = NAME.fullmatch(name)
    if found is None or folders[1:2] != [FOLDER]:
        return None
    match folders[2:]:
        case []:
            return found["id"], None
        case [own] if found["kind"] == "jsonl" and own == found["id"]:
            return own, None
        case [parent, inner] if found["kind"] == "jsonl" and inner == AGENTS:
            return found["id"], parent
    return None


def project_of(root: str, path: str) -> str:
    """Return the folder of the project that a transcript lies in."""
    return os.path.join(root, os.path.relpath(path, root).split(os.sep)[0])


def events_of(source: Source, preference: int) -> Iterator[Event]:
    """Yield what a transcript says.

    Raises:
        ParseError: it cannot be read.
    """
    place = place_of(os.path.relpath(source.path, source.root))
    id, parent = place or ("", None)
    kind: Kind = "subagent" if parent else "session"
    yield Start(id, kind, parent, preference=preference, modified=moments.written(source.path))
    yield Info(project_path=projects.path_of(project_of(source.root, source.path)), meta={"times": "of the file"})
    yield from notes.messages_of(source.path) if source.path.endswith(".txt") else lines_of(source.path)


def lines_of(path: str) -> Iterator[Event]:
    """Yield what the lines of a transcript say."""
    turns = going_on = calling = False
    for line in jsonl.records(path):
        if isinstance(line, Skipped):
            yield line
            continue
        match fields.text(line.record, "type"):
            case "turn_ended":
                turns, going_on = True, False
                if how := TURNS.get(fields.text(line.record, "status") or ""):
                    yield Ended(how)
            case "error":
                going_on = False
                yield Message("system", content=error_words(fields.at(line.record, "error")), raw=line.record)
                yield Ended("error")
            case _:
                for message in said_in(line.record):
                    going_on, calling = True, message.tool_calls is not None
                    yield message
    # Older versions did not write when a turn ended. Where one did, what came after its end did not come to one.
    if going_on and (turns or calling):
        yield Ended("aborted")


def said_in(record: Any) -> Iterator[Message]:
    """Yield the messages of a line."""
    blocks = Blocks(fields.at(record, "message", "content"))
    match fields.text(record, "role"):
        case "user":
            yield from replies.asked(blocks.parts, record)
        case "assistant":
            content = plain(replies.without_blanks(replies.shown(blocks.parts)))
            yield Message("assistant", content=content, tool_calls=blocks.calls or None, thinking=blocks.thinking, raw=record)
        case "system":
            yield Message("system", content=plain(blocks.parts), raw=record)
