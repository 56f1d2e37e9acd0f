"""Answers of commands: what was found as text, as JSON, as a picture or in a file; errors of that as messages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

from robodyn.cli.application import fail, output, print_json


def answer(as_json: bool, plain: Callable[[], Any], text: Callable[[], str]) -> None:
    """What was found, as JSON or as text."""
    if as_json:
        print_json(plain())
    else:
        output.print(text())


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


@contextmanager
def drawing(option: str = "") -> Iterator[None]:
    """Errors of drawing as messages."""
    try:
        with needing(option or "a picture", "plot"), writing(option):
            yield
    except (KeyError, ValueError) as error:
        raise fail(f"{option}: {error.args[0]}" if option else error.args[0]) from error


def draw(option: str, path: Path | None, write: Callable[[Any, Path], object]) -> None:
    """A picture or page by a function of `robodyn.presentation.reporting`, where one is asked for."""
    if path is not None:
        with drawing(f"{option} {path}".strip()):
            from robodyn.presentation import reporting

            write(reporting, path)
