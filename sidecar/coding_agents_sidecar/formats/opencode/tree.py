"""Sessions as trees of JSON files, one a record, as they were before the database.

    storage/project/<project>.json                              {id, worktree}
    storage/session/<project>/<session>.json                    {id, directory, parentID, title, version, time, revert}
    storage/message/<session>/<message>.json
    storage/part/<message>/<part>.json

    project/<slug>/storage/session/info/<session>.json          before 1.0: {id, title, version, time, parentID}
    project/<slug>/storage/session/message/<session>/<message>.json
    project/<slug>/storage/session/part/<session>/<message>/<part>.json    not before 0.5: the message holds its parts

Starting a newer version copies the older tree into the newer one and leaves it where it was. Links below the trees are
not followed.
"""

import math
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ...errors import ParseError
from ...model import Skipped
from .. import beside, fields, jsonl
from ..places import Unlisted
from . import shapes
from .messages import Record

CREDENTIALS = ("auth.json", "mcp-auth.json")
"""Files of the root that hold secrets; a file of such a name is no record wherever it lies."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where the files of one session lie.

    Args:
        info: the session's own file.
        session_id: from the file's name, which also names the folders of its messages.
        base: the folder of the tree.
        legacy: it is the tree from before 1.0.
    """

    info: str
    session_id: str
    base: str
    legacy: bool

    @classmethod
    def of(cls, info: str) -> "Place":
        """Return the place of a session, told by the path of its own file."""
        folder, name = os.path.split(info)
        above, last = os.path.split(folder)
        legacy = last == "info"
        return cls(info, name.removesuffix(".json"), above if legacy else os.path.dirname(above), legacy)

    @property
    def project(self) -> str:
        """The file that names the folder of the session's project; the older tree has none."""
        return os.path.join(self.base, "project", os.path.basename(os.path.dirname(self.info)) + ".json")

    def record(self) -> dict[str, Any] | None:
        """Return the session's own record, ``None`` when its file holds none.

        Raises:
            ParseError: the file cannot be read.
        """
        record = jsonl.document(self.info)
        return record if isinstance(record, dict) else None

    def worktree(self) -> str | None:
        """Return the folder of the session's project, if it is recorded."""
        data = None if self.legacy else beside.read(self.base, "project", os.path.basename(self.project), limit=jsonl.MAX_LINE)
        return fields.text(jsonl.load(data), "worktree") if data else None

    def messages(self) -> list[str]:
        """Return the paths of its messages' files, sorted by id."""
        return listing(self.base, "message", self.session_id)

    def parts(self, message: str) -> list[str]:
        """Return the paths of the files of a message's parts, sorted by id."""
        return listing(self.base, *self.part_folder(message))

    def part_folder(self, message: str) -> tuple[str, ...]:
        """Return the folder of a message's parts, as names below the tree's."""
        return ("part", *([self.session_id] if self.legacy else []), os.path.basename(message).removesuffix(".json"))

    def files(self) -> tuple[str, ...]:
        """Return every file whose change is a change of the session, and the folders in which new ones turn up.

        Raises:
            OSError: a folder cannot be listed.
        """
        messages = self.messages()
        found = [self.info, self.project, os.path.join(self.base, "message", self.session_id), *messages]
        for message in messages:
            found += [os.path.join(self.base, *self.part_folder(message)), *self.parts(message)]
        return tuple(found)

    def records(self) -> Iterator[Record | Skipped]:
        """Yield the messages in the order of the conversation, and the files that hold no record.

        Raises:
            ParseError: a folder cannot be listed.
        """
        try:
            # Read twice rather than held: the oldest records carry whole system prompts and parts.
            order = sorted((created(load(path)), path) for path in self.messages())
            for _, path in order:
                yield from self.message(path)
        except OSError as error:
            raise jsonl.unreadable(self.info, error) from error

    def message(self, path: str) -> Iterator[Record | Skipped]:
        """Yield one message, after those of its parts that cannot be read."""
        record = load(path)
        if record is None:
            yield Skipped("a message that is no JSON object")
            return
        if shapes.is_inline(record):
            yield Record(*shapes.from_inline(record), record)
            return
        parts = []
        for file in self.parts(path):
            part = load(file)
            if part is None:
                yield Skipped("a part of a message that is no JSON object")
            else:
                parts.append(part)
        yield Record(record, parts, {"message": record, "parts": parts})


def places(root: str) -> Iterator[Place | Unlisted]:
    """Yield the places of all sessions below a root, and the folders that could not be listed."""
    storage, projects = os.path.join(root, "storage"), os.path.join(root, "project")
    for project in folders(storage, "session"):
        yield from infos(project) if isinstance(project, str) else [project]
    for project in folders(projects):
        yield from infos(project, "storage", "session", "info") if isinstance(project, str) else [project]


def infos(folder: str, *names: str) -> Iterator[Place | Unlisted]:
    """Yield the places of the sessions whose own files lie in a folder."""
    try:
        for path in listing(folder, *names):
            yield Place.of(path)
    except OSError as error:
        yield Unlisted(os.path.join(folder, *names), error.strerror or type(error).__name__)


def folders(base: str, *names: str) -> Iterator[str | Unlisted]:
    """Yield the folders in the folder ``base/names…``, sorted; links are none."""
    try:
        found = [entry.path for entry in entries(base, *names) if entry.is_dir(follow_symlinks=False)]
    except OSError as error:
        yield Unlisted(os.path.join(base, *names), error.strerror or type(error).__name__)
        return
    yield from sorted(found)


def listing(base: str, *names: str) -> list[str]:
    """Return the paths of the JSON files in the folder ``base/names…``, sorted.

    Raises:
        OSError: it cannot be listed.
    """
    return sorted(entry.path for entry in entries(base, *names) if is_record(entry))


def is_record(entry: "os.DirEntry[str]") -> bool:
    """Return whether a file may hold a record; links, hidden files and credentials do not."""
    name = entry.name
    wanted = name.endswith(".json") and not name.startswith(".") and name not in CREDENTIALS
    return wanted and entry.is_file(follow_symlinks=False)


def entries(base: str, *names: str) -> list["os.DirEntry[str]"]:
    """Return what lies in the folder ``base/names…``: nothing when it does not exist or one of the names is a link.

    Raises:
        OSError: it cannot be listed.
    """
    folder = base
    for name in names:
        folder = os.path.join(folder, name)
        if os.path.islink(folder):
            return []
    try:
        with os.scandir(folder) as found:
            return list(found)
    except (FileNotFoundError, NotADirectoryError):
        return []


def load(path: str) -> dict[str, Any] | None:
    """Return the object a file holds, ``None`` when it holds none or cannot be read."""
    try:
        record = jsonl.document(path)
    except ParseError:
        return None
    return record if isinstance(record, dict) else None


def created(record: dict[str, Any] | None) -> float:
    """Return when a message was created; one that does not say comes last."""
    times = (fields.seconds(record, "time", "created"), fields.seconds(record, "metadata", "time", "created"))
    return next((time for time in times if time is not None), math.inf)
