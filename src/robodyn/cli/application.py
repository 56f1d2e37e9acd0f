"""Command-line application: one command a file, each parses, calls one function and prints.

A file is imported when its command is called, what it needs when it comes to that: a mistake is reported at once.
Exit codes: 0 done, 2 bad input, 3 a simulation that could not be carried through, 130 interrupted.
"""

from __future__ import annotations

import gc
import json
import math
import sys
import warnings
from collections.abc import Iterable, Sequence
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from robodyn.base.errors import Flaw, ModelError
from robodyn.cli.commands import COMMANDS, GROUPS, examples_of

if TYPE_CHECKING:
    from rich.console import Console

BAD_INPUT, SIMULATION_FAILED, INTERRUPTED = 2, 3, 130

# Of click, which typer once required and now carries inside.
UsageError: Any = typer.BadParameter.__base__


class Printer:
    """Prints to a stream; rich takes long to load and comes only where there is more than plain text."""

    def __init__(self, stderr: bool = False) -> None:
        self.stderr = stderr

    @cached_property
    def console(self) -> Console:
        from rich.console import Console

        return Console(stderr=self.stderr, highlight=False, soft_wrap=True, emoji=False)

    def print(self, what: object, markup: bool = False) -> None:
        # With a console there may be a bar at the bottom of the screen, above which it prints.
        if markup or "console" in self.__dict__:
            self.console.print(what, markup=markup)
        else:
            print(what, file=sys.stderr if self.stderr else sys.stdout, flush=True)


output, messages = Printer(), Printer(stderr=True)


class BadInput(typer.Exit):
    """The end of a command whose input is wrong: what is wrong, as flaws and in words."""

    def __init__(self, message: str, flaws: Sequence[Flaw] = (), source: str = "") -> None:
        super().__init__(BAD_INPUT)
        self.message, self.flaws, self.source = message, tuple(flaws) or (Flaw("", message),), source

    def to_plain(self) -> dict[str, Any]:
        problems = [{"place": flaw.path, "what": flaw.what, "remedy": flaw.remedy} for flaw in self.flaws]
        return {"kind": "bad_input", "exit_code": BAD_INPUT, "source": self.source, "problems": problems}


class Commands(TyperGroup):
    """All commands; bad input ends with its message and exit code 2, an interrupt with 130."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(COMMANDS)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """The commands by group, each with a line of its own; none is loaded for that."""
        for title, group in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl(list(group.items()))

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        # One that is misspelt is compared with all.
        self._load(*([cmd_name] if cmd_name in COMMANDS else COMMANDS))
        found = super().get_command(ctx, cmd_name)
        if found is not None and not found.epilog:
            found.epilog = _show_examples(cmd_name)
        return found

    def _load(self, *names: str) -> None:
        style: dict[str, Any] = {"pretty_exceptions_short": True, "rich_markup_mode": app.rich_markup_mode}
        for name in names:
            if name not in self.commands:
                import_module(f"robodyn.cli.{name}")
                (info,) = (info for info in app.registered_commands if info.name == name)
                self.commands[name] = typer.main.get_command_from_info(info, **style)

    def invoke(self, ctx: Any) -> Any:
        as_json = "--json" in ctx.args
        try:
            return super().invoke(ctx)
        except ModelError as error:
            raise _report(BadInput(str(error), error.flaws, error.source), as_json) from error
        except BadInput as error:
            raise _report(error, as_json) from error
        except UsageError as error:
            if as_json:
                print_json({"error": BadInput(error.format_message()).to_plain()})
            raise
        except KeyboardInterrupt as error:
            messages.print("robodyn: interrupted")
            if as_json:
                print_json({"error": {"kind": "interrupted", "exit_code": INTERRUPTED}})
            raise typer.Exit(INTERRUPTED) from error


def _show_examples(command: str) -> str:
    """Examples below a command's help, their lines left as they are."""
    lines = examples_of(command)
    return "\n".join(["\b", "Examples:", *(f"  {line}" for line in lines)]) if lines else ""


def _report(error: BadInput, as_json: bool) -> BadInput:
    """Say what is wrong on stderr and, where JSON was asked for, as JSON on stdout too."""
    messages.print(f"robodyn: {error.message}")
    if as_json:
        print_json({"error": error.to_plain()})
    return error


app = typer.Typer(
    name="robodyn",
    cls=Commands,
    help="Realistic dynamic simulation of robots.",
    epilog="robodyn COMMAND --help shows options and examples; robodyn guide is a tour of all of them.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _print_version(asked: bool) -> None:
    if asked:
        from robodyn import __version__

        output.print(f"robodyn {__version__}")
        raise typer.Exit


@app.callback(help=app.info.help)
def _start(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Makes a group of commands even before any is loaded."""


def fail(message: object) -> BadInput:
    """The end of a command with what is wrong with its input; raise it."""
    return BadInput(str(message))


def report_files(paths: Iterable[Path], as_json: bool, lines: Sequence[str] = ()) -> None:
    """Say which files were written, and what is to be said of them; as lines or as JSON."""
    written = [str(path) for path in paths]
    if as_json:
        print_json({"files": written, "notes": list(lines)})
    else:
        output.print("\n".join(lines or written))


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
    # What is loaded stays: looking through it again and again for what could go takes a twentieth of a start.
    gc.set_threshold(100_000)
    warnings.formatwarning = lambda message, *_: f"robodyn: warning: {message}\n"
    app()
