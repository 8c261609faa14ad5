"""Compressed files: whoever opens one by its name reads what was in it."""

import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

import zstandard

ERRORS = (EOFError, zlib.error, zstandard.ZstdError)
"""What reading raises, beside ``OSError``, where the packing is damaged."""


def is_packed(path: str) -> bool:
    """Return whether a file is compressed. Offsets in such a file are those of what was in it."""
    return path.endswith((".gz", ".zst"))


@contextmanager
def opened(path: str) -> Iterator[IO[bytes] | gzip.GzipFile]:
    """Open a file for reading, unpacked as its name says.

    Raises:
        OSError: it cannot be opened.
    """
    with open(path, "rb", buffering=0) as file:
        if path.endswith(".gz"):
            with gzip.GzipFile(fileobj=file) as unpacked:
                yield unpacked
        elif path.endswith(".zst"):
            with zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True) as reader:
                yield reader
        else:
            yield file


def unzstd(data: bytes, limit: int) -> bytes | None:
    """Return what zstd packed; ``None`` when that is damaged or more than ``limit`` bytes."""
    try:
        with zstandard.ZstdDecompressor().stream_reader(data, read_across_frames=True) as reader:
            found = reader.read(limit + 1)
    except zstandard.ZstdError:
        return None
    return found if len(found) <= limit else None
