"""Commands: a function that returns a result becomes a command which shows it.

    @command("loops", plot="Draw the gains over frequency into this file.")
    def loops(scenario: str, loop: Texts = (), at: str = "start") -> LoopTable:
        '''Cut each loop of the sampled controllers and print its margins.

        scenario: Name in the catalogue, or a TOML file.
        loop: SIGNAL, or SIGNAL:TARGET:ANSWER: where to cut.
        at: Where to linearise: start or equilibrium.
        '''
        return loop_table(load_system(scenario), read_loops(loop), at=at)

Parameters without a default are arguments, others options; a name in parentheses behind one is how it is called on
the command line (`--map`), or that it is an argument all the same. `--json` prints the result as JSON, whose schema
comes from its annotations; `--out FILE` writes it as a page or as JSON; `--plot FILE` and the like draw the pictures of
its display.
"""

from __future__ import annotations

import inspect
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import field
from pathlib import Path
from typing import Annotated, Any

import typer

from robodyn.base import WaitingLine, evaluate, frozen, schema_of, write_file
from robodyn.presentation.reporting.displays import Display, display, shows, to_text, write_display, write_picture

from .application import app, fail, messages, output, print_json

Texts = Sequence[str]
"""An option that may be given again and again."""
Paths = Sequence[Path]
PAGE = "Write the whole result to this file, as a page (.html) or as JSON (.json)."
RETURNED: dict[str, Callable[..., Any]] = {}
"""Functions of the commands that print JSON, by their names."""

COLLECTED: ContextVar[list[Any] | None] = ContextVar("results", default=None)
"""Where results go that nobody prints: a caller sets it to a list."""


@frozen
class Written:
    """Files that a command has written, and what is to be said of them."""

    files: Sequence[Path]
    notes: Sequence[str] = field(default_factory=list)


@shows
def show_files(written: Written) -> Display:
    return Display("Files", list(written.notes) or [str(path) for path in written.files])


def command(name: str, *, page: bool = True, json: bool = True, **pictures: str) -> Callable[..., Any]:
    """Decorator that makes a function a command.

    Args:
        page: whether there is an option --out; json: the same of --json. One that the function has itself is its own.
        pictures: option -> its help, for each picture of the display that can be written.
    """

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        about, texts = read_docstring(function)
        own = inspect.signature(function).parameters
        parameters = [_parameter(one, texts[one.name], function.__module__) for one in own.values()]
        added = {option: _option(Path | None, None, option, text) for option, text in pictures.items()}
        if pictures:
            added["dark"] = _option(bool, False, "dark", "Draw pictures for a dark page.")
        if page and "out" not in own:
            added["out"] = _option(Path | None, None, "out", PAGE)
        if json:
            RETURNED[name] = function
            if "as_json" not in own:
                added["as_json"] = _option(bool, False, "as_json", "Print JSON.", "--json")

        def call(**given: Any) -> None:
            asked = {option: given.pop(option) for option in added}
            files = {option: asked[option] for option in (*pictures, "out") if asked.get(option) is not None}
            if (out := files.get("out")) is not None:
                refuse_ending("--out", out, ".html", ".json")
            for option, path in files.items():
                refuse_unwritable(f"--{option}", path)
            # Of an option that may be given again and again Typer says None where it is not given.
            values = {name: () if own[name].default == () and not value else value for name, value in given.items()}
            # Whatever a command does, it says so where it takes more than a second.
            with WaitingLine("", transient=True):
                result = function(**values)
                if (results := COLLECTED.get()) is not None:
                    results.append(result)
                elif result is not None:
                    _answer(result, files, (asked | given).get("as_json", False), asked.get("dark", False))

        parameters += added.values()
        # Typer reads signature and annotations; arguments come first there.
        call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        call.__annotations__ = {one.name: one.annotation for one in parameters}
        app.command(name, help=about)(call)
        return function

    return register


def _answer(result: Any, files: dict[str, Path], as_json: bool, dark: bool) -> None:
    """Write what was asked for, then print: what cannot be written leaves nothing half said."""
    shown = display(result)
    for option, path in files.items():
        with drawing(f"--{option} {path}"):
            if option == "out":
                write_display(result, path)
            else:
                write_picture(shown, option, path, dark=dark)
    if as_json:
        print_json(result)
    else:
        tell(shown)
    # On a terminal the sentence already stands above the results.
    if shown.complaint and (as_json or not (sys.stdout.isatty() and sys.stderr.isatty())):
        messages.print(f"robodyn: {shown.complaint}")
    if shown.code:
        raise typer.Exit(shown.code)


COLOURS = {"good": "green", "fair": "yellow", "bad": "red"}


def tell(shown: Display) -> None:
    """A display in the shell: warnings and notes on standard error, all else on standard output.

    On a terminal lines fit its width, and verdicts have colours.
    """
    warn(shown.warnings)
    tell_notes(shown.notes)
    if not sys.stdout.isatty():
        if text := to_text(shown):
            output.print(text)
        return
    lines = to_text(shown, shutil.get_terminal_size().columns).split("\n")
    for number, line in enumerate(lines):
        colour = COLOURS.get(shown.verdict) if number == 0 else None
        if line.startswith("warning:"):
            colour = "yellow"
        elif "VIOLATED" in line:
            colour = "red"
        output.print(typer.style(line, fg=colour, bold=number == 0) if colour else line)


def warn(sentences: Sequence[str]) -> None:
    """Print warnings on stderr."""
    for sentence in sentences:
        messages.print(f"robodyn: warning: {sentence}")


