"""Recorded exchanges, replayed against the real service; the plugin's tests replay their other half without Python.

One file a connection, one line a line on the link: ``{"plugin": request}`` or ``{"sidecar": answer}``. Every conversation
begins with the home folder ``/home/dev`` of ``tests.homes`` and no ledger.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.homes import Home

from . import schemas

FILES = sorted((schemas.FOLDER / "examples" / "conversations").glob("*.jsonl"))
RECORDED_HOME = "/home/dev"
# They differ from machine to machine and from run to run, or follow from what does.
VOLATILE = {"elapsed_ms", "floor", "message", "publisher", "revision", "row_hash", "version"}


def lines(path: Path, side: str) -> list[Any]:
    """Return the lines of one side of a conversation."""
    return [line[side] for line in map(json.loads, path.read_text().splitlines()) if side in line]


def settled(value: Any) -> Any:
    """Return an answer with the type in place of every volatile value."""
    if isinstance(value, dict):
        return {name: type(item).__name__ if name in VOLATILE else settled(item) for name, item in value.items()}
    return [settled(item) for item in value] if isinstance(value, list) else value


def moved(value: Any, old: str, new: str) -> Any:
    """Return JSON-like data as if the home folder lay elsewhere."""
    if isinstance(value, dict):
        return {name: moved(item, old, new) for name, item in value.items()}
    if isinstance(value, list):
        return [moved(item, old, new) for item in value]
    return value.replace(old, new) if isinstance(value, str) else value


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_service_answers_as_recorded(path: Path, tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.lay()
    answers = home.serve([moved(request, RECORDED_HOME, str(home.path)) for request in lines(path, "plugin")])
    heard = [moved(answer, str(home.path), RECORDED_HOME) for answer in answers if "progress" not in answer]
    assert settled(heard) == settled(lines(path, "sidecar"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_what_was_recorded_follows_the_schema(path: Path) -> None:
    protocol, session = schemas.validator("protocol"), schemas.validator("session")
    reads = {request["id"] for request in lines(path, "plugin") if request.get("op") == "read"}
    heads: dict[int, Any] = {}
    messages: dict[int, list[Any]] = {}
    for answer in lines(path, "sidecar"):
        protocol.validate(answer)
        if answer["id"] in reads and "head" in answer:
            heads[answer["id"]] = answer["head"]
        if answer["id"] in reads and "item" in answer:
            messages.setdefault(answer["id"], []).append(answer["item"])
    for id, head in heads.items():
        session.validate({**head, "messages": messages[id]})


def test_the_conversations_touch_every_operation_and_both_endings() -> None:
    assert {request.get("op") for path in FILES for request in lines(path, "plugin")} >= {
        *("hello", "ping", "reindex", "adopt", "list", "titles", "read", "prune")
    }
    assert {"end", "error"} <= {name for path in FILES for answer in lines(path, "sidecar") for name in answer}
