"""``coding-agents doctor`` and ``coding-agents ping``: is everything well?"""

import click

from . import options, output

FIELDS = ["check", "status", "message"]


@click.command(epilog=options.example("doctor"))
@options.format_option("table", "json")
def doctor(format: str) -> None:
    """Check the ledger, the runtimes' folders and what could not be read."""
    health, checks = options.sidecar().doctor()
    if format == "json":
        output.document({"health": health, "checks": checks})
    else:
        output.rows(checks, format, FIELDS)
        output.words(f"Health: {health}.")


@click.command(epilog=options.example("ping"))
@options.format_option("table", "json")
def ping(format: str) -> None:
    """Say that the program works, and which versions of protocol, table and session document it speaks."""
    hello = options.sidecar().hello()
    if format == "json":
        output.document(hello)
    else:
        output.rows([{"name": name, "value": value} for name, value in hello.items()], format, ["name", "value"])
