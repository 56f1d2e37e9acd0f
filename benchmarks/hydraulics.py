"""How long does the hydraulic EPAAS robot take, beside its rig, SciPy, the clock and other descriptions of friction?

The rig in SciPy has the same method, tolerance and scaling; both are held against a converged run before.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from benchmarks import scipy_rig
from benchmarks.agreement import require_agreement
from benchmarks.prepared import Prepared
from benchmarks.rows import Findings, Row, Table
from benchmarks.timing import Timings, time_interleaved
from robodyn.assembly import assemble
from robodyn.model import Scenario, Solver
from robodyn.simulation import compile_system
from robodyn.simulation.problem import build_problem
from robodyn.simulation.starting import find_start
from robodyn_studies.catalog import epaas_rig, epaas_step, epaas_trajectory
from robodyn_studies.catalog.epaas_arm import CENTRES

ROUNDS, SCIPY_ROUNDS = 21, 7
RIG_DURATION, STEP_DURATION = 0.07, 0.11
SCIPY_GOAL, ROBOT_GOAL, REAL_TIME = 1 / 200, 20.0, 1.0
RTOL = 1e-6
# The piston moves by 1.6 mm: SciPy at 1e-9 must be within a millionth of it.
SAME_PROBLEM = 1e-6
STROKE = 1.6e-3
FRICTIONS = ("smooth", "lugre", "stick")
FRICTION_REST = 5.0


def measure() -> Findings:
    """The rig beside SciPy, the robot beside the rig and the clock, and three descriptions of friction."""
    rows = (*compare_scipy(), compare_rig(), *compare_clock())
    return Findings(rows, (compare_frictions(),))


def prepare_scenario(scenario: Scenario, solver: Solver, signals: tuple[str, ...]) -> Prepared:
    """A scenario compiled, with the rest it starts from."""
    system = assemble(scenario)
    compiled = compile_system(system, solver, signals=signals)
    values = compiled.parameter_values({})
    numbers = {name: number.value for name, number in system.scenario.numbers().items()}
    p = compiled.module.prepare(values)
    start = find_start(compiled, values)
    return Prepared(build_problem(compiled, p, numbers, start), start.x, start.m, p, compiled)


def compare_scipy() -> tuple[Row, ...]:
    """The rig's step response, ours beside SciPy's with its delays kept apart and joined."""
    import scipy

    solver = Solver("dopri5", rtol=RTOL, atol=RTOL / 100)
    ours = prepare_scenario(epaas_rig(), solver, ("piston.position",))
    times = np.linspace(0.0, RIG_DURATION, 701)
    converged = ours.run(Solver("dopri5", rtol=1e-11, atol=1e-13), RIG_DURATION, times).y[:, 0]
    start, scale = ours.x[:5], ours.problem.scale[:5]

    def rival(interval: float, rtol: float = RTOL) -> scipy_rig.Rig:
        settings = {"method": "RK45", "rtol": rtol, "atol": rtol / 100 * scale}
        return scipy_rig.simulate(start, RIG_DURATION, interval, **settings)

    def error(positions: np.ndarray) -> float:
        return float(np.max(np.abs(positions - converged)) / STROKE)

    tight = error(rival(scipy_rig.MEASURING_DELAY, 1e-9).positions(times))
    same = require_agreement("SciPy's positions at 1e-9 and the converged ones", tight, SAME_PROBLEM)
    run = partial(ours.run, solver, RIG_DURATION)
    rivals: dict[str, Callable[[], scipy_rig.Rig]] = {
        label: partial(rival, interval) for label, interval in scipy_rig.INTERVALS.items()
    }
    call = partial(ours.run, solver, 1e-6)
    timings = time_interleaved({"ours": run, "call": call, **rivals}, SCIPY_ROUNDS)
    mine = error(ours.run(solver, RIG_DURATION, times).y[:, 0])
    rows = []
    for label, contender in rivals.items():
        theirs = error(contender().positions(times))
        accuracy = f"{same}; errors at 1e-6: {mine:.1e} of the stroke, SciPy {theirs:.1e}; "
        accuracy += f"{1e3 * timings.median('call'):.2f} ms of ours pass before the first step"
        goal = SCIPY_GOAL if label == next(iter(rivals)) else None
        name = f"rig step of {1e3 * RIG_DURATION:g} ms, {label}"
        version = f"scipy {scipy.__version__} RK45"
        rows.append(_row(name, timings, "ours", label, 1e3, "ms", accuracy, version, goal))
    return tuple(rows)


def _row(
    name: str,
    timings: Timings,
    ours: str,
    rival: str,
    scale: float,
    unit: str,
    accuracy: str,
    called: str,
    goal: float | None,
) -> Row:
    times = timings.median(ours) * scale, timings.median(rival) * scale
    return Row(name, times[0], unit, accuracy, times[1], called, timings.ratio(ours, rival), goal)


def compare_rig() -> Row:
    """Computing time of the whole robot per simulated second over that of the rig, each with its catalogue's solver."""
    robot, rig = epaas_step("l3"), epaas_rig()
    solvers = [scenario.solver for scenario in (robot, rig)]
    whole = prepare_scenario(robot, solvers[0], ("l3.position",))
    single = prepare_scenario(rig, solvers[1], ("piston.position",))
    runs = {
        "robot": partial(whole.run, solvers[0], STEP_DURATION),
        "rig": partial(_repeat, partial(single.run, solvers[1], RIG_DURATION), 10),
    }
    timings = time_interleaved(runs, ROUNDS)
    factor = 10 * RIG_DURATION / STEP_DURATION
    return Row(
        "whole robot (step of L3, smoothed friction) over the rig, per simulated second",
        timings.median("robot") / STEP_DURATION * 1e3,
        "ms/s",
        "each with its catalogue's solver; the study's own: over 200 times",
        timings.median("rig") / (10 * RIG_DURATION) * 1e3,
        "our rig",
        timings.ratio("robot", "rig") * factor,
        ROBOT_GOAL,
    )


