"""A large OpenCode database: what a first pass and a pass after one changed session cost.

    python bench/opencode_database.py --gigabytes 2

Prints wall seconds, bytes read and peak memory of each pass. The database is made anew below a temporary folder and
removed afterwards. Bytes read are those the process asked the system for, from the page cache or not.
"""

import argparse
import json
import multiprocessing
import random
import resource
import sqlite3
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from coding_agents_sidecar.config import Settings
from coding_agents_sidecar.ops import Sidecar

TABLES = """
CREATE TABLE project (id TEXT PRIMARY KEY, worktree TEXT, time_updated INTEGER);
CREATE TABLE session (id TEXT PRIMARY KEY, project_id TEXT, parent_id TEXT, directory TEXT, title TEXT, version TEXT,
  time_created INTEGER, time_updated INTEGER, time_archived INTEGER);
CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, time_updated INTEGER, data TEXT);
CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, time_created INTEGER, time_updated INTEGER, data TEXT);
CREATE INDEX message_session ON message (session_id);
CREATE INDEX part_session ON part (session_id);
CREATE INDEX part_message ON part (message_id);
"""
SESSION_BYTES = 1_000_000
TURNS = 10
BEGAN = 1_780_000_000_000


def generate(path: Path, gigabytes: float) -> int:
    """Write a database of about this size; return its number of sessions."""
    chance = random.Random(1)
    words = "".join(chance.choice("abcdefghij \n") for _ in range(SESSION_BYTES // TURNS))
    sessions = max(1, int(gigabytes * 1e9 / SESSION_BYTES))
    db = sqlite3.connect(path)
    db.executescript(f"PRAGMA synchronous = OFF; {TABLES}")
    db.execute("INSERT INTO project VALUES ('p', '/srv/shop', ?)", (BEGAN,))
    for number in range(sessions):
        write_session(db, f"ses_{number:08}", BEGAN + number * 60_000, words)
        if number % 200 == 0:
            db.commit()
    db.commit()
    db.close()
    return sessions


def write_session(db: sqlite3.Connection, session: str, began: int, words: str) -> None:
    """Write one session: prompts, answers with tokens, and long tool output."""
    db.execute(
        "INSERT INTO session VALUES (?, 'p', NULL, '/srv/shop', ?, '1.14.34', ?, ?, NULL)",
        (session, f"About {session}", began, began),
    )
    for turn in range(TURNS):
        at = began + turn * 1000
        prompt, answer = f"msg_{session}_{turn}a", f"msg_{session}_{turn}b"
        tokens = {"total": 150, "input": 40, "output": 8, "reasoning": 2, "cache": {"read": 100, "write": 0}}
        asked = {"role": "user", "time": {"created": at}}
        answered = {
            "role": "assistant",
            "modelID": "model-1",
            "tokens": tokens,
            "cost": 0.01,
            "time": {"created": at + 1, "completed": at + 9},
        }
        tool = {"status": "completed", "input": {"command": "ls"}, "output": words, "time": {"start": at + 2, "end": at + 8}}
        rows: list[tuple[str, str, dict[str, Any]]] = [
            (f"prt_{prompt}", prompt, {"type": "text", "text": "What is there?"}),
            (f"prt_{answer}1", answer, {"type": "tool", "tool": "bash", "callID": f"call_{turn}", "state": tool}),
            (f"prt_{answer}2", answer, {"type": "text", "text": "A shop."}),
        ]
        for message, data in ((prompt, asked), (answer, answered)):
            db.execute("INSERT INTO message VALUES (?, ?, ?, ?, ?)", (message, session, at, at, json.dumps(data)))
        for part, message, data in rows:
            db.execute("INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)", (part, message, session, at, at, json.dumps(data)))


def measure(label: str, work: Callable[[], dict[str, Any]]) -> None:
    """Run a pass in a process of its own and print what it cost."""

    def run() -> None:
        before, began = bytes_read(), time.monotonic()
        report = work()
        seconds, read = time.monotonic() - began, bytes_read() - before
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        counts = ", ".join(f"{name} {report[name]}" for name in ("indexed", "updated", "unchanged"))
        print(f"{label:<24} {seconds:8.2f} s {read / 1e6:12.1f} MB read {peak:8.0f} MB peak   {counts}")  # noqa: T201

    process = multiprocessing.get_context("fork").Process(target=run)
    process.start()
    process.join()


def bytes_read() -> int:
    """Return how many bytes this process has read so far."""
    return int(next(line for line in Path("/proc/self/io").read_text().splitlines() if line.startswith("rchar")).split()[1])


def main() -> None:
    """Generate, measure, remove."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gigabytes", type=float, default=2)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="opencode-database-") as folder:
        home = Path(folder, "home")
        path = home / ".local/share/opencode/opencode.db"
        path.parent.mkdir(parents=True)
        sessions = generate(path, arguments.gigabytes)
        print(f"{path.stat().st_size / 1e9:.2f} GB, {sessions} sessions")  # noqa: T201
        settings = Settings(home, {}, Path(folder, "state"), "")

        def index() -> dict[str, Any]:
            return Sidecar(settings).reindex(runtimes=["opencode"])

        measure("first pass", index)
        measure("nothing changed", index)
        db = sqlite3.connect(path)
        write_session(db, "ses_new", BEGAN + sessions * 60_000, "x" * (SESSION_BYTES // TURNS))
        db.execute("UPDATE session SET title = 'Another title', time_updated = time_updated + 1 WHERE id = 'ses_00000000'")
        db.commit()
        db.close()
        measure("one new, one renamed", index)


if __name__ == "__main__":
    main()
