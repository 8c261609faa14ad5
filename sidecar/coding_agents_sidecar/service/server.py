"""Answers the plugin's requests, one after the other. No request can end the loop."""

import logging
import time
from collections.abc import Iterable
from itertools import chain
from typing import Any

from .. import log as logs
from ..errors import InvalidArgument, SidecarError
from ..ops import ListQuery, Sidecar
from ..publish.rows import fitting
from . import wire
from .link import LIMIT, Closed, Heartbeat, Link, Reply

log = logging.getLogger(__name__)


class Server:
    """The operations over one link; those of ``wire.ARGUMENTS`` are methods, which return what the end says beside the count."""

    def __init__(self, sidecar: Sidecar, link: Link) -> None:
        self.sidecar = sidecar
        self.link = link

    def run(self) -> None:
        """Answer until the plugin closes its end of the link, or stops reading."""
        try:
            for line, whole in self.link.lines():
                if line.strip():
                    self.answer(line, whole)
        except Closed:
            log.warning("the plugin stopped reading")

    def answer(self, line: bytes, whole: bool) -> None:
        """Answer one request.

        Raises:
            Closed: nobody reads the answer.
        """
        began = time.monotonic()
        reply, op, outcome = Reply(self.link, wire.early_id(line)), None, "OK"
        try:
            if not whole:
                raise InvalidArgument(f"a request has at most {LIMIT >> 20} MiB")
            value = wire.decode(line)
            reply = Reply(self.link, wire.id_of(value))
            request = wire.request(value)
            arguments = wire.arguments(request)
            op = request.op
            reply.end(getattr(self, op)(arguments, reply))
        except Closed:
            raise
        except SidecarError as error:
            outcome = error.code
            reply.error(error)
        except Exception as error:
            failure = logs.surprise(error)
            outcome = failure.code
            reply.error(failure)
        ms = round((time.monotonic() - began) * 1000)
        log.info("request", extra={"op": op, "outcome": outcome, "items": reply.count, "ms": ms})

    def hello(self, _: wire.Nothing, reply: Reply) -> dict[str, Any]:
        """Say who this is and what it speaks."""
        reply.head(self.sidecar.hello())
        return {}

    def ping(self, _: wire.Nothing, reply: Reply) -> dict[str, Any]:
        """Say that the link works."""
        reply.head({})
        return {}

    def runtimes(self, _: wire.Nothing, reply: Reply) -> dict[str, Any]:
        """Send the runtimes."""
        return send({}, self.sidecar.runtimes(), reply)

    def doctor(self, _: wire.Nothing, reply: Reply) -> dict[str, Any]:
        """Send what the checks found."""
        health, checks = self.sidecar.doctor()
        return send({"health": health}, checks, reply)

    def reindex(self, args: wire.Reindex, reply: Reply) -> dict[str, Any]:
        """Bring the ledger up to date, then the table."""
        reply.head({})
        with Heartbeat(reply) as heartbeat:
            report = self.sidecar.reindex(
                runtimes=args.runtime, project=args.project, full=args.full, dry_run=args.dry_run, progress=heartbeat.at
            )
            floor = report.pop("floor")
            published, direct = 0, False
            if args.publish and not args.dry_run:
                published, direct = self.publish(args.publish, reply, report["failed"])
        return {"report": report, "published": published, "direct": direct, "floor": floor}

    def publish(self, target: wire.Publish, reply: Reply, failed: list[dict[str, Any]]) -> tuple[int, bool]:
        """Bring the table up to date; return how many rows went out and whether they were written here.

        Raises:
            IndexUnavailable: the database or its table cannot be written.
        """
        rows = fitting(self.sidecar.rows_above(target.revision), failed)
        first = next(rows, None)
        if first is None:
            return 0, target.database is not None
        rows = chain([first], rows)
        if target.database:
            from ..publish import mysql

            try:
                return mysql.publish(rows, target.database, target.table, int(time.time())), True
            except mysql.Unreachable as error:
                log.warning("streaming the rows instead", extra={"reason": str(error)})
        return stream(rows, reply), False

    def adopt(self, args: wire.Adopt, reply: Reply) -> dict[str, Any]:
        """Take in rows that the ledger does not know; send them as missing."""
        reply.head({})
        with Heartbeat(reply):
            adopted = self.sidecar.adopt([row.model_dump() for row in args.rows])
        stream(adopted, reply)
        return {}

    def list(self, args: wire.ListSessions, reply: Reply) -> dict[str, Any]:
        """Send the rows of ``sessions list``."""
        query = ListQuery(
            runtimes=args.runtime,
            project=args.project,
            since=args.since,
            until=args.until,
            models=args.model,
            statuses=args.status,
            kinds=args.kind,
            hosts=args.host,
            sort=args.sort,
            order=args.order,
            limit=args.limit,
        )
        return send({}, self.sidecar.list(query), reply)

    def titles(self, args: wire.Titles, reply: Reply) -> dict[str, Any]:
        """Send a title or null for each session, in order."""
        return send({}, self.sidecar.titles(args.sessions), reply)

    def read(self, args: wire.Read, reply: Reply) -> dict[str, Any]:
        """Send a session, message by message."""
        head, messages = self.sidecar.read(args.runtime, args.session_id, args.origin, args.raw)
        return send(head, messages, reply)

    def prune(self, args: wire.Prune, reply: Reply) -> dict[str, Any]:
        """Forget missing sessions; send their names."""
        reply.head({})
        with Heartbeat(reply):
            gone = self.sidecar.prune(args.sessions)
        stream(gone, reply)
        return {}


def send(head: dict[str, Any], items: Iterable[Any], reply: Reply) -> dict[str, Any]:
    """Send a head and its items; the end says no more than their count."""
    reply.head(head)
    stream(items, reply)
    return {}


def stream(items: Iterable[Any], reply: Reply) -> int:
    """Send items; return how many."""
    before = reply.count
    for item in items:
        reply.item(item)
    return reply.count - before
