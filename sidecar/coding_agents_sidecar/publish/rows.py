"""Rows on their way to the WordPress table."""

from collections.abc import Iterable, Iterator
from typing import Any

from pydantic import ValidationError

from ..service.wire import PublishedRow, words

Row = dict[str, Any]


def fitting(rows: Iterable[Row], refused: list[Row]) -> Iterator[Row]:
    """Yield the rows that the table takes unchanged; name the others in ``refused``, as entries of a report's ``failed``.

    A database that is not strict would cut what is too long, and one that is would refuse the whole statement.
    """
    for row in rows:
        try:
            PublishedRow.model_validate(row)
        except ValidationError as error:
            message = f"row {row['session_key']} does not fit the table: {words(error)}"
            refused.append(
                {"runtime": row["runtime"], "source": row["file_path"], "code": "INVALID_ARGUMENT", "message": message}
            )
        else:
            yield row
