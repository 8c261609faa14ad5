"""Claude Code: reading on in a file that has grown, without reading again what was read."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from coding_agents_sidecar.model import Stale
from tests.adapters.claude_code import FIXTURES, adapter, assistant, record, text, user, write
from tests.adapters.growth import around_line_ends, check_cuts, fold_of, resumed
from tests.adapters.home import laid, logs


@pytest.mark.parametrize("log", logs(adapter, FIXTURES))
def test_reading_on_from_a_cut_around_any_line_end_equals_reading_the_whole_file(log: str, tmp_path: Path) -> None:
    source = laid(adapter, FIXTURES, log, tmp_path)
    check_cuts(adapter, source, around_line_ends(source.path))


@pytest.mark.parametrize(
    "name",
    [
        "oldest/01d00001-0000-4000-8000-000000000001",
        "rewind/4e000002-0000-4000-8000-000000000002",
        "damaged/da000004-0000-4000-8000-000000000004",
    ],
)
def test_reading_on_from_any_byte_equals_reading_the_whole_file(name: str, tmp_path: Path) -> None:
    case, session = name.split("/")
    log = next(log for log in logs(adapter, FIXTURES) if log.startswith(case) and session in log)
    source = laid(adapter, FIXTURES, log, tmp_path)
    assert check_cuts(adapter, source, range(os.path.getsize(source.path) + 1)) > 0


def test_a_grown_file_is_read_only_from_where_reading_stopped(tmp_path: Path) -> None:
    calls = [assistant(f"a{n}", f"a{n - 1}" if n else "u1", "m1", text(str(n))) for n in range(20)]
    source = write(tmp_path, user("u1", None, "Hello"), *calls)
    before = fold_of(adapter, source)
    assert before.checkpoint is not None
    results = [{"type": "tool_result", "tool_use_id": "t1", "content": "Done"}]
    with open(source.path, "a") as file:
        file.write("".join(json.dumps(one) + "\n" for one in (user("r1", "a0", results), user("u2", "a19", "And now?"))))
    # Were any earlier byte read again, it would no longer be JSON.
    Path(source.path).write_bytes(b"#" * before.checkpoint.offset + Path(source.path).read_bytes()[before.checkpoint.offset :])
    after = resumed(adapter, before, source)
    assert [reading.message_count for reading in after.readings()] == [4]


def test_a_summary_names_the_session_when_the_record_it_belongs_to_comes_later(tmp_path: Path) -> None:
    before = [record("summary", "", None, summary="Greetings", leafUuid="a1"), user("u1", None, "Hello")]
    fold = fold_of(adapter, write(tmp_path, *before))
    assert [reading.title for reading in fold.readings()] == ["Hello"]
    later = resumed(adapter, fold, write(tmp_path, *before, assistant("a1", "u1", "m1", text("Hi"))))
    assert [reading.title for reading in later.readings()] == ["Greetings"]


@pytest.mark.parametrize(
    "appended",
    [
        pytest.param(user("u3", "a1", "Differently"), id="rewind"),
        pytest.param(user("u3", "lost", "Go on"), id="unknown parent"),
        pytest.param(record("summary", "", None, summary="A title", leafUuid="old"), id="summary of an unknown record"),
        pytest.param(user("s3", "lost", "Go on", isSidechain=True), id="unknown parent of an inline sub-agent"),
    ],
)
def test_what_changes_the_past_asks_for_a_full_read(tmp_path: Path, appended: dict[str, Any]) -> None:
    before = [user("u1", None, "Hello"), assistant("a1", "u1", "m1", text("Hi")), user("u2", "a1", "And now?")]
    fold = fold_of(adapter, write(tmp_path, *before))
    with pytest.raises(Stale):
        resumed(adapter, fold, write(tmp_path, *before, appended))
