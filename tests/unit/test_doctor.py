"""What ``doctor`` tells of the runtimes."""

import json
from pathlib import Path

from coding_agents_sidecar import doctor
from coding_agents_sidecar.config import Settings
from coding_agents_sidecar.indexer import Pass
from coding_agents_sidecar.ledger.database import open_ledger
from coding_agents_sidecar.ledger.queries import by_number
from coding_agents_sidecar.registry import Registered, Registry
from tests.toy import Toy


def examined(tmp_path: Path, *records: object) -> dict[str, tuple[str, str]]:
    """Return status and message of each check over a toy session of these records."""
    path = tmp_path / ".toy" / "a.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    ledger = open_ledger(tmp_path / "state" / "ledger.db")
    settings = Settings(tmp_path, {}, tmp_path / "state", "")
    Pass(ledger, settings).run([Toy()])
    _, checks = doctor.examine(Registry([Registered(Toy(), "test")]), settings, ledger)
    ledger.close()
    return {check["check"]: (check["status"], check["message"]) for check in checks}


def test_versions_and_the_share_of_unknown_records_are_named(tmp_path: Path) -> None:
    prompt = {"role": "user", "t": 1_700_000_000, "text": "Hello"}
    status, message = examined(tmp_path, {"role": "about", "version": "1.10"}, prompt, {"role": "unheard-of"}, prompt, prompt)[
        "toy"
    ]
    assert status == "ok"
    assert "1 sessions in 1 sources" in message
    assert f"{tmp_path}/.toy (listed)" in message
    assert f"{tmp_path}/.toy2 (absent)" in message
    assert "written by 1.10" in message
    assert "1 records of unknown types (25.0%)" in message


def test_a_large_source_without_a_message_is_a_warning(tmp_path: Path) -> None:
    note = {"role": "note", "text": "x" * 1000}
    checks = examined(tmp_path, *[note] * 1100)
    status, message = checks[f"source {tmp_path}/.toy/a.jsonl"]
    assert (status, "without a message" in message) == ("warning", True)
    assert len(examined(tmp_path, *[note] * 10)) == 2


def test_versions_sort_by_number() -> None:
    assert sorted(["2.10.1", "2.9", "1.0-beta", "2.9.3"], key=by_number) == ["1.0-beta", "2.9", "2.9.3", "2.10.1"]
