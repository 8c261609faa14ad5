"""A command imports only what it needs: heavy packages take longer to load than most commands run."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from coding_agents_sidecar import adapters
from tests.homes import Home

HEAVY = {"pydantic", "pymysql", "watchdog", "jsonschema", "concurrent.futures.process", "asyncio"}
PROBE = """
import json, sys
from coding_agents_sidecar.__main__ import run
status = run(json.loads(sys.argv[1]))
print(json.dumps([status, sorted(sys.modules)]), file=sys.stderr)
"""


def loaded(home: Home, *arguments: str, input: bytes = b"") -> set[str]:
    """Return the modules that a command loads; it must succeed."""
    done = subprocess.run(
        [sys.executable, "-c", PROBE, json.dumps(arguments)],
        env=home.environment({"CODING_AGENTS_LOG": "error"}),
        input=input,
        capture_output=True,
        check=True,
        timeout=15,
    )
    status, modules = json.loads(done.stderr.splitlines()[-1])
    assert status == 0
    return set(modules)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path)
    home.lay()
    home.reindex()
    return home


@pytest.mark.parametrize(
    "arguments",
    ["--version", "--help", "sessions list --help", "sessions list", "sessions list --format=json", "runtimes", "ping", "doctor"],
)
def test_a_command_that_shows_something_is_light(home: Home, arguments: str) -> None:
    assert loaded(home, *arguments.split()) & HEAVY == set()


def test_a_reindex_without_changes_is_light(home: Home) -> None:
    assert loaded(home, "sessions", "reindex") & HEAVY == set()


def test_help_needs_neither_ledger_nor_adapters(home: Home) -> None:
    modules = loaded(home, "sessions", "--help")
    assert {"sqlite3", "orjson", "coding_agents_sidecar.ops", "coding_agents_sidecar.registry"} & modules == set()


def test_with_nothing_to_publish_no_database_is_asked(home: Home) -> None:
    # Nobody listens there: a connection would fail.
    database = {"host": "127.0.0.1", "port": 1, "user": "u", "password": "p", "name": "n"}
    publish = {"table": "wp_x", "revision": 2**53 - 1, "database": database}
    request = {"v": 1, "id": 1, "op": "reindex", "args": {"publish": publish}}
    assert "pymysql" not in loaded(home, "serve", "--stdio", input=json.dumps(request).encode())


def test_an_adapter_is_light() -> None:
    code = "import sys; from coding_agents_sidecar import registry; registry.built_in(); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    modules = set(done.stdout.split())
    assert f"{adapters.__name__}.claude_code" in modules
    assert modules & HEAVY == set()
