"""Constraints study: are published motions of closed chains met, and by every constraint method?

Andrews' squeezer: test set for initial value problem solvers, Bari, problem II-10. Pendulum and rows of four-bars:
problems A01 and A02 of the IFToMM library of computational benchmark problems.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

import numpy as np

from robodyn.computation.results import Run
from robodyn.computation.simulation import simulate
from robodyn.description.catalog import cartesian_pendulum, four_bars
from robodyn.description.model import ConstraintMethod
from robodyn.presentation.studies import Kind, PublishedValue, below
from robodyn_studies.catalog import andrews, andrews_max_error
from robodyn_studies.constraints_runs import FINE, OWN, POLE, swing_exactly

BARI = "Bari test set, problem II-10, PSIDE at 1e-14"
A01 = "IFToMM A01, own reference by an independent program"
A02 = "IFToMM A02, own reference from its equation of one angle"
# Time [s] -> place [m]; count of loops -> place [m] and velocity [m/s] of the first top after 10 s.
PENDULUM: Mapping[float, tuple[float, float]] = {
    1.0: (0.98629175, -0.16501085),
    5.0: (-0.94230544, -0.33475434),
    9.99: (-0.31643647, -0.94861370),
    10.0: (-0.27508746, -0.96141921),
}
FOUR_BARS: Mapping[int, tuple[float, float, float, float]] = {
    1: (0.47838506, 0.87815018, 1.72726408, -0.94095218),
    2: (0.32845811, 0.94451854, 1.42305147, -0.49486885),
    10: (0.20435356, 0.97889715, 1.18668002, -0.24773010),
    40: (0.18051223, 0.98357274, 1.14844128, -0.21077007),
}
TOP = ("position.x", "position.z", "velocity.x", "velocity.z")
SHORT = {"position.x": "x", "position.z": "z", "velocity.x": "vx", "velocity.z": "vz"}


@cache
def fine_pendulum() -> Run:
    return simulate(cartesian_pendulum(constraint_method=ConstraintMethod(pole=POLE)), FINE)


def reference_figures() -> Iterator[PublishedValue]:
    """Squeezer, pendulum and rows of four-bars against their published ends."""
    run = simulate(andrews())
    reason = "asked for of angles up to 16 rad; solved at 1e-9"
    yield below("andrews_max_error", andrews_max_error(run.final), 1e-7, "rad", reason, BARI, Kind.RESULT)
    yield below("andrews_energy_error", run.statistics.energy_error or 0.0, 1e-8, "relative", "solved at 1e-9", OWN)
    for time, places in PENDULUM.items():
        for axis, place in zip("xz", places, strict=True):
            value = float(fine_pendulum()[f"{axis}.position"](time))
            reason = "printed to 8 digits, from a numerical solution; ours at 1e-11"
            yield PublishedValue(f"pendulum_{axis}_at_{time:g}s", place, value, "m", 2e-8, reason, A01)
    t = np.linspace(0, 10, 501)
    exact = dict(zip("xz", swing_exactly(t), strict=True))
    apart = max(float(np.abs(fine_pendulum()[f"{axis}.position"](t) - place).max()) for axis, place in exact.items())
    yield below("pendulum_off_elliptic_functions", apart, 1e-8, "m", "solved at 1e-11, some 3000 steps", "closed form")
    for count in FOUR_BARS:
        yield from _row_figures(count)


def _row_figures(count: int) -> Iterator[PublishedValue]:
    """The first top's place and velocity after 10 s, and what is left of the constraints."""
    run = simulate(four_bars(count))
    for signal, expected in zip(TOP, FOUR_BARS[count], strict=True):
        unit = "m" if signal.startswith("position") else "m/s"
        reason = "solved at 1e-9; a fall from upright and several singular positions multiply that by some hundred"
        name = f"four_bars_{count}_{SHORT[signal]}"
        yield PublishedValue(name, expected, float(run.final[f"top0.{signal}"]), unit, 1e-6, reason, A02)
    left = run.statistics.extra["constraint_position_error"]
    reason = "projected after each step, flat positions included"
    yield below(f"four_bars_{count}_constraint_error", left, 1e-9, "m", reason, OWN)
