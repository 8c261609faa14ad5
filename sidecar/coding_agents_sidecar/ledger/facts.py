"""What a reading keeps in the ledger, beside its holdings."""

from dataclasses import asdict, dataclass
from typing import Any

import orjson

from ..formats import text
from ..model import Ending, Kind
from ..reading import Amounts, Reading

Slots = list[list[Any]]
"""Usage as rows: quarter hour, model, then the amounts."""


@dataclass(slots=True)
class Facts:
    """One source's word on one session; see ``fold.Reading`` and ``model.Info`` for the meanings."""

    kind: Kind
    parent: str | None
    preference: int
    modified: float | None
    project: str | None
    title: str | None
    tags: list[str]
    model: str | None
    messages: int
    turns: int
    first: float | None
    opening: float | None
    last: float | None
    started: float | None
    ending: Ending
    torn: bool
    archived: bool
    usage: Slots
    keyless: Slots

    @classmethod
    def of(cls, reading: Reading) -> "Facts":
        """Return what to keep of a reading, its text made storable."""
        info, start = reading.info, reading.start
        parent = info.parent_id or start.parent_id
        return cls(
            kind=start.kind,
            parent=text.clean(parent) if parent and parent != start.session_id else None,
            preference=start.preference,
            modified=start.modified,
            project=text.path(text.clean(info.project_path)) if info.project_path else None,
            title=reading.title,
            tags=[text.clean(tag) for tag in info.tags or ()],
            model=text.clean(reading.model) if reading.model else None,
            messages=reading.message_count,
            turns=reading.turn_count,
            first=reading.first_time,
            opening=reading.opening_time,
            last=reading.last_time,
            started=info.started_at,
            ending=reading.ending,
            torn=reading.torn,
            archived=bool(info.archived),
            usage=rows(reading.usage),
            keyless=rows(reading.keyless),
        )

    @classmethod
    def load(cls, blob: bytes) -> "Facts":
        """Return the facts that ``dump`` wrote."""
        return cls(**orjson.loads(blob))

    def dump(self) -> bytes:
        """Return the facts as bytes."""
        return orjson.dumps(asdict(self))

    def birth(self) -> float | None:
        """Return when the session began: as the runtime says, else its first record, copied ones included."""
        return self.first if self.started is None else self.started


def rows(usage: dict[tuple[int, str], Amounts]) -> Slots:
    """Return usage as sorted rows."""
    return [[slot, text.clean(model), *amounts] for (slot, model), amounts in sorted(usage.items())]
