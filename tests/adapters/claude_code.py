"""Records as Claude Code writes them, and what the adapter makes of them."""

import json
from pathlib import Path
from typing import Any

from coding_agents_sidecar.adapter import Source
from coding_agents_sidecar.adapters.claude_code import ClaudeCode
from coding_agents_sidecar.fold import Fold
from tests.adapters.home import shown

FIXTURES = Path(__file__).parent.parent / "fixtures" / "claude-code"
SESSION = "0a000001-0000-4000-8000-000000000001"

adapter = ClaudeCode()


def record(type: str, uuid: str, parent: str | None, **more: Any) -> dict[str, Any]:
    return {"type": type, "uuid": uuid, "parentUuid": parent, "sessionId": SESSION, "timestamp": "2026-02-03T10:00:00Z", **more}


def user(uuid: str, parent: str | None, content: Any, **more: Any) -> dict[str, Any]:
    return record("user", uuid, parent, message={"role": "user", "content": content}, **more)


def assistant(uuid: str, parent: str | None, key: str, *blocks: Any, **more: Any) -> dict[str, Any]:
    message = {"id": key, "model": "claude-x", "content": list(blocks), "usage": {"input_tokens": 1, "output_tokens": 1}}
    return record("assistant", uuid, parent, message=message, **more)


def text(words: str) -> dict[str, str]:
    return {"type": "text", "text": words}


def project_of(home: Path) -> Path:
    """Return the folder of a project, made when it is not there."""
    folder = home / ".claude" / "projects" / "-srv-shop"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def write(home: Path, *records: dict[str, Any], name: str = f"{SESSION}.jsonl") -> Source:
    path = project_of(home) / name
    path.write_text("".join(json.dumps(one) + "\n" for one in records))
    return Source(str(path), str(path.parent.parent))


def fold_of(source: Source) -> Fold:
    return Fold(adapter.name).run(adapter.events(source))


def read(source: Source, session_id: str = SESSION) -> list[dict[str, Any]]:
    return shown(adapter, source, session_id)[0]


def said(source: Source) -> list[tuple[str, Any]]:
    return [(message["role"], message["content"]) for message in read(source)]
