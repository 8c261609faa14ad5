"""What an operator wants to know: which runtimes are here, what was found, what failed and why, how old the index is."""

import time
from typing import Any

from .config import Settings
from .indexer import root_states
from .ledger import queries
from .ledger.database import Database
from .registry import Registry

STALE_SECONDS = 7 * 86400
"""An index that no complete pass has touched for so long is worth a warning."""

SILENT_BYTES = 1_000_000
"""A source as large as that should say something."""

Check = dict[str, Any]


def runtimes(registry: Registry, settings: Settings, ledger: Database) -> list[dict[str, Any]]:
    """Return one entry a runtime, as docs/protocol.md says."""
    sources = dict(ledger.db.execute("SELECT runtime, COUNT(*) FROM source GROUP BY runtime"))
    sessions = dict(ledger.db.execute("SELECT runtime, COUNT(*) FROM session WHERE revision IS NOT NULL GROUP BY runtime"))
    return [
        {
            "name": name,
            "title": one.adapter.title,
            "aliases": list(one.adapter.aliases),
            "roots": [{"path": root.path, "state": state} for root, state in root_states(one.adapter, settings)],
            "sources": sources.get(name, 0),
            "sessions": sessions.get(name, 0),
            "evidence": one.adapter.evidence,
            "provider": one.provider,
        }
        for name, one in registry.registered.items()
    ]


def examine(registry: Registry, settings: Settings, ledger: Database) -> tuple[str, list[Check]]:
    """Return the health (green, yellow, red) and the checks behind it."""
    checks = [ledger_check(ledger), *runtime_checks(registry, settings, ledger), *silent_checks(ledger)]
    checks += [
        {"check": f"source {failure['source']}", "status": "warning", "message": failure["message"]}
        for failure in queries.failures(ledger, ())
    ]
    statuses = {check["status"] for check in checks}
    return "red" if "error" in statuses else "yellow" if "warning" in statuses else "green", checks


def ledger_check(ledger: Database) -> Check:
    """Return how many sessions the ledger has and how old it is."""
    count = ledger.db.execute("SELECT COUNT(*) FROM session WHERE revision IS NOT NULL").fetchone()[0]
    last = ledger.meta("last_pass")
    said = f"{count} sessions in {ledger.path}"
    if last is None:
        return {
            "check": "ledger",
            "status": "warning",
            "message": f"{said}; no complete pass yet: run coding-agents sessions reindex",
        }
    age = max(0, round(time.time() - last))
    status = "warning" if age > STALE_SECONDS else "ok"
    return {"check": "ledger", "status": status, "message": f"{said}; last complete pass {age} seconds ago"}


def runtime_checks(registry: Registry, settings: Settings, ledger: Database) -> list[Check]:
    """Return one check a runtime: where it was looked for, which versions wrote what is there, what was passed over."""
    seen = queries.records_seen(ledger)
    checks = []
    for entry in runtimes(registry, settings, ledger):
        said = [f"{entry['sessions']} sessions in {entry['sources']} sources"]
        said += [f"{root['path']} ({root['state']})" for root in entry["roots"]]
        found = seen.get(entry["name"], queries.Records())
        if found.versions:
            said.append(f"written by {', '.join(found.versions)}")
        if found.skipped:
            said.append(f"{found.skipped} damaged records skipped")
        if found.unknown:
            said.append(f"{found.unknown} records of unknown types ({found.unknown / found.seen:.1%})")
        bad = found.skipped or any(root["state"] == "unreadable" for root in entry["roots"])
        checks.append({"check": entry["name"], "status": "warning" if bad else "ok", "message": "; ".join(said)})
    return checks


def silent_checks(ledger: Database) -> list[Check]:
    """Return one check for every large source in which not one message was found: its format may have changed."""
    return [
        {"check": f"source {path}", "status": "warning", "message": f"{runtime}: {size} bytes without a message"}
        for runtime, path, size in queries.silent_sources(ledger, SILENT_BYTES)
    ]
