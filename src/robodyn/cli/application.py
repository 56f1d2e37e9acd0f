"""Command-line application: one command a file, each parses, calls one function and prints.

A file is imported when its command is called, what it needs when it comes to that: a mistake is reported at once.
Exit codes: 0 done, 2 bad input, 3 a simulation that could not be carried through, 130 interrupted.
"""

from __future__ import annotations

import json
import math
import sys
import warnings
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperGroup

from robodyn.errors import ModelError

if TYPE_CHECKING:
    from rich.console import Console

BAD_INPUT, SIMULATION_FAILED, INTERRUPTED = 2, 3, 130

COMMANDS = (
    "bode", "budget", "check", "circle", "compare", "cosim", "data", "design", "dress", "excite", "export", "fit",
    "identify", "import", "info", "list", "loops", "modes", "move", "new", "perturb", "plot", "report", "reproduce",
    "run", "schema", "sensitivity", "sheet", "show", "step", "studio", "sweep", "tune", "validate", "view",
)  # fmt: skip
"""Each is a module of this package, which registers it."""


class Printer:
    """Prints to a stream; rich takes long to load and comes only where there is more than plain text."""

    def __init__(self, stderr: bool = False) -> None:
        self.stderr = stderr

    @cached_property
    def console(self) -> Console:
        from rich.console import Console

        return Console(stderr=self.stderr, highlight=False, soft_wrap=True, emoji=False)

    def print(self, what: object, markup: bool = True) -> None:
        # With a console there may be a bar at the bottom of the screen, above which it prints.
        if markup or "console" in self.__dict__:
            self.console.print(what, markup=markup)
        else:
            print(what, file=sys.stderr if self.stderr else sys.stdout, flush=True)


output, messages = Printer(), Printer(stderr=True)


class Commands(TyperGroup):
    """All commands; bad input ends with its message and exit code 2, an interrupt with 130."""

    def list_commands(self, ctx: Any) -> list[str]:
        self._load(*COMMANDS)
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        # One that is misspelt is compared with all.
        self._load(*([cmd_name] if cmd_name in COMMANDS else COMMANDS))
        return super().get_command(ctx, cmd_name)

    def _load(self, *names: str) -> None:
        missing = [name for name in names if name not in self.commands]
        for name in missing:
            import_module(f"robodyn.cli.{name}")
        if missing:
            made: Any = typer.main.get_command(app)
            self.commands.update(made.commands)

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except ModelError as error:
            raise fail(error) from error
        except KeyboardInterrupt as error:
            messages.print("robodyn: interrupted", markup=False)
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


@app.callback(help=app.info.help)
def _start() -> None:
    """Makes a group of commands even before any is loaded."""


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
    """Entry point; what the library warns of is reported like everything else, in one line."""
    warnings.formatwarning = lambda message, *_: f"robodyn: warning: {message}\n"
    app()
