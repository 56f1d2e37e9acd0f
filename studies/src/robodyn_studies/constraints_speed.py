"""Constraints study: how much faster is Baumgarte's method than the baseline, at which tolerance? (sections 2 and 3)

The study simulates at a tolerance of 1e-4 and gives factors of computing time: about 5 for the pendulum, an order of
magnitude for the delta robot. Its baseline reduces the index by dummy derivatives and selects states on the way, here
`charts`. Times are those of the processor for the integration alone, the least of many runs in turns. What does not
depend on the machine are the counts of evaluations; those of a multistep method, as the study's tool has one, are
counted for the pendulum with SciPy's BDF, apart from this project's engine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from math import log10
from time import perf_counter, thread_time

import numpy as np
from scipy.integrate import BDF

from robodyn.computation.assembly import System, assemble
from robodyn.computation.simulation import CompiledSystem, compile_system, simulate
from robodyn.description.model import Scenario, Solver
from robodyn.presentation.studies import Kind, PublishedValue, above
from robodyn_studies.constraints_methods import SPEED, falling, overturning
from robodyn_studies.constraints_runs import GRAVITY, OWN, POLE, STUDY

TOLERANCE = 1e-4
"""The study's."""
TOLERANCES = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8)
METHODS = {"rodas4": "linearly implicit, order 4", "trbdf2": "implicit, order 2", "dopri5": "explicit, order 5"}
"""The study's tool has an implicit method too: the first counts, the others are reported."""
CASES: dict[str, Callable[[str], Scenario]] = {"pendulum": overturning, "delta": falling}
REPEATS, ALONE = 25, 0.05
"""Runs of each, in turns; part of its time that a run may have waited for the processor."""
SWITCH = 0.6
"""Part of the length below which the dependent coordinate of a pendulum is a bad one."""
WHERE = f"{STUDY}, sections 2 and 3"


@dataclass(frozen=True)
class Speed:
    """Two ways beside each other, charts first: least computing time [s] and evaluations of the equations."""

    times: tuple[float, float]
    evaluations: tuple[int, int]

    @property
    def ratio(self) -> float:
        """Computing time in charts over that by Baumgarte's method."""
        return self.times[0] / self.times[1]


@cache
def compare(case: str, method: str = "rodas4", tolerance: float = TOLERANCE) -> Speed:
    """The baseline beside the method, many times in turns."""
    systems, solver = _compile_ways(case, method, tolerance)
    alone: list[list[float]] = [[], []]
    spent: list[list[float]] = [[], []]
    around, counts = [], [0, 0]
    for _ in range(REPEATS):
        for k, system in enumerate(systems):
            begin, worked = perf_counter(), thread_time()
            run = simulate(system, solver)
            passed, worked = perf_counter() - begin, thread_time() - worked
            spent[k].append(worked)
            # A run that waited for the processor says nothing of its own time.
            if passed - worked < ALONE * run.statistics.wall_time:
                alone[k].append(run.statistics.wall_time)
                around.append(worked - run.statistics.wall_time)
            counts[k] = run.statistics.evaluations
    # Where all of them waited, by processor time less what is spent around an integration.
    times = [min(own) if own else min(all_) - min(around, default=0.0) for own, all_ in zip(alone, spent, strict=True)]
    return Speed((times[0], times[1]), (counts[0], counts[1]))


def count_evaluations(case: str, tolerance: float) -> tuple[int, int]:
    """Of the equations, charts first: no time is measured, so that one run of each is enough."""
    systems, solver = _compile_ways(case, "rodas4", tolerance)
    charts, baumgarte = (simulate(system, solver).statistics.evaluations for system in systems)
    return charts, baumgarte


def _compile_ways(case: str, method: str, tolerance: float) -> tuple[list[CompiledSystem], Solver]:
    solver = Solver(method, rtol=tolerance, atol=tolerance)
    return [compile_system(_system(case, way), solver) for way in ("charts", "baumgarte")], solver


@cache
def _system(case: str, way: str) -> System:
    return assemble(CASES[case](way))


