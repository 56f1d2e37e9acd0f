"""Progress bar: how far is what the command does? On a terminal, nowhere else."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Self

from robodyn.cli.application import messages

if TYPE_CHECKING:
    from rich.progress import Progress

QUIET_SECONDS = 1.0


class Bar:
    """A bar with a text beside it, from the first call on.

    Args:
        timed: whether the time that is left is shown too.
    """

    def __init__(self, timed: bool = False) -> None:
        self.timed = timed
        self.bar: Progress | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.bar:
            self.bar.stop()

    def show(self, text: str, done: float | None = None, total: float | None = None) -> None:
        """Say what is done of how much; without a total something moves."""
        if messages.console.is_terminal:
            self.bar = self.bar or self._start()
            self.bar.update(self.task, completed=done, total=total, said=text)

    def _start(self) -> Progress:
        from rich.progress import BarColumn, Progress, ProgressColumn, TextColumn, TimeRemainingColumn

        columns: list[ProgressColumn] = [BarColumn(), TextColumn("{task.fields[said]}")]
        columns += [TimeRemainingColumn()] if self.timed else []
        bar = Progress(*columns, console=messages.console, transient=True)
        self.task = bar.add_task("", total=None, said="")
        bar.start()
        return bar


class SimulationProgress(Bar):
    """Called by the simulation with (time, step, steps); shown after its first second."""

    def __init__(self, duration: float) -> None:
        super().__init__(timed=True)
        self.duration, self.started = duration, time.monotonic()

    def __call__(self, simulated: float, step: float, steps: int) -> None:
        if self.bar or time.monotonic() - self.started >= QUIET_SECONDS:
            said = f"t = {simulated:.4g} s of {self.duration:g} s, step {step:.1e} s"
            self.show(said, simulated, self.duration)
