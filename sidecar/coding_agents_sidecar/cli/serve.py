"""``coding-agents serve``: the other end of the WordPress plugin's link."""

import os

import click

from .. import log
from . import options

EXAMPLE = """\b
Example:
  $ echo '{"v":1,"id":1,"op":"hello","args":{}}' | coding-agents serve --stdio"""


@click.command(epilog=EXAMPLE)
@click.option("--stdio", is_flag=True, required=True, help="Read requests from standard input, answer on standard output.")
def serve(stdio: bool) -> None:
    """Answer the WordPress plugin's requests until its end of the link closes."""
    # The modules of the service are the only ones that need pydantic, which takes longer to import than most commands run.
    from ..service import link, server

    log.setup(os.environ, default="info")
    server.Server(options.sidecar(), link.stdio()).run()
