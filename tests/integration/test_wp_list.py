"""``wp coding-agents sessions list`` and the API behind it: filters, order, pages, formats."""

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.homes import Home
from tests.rig.site import Site

from .wp_rows import COMMAND, PHP, TABLE, failure, ids, listed, row, upsert

DAY = 86400
NOON = 1_772_366_400  # 2026-03-01T12:00:00Z
ROWS = [
    row("shop", project_path="/srv/shop", started_at=NOON, cost_usd=0.5, cost_source="native", token_total=900, turn_count=3),
    row("below", project_path="/srv/shop/theme", started_at=NOON - DAY, cost_usd=2.0, cost_source="native", token_total=None),
    row("beside", project_path="/srv/shop-2", started_at=NOON - 2 * DAY, runtime="codex", model="m-2", turn_count=9),
    row("upper", project_path="/SRV/SHOP/theme", started_at=NOON - 3 * DAY, status="aborted", token_total=0),
    row("percent", project_path="/srv/100%_a\\b/x", started_at=NOON - 4 * DAY, status="missing"),
    row("decoy", project_path="/srv/100xya\\b/x", started_at=NOON - 5 * DAY, host="laptop"),
    row("nowhere", project_path=None, started_at=NOON - 6 * DAY, model=None),
    row("helper", project_path="/srv/shop", started_at=NOON + 1, kind="subagent", parent_id="shop"),
]
EVERY = ["shop", "below", "beside", "upper", "percent", "decoy", "nowhere"]
# Tokens that are not known come before 0, as no tokens at all would.
FILTERS: dict[str, tuple[dict[str, Any], list[str] | str]] = {
    "nothing": ({}, EVERY),
    "all": ({"all": True}, ["helper", *EVERY]),
    "a runtime": ({"runtime": "codex"}, ["beside"]),
    "runtimes in a text": ({"runtime": "codex,claude-code", "limit": 3}, ["shop", "below", "beside"]),
    "runtimes in a list": ({"runtime": ["codex", "claude-code"], "limit": "3"}, ["shop", "below", "beside"]),
    "an alias": ({"runtime": "claude", "limit": 1}, ["shop"]),
    "an unknown runtime": ({"runtime": "nothing-like-it"}, "AGENT_NOT_FOUND"),
    "models": ({"model": "m-2,m-3"}, ["beside"]),
    "statuses": ({"status": "aborted,missing"}, ["upper", "percent"]),
    "an unknown status": ({"status": "done"}, "INVALID_ARGUMENT"),
    "a kind": ({"kind": "subagent"}, ["helper"]),
    "kinds": ({"kind": "subagent,session", "limit": 2}, ["helper", "shop"]),
    "an unknown kind": ({"kind": "all"}, "INVALID_ARGUMENT"),
    "a host": ({"host": "laptop"}, ["decoy"]),
    "the host without a label": ({"host": "", "limit": 1}, ["shop"]),
    "a project": ({"project": "/srv/shop"}, ["shop"]),
    "a project of another case": ({"project": "/SRV/shop"}, []),
    "a project and below": ({"project": "/srv/shop/"}, ["shop", "below"]),
    "below with what LIKE takes for a pattern": ({"project": "/srv/100%_a\\b/"}, ["percent"]),
    "below everything": ({"project": "/srv/"}, ["shop", "below", "beside", "percent", "decoy"]),
    "a folder's name": ({"project": "basename:theme"}, ["below", "upper"]),
    "a folder's name with a pattern": ({"project": "basename:%"}, []),
    "since seconds": ({"since": str(NOON - DAY)}, ["shop", "below"]),
    "until seconds": ({"until": str(NOON - 5 * DAY)}, ["decoy", "nowhere"]),
    "since an instant": ({"since": "2026-02-28T13:00:00+01:00"}, ["shop", "below"]),
    "since an instant later": ({"since": "2026-02-28T12:00:01Z"}, ["shop"]),
    "a day": ({"since": "2026-02-27", "until": "2026-02-28"}, ["below", "beside"]),
    "since an age": ({"since": "1h"}, []),
    "since a long age": ({"since": "99999d", "limit": 1}, ["shop"]),
    "no date": ({"since": "2026-02-30"}, "INVALID_ARGUMENT"),
    "no age": ({"since": "7w"}, "INVALID_ARGUMENT"),
    "no time": ({"until": "2026-02-28T25:00"}, "INVALID_ARGUMENT"),
    "oldest first": ({"order": "asc", "limit": 2}, ["nowhere", "decoy"]),
    "by turns": ({"sort": "turns", "limit": 2}, ["beside", "shop"]),
    "by cost": ({"sort": "cost", "limit": 2}, ["below", "shop"]),
    "by tokens, unknown last": ({"sort": "tokens", "project": "/srv/shop/"}, ["shop", "below"]),
    "by tokens, unknown first": ({"sort": "tokens", "order": "asc", "limit": 2}, ["below", "upper"]),
    "an unknown order": ({"sort": "name"}, "INVALID_ARGUMENT"),
    "no limit": ({"limit": 0}, "INVALID_ARGUMENT"),
    "half a limit": ({"limit": "1.5"}, "INVALID_ARGUMENT"),
}


