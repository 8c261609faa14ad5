"""The command line: parses options, calls one method, prints. A command's module is imported when it is asked for."""

import importlib
from typing import Any

import click

from .. import __version__


class Nouns(click.Group):
    """A group whose commands are imported when they are needed.

    Args:
        places: command -> ``module:function`` in this package.
    """

    def __init__(self, *args: Any, places: dict[str, str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.places = places

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.places)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.places:
            return None
        module, _, name = self.places[cmd_name].partition(":")
        command: click.Command = getattr(importlib.import_module(f".{module}", __package__), name)
        return command


@click.group(
    cls=Nouns,
    places={
        "sessions": "sessions:sessions",
        "runtimes": "runtimes:runtimes",
        "doctor": "doctor:doctor",
        "ping": "doctor:ping",
        "serve": "serve:serve",
    },
    invoke_without_command=True,
)
@click.version_option(__version__, prog_name="coding-agents", message="%(prog)s %(version)s")
@click.pass_context
def coding_agents(ctx: click.Context) -> None:
    """Sessions of coding agents, read where the agents keep them."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())
