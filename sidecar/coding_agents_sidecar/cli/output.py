"""What the commands share on their way out. Data goes to standard output as UTF-8, words go to standard error."""

import csv
import io
import json
import os
import re
import shutil
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any

import click

from ..formats import text

Row = dict[str, Any]

# C0 and C1 controls, and the marks that change the direction of text: a terminal would obey them.
CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]+")
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
TIMES = ("started_at", "ended_at", "last_activity_at", "file_mtime")
BROKEN_PIPE = 141


def words(line: str) -> None:
    """Print a line for people to standard error."""
    click.echo(CONTROLS.sub(" ", text.clean(line)), err=True)


def emit(chunks: Iterable[bytes]) -> None:
    """Write to standard output. A reader that has gone, such as ``head``, ends the program quietly."""
    try:
        for chunk in chunks:
            sys.stdout.buffer.write(chunk)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        # The interpreter flushes once more when it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise click.exceptions.Exit(BROKEN_PIPE) from None


def line(value: str) -> bytes:
    """Return one line of data, which control characters cannot break."""
    return CONTROLS.sub(" ", text.clean(value)).encode() + b"\n"


def document(value: Any) -> None:
    """Print one JSON value."""
    from ..service.documents import dumps

    emit([dumps(value), b"\n"])


def rows(found: Sequence[Row], format: str, fields: Sequence[str] | None) -> None:
    """Print rows as ``table``, ``json``, ``csv`` or ``yaml``.

    Args:
        fields: the columns; ``None`` takes all.
    """
    if fields is not None:
        found = [{name: row[name] for name in fields} for row in found]
    elif found:
        fields = list(found[0])
    if format == "json":
        document(found)
    else:
        printers = {"table": table, "csv": comma_separated, "yaml": yaml}
        emit(line.encode() for line in printers[format](found, fields or ()))


def table(rows: Sequence[Row], fields: Sequence[str]) -> Iterator[str]:
    """Yield aligned lines; on a terminal they end where it does."""
    numbers = {name for name in fields if name not in TIMES and all(isinstance(row[name], int | float | None) for row in rows)}
    cells = [list(fields), *([cell(name, row[name]) for name in fields] for row in rows)]
    widths = [max(map(width, column)) for column in zip(*cells, strict=True)]
    limit = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    for line in cells:
        padded = []
        for name, value, room in zip(fields, line, widths, strict=True):
            gap = " " * (room - width(value))
            padded.append(gap + value if name in numbers else value + gap)
        whole = "  ".join(padded).rstrip()
        yield (whole if limit is None else cut(whole, limit)) + "\n"


def cell(name: str, value: Any) -> str:
    """Return a value for the eyes: times are local, unknown is empty, nothing in it can steer the terminal."""
    if value is None:
        return ""
    if name in TIMES:
        with suppress(ValueError, OverflowError, OSError):
            return datetime.fromtimestamp(value).isoformat(" ", "minutes")
    if isinstance(value, float):
        return f"{value:.6f}"
    if isinstance(value, list):
        return ", ".join(cell("", item) for item in value)
    if isinstance(value, dict):
        return " ".join(cell("", item) for item in value.values())
    return CONTROLS.sub(" ", text.clean(str(value)))


def width(value: str) -> int:
    """Return the columns a terminal needs for a text."""
    return sum(columns(char) for char in value) if not value.isascii() else len(value)


def columns(char: str) -> int:
    """Return the columns a terminal needs for a character."""
    if unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def cut(line: str, limit: int) -> str:
    """Return the line, or as much of it as fits with an ellipsis."""
    if width(line) <= limit:
        return line
    taken = 0
    for index, char in enumerate(line):
        taken += columns(char)
        if taken >= limit:
            return line[:index] + "…"
    return line


def comma_separated(rows: Sequence[Row], fields: Sequence[str]) -> Iterator[str]:
    """Yield CSV lines. Text that a spreadsheet would run as a formula gets an apostrophe in front."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(fields)
    for row in rows:
        writer.writerow([guarded(row[name]) for name in fields])
    yield text.clean(buffer.getvalue())


def guarded(value: Any) -> Any:
    """Return a CSV cell."""
    if isinstance(value, list | dict):
        value = json.dumps(value, ensure_ascii=False)
    if isinstance(value, float):
        return plain_number(value)
    return "'" + value if isinstance(value, str) and value.startswith(FORMULA) else value


def yaml(rows: Sequence[Row], fields: Sequence[str]) -> Iterator[str]:
    """Yield YAML: a block list of mappings whose values are JSON, which YAML includes."""
    yield "---\n" if rows else "--- []\n"
    for row in rows:
        for index, name in enumerate(fields):
            yield f"{'  ' if index else '- '}{name}: {scalar(row[name])}\n"


def scalar(value: Any) -> str:
    """Return a JSON value that every YAML reader takes for the same."""
    if isinstance(value, float):
        return plain_number(value)
    # YAML counts these as line breaks or as not printable; JSON does not.
    quoted = json.dumps(text.clean_json(value), ensure_ascii=False)
    return re.sub("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]", lambda found: f"\\u{ord(found[0]):04x}", quoted)


def plain_number(value: float) -> str:
    """Return a number without an exponent, which some readers take for text."""
    return f"{value:.6f}".rstrip("0").removesuffix(".")
