"""Co-simulation study, headline: does the rigid arm's reduced model fail by singularity, and the flexible one's not?

Nothing is tuned: seven round macro steps, and two ways of joining the sides: each keeps its own motion, as the study
has it ("none"), or both go on with one ("inertia", the default). A run fails by singularity where the inertia of
equation 3,

    M_eff = (A_i (I - P_c) M^-1 A_i^T)^-1,

ceases to exist: where the mobility in the brackets has a condition number beyond the co-simulation's limit, or, where
that is lifted, where its smallest eigenvalue is lost in the rounding of its largest.

The mobility itself exists always. A formulation that integrates the other side by it, `w' = w'_free - mobility force`,
goes on where equation 3 ends: here with the latch between the sides.

    python -m robodyn_studies.cosimulation_headline space_manoeuvre.toml

prints the same for a manoeuvre of a file.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from robodyn.computation.cosimulation import CosimSettings
from robodyn.presentation.reporting import COLOURS, LINE_WIDTH, empty_figure, finish_axes, write_figure
from robodyn.presentation.studies import Kind, PublishedValue, above, below
from robodyn_studies.catalog.space_case import (
    PITCH,
    SINGULAR_HEIGHT,
    YAW,
    Manoeuvre,
    move_in_plane,
    read_manoeuvre,
)
from robodyn_studies.cosimulation_case import MILLI, Case, Way, couple

STEPS = (0.005, 0.01, 0.02, 0.033, 0.05, 0.08, 0.1)
"""Macro steps, round numbers [s]."""
JOINS = {"none": "own motion kept", "inertia": "joined by inertia"}
LONGEST_STABLE = 0.08
"""The longest of them at which the flexible arm's models are stable at the wall [s]."""
MOBILITY_STEPS = (0.005, 0.01, 0.02)
"""Macro steps at which models are integrated by their mobility: stable up to the last of them [s]."""
PLANE = {"passing": PITCH, "held": move_in_plane(height=SINGULAR_HEIGHT)}
"""The variant in a plane: the singular posture is passed, or held at the wall."""
WORSE = 2.0
"""Error of the rigid arm, in those of the flexible one, at which its model has failed: own choice."""
LIMIT = CosimSettings.condition_limit
STUDY, OWN = "study of co-simulated flexible robots", "own"


@dataclass(frozen=True)
class Trial:
    """A macro step and a way of joining, tried with both arms.

    Attributes:
        limited: whether the rigid arm's run ends where a condition number is beyond the co-simulation's limit.
    """

    manoeuvre: Manoeuvre
    join: str
    step: float
    limited: bool = True

    @property
    def rigid(self) -> Case:
        return self._couple(False)

    @property
    def flexible(self) -> Case:
        return self._couple(True)

    def _couple(self, flexible: bool) -> Case:
        way = Way("model-model", flexible, join=self.join, manoeuvre=self.manoeuvre)
        return couple(way, self.step, watched=flexible or self.limited)

    @property
    def failed(self) -> bool:
        """Whether the rigid arm could not go on, or is far worse than the flexible one."""
        return not self.rigid.finished or self.rigid.error > WORSE * self.flexible.error


def trials(manoeuvre: Manoeuvre = YAW, limited: bool = True) -> list[Trial]:
    """All of a manoeuvre."""
    return [Trial(manoeuvre, join, step, limited) for join in JOINS for step in STEPS]


def headline_figures() -> Iterator[PublishedValue]:
    """How many runs of each arm end by singularity, and how far off the others are."""
    made, unlimited = trials(), trials(limited=False)
    steps = ", ".join(f"{MILLI * step:g}" for step in STEPS)
    of = f"of {len(made)} co-simulations, macro steps of {steps} ms, two ways of joining"
    ended = sum(trial.rigid.singular for trial in made)
    yield PublishedValue(
        "rim_rigid_singular",
        None,
        ended,
        "",
        reason=f"{of}, those of the rigid arm that end by singularity; the study reports one",
        source=STUDY,
        kind=Kind.RESULT,
        holds=ended == len(made),
    )
    lost = sum(trial.flexible.singular for trial in made)
    reason = f"{of}, those of the flexible arm that end by singularity; the study reports none"
    yield below("rim_flexible_singular", lost, 0.0, "", reason, STUDY, Kind.RESULT)
    by_rounding = sum(trial.rigid.singular for trial in unlimited)
    reason = f"{of}, those of the rigid arm that end where its mobility has lost its rank to rounding: no limit is set"
    yield above("rim_rigid_singular_unlimited", by_rounding, len(made) / 2, "", reason, OWN)
    others = [trial.rigid.displacement for trial in unlimited if not trial.rigid.singular]
    reason = "the others go on, sides that keep their own motion, and are off by at least this in space"
    yield above("rim_rigid_unlimited_displacement_mm", MILLI * min(others, default=np.inf), 50.0, "mm", reason, OWN)
    stable = [trial for trial in made if trial.step <= LONGEST_STABLE and trial.join == "inertia"]
    at = f"flexible arm, joined by inertia, macro steps to {MILLI * LONGEST_STABLE:g} ms, against the monolithic run"
    error = MILLI * max(trial.flexible.error for trial in stable)
    yield below("rim_flexible_untuned_error_mm", error, 5.0, "mm", f"largest error of the distance, {at}", OWN)
    shift = MILLI * max(trial.flexible.displacement for trial in stable)
    yield below("rim_flexible_untuned_displacement_mm", shift, 5.0, "mm", f"largest error of A in space, {at}", OWN)
    for flexible in (False, True):
        runs = [couple(Way("mobility-mobility", flexible), step) for step in MOBILITY_STEPS]
        kind = "flexible" if flexible else "rigid"
        steps = ", ".join(f"{MILLI * step:g}" for step in MOBILITY_STEPS)
        reason = (
            f"A in space, {kind} arm, models integrated by their mobility behind the latch, macro steps of {steps} ms"
        )
        shift = MILLI * max(case.displacement for case in runs) if all(case.finished for case in runs) else np.inf
        yield below(f"rim_mobility_{kind}_displacement_mm", shift, 1.0, "mm", reason, OWN)


