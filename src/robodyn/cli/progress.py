"""Progress bar: how far is the simulation? Shown on a terminal after the first second, nowhere else."""

from __future__ import annotations

import time
from types import TracebackType
from typing import TYPE_CHECKING

from robodyn.cli.application import messages

if TYPE_CHECKING:
    from rich.progress import Progress

QUIET_SECONDS = 1.0


class SimulationProgress:
    """Called by the simulation with (time, step, steps)."""

    def __init__(self, duration: float) -> None:
        self.duration = duration
        self.started = time.monotonic()
        self.bar: Progress | None = None

    def __enter__(self) -> SimulationProgress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.bar:
            self.bar.stop()

    def __call__(self, simulated: float, step: float, steps: int) -> None:
        if self.bar is None:
            if time.monotonic() - self.started < QUIET_SECONDS or not messages.console.is_terminal:
                return
            self.bar = self._start()
        self.bar.update(self.task, completed=simulated, step=f"{step:.1e}", at=f"{simulated:.4g}")

    def _start(self) -> Progress:
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        text = TextColumn("t = {task.fields[at]} s of {task.total:g} s, step {task.fields[step]} s")
        bar = Progress(BarColumn(), text, TimeRemainingColumn(), console=messages.console, transient=True)
        self.task = bar.add_task("simulating", total=self.duration, step="", at="0")
        bar.start()
        return bar
