"""Rows of the index as the sidecar would send them, and ways to put them into a site without one."""

import json
from itertools import count
from typing import Any

from coding_agents_sidecar.ledger.rows import project_hash, row_hash, session_key
from tests import rows
from tests.rig.packages import PROJECT
from tests.rig.site import Site

PHP = PROJECT / "tests/php"
TABLE = "wp_coding_agents_session_index"
LEASE = "coding_agents_sessions_lease"
COMMAND = ("coding-agents", "sessions")
_revisions = count()

Row = dict[str, Any]


def row(session_id: str, **facts: Any) -> Row:
    """Return a row of the link, newer than all before it, whose keys and hash follow from its facts."""
    facts = {"file_path": f"/home/dev/.claude/projects/-srv-shop/{session_id}.jsonl", **facts}
    found = rows.row(next(_revisions), session_id=session_id, **facts)
    named = (found["host"], found["origin"], found["runtime"], session_id)
    derived = {
        "session_key": session_key(*named),
        "project_hash": project_hash(found["project_path"]),
        "row_hash": row_hash(found),
    }
    return {**found, **derived, **facts}


def upsert(site: Site, *written: Row) -> str:
    """Write rows as the plugin does; return the code of the error, '' without one."""
    return site.wp("eval-file", str(PHP / "upsert.php"), input=json.dumps(written)).stdout


def listed(site: Site, *options: str) -> list[Row]:
    """Return what ``sessions list --format=json`` prints."""
    found: list[Row] = json.loads(site.wp(*COMMAND, "list", "--format=json", *options).stdout)
    return found


def ids(site: Site, *options: str) -> list[str]:
    """Return the native ids that ``sessions list`` shows, in order."""
    return [line.split(":", 1)[1] for line in site.wp(*COMMAND, "list", "--format=ids", *options).stdout.splitlines()]


def failure(site: Site, *command: str, env: dict[str, str] | None = None) -> tuple[int, Row]:
    """Run a command that fails with ``--format=json``; return its exit status and the error it printed."""
    done = site.wp(*command, "--format=json", check=False, env=env)
    assert done.stdout == ""
    found: Row = json.loads(done.stderr.splitlines()[-1])["error"]
    return done.returncode, found
