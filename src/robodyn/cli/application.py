"""The command line: one command a file, each parses, calls one function and prints.

Exit codes: 0 done, 2 bad input, 3 a simulation that could not be carried through, 130 interrupted.
"""

from __future__ import annotations

import json
import math
import warnings
from typing import Any

import typer
from rich.console import Console
from typer.core import TyperGroup

from robodyn.errors import ModelError

BAD_INPUT, SIMULATION_FAILED, INTERRUPTED = 2, 3, 130

output = Console(highlight=False, soft_wrap=True, emoji=False)
messages = Console(stderr=True, highlight=False, soft_wrap=True, emoji=False)


class Commands(TyperGroup):
    """All commands; bad input ends with its message and exit code 2, an interrupt with 130."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except ModelError as error:
            raise fail(error) from error
        except KeyboardInterrupt as error:
            messages.print("robodyn: interrupted")
            raise typer.Exit(INTERRUPTED) from error


app = typer.Typer(
    name="robodyn",
    cls=Commands,
    help="Realistic dynamic simulation of robots.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def fail(message: object) -> typer.Exit:
    """Say what is wrong with the input on stderr; raise the returned exit."""
    messages.print(f"robodyn: {message}", markup=False)
    return typer.Exit(BAD_INPUT)


def print_json(value: Any) -> None:
    """Print standard JSON, which knows no NaN or infinity: they are written as null."""
    print(json.dumps(_finite(value), indent=2, allow_nan=False))


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def main() -> None:
    """Entry point; what the library warns of is told like everything else, in one line."""
    warnings.formatwarning = lambda message, *_: f"robodyn: warning: {message}\n"
    app()
