"""The command line: one command a file, each parses, calls one function and prints."""

from __future__ import annotations

import sys

import typer
from rich.console import Console

from robodyn.errors import ModelError

BAD_INPUT, SIMULATION_FAILED = 2, 3

app = typer.Typer(
    name="robodyn",
    help="Realistic dynamic simulation of robots.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
output = Console(highlight=False, soft_wrap=True)
messages = Console(stderr=True, highlight=False, soft_wrap=True)


def fail(message: object) -> typer.Exit:
    """Say what is wrong with the input on stderr; raise the returned exit."""
    messages.print(f"robodyn: {message}", markup=False)
    return typer.Exit(BAD_INPUT)


def main() -> None:
    """Entry point: bad input ends with its message and exit code 2, an interrupt with 130."""
    try:
        app()
    except ModelError as error:
        messages.print(f"robodyn: {error}", markup=False)
        sys.exit(BAD_INPUT)
    except KeyboardInterrupt:
        messages.print("robodyn: interrupted")
        sys.exit(130)
