"""wp_coding_agents_session_indexed is fired at least once for every change, whatever happens to PHP, and once where nothing does."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.rig.site import Site

from .wp_rows import LEASE, PHP, TABLE, row, upsert

INTRUDER = "s-2"
# Writes down what is announced, in a place that outlives PHP.
RECORDER = """
add_action( 'wp_coding_agents_session_indexed', function ( $row ) {
	file_put_contents( getenv( 'EVENTS' ), wp_json_encode( $row ) . "\\n", FILE_APPEND );
} );
"""
KILL = "posix_kill( getmypid(), 9 );"


class Listeners:
    """A site with a recorder and something that goes wrong."""

    def __init__(self, site: Site, events: Path) -> None:
        self.site = site
        self.events = events
        self.env = {"EVENTS": str(events)}
        site.mu_plugin("recorder", RECORDER)

    def drain(self, seconds: str = "") -> dict[str, int] | None:
        """Announce what is pending; return the summary, or nothing when PHP did not live to print it."""
        done = self.site.wp("eval-file", str(PHP / "drain.php"), *filter(None, [seconds]), check=False, env=self.env)
        summary: dict[str, int] | None = json.loads(done.stdout) if done.stdout else None
        return summary

    def rows(self) -> list[dict[str, Any]]:
        """Return what was announced."""
        return [json.loads(line) for line in self.events.read_text().splitlines()] if self.events.exists() else []

    def ids(self) -> list[str]:
        """Return the native ids of what was announced."""
        return [one["session_id"] for one in self.rows()]

    def end_lease(self) -> None:
        """Let the time pass that a killed process keeps others waiting."""
        self.site.sql(f"UPDATE wp_options SET option_value = '1 gone' WHERE option_name = '{LEASE}'")

    def flags(self) -> list[tuple[int, int]]:
        """Return event_pending and event_attempts of each row in the order of revisions."""
        query = f"SELECT event_pending, event_attempts FROM {TABLE} ORDER BY revision"
        return [(int(pending), int(attempts)) for pending, attempts in self.site.sql(query)]


@pytest.fixture
def listeners(any_site: Site, tmp_path: Path) -> Listeners:
    upsert(any_site, row("s-1"), row("s-2"), row("s-3"))
    return Listeners(any_site, tmp_path / "events")


def test_rows_are_announced_in_the_order_of_their_changes_and_once(listeners: Listeners) -> None:
    upsert(listeners.site, row("s-0"))
    assert listeners.drain() == {"fired": 4, "failed": 0, "parked": 0, "pending": 0}
    assert listeners.ids() == ["s-1", "s-2", "s-3", "s-0"]
    assert listeners.drain() == {"fired": 0, "failed": 0, "parked": 0, "pending": 0}
    assert len(listeners.ids()) == 4


def test_a_listener_gets_the_columns_without_bookkeeping_in_their_types(listeners: Listeners) -> None:
    listeners.drain()
    sent = row("s-1")
    del sent["row_hash"], sent["revision"]
    assert listeners.rows()[0] == sent


def test_only_new_and_changed_rows_are_announced(listeners: Listeners) -> None:
    listeners.drain()
    upsert(listeners.site, row("s-1"), row("s-2", message_count=5), row("s-3", cost_usd=9.0))
    assert listeners.drain() == {"fired": 1, "failed": 0, "parked": 0, "pending": 0}
    assert listeners.rows()[-1]["message_count"] == 5


def test_without_a_listener_nothing_stays_pending(any_site: Site) -> None:
    upsert(any_site, row("s-1"), row("s-2"))
    done = any_site.wp("eval-file", str(PHP / "drain.php"))
    assert json.loads(done.stdout) == {"fired": 2, "failed": 0, "parked": 0, "pending": 0}
    assert any_site.sql(f"SELECT COUNT(*) FROM {TABLE} WHERE event_pending = 1") == [(0,)]


@pytest.mark.parametrize(
    ("trap", "announced"),
    [
        pytest.param(
            f"add_filter( 'query', function ( $sql ) {{ if ( strpos( $sql, 'event_attempts + 1' ) ) {{ {KILL} }} return $sql; }} );",
            ["s-1", "s-2", "s-3"],
            id="before-the-attempt-is-counted",
        ),
        pytest.param(
            f"add_action( 'wp_coding_agents_session_indexed', function () {{ {KILL} }}, 1 );",
            ["s-1", "s-2", "s-3"],
            id="before-listeners-are-called",
        ),
        pytest.param(
            f"add_action( 'wp_coding_agents_session_indexed', function () {{ {KILL} }}, 99 );",
            ["s-1", "s-1", "s-2", "s-3"],
            id="after-listeners-were-called",
        ),
        pytest.param(
            f"""add_filter( 'query', function ( $sql ) {{
                static $delivered = false;
                if ( $delivered ) {{ {KILL} }}
                $delivered = (bool) strpos( $sql, 'SET event_pending = CASE' );
                return $sql;
            }} );""",
            ["s-1", "s-2", "s-3"],
            id="after-it-was-noted",
        ),
    ],
)
def test_a_kill_repeats_at_most_the_row_it_hit_and_loses_none(listeners: Listeners, trap: str, announced: list[str]) -> None:
    trap_file = listeners.site.mu_plugin("trap", trap)
    assert listeners.drain() is None
    trap_file.unlink()
    assert listeners.drain() is not None
    before = listeners.ids()
    assert sum(pending for pending, _ in listeners.flags()) >= 2, "the lease of the killed process was not respected"
    listeners.end_lease()
    summary = listeners.drain()
    assert summary is not None
    assert summary["pending"] == 0
    assert listeners.ids() == announced
    assert len(before) < len(announced)


def test_a_listener_that_throws_has_had_the_row_and_is_reported_without_content(listeners: Listeners) -> None:
    listeners.site.mu_plugin(
        "thrower",
        "add_action( 'wp_coding_agents_session_indexed', function () { throw new DomainException( 'a secret' ); } );",
    )
    done = listeners.site.wp("eval-file", str(PHP / "drain.php"), env=listeners.env)
    assert json.loads(done.stdout) == {"fired": 3, "failed": 3, "parked": 0, "pending": 0}
    assert done.stderr.count("DomainException in ") == 3
    assert "claude-code:s-2" in done.stderr
    assert "secret" not in done.stderr + listeners.site.debug_log()
    assert listeners.drain() == {"fired": 0, "failed": 0, "parked": 0, "pending": 0}


@pytest.mark.parametrize(
    "end", ["exit;", "ini_set( 'memory_limit', '128M' ); str_repeat( 'x', 1 << 30 );"], ids=["exit", "out-of-memory"]
)
def test_a_listener_that_ends_php_three_times_parks_its_row_and_the_others_go_on(listeners: Listeners, end: str) -> None:
    intruder = listeners.site.mu_plugin(
        "intruder",
        f"""add_action( 'wp_coding_agents_session_indexed', function ( $row ) {{
            if ( '{INTRUDER}' === $row['session_id'] ) {{ {end} }}
        }}, 1 );""",
    )
    for attempt in (1, 2, 3):
        done = listeners.site.wp("eval-file", str(PHP / "drain.php"), check=False, env=listeners.env)
        assert done.stdout == ""
        assert f"ended PHP while it handled claude-code:{INTRUDER}" in done.stderr
        assert listeners.flags()[1] == (1, attempt)
    assert listeners.drain() == {"fired": 1, "failed": 0, "parked": 1, "pending": 0}
    assert listeners.ids() == ["s-1", "s-3"]
    assert listeners.drain() == {"fired": 0, "failed": 0, "parked": 1, "pending": 0}
    # A new change is a new beginning.
    intruder.unlink()
    upsert(listeners.site, row(INTRUDER, message_count=6))
    assert listeners.drain() == {"fired": 1, "failed": 0, "parked": 0, "pending": 0}
    assert listeners.ids() == ["s-1", "s-3", INTRUDER]


def test_two_drains_at_once_announce_each_row_once(listeners: Listeners) -> None:
    upsert(listeners.site, *(row(f"s-{number}") for number in range(4, 9)))
    slow = "add_action( 'wp_coding_agents_session_indexed', function () { usleep( 300000 ); }, 1 );"
    listeners.site.mu_plugin("slow", slow)
    drains = [listeners.site.start_wp("eval-file", str(PHP / "drain.php"), env=listeners.env) for _ in range(2)]
    fired = sorted(json.loads(drain.communicate(timeout=60)[0])["fired"] for drain in drains)
    assert fired == [0, 8]
    assert sorted(listeners.ids()) == [f"s-{number}" for number in range(1, 9)]


def test_a_change_while_listeners_are_at_work_is_announced_too(listeners: Listeners) -> None:
    listeners.site.mu_plugin(
        "changer",
        f"""add_action( 'wp_coding_agents_session_indexed', function ( $row ) {{
            global $wpdb;
            if ( 's-1' === $row['session_id'] && 4 === $row['message_count'] ) {{
                $wpdb->query( "UPDATE {TABLE} SET message_count = 5, revision = 9999999, event_attempts = 0 WHERE session_id = 's-1'" );
            }}
        }} );""",
    )
    assert listeners.drain() == {"fired": 4, "failed": 0, "parked": 0, "pending": 0}
    assert [(one["session_id"], one["message_count"]) for one in listeners.rows()] == [
        *(("s-1", 4), ("s-2", 4), ("s-3", 4), ("s-1", 5)),
    ]


def test_a_drain_with_a_deadline_leaves_the_rest(listeners: Listeners) -> None:
    slow = "add_action( 'wp_coding_agents_session_indexed', function () { usleep( 700000 ); }, 1 );"
    listeners.site.mu_plugin("slow", slow)
    assert listeners.drain("1") == {"fired": 2, "failed": 0, "parked": 0, "pending": 1}
    assert listeners.drain() == {"fired": 1, "failed": 0, "parked": 0, "pending": 0}


def test_a_lease_is_held_by_one_prolonged_and_noticed_when_it_is_lost(any_site: Site) -> None:
    said = any_site.wp(
        "eval",
        f"""use Coding_Agents\\Sessions\\Lease;
        $say  = fn( $answer ) => print( $answer ? 'yes ' : 'no ' );
        $age  = function () {{
            // Nine tenths of its time have passed.
            $GLOBALS['wpdb']->update( $GLOBALS['wpdb']->options, array( 'option_value' => $this->value = ( time() + 12 ) . ' own' ), array( 'option_name' => '{LEASE}' ) );
        }};
        $one = Lease::acquire();
        $say( $one );
        $say( Lease::acquire() );
        $age->call( $one );
        $say( $one->hold() );
        $say( 100 < (int) $GLOBALS['wpdb']->get_var( "SELECT option_value FROM {{$GLOBALS['wpdb']->options}} WHERE option_name = '{LEASE}'" ) - time() );
        $age->call( $one );
        $GLOBALS['wpdb']->query( "UPDATE {{$GLOBALS['wpdb']->options}} SET option_value = '1 other' WHERE option_name = '{LEASE}'" );
        $say( $one->hold() );
        $two = Lease::acquire();
        $say( $two );
        $one->release();
        $say( Lease::acquire() );
        $two->release();
        $say( Lease::acquire() );""",
    ).stdout
    assert said.split() == ["yes", "no", "yes", "yes", "no", "yes", "no", "yes"]