def found(site: Site, arguments: dict[str, Any]) -> dict[str, Any]:
    """Return what the API lists for each set of arguments, in one go."""
    answer: dict[str, Any] = json.loads(site.wp("eval-file", str(PHP / "list.php"), input=json.dumps(arguments)).stdout)
    return answer


def test_a_list_has_what_its_filters_say(any_site: Site) -> None:
    upsert(any_site, *ROWS)
    assert found(any_site, {name: given for name, (given, _) in FILTERS.items()}) == {
        name: then for name, (_, then) in FILTERS.items()
    }


def test_a_bare_date_is_a_day_in_the_sites_time_zone(site: Site) -> None:
    # New York, where the clocks went forward on 2026-03-08: that day began at 05:00Z and ended at 03:59:59Z.
    begin, end = 1_772_946_000, 1_772_946_000 + 23 * 3600 - 1
    upsert(
        site,
        row("before", started_at=begin - 1),
        row("first", started_at=begin),
        row("last", started_at=end),
        row("after", started_at=end + 1),
    )
    site.wp("option", "update", "timezone_string", "America/New_York")
    days = {
        "day": {"since": "2026-03-08", "until": "2026-03-08"},
        "clock": {"since": "2026-03-08T00:00", "until": "2026-03-08T23:59:59"},
    }
    assert found(site, days) == {"day": ["last", "first"], "clock": ["last", "first"]}


def test_long_lists_come_whole_and_in_order(any_site: Site) -> None:
    rows = [
        row(
            f"s-{n:04}",
            started_at=NOON + n // 3,
            cost_usd=None if n % 3 else n % 7 / 8,
            turn_count=n % 5,
            token_total=n % 11 or None,
        )
        for n in range(2_050)
    ]
    upsert(any_site, *rows)
    columns = {"date": "started_at", "cost": "cost_usd", "turns": "turn_count", "tokens": "token_total"}
    asked = {f"{sort} {order}": {"all": True, "sort": sort, "order": order} for sort in columns for order in ("asc", "desc")}
    answers = found(any_site, asked)
    for name, answer in answers.items():
        column = columns[name.split()[0]]
        whole = sorted(
            rows, key=lambda one: (one[column] is not None, one[column] or 0, one["session_key"]), reverse="desc" in name
        )
        assert answer == [one["session_id"] for one in whole], name
    assert len(found(any_site, {"bounded": {"limit": 1_500}})["bounded"]) == 1_500


@pytest.fixture
def filled(site: Site) -> Site:
    upsert(site, *ROWS)
    return site


