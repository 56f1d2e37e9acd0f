"""Progress line: what is being done while one waits? On standard error, where work lasts longer than a second; in a
notebook, where that looks like a failure, on standard output.

The line is closed with the duration. Work within work is part of it and has no line of its own. The environment
variable ROBODYN_QUIET, or `with quietly():`, keeps all silent; so does a caller that listens to the progress itself.
"""

from __future__ import annotations

import contextlib
import math
import os
import shutil
import sys
import threading
import time
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TextIO, TypeVar

QUIET = "ROBODYN_QUIET"
QUIET_SECONDS = 1.0
SECONDS_BETWEEN_UPDATES = 0.1
LISTENERS = ("progress", "on_compile")
"""Arguments by which a caller asks to be informed, and then speaks by itself."""

P = ParamSpec("P")
R = TypeVar("R")


class WaitingLine:
    """Work under way: `with WaitingLine("fitting arm") as line: ...`, in which `line.update("3 of 10")` may be called.

    Args:
        watched: by another thread, which prints in time whatever the work does; otherwise only updates print.
    """

    def __init__(self, what: str, *, quiet: bool = False, watched: bool = True) -> None:
        self.what, self.quiet, self.watched = what, quiet, watched
        self.begun = self.due = math.inf

    def __enter__(self) -> WaitingLine:
        self.quiet = self.quiet or _work.depth > 0 or bool(os.environ.get(QUIET))
        self.begun = time.monotonic()
        self.due = self.begun + QUIET_SECONDS
        self.ended = False
        _work.depth += 1
        if self.watched and not self.quiet:
            _watcher.watch(self)
        return self

    def __exit__(self, *_: object) -> None:
        _work.depth -= 1
        _watcher.lines.pop(self, None)
        with _line.lock:
            self.ended = True
            _line.close(self, time.monotonic() - self.begun)

    def update(self, detail: str) -> None:
        """Say how far it is."""
        now = time.monotonic()
        if now >= self.due and not self.quiet:
            self.due = now + SECONDS_BETWEEN_UPDATES
            self.report(detail)

    def follow(self, duration: float, begin: float = 0.0) -> Callable[[float, float, int], None]:
        """Progress of a simulation: a function of (time, step, steps) that shows the simulated time."""
        return lambda now, step, steps: self.update(f"{now - begin:.3g} of {duration:g} s")

    def report(self, detail: str = "") -> None:
        """Show the line, unless the work has ended."""
        with _line.lock:
            if not self.ended:
                _line.show(self, detail)


def quietly() -> WaitingLine:
    """A block in which nothing is said."""
    return WaitingLine("", quiet=True)


def report_progress(doing: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorator of work on its first argument: shown as `doing` and the name of that, if it has one."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def report_and_call(*arguments: P.args, **named: P.kwargs) -> R:
            listened = any(named.get(key) is not None for key in LISTENERS)
            with WaitingLine(f"{doing} {_name_of(arguments)}".rstrip(), quiet=listened):
                return function(*arguments, **named)

        return report_and_call

    return decorate


def _name_of(arguments: tuple[Any, ...]) -> str:
    match arguments:
        case (object(scenario=object(name=str(name))), *_) | (object(name=str(name)), *_):
            return name
    return ""


class _Watcher:
    """A thread for all work that is watched: one of its own would take short work longer than the work itself.

    Attributes:
        lines: work under way that has not been shown.
    """

    def __init__(self) -> None:
        self.lines: dict[WaitingLine, None] = {}
        self.something = threading.Event()
        self.thread: threading.Thread | None = None

    def watch(self, line: WaitingLine) -> None:
        """Show a line when its time has come, unless its work has ended by then."""
        if self.thread is None or not self.thread.is_alive():
            # The first time, or in a process that was forked, which has no threads.
            self.lines, self.something = {}, threading.Event()
            self.thread = threading.Thread(target=self._run, name="robodyn-waiting", daemon=True)
            self.thread.start()
        self.lines[line] = None
        if not self.something.is_set():
            self.something.set()

    def _run(self) -> None:
        while self.something.wait():
            self.something.clear()
            # What begins while this sleeps is due later.
            while lines := list(self.lines):
                first = min(lines, key=lambda line: line.begun)
                time.sleep(max(first.begun + QUIET_SECONDS - time.monotonic(), 0.0))
                if first in self.lines:
                    first.report()
                self.lines.pop(first, None)


class _Work(threading.local):
    """How much work is within other work in this thread."""

    depth = 0


class _Line:
    """The one line at the bottom, and whose it is. A terminal or a notebook lets it be written over."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.owner: WaitingLine | None = None
        self.width = 0

    def show(self, owner: WaitingLine, detail: str) -> None:
        text = f"robodyn: {owner.what}" + (f", {detail}" if detail else "") + " ..."
        if self.owner is not owner:
            self._write(("\n" if self.owner else "") + self._fit(text))
            self.owner, self.width = owner, len(text)
        elif _is_rewritable(_stream()):
            self._rewrite(text)

    def close(self, owner: WaitingLine, seconds: float) -> None:
        if self.owner is owner:
            if _is_rewritable(_stream()):
                self._rewrite(f"robodyn: {owner.what}: {seconds:.1f} s")
                self._write("\n")
            else:
                self._write(f" {seconds:.1f} s\n")
            self.owner = None

    def _rewrite(self, text: str) -> None:
        self._write("\r" + self._fit(text.ljust(self.width)))
        self.width = len(text)

    def _fit(self, text: str) -> str:
        """A line that breaks cannot be written over."""
        return text[: shutil.get_terminal_size().columns - 1] if _is_rewritable(_stream()) else text

    def _write(self, text: str) -> None:
        # Nobody listening is no reason to stop the work.
        with contextlib.suppress(OSError, ValueError, AttributeError):
            stream = _stream()
            stream.write(text)
            stream.flush()


def _stream() -> TextIO:
    """Where progress is reported."""
    return sys.stdout if _is_notebook(sys.stderr) else sys.stderr


def _is_notebook(stream: TextIO | None) -> bool:
    return type(stream).__module__.startswith("ipykernel")


def _is_rewritable(stream: TextIO | None) -> bool:
    if stream is None or stream.closed:
        return False
    return stream.isatty() or _is_notebook(stream)


_work, _line, _watcher = _Work(), _Line(), _Watcher()
