"""What is different in a task of Roo Code, Zoo Code and the older Kilo Code.

    history_item.json     {workspace, parentTaskId, task, status, tokens…, totalCost, mode}
    <model>…</model>      in the state of the editor: the only place that names the model
    isSummary, isTruncationMarker      records that stand for earlier ones

The first row is the prompt although it is a plain ``say text``. A task that another one began names it.
"""

import os
import re
from typing import Any

from ...model import Ending, Info, Kind, Tokens
from .. import fields
from . import arrays, rows
from .requests import Request, by_size, cost_of, told
from .shapes import blocks_of
from .storage import ITEM, TaskSource
from .task import Task

MODEL = re.compile(r"^# Current Mode\b.*?<model>([^<>\n]+)</model>", re.DOTALL | re.MULTILINE)


class RooTask(Task):
    """A task of Roo Code or its kin."""

    def __init__(self, source: TaskSource) -> None:
        super().__init__(source)
        self.item = arrays.document(os.path.join(source.folder, ITEM)) or self.item
        self.named: str | None = None

    def count(self, data: Any, request: Request) -> Tokens | None:
        return by_size(data)

    def descent(self) -> tuple[Kind, str | None]:
        parent = fields.text(self.item, "parentTaskId")
        return "subagent" if parent else "session", parent

    def facts(self, title: str | None) -> Info:
        facts = super().facts(title)
        if facts.model is None:
            requested = (model_in(fields.at(told(row), "request")) for row in reversed(self.shown.items))
            facts.model = next(filter(None, requested), None)
        return facts

    def project(self) -> str | None:
        return fields.text(self.item, "workspace") or super().project()

    def started(self) -> float | None:
        return fields.seconds(self.shown.items, 0, "ts") or rows.born(self.source.folder)

    def is_summary(self, record: Any) -> bool:
        return fields.flag(record, "isSummary") or fields.flag(record, "isTruncationMarker")

    def hear(self, record: Any) -> None:
        self.named = model_in(fields.at(record, "content")) or self.named

    def model(self, record: Any, request: Request | None) -> str | None:
        return self.named

    def totals(self) -> Info:
        return Info(
            last_activity_at=fields.seconds(self.item, "ts"),
            tokens=by_size(self.item),
            cost_usd=cost_of(self.item, "totalCost"),
        )

    def ending(self) -> Ending | None:
        return "completed" if fields.text(self.item, "status") == "completed" else super().ending()


def model_in(content: Any) -> str | None:
    """Return the model that the state of the editor in a prompt names."""
    words = "\n".join(filter(None, (fields.text(block, "text") for block in blocks_of(content))))
    return next(reversed(MODEL.findall(words)), None)
