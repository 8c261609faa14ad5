"""Reading on in a file that has grown, held against reading the whole file."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from coding_agents_sidecar.adapter import Adapter, Source
from coding_agents_sidecar.fold import Fold
from coding_agents_sidecar.model import Checkpoint, Stale
from coding_agents_sidecar.reading import Holding, Reading


def fold_of(adapter: Adapter, source: Source) -> Fold:
    """Return the fold over a whole source."""
    return Fold(adapter.name).run(adapter.events(source))


def resumed(adapter: Adapter, earlier: Fold, source: Source) -> Fold:
    """Return the fold over a grown source from where an earlier one stopped, as the ledger would bring that back.

    Raises:
        Stale: it must be read from its start.
    """
    assert earlier.checkpoint is not None
    known: dict[str, list[Holding]] = {name: list(session.holdings.values()) for name, session in earlier.sessions.items()}
    fold = Fold(adapter.name).restore(json.loads(json.dumps(earlier.state)), known)
    state = json.loads(json.dumps(earlier.checkpoint.state))
    return fold.run(adapter.events(source, None, Checkpoint(earlier.checkpoint.offset, state)))


def facts(fold: Fold) -> dict[str, Any]:
    """Return everything a fold says of its sessions, however it was reached."""

    def of(reading: Reading) -> tuple[Any, ...]:
        session = fold.sessions[reading.start.session_id]
        holdings = sorted((one.key, one.position, one.time, one.next_time, one.amounts) for one in session.holdings.values())
        names = ("info", "title", "model", "message_count", "turn_count", "first_time", "opening_time", "last_time", "ending")
        counts = (reading.torn, reading.skipped, reading.unknown, reading.usage)
        return (*(getattr(reading, name) for name in names), *counts, holdings)

    return {reading.start.session_id: of(reading) for reading in fold.readings()}


def check_cuts(adapter: Adapter, source: Source, cuts: Iterable[int]) -> int:
    """Cut the file at each place and let it grow again; return how often reading went on where it had stopped."""
    path = Path(source.path)
    data = path.read_bytes()
    whole = facts(fold_of(adapter, source))
    times = 0
    for cut in cuts:
        path.write_bytes(data[:cut])
        earlier = fold_of(adapter, source)
        path.write_bytes(data)
        if earlier.checkpoint is None:
            continue
        try:
            later = resumed(adapter, earlier, source)
        except Stale:
            continue
        assert facts(later) == whole, f"cut at {cut}"
        times += 1
    return times


def unknown(adapter: Adapter, source: Source) -> list[int]:
    """Return how many records of unknown types each session of a source holds."""
    return [reading.unknown for reading in fold_of(adapter, source).readings()]


def around_line_ends(path: str) -> list[int]:
    """Return the places at, just before and just behind the end of each line of a file."""
    data = Path(path).read_bytes()
    ends = [0, *(index + 1 for index, byte in enumerate(data) if byte == 10)]
    places = {end + shift for end in ends for shift in (-20, -1, 0, 1, 20)}
    return sorted(place for place in places if 0 <= place <= len(data))
