"""The contract of a runtime: where its sources lie and what their records mean. Part of the public API for plugins."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from .formats import places
from .model import Checkpoint, Event


@dataclass(frozen=True, slots=True)
class Root:
    """A folder in which a runtime keeps sources.

    Args:
        path: absolute, or starting with ``~`` or ``$NAME`` (with XDG defaults, such as ``$XDG_DATA_HOME``).
        env: variable that names the folder instead (several, separated by commas).
        below: appended to the value of ``env``.
        origin: label for the ``origin`` column; '' for the default store.
        depth: folders below it that are looked into, ``None`` for all: what lies deeper is never taken for gone.
    """

    path: str
    env: str = ""
    below: str = ""
    origin: str = ""
    depth: int | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """What changes as one on disk: a JSONL file, the files of one session, a database.

    Args:
        path: main file; with the runtime it names the source.
        root: the root it was found under.
        files: every file whose change is a change of the source, ``path`` among them. Files that do not exist count too:
            their appearance is a change.
        origin: label of the store, from the root or its place below it.
    """

    path: str
    root: str
    files: tuple[str, ...] = ()
    origin: str = ""

    def stamp(self) -> places.Stamp | None:
        """Return what changes whenever the source does; ``None`` when it is gone."""
        return places.stamp(self.path, self.files or (self.path,))


class Adapter(ABC):
    """One runtime. Subclasses are stateless: everything they need to know is on the class or in the arguments."""

    name: ClassVar[str]
    """Value of the ``runtime`` column, for ever."""
    title: ClassVar[str]
    """For people."""
    aliases: ClassVar[tuple[str, ...]] = ()
    """Other names accepted on input."""
    evidence: ClassVar[str]
    """What the knowledge of the format rests on."""
    version: ClassVar[int] = 1
    """Raise it when the same bytes would give other events: every source is then read again."""
    stores: ClassVar[tuple[Root, ...]]
    """Where it looks."""
    never_open: ClassVar[tuple[str, ...]] = ()
    """Globs of names of credential files that lie beside sessions. A test watches that they stay closed."""

    def roots(self, environ: Mapping[str, str], home: Path) -> list[Root]:
        """Return the existing and possible roots with absolute paths, without doubles by real path."""
        return places.expand(self.stores, environ, home)

    @abstractmethod
    def discover(self, root: Root) -> Iterator[Source | places.Unlisted]:
        """Yield the sources below a root that exists, and the folders in it that could not be listed."""

    @abstractmethod
    def events(self, source: Source, session_id: str | None = None, resume: Checkpoint | None = None) -> Iterator[Event]:
        """Yield what the source says, first a ``Start``.

        Args:
            session_id: only this session. A source with a single session may ignore it.
            resume: a checkpoint this adapter yielded for an earlier, shorter state of the source; go on there.
                An adapter that never yields one never gets one.

        Raises:
            ParseError: the source as a whole cannot be read. A bad record is ``Skipped`` instead.
        """

    def stamps(self, source: Source) -> dict[str, str] | None:
        """Return native id -> change stamp for a source of many sessions, so that only changed ones are read.

        ``None`` (default): the source is read as a whole. Must be much cheaper than reading, and a stamp must change
        whenever ``events`` for that session would. Ids are made unique in the source by the adapter.

        Raises:
            ParseError: as in ``events``.
        """
        return None

    def title_files(self, root: Root) -> tuple[str, ...]:
        """Return the files in which the runtime keeps titles apart from the sessions below a root; empty when there are none.

        They are no sources: when they change, titles change and no session is read. The first one names them.
        """
        return ()

    def titles(self, root: Root) -> dict[str, str]:
        """Return native id -> title as these files have it.

        Raises:
            ParseError: they cannot be read; what was read before stays.
        """
        return {}