def tell_notes(sentences: Sequence[str]) -> None:
    """Print on stderr what a result leaves out."""
    for sentence in sentences:
        messages.print(f"robodyn: note: {sentence}")


def read_docstring(function: Callable[..., Any]) -> tuple[str, dict[str, tuple[str, str]]]:
    """Read what a command does, and of each parameter its name on the command line, if it has one, and its help."""
    about, _, rest = (inspect.getdoc(function) or "").partition("\n\n")
    lines = re.findall(r"^(\w+)(?: \((.*?)\))?: (.*(?:\n +.*)*)", rest, re.MULTILINE)
    return " ".join(about.split()), {name: (called, " ".join(text.split())) for name, called, text in lines}


def _parameter(one: inspect.Parameter, how: tuple[str, str], module: str) -> inspect.Parameter:
    called, text = how
    kind = evaluate(one.annotation, module)
    default = one.default
    # Typer knows lists; a function gets the empty tuple where nothing is said.
    kind = {Texts: list[str], Paths: list[Path]}.get(kind, kind)
    if called.startswith("--"):
        return _option(kind, default, one.name, text, called)
    if called or default is one.empty:
        argument = typer.Argument(help=text, metavar=called if called.isupper() else None)
        return _typed(kind, default, one.name, argument)
    return _option(kind, default, one.name, text)


def _option(kind: Any, default: Any, name: str, text: str, called: str = "") -> inspect.Parameter:
    """An option; a switch that is off has no opposite."""
    if kind is bool and not default and not called:
        called = f"--{name.replace('_', '-')}"
    return _typed(kind, default, name, typer.Option(*([called] if called else []), help=text))


def _typed(kind: Any, default: Any, name: str, info: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, info])


def output_schema(name: str) -> dict[str, Any]:
    """The JSON Schema of what a command prints with `--json`, its errors included."""
    function = RETURNED[name]
    result = schema_of(evaluate(function.__annotations__["return"], function.__module__))
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"robodyn {name} --json",
        "anyOf": [*result.get("anyOf", [result]), schema_of(Failure)],
    }


@frozen
class Problem:
    """A fault of a file, key or option."""

    place: str
    what: str
    remedy: str


@frozen
class FailureKind:
    """How a command failed: bad_input or interrupted."""

    JSON = """
    kind: bad_input or interrupted
    exit_code
    source?: the file
    problems?
    """
    kind: str
    exit_code: int
    source: str | None = None
    problems: Sequence[Problem] | None = None


@frozen
class Failure:
    """The failure that is printed with `--json` instead of a result."""

    error: FailureKind


# Errors of what a command needs and writes, as messages.


@contextmanager
def needing(what: str, extra: str) -> Iterator[None]:
    """A package that is not installed as a message that names the extra of robodyn which brings it."""
    try:
        yield
    except ImportError as error:
        raise fail(f"{what} needs {error.name}: pip install 'robodyn[{extra}]'") from error


@contextmanager
def writing(option: str, extra: str = "") -> Iterator[None]:
    """Errors of writing a file as messages.

    Args:
        option: what on the command line asked for it; extra: of robodyn, that brings what writing it needs.
    """
    try:
        with needing(option, extra) if extra else nullcontext():
            yield
    except OSError as error:
        raise fail(f"{option or error.filename or 'the file'}: cannot be written: {error.strerror}") from error


def save_text(option: str, path: Path, text: str, what: str = "") -> None:
    """Write a text into the file that an option names, and say so."""
    with writing(f"{option} {path}"):
        write_file(path, text)
    messages.print(f"{what}: {path}" if what else str(path))


@contextmanager
def resumable(state: Path | None) -> Iterator[None]:
    """A task whose finished parts are in a file: Ctrl-C says how to go on."""
    try:
        yield
    except KeyboardInterrupt as error:
        how = "with --state FILE, the same command could have continued from here"
        if state is not None:
            how = f"finished parts are saved in {state}; run the same command again to continue"
        error.add_note(how)
        raise


@contextmanager
def drawing(option: str = "") -> Iterator[None]:
    """Errors of drawing as messages."""
    try:
        with needing(option or "a picture", "plot"), writing(option):
            yield
    except (KeyError, ValueError) as error:
        raise fail(f"{option}: {error.args[0]}" if option else error.args[0]) from error


def refuse_other(option: str, word: str, words: Sequence[str]) -> None:
    """Refuse an option's value that is none of a few words."""
    if word not in words:
        raise fail(f"{option} {word}: must be {' or '.join(words)}")


def refuse_ending(option: str, path: Path | None, *endings: str) -> None:
    """Refuse a file of another ending, or one that could not be written once the work is done."""
    if path is None:
        return
    if path.suffix not in endings:
        raise fail(f"{option} {path}: must end in {' or '.join(endings)}")
    refuse_unwritable(option, path)


def refuse_unwritable(option: str, path: Path) -> None:
    """Refuse a file that cannot be written: folders that are missing are made, where that is allowed."""
    folder = next(one for one in path.absolute().parents if one.exists())
    reason = ""
    if path.is_dir():
        reason = "is a folder"
    elif not folder.is_dir():
        reason = f"{folder} is not a folder"
    elif not os.access(folder, os.W_OK | os.X_OK) or (path.exists() and not os.access(path, os.W_OK)):
        reason = "permission denied"
    if reason:
        raise fail(f"{option} {path}: cannot be written: {reason}")
