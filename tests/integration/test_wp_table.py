"""The table is the one of schema/index-row.schema.json, on every database, whatever its settings."""

import json
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest

from tests.contract import schemas
from tests.rig import processes
from tests.rig.site import Site

from .wp_rows import COMMAND, PHP, TABLE, failure

ROW = schemas.load("index-row")
DEFINITIONS = {name: column["x-column"] for name, column in ROW["properties"].items()}
SCHEMA = "coding_agents_sessions_schema"


@pytest.fixture(scope="module")
def constants() -> Any:
    """What the plugin's constants say."""
    command = [processes.program("php"), str(PHP / "describe.php")]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def test_the_plugin_has_the_columns_and_keys_of_the_schema(constants: Any) -> None:
    assert list(constants["columns"].items()) == list(DEFINITIONS.items())
    assert constants["keys"] == ROW["x-keys"]
    marked = [name for name, column in ROW["properties"].items() if column.get("x-bookkeeping")]
    assert constants["bookkeeping"] == marked
    assert constants["writer"] == marked[-3:]
    assert constants["statuses"] == ROW["properties"]["status"]["enum"]
    assert constants["kinds"] == ROW["properties"]["kind"]["enum"]


def test_a_column_is_written_as_its_type_demands(constants: Any) -> None:
    formats = {"string": "%s", "integer": "%d", "number": "%F"}
    for name, column in ROW["properties"].items():
        types = column["type"] if isinstance(column["type"], list) else [column["type"]]
        assert constants["formats"][name] == formats[next(type for type in types if type != "null")]


def test_the_plugin_has_the_codes_fields_and_versions_of_the_sidecar(constants: Any) -> None:
    codes = json.loads((schemas.FOLDER / "errors.json").read_text())["codes"]
    assert constants["errors"] == {code: {"exit": one["exit"], "retry": one["retry"]} for code, one in codes.items()}
    session = list(schemas.load("session")["properties"])
    assert constants["fields"] == session[: session.index("meta")]
    assert constants["versions"] == {name: schemas.load(name)["x-version"] for name in schemas.FILES}


def columns(site: Site) -> dict[str, str]:
    """Return the columns of the table as WordPress's database describes them."""
    code = f"""echo wp_json_encode( $GLOBALS['wpdb']->get_results( "SELECT column_name, column_type, character_set_name,
        collation_name, is_nullable, column_default FROM information_schema.columns
        WHERE table_schema = DATABASE() AND table_name = '{TABLE}' ORDER BY ordinal_position", ARRAY_N ) );"""
    found = {}
    for name, type, charset, collation, nullable, default in json.loads(site.wp("eval", code).stdout):
        text = f" CHARACTER SET {charset} COLLATE {collation}" if charset else ""
        given = "" if default in (None, "NULL") else f" DEFAULT {default}"
        found[name] = type + text + (" DEFAULT NULL" if nullable == "YES" else f" NOT NULL{given}")
    return found


def keys(site: Site) -> list[str]:
    """Return the keys of the table in the words of the schema."""
    code = f"""echo wp_json_encode( $GLOBALS['wpdb']->get_results( 'SHOW INDEX FROM {TABLE}', ARRAY_A ) );"""
    parts: dict[str, list[str]] = {}
    for part in json.loads(site.wp("eval", code).stdout):
        length = f"({part['Sub_part']})" if part["Sub_part"] else ""
        parts.setdefault(part["Key_name"], []).append(part["Column_name"] + length)
    return [f"{'PRIMARY KEY ' if name == 'PRIMARY' else f'KEY {name}'} ({','.join(found)})" for name, found in parts.items()]


def test_the_table_is_the_one_of_the_schema(any_site: Site) -> None:
    assert columns(any_site) == DEFINITIONS
    assert sorted(keys(any_site)) == sorted(ROW["x-keys"])


def test_nothing_is_left_to_change_after_the_table_was_made(any_site: Site) -> None:
    code = """require_once ABSPATH . 'wp-admin/includes/upgrade.php';
        echo wp_json_encode( dbDelta( Coding_Agents\\Sessions\\Table::definition(), false ) );"""
    assert json.loads(any_site.wp("eval", code).stdout) == []


@pytest.fixture
def restored(site: Site) -> Iterator[Site]:
    """A site without the table, on a server whose settings are put back."""
    names = ("default_storage_engine", "innodb_default_row_format")
    before = site.sql(f"SELECT {', '.join(f'@@{name}' for name in names)}")[0]
    site.sql(f"DROP TABLE {TABLE}")
    site.wp("option", "delete", SCHEMA)
    yield site
    for name, value in zip(names, before, strict=True):
        site.sql(f"SET GLOBAL {name} = '{value}'")


