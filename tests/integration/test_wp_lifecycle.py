"""Installing, networks, removing: the plugin puts one table and a few options into the database, and takes them out again."""

import json
import shutil
from pathlib import Path

from tests.homes import Home
from tests.rig.packages import SLUG
from tests.rig.site import Site

from .wp_rows import COMMAND, PHP, TABLE, ids, listed, row, upsert

TRACES = (
    "SELECT option_name FROM {table} WHERE option_name LIKE '%coding%agents%' "
    "OR (option_name = 'cron' AND option_value LIKE '%coding_agents%')"
)


def tables(site: Site) -> list[str]:
    """Return the tables of the index."""
    return [name for (name,) in site.sql("SHOW TABLES LIKE '%coding_agents%'")]


def used(site: Site, folder: Path) -> None:
    """Do everything that leaves something in the database."""
    home = Home(folder)
    file = home.lay()
    shutil.copytree(home.path, site.home, dirs_exist_ok=True)
    site.wp(*COMMAND, "reindex")
    (site.home / file.relative_to(home.path)).unlink()
    site.wp("cron", "event", "run", "coding_agents_sessions_reindex", env={"PATH": f"{site.programs}:/usr/bin:/bin"})
    site.wp("eval", "Coding_Agents\\Sessions\\Lease::acquire();")


def test_no_option_is_loaded_with_every_page(site: Site, tmp_path: Path) -> None:
    used(site, tmp_path)
    options = dict(site.sql("SELECT option_name, autoload FROM wp_options WHERE option_name LIKE 'coding_agents%'"))
    assert sorted(options) == [
        "coding_agents_sessions_cron_failure",
        "coding_agents_sessions_last_pass",
        "coding_agents_sessions_lease",
        "coding_agents_sessions_publishers",
        "coding_agents_sessions_schema",
    ]
    assert set(options.values()) <= {"no", "off"}


def test_uninstalling_leaves_nothing(site: Site, tmp_path: Path) -> None:
    used(site, tmp_path)
    assert site.sql(TRACES.format(table="wp_options")) != []
    site.wp("plugin", "uninstall", SLUG, "--deactivate")
    assert tables(site) == []
    assert site.sql(TRACES.format(table="wp_options")) == []


def test_uninstalling_leaves_nothing_in_sqlite(lite: Site, tmp_path: Path) -> None:
    used(lite, tmp_path)
    lite.wp("plugin", "uninstall", SLUG, "--deactivate")
    code = f"""global $wpdb;
        echo wp_json_encode( array( $wpdb->get_col( "SHOW TABLES LIKE '%coding_agents%'" ), $wpdb->get_col( "{TRACES.format(table="wp_options")}" ) ) );"""
    assert json.loads(lite.wp("eval", code).stdout) == [[], []]


def test_a_network_has_one_table(multisite: Site, tmp_path: Path) -> None:
    assert tables(multisite) == [TABLE]
    home = Home(tmp_path)
    home.lay()
    shutil.copytree(home.path, multisite.home, dirs_exist_ok=True)
    second = f"--url={multisite.url}/two"
    multisite.wp(*COMMAND, "reindex", second)
    assert ids(multisite) == ids(multisite, second)
    assert len(ids(multisite)) == 1
    assert tables(multisite) == [TABLE]
    assert multisite.sql("SELECT meta_value FROM wp_sitemeta WHERE meta_key = 'coding_agents_sessions_schema'") == [("1",)]


def test_on_a_network_the_main_site_alone_announces(multisite: Site) -> None:
    upsert(multisite, row("s-1"))
    multisite.mu_plugin(
        "recorder",
        "add_action( 'wp_coding_agents_session_indexed', fn() => update_site_option( 'announced_on', get_current_blog_id() ) );",
    )
    drain = ("eval-file", str(PHP / "drain.php"))
    said = json.loads(multisite.wp(*drain, f"--url={multisite.url}/two").stdout)
    assert said == {"fired": 0, "failed": 0, "parked": 0, "pending": 1}
    assert json.loads(multisite.wp(*drain).stdout) == {"fired": 1, "failed": 0, "parked": 0, "pending": 0}
    assert multisite.wp("site", "option", "get", "announced_on").stdout == "1\n"


def test_on_a_network_the_main_site_alone_plans_passes(multisite: Site) -> None:
    events = ("cron", "event", "list", "--field=hook")
    assert "coding_agents_sessions_reindex" in multisite.wp(*events).stdout.split()
    assert "coding_agents_sessions_reindex" not in multisite.wp(*events, f"--url={multisite.url}/two").stdout.split()


def test_a_new_site_of_a_network_needs_nothing(multisite: Site) -> None:
    upsert(multisite, row("s-1"))
    multisite.wp("site", "create", "--slug=three")
    assert [one["session_id"] for one in listed(multisite, f"--url={multisite.url}/three")] == ["s-1"]
    assert tables(multisite) == [TABLE]


def test_uninstalling_leaves_nothing_on_a_network(multisite: Site, tmp_path: Path) -> None:
    used(multisite, tmp_path)
    multisite.wp("plugin", "deactivate", SLUG, "--network")
    multisite.wp("plugin", "uninstall", SLUG)
    assert tables(multisite) == []
    for table in ("wp_options", "wp_2_options"):
        assert multisite.sql(TRACES.format(table=table)) == []
    assert multisite.sql("SELECT meta_key FROM wp_sitemeta WHERE meta_key LIKE 'coding_agents%'") == []
