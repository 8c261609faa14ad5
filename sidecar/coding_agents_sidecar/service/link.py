"""The two ends of the link as lines of bytes. docs/protocol.md has the framing."""

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from types import TracebackType
from typing import Any, BinaryIO

from ..errors import SidecarError
from .documents import dumps

LIMIT = 16 << 20
"""Bytes of a request; a longer one is refused."""

HEARTBEAT_SECONDS = 0.5


class Closed(Exception):
    """Nobody reads any more."""


class Link:
    """One connection. Lines go out whole, whichever thread writes them."""

    def __init__(self, requests: BinaryIO, answers: BinaryIO) -> None:
        self.incoming = requests
        self.outgoing = answers
        self.lock = threading.Lock()

    def lines(self) -> Iterator[tuple[bytes, bool]]:
        """Yield (line, whether it is whole) until the other end closes; of a line that is too long only the beginning."""
        while line := self.incoming.readline(LIMIT + 1):
            whole = line.endswith(b"\n") or len(line) <= LIMIT
            yield line, whole
            while not whole and (rest := self.incoming.readline(LIMIT)):
                whole = rest.endswith(b"\n")

    def send(self, line: bytes, *, flush: bool) -> None:
        """Write one line.

        Raises:
            Closed
        """
        try:
            with self.lock:
                self.outgoing.write(line)
                if flush:
                    self.outgoing.flush()
        except BrokenPipeError as error:
            raise Closed from error


def stdio() -> Link:
    """Take standard input and output for the link alone: what anything else prints goes to standard error."""
    requests, answers = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    sys.stdout.flush()
    os.dup2(2, 1)
    return Link(os.fdopen(requests, "rb"), os.fdopen(answers, "wb"))


class Reply:
    """The answer to one request, line by line."""

    def __init__(self, link: Link, id: int | None) -> None:
        self.link = link
        self.prefix = b'{"id":' + dumps(id) + b","
        self.count = 0

    def head(self, document: Any) -> None:
        """Open the answer."""
        self.line(b"head", document, flush=True)

    def progress(self, done: int, total: int) -> None:
        """Say that the request is being worked on."""
        self.line(b"progress", {"done": done, "total": total}, flush=True)

    def item(self, document: Any) -> None:
        """Send one item."""
        self.line(b"item", document, flush=False)
        self.count += 1

    def end(self, members: dict[str, Any]) -> None:
        """Close the answer: it is complete."""
        self.line(b"end", {"count": self.count, **members}, flush=True)

    def error(self, error: SidecarError) -> None:
        """Close the answer: it failed."""
        self.line(b"error", error.document(), flush=True)

    def line(self, member: bytes, document: Any, *, flush: bool) -> None:
        """Write one line of the answer."""
        self.link.send(self.prefix + b'"' + member + b'":' + dumps(document) + b"}\n", flush=flush)


class Heartbeat:
    """Sends progress while a block works, also where the work says nothing for long."""

    def __init__(self, reply: Reply) -> None:
        self.reply = reply
        self.state = (0, 0)
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.beat, daemon=True)

    def at(self, done: int, total: int) -> None:
        """Note how far the work is."""
        self.state = (done, total)

    def beat(self) -> None:
        """Send the state until the block ends."""
        # When nobody reads any more, the block notices by itself: its work is worth finishing.
        with suppress(Closed):
            while not self.over.wait(HEARTBEAT_SECONDS):
                self.reply.progress(*self.state)

    def __enter__(self) -> "Heartbeat":
        self.thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self.over.set()
        self.thread.join()