def test_json_has_every_field_in_its_type(filled: Site) -> None:
    shop = listed(filled, "--limit=1")[0]
    sent = {**ROWS[0], "unified_id": "claude-code:shop", "title": None}
    for name in ("session_key", "project_hash", "row_hash", "revision"):
        del sent[name]
    assert shop == sent
    assert {name: type(value) for name, value in shop.items()} == {name: type(value) for name, value in sent.items()}


def test_formats_and_fields(filled: Site) -> None:
    def shown(*options: str) -> str:
        return filled.wp(*COMMAND, "list", "--project=/srv/shop/", *options).stdout

    fields = "--fields=unified_id,started_at,token_total,cost_usd"
    assert shown("--format=csv", fields) == (
        f"unified_id,started_at,token_total,cost_usd\nclaude-code:shop,{NOON},900,0.5\nclaude-code:below,{NOON - DAY},,2\n"
    )
    assert shown("--format=yaml", fields, "--limit=1") == (
        f'---\n- unified_id: "claude-code:shop"\n  started_at: {NOON}\n  token_total: 900\n  cost_usd: 0.5\n'
    )
    assert shown(fields).splitlines() == [
        "unified_id\tstarted_at\ttoken_total\tcost_usd",
        "claude-code:shop\t2026-03-01 12:00\t900\t0.500000",
        "claude-code:below\t2026-02-28 12:00\t\t2.000000",
    ]
    assert shown("--format=ids") == "claude-code:shop\nclaude-code:below\n"
    assert shown("--format=count") == "2\n"
    assert shown("--format=count", "--limit=1") == "1\n"
    assert json.loads(shown("--format=json", "--fields=title,session_id")) == [
        {"title": None, "session_id": "shop"},
        {"title": None, "session_id": "below"},
    ]


def test_an_empty_list_is_empty_in_every_format(site: Site) -> None:
    def shown(*options: str) -> str:
        return site.wp(*COMMAND, "list", "--fields=session_id,title", *options).stdout

    assert shown("--format=json") == "[]\n"
    assert shown("--format=csv") == "session_id,title\n"
    assert shown("--format=yaml") == "--- []\n"
    assert shown("--format=ids") == ""
    assert shown("--format=count") == "0\n"
    assert shown() == "session_id\ttitle\n"


def test_what_a_terminal_or_a_spreadsheet_would_obey_is_harmless(site: Site) -> None:
    path = "=HYPERLINK(1)\x1b]0;x\x07\n\r\t\x9b31m\u202eevil\u2066\u200f\ufeff"
    upsert(site, row("s-1", project_path=path, model="-2+3"))
    table, sheet, yaml = (
        site.wp(*COMMAND, "list", "--fields=project_path,model", f"--format={format}").stdout
        for format in ("table", "csv", "yaml")
    )
    for text in (table, sheet):
        assert re.findall("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200f\u202e\u2066\ufeff]", text) == []
        assert len(text.splitlines()) == 2
    cells = list(csv.reader(io.StringIO(sheet)))[1]
    assert [cell[:2] for cell in cells] == ["'=", "'-"]
    assert json.loads(yaml.splitlines()[1].removeprefix("- project_path: ")) == path
    assert listed(site)[0]["project_path"] == path


def test_a_hundred_are_listed_where_nothing_is_asked(site: Site) -> None:
    upsert(site, *(row(f"s-{number}") for number in range(101)))
    done = site.wp(*COMMAND, "list", "--format=ids")
    assert len(done.stdout.splitlines()) == 100
    assert done.stderr == "There are more than these 100: --limit=N or --all shows them.\n"
    assert site.wp(*COMMAND, "list", "--format=count", "--limit=100").stderr == done.stderr
    assert site.wp(*COMMAND, "list", "--format=ids", "--limit=101").stderr == ""
    assert len(ids(site, "--all")) == 101
    assert len(ids(site, "--all", "--limit=5")) == 5
    assert site.wp(*COMMAND, "list", "--format=count").stdout == "101\n"


