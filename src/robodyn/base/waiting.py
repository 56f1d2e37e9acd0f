"""Progress line: what is being done while one waits? On standard error, where work lasts longer than a second; in a
notebook, where that looks like a failure, on standard output.

A terminal shows the share that is done as a bar and how long it will still take; a log gets a line a minute. Work
within work appears behind the outermost work's text. The environment variable ROBODYN_QUIET, or `with quietly():`,
keeps all silent; so does a caller that listens to the progress itself.
"""

from __future__ import annotations

import contextlib
import math
import os
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any, ParamSpec, TextIO, TypeVar

QUIET = "ROBODYN_QUIET"
QUIET_SECONDS = 1.0
SECONDS_BETWEEN_UPDATES = 0.1
SECONDS_BETWEEN_LINES = 60.0
"""Where a line cannot be written over."""
LONGEST_BAR = 30
SHORTEST_BAR = 8
LISTENERS = ("progress", "on_compile")
"""Arguments by which a caller asks to be informed, and then speaks by itself."""

P = ParamSpec("P")
R = TypeVar("R")


class WaitingLine:
    """Work under way: `with WaitingLine("fitting arm") as line: ...`, in which `line.update("3 of 10", 0.3)` may be
    called.

    Args:
        what: without it the line says what the work within it is.
        watched: by another thread, which prints in time whatever the work does; otherwise only updates print.
        transient: whether the line disappears with the end of the work; otherwise it is closed with the duration.
    """

    def __init__(self, what: str, *, quiet: bool = False, watched: bool = True, transient: bool = False) -> None:
        self.what, self.quiet, self.watched, self.transient = what, quiet, watched, transient
        self.begun = self.due = math.inf
        self.detail, self.share = "", math.nan

    def __enter__(self) -> WaitingLine:
        within = _work.lines[-1] if _work.lines else None
        self.quiet = self.quiet or bool(within and within.quiet) or bool(os.environ.get(QUIET))
        self.outermost: WaitingLine = within.outermost if within else self
        self.begun = time.monotonic()
        self.due = self.begun + QUIET_SECONDS
        self.ended = self.shown = False
        _work.lines.append(self)
        if self.watched and not self.quiet:
            _watcher.watch(self)
        return self

    def __exit__(self, *_: object) -> None:
        _work.lines.remove(self)
        _watcher.lines.pop(self, None)
        with _line.lock:
            self.ended = True
            _line.close(self, time.monotonic() - self.begun)
            if self.shown and _work.lines:
                _work.lines[-1].report()

    def update(self, detail: str, share: float = math.nan) -> None:
        """Say how far it is, in words and as a share of all."""
        self.detail, self.share = detail, share
        now = time.monotonic()
        if not self.quiet and (now >= self.due or _line.listener):
            self.due = now + SECONDS_BETWEEN_UPDATES
            self.report()

    def follow(self, duration: float, begin: float = 0.0) -> Callable[[float, float, int], None]:
        """Progress of a simulation: a function of (time, step, steps) that shows the simulated time."""

        def show(now: float, step: float, steps: int) -> None:
            elapsed = now - begin
            self.update(f"{elapsed:.3g} of {duration:g} s", elapsed / duration if duration > 0 else math.nan)

        return show

    def report(self) -> None:
        """Show the line, unless the work has ended."""
        with _line.lock:
            if not self.ended and not self.quiet:
                self.shown = True
                _line.show(self)

    @property
    def text(self) -> str:
        """The work under way, and how far it is; nothing as long as only work without a name is under way."""
        names = [self.outermost.what] if self is not self.outermost else []
        return ", ".join(part for part in (*names, self.what, self.detail) if part)

    @property
    def seconds_left(self) -> float:
        """The seconds left by the share that is done; not a number where that is not known."""
        if not 0.0 < self.share <= 1.0:
            return math.nan
        return (time.monotonic() - self.begun) * (1.0 - self.share) / self.share


def quietly() -> WaitingLine:
    """A block in which nothing is said."""
    return WaitingLine("", quiet=True)


def update_line(detail: str, share: float = math.nan) -> None:
    """Say how far the innermost work under way is, if there is one."""
    if _work.lines:
        _work.lines[-1].update(detail, share)


