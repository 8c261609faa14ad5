"""The program ``coding-agents``: runs a command and turns what goes wrong into words and an exit status."""

import json
import os
import sys
from collections.abc import Sequence
from itertools import pairwise

import click

from . import log
from .cli import coding_agents, output
from .errors import InvalidArgument, SidecarError
from .formats import text

INTERRUPTED = 130


def main() -> None:
    """Run the program."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit status."""
    try:
        log.setup(os.environ, default="warning")
        return coding_agents.main(arguments, prog_name="coding-agents", standalone_mode=False) or 0
    except (click.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except click.UsageError as error:
        said = error.format_message()
        hint = f" See '{error.ctx.command_path} --help'." if error.ctx else ""
        failure: SidecarError = InvalidArgument((said if said.endswith((".", "?")) else said + ".") + hint)
    except click.ClickException as error:
        failure = InvalidArgument(error.format_message())
    except SidecarError as error:
        failure = error
    except Exception as error:
        failure = log.surprise(error)
    report(failure, as_json=wants_json(arguments))
    return failure.exit_code


def report(error: SidecarError, *, as_json: bool) -> None:
    """Print an error to standard error."""
    document = error.document()
    if as_json:
        click.echo(json.dumps(text.clean_json({"error": document})), err=True)
        return
    output.words(f"Error: {error}")
    for candidate in document.get("candidates", ()):
        output.words(f"  {candidate}")


def wants_json(arguments: Sequence[str]) -> bool:
    """Tell whether the caller asked for JSON, also where the rest of the command line is wrong."""
    return "--format=json" in arguments or ("--format", "json") in pairwise(arguments)


if __name__ == "__main__":
    main()
