"""Invented index rows, and the table they go to."""

from typing import Any

from coding_agents_sidecar.ledger.rows import project_hash, session_key

from .contract import schemas


def row(number: int, **changes: Any) -> dict[str, Any]:
    """Return an index row as it stands on the wire; ``number`` decides its id and, while not given, its revision."""
    session_id = f"session-{number}"
    whole = {
        "session_key": session_key("", "", "claude-code", session_id),
        "session_id": session_id,
        "runtime": "claude-code",
        "host": "",
        "origin": "",
        "project_path": "/srv/shop",
        "project_hash": project_hash("/srv/shop"),
        "started_at": 1746093600,
        "ended_at": 1746093606,
        "last_activity_at": 1746093606,
        "file_path": f"/home/dev/.claude/projects/-srv-shop/{session_id}.jsonl",
        "file_mtime": 1746093606,
        "message_count": 4,
        "turn_count": 1,
        "model": "example-model-1",
        "token_total": 4281,
        "input_tokens": 13,
        "output_tokens": 68,
        "cache_read_tokens": 4100,
        "cache_write_tokens": 100,
        "reasoning_tokens": None,
        "cost_usd": None,
        "cost_source": None,
        "status": "completed",
        "kind": "session",
        "parent_id": None,
        "row_hash": f"{number:016x}",
        "revision": 1_000_000 + number,
    }
    assert changes.keys() <= whole.keys()
    return whole | changes


def create_table(name: str) -> str:
    """Return the statement that makes the table as the schema describes it."""
    schema = schemas.load("index-row")
    columns = [f"{column} {rules['x-column']}" for column, rules in schema["properties"].items()]
    return f"CREATE TABLE `{name}` ({', '.join([*columns, *schema['x-keys']])}) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4"