@pytest.mark.parametrize("setting", ["innodb_default_row_format = 'compact'", "default_storage_engine = 'MyISAM'"])
def test_the_table_is_made_where_keys_are_short(restored: Site, setting: str) -> None:
    restored.sql(f"SET GLOBAL {setting}")
    done = restored.wp("plugin", "list", "--skip-update-check")
    assert done.stderr == ""
    described = restored.sql(f"SHOW TABLE STATUS LIKE '{TABLE}'")[0]
    assert described[1] == "InnoDB"
    assert described[3] == ("Compact" if "compact" in setting else "Dynamic")
    assert columns(restored) == DEFINITIONS
    assert sorted(keys(restored)) == sorted(ROW["x-keys"])


def test_a_table_that_was_dropped_comes_back_with_the_next_reindex(any_site: Site) -> None:
    any_site.wp("eval", f"$GLOBALS['wpdb']->query( 'DROP TABLE {TABLE}' );")
    code, error = failure(any_site, *COMMAND, "list")
    assert (code, error["code"]) == (5, "INDEX_UNAVAILABLE")
    any_site.wp(*COMMAND, "reindex")
    assert columns(any_site) == DEFINITIONS


def test_a_table_that_lacks_a_key_and_a_column_is_mended(site: Site) -> None:
    site.sql(f"ALTER TABLE {TABLE} DROP KEY host_revision, DROP COLUMN reasoning_tokens")
    doctor = json.loads(site.wp("coding-agents", "doctor", "--format=json").stdout)
    assert doctor["health"] == "red"
    assert "reasoning_tokens, host_revision" in doctor["checks"][0]["message"]
    site.wp(*COMMAND, "reindex")
    assert sorted(columns(site)) == sorted(DEFINITIONS)
    assert sorted(keys(site)) == sorted(ROW["x-keys"])


class Blocked:
    """A site whose database has something else in the table's place, and a count of attempts."""

    notice = ("eval", "do_action( 'admin_notices' );", "--user=admin")

    def __init__(self, site: Site) -> None:
        self.site = site
        site.sql(f"DROP TABLE {TABLE}")
        site.sql(f"CREATE VIEW {TABLE} AS SELECT 1 AS x")
        site.wp("option", "delete", SCHEMA, "--skip-plugins")
        site.mu_plugin(
            "counter",
            "add_filter( 'dbdelta_queries', function ( $all ) { file_put_contents( __FILE__ . '.txt', 'x', FILE_APPEND ); return $all; } );",
        )

    def attempts(self) -> int:
        """Return how often the table was tried."""
        return len((self.site.path / "wp-content/mu-plugins/counter.php.txt").read_text())


@pytest.fixture
def blocked(site: Site) -> Iterator[Blocked]:
    yield Blocked(site)
    site.sql(f"DROP VIEW IF EXISTS {TABLE}")
    site.sql(f"CREATE TABLE IF NOT EXISTS {TABLE} (x int)")


def test_a_table_that_cannot_be_made_is_said_once_and_tried_once(blocked: Blocked) -> None:
    first = blocked.site.wp("option", "get", "home")
    assert first.stderr.count(f"The table {TABLE} of Coding Agents Sessions could not be created") == 1
    assert "BASE TABLE" in first.stderr
    second = blocked.site.wp("option", "get", "home")
    assert second.stderr == ""
    assert blocked.attempts() == 1
    blocked.site.serve()
    blocked.site.wp("eval", "wp_remote_get( home_url() ); wp_remote_get( admin_url( 'admin-ajax.php' ) );")
    assert blocked.attempts() == 1


def test_a_table_that_cannot_be_made_is_shown_to_administrators_and_fails_the_commands(blocked: Blocked) -> None:
    shown = blocked.site.wp(*blocked.notice).stdout
    assert shown.count("could not be created") == 1
    assert '<div class="notice notice-error">' in shown
    assert "could not be created" not in blocked.site.wp("eval", blocked.notice[1]).stdout
    code, error = failure(blocked.site, *COMMAND, "reindex")
    assert (code, error["code"]) == (5, "INDEX_UNAVAILABLE")
    assert "could not be created" in error["message"]


def test_once_the_database_is_mended_a_reindex_makes_the_table(blocked: Blocked) -> None:
    blocked.site.wp("option", "get", "home")
    blocked.site.sql(f"DROP VIEW {TABLE}")
    blocked.site.wp(*COMMAND, "reindex")
    assert columns(blocked.site) == DEFINITIONS
    assert blocked.site.wp(*blocked.notice).stdout == ""
