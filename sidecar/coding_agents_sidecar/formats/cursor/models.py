"""Names of models."""

from typing import Any

from .. import fields

CHOSEN_BY_SERVICE = ("default", "auto")


def name_of(record: Any, *path: str | int) -> str | None:
    """Return the name of a model; ``None`` for a placeholder, behind which the service chooses one."""
    name = fields.text(record, *path)
    return None if name is None or name.lower() in CHOSEN_BY_SERVICE else name
