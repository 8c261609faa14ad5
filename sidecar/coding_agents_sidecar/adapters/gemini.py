"""Gemini CLI: a folder of session files for each project.

    ~/.gemini/tmp/<folder>/chats/…       what the files are called and what they say stands in ``formats.gemini``
    ~/.gemini/sessions/<id>.jsonl        a place that other programs document: records with a role, user or model

A newer version copies a project's folder of sessions from the name by hash to a short name, and goes on with a document
as a log beside it; what was there before stays. The log counts before the document, the short name before the hash.
"""

import os
from collections.abc import Iterator

from ..adapter import Adapter, Root, Source
from ..formats import places
from ..formats.gemini import chats, project
from ..model import Checkpoint, Event

DOCUMENTED = "sessions"


class Gemini(Adapter):
    """Sessions of the command line and of what embeds it."""

    name = "gemini"
    title = "Gemini CLI"
    aliases = ("gemini-cli",)
    evidence = "files written by Gemini CLI 0.20.0, 0.31.0 and 0.61.0; google-gemini/gemini-cli at 5411f11"
    # The default is read even where the variable names another home: older sessions stay behind.
    stores = tuple(
        Root(f"~/.gemini/{folder}", env=variable, below=f".gemini/{folder}")
        for folder in ("tmp", DOCUMENTED)
        for variable in ("GEMINI_CLI_HOME", "")
    )
    never_open = (
        "oauth_creds.json",
        "google_accounts.json",
        "gemini-credentials.json",
        "*-oauth-tokens*.json",
        "settings*.json",
        ".env*",
    )

    def discover(self, root: Root) -> Iterator[Source | places.Unlisted]:
        if os.path.basename(root.path) != DOCUMENTED:
            yield from chats.sources(root)
            return
        for found in places.walk(root.path, lambda name: name.endswith(".jsonl"), depth=0):
            if isinstance(found, places.Unlisted):
                yield found
            else:
                yield Source(found, root.path, (found, *project.witnesses(root.path, None)), root.origin)

    def events(self, source: Source, session_id: str | None = None, resume: Checkpoint | None = None) -> Iterator[Event]:
        return chats.Chat(source, resume).events()