@contextlib.contextmanager
def listen(listener: Callable[[str, float | None], None]) -> Iterator[None]:
    """A block in which a function has the text and the share that is done, instead of a terminal."""
    before, _line.listener = _line.listener, listener
    try:
        yield
    finally:
        _line.listener = before


def clear_line() -> None:
    """Make room for something else that is printed; the line comes again with the next update."""
    with _line.lock:
        _line.clear()


def end_line() -> None:
    """Say nothing more of the work under way: it waits for somebody."""
    for line in _work.lines:
        line.quiet = True
        _watcher.lines.pop(line, None)
    clear_line()


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
                # Of work within work the innermost says most.
                within = [line for line in list(self.lines) if line.outermost is first.outermost]
                if first in self.lines:
                    max(within, key=lambda line: line.begun).report()
                self.lines.pop(first, None)


class _Work(threading.local):
    """Work under way in this thread, the outermost first."""

    def __init__(self) -> None:
        self.lines: list[WaitingLine] = []


class _Line:
    """The one line at the bottom, and whose it is. A terminal or a notebook lets it be written over.

    Attributes:
        owner: the outermost work whose line it is.
        printed: when it was last printed where it cannot be written over.
        listener: gets everything instead.
    """

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.owner: WaitingLine | None = None
        self.width, self.printed = 0, -math.inf
        self.listener: Callable[[str, float | None], None] | None = None

    def show(self, line: WaitingLine) -> None:
        if self.listener:
            self.listener(line.text, None if math.isnan(line.share) else line.share)
            return
        rewritable, now = _is_rewritable(_stream()), time.monotonic()
        if not rewritable and not line.text:
            return
        if self.owner is line.outermost and not rewritable and now - self.printed < SECONDS_BETWEEN_LINES:
            return
        text = _draw(line, shutil.get_terminal_size().columns - 1) if rewritable else _say(line)
        if self.owner is line.outermost and rewritable:
            self._rewrite(text)
        else:
            self._write(("\n" if self.owner else "") + text)
            self.owner, self.width, self.printed = line.outermost, len(text), now

    def close(self, line: WaitingLine, seconds: float) -> None:
        if self.owner is not line:
            return
        if line.transient:
            self.clear()
        elif _is_rewritable(_stream()):
            room = shutil.get_terminal_size().columns - 1
            self._rewrite(f"robodyn: {line.what}: {seconds:.1f} s"[:room])
            self._write("\n")
        else:
            self._write(f" {seconds:.1f} s\n")
        self.owner = None

    def clear(self) -> None:
        if self.owner:
            self._write("\r" + " " * self.width + "\r" if _is_rewritable(_stream()) else "\n")
            self.owner, self.width = None, 0

    def _rewrite(self, text: str) -> None:
        self._write("\r" + text.ljust(self.width))
        self.width = len(text)

    def _write(self, text: str) -> None:
        # Nobody listening is no reason to stop the work.
        with contextlib.suppress(OSError, ValueError, AttributeError):
            stream = _stream()
            stream.write(text)
            stream.flush()


def _say(line: WaitingLine) -> str:
    """The line in words."""
    remaining = "" if math.isnan(line.seconds_left) else f", {_describe_seconds(line.seconds_left)} left"
    return f"robodyn: {line.text or 'working'}{remaining} ..."


def _draw(line: WaitingLine, room: int) -> str:
    """The line with a bar, no longer than there is room: one that breaks cannot be written over."""
    if math.isnan(line.share):
        return _say(line)[:room]
    share = min(max(line.share, 0.0), 1.0)
    tail = f" {100 * share:3.0f} %"
    if not math.isnan(line.seconds_left):
        tail += f", {_describe_seconds(line.seconds_left)} left"
    text = f"robodyn: {line.text or 'working'} "[: max(room - SHORTEST_BAR - len(tail), 0)]
    length = max(min(LONGEST_BAR, room - len(text) - len(tail)), 0)
    full = round(share * length)
    return (text + "━" * full + "─" * (length - full) + tail)[:room]


def _describe_seconds(seconds: float) -> str:
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes = f"{whole % 3600 // 60:02d}:{whole % 60:02d}"
    return f"{whole // 3600}:{minutes}" if whole >= 3600 else f"{minutes} min"


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
