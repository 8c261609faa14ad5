"""Small files that lie beside a source and are named by it: read only from inside a given folder, whatever the name says."""

import os
import stat
from functools import lru_cache

from . import places


def read(folder: str, *names: str, limit: int) -> bytes | None:
    """Return the bytes of the regular file ``folder/names…``; ``None`` when there is none that may be read.

    ``folder`` may be reached through links, nothing below it may be one. ``names`` are untrusted: each must be the bare
    name of a folder or file. A file of more than ``limit`` bytes is not read: half of it would pass for the whole.
    """
    if any(name in ("", ".", "..") or "\0" in name or os.path.basename(name) != name for name in names):
        return None
    path = os.path.join(os.path.realpath(folder), *names)
    if os.path.realpath(path) != path:
        return None
    try:
        # Not blocking, because opening a FIFO would wait for a writer.
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        with open(descriptor, "rb", closefd=False) as file:
            data = file.read(limit + 1)
    except OSError:
        return None
    finally:
        os.close(descriptor)
    return data if len(data) <= limit else None


def kept(path: str, *, limit: int) -> bytes | None:
    """Return the bytes of a small file, as ``read`` does, opened again only when it has changed."""
    try:
        stamp = places.stamp(path, (path,))
    except OSError:
        return None
    return _kept(path, stamp.value, limit) if stamp else None


@lru_cache(maxsize=256)
def _kept(path: str, stamp: str, limit: int) -> bytes | None:
    return read(os.path.dirname(path), os.path.basename(path), limit=limit)
