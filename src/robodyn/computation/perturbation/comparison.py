"""Comparison with the non-linear simulation: how far is the perturbed motion off, and how does that converge?"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from robodyn.base import find_unmatched, fits, frozen, nearest, refuse
from robodyn.computation.assembly import assemble
from robodyn.computation.results import Run
from robodyn.computation.simulation import compile_system, simulate
from robodyn.description.model import Recording, Scenario

from .perturbed import Perturbed

LEAST_TURNS, MOST_TURNS, LONGEST = 2, 7, 2.0
"""Turns that both ways are timed in: at most so many, no more after so many seconds; own choices."""
BOUNDS = (2e-6, 10e-6)
"""Differences [m] that the published comparison of the two ways counts."""


@frozen
class WayDifference:
    """The difference of one signal between two runs, over the instants of the first.

    Attributes:
        largest, at, rms: in the signal's unit, and when [s].
        shares: part of the time that the difference is below each of the bounds.
    """

    signal: str
    unit: str
    largest: float
    at: float
    rms: float
    shares: tuple[float, ...]


@frozen
class WayComparison:
    """A scenario simulated in both ways.

    Attributes:
        nonlinear_seconds, perturbed_seconds: processor time of a run, made ready and warm: the least of several in
            turns [s].
    """

    nonlinear: Run
    perturbed: Run
    differences: tuple[WayDifference, ...]
    nonlinear_seconds: float
    perturbed_seconds: float

    @property
    def speedup(self) -> float:
        """How much faster the perturbed run was computed."""
        return self.nonlinear_seconds / self.perturbed_seconds

    @property
    def largest(self) -> float:
        """The largest difference of all."""
        return max(difference.largest for difference in self.differences)


def compare_runs(
    nonlinear: Run, perturbed: Run, signals: Sequence[str], bounds: Sequence[float] = BOUNDS
) -> tuple[WayDifference, ...]:
    """Differences of some signals, over the time that both runs cover."""
    time = nonlinear.time[nonlinear.time <= min(nonlinear.time[-1], perturbed.time[-1])]
    weights = np.gradient(time) if len(time) > 1 else np.ones(len(time))
    differences = []
    for name in signals:
        apart = np.abs(perturbed[name](time) - nonlinear[name](time))
        k = int(np.argmax(apart))
        shares = tuple(float(np.sum(weights[apart < bound]) / np.sum(weights)) for bound in bounds)
        rms = float(np.sqrt(np.sum(weights * apart**2) / np.sum(weights)))
        differences.append(WayDifference(name, nonlinear[name].unit, float(apart[k]), float(time[k]), rms, shares))
    return tuple(differences)


def choose_signals(nonlinear: Run, perturbed: Run, patterns: Sequence[str] = ()) -> tuple[str, ...]:
    """Signals to compare: those asked for, else deviations from a path, else positions of points, else of joints."""
    names = [name for name in nonlinear.names if name in perturbed.names]
    for pattern in find_unmatched(patterns, names):
        refuse("signal", f"'{pattern}' matches no signal", nearest(pattern, names))
    for group in (patterns, ("deviation.*",), ("*.position.[xyz]",), ("*.position",)):
        chosen = tuple(name for name in names if fits(name, group))
        if chosen:
            return chosen
    return ()


def compare_ways(
    scenario: Scenario,
    near: Perturbed | None = None,
    *,
    recording: Recording | None = None,
    signals: Sequence[str] = (),
) -> WayComparison:
    """Simulate a scenario in both ways, several times in turns, and compare.

    Args:
        near: made ready before; signals: patterns of those compared.
    """
    near = near or Perturbed(scenario)
    patterns = (recording or scenario.recording).signals
    full = compile_system(assemble(scenario, signals=patterns), near.solver, signals=patterns)
    ways: list[Callable[[], Run]] = [
        partial(simulate, full, recording=recording),
        partial(near.simulate, recording=recording),
    ]
    # The first turn compiles and fills caches; the least of the others is what other work disturbed least.
    nonlinear, perturbed = (way() for way in ways)
    least, start_time = [math.inf, math.inf], time.perf_counter()
    for turn in range(MOST_TURNS):
        for k, way in enumerate(ways):
            before = time.process_time()
            way()
            least[k] = min(least[k], time.process_time() - before)
        if turn + 1 >= LEAST_TURNS and time.perf_counter() - start_time > LONGEST:
            break
    differences = compare_runs(nonlinear, perturbed, choose_signals(nonlinear, perturbed, signals))
    return WayComparison(nonlinear, perturbed, differences, *least)


@frozen
class Convergence:
    """Largest difference from the non-linear motion for several numbers of points, in the signals' unit."""

    points: tuple[int, ...]
    largest: tuple[float, ...]


def find_convergence(scenario: Scenario, points: Sequence[int], signals: Sequence[str] = ()) -> Convergence:
    """How the difference shrinks with the number of points; what stays is of second order in the deviation."""
    largest = []
    near, nonlinear = Perturbed(scenario, points=points[0]), simulate(scenario)
    for count in points:
        near.use_points(count)
        run = near.simulate()
        chosen = choose_signals(nonlinear, run, signals)
        largest.append(max(difference.largest for difference in compare_runs(nonlinear, run, chosen)))
    return Convergence(tuple(points), tuple(largest))
