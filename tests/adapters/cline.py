"""Tasks and sessions of Cline and its kin for tests: written below a home folder, and read back."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from coding_agents_sidecar.adapter import Adapter, Source
from coding_agents_sidecar.config import Settings
from coding_agents_sidecar.formats.places import Unlisted
from coding_agents_sidecar.ops import ListQuery, Sidecar
from coding_agents_sidecar.testing import LAID_AT
from coding_agents_sidecar.transcript import Transcript

CODE = ".config/Code/User/globalStorage"
AT = 1750000000000
"""When the tasks began, in milliseconds, and so their id."""


def text(words: str) -> dict[str, str]:
    return {"type": "text", "text": words}


def user(*blocks: Any, **more: Any) -> dict[str, Any]:
    return {"role": "user", "content": list(blocks), **more}


def assistant(*blocks: Any, **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": list(blocks), **more}


def use(id: str, name: str, **input: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": id, "name": name, "input": input}


def result(id: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": id, "content": content, **more}


def say(ms: int, kind: str, words: str = "", **more: Any) -> dict[str, Any]:
    return {"ts": AT + ms, "type": "say", "say": kind, "text": words, **more}


def request(ms: int, provider: str | None = None, **data: Any) -> dict[str, Any]:
    more = {"modelInfo": {"providerId": provider, "modelId": "acme-4"}} if provider else {}
    return say(ms, "api_req_started", json.dumps(data), **more)


def write(path: Path, value: Any) -> Path:
    """Write a file, as JSON unless it is text, that has been left alone for long."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    os.utime(path, (LAID_AT, LAID_AT))
    return path


def task(storage: Path, id: int | str, api: Any = None, shown: Any = None) -> Path:
    """Write a task; return its folder."""
    folder = storage / "tasks" / str(id)
    for name, value in (("api_conversation_history.json", api), ("ui_messages.json", shown)):
        if value is not None:
            write(folder / name, value)
    return folder


def found(adapter: Adapter, home: Path, environ: dict[str, str] | None = None) -> Iterator[Source | Unlisted]:
    for root in adapter.roots(environ or {}, home):
        if os.path.isdir(root.path):
            yield from adapter.discover(root)


def sources(adapter: Adapter, home: Path, environ: dict[str, str] | None = None) -> list[Source]:
    return [one for one in found(adapter, home, environ) if isinstance(one, Source)]


def read(adapter: Adapter, home: Path) -> list[dict[str, Any]]:
    """Return the messages of the only session below a home folder."""
    (source,) = sources(adapter, home)
    transcript = Transcript(adapter.name)
    transcript.run(adapter.events(source))
    (session,) = transcript.sessions.values()
    return session.finished(-1, raw=False)[0]


def said(adapter: Adapter, home: Path) -> list[tuple[str, Any]]:
    """Return role and content of the messages of the only session, for a result its output."""
    messages = read(adapter, home)
    return [(one["role"], one["tool_result"]["output"] if one["tool_result"] else one["content"]) for one in messages]


class Index:
    """A ledger over a home folder."""

    def __init__(self, runtime: str, home: Path) -> None:
        self.runtime = runtime
        self.sidecar = Sidecar(Settings(home, {}, home.parent / "state", ""))

    def run(self) -> dict[str, Any]:
        return self.sidecar.reindex(runtimes=[self.runtime])

    def rows(self) -> dict[tuple[str, str], dict[str, Any]]:
        listed = self.sidecar.list(ListQuery(runtimes=(self.runtime,), kinds=(), limit=None))
        return {(row["origin"], row["session_id"]): row for row in listed}
