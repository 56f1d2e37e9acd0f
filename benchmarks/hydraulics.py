"""How long does the hydraulic EPAAS robot take, beside its rig, SciPy, the clock and other descriptions of friction?

The rig in SciPy has the same method, tolerance and scaling; both are held against a converged run before. Ours ends its
steps at kinks and where they arrive late, and is far more exact: it is timed at a tolerance as exact as SciPy's too.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy
from scipy.integrate import solve_ivp

from benchmarks.findings import Findings, Row, Table, require_agreement
from benchmarks.timing import Prepared, prepare, time_interleaved
from robodyn.computation.assembly import assemble
from robodyn.description.model import Scenario, Solver
from robodyn_studies.catalog import epaas_rig, epaas_step, epaas_trajectory
from robodyn_studies.catalog.epaas_arm import CENTRES
from robodyn_studies.catalog.epaas_rig import RIG_FLOW

SCIPY_GOAL, ROBOT_GOAL, REAL_TIME = 1 / 200, 20.0, 1.0
RTOL = 1e-6
COARSER = (1e-3, 1e-4, 1e-5, RTOL)
# Of the piston's way: SciPy at 1e-9 must be within a millionth, the rig nearer, the robot at its tolerance farther.
SAME_PROBLEM, RIG_ERROR, ROBOT_ERROR = 1e-6, 1e-7, 1e-4
PEAK = 0.035
"""When the piston is farthest, about [s]."""


@dataclass(frozen=True)
class Size:
    """Durations of the rig's step, of the robot's step, of its path, and of a step with the rest after it [s].

    Steps begin at 0.01 s, creep is that from when a step has settled. A path of no length is left out.
    """

    rig: float = 0.07
    step: float = 0.11
    path: float = 2.0
    settled: float = 1.0
    rest: float = 5.0
    frictions: tuple[str, ...] = ("smooth", "lugre", "stick")
    rounds: int = 21
    scipy_rounds: int = 7


SIZES = {"smallest": Size(0.03, 0.03, 0.0, 0.0375, 0.04, ("smooth",), 1, 1), "usual": Size()}


def measure(size: Size) -> Findings:
    """The rig beside SciPy, the robot beside the rig and the clock, and three descriptions of friction."""
    rig = prepare_scenario(epaas_rig(), "piston.position")
    robots = {
        friction: prepare_scenario(epaas_step("l3", duration=size.rest, friction=friction), "l3.position")
        for friction in size.frictions
    }
    rows, agreements = compare_scipy(rig, size)
    agreements += [check_robot(friction, robot, size.step) for friction, robot in robots.items()]
    rows += [compare_rig(robots["smooth"], rig, size), beside_clock("step of L3", robots["smooth"], size.step, size)]
    if size.path:
        path = prepare_scenario(epaas_trajectory(), "l3.position")
        rows.append(beside_clock(f"path of {size.path:g} s", path, size.path, size))
    return Findings(tuple(rows), (compare_frictions(robots, size),), tuple(agreements))


def prepare_scenario(scenario: Scenario, signal: str) -> Prepared:
    """A scenario compiled for its own solver, with the rest it starts from."""
    return prepare(assemble(scenario), scenario.solver, (signal,))


def solver_of(prepared: Prepared) -> Solver:
    """The catalogue's."""
    return prepared.compiled.system.scenario.solver


