"""Continue: one JSON document a session, of the extensions and of the command line alike, and a list of them beside.

    ~/.continue/sessions/<session>.json      $CONTINUE_GLOBAL_DIR stands for ~/.continue
    ~/.continue/sessions/sessions.json       the list; files are the sessions, whether it names them or not

What the files say stands in ``formats.continue_dev``. There are no sub-agents; a fork is a copy that does not tell of what.
"""

import os
from collections.abc import Iterator
from fnmatch import fnmatchcase

from ..adapter import Adapter, Root, Source
from ..errors import ParseError
from ..formats import jsonl, places, rewrites, text
from ..formats.continue_dev import index, session
from ..formats.continue_dev.index import Listed
from ..model import Checkpoint, Event


class Continue(Adapter):
    """Sessions of the editor extensions and the command line ``cn``: they share one store."""

    name = "continue"
    title = "Continue"
    evidence = "continuedev/continue 1.2.x (August 2026) and its server of 2023; session files that people published"
    stores = (Root("~/.continue/sessions", env="CONTINUE_GLOBAL_DIR", below="sessions"),)
    never_open = ("auth.json", "config.*", ".env*", "permissions.yaml")

    def discover(self, root: Root) -> Iterator[Source | places.Unlisted]:
        path = os.path.join(root.path, index.NAME)
        listed = index.read(path)
        if listed is None and rewrites.is_recent(path):
            # Without it every session would seem to have changed.
            yield places.Unlisted(root.path, f"{index.NAME} is just being written")
            return
        if listed is None:
            yield Source(path, root.path, (path,), root.origin)
        for found in places.walk(root.path, self.is_session, depth=0):
            if isinstance(found, places.Unlisted):
                yield found
            else:
                name, _ = os.path.splitext(os.path.basename(found))
                yield Listed(found, root.path, (found,), root.origin, (listed or {}).get(name))

    def is_session(self, name: str) -> bool:
        """Return whether a file is a session's, by its name."""
        return name.endswith(".json") and name != index.NAME and not any(fnmatchcase(name, one) for one in self.never_open)

    def events(self, source: Source, session_id: str | None = None, resume: Checkpoint | None = None) -> Iterator[Event]:
        if not isinstance(source, Listed):
            jsonl.document(source.path)
            raise ParseError(f"{text.path(source.path)} is no list of sessions")
        yield from session.events(source)
