"""A private MariaDB server: its own data folder, socket and port; nothing of it survives the tests."""

import grp
import os
import pwd
import socket
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pymysql
from pymysql.connections import Connection

from . import processes

USER = "wordpress"
PASSWORD = "wordpress"


class Mariadb:
    """The server, ready for use.

    Args:
        folder: a new folder for it; world-traversable, since the server does not run as root.
    """

    def __init__(self, folder: Path) -> None:
        self.socket = str(folder / "socket")
        self.port = processes.free_port()
        data, log = folder / "data", folder / "log"
        data.mkdir(parents=True)
        head = processes.bound()
        if os.geteuid() == 0:
            # The server refuses root; this account is on every machine, with or without Debian's service.
            head = processes.bound("--reuid=nobody", "--regid=nogroup", "--clear-groups")
            for path in (folder, data):
                os.chown(path, *_nobody())
        place = ["--no-defaults", f"--datadir={data}"]
        listen = [f"--socket={self.socket}", f"--port={self.port}", f"--tmpdir={folder}"]
        install = [*head, processes.program("mariadb-install-db"), *place, *_INSTALL]
        serve = [*head, processes.program("mariadbd"), *place, *listen, *_SERVER]
        with log.open("wb") as output:
            subprocess.run(install, check=True, stdout=output, stderr=subprocess.STDOUT)
            self._process = subprocess.Popen(serve, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT)
        processes.wait_for(self._process, self._answers, log)
        for host in ("localhost", "127.0.0.1"):
            self.sql(f"CREATE USER '{USER}'@'{host}' IDENTIFIED BY '{PASSWORD}'")
            self.sql(f"GRANT ALL ON `wordpress%`.* TO '{USER}'@'{host}'")

    def sql(self, query: str, args: Sequence[object] = (), database: str | None = None) -> list[tuple[Any, ...]]:
        """Return the rows of a statement run as the server's root."""
        with self.connect(database) as connection, connection.cursor() as cursor:
            cursor.execute(query, args or None)
            return list(cursor.fetchall())

    def connect(self, database: str | None = None) -> "Connection[Any]":
        """Return a connection as the server's root that commits every statement."""
        return pymysql.connect(unix_socket=self.socket, user="root", database=database, charset="utf8mb4", autocommit=True)

    def stop(self) -> None:
        """End the server."""
        processes.stop(self._process)

    def _answers(self) -> bool:
        with socket.socket(socket.AF_UNIX) as probe:
            return probe.connect_ex(self.socket) == 0


def _nobody() -> tuple[int, int]:
    return pwd.getpwnam("nobody").pw_uid, grp.getgrnam("nogroup").gr_gid


_INSTALL = (
    "--auth-root-authentication-method=normal",
    "--skip-test-db",
    "--skip-name-resolve",
    "--innodb-log-file-size=16M",
)
# Durability off: the data is thrown away. Names are not resolved, so that grants never ask a resolver.
_SERVER = (
    "--bind-address=127.0.0.1",
    "--skip-name-resolve",
    "--skip-log-bin",
    "--innodb-flush-log-at-trx-commit=0",
    "--innodb-doublewrite=0",
    "--innodb-buffer-pool-size=64M",
    "--innodb-log-file-size=16M",
    "--performance-schema=0",
    "--character-set-server=utf8mb4",
    "--sql-mode=STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION",
)
