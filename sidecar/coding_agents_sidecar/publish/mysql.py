"""Writes index rows into the WordPress table on MariaDB or MySQL, as the plugin's own writer would: equal rows, byte for byte."""

import logging
import random
import ssl
import time
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import pymysql

from ..errors import IndexUnavailable, SidecarError, VersionMismatch
from ..ledger.queries import INDEXED as COLUMNS

if TYPE_CHECKING:
    from pymysql.connections import Connection

    from ..service.wire import Database

BATCH = 1000
"""Rows of a transaction."""
STATEMENT_BYTES = 512 << 10
"""A longer statement is split: old servers take packets of 1 MiB."""

# Strict, whatever the server's default: a value that does not fit is an error, not a shorter value.
SQL_MODE = "STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION"
TIMEOUT_SECONDS = 60

# Not in the primary component, certification failure (Galera), lock wait, deadlock, server gone, connection lost.
RETRIED = frozenset({1047, 1180, 1205, 1213, 2006, 2013})
ATTEMPTS = 10
FIRST_PAUSE_SECONDS = 0.05
LONGEST_PAUSE_SECONDS = 2.0

# PHP's MYSQLI_CLIENT_SSL and MYSQLI_CLIENT_SSL_DONT_VERIFY_SERVER_CERT, as WordPress's MYSQL_CLIENT_FLAGS has them.
FLAG_TLS = 2048
FLAG_UNVERIFIED = 64

Row = dict[str, Any]
log = logging.getLogger(__name__)


class Unreachable(IndexUnavailable):
    """The database cannot be reached from here; nothing was written."""


def publish(rows: Iterable[Row], database: "Database", table: str, now: int) -> int:
    """Upsert rows and return how many.

    A batch is committed before the next one is begun, so what is missing after a crash has the highest revisions.

    Args:
        rows: in revision order; each fits the table.
        table: name of the table; the caller has checked its characters.
        now: Unix seconds, for ``indexed_at``.

    Raises:
        Unreachable: there is no connection; no row was taken.
        IndexUnavailable: the table is not there or may not be written, or the database stayed away.
        VersionMismatch: the table has other columns.
    """
    writer = Writer(database, table, now)
    try:
        written = 0
        remaining = iter(rows)
        while batch := list(islice(remaining, BATCH)):
            writer.write(batch)
            written += len(batch)
        return written
    finally:
        writer.close()


class Writer:
    """A connection that writes batches, and comes back when it is lost."""

    def __init__(self, database: "Database", table: str, now: int) -> None:
        self.database = database
        self.table = table
        self.now = now
        self.connection = self.connect()

    def connect(self) -> "Connection[Any]":
        """Return a new connection.

        Raises:
            Unreachable: there is none.
        """
        try:
            return connect(self.database)
        except (pymysql.MySQLError, OSError, ValueError, RuntimeError) as error:
            # PyMySQL's words name the account; RuntimeError is a login method that needs a package which is not there.
            raise Unreachable(f"the database cannot be reached ({reason(error)})") from error

    def write(self, batch: Sequence[Row]) -> None:
        """Upsert a batch in one transaction, again and again while trying again may help."""
        statements = list(upserts(batch, self.table, self.now))
        for attempt in range(ATTEMPTS):
            try:
                if not self.connection.open:
                    self.connection = self.connect()
                with self.connection.cursor() as cursor:
                    for statement in statements:
                        cursor.execute(statement)
                self.connection.commit()
                return
            except (pymysql.MySQLError, Unreachable) as error:
                # Closing ends the transaction on the server, also where the answer to COMMIT was lost.
                self.close()
                if attempt == ATTEMPTS - 1 or not may_help(error):
                    raise failure(error, self.table) from error
                pause = min(FIRST_PAUSE_SECONDS * 2**attempt, LONGEST_PAUSE_SECONDS) * random.uniform(0.5, 1)
                log.info("the database is asked again", extra={"reason": reason(error), "attempt": attempt + 1})
                time.sleep(pause)

    def close(self) -> None:
        """Close the connection; what is not committed is undone."""
        if self.connection.open:
            self.connection.close()


