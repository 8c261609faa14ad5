"""The scheduled pass: when it is planned, what it does where the sidecar can be reached, and where it cannot."""

import json
import time
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from tests.homes import Home
from tests.rig.packages import SLUG
from tests.rig.site import Site

from .wp_rows import COMMAND, TABLE, ids, listed, row, upsert

HOOK = "coding_agents_sessions_reindex"
COUNTER = "add_action( 'wp_coding_agents_session_indexed', fn() => update_option( 'announced', 1 + get_option( 'announced', 0 ), false ) );"


def planned(site: Site) -> list[dict[str, Any]]:
    """Return the plugin's events."""
    events = json.loads(site.wp("cron", "event", "list", "--format=json", "--fields=hook,interval").stdout)
    return [event for event in events if event["hook"] == HOOK]


def checks(site: Site) -> dict[str, tuple[str, str]]:
    """Return what the doctor says."""
    found = json.loads(site.wp("coding-agents", "doctor", "--format=json").stdout)["checks"]
    return {check["check"]: (check["status"], check["message"]) for check in found}


def configure(site: Site, line: str) -> None:
    """Add a line to wp-config.php."""
    config = site.path / "wp-config.php"
    config.write_text(config.read_text().replace("<?php", f"<?php {line}", 1))


def test_a_pass_is_planned_every_hour(site: Site) -> None:
    assert [int(event["interval"]) for event in planned(site)] == [3600]


def test_a_filter_changes_how_often(site: Site) -> None:
    filter = site.mu_plugin("often", "add_filter( 'wp_coding_agents_reindex_interval', fn() => 600 );")
    assert [int(event["interval"]) for event in planned(site)] == [600]
    filter.write_text("<?php add_filter( 'wp_coding_agents_reindex_interval', fn() => 1 );\n")
    assert [int(event["interval"]) for event in planned(site)] == [60]
    filter.unlink()
    assert [int(event["interval"]) for event in planned(site)] == [3600]


def test_a_constant_switches_it_off_and_on(site: Site) -> None:
    before = (site.path / "wp-config.php").read_text()
    configure(site, "define( 'CODING_AGENTS_DISABLE_CRON', true );")
    assert planned(site) == []
    assert checks(site)["schedule"] == ("ok", "Switched off by CODING_AGENTS_DISABLE_CRON.")
    (site.path / "wp-config.php").write_text(before)
    assert len(planned(site)) == 1


def test_deactivation_takes_it_off_the_plan(site: Site) -> None:
    site.wp("plugin", "deactivate", SLUG)
    assert planned(site) == []
    site.wp("plugin", "activate", SLUG)
    assert len(planned(site)) == 1


def test_on_the_command_line_it_indexes_and_announces(any_site: Site, tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.lay()
    any_site.mu_plugin("counter", COUNTER)
    done = any_site.wp("cron", "event", "run", HOOK, env={"HOME": str(home.path)})
    assert (done.stderr, len(ids(any_site))) == ("", 1)
    assert any_site.wp("option", "get", "announced").stdout == "1\n"
    assert checks(any_site)["last pass"][0] == "ok"


@pytest.fixture
def due(site: Site) -> Site:
    """A site whose pass is due, with an event that waits."""
    upsert(site, row("s-1"))
    site.mu_plugin("counter", COUNTER)
    site.wp("eval", f"wp_clear_scheduled_hook( '{HOOK}' ); wp_schedule_event( time() - 60, 'coding_agents_sessions', '{HOOK}' );")
    return site


def visit(site: Site) -> None:
    """Run what is due as WordPress does on a visit, which goes on after the page is there."""
    with urllib.request.urlopen(f"{site.serve()}/wp-cron.php?doing_wp_cron") as page:
        assert page.status == 200
    deadline = time.monotonic() + 20
    while "A web request cannot reach the sidecar" not in site.debug_log() or waiting(site):
        assert time.monotonic() < deadline, site.debug_log()
        time.sleep(0.1)


def waiting(site: Site) -> bool:
    """Tell whether a row waits to be announced."""
    return site.sql(f"SELECT COUNT(*) FROM {TABLE} WHERE event_pending = 1") != [(0,)]


def test_in_a_web_request_it_announces_and_says_what_it_could_not(due: Site) -> None:
    visit(due)
    assert due.wp("option", "get", "announced").stdout == "1\n"
    status, message = checks(due)["schedule"]
    assert status == "warning"
    assert "A web request cannot reach the sidecar" in message
    assert "wp cron event run --due-now" in message
    due.wp("cron", "event", "run", HOOK)
    assert checks(due)["schedule"] == ("ok", "A pass every 1 hour.")


def test_what_a_web_request_could_not_do_the_next_command_line_run_does_once(due: Site, tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.lay()
    visit(due)
    nowhere = {"PATH": f"{due.programs}:/usr/bin:/bin"}
    assert f"Executed the cron event '{HOOK}'" in due.wp("cron", "event", "run", "--due-now", env=nowhere).stdout
    assert len(ids(due)) == 1
    done = due.wp("cron", "event", "run", "--due-now", env={"HOME": str(home.path)})
    assert done.stdout.count(f"Executed the cron event '{HOOK}'") == 1
    assert len(ids(due)) == 2
    assert HOOK not in due.wp("cron", "event", "run", "--due-now").stdout
    assert [int(event["interval"]) for event in planned(due)] == [3600]


def test_a_complete_pass_by_hand_makes_up_for_the_web_request_too(due: Site) -> None:
    visit(due)
    failed = int(due.wp("eval", "echo get_site_option( 'coding_agents_sessions_cron_failure' )['time'];").stdout)
    while time.time() < failed + 1:
        time.sleep(0.1)
    due.wp(*COMMAND, "reindex")
    # Planned anew by the next command: in an hour, since nothing is owed.
    due.wp("eval", f"wp_clear_scheduled_hook( '{HOOK}' );")
    assert HOOK not in due.wp("cron", "event", "run", "--due-now").stdout


def test_where_the_sidecar_is_away_a_pass_is_remembered_as_failed(due: Site) -> None:
    nowhere = {"PATH": f"{due.programs}:/usr/bin:/bin"}
    done = due.wp("cron", "event", "run", HOOK, env=nowhere)
    assert "does not answer" in done.stderr
    assert due.wp("option", "get", "announced").stdout == "1\n"
    assert "does not answer" in checks(due)["schedule"][1]
    assert [one["session_id"] for one in listed(due)] == ["s-1"]


def test_a_page_view_asks_the_database_nothing(site: Site) -> None:
    site.mu_plugin(
        "log",
        "add_filter( 'query', function ( $q ) { if ( strpos( $q, 'coding_agents' ) ) { error_log( \"ASKED $q\" ); } return $q; } );",
    )
    with urllib.request.urlopen(site.serve()) as page:
        assert page.status == 200
    assert "ASKED" not in site.debug_log()
    site.wp(*COMMAND, "list")
    assert "ASKED" in site.debug_log()