def compare_scipy(ours: Prepared, size: Size) -> tuple[list[Row], list[str]]:
    """The rig's step response, ours beside SciPy's with its delays kept apart and joined."""
    times = np.linspace(0.0, size.rig, 701)
    converged = ours.run(Solver("dopri5", rtol=1e-11, atol=1e-13), size.rig, times).y[:, 0]
    way = float(np.ptp(converged))
    start, scale = ours.x[:5], ours.problem.scale[:5]

    def rival(interval: float, rtol: float = RTOL) -> Rig:
        return simulate_rig(start, size.rig, interval, method="RK45", rtol=rtol, atol=rtol / 100 * scale)

    def find_error(positions: np.ndarray) -> float:
        return float(np.max(np.abs(positions - converged)) / way)

    tight = find_error(rival(MEASURING_DELAY, 1e-9).positions(times))
    agreements = [require_agreement("SciPy's positions at 1e-9 and the converged ones", tight, SAME_PROBLEM)]
    rivals: dict[str, Callable[[], Rig]] = {label: partial(rival, interval) for label, interval in INTERVALS.items()}
    theirs = {label: find_error(contender().positions(times)) for label, contender in rivals.items()}
    solvers = {rtol: Solver("dopri5", rtol=rtol, atol=rtol / 100) for rtol in COARSER}
    errors = {rtol: find_error(ours.run(one, size.rig, times).y[:, 0]) for rtol, one in solvers.items()}
    agreements.append(
        require_agreement(f"positions of the rig at {RTOL:g} and the converged ones", errors[RTOL], RIG_ERROR)
    )
    as_exact = next(rtol for rtol in COARSER if errors[rtol] <= max(min(theirs.values()), errors[RTOL]))
    contenders = {
        "ours": partial(ours.run, solvers[RTOL], size.rig),
        "as exact": partial(ours.run, solvers[as_exact], size.rig),
        "call": partial(ours.run, solvers[RTOL], 1e-6),
    }
    timings = time_interleaved({**contenders, **rivals}, size.scipy_rounds)
    first = next(iter(rivals))
    rows = [
        timings.row(
            f"rig step of {1e3 * size.rig:g} ms, {label}{kind}",
            name,
            "ms",
            1e3,
            note=f"errors {errors[rtol]:.1e} of the way at {rtol:g}, SciPy {theirs[label]:.1e} at {RTOL:g}; "
            f"{1e3 * timings.median('call'):.2f} ms of ours pass before the first step",
            rival=label,
            rival_name=f"scipy {scipy.__version__} RK45",
            goal=SCIPY_GOAL if (label, name) == (first, "ours") else None,
        )
        for label in rivals
        for name, kind, rtol in (("ours", "", RTOL), ("as exact", ", as exact as SciPy", as_exact))
    ]
    return rows, agreements


def check_robot(friction: str, robot: Prepared, duration: float) -> str:
    """The step of L3 with the catalogue's tolerance, against a run with a thousandth of it."""
    solver, times = solver_of(robot), np.linspace(0.0, duration, 301)
    tight = Solver(solver.method, rtol=solver.rtol / 1000, atol=solver.atol / 1000)
    converged = robot.run(tight, duration, times).y[:, 0]
    error = float(np.abs(robot.run(solver, duration, times).y[:, 0] - converged).max() / np.ptp(converged))
    what = f"the robot's step, friction {friction}, at {solver.rtol:g} and at a thousandth of it"
    return require_agreement(what, error, ROBOT_ERROR)


def compare_rig(robot: Prepared, rig: Prepared, size: Size) -> Row:
    """Computing time of the whole robot per simulated second over that of the rig, each with its catalogue's solver."""
    times = 10
    runs = {
        "robot": partial(robot.run, solver_of(robot), size.step),
        "rig": partial(_repeat, partial(rig.run, solver_of(rig), size.rig), times),
    }
    return time_interleaved(runs, size.rounds).row(
        "whole robot (step of L3, smoothed friction) over the rig, per simulated second",
        "robot",
        "ms/s",
        1e3 / size.step,
        note="each with its catalogue's solver; the study's own: over 200 times",
        rival="rig",
        rival_name="our rig",
        rival_scale=1e3 / (times * size.rig),
        goal=ROBOT_GOAL,
    )


def _repeat(run: Callable[[], object], times: int) -> None:
    for _ in range(times):
        run()


def beside_clock(label: str, robot: Prepared, duration: float, size: Size) -> Row:
    """Seconds of computing per simulated second of the whole robot with smoothed friction."""
    timings = time_interleaved({"ours": partial(robot.run, solver_of(robot), duration)}, size.rounds)
    name = f"whole robot, {label}, smoothed friction: seconds per simulated second"
    note = "1 is real time; rodas4p at 1e-5, nothing recorded but the ends"
    return timings.row(name, "ours", "s/s", 1 / duration, note=note, goal=REAL_TIME)


def compare_frictions(robots: dict[str, Prepared], size: Size) -> Table:
    """A step of L3 and some seconds of rest with each description of dry friction."""
    instants = np.array([PEAK, size.settled, size.rest])
    runs = {friction: partial(robot.run, solver_of(robot), size.rest, instants) for friction, robot in robots.items()}
    timings = time_interleaved(runs, size.scipy_rounds)
    lines = []
    for friction, run in runs.items():
        trajectory = run()
        peak, early, late = trajectory.y[:, 0] - CENTRES["l3"]
        steps = trajectory.counters.steps + trajectory.counters.rejected
        creep = abs(late - early) * 1e6
        times = (timings.median(friction) * 1e3 / size.rest, timings.ratio(friction, "smooth"))
        lines.append((friction, steps, *times, f"{peak * 1e3:.3f}", f"{late * 1e3:.4f}", creep))
    columns = (
        "friction",
        "steps",
        "ms per simulated s",
        "over smooth",
        "at 35 ms [mm]",
        "at the end [mm]",
        "creep [um]",
    )
    return Table(f"whole robot, step of L3 and {size.rest:g} s of rest", columns, tuple(lines))


