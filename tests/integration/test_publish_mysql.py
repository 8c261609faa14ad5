"""The direct writer on a real MariaDB."""

import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from coding_agents_sidecar.errors import IndexUnavailable, VersionMismatch
from coding_agents_sidecar.ledger.queries import INDEXED
from coding_agents_sidecar.publish import mysql
from coding_agents_sidecar.service.wire import Database
from tests.homes import Home
from tests.rig.mariadb import PASSWORD, USER, Mariadb
from tests.rig.rig import Rig
from tests.rows import create_table, row

pytestmark = pytest.mark.integration

NAME, TABLE = "wordpress_publish", "wp_coding_agents_session_index"
NOW = 1746100000
Row = dict[str, Any]


@pytest.fixture(scope="module")
def server(rig: Rig) -> Iterator[Mariadb]:
    """A server of its own, since the tests change its settings."""
    server = rig.server("publish")
    # A lock is waited for no longer than a test may take.
    server.sql("SET GLOBAL innodb_lock_wait_timeout = 1")
    yield server
    server.stop()


@pytest.fixture
def table(server: Mariadb) -> str:
    """An empty table."""
    server.sql(f"CREATE OR REPLACE DATABASE {NAME} CHARACTER SET utf8mb4")
    server.sql(create_table(TABLE), database=NAME)
    return TABLE


def account(server: Mariadb, **changes: Any) -> Database:
    return Database(**{"host": "127.0.0.1", "port": server.port, "user": USER, "password": PASSWORD, "name": NAME, **changes})


def stored(server: Mariadb, columns: str = "*", rest: str = "") -> list[tuple[Any, ...]]:
    return server.sql(f"SELECT {columns} FROM {TABLE} {rest}", database=NAME)


def publish(server: Mariadb, *rows: Row, now: int = NOW) -> int:
    return mysql.publish(rows, account(server), TABLE, now)


def test_a_new_row_arrives_as_it_is_and_waits_for_its_event(server: Mariadb, table: str) -> None:
    assert publish(server, row(1)) == 1
    assert stored(server, ", ".join(INDEXED)) == [tuple(row(1).values())]
    assert stored(server, "event_pending, event_attempts, indexed_at") == [(1, 0, NOW)]


HOSTILE = "'; DROP TABLE x; -- \\ \" % %s \x00 \x1a \r\n\t 😀 \u202e ` {}"


def test_every_character_and_the_longest_values_survive(server: Mariadb, table: str) -> None:
    text = {
        "session_id": "😀" * 191,
        "model": HOSTILE,
        "project_path": "😀" * 16000,
        "file_path": HOSTILE * 200,
        "parent_id": "trailing blank ",
        "host": "h" * 64,
        "token_total": 2**63 - 1,
    }
    publish(server, row(1, **text))
    assert stored(server, ", ".join(text)) == [tuple(text.values())]


@pytest.mark.parametrize(
    ("cost", "expected"),
    [(0.1 + 0.2, "0.300000"), (0.0, "0.000000"), (1e-06, "0.000001"), (99999999.999999, "99999999.999999"), (3, "3.000000")],
)
def test_money_keeps_its_six_decimals(server: Mariadb, table: str, cost: float, expected: str) -> None:
    publish(server, row(1, cost_usd=cost, cost_source="native"))
    assert stored(server, "CAST(cost_usd AS CHAR)") == [(expected,)]


def test_an_unchanged_row_gets_its_revision_and_stays_quiet(server: Mariadb, table: str) -> None:
    publish(server, row(1))
    server.sql(f"UPDATE {TABLE} SET event_pending = 0, event_attempts = 2", database=NAME)
    publish(server, row(1, revision=2_000_000, file_mtime=7, cost_usd=1.5, cost_source="native"), now=NOW + 5)
    assert stored(server, "revision, file_mtime, cost_usd, event_pending, event_attempts, indexed_at") == [
        (2_000_000, 7, 1.5, 0, 2, NOW + 5)
    ]


