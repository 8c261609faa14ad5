"""Entries as Codex writes them, and what the adapter makes of them."""

import json
from pathlib import Path
from typing import Any

from coding_agents_sidecar.adapter import Source
from coding_agents_sidecar.adapters.codex import Codex
from coding_agents_sidecar.fold import Fold
from coding_agents_sidecar.reading import Amounts, Reading
from tests.adapters.home import shown

FIXTURES = Path(__file__).parent.parent / "fixtures" / "codex"
THREAD = "0a000001-0000-7000-8000-000000000001"
NAME = f"rollout-2026-02-03T10-00-00-{THREAD}.jsonl"

adapter = Codex()

Record = dict[str, Any]


def entry(type: str, payload: Any, /, **more: Any) -> Record:
    return {"timestamp": "2026-02-03T10:00:00.000Z", "type": type, "payload": payload, **more}


def meta(id: str = THREAD, **more: Any) -> Record:
    return entry("session_meta", {"id": id, "timestamp": "2026-02-03T10:00:00.000Z", "cwd": "/srv/shop", **more})


def item(kind: str, /, **more: Any) -> Record:
    return entry("response_item", {"type": kind, **more})


def text(words: str) -> Record:
    return {"type": "input_text", "text": words}


def user(*content: str | Record, **more: Any) -> Record:
    blocks = [text(one) if isinstance(one, str) else one for one in content]
    return item("message", role="user", content=blocks, **more)


def assistant(words: str) -> Record:
    return item("message", role="assistant", content=[{"type": "output_text", "text": words}])


def event(kind: str, /, **more: Any) -> Record:
    return entry("event_msg", {"type": kind, **more})


def typed(*content: str | Record) -> list[Record]:
    """Return a prompt and the event that marks it."""
    return [user(*content), event("user_message", message="")]


def turn(id: str | None, model: str = "gpt-x") -> Record:
    return entry("turn_context", {"turn_id": id, "model": model})


def usage(input: int, cached: int, output: int, **more: Any) -> Record:
    total = {"total_tokens": input + output, **more}
    return {"input_tokens": input, "cached_input_tokens": cached, "output_tokens": output, "reasoning_output_tokens": 0, **total}


def count(total: Record | None, last: Record | None) -> Record:
    return event("token_count", info={"total_token_usage": total, "last_token_usage": last})


def write(home: Path, *records: Record, name: str = NAME, folder: str = "sessions") -> Source:
    root = home / ".codex" / folder
    root.mkdir(parents=True, exist_ok=True)
    (root / name).write_text("".join(json.dumps(one) + "\n" for one in records))
    return Source(str(root / name), str(root))


def messages(source: Source, session_id: str = THREAD) -> list[Record]:
    return shown(adapter, source, session_id)[0]


def said(source: Source) -> list[tuple[str, Any]]:
    return [(message["role"], message["content"]) for message in messages(source)]


def reading(source: Source) -> Reading:
    """Return what a source says of its only session."""
    (found,) = Fold(adapter.name).run(adapter.events(source)).readings()
    return found


def used(source: Source) -> Amounts:
    """Return input, output, cache_read, cache_write and reasoning in all."""
    amounts: Amounts = [None] * 5
    for slot in reading(source).usage.values():
        amounts = [new if old is None else old + (new or 0) for old, new in zip(amounts, slot, strict=False)]
    return amounts
