"""RX90B study: is the perturbation method as good as the non-linear one, and faster? (sections 6, 7, figure 10)"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np

from robodyn.computation.simulation import simulate
from robodyn.description.model import Recording, Solver
from robodyn.presentation.studies import Kind, PublishedValue, above, below
from robodyn_studies.catalog.rx90_parameters import AXES
from robodyn_studies.rx90_runs import (
    DEVIATIONS,
    MICRO,
    OWN,
    POINTS,
    REVERSAL,
    SIDES,
    STEP,
    STUDY,
    apart,
    full_weld,
    jump_at,
    near_weld,
    perturbed_run,
    share_below,
    signals_of,
    weld,
    weld_run,
)

SECTION = f"{STUDY}, section 7"
COUNTS = (50, 100, 200, 400, 800)
"""Points of linearisation whose errors are compared."""
BOUND, MOSTLY = 10.0, 2.0
"""What the study's difference stays well below, and what it is mostly below [um]."""
DISTANCE = "distance of the tips; the study's, of its rigid robot, stays well below 10 um"
REPEATS = 5
"""Of each timed run, taken in turn; the fastest counts."""
MINUTES = 70.0
"""Time of the study's non-linear simulation, a tenth of it by the perturbation method."""


def perturbation_figures() -> Iterator[PublishedValue]:
    """Both simulations of the rigid robot."""
    points = near_weld("rigid", signals_of("rigid")).nominal.points
    yield PublishedValue("linearisation_points", POINTS, points, "", 0.0, "a count, the study's", SECTION, Kind.INPUT)
    yield from differences()
    apart_by = max(_current_difference(k) for k in AXES)
    reason = (
        "root mean square of the differences of motor currents, the largest of six: the study calls them good; "
        "encoders that round at other instants make them, 0.05 A is 2 % of the largest current"
    )
    yield below("perturbation_current_difference_a", apart_by, 0.05, "A", reason, f"{SECTION}, figure 9", Kind.RESULT)


def part_of(build: str) -> str:
    """What distinguishes the names of a build's values from those of the rigid robot."""
    return "" if build == "rigid" else f"{build}_"


def differences(build: str = "rigid") -> Iterator[PublishedValue]:
    """How far the tips of both simulations are apart."""
    part, values = part_of(build), MICRO * apart(weld_run(build), perturbed_run(build))
    source, kind = (f"{SECTION}, figure 10", Kind.RESULT) if build == "rigid" else (OWN, Kind.CHECK)
    largest = float(np.max(values))
    yield below(f"perturbation_{part}max_difference_um", largest, BOUND, "um", DISTANCE, source, kind)
    smooth = apart(weld_run(build, smooth=True), perturbed_run(build, smooth=True, propagators=True))
    reason = "steps by propagators, encoders that don't round: what these steps and linear mechanics leave out"
    yield below(f"perturbation_{part}propagators_um", MICRO * float(np.max(smooth)), 1.0, "um", reason, OWN)
    reason = "part of the time; the study says mostly, 0.90 is this project's reading of it"
    yield above(f"perturbation_{part}share_below_2um", share_below(values, MOSTLY), 0.9, "", reason, source, kind)


def _current_difference(k: int) -> float:
    name = f"axis{k}.drive.current"
    change = weld_run()[name].values - perturbed_run()[name](weld_run().time)
    return float(np.sqrt(np.mean(change**2)))


@cache
def convergence(smooth: bool = True) -> tuple[float, ...]:
    """Largest distance of the tips [um] for each of COUNTS."""
    found = [float(np.max(apart(weld_run(smooth=smooth), perturbed_run(smooth=smooth, points=n)))) for n in COUNTS]
    return tuple(MICRO * value for value in found)


def convergence_figures() -> Iterator[PublishedValue]:
    """How the difference shrinks with the number of points, and the non-linear one with its step."""
    smooth = "encoders that don't round, which would hide what is below some 0.3 um"
    for count, value in zip(COUNTS, convergence(), strict=True):
        limit = 10.0 if count == COUNTS[0] else convergence()[COUNTS.index(count) - 1] / 3
        reason = f"with {smooth}; " + ("the coarsest" if count == COUNTS[0] else "a third of that with half the points")
        yield below(f"perturbation_difference_{count}_points_um", value, limit, "um", reason, OWN)
    halved = MICRO * float(np.max(apart(weld_run(), weld_run(step=STEP / 2))))
    reason = (
        "steps of 0.25 ms against 0.125 ms; most of it are encoders that round at other instants: "
        "a count is 0.1 to 0.2 um at the tip, and several flip"
    )
    yield below("nonlinear_step_halving_um", halved, 1.0, "um", reason, OWN)
    first, second = (
        MICRO * float(np.max(apart(weld_run(smooth=True, step=a), weld_run(smooth=True, step=a / 2))))
        for a in (STEP, STEP / 2)
    )
    yield below("nonlinear_step_halving_smooth_um", first, 0.1, "um", f"the same with {smooth}", OWN)
    order = float(np.log2(first / second))
    reason = "from two halvings, with encoders that don't round; the method's order is 2, beginnings of ramps included"
    yield PublishedValue("nonlinear_order", 2.0, order, "", 0.5, reason, OWN)