def test_a_changed_row_waits_for_its_event_again(server: Mariadb, table: str) -> None:
    publish(server, row(1))
    server.sql(f"UPDATE {TABLE} SET event_pending = 0, event_attempts = 3", database=NAME)
    publish(server, row(1, revision=2_000_000, row_hash="f" * 16, turn_count=9))
    assert stored(server, "turn_count, row_hash, event_pending, event_attempts") == [(9, "f" * 16, 1, 0)]


def test_an_older_row_of_a_slower_writer_changes_nothing(server: Mariadb, table: str) -> None:
    publish(server, row(1, revision=2_000_000))
    server.sql(f"UPDATE {TABLE} SET event_pending = 0", database=NAME)
    before = stored(server)
    publish(server, row(1, revision=1_999_999, row_hash="f" * 16, turn_count=9, status="active"), now=NOW + 5)
    assert stored(server) == before


def test_ids_that_a_collation_would_mix_up_are_different_rows(server: Mariadb, table: str) -> None:
    rows = [row(number, session_id=name) for number, name in enumerate(["ses_6aBc", "ses_6abc", "ses_6abç", "ses_6abc "])]
    publish(server, *rows)
    assert stored(server, "COUNT(*)") == [(4,)]


def test_what_a_crash_leaves_out_has_the_highest_revisions(server: Mariadb, table: str) -> None:
    def crashing() -> Iterator[Row]:
        yield from (row(number) for number in range(2 * mysql.BATCH + 500))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        mysql.publish(crashing(), account(server), TABLE, NOW)
    assert stored(server, "COUNT(*), MIN(revision), MAX(revision)") == [
        (2 * mysql.BATCH, 1_000_000, 1_000_000 + 2 * mysql.BATCH - 1)
    ]


def test_a_batch_is_written_whole_or_not_at_all(server: Mariadb, table: str) -> None:
    rows = [row(number) for number in range(10)]
    with pytest.raises(IndexUnavailable, match="error 1406"):
        publish(server, *rows, row(11, session_id="s" * 192))
    assert stored(server, "COUNT(*)") == [(0,)]


def test_the_servers_own_sql_mode_does_not_matter(server: Mariadb, table: str) -> None:
    (before,) = server.sql("SELECT @@GLOBAL.sql_mode")
    server.sql("SET GLOBAL sql_mode = 'NO_BACKSLASH_ESCAPES,ANSI_QUOTES'")
    try:
        publish(server, row(1, model=HOSTILE))
        assert stored(server, "model") == [(HOSTILE,)]
        with pytest.raises(IndexUnavailable):
            publish(server, row(2, session_id="s" * 192))
    finally:
        server.sql("SET GLOBAL sql_mode = %s", before)


def test_a_row_that_another_one_has_locked_is_waited_for(server: Mariadb, table: str) -> None:
    publish(server, row(1))
    with closing(server.connect(NAME)) as other, other.cursor() as cursor:
        cursor.execute("BEGIN")
        cursor.execute(f"UPDATE {TABLE} SET event_pending = 0")
        # Longer than the server waits: error 1205, then again.
        release = threading.Timer(1.5, other.rollback)
        release.start()
        began = time.monotonic()
        publish(server, row(1, revision=2_000_000, turn_count=9))
        assert time.monotonic() - began > 1.4
        release.join()
    assert stored(server, "turn_count") == [(9,)]


def test_a_connection_that_is_cut_is_made_again(server: Mariadb, table: str) -> None:
    def cutting() -> Iterator[Row]:
        for number in range(2 * mysql.BATCH):
            if number == mysql.BATCH + 1:
                (found,) = server.sql("SELECT id FROM information_schema.processlist WHERE user = %s", [USER])
                server.sql(f"KILL {found[0]}")
            yield row(number)

    assert mysql.publish(cutting(), account(server), TABLE, NOW) == 2 * mysql.BATCH
    assert stored(server, "COUNT(*)") == [(2 * mysql.BATCH,)]


