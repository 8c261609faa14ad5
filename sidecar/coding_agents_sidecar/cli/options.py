"""What the commands share on their way in: option types, and the object that does the work."""

import math
import re
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from ..ops import Sidecar

Command = TypeVar("Command", bound=Callable[..., Any])
UNITS = {"d": timedelta(days=1), "h": timedelta(hours=1)}


def sidecar() -> "Sidecar":
    """Return the object behind every command; it is closed with the command.

    Raises:
        InvalidArgument: the environment holds a setting that makes no sense.
    """
    from ..config import Settings
    from ..ops import Sidecar

    sidecar = Sidecar(Settings.from_environ())
    click.get_current_context().call_on_close(sidecar.close)
    return sidecar


def example(command: str) -> str:
    """Return the end of a command's help."""
    return f"\b\nExample:\n  $ coding-agents {command}"


def format_option(*formats: str) -> Callable[[Command], Command]:
    """Return ``--format``; the first one is the default, whatever standard output is."""
    return click.option("--format", type=click.Choice(formats), default=formats[0], show_default=True, help="How to print it.")


def filter_option(name: str, help: str, *choices: str) -> Callable[[Command], Command]:
    """Return a filter that may be repeated and takes several values separated by commas; it passes on a tuple."""

    def split(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
        # A value that is empty as a whole is one: the host label '' is the default one.
        found = [part.strip() for value in values for part in (value.split(",") if value.strip(" ,") else [""])]
        wrong = [part for part in found if choices and part not in choices]
        if wrong:
            raise click.BadParameter(f"{wrong[0]!r} is not one of {', '.join(choices)}", ctx, param)
        return tuple(dict.fromkeys(found))

    return click.option(f"--{name}", multiple=True, callback=split, metavar="LIST", help=f"{help} Repeat it or use commas.")


def time_option(name: str, help: str, *, last: bool = False) -> Callable[[Command], Command]:
    """Return an option for a point in time; it passes on Unix seconds.

    Args:
        last: a bare date means the last second of that day instead of the first.
    """

    def convert(ctx: click.Context, param: click.Parameter, value: str | None) -> int | None:
        try:
            return None if value is None else seconds(value, last=last)
        except (ValueError, OverflowError):
            wrong = f"{value!r} is neither Unix seconds nor ISO 8601 nor an age such as 7d or 12h"
            raise click.BadParameter(wrong, ctx, param) from None

    return click.option(f"--{name}", metavar="TIME", callback=convert, help=help)


def seconds(value: str, *, last: bool) -> int:
    """Return Unix seconds for seconds, ISO 8601, or an age such as ``7d`` or ``12h``. Without an offset it is local time.

    Raises:
        ValueError, OverflowError: it is none of them.
    """
    if re.fullmatch(r"\d{1,11}", value, re.ASCII):
        return int(value)
    if age := re.fullmatch(r"(\d{1,6})([dh])", value, re.ASCII):
        return int((datetime.now().astimezone() - int(age[1]) * UNITS[age[2]]).timestamp())
    moment = datetime.fromisoformat(value)
    if last and re.fullmatch(r"\d{4}-\d\d-\d\d", value, re.ASCII):
        return int((moment + timedelta(days=1)).timestamp()) - 1
    return math.floor(moment.timestamp())
