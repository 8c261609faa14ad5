"""Where a site keeps its data, with a way back to how it was after the installation."""

import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any, Protocol

from . import packages
from .mariadb import PASSWORD, USER, Mariadb


class Store(Protocol):
    """The database of one site."""

    db: dict[str, str | int]
    """``host port user password name socket``; empty where there is no server."""

    def prepare(self, site: Path) -> None:
        """Make the database usable for the files of a site that is not installed yet."""

    def snapshot(self) -> None:
        """Remember the present state."""

    def restore(self) -> None:
        """Go back to the remembered state."""

    def sql(self, query: str) -> list[tuple[Any, ...]]:
        """Return the rows of a statement."""


class MariadbStore:
    """A database of the private server, and a second one that remembers its state."""

    def __init__(self, server: Mariadb, name: str) -> None:
        self._server = server
        self._name = name
        self._template = f"{name}_template"
        self.db: dict[str, str | int] = {
            "host": "127.0.0.1",
            "port": server.port,
            "socket": server.socket,
            "user": USER,
            "password": PASSWORD,
            "name": name,
        }

    def prepare(self, site: Path) -> None:
        self._server.sql(f"CREATE DATABASE {self._name} CHARACTER SET utf8mb4")

    def snapshot(self) -> None:
        self._server.sql(f"CREATE DATABASE {self._template} CHARACTER SET utf8mb4")
        self._copy(self._name, self._template)

    def restore(self) -> None:
        self._copy(self._template, self._name)

    def sql(self, query: str) -> list[tuple[Any, ...]]:
        return self._server.sql(query, database=self._name)

    def _copy(self, source: str, target: str) -> None:
        with self._server.connect() as connection, connection.cursor() as cursor:
            # A process that a test has just killed may still hold its locks for a moment, but not for long.
            cursor.execute("SET lock_wait_timeout = 10, foreign_key_checks = 0")
            cursor.execute(f"SHOW TABLES FROM {target}")
            for (table,) in cursor.fetchall():
                cursor.execute(f"DROP TABLE {target}.`{table}`")
            cursor.execute(f"SHOW TABLES FROM {source}")
            for (table,) in cursor.fetchall():
                cursor.execute(f"CREATE TABLE {target}.`{table}` LIKE {source}.`{table}`")
                cursor.execute(f"INSERT INTO {target}.`{table}` SELECT * FROM {source}.`{table}`")


class SqliteStore:
    """The file of the SQLite drop-in, and a copy that remembers its state."""

    db: dict[str, str | int]

    def __init__(self) -> None:
        self.db = {}
        self._file = self._template = Path()

    def prepare(self, site: Path) -> None:
        packages.shell("lay_sqlite", str(site))
        self._file = site / "wp-content" / "database" / ".ht.sqlite"
        self._template = site.parent / "template.sqlite"

    def snapshot(self) -> None:
        self.sql("PRAGMA wal_checkpoint(TRUNCATE)")
        shutil.copyfile(self._file, self._template)

    def restore(self) -> None:
        for name in os.listdir(self._file.parent):
            if name.startswith(f"{self._file.name}-"):
                (self._file.parent / name).unlink()
        shutil.copyfile(self._template, self._file)

    def sql(self, query: str) -> list[tuple[Any, ...]]:
        with closing(sqlite3.connect(self._file, timeout=10, isolation_level=None)) as connection:
            return connection.execute(query).fetchall()
