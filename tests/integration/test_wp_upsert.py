"""What PHP writes is exact, complete or refused, and the same as what the sidecar writes itself."""

import json
import shutil
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from tests.homes import Home
from tests.rig.site import Site

from .wp_rows import COMMAND, TABLE, Row, listed, row, upsert

HOSTILE = "/srv/🚀 launch/𠮷野/100% %s %% \\ \\\\ 'single' \"double\" {curly} `tick` ; -- /* \t \u202e end "
DROP_IN = "<?php // A drop-in that changes nothing: only WordPress knows that.\n"


def stored(site: Site, columns: str = "*", rest: str = "") -> list[tuple[Any, ...]]:
    """Return what the database really holds."""
    return site.sql(f"SELECT {columns} FROM {TABLE} {rest}")


def values(row: Row) -> tuple[Any, ...]:
    """Return the values of a row as the database returns them."""
    return tuple(Decimal(f"{value:.6f}") if isinstance(value, float) else value for value in row.values())


def test_every_value_arrives_as_it_was_sent(any_site: Site) -> None:
    rows = [
        row(
            "ses_🚀",
            project_path=HOSTILE,
            file_path=HOSTILE * 100,
            model="m" * 191,
            token_total=2**53 + 1,
            started_at=2**40,
            cost_usd=12345678.000001,
            cost_source="native",
            parent_id="0",
            host="laptop",
            origin="Code - Insiders",
        ),
        row("unknown", project_path=None, model=None, token_total=None, input_tokens=None, cost_usd=None, ended_at=None),
        row("none", token_total=0, input_tokens=0, cost_usd=0.0, cost_source="native", turn_count=0),
        row("long" * 47, project_path="/😀" * 8000),
    ]
    assert upsert(any_site, *rows) == ""
    columns = ", ".join(rows[0])
    written = stored(any_site, columns, "ORDER BY revision")
    assert [tuple(Decimal(f"{v:.6f}") if isinstance(v, float) else v for v in one) for one in written] == [
        values(one) for one in rows
    ]
    shown = {one["session_id"]: one for one in listed(any_site, "--all")}
    assert shown["ses_🚀"]["project_path"] == HOSTILE
    assert shown["ses_🚀"]["token_total"] == 2**53 + 1
    assert shown["ses_🚀"]["cost_usd"] == 12345678.000001
    assert (shown["unknown"]["token_total"], shown["none"]["token_total"]) == (None, 0)


def test_ids_that_a_collation_takes_for_equal_are_rows_of_their_own(any_site: Site) -> None:
    ids = ["ses_6aBc", "ses_6abc", "ses_6aBc ", "ses_6äBc", "ses_６aBc"]
    assert upsert(any_site, *(row(one) for one in ids)) == ""
    assert {one["session_id"] for one in listed(any_site)} == set(ids)
    got = json.loads(
        any_site.wp("eval", "echo wp_json_encode( Coding_Agents\\Sessions\\Sessions::create()->get( 'ses_6abc' ) );").stdout
    )
    assert got["session_id"] == "ses_6abc"


def test_a_batch_and_one_more_arrive(any_site: Site) -> None:
    assert upsert(any_site, *(row(f"s-{number:04}") for number in range(501))) == ""
    assert stored(any_site, "COUNT(*)") == [(501,)]


def test_an_update_marks_only_what_changed(any_site: Site) -> None:
    upsert(any_site, row("same"), row("changed"), row("priced"))
    any_site.sql(f"UPDATE {TABLE} SET event_pending = 0, event_attempts = 2, indexed_at = 1")
    newer = [row("same"), row("changed", message_count=9), row("priced", cost_usd=1.5, cost_source="native")]
    upsert(any_site, *newer)
    found = stored(any_site, "session_id, revision, event_pending, event_attempts", "ORDER BY revision")
    assert found == [
        ("same", newer[0]["revision"], 0, 2),
        ("changed", newer[1]["revision"], 1, 0),
        ("priced", newer[2]["revision"], 0, 2),
    ]
    assert [float(cost) for (cost,) in stored(any_site, "cost_usd", "WHERE session_id = 'priced'")] == [1.5]
    assert stored(any_site, "COUNT(*)", "WHERE indexed_at = 1") == [(0,)]


def test_a_pending_event_stays_pending_when_the_row_is_sent_again(any_site: Site) -> None:
    upsert(any_site, row("s-1"))
    upsert(any_site, row("s-1"))
    assert stored(any_site, "event_pending") == [(1,)]


def test_an_outdated_row_changes_nothing(any_site: Site) -> None:
    old, new = row("s-1"), row("s-1", message_count=9)
    upsert(any_site, new)
    any_site.sql(f"UPDATE {TABLE} SET event_pending = 0, indexed_at = 1")
    before = stored(any_site)
    upsert(any_site, old)
    assert stored(any_site) == before


