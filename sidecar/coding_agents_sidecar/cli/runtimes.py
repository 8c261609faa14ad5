"""``coding-agents runtimes``."""

import click

from . import options, output


@click.command(epilog=options.example("runtimes"))
@options.format_option("table", "json", "csv", "yaml")
def runtimes(format: str) -> None:
    """List the runtimes this program can read, and where it looks for their sessions."""
    rows = options.sidecar().runtimes()
    output.rows(rows, format, ["name", "title", "sources", "sessions", "roots"] if format == "table" else None)
