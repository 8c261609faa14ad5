"""The tabs of the editor's old chat panel -> events.

{tabId, chatTitle, lastSendTime, bubbles [{type: user | ai, text | rawText, modelType}]}
"""

from collections.abc import Iterator
from typing import Any

from ...model import Event, Info, Start
from .. import fields
from . import bubbles, moments
from .catalog import Noted


def events_of(id: str, tab: Any, noted: Noted, preference: int) -> Iterator[Event]:
    """Yield what a tab says; the time of the last prompt is the only one it has."""
    time = moments.seconds(tab, "lastSendTime")
    yield Start(id, preference=preference, modified=time)
    yield Info(project_path=noted.home, title=fields.text(tab, "chatTitle"), last_activity_at=time)
    for bubble in fields.rows(tab, "bubbles"):
        yield from bubbles.chat_events(bubble)