def test_titles_come_from_the_sidecar_and_need_it_only_where_they_are_shown(site: Site, tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.lay(prompt="Which plugins? 🚀")
    upsert(site, row("unknown", started_at=1))
    site.wp(*COMMAND, "reindex", env={"HOME": str(home.path)})
    assert [one["title"] for one in listed(site)] == ["Which plugins? 🚀", None]
    nowhere = {"PATH": f"{site.programs}:/usr/bin:/bin"}
    done = site.wp(*COMMAND, "list", "--format=json", env=nowhere)
    assert [one["title"] for one in json.loads(done.stdout)] == [None, None]
    assert done.stderr == ""


def test_a_name_that_only_the_sidecar_knows_is_said_to_be_taken_literally_while_it_is_away(filled: Site) -> None:
    nowhere = {"PATH": f"{filled.programs}:/usr/bin:/bin"}
    done = filled.wp(*COMMAND, "list", "--format=count", "--runtime=claude", env=nowhere)
    assert done.stdout == "0\n"
    assert done.stderr.startswith("Warning: Names of runtimes are taken literally")
    done = filled.wp(*COMMAND, "list", "--format=count", "--runtime=codex", env=nowhere)
    assert (done.stdout, done.stderr.count("Warning")) == ("1\n", 0)


@pytest.mark.parametrize(
    ("age", "warned"), [(0, False), (2 * 3600 - 60, False), (2 * 3600 + 60, True)], ids=["fresh", "within", "stale"]
)
def test_a_list_older_than_twice_the_schedule_says_so(filled: Site, age: int, warned: bool) -> None:
    filled.wp("eval", f"update_site_option( 'coding_agents_sessions_last_pass', time() - {age} );")
    done = filled.wp(*COMMAND, "list", "--format=json")
    assert ("The sessions were indexed 2 hours ago" in done.stderr) is warned
    assert len(json.loads(done.stdout)) == 7


def test_a_list_before_the_first_pass_says_so(site: Site) -> None:
    assert "Nothing was indexed yet" in site.wp(*COMMAND, "list").stderr


@pytest.mark.parametrize(
    ("option", "named"),
    [
        ("--limit=none", "--limit"),
        ("--fields=session_id,secret", "secret"),
        ("--since=soon", "--since"),
        ("--sort=name", "--sort"),
    ],
)
def test_a_wrong_value_ends_with_the_status_of_its_code(site: Site, option: str, named: str) -> None:
    code, error = failure(site, *COMMAND, "list", option)
    assert (code, error["code"]) == (2, "INVALID_ARGUMENT")
    assert named in error["message"]
    done = site.wp(*COMMAND, "list", option, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"Error: {error['message']}\n"


def test_a_wrong_format_is_refused_in_words(site: Site) -> None:
    done = site.wp(*COMMAND, "list", "--format=xml", check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith('Error: --format cannot be "xml".')


def test_pages_of_the_newest_use_an_index(site: Site) -> None:
    upsert(site, *(row(f"s-{number:04}", started_at=NOON + number) for number in range(2_000)))
    site.sql(f"ANALYZE TABLE {TABLE}")
    log = "add_filter( 'query', function ( $sql ) { if ( strpos( $sql, 'ORDER BY' ) && strpos( $sql, 'session_index' ) ) { fwrite( STDERR, \"$sql\\n\" ); } return $sql; } );"
    site.mu_plugin("log", log)
    plans = []
    for limit in (100, 1050):
        said = site.wp(*COMMAND, "list", "--format=ids", f"--limit={limit}").stderr
        queries = [line for line in said.splitlines() if line.startswith("SELECT")]
        plans.append(site.sql(f"EXPLAIN {queries[-1]}")[0])
    assert len(queries) == 2, "the second list has a second page"
    for plan in plans:
        assert "kind_started" in plan
        assert "filesort" not in str(plan)