def plane_figures() -> Iterator[PublishedValue]:
    """The variant in a plane: the singular posture is passed or held, and nothing asks for what the arm lacks."""
    for name, manoeuvre in PLANE.items():
        made = trials(manoeuvre, limited=False)
        failed = sum(trial.failed for trial in made)
        reason = (
            f"of {len(made)} co-simulations of the rigid arm without a limit, the singular posture {name}, those that "
            f"could not go on or were {WORSE:g} times as far off as the flexible arm at the same step"
        )
        yield below(f"plane_{name}_failures", failed, 0.0, "", reason, OWN)
        stopped = sum(trial.rigid.condition > LIMIT for trial in made)
        reason = f"of the same, those that the limit of {LIMIT:.0e} on the condition number would have ended"
        yield PublishedValue(f"plane_{name}_stops", None, stopped, "", reason=reason, source=OWN)
        ratio = max(trial.rigid.error / trial.flexible.error for trial in made)
        reason = f"largest error of the distance, rigid by flexible arm, at the same macro step, {name}"
        yield below(f"plane_{name}_rigid_by_flexible", ratio, WORSE, "", reason, OWN)


def draw_headline(path: Path) -> None:
    """When the runs end, and how far off they are, by macro step."""
    figure = empty_figure(8.0, 6.4)
    above_, under = figure.subplots(2, 1, sharex=True)
    steps = MILLI * np.array(STEPS)
    for join, look in zip(JOINS, ("o", "s"), strict=True):
        for flexible, colour in ((False, COLOURS[1]), (True, COLOURS[0])):
            cases = [trial.flexible if flexible else trial.rigid for trial in trials() if trial.join == join]
            name = f"{'flexible' if flexible else 'rigid'}, {JOINS[join]}"
            ends = [case.run.outcome.time for case in cases]
            above_.semilogx(steps, ends, f"{look}-", color=colour, linewidth=LINE_WIDTH, label=name)
            errors = MILLI * np.array([case.displacement for case in cases])
            under.loglog(steps, errors, f"{look}-", color=colour, linewidth=LINE_WIDTH)
        unlimited = [trial.rigid for trial in trials(limited=False) if trial.join == join]
        ends = [case.run.outcome.time for case in unlimited]
        above_.semilogx(
            steps, ends, f"{look}:", color="0.5", linewidth=LINE_WIDTH, label=f"rigid, no limit, {JOINS[join]}"
        )
    for flexible, look in ((False, "x--"), (True, "+--")):
        cases = [couple(Way("mobility-mobility", flexible), step) for step in MOBILITY_STEPS]
        steps = MILLI * np.array(MOBILITY_STEPS)
        name = f"{'flexible' if flexible else 'rigid'}, by mobility"
        above_.semilogx(steps, [case.run.outcome.time for case in cases], look, color="black", label=name)
        under.loglog(steps, MILLI * np.array([case.displacement for case in cases]), look, color="black")
    above_.set_ylim(0.0, 65.0)
    above_.legend(fontsize="x-small", ncols=2)
    under.set_xlabel("macro step [ms]")
    finish_axes(above_, "end of the run [s]")
    finish_axes(under, "largest error of A in space [mm]")
    write_figure(figure, path)


def print_headline(manoeuvre: Manoeuvre, steps: Sequence[float] = STEPS, out: Any = None) -> None:
    """The headline's table for a manoeuvre: how each run ended, and how far off it is in distance and in space."""
    for flexible, watched in ((False, True), (False, False), (True, True)):
        for join, joined in JOINS.items():
            way = Way("model-model", flexible, join=join, manoeuvre=manoeuvre)
            cases = {step: couple(way, step, watched=watched) for step in steps}
            kind = "flexible" if flexible else "rigid" if watched else "rigid, no limit"
            ended = sum(case.singular for case in cases.values())
            print(f"{kind}, {joined}: {ended} of {len(cases)} end by singularity", file=out)
            for step, case in cases.items():
                outcome = case.run.outcome
                print(
                    f"  {MILLI * step:5.4g} ms  {outcome.kind.name.lower():<16} {outcome.time:6.2f} s  distance "
                    f"{MILLI * case.error:8.3g} mm, A in space {MILLI * case.displacement:8.3g} mm, condition "
                    f"{case.condition:.2g}",
                    file=out,
                )


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit("usage: python -m robodyn_studies.cosimulation_headline MANOEUVRE.toml")
    print_headline(read_manoeuvre(sys.argv[1]))
