"""What a person typed, told from what a runtime put beside it."""

from abc import ABC, abstractmethod
from typing import Any

from . import fields


class Spoken(ABC):
    """The parts of a user message, sorted. A runtime's subclass knows what its texts may hold.

    Args:
        parts: of the message.
        injected: the runtime says that all of it is its own.

    Attributes:
        typed: parts a person is responsible for.
        injected: parts the runtime put in.
    """

    def __init__(self, parts: list[Any], *, injected: bool = False) -> None:
        self.typed: list[Any] = []
        self.injected: list[Any] = list(parts) if injected else []
        for part in [] if injected else parts:
            words = fields.text(part, "text")
            if words is None:
                self.typed.append(part)
            else:
                self.sort(words)

    @abstractmethod
    def sort(self, words: str) -> None:
        """Sort one text."""
