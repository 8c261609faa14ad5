"""Everything the tests share: one database server and each kind of site, installed when first asked for."""

import tempfile
from functools import cached_property
from pathlib import Path

from .folders import remove
from .mariadb import Mariadb
from .site import Site
from .stores import MariadbStore, SqliteStore


class Rig:
    """The shared parts; ``close`` ends and removes all of them."""

    def __init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="coding-agents-rig-"))
        # The server and the tests about permissions run under other accounts.
        self._folder.chmod(0o755)
        self._servers: list[Mariadb] = []

    @cached_property
    def mariadb(self) -> Site:
        """A single site on MariaDB."""
        return Site(self._new("mariadb"), "mariadb", MariadbStore(self._shared_server, "wordpress"))

    @cached_property
    def sqlite(self) -> Site:
        """A single site on the SQLite drop-in."""
        return Site(self._new("sqlite"), "sqlite", SqliteStore())

    @cached_property
    def network(self) -> Site:
        """A network of two sites on MariaDB."""
        return Site(self._new("network"), "mariadb", MariadbStore(self._shared_server, "wordpress_network"), network=True)

    def server(self, name: str) -> Mariadb:
        """Return a new server, for tests that change how it works or end it."""
        server = Mariadb(self._new(name))
        self._servers.append(server)
        return server

    def close(self) -> None:
        """End the servers and remove all files."""
        for server in self._servers:
            server.stop()
        remove(self._folder)

    @cached_property
    def _shared_server(self) -> Mariadb:
        return self.server("server")

    def _new(self, name: str) -> Path:
        folder = self._folder / name
        folder.mkdir()
        return folder