def connect(database: "Database") -> "Connection[Any]":
    """Return a connection with our settings, by the way PHP found to the database."""
    return pymysql.connect(
        host=database.host or "localhost",
        port=database.port or 3306,
        unix_socket=database.socket or None,
        user=database.user,
        # As PHP sends it; PyMySQL would encode text as Latin-1.
        password=database.password.encode(),
        database=database.name,
        charset="utf8mb4",
        sql_mode=SQL_MODE,
        autocommit=False,
        connect_timeout=10,
        read_timeout=TIMEOUT_SECONDS,
        write_timeout=TIMEOUT_SECONDS,
        **tls(database),
    )


def tls(database: "Database") -> dict[str, Any]:
    """Return PyMySQL's options for TLS: verified with a CA, required by flag 2048, unverified by flag 64; none on a socket."""
    if database.socket:
        return {"ssl_disabled": True}
    verified = bool(database.ssl_ca) and not database.flags & FLAG_UNVERIFIED
    if not verified and not database.flags & FLAG_TLS:
        # Without the flag PHP speaks plain; PyMySQL takes TLS where it is offered, which no server refuses.
        return {}
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if verified:
        context.load_verify_locations(database.ssl_ca)
    else:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return {"ssl": context}


def upserts(rows: Sequence[Row], table: str, now: int) -> Iterator[str]:
    """Yield the statements that write these rows."""
    names = ", ".join((*COLUMNS, "event_pending", "event_attempts", "indexed_at"))
    head = f"INSERT INTO `{table}` ({names}) VALUES\n"
    tail = f"\nON DUPLICATE KEY UPDATE {updates()}"
    values: list[str] = []
    size = 0
    # Writers that take rows in the same order seldom wait for each other in a circle.
    for row in sorted(rows, key=lambda row: row["session_key"]):
        one = f"({', '.join(literal(row[name]) for name in COLUMNS)}, 1, 0, {now})"
        if values and size + len(one) > STATEMENT_BYTES:
            yield head + ",\n".join(values) + tail
            values, size = [], 0
        values.append(one)
        size += len(one)
    if values:
        yield head + ",\n".join(values) + tail


def updates() -> str:
    """Return the assignments for a row that is there already; they are carried out from left to right."""
    # Another writer may have been faster with newer rows: older ones change nothing. What the conditions read comes last.
    plain = [name for name in COLUMNS if name not in ("session_key", "revision", "row_hash")]
    newer = "VALUES(revision) >= revision"
    return ", ".join(
        [
            f"event_pending = IF({newer} AND row_hash <> VALUES(row_hash), 1, event_pending)",
            f"event_attempts = IF({newer} AND row_hash <> VALUES(row_hash), 0, event_attempts)",
            *(f"{name} = IF({newer}, VALUES({name}), {name})" for name in (*plain, "indexed_at", "revision", "row_hash")),
        ]
    )


def literal(value: str | int | float | None) -> str:
    """Return a value as SQL; US dollars, the only numbers with a fraction, with their six decimals."""
    if value is None:
        return "NULL"
    if isinstance(value, str):
        return "'" + pymysql.converters.escape_string(value) + "'"
    return f"{value:.6f}" if isinstance(value, float) else str(value)


def may_help(error: Exception) -> bool:
    """Tell whether trying again may help. Without a connection it may: the first one was made."""
    return isinstance(error, Unreachable) or code(error) in RETRIED


def code(error: Exception) -> int | None:
    """Return the number of a database's error."""
    return error.args[0] if isinstance(error, pymysql.MySQLError) and error.args and isinstance(error.args[0], int) else None


def reason(error: Exception) -> str:
    """Return what went wrong without names, addresses and values."""
    number = code(error)
    return type(error).__name__ if number is None else f"error {number}"


def failure(error: Exception, table: str) -> SidecarError:
    """Return what to tell of an error that trying again did not mend."""
    if isinstance(error, Unreachable):
        return IndexUnavailable(f"the connection was lost: {error}")
    match code(error):
        case 1146:
            return IndexUnavailable(f"the table {table} is not in the database")
        case 1142 | 1143 | 1044:
            return IndexUnavailable(f"the database's user may not write the table {table}")
        case 1054:
            return VersionMismatch(f"the table {table} lacks a column that this sidecar writes: update the plugin")
        case _:
            return IndexUnavailable(f"the table {table} could not be written ({reason(error)})")
