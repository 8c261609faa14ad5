"""VS Code and the editors built from it: where each keeps the settings and the storage of its extensions.

$XDG_CONFIG_HOME/<editor>/User               Linux; ~/Library/Application Support on macOS, %APPDATA% on Windows
~/.<editor>-server/data/User                 on the far end of a remote window
$XDG_DATA_HOME/code-server/User              in a browser
<User>/profiles/<id>                         a profile, with storage and settings of its own
<User>/globalStorage/<extension>, <User>/settings.json
"""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from . import places

DEFAULT = "Code"
"""The editor whose storage has no label."""

DESKTOP = ("$XDG_CONFIG_HOME", "~/Library/Application Support")
BROWSER = "code-server"
STORAGE = "globalStorage"
DEFAULT_USERS = tuple(f"{base}/{DEFAULT}/User" for base in DESKTOP)


@dataclass(frozen=True, slots=True)
class Profile:
    """One profile of an editor.

    Args:
        folder: holds its settings and the storage of its extensions.
        origin: the editor's name and the profile's id; '' for the default of both.
    """

    folder: str
    origin: str

    def storage(self, extension: str) -> str:
        """Return the folder of an extension, which may not exist."""
        return os.path.join(self.folder, STORAGE, extension)

    @property
    def settings(self) -> str:
        """The file of the settings that a person has changed."""
        return os.path.join(self.folder, "settings.json")


def profiles(environ: Mapping[str, str], home: Path) -> Iterator[Profile]:
    """Yield the profiles of all editors that have been used."""
    for user, editor in users(environ, home):
        if os.path.isdir(user):
            label = "" if editor == DEFAULT else editor
            yield Profile(user, label)
            for profile in places.folders(os.path.join(user, "profiles")):
                yield Profile(os.path.join(user, "profiles", profile), "/".join(filter(None, (label, profile))))


def users(environ: Mapping[str, str], home: Path) -> Iterator[tuple[str, str]]:
    """Yield where the folder of an editor's user may lie, and the editor's name."""
    bases = [*DESKTOP, environ.get("APPDATA") or "~/AppData/Roaming"]
    for base in (places.absolute(base, environ, home) for base in bases):
        for editor in places.folders(base):
            yield os.path.join(base, editor, "User"), editor
    for folder in places.folders(str(home)):
        if folder.startswith("."):
            yield os.path.join(home, folder, "data", "User"), folder[1:]
    yield os.path.join(places.absolute("$XDG_DATA_HOME", environ, home), BROWSER, "User"), BROWSER
