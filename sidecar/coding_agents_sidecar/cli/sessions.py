"""``coding-agents sessions …``."""

import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, get_args

import click

from ..errors import InvalidArgument
from ..model import Kind, Status
from . import options, output

TABLE = ["unified_id", "project_path", "started_at", "status", "turn_count", "model", "token_total", "cost_usd", "title"]
"""Columns of a table when no others are asked for; the other formats print all."""

STATUSES, KINDS = get_args(Status), get_args(Kind)
LIMIT = 100
REDRAW_SECONDS = 0.1


@click.group(invoke_without_command=True)
@click.pass_context
def sessions(ctx: click.Context) -> None:
    """List, read and index sessions."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


@sessions.command("list", epilog=options.example("sessions list --runtime=claude-code --since=7d"))
@options.filter_option("runtime", "Only these runtimes.")
@click.option("--project", metavar="PATH", help="Only this folder; all below it when it ends in '/'; or basename:NAME.")
@options.time_option("since", "Started then or later: Unix seconds, ISO 8601, or an age: 7d, 12h.")
@options.time_option("until", "Started then or earlier; a bare date includes that day.", last=True)
@options.filter_option("model", "Only sessions whose last model is one of these.")
@options.filter_option("status", f"Only these of {', '.join(STATUSES)}.", *STATUSES)
@options.filter_option("kind", f"Only these of {', '.join(KINDS)}; without it, sessions.", *KINDS)
@options.filter_option("host", "Only rows with these host labels.")
@click.option("--sort", type=click.Choice(["date", "cost", "turns", "tokens"]), default="date", show_default=True)
@click.option("--order", type=click.Choice(["desc", "asc"]), default="desc", show_default=True)
@click.option("--limit", type=click.IntRange(1, 10**9), metavar="N", help=f"At most so many; without it, {LIMIT}.")
@click.option("--all", "everything", is_flag=True, help="Without a limit, and with sub-agents.")
@click.option("--fields", metavar="LIST", help="The columns, separated by commas, out of those of --format=csv.")
@options.format_option("table", "json", "csv", "yaml", "ids", "count")
def list_(
    runtime: tuple[str, ...],
    kind: tuple[str, ...],
    limit: int | None,
    everything: bool,
    fields: str | None,
    format: str,
    **filters: Any,
) -> None:
    """List indexed sessions, newest first."""
    from ..ops import ListQuery

    shown = columns(fields, format)
    bound = limit or (None if everything or format == "count" else LIMIT)
    sidecar = options.sidecar()
    query = ListQuery(
        runtimes=runtime,
        kinds=kind or (() if everything else ("session",)),
        limit=None if bound is None else bound + 1,
        project=filters["project"],
        since=filters["since"],
        until=filters["until"],
        models=filters["model"],
        statuses=filters["status"],
        hosts=filters["host"],
        sort=filters["sort"],
        order=filters["order"],
    )
    found = sidecar.list(query)
    if bound is not None and len(found) > bound:
        found = found[:bound]
        output.words(f"There are more than these {bound}: --limit=N or --all shows them.")
    if not found and sidecar.ledger.meta("last_pass") is None and not sidecar.list(ListQuery(kinds=(), limit=1)):
        output.words("Nothing is indexed yet: coding-agents sessions reindex does it.")
    if format == "count":
        output.emit([f"{len(found)}\n".encode()])
    elif format == "ids":
        output.emit(output.line(row["unified_id"]) for row in found)
    else:
        output.rows(found, format, shown)


def columns(fields: str | None, format: str) -> list[str]:
    """Return the columns to print."""
    from ..ledger.queries import LISTED

    if fields is None:
        return TABLE if format == "table" else list(LISTED)
    names = [name.strip() for name in fields.split(",") if name.strip()]
    wrong = [name for name in names if name not in LISTED]
    if wrong or not names:
        raise InvalidArgument(f"there is no field {wrong[0]!r}" if wrong else "--fields names no field")
    return names


@sessions.command(epilog=options.example("sessions read claude-code:5b1f0d0a-7c1e-4a57-9d55-1f2a3b4c5d6e --format=jsonl"))
@click.argument("id")
@click.option("--host", help="The host label of its row.")
@click.option("--origin", help="The store it lies in; '' is the runtime's default one.")
@click.option("--raw", is_flag=True, help="With the runtime's own records.")
@click.option(
    "--format", type=click.Choice(["json", "jsonl"]), default="json", show_default=True, help="One object, or a line each."
)
def read(id: str, host: str | None, origin: str | None, raw: bool, format: str) -> None:
    """Read a whole session from its source.

    ID is <runtime>:<native id>, or a native id or its beginning, if only one session has it.
    """
    sidecar = options.sidecar()
    runtime, store, session_id = sidecar.resolve(id, host, origin)
    head, messages = sidecar.read(runtime, session_id, store, raw)
    output.emit((whole if format == "json" else lines)(head, messages))


def whole(head: dict[str, Any], messages: Iterator[dict[str, Any]]) -> Iterator[bytes]:
    """Yield a session as one JSON object, message by message."""
    from ..service.documents import dumps

    yield dumps(head)[:-1] + b',"messages":['
    for index, message in enumerate(messages):
        yield (b"," if index else b"") + dumps(message)
    yield b"]}\n"


def lines(head: dict[str, Any], messages: Iterator[dict[str, Any]]) -> Iterator[bytes]:
    """Yield a session as JSON lines: first everything but its messages, then these."""
    from ..service.documents import dumps

    yield dumps(head) + b"\n"
    for message in messages:
        yield dumps(message) + b"\n"


@sessions.command(epilog=options.example("sessions reindex --runtime=claude-code,opencode"))
@options.filter_option("runtime", "Only these runtimes.")
@click.option("--project", metavar="PATH", help="Only this folder; all below it when it ends in '/'; or basename:NAME.")
@click.option("--full", is_flag=True, help="Read every source again, also those that have not changed.")
@click.option("--dry-run", is_flag=True, help="Say what would change, and change nothing.")
@options.format_option("table", "json")
def reindex(runtime: tuple[str, ...], project: str | None, full: bool, dry_run: bool, format: str) -> None:
    """Look for new and changed sessions."""
    progress = progress_bar() if sys.stderr.isatty() else None
    report = options.sidecar().reindex(runtimes=runtime or None, project=project, full=full, dry_run=dry_run, progress=progress)
    if progress:
        click.echo("\r\x1b[K", err=True, nl=False)
    report.pop("floor")
    if format == "json":
        output.document(report)
        return
    for failure in report["failed"]:
        output.words(f"{failure['code']} {failure['runtime']} {failure['source']}: {failure['message']}")
    row = {**report, "failed": len(report["failed"])}
    output.rows([row], format, list(row))


def progress_bar() -> Callable[[int, int], None]:
    """Return a function that shows progress on a terminal, not oftener than eyes can follow."""
    shown = 0.0

    def draw(done: int, total: int) -> None:
        nonlocal shown
        if time.monotonic() - shown >= REDRAW_SECONDS:
            shown = time.monotonic()
            click.echo(f"\r{done} of {total} sources", err=True, nl=False)

    return draw


@sessions.command(epilog=options.example("sessions prune --missing --yes"))
@click.option("--missing", is_flag=True, required=True, help="Forget the sessions whose source is gone.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@options.format_option("ids", "json")
def prune(missing: bool, yes: bool, format: str) -> None:
    """Forget the sessions that nothing on disk holds any more; their numbers are lost. Prints which."""
    sidecar = options.sidecar()
    if not yes:
        if not sys.stdin.isatty():
            raise InvalidArgument("there is no terminal to ask on: --yes is needed")
        count = len(sidecar.prune(None, dry_run=True))
        if not click.confirm(f"Forget {count} sessions?", err=True):
            return
    gone = [
        {"unified_id": f"{runtime}:{session_id}", "runtime": runtime, "origin": origin, "session_id": session_id}
        for runtime, origin, session_id in sidecar.prune(None)
    ]
    if format == "json":
        output.document(gone)
    else:
        output.emit(output.line(one["unified_id"]) for one in gone)
    output.words(f"{len(gone)} sessions forgotten.")
