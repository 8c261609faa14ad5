"""Paths of folders, as Cursor and the editor it was made from name them: URIs, parts of URIs, plain paths."""

import re
from typing import Any
from urllib.parse import unquote, urlsplit

from .. import fields

DRIVE = re.compile(r"/[A-Za-z]:(?:/|$)")
SCHEME = re.compile(r"[a-z][a-z0-9+.-]+:", re.IGNORECASE)


def path_of(value: Any) -> str | None:
    """Return the path that a URI, its parts or a plain path names; ``None`` when it names none.

    The path of a remote folder is the one on the remote machine.
    """
    if isinstance(value, dict):
        parts = (fields.text(value, name) for name in ("fsPath", "path", "external"))
        value = next(filter(None, parts), None)
    if not isinstance(value, str) or not value:
        return None
    # A single letter before the colon is a drive, not a scheme.
    if not SCHEME.match(value):
        return value
    try:
        uri = urlsplit(value)
    except ValueError:
        return None
    path = unquote(uri.path)
    if uri.scheme == "file" and uri.netloc not in ("", "localhost"):
        path = f"//{uri.netloc}{path}"
    return (path[1:] if DRIVE.match(path) else path) or None


def workspace_of(identifier: Any) -> str | None:
    """Return the path of a ``workspaceIdentifier``: its folder, else its file of several folders."""
    return path_of(fields.at(identifier, "uri")) or path_of(fields.at(identifier, "configPath"))
