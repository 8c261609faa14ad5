"""Logs of Copilot CLI made up for a test, and what reading them gives."""

import itertools
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from coding_agents_sidecar.adapter import Source
from coding_agents_sidecar.adapters.copilot import Copilot
from coding_agents_sidecar.fold import Fold
from coding_agents_sidecar.formats.places import Unlisted
from coding_agents_sidecar.reading import Reading
from coding_agents_sidecar.transcript import Transcript
from tests.adapters.growth import fold_of

FIXTURES = Path(__file__).parent.parent / "fixtures" / "copilot"
SESSION = "0c000001-0000-4000-8000-000000000001"

adapter = Copilot()
numbers = itertools.count(1)

Event = dict[str, Any]


def sources(home: Path, environ: dict[str, str] | None = None) -> Iterator[Source]:
    """Yield what the adapter finds below a home folder."""
    for root in adapter.roots(environ or {}, home):
        if os.path.isdir(root.path):
            for found in adapter.discover(root):
                assert not isinstance(found, Unlisted)
                yield found


def event(type: str, agent: str | None = None, *, at: float = 1, **data: Any) -> Event:
    """Return an event; ``at`` counts seconds of one minute."""
    marks = {"agentId": agent} if agent else {}
    id = f"00000000-0000-4000-8000-{next(numbers):012d}"
    return {"type": type, "data": data, **marks, "id": id, "timestamp": f"2026-05-01T10:00:{at:06.3f}Z"}


def start(**data: Any) -> Event:
    """Return the first event of a log."""
    return event("session.start", at=0, sessionId=SESSION, startTime="2026-05-01T10:00:00Z", **data)


def user(words: str, agent: str | None = None, **data: Any) -> Event:
    """Return a user message."""
    return event("user.message", agent, content=words, **data)


def answer(words: str, agent: str | None = None, *, at: float = 1, **data: Any) -> Event:
    """Return a response, with an id of its own unless it is given one."""
    id = f"aaaaaaaa-0000-4000-8000-{next(numbers):012d}"
    return event("assistant.message", agent, at=at, **{"messageId": id, "content": words, "toolRequests": [], **data})


def usage(call: str, input: int, output: int, agent: str | None = None, **data: Any) -> Event:
    """Return a usage record."""
    accounting = {"sourceSessionId": SESSION, "usageId": call}
    counts = {"inputTokens": input, "outputTokens": output, "cacheReadTokens": 0, "cacheWriteTokens": 0, **data}
    return event("session.usage_record", agent, usage={"apiCallId": call, "accounting": accounting, **counts})


def shutdown(models: dict[str, tuple[int | None, int, int]], **data: Any) -> Event:
    """Return a shutdown with requests, input and output of each model."""
    metrics = {
        model: {"requests": {"count": requests}, "usage": {"inputTokens": input, "outputTokens": output, "cacheReadTokens": 0}}
        for model, (requests, input, output) in models.items()
    }
    return event("session.shutdown", shutdownType="routine", modelMetrics=metrics, **data)


def lay(home: Path, data: bytes, folder: str = SESSION) -> Source:
    """Write a log and return it as a source."""
    path = home / ".copilot" / "session-state" / folder / "events.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return next(source for source in sources(home) if source.path == str(path))


def write(home: Path, *events: Event, folder: str = SESSION) -> Source:
    """Write events as a log and return it as a source."""
    return lay(home, "".join(json.dumps(one) + "\n" for one in events).encode(), folder)


def fold(source: Source) -> Fold:
    """Return the fold over a source."""
    return fold_of(adapter, source)


def reading(source: Source, session: str = SESSION) -> Reading:
    """Return what a source says of a session."""
    (found,) = (one for one in fold(source).readings() if one.start.session_id == session)
    return found


def amounts(source: Source, session: str = SESSION) -> list[int | None]:
    """Return what a session used: input, output, cache read and written, reasoning."""
    used = list(reading(source, session).usage.values())
    return [None if all(one[n] is None for one in used) else sum(one[n] or 0 for one in used) for n in range(5)]


def read(source: Source, session: str = SESSION) -> list[dict[str, Any]]:
    """Return the messages of a session as ``read`` shows them."""
    transcript = Transcript(adapter.name)
    transcript.run(adapter.events(source, session))
    return transcript.sessions[session].finished(-1, raw=False)[0]


def said(source: Source, session: str = SESSION) -> list[tuple[str, Any]]:
    """Return who said what."""
    return [(message["role"], message["content"]) for message in read(source, session)]