WRONG: dict[str, Row] = {
    "a column too many": {"title": "a secret"},
    "text too long": {"session_id": "x" * 192},
    "label too long": {"host": "x" * 65},
    "word too long": {"status": "x" * 17},
    "path too long": {"file_path": "😀" * 16384},
    "text for a number": {"token_total": "12"},
    "number for text": {"model": 5},
    "fraction for a count": {"message_count": 1.5},
    "below zero": {"message_count": -1},
    "nothing where something must be": {"file_path": None},
    "dollars beyond the column": {"cost_usd": 1e8},
}


def test_a_row_that_does_not_fit_is_refused_and_nothing_is_cut(site: Site) -> None:
    for name, wrong in WRONG.items():
        assert upsert(site, row("s-1"), {**row("s-2"), **wrong}) == "INTERNAL_ERROR", name
    assert stored(site, "COUNT(*)") == [(0,)]


def test_a_column_too_few_is_refused(site: Site) -> None:
    bad = row("s-1")
    del bad["parent_id"]
    assert upsert(site, bad) == "INTERNAL_ERROR"


def lay_sessions(site: Site, folder: Path) -> None:
    """Put sessions into the site's home folder, one of them with characters that a narrow database does not know."""
    home = Home(folder)
    home.lay("0a000001-0000-4000-8000-000000000001", prompt="a secret")
    path = home.lay("0a000002-0000-4000-8000-000000000002")
    path.write_text(path.read_text().replace('"/srv/shop"', json.dumps("/srv/🚀 launch/𠮷野")))
    shutil.copytree(home.path, site.home, dirs_exist_ok=True)


def dump(site: Site) -> list[tuple[Any, ...]]:
    """Return the table without what depends on the moment of writing."""
    columns = [name for name in row("x") if name != "revision"]
    return stored(site, ", ".join(columns), "ORDER BY session_key")


def test_the_sidecar_and_php_write_the_same_bytes(site: Site, tmp_path: Path) -> None:
    lay_sessions(site, tmp_path)
    site.wp(*COMMAND, "reindex")
    direct = dump(site)
    assert len(direct) == 2
    site.sql(f"TRUNCATE {TABLE}")
    drop_in = site.path / "wp-content/db.php"
    drop_in.write_text(DROP_IN)
    try:
        site.wp(*COMMAND, "reindex")
    finally:
        drop_in.unlink()
    assert dump(site) == direct


@pytest.mark.parametrize("charset", ["utf8", "utf8mb3", "latin1"])
@pytest.mark.parametrize("writer", ["sidecar", "php"])
def test_a_narrow_database_keeps_every_character(site: Site, tmp_path: Path, charset: str, writer: str) -> None:
    site.sql("ALTER DATABASE CHARACTER SET utf8mb3 COLLATE utf8mb3_general_ci")
    site.sql(f"DROP TABLE {TABLE}")
    config = site.path / "wp-config.php"
    config.write_text(config.read_text().replace("'DB_CHARSET', 'utf8mb4'", f"'DB_CHARSET', '{charset}'"))
    drop_in = site.path / "wp-content/db.php"
    if writer == "php":
        drop_in.write_text(DROP_IN)
    lay_sessions(site, tmp_path)
    try:
        site.wp(*COMMAND, "reindex")
        assert sorted(one["project_path"] for one in listed(site)) == ["/srv/shop", "/srv/🚀 launch/𠮷野"]
        assert [one["session_id"] for one in listed(site, "--project=basename:𠮷野")] == ["0a000002-0000-4000-8000-000000000002"]
    finally:
        drop_in.unlink(missing_ok=True)
        site.sql("ALTER DATABASE CHARACTER SET utf8mb4")
    assert sorted(path for (path,) in stored(site, "project_path")) == ["/srv/shop", "/srv/🚀 launch/𠮷野"]


def test_no_content_reaches_the_database(any_site: Site, tmp_path: Path) -> None:
    lay_sessions(any_site, tmp_path)
    any_site.wp(*COMMAND, "reindex")
    any_site.wp(*COMMAND, "list")
    any_site.wp(*COMMAND, "read", "0a000001")
    export = tmp_path / "all.txt"
    code = "foreach ( $GLOBALS['wpdb']->get_col( 'SHOW TABLES' ) as $t ) { echo wp_json_encode( $GLOBALS['wpdb']->get_results( \"SELECT * FROM $t\" ) ); }"
    export.write_text(any_site.wp("eval", code).stdout)
    assert "0a000001-0000-4000-8000-000000000001" in export.read_text()
    for content in ("secret", "Akismet", "akismet", "wp plugin list", "Bash"):
        assert content not in export.read_text()
    assert "secret" not in any_site.debug_log()
