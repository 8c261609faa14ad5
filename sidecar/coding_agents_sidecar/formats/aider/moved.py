"""Where Aider's files lie: beside the project's own, unless a setting names others.

.aider.conf.yml    chat-history-file: NAME, input-history-file: NAME
.env               AIDER_CHAT_HISTORY_FILE=NAME, AIDER_INPUT_HISTORY_FILE=NAME

Both may lie in the home folder and in each project. Nothing else is taken from them, they may hold secrets.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass

from .. import beside
from ..projects import Folder

CONFIGURATION, ENVIRONMENT = ".aider.conf.yml", ".env"
CHAT, INPUT = ".aider.chat.history.md", ".aider.input.history"
VARIABLES = ("AIDER_CHAT_HISTORY_FILE", "AIDER_INPUT_HISTORY_FILE")
KEYS = ("chat-history-file", "input-history-file")
LIMIT = 1 << 20

VALUE = rb"""[ \t]*(?:"([^"\n]*)"|'([^'\n]*)'|([^\s#][^\n]*?))[ \t]*(?:[ \t]#[^\n]*)?\r?$"""
PATTERNS = {
    CONFIGURATION: tuple(re.compile(rb"^%s[ \t]*:" % key.encode() + VALUE, re.MULTILINE) for key in KEYS),
    ENVIRONMENT: tuple(
        re.compile(rb"^[ \t]*(?:export[ \t]+)?%s[ \t]*=" % name.encode() + VALUE, re.MULTILINE) for name in VARIABLES
    ),
}


@dataclass(frozen=True, slots=True)
class Names:
    """What settings call the files, the strongest setting first; relative names start at the project.

    Args:
        chats: chats move when a setting changes, so that all of them may exist.
    """

    chats: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()

    def over(self, weaker: "Names") -> "Names":
        """Return these names before others."""
        return Names(unique(self.chats + weaker.chats), unique(self.inputs + weaker.inputs))


def in_variables(environ: Mapping[str, str]) -> Names:
    """Return the names in the environment."""
    return Names(*((value,) if (value := environ.get(name)) else () for name in VARIABLES))


def in_folder(folder: Folder) -> Names:
    """Return the names in the settings of a folder."""
    found = Names()
    for name in (CONFIGURATION, ENVIRONMENT):
        data = beside.kept(os.path.join(folder.path, name), limit=LIMIT) if name in folder.names else None
        if data:
            found = Names(*(last(pattern, data) for pattern in PATTERNS[name])).over(found)
    return found


def last(pattern: re.Pattern[bytes], data: bytes) -> tuple[str, ...]:
    """Return the value that a setting has in the end; nothing when it is not there."""
    values = ["".join(os.fsdecode(part) for part in found) for found in pattern.findall(data)]
    return tuple(filter(None, values[-1:]))


def unique(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return names without those that come again."""
    return tuple(dict.fromkeys(names))
