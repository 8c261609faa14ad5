"""What an adapter finds below a home folder, and what it shows of a session."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from coding_agents_sidecar.adapter import Adapter, Source
from coding_agents_sidecar.formats.places import Unlisted
from coding_agents_sidecar.transcript import Transcript


def sources(adapter: Adapter, home: Path, environ: dict[str, str] | None = None) -> Iterator[Source]:
    """Yield the sources that the roots of a home folder hold."""
    for root in adapter.roots(environ or {}, home):
        if os.path.isdir(root.path):
            for found in adapter.discover(root):
                assert not isinstance(found, Unlisted)
                yield found


def logs(adapter: Adapter, fixtures: Path) -> list[str]:
    """Return the JSONL sources of all fixtures of a runtime, as ``<case>/home/<path>``."""
    found = (source.path for case in sorted(fixtures.iterdir()) for source in sources(adapter, case / "home"))
    return [os.path.relpath(path, fixtures) for path in found if path.endswith(".jsonl")]


def laid(adapter: Adapter, fixtures: Path, log: str, home: Path) -> Source:
    """Return a source as ``logs`` names it, from a copy of its fixture's home folder."""
    case, _, below = log.split(os.sep, 2)
    shutil.copytree(fixtures / case / "home", home, dirs_exist_ok=True)
    (source,) = (source for source in sources(adapter, home) if source.path == str(home / below))
    return source


def shown(adapter: Adapter, source: Source, session_id: str, *, raw: bool = False) -> tuple[list[Any], list[Any]]:
    """Return the messages of a session, and those that were abandoned."""
    transcript = Transcript(adapter.name)
    transcript.run(adapter.events(source, session_id))
    return transcript.sessions[session_id].finished(-1, raw=raw)
