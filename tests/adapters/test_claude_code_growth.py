"""Claude Code: reading on in a file that has grown, without reading again what was read."""

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from coding_agents_sidecar.adapter import Source
from coding_agents_sidecar.fold import Fold
from coding_agents_sidecar.model import Checkpoint, Stale
from coding_agents_sidecar.reading import Holding, Reading
from tests.adapters.claude_code import FIXTURES, adapter, assistant, fold_of, record, sources, text, user, write

FILES = [
    pytest.param(source, id=os.path.relpath(source.path, FIXTURES))
    for case in sorted(FIXTURES.iterdir())
    for source in sources(case / "home")
]


def restored(fold: Fold) -> Fold:
    """Return the fold as the ledger would bring it back."""
    known: dict[str, list[Holding]] = {name: list(session.holdings.values()) for name, session in fold.sessions.items()}
    return Fold(adapter.name).restore(json.loads(json.dumps(fold.state)), known)


def grown(earlier: Fold, source: Source) -> Fold:
    """Return the fold over a grown source, gone on with where that is possible, as a pass does it."""
    if earlier.checkpoint is None:
        return fold_of(source)
    state = json.loads(json.dumps(earlier.checkpoint.state))
    try:
        return restored(earlier).run(adapter.events(source, None, Checkpoint(earlier.checkpoint.offset, state)))
    except Stale:
        return fold_of(source)


def facts(fold: Fold) -> dict[str, Any]:
    """Return everything a fold says of its sessions, however it was reached."""

    def of(reading: Reading) -> tuple[Any, ...]:
        session = fold.sessions[reading.start.session_id]
        holdings = sorted((one.key, one.position, one.time, one.next_time, one.amounts) for one in session.holdings.values())
        names = ("info", "title", "model", "message_count", "turn_count", "first_time", "opening_time", "last_time", "ending")
        return (*(getattr(reading, name) for name in names), reading.torn, reading.skipped, reading.usage, holdings)

    return {reading.start.session_id: of(reading) for reading in fold.readings()}


def check_cuts(source: Source, cuts: Iterable[int], folder: Path) -> None:
    """Let a copy of the file grow from cut to cut; go on from each to the end."""
    data = Path(source.path).read_bytes()
    part = folder / os.path.relpath(source.path, source.root)
    part.parent.mkdir(parents=True)
    whole = facts(fold_of(source))
    with open(part, "wb", buffering=0) as file:
        for cut in cuts:
            file.write(data[file.tell() : cut])
            earlier = fold_of(Source(str(part), str(folder)))
            assert facts(grown(earlier, source)) == whole, f"cut at {cut}"


@pytest.mark.parametrize("source", FILES)
def test_reading_on_from_a_cut_around_any_line_end_equals_reading_the_whole_file(source: Source, tmp_path: Path) -> None:
    data = Path(source.path).read_bytes()
    ends = [index + 1 for index, byte in enumerate(data) if byte == 10]
    check_cuts(source, sorted({0, *(end + shift for end in ends for shift in (-20, -1, 0, 1, 20))}), tmp_path)


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
    source = next(one for one in sources(FIXTURES / case / "home") if session in one.path)
    check_cuts(source, range(os.path.getsize(source.path) + 1), tmp_path)


def test_a_grown_file_is_read_only_from_where_reading_stopped(tmp_path: Path) -> None:
    calls = [assistant(f"a{n}", f"a{n - 1}" if n else "u1", "m1", text(str(n))) for n in range(20)]
    source = write(tmp_path, user("u1", None, "Hello"), *calls)
    before = fold_of(source)
    assert before.checkpoint is not None
    results = [{"type": "tool_result", "tool_use_id": "t1", "content": "Done"}]
    with open(source.path, "a") as file:
        file.write("".join(json.dumps(one) + "\n" for one in (user("r1", "a0", results), user("u2", "a19", "And now?"))))
    # Were any earlier byte read again, it would no longer be JSON.
    Path(source.path).write_bytes(b"#" * before.checkpoint.offset + Path(source.path).read_bytes()[before.checkpoint.offset :])
    after = restored(before).run(adapter.events(source, None, before.checkpoint))
    assert [reading.message_count for reading in after.readings()] == [4]


def test_a_summary_names_the_session_when_the_record_it_belongs_to_comes_later(tmp_path: Path) -> None:
    before = [record("summary", "", None, summary="Greetings", leafUuid="a1"), user("u1", None, "Hello")]
    fold = fold_of(write(tmp_path, *before))
    assert [reading.title for reading in fold.readings()] == ["Hello"]
    later = grown(fold, write(tmp_path, *before, assistant("a1", "u1", "m1", text("Hi"))))
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
    fold = fold_of(write(tmp_path, *before))
    with pytest.raises(Stale):
        restored(fold).run(adapter.events(write(tmp_path, *before, appended), None, fold.checkpoint))
