"""Co-simulation study: does the rigid arm's model fail at macro steps that nobody chose for it?

The study's coupling is taken at its word: each side integrates the other's reduced model together with itself, and
nothing else passes at a communication point, so that both keep their own motion ("none"). Beside it stands the default,
by which both sides go on with one motion ("inertia"). The arm passes its singular position while it turns the payload,
or, in a second manoeuvre, holds the payload at the wall there.

Nothing is stopped for its condition number: what a limit would have ended is counted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from robodyn.computation.cosimulation import CosimSettings
from robodyn.presentation.reporting import COLOURS, LINE_WIDTH, empty_figure, finish_axes, write_figure
from robodyn.presentation.studies import Kind, PublishedValue, below
from robodyn_studies.catalog.space_case import HEIGHT, SINGULAR_HEIGHT
from robodyn_studies.cosimulation_case import MILLI, Case, Way, couple

STEPS = (0.005, 0.01, 0.02, 0.033, 0.05, 0.08, 0.1)
"""Macro steps, round numbers [s]."""
COMPARED_STEPS = STEPS[1:]
"""Those at which the flexible arm is tried, too [s]."""
JOINS = {"none": "each keeps its own motion, as the study has it", "inertia": "joined by inertia"}
MANOEUVRES = {HEIGHT: "passing the singular position", SINGULAR_HEIGHT: "held there at the wall"}
WORSE = 2.0
"""Error of the rigid arm, in those of the flexible one, at which its model has failed: own choice."""
LIMIT = CosimSettings.condition_limit


@dataclass(frozen=True)
class Trial:
    """One co-simulation of the rigid arm."""

    height: float
    join: str
    step: float

    @property
    def case(self) -> Case:
        return self._couple(False)

    @property
    def flexible(self) -> Case | None:
        """The same with the flexible arm, where it is compared."""
        return self._couple(True) if self.height == HEIGHT and self.step in COMPARED_STEPS else None

    def _couple(self, flexible: bool) -> Case:
        way = Way("model-model", flexible, join=self.join, height=self.height)
        return couple(way, self.step, watched=False)

    @property
    def stopped(self) -> bool:
        """Whether the co-simulation's own limit on the condition number would have ended it."""
        return self.case.condition > LIMIT

    @property
    def failed(self) -> bool:
        """Whether it could not go on, or is far worse than the flexible arm."""
        other = self.flexible
        return not self.case.finished or (other is not None and self.case.error > WORSE * other.error)


def trials() -> list[Trial]:
    """All of them."""
    return [Trial(height, join, step) for height in MANOEUVRES for join in JOINS for step in STEPS]


def untuned_figures() -> Iterator[PublishedValue]:
    """How many of them fail, how many a limit would end, and how the rigid arm compares with the flexible one."""
    made = trials()
    steps = ", ".join(f"{MILLI * step:g}" for step in STEPS)
    failed = sum(trial.failed for trial in made)
    yield PublishedValue(
        "rim_rigid_untuned_failures",
        None,
        failed,
        "",
        reason=f"of {len(made)} co-simulations of the rigid arm, macro steps of {steps} ms, two ways of joining, two "
        "manoeuvres, those that could not go on or were twice as far off as the flexible arm: the study reports one "
        "that fails, but neither its step, its numbers nor where it stopped",
        source="study of co-simulated flexible robots",
        kind=Kind.RESULT,
    )
    for height, manoeuvre in MANOEUVRES.items():
        for join, joined in JOINS.items():
            own = [trial for trial in made if (trial.height, trial.join) == (height, join)]
            yield PublishedValue(
                f"rim_rigid_stops_{'passing' if height == HEIGHT else 'held'}_{join}",
                None,
                sum(trial.stopped for trial in own),
                "",
                reason=f"of {len(own)}, {manoeuvre}, {joined}: runs in which a condition number passes {LIMIT:.0e}, "
                "this project's limit, at a communication point",
                source="own",
            )
    for join, joined in JOINS.items():
        pairs = [(trial.case, trial.flexible) for trial in made if trial.join == join]
        ratio = max(case.error / other.error for case, other in pairs if other is not None)
        reason = f"largest error of the distance, rigid by flexible arm, at the same macro step, {joined}"
        yield below(f"rim_rigid_by_flexible_{join}", ratio, WORSE, "", reason, "own")


def draw_untuned(path: Path) -> None:
    """Errors by macro step of both arms, and the condition numbers of the rigid one."""
    figure = empty_figure(8.0, 6.4)
    above, under = figure.subplots(2, 1, sharex=True)
    made = trials()
    for (join, colour), look in zip(zip(JOINS, COLOURS[1:], strict=False), ("o", "s"), strict=True):
        own = [trial for trial in made if (trial.height, trial.join) == (HEIGHT, join)]
        name = "own motion kept" if join == "none" else "joined by inertia"
        rigid = MILLI * np.array([trial.case.error for trial in own])
        steps = MILLI * np.array([trial.step for trial in own])
        above.loglog(steps, rigid, f"{look}-", color=colour, linewidth=LINE_WIDTH, label=f"rigid, {name}")
        pairs = [(trial.step, trial.flexible.error) for trial in own if trial.flexible is not None]
        others, errors = MILLI * np.array(pairs).T
        above.loglog(others, errors, "x:", color=colour, linewidth=LINE_WIDTH, label=f"flexible, {name}")
        for height, line in ((HEIGHT, "-"), (SINGULAR_HEIGHT, "--")):
            chosen = [trial for trial in made if (trial.height, trial.join) == (height, join)]
            condition = [trial.case.condition for trial in chosen]
            label = f"{name}, {'passing' if height == HEIGHT else 'held'}"
            under.loglog(steps, condition, f"{look}{line}", color=colour, linewidth=LINE_WIDTH, label=label)
    under.axhline(LIMIT, color="0.6", linewidth=LINE_WIDTH)
    for ax in (above, under):
        ax.legend(fontsize="x-small")
    under.set_xlabel("macro step [ms]")
    finish_axes(above, "error of the distance [mm]")
    finish_axes(under, "largest condition number")
    write_figure(figure, path)
