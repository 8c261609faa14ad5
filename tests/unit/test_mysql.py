"""The direct writer, as far as it goes without a database."""

import socket
import ssl
from pathlib import Path
from typing import Any

import pymysql
import pytest

from coding_agents_sidecar.errors import IndexUnavailable, VersionMismatch
from coding_agents_sidecar.publish import mysql
from coding_agents_sidecar.service.wire import Database
from tests.rows import row


def database(**changes: Any) -> Database:
    return Database(**{"user": "wordpress", "password": "hunter2", "name": "wordpress", **changes})


def test_a_statement_names_every_column_and_assigns_the_hash_last() -> None:
    (statement,) = mysql.upserts([row(1)], "wp_x", 1746100000)
    head, values, tail = statement.split("\n")
    assert head.startswith("INSERT INTO `wp_x` (session_key, session_id, ")
    assert head.endswith(", revision, event_pending, event_attempts, indexed_at) VALUES")
    assert values.endswith(", '0000000000000001', 1000001, 1, 0, 1746100000)")
    assignments = tail.removeprefix("ON DUPLICATE KEY UPDATE ").split(", ")
    assert assignments[0].startswith("event_pending = ")
    assert tail.endswith(", row_hash = IF(VALUES(revision) >= revision, VALUES(row_hash), row_hash)")
    assert "session_key = " not in tail


def test_rows_are_written_in_the_order_of_their_keys() -> None:
    (statement,) = mysql.upserts([row(number) for number in range(9)], "wp_x", 0)
    keys = [line[2:34] for line in statement.splitlines()[1:-1]]
    assert keys == sorted(row(number)["session_key"] for number in range(9))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, "NULL"),
        (0, "0"),
        (2**63 - 1, "9223372036854775807"),
        (0.1 + 0.2, "0.300000"),
        (1e-06, "0.000001"),
        (99999999.999999, "99999999.999999"),
        ("it's", r"'it\'s'"),
        ("back\\slash", r"'back\\slash'"),
    ],
)
def test_a_value_is_written_as_php_would_write_it(value: Any, expected: str) -> None:
    assert mysql.literal(value) == expected


def test_a_batch_of_long_rows_is_split_into_statements_that_old_servers_take() -> None:
    rows = [row(number, file_path="'" * 16000) for number in range(100)]
    statements = list(mysql.upserts(rows, "wp_x", 0))
    assert len(statements) == 7
    assert max(len(one.encode()) for one in statements) < 1 << 20
    assert sum(one.count("'session-") for one in statements) == 100


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"flags": 0}, None),
        ({"flags": 2048}, (ssl.CERT_NONE, False)),
        ({"flags": 64}, None),
        ({"flags": 2048 | 64}, (ssl.CERT_NONE, False)),
        ({"ssl_ca": "CA"}, (ssl.CERT_REQUIRED, True)),
        ({"ssl_ca": "CA", "flags": 2048}, (ssl.CERT_REQUIRED, True)),
        ({"ssl_ca": "CA", "flags": 2048 | 64}, (ssl.CERT_NONE, False)),
    ],
)
def test_tls_follows_the_flags_and_the_ca(changes: dict[str, Any], expected: Any) -> None:
    if "ssl_ca" in changes:
        changes = {**changes, "ssl_ca": authority()}
    context = mysql.tls(database(**changes)).get("ssl")
    assert (context and (context.verify_mode, context.check_hostname)) == expected


def authority() -> str:
    """Return a file of certificates that this machine trusts."""
    paths = ssl.get_default_verify_paths()
    found = [path for path in (paths.cafile, paths.openssl_cafile, "/etc/ssl/certs/ca-certificates.crt") if path]
    return next((path for path in found if Path(path).exists()), "") or pytest.skip("no certificates on this machine")


def test_a_socket_needs_no_tls() -> None:
    assert mysql.tls(database(socket="/run/mysqld/mysqld.sock", flags=2048)) == {"ssl_disabled": True}


@pytest.mark.parametrize("changes", [{}, {"flags": 2048}, {"ssl_ca": "/nowhere/ca.pem"}])
def test_without_a_connection_no_row_is_taken(changes: dict[str, Any]) -> None:
    rows = iter([row(1)])
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        there = database(host="127.0.0.1", port=taken.getsockname()[1], **changes)
        with pytest.raises(mysql.Unreachable) as caught:
            mysql.publish(rows, there, "wp_x", 0)
    assert next(rows) == row(1)
    assert not {"wordpress", "hunter2", "127.0.0.1"} & set(str(caught.value).replace("'", " ").split())


@pytest.mark.parametrize(
    ("number", "kind", "words"),
    [
        (1146, IndexUnavailable, "wp_x is not in the database"),
        (1142, IndexUnavailable, "may not write the table wp_x"),
        (1044, IndexUnavailable, "may not write the table wp_x"),
        (1054, VersionMismatch, "update the plugin"),
        (1406, IndexUnavailable, "error 1406"),
    ],
)
def test_an_error_of_the_database_is_told_without_its_own_words(number: int, kind: type[Exception], words: str) -> None:
    error = mysql.failure(pymysql.OperationalError(number, "denied to user 'wordpress'@'localhost': 'a prompt'"), "wp_x")
    assert type(error) is kind
    assert words in str(error)
    assert not {"wordpress", "localhost", "prompt"} & set(str(error).replace("'", " ").split())


def test_a_connection_that_is_lost_for_good_is_no_reason_to_stream_the_rest() -> None:
    error = mysql.failure(mysql.Unreachable("the database cannot be reached (error 2003)"), "wp_x")
    assert type(error) is IndexUnavailable