def test_writers_that_meet_agree_on_the_newest_rows(server: Mariadb, table: str) -> None:
    failed: list[BaseException] = []

    def write(writer: int) -> None:
        try:
            for turn in range(4):
                rows = [row(number, revision=turn * 10 + writer, row_hash=f"{turn * 10 + writer:016x}") for number in range(200)]
                mysql.publish(rows if writer % 2 else reversed(rows), account(server), TABLE, NOW)
        except BaseException as error:
            failed.append(error)

    writers = [threading.Thread(target=write, args=(writer,)) for writer in range(4)]
    for one in writers:
        one.start()
    for one in writers:
        one.join()
    assert failed == []
    assert stored(server, "DISTINCT revision, row_hash") == [(33, f"{33:016x}")]


def test_a_table_that_is_not_there_is_named(server: Mariadb, table: str) -> None:
    with pytest.raises(IndexUnavailable, match="wp_other is not in the database"):
        mysql.publish([row(1)], account(server), "wp_other", NOW)


def test_a_table_of_an_older_plugin_is_a_mismatch(server: Mariadb, table: str) -> None:
    server.sql(f"ALTER TABLE {TABLE} DROP COLUMN kind", database=NAME)
    with pytest.raises(VersionMismatch, match="update the plugin"):
        publish(server, row(1))


def test_an_account_that_may_only_read_is_told_so_without_its_name(server: Mariadb, table: str) -> None:
    server.sql("CREATE OR REPLACE USER 'reader'@'127.0.0.1' IDENTIFIED BY 'hunter2'")
    server.sql(f"GRANT SELECT ON {NAME}.* TO 'reader'@'127.0.0.1'")
    with pytest.raises(IndexUnavailable, match="may not write the table") as caught:
        mysql.publish([row(1)], account(server, user="reader", password="hunter2"), TABLE, NOW)
    assert "reader" not in str(caught.value)


def test_an_account_with_the_four_rights_on_this_table_is_enough(server: Mariadb, table: str) -> None:
    server.sql("CREATE OR REPLACE USER 'publisher'@'127.0.0.1' IDENTIFIED BY 'pä€ß😀'")
    server.sql(f"GRANT SELECT, INSERT, UPDATE, DELETE ON {NAME}.{TABLE} TO 'publisher'@'127.0.0.1'")
    assert mysql.publish([row(1)], account(server, user="publisher", password="pä€ß😀"), TABLE, NOW) == 1


@pytest.mark.parametrize("changes", [{"password": "wrong"}, {"name": "nothing"}, {"flags": 2048}])
def test_a_database_that_does_not_let_us_in_is_unreachable(server: Mariadb, table: str, changes: dict[str, Any]) -> None:
    rows = iter([row(1)])
    with pytest.raises(mysql.Unreachable) as caught:
        mysql.publish(rows, account(server, **changes), TABLE, NOW)
    assert USER not in str(caught.value)
    assert next(rows) == row(1)


def test_a_socket_is_as_good_as_an_address(server: Mariadb, table: str) -> None:
    there = account(server, host="nowhere.invalid", port=None, socket=server.socket)
    assert mysql.publish([row(1)], there, TABLE, NOW) == 1


def reindex(home: Home, server: Mariadb, revision: int, table: str = TABLE) -> Any:
    """Return the last line of a reindex that publishes to the server."""
    publish = {"table": table, "revision": revision, "database": account(server).model_dump()}
    return home.serve([{"v": 1, "id": 1, "op": "reindex", "args": {"publish": publish}}])[-1]


def test_the_service_writes_the_rows_of_the_ledger_itself(server: Mariadb, table: str, tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.lay()
    end = reindex(home, server, 0)["end"]
    assert (end["count"], end["published"], end["direct"]) == (0, 1, True)
    with closing(home.sidecar()) as sidecar:
        expected = [tuple(row.values()) for row in sidecar.rows_above(0)]
    assert stored(server, ", ".join(INDEXED)) == expected
    assert reindex(home, server, expected[0][-1])["end"]["published"] == 0


def test_the_service_tells_of_a_missing_table_without_credentials(server: Mariadb, tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.lay()
    answer = reindex(home, server, 0, "wp_other")
    assert answer["error"]["code"] == "INDEX_UNAVAILABLE"
    assert USER not in answer["error"]["message"]