def speed_figures() -> Iterator[PublishedValue]:
    """Factors of time at the study's tolerance, what they consist of, and how they fall with the tolerance."""
    for case in CASES:
        fast = compare(case)
        reason = f"tolerance 1e-4 as in the study, rodas4, least of {REPEATS} runs in turns, measured in this run: "
        reason += f"{1e3 * fast.times[0]:.3g} against {1e3 * fast.times[1]:.3g} ms; {fast.evaluations[0]} against "
        reason += f"{fast.evaluations[1]} evaluations"
        if case == "pendulum":
            reason += ". About 5: 2.4 to 5.6 by method"
            yield PublishedValue("pendulum_speed", 5.0, fast.ratio, "", 2.5, reason, WHERE, Kind.RESULT)
        else:
            reason += ". An order of magnitude, nearer to 10 than to 1 or 100: 7 to 25 by method"
            holds = round(log10(fast.ratio)) == 1
            yield PublishedValue("delta_speed", 10.0, fast.ratio, "", None, reason, WHERE, Kind.RESULT, holds=holds)
        shares = _more_evaluations(fast.evaluations)
        message = "evaluations in charts over those by Baumgarte's method, which no processor changes; each of charts "
        message += "also solves the constraints by Newton's method"
        yield above(f"{case}_evaluations_ratio", shares, 1.3, "", message, OWN)
    for method, kind in METHODS.items():
        others = {case: compare(case, method).ratio for case in CASES if method != "rodas4"}
        for case, ratio in others.items():
            reason = f"the same by {method} ({kind}): faster whatever the solver"
            yield above(f"{case}_speed_{method}", ratio, 1.5, "", reason, OWN)
    for case in CASES:
        loose = _more_evaluations(compare(case).evaluations)
        tight = _more_evaluations(count_evaluations(case, TOLERANCES[-1]))
        reason = f"{loose:.3g} times the evaluations at 1e-4, {tight:.3g} times at 1e-8: steps between changes of "
        reason += "coordinates get more, changes and what they cost do not"
        yield above(f"{case}_factor_falls_with_tolerance", loose / tight, 1.2, "", reason, OWN)
    yield from _multistep_figures()


def _more_evaluations(evaluations: tuple[int, int]) -> float:
    return evaluations[0] / evaluations[1]


def _multistep_figures() -> Iterator[PublishedValue]:
    """The pendulum by a BDF code of another package: restarts at every change of coordinates, Newton in each rate."""
    quick, slow = count_baumgarte(TOLERANCE), count_dummy_derivatives(TOLERANCE)
    reason = f"SciPy's BDF at 1e-4: {slow.evaluations} evaluations with {slow.solves} Newton steps and {slow.restarts} "
    reason += f"restarts against {quick.evaluations}; work as evaluations and Newton steps together"
    work = (slow.evaluations + slow.solves) / quick.evaluations
    yield above("pendulum_multistep_work_ratio", work, 5.0, "", reason, "own, second program")


@dataclass
class Counts:
    """Work of a run: evaluations of the equations, Newton steps within them, restarts of the method."""

    evaluations: int = 0
    solves: int = 0
    restarts: int = 0


def _accelerations(x: float, z: float, multiplier: float) -> tuple[float, float]:
    """Of 1 kg on a rod of 1 m: a = -2 lam (x, z) - g e_z."""
    return -2 * multiplier * x, -2 * multiplier * z - GRAVITY


def count_baumgarte(tolerance: float, duration: float = 10.0) -> Counts:
    """h'' + 2 p h' + p^2 h = 0 with h = x^2 + z^2 - 1: four states, no events."""
    counts = Counts(restarts=1)

    def rates(_: float, y: np.ndarray) -> Sequence[float]:
        counts.evaluations += 1
        x, z, u, w = y
        h, h_dot = x * x + z * z - 1, 2 * (x * u + z * w)
        lam = (2 * (u * u + w * w) - 2 * z * GRAVITY + 2 * POLE * h_dot + POLE**2 * h) / (4 * (x * x + z * z))
        return u, w, *_accelerations(x, z, lam)

    solver = BDF(rates, 0.0, [0.0, -1.0, SPEED, 0.0], duration, rtol=tolerance, atol=tolerance)
    while solver.status == "running":
        solver.step()
    return counts


def count_dummy_derivatives(tolerance: float, duration: float = 10.0) -> Counts:
    """Two states, the coordinate whose partner is larger; its partner by Newton's method in every evaluation."""
    counts = Counts()
    time, place, speed = 0.0, [0.0, -1.0], [SPEED, 0.0]
    while time < duration:
        state = 0 if abs(place[1]) > abs(place[0]) else 1
        partner = [place[1 - state]]

        def rates(_: float, y: np.ndarray, state: int = state, partner: list[float] = partner) -> Sequence[float]:
            counts.evaluations += 1
            q, v = y
            while abs(q * q + partner[0] ** 2 - 1) >= 1e-10:
                counts.solves += 1
                partner[0] -= (q * q + partner[0] ** 2 - 1) / (2 * partner[0])
            other = -q * v / partner[0]
            x, z = (q, partner[0]) if state == 0 else (partner[0], q)
            lam = (2 * (v * v + other * other) - 2 * z * GRAVITY) / 4
            return v, _accelerations(x, z, lam)[state]

        counts.restarts += 1
        start = [place[state], speed[state]]
        solver = BDF(rates, time, start, duration, rtol=tolerance, atol=tolerance)
        while solver.status == "running" and abs(partner[0]) >= SWITCH:
            solver.step()
            rates(solver.t, solver.y)
        q, v = solver.y
        place[state], place[1 - state] = q, partner[0]
        speed[state], speed[1 - state] = v, -q * v / partner[0]
        time = solver.t
    return counts
