"""Kilo Code: one runtime over two kinds of store."""

import os
from pathlib import Path

import pytest

from coding_agents_sidecar.adapters.kilo_code import KiloCode
from coding_agents_sidecar.testing import lay
from tests.adapters.cline import Index, sources

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures" / "kilo-code"
adapter = KiloCode()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "home"
    home.mkdir()
    for case in ("legacy", "database"):
        lay(FIXTURES / case, home)
    return home


def test_only_databases_are_read_session_by_session(home: Path) -> None:
    stamps = {os.path.basename(source.path): adapter.stamps(source) for source in sources(adapter, home)}
    assert {name: found.keys() if found else None for name, found in stamps.items()} == {
        "kilo.db": {"ses_main", "ses_child", "ses_events"},
        "kilo-dev.db": {"ses_dev"},
        "ses_tree.json": None,
        "api_conversation_history.json": None,
    }


def test_both_stores_are_one_runtime(home: Path) -> None:
    index = Index("kilo-code", home)
    assert index.run()["discovered"] == 8
    assert sorted({origin for origin, _ in index.rows()}) == ["", "Cursor"]
    head, messages = index.sidecar.read("kilo-code", "0197b001-1111-7333-8444-aaaaaaaaaaaa", "Cursor", raw=False)
    assert (head["origin"], [one["role"] for one in messages]) == ("Cursor", ["user", "assistant"])
    head, messages = index.sidecar.read("kilo-code", "ses_child", "", raw=False)
    assert (head["parent_id"], [one["role"] for one in messages]) == ("ses_main", ["user", "assistant"])