# The rig as a user of SciPy would write it: `solve_ivp` with the past kept as dense output.
#
#     M a = F - B v - M g,  c0 F' = Q(x) - v - F/ch
#     x'' = w^2 (I(t - te) - x) - 2 b w x',  I = clip(K (U - U_m(t - tm)))
#
# Method of steps: no interval is longer than the shortest delay, so that all that is delayed is known when it begins.
# Plain floats: for five states they are several times faster than small arrays.

NUMBERS = {name: number.value for name, number in epaas_rig().numbers().items()}
MASS, WEIGHT = NUMBERS["load.mass"], NUMBERS["load.mass"] * -NUMBERS["gravity.z"]
SENSOR, TARGET, STEP_AT = NUMBERS["piston.sensor.gain"], NUMBERS["piston.target.after"], NUMBERS["piston.target.at"]
GAIN, LIMIT = NUMBERS["piston.control.gain"], NUMBERS["piston.control.limit"]
FREQUENCY, DAMPING = NUMBERS["piston.valve.natural_frequency"], NUMBERS["piston.valve.damping"]
COMPLIANCE, LEAKAGE = NUMBERS["piston.actuator.oil_compliance"], NUMBERS["piston.actuator.leakage"]
VISCOUS = NUMBERS["piston.friction.viscous"]
MEASURING_DELAY, VALVE_DELAY = NUMBERS["piston.measured.time"], NUMBERS["piston.late.time"]
OPENINGS, SPEEDS = RIG_FLOW["openings"], RIG_FLOW["speeds"]
SLOPES = [
    (after - before) / (right - left)
    for left, right, before, after in zip(OPENINGS, OPENINGS[1:], SPEEDS, SPEEDS[1:], strict=False)
]
# By themselves, the delays need intervals of the shorter one; joined, the position of 2.3 ms ago is all it takes.
INTERVALS = {"each delay by itself": MEASURING_DELAY, "delays joined": MEASURING_DELAY + VALVE_DELAY}


def no_load_speed(opening: float) -> float:
    """Straight lines through the table, held beyond its ends."""
    if opening <= OPENINGS[0]:
        return SPEEDS[0]
    if opening >= OPENINGS[-1]:
        return SPEEDS[-1]
    k = bisect_right(OPENINGS, opening) - 1
    return SPEEDS[k] + SLOPES[k] * (opening - OPENINGS[k])


class Rig:
    """The rig with its past: one dense solution an interval."""

    def __init__(self, start: np.ndarray, interval: float) -> None:
        self.start, self.interval = start, interval
        self.ends: list[float] = []
        self.solutions: list[Any] = []

    def position(self, t: float) -> float:
        """Position at a time that is past, the start's before it."""
        if t <= 0.0:
            return float(self.start[0])
        return float(self.solutions[min(bisect_right(self.ends, t), len(self.ends) - 1)](t)[0])

    def current(self, t: float) -> float:
        """Current of the controller at a time that is past or present."""
        wanted = TARGET if t >= STEP_AT else 0.0
        return min(max(GAIN * SENSOR * (wanted - self.position(t - MEASURING_DELAY)), -LIMIT), LIMIT)

    def rates(self, t: float, x: np.ndarray) -> tuple[float, ...]:
        """x_dot of x = [position, velocity, opening, opening rate, oil force]."""
        _, v, opening, rate, force = x.tolist()
        a = (force - VISCOUS * v - WEIGHT) / MASS
        valve = FREQUENCY * (FREQUENCY * (self.current(t - VALVE_DELAY) - opening) - 2 * DAMPING * rate)
        return v, a, rate, valve, (no_load_speed(opening) - v - LEAKAGE * force) / COMPLIANCE

    def run(self, duration: float, **settings: Any) -> None:
        """Integrate from 0 to the duration [s]; settings are solve_ivp's."""
        t, x = 0.0, self.start
        # The delayed step is a jump of the right-hand side: an interval ends there.
        jump = STEP_AT + VALVE_DELAY
        while t < duration:
            end = min(t + self.interval, duration, jump if t < jump else duration)
            found = solve_ivp(self.rates, (t, end), x, dense_output=True, **settings)
            self.ends.append(end)
            self.solutions.append(found.sol)
            t, x = end, found.y[:, -1]

    def positions(self, times: np.ndarray) -> np.ndarray:
        """Positions at times of the run [m]."""
        return np.array([self.position(t) for t in times.tolist()])


def simulate_rig(start: np.ndarray, duration: float, interval: float, **settings: Any) -> Rig:
    """The rig from a start at rest."""
    rig = Rig(start, interval)
    rig.run(duration, **settings)
    return rig
