"""The times of records."""

from collections.abc import Iterable, Iterator

from ..model import Event, Message, Seen


def dated(events: Iterable[Event], time: float | None) -> Iterator[Event]:
    """Yield what a record says, and its time where no message among that has it."""
    has_message = False
    for event in events:
        has_message = has_message or isinstance(event, Message)
        yield event
    if time is not None and not has_message:
        yield Seen(time)