def elastic_figures() -> Iterator[PublishedValue]:
    """Both simulations with gears that twist: what the study proposes next."""
    yield from differences("elastic")
    yield from more_than_rigid("elastic", "gears twist under the arm's weight and its acceleration")
    yield step_halving("elastic")


def more_than_rigid(build: str, why: str) -> Iterator[PublishedValue]:
    """Largest deviations and the jump at the reversal, above those of the rigid robot."""
    run, rigid = weld_run(build), weld_run()
    for side in SIDES:
        sizes = [MICRO * float(np.max(np.abs(one[f"deviation.{side}"].values))) for one in (run, rigid)]
        reason = f"{why}: more than of the rigid robot"
        yield above(f"deviation_{build}_largest_{side}_um", sizes[0], sizes[1], "um", reason, OWN)
    jumps = [MICRO * jump_at(one, REVERSAL, SIDES[0]) for one in (run, rigid)]
    reason = "motors don't see what friction twists and bends: the jump is larger than of the rigid robot"
    yield above(f"deviation_{build}_jump_um", jumps[0], jumps[1], "um", reason, OWN)


def step_halving(build: str) -> PublishedValue:
    """What half the step changes while the tip moves."""
    run = weld_run(build)
    moving = run["path.speed"].values > 0
    halved = MICRO * float(np.max(apart(run, weld_run(build, step=STEP / 2))[moving]))
    reason = (
        "as of the rigid robot, while the tip moves; at rest encoders that flip a count also let gears and links swing"
    )
    return below(f"nonlinear_{part_of(build)}step_halving_um", halved, 1.0, "um", reason, OWN)


@dataclass(frozen=True)
class Speeds:
    """Least computing times of both simulations [s] of a motion of some length [s]."""

    duration: float
    nonlinear: float
    perturbed: float


@cache
def speeds(build: str = "rigid") -> Speeds:
    """Computing times with the deviations recorded at 1 kHz, compilation apart, runs of both in turn."""
    signals = DEVIATIONS if build == "rigid" else signals_of(build)
    recording, solver = Recording(rate=1000.0, signals=signals), Solver("rosw2", step=STEP)
    full, near = full_weld(build, signals), near_weld(build, signals)
    near.compiled({})
    near.solver = solver
    times = []
    for _ in range(REPEATS):
        runs = simulate(full, solver, recording=recording), near.simulate(recording=recording)
        times.append([run.statistics.wall_time for run in runs])
    return Speeds(weld(build).duration, *(float(value) for value in np.min(times, axis=0)))


def speed_figures() -> Iterator[PublishedValue]:
    """What both cost. Measured here and now: reported, not judged."""
    yield from speeds_of("rigid")
    yield from speeds_of("elastic")
    reason = "another program on another machine (2.4 GHz Pentium 4), for comparison only"
    value = speeds().nonlinear
    yield PublishedValue("computing_time_nonlinear_s", 60 * MINUTES, value, "s", None, reason, SECTION, Kind.RESULT)


def speeds_of(build: str) -> Iterator[PublishedValue]:
    """How fast both simulations of a build are."""
    message = "measured in this run, so only held against real time; deviations recorded at 1 kHz, compilation apart"
    found, part, source = speeds(build), part_of(build), SECTION if build == "rigid" else OWN
    for way in ("nonlinear", "perturbed"):
        name = f"times_real_time_{part}{'perturbation' if way == 'perturbed' else way}"
        yield above(name, found.duration / getattr(found, way), 1.0, "", message, source)
    reason = (
        "by propagators; the study's non-linear mechanics are solved by iteration, ours are traced to native code and "
        "cost little more than friction, drives and control, which both have in full"
    )
    ratio, name = found.nonlinear / found.perturbed, f"speedup_{part}perturbation"
    if build == "rigid":
        yield PublishedValue(name, 10.0, ratio, "", None, reason, source, Kind.RESULT)
    else:
        yield PublishedValue(name, None, ratio, "", None, reason, source)
