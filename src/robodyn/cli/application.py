"""Command-line application: what is printed where, how a command ends, and which commands there are.

A module is imported when one of its commands is called, what it needs when it comes to that: a mistake is reported at
once. Exit codes: 0 done, 2 bad input, 3 a simulation that could not be carried through, 130 interrupted.
"""

from __future__ import annotations

import gc
import json
import re
import shutil
import sys
import warnings
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from robodyn.base import Flaw, ModelError, Unreadable, clear_line, to_plain

BAD_INPUT, SIMULATION_FAILED, INTERRUPTED = 2, 3, 130
MODULES = ("run", "describe", "look", "studio", "linear", "analyse", "sweep", "measure", "export")
"""Modules of this package with commands; one that is called like its module is found at once."""

# Of click, which typer once required and now carries inside.
UsageError: Any = typer.BadParameter.__base__


class Printer:
    """Prints to a stream, in place of the progress line; on a terminal lines of messages fit its width."""

    def __init__(self, stderr: bool = False) -> None:
        self.stderr = stderr

    def print(self, text: str) -> None:
        width = shutil.get_terminal_size().columns
        if self.stderr and sys.stderr.isatty() and any(len(line) > width for line in text.split("\n")):
            from robodyn.presentation.reporting.displays import wrap_text

            text = "\n".join(wrap_text(text, width))
        clear_line()
        print(text, file=sys.stderr if self.stderr else sys.stdout, flush=True)


output, messages = Printer(), Printer(stderr=True)


def print_json(value: Any) -> None:
    """Print a value as standard JSON."""
    clear_line()
    print(json.dumps(to_plain(value), indent=2, allow_nan=False))


class BadInput(typer.Exit):
    """The end of a command whose input is wrong: what is wrong, as flaws and in words."""

    def __init__(self, message: str, flaws: Sequence[Flaw] = (), source: str = "") -> None:
        super().__init__(BAD_INPUT)
        self.message, self.flaws, self.source = message, tuple(flaws) or (Flaw("", message),), source

    def to_plain(self) -> dict[str, Any]:
        problems = [{"place": flaw.path, "what": flaw.what, "remedy": flaw.remedy} for flaw in self.flaws]
        return {"kind": "bad_input", "exit_code": BAD_INPUT, "source": self.source, "problems": problems}


def fail(message: object) -> BadInput:
    """The end of a command with what is wrong with its input; raise it."""
    return BadInput(str(message))


# The guide names all commands, by group and with a line each, and has examples that a test runs.


@cache
def read_guide() -> str:
    """The guide, as it is printed."""
    return Path(__file__).with_name("guide.md").read_text(encoding="utf-8")


@cache
def command_groups() -> dict[str, dict[str, str]]:
    """Purposes of all commands by group, in the order of the help: `- **Run**`, below it `    - `run`: ...`."""
    groups: dict[str, dict[str, str]] = {}
    for line in read_guide().splitlines():
        if title := re.fullmatch(r"- \*\*(.+)\*\*", line):
            groups[title[1]] = {}
        elif (entry := re.fullmatch(r" +- `(\w+)`: (.+)", line)) and groups:
            list(groups.values())[-1][entry[1]] = entry[2]
    return groups


def command_names() -> list[str]:
    """All commands."""
    return [name for group in command_groups().values() for name in group]


def examples_of(command: str) -> list[str]:
    """Lines of the guide that call this command."""
    lines = [line.removeprefix("$ ") for line in read_guide().splitlines() if line.startswith("$ robodyn ")]
    return [line for line in lines if line.split()[1] == command]


class Commands(TyperGroup):
    """All commands; bad input ends with its message and exit code 2, an interrupt with 130."""

    def list_commands(self, ctx: Any) -> list[str]:
        return command_names()

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """The commands by group, each with a line of its own; none is loaded for that."""
        for title, group in command_groups().items():
            with formatter.section(title):
                formatter.write_dl(list(group.items()))

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        # One that is misspelt is compared with all.
        for name in [cmd_name] if cmd_name in command_names() else command_names():
            if name not in self.commands:
                style: dict[str, Any] = {"pretty_exceptions_short": True, "rich_markup_mode": app.rich_markup_mode}
                self.commands[name] = typer.main.get_command_from_info(load_command(name), **style)
        found = super().get_command(ctx, cmd_name)
        if found is not None and not found.epilog:
            # Examples stand below the help, their lines as they are.
            lines = examples_of(cmd_name)
            found.epilog = "\n".join(["\b", "Examples:", *(f"  {line}" for line in lines)]) if lines else ""
        return found

    def invoke(self, ctx: Any) -> Any:
        as_json = "--json" in ctx.args
        try:
            return super().invoke(ctx)
        except ModelError as error:
            raise _report(BadInput(str(error), error.flaws, error.source), as_json) from error
        except BadInput as error:
            raise _report(error, as_json) from error
        except Unreadable as error:
            # Signals of a run file are read when they are asked for.
            raise _report(fail(error), as_json) from error
        except UsageError as error:
            if as_json:
                print_json({"error": BadInput(error.format_message()).to_plain()})
            raise
        except KeyboardInterrupt as error:
            messages.print("; ".join(["robodyn: interrupted", *vars(error).get("__notes__", ())]))
            if as_json:
                print_json({"error": {"kind": "interrupted", "exit_code": INTERRUPTED}})
            raise typer.Exit(INTERRUPTED) from error


def load_command(name: str) -> Any:
    """A command as it registers itself when its module is loaded."""
    for module in sorted(MODULES, key=lambda module: module != name):
        import_module(f"robodyn.cli.{module}")
        registered = {info.name: info for info in app.registered_commands}
        if name in registered:
            return registered[name]
    raise KeyError(name)


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
    # Of itself help is never wider than 80 letters.
    context_settings={"max_content_width": shutil.get_terminal_size().columns},
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


def main() -> None:
    """Entry point; what the library warns of is reported like everything else, in one line."""
    # What is loaded stays: looking through it again and again for what could go takes a twentieth of a start.
    gc.set_threshold(100_000)
    warnings.showwarning = lambda message, *_: messages.print(f"robodyn: warning: {message}")
    app()