def _repeat(run: Callable[[], object], times: int) -> None:
    for _ in range(times):
        run()


def compare_clock() -> tuple[Row, ...]:
    """Seconds of computing per simulated second of the whole robot with smoothed friction."""
    rows = []
    scenarios = {"step of L3": epaas_step("l3"), "path of 2 s": epaas_trajectory()}
    for label, scenario in scenarios.items():
        solver = scenario.solver
        run = partial(prepare_scenario(scenario, solver, ("l3.position",)).run, solver, scenario.duration)
        timings = time_interleaved({"ours": run}, ROUNDS)
        name = f"whole robot, {label}, smoothed friction: seconds per simulated second"
        message = "1 is real time; rodas4p at 1e-5, nothing recorded but the ends"
        rows.append(Row(name, timings.median("ours") / scenario.duration, "s/s", message, goal=REAL_TIME))
    return tuple(rows)


def compare_frictions() -> Table:
    """A step of L3 and five seconds of rest with each description of dry friction."""
    runs = {}
    for friction in FRICTIONS:
        scenario = epaas_step("l3", duration=FRICTION_REST, friction=friction)
        solver = scenario.solver
        ready = prepare_scenario(scenario, solver, ("l3.position",))
        runs[friction] = partial(ready.run, solver, FRICTION_REST, np.array([0.035, 1.0, FRICTION_REST]))
    timings = time_interleaved(runs, SCIPY_ROUNDS)
    lines = []
    for friction, run in runs.items():
        found = run()
        peak, early, late = found.y[:, 0] - CENTRES["l3"]
        steps = found.counters.steps + found.counters.rejected
        creep = abs(late - early) * 1e6
        times = (timings.median(friction) * 1e3 / FRICTION_REST, timings.ratio(friction, "smooth"))
        lines.append((friction, steps, *times, f"{peak * 1e3:.3f}", f"{late * 1e3:.4f}", creep))
    columns = (
        "friction",
        "steps",
        "ms per simulated s",
        "over smooth",
        "at 35 ms [mm]",
        "at 5 s [mm]",
        "creep 1-5 s [um]",
    )
    return Table("whole robot, step of L3 and 5 s of rest", columns, tuple(lines))
