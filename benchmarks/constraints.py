"""What does a delta robot cost beside MuJoCo and Exudyn, and under control at 1 kHz?

The rival gets the cheapest of its settings whose motion is within the accuracy asked for. Ours gets the coarsest
tolerance of a ladder at which neither the motion nor the distance between the arms' tips is worse than the rival's.
What constraint methods cost beside each other is measured by `constraint_methods`, long chains by
`chain`.
"""

from __future__ import annotations

from importlib.metadata import version
from importlib.util import find_spec

import numpy as np

from benchmarks.agreement import Disagreement
from benchmarks.delta_rivals import DURATION, INSTANTS, Errors, ExudynDelta, MuJoCoDelta, delta_swing, find_errors
from benchmarks.prepared import Prepared, prepare
from benchmarks.rows import Findings, Row, Table
from benchmarks.timing import time_interleaved
from robodyn.assembly import assemble
from robodyn.model import Scenario, Solver
from robodyn_studies.catalog import delta_pid, delta_tracking

ROUNDS = 7
TIPS = tuple(f"arm{k}.tip.position.{axis}" for k in (1, 2, 3) for axis in "xyz")
PLATFORM = tuple(f"platform.position.{axis}" for axis in "xyz")
LADDER = 10.0 ** -np.arange(2, 13, 0.5)
MUJOCO = [(way, step) for step in (1e-2, 5e-3, 2e-3, 1e-3, 5e-4, 2e-4, 1e-4) for way in ("Euler", "RK4")]
EXUDYN = (1e-2, 5e-3, 2e-3, 1e-3)
REAL_TIME_GOAL = 10.0
"""Milliseconds a simulated second: 100 times real time."""


def measure() -> Findings:
    """The robot beside each rival that is installed, then under control."""
    ours = prepare(assemble(delta_swing()), Solver("dopri5"), TIPS)
    exact = read_tips(ours, Solver("dopri5", rtol=1e-12, atol=1e-14))[:, 0]
    rows = [beside_mujoco(ours, exact, accuracy) for accuracy in (1e-6, 1e-8)]
    if find_spec("exudyn"):
        rows.append(beside_exudyn(ours, exact, 1e-5))
    rows += [under_control("PID, geared dc motors", delta_pid()), under_control("tracking", delta_tracking())]
    return Findings(tuple(rows), (control_table(),))


def read_tips(prepared: Prepared, solver: Solver) -> np.ndarray:
    """Places of the arms' tips at all instants, (n, 3, 3)."""
    found = prepared.run(solver, DURATION, INSTANTS).y
    columns = {info.name: found[:, k] for k, info in enumerate(prepared.recorded)}
    return np.stack([columns[name] for name in TIPS], axis=1).reshape(-1, 3, 3)


def no_worse(ours: Prepared, exact: np.ndarray, rival: Errors) -> tuple[Solver, Errors]:
    """The coarsest tolerance that is no worse than a rival in motion and constraint."""
    for tolerance in LADDER:
        solver = Solver("dopri5", rtol=tolerance, atol=tolerance / 100)
        found = find_errors(read_tips(ours, solver), exact)
        if found.motion <= rival.motion and found.constraint <= rival.constraint:
            return solver, found
    raise Disagreement(f"no tolerance is as good as {rival}")


def beside_mujoco(ours: Prepared, exact: np.ndarray, accuracy: float) -> Row:
    """MuJoCo's cheapest integrator and step within the accuracy."""
    for way, step in sorted(MUJOCO, key=lambda chosen: MuJoCoDelta(*chosen).evaluations):
        rival = MuJoCoDelta(way, step)
        errors = rival.errors(exact)
        if errors.worst <= accuracy:
            name = f"MuJoCo {rival.mujoco.__version__}, {way}, {1e3 * step:g} ms"
            return compare(ours, exact, rival, errors, name)
    raise Disagreement(f"MuJoCo's delta robot is never within {accuracy:g} m of ours")


def beside_exudyn(ours: Prepared, exact: np.ndarray, accuracy: float) -> Row:
    """Exudyn's longest step within the accuracy."""
    for step in EXUDYN:
        rival = ExudynDelta(step)
        errors = rival.errors(exact)
        if errors.worst <= accuracy:
            return compare(ours, exact, rival, errors, f"Exudyn {version('exudyn')}, {1e3 * step:g} ms")
    raise Disagreement(f"Exudyn's delta robot is never within {accuracy:g} m of ours")


def compare(
    ours: Prepared, exact: np.ndarray, rival: MuJoCoDelta | ExudynDelta, errors: Errors, rival_name: str
) -> Row:
    """Both timed in turns."""
    solver, own = no_worse(ours, exact, errors)
    timings = time_interleaved({"ours": lambda: ours.run(solver, DURATION), "rival": rival.run}, ROUNDS)
    per_second = 1e3 / DURATION
    message = (
        f"motion within {own.motion:.1e} m against {errors.motion:.1e} m of a converged run, tips apart "
        f"{own.constraint:.1e} m against {errors.constraint:.1e} m; ours dopri5 at {solver.rtol:.1e}"
    )
    name = f"swinging delta robot, {DURATION:g} s, no less accurate than {rival_name}"
    return Row(
        name,
        timings.median("ours") * per_second,
        "ms/s",
        message,
        timings.median("rival") * per_second,
        rival_name,
        timings.ratio("ours", "rival"),
        1.0,
    )


CONTROL_SOLVERS = {
    "rk4, 1 ms": Solver("rk4", step=1e-3),
    "heun, 1 ms": Solver("heun", step=1e-3),
    "dopri5, 1e-3": Solver("dopri5", rtol=1e-3, atol=1e-5),
    "dopri5, 1e-7": Solver("dopri5", rtol=1e-7, atol=1e-9),
}
CONTROLLED = "rk4, 1 ms"


def controlled_times(scenario: Scenario) -> dict[str, tuple[float, float]]:
    """Solver -> milliseconds a simulated second, and largest error of the platform's place [m]."""
    system, times = assemble(scenario), np.linspace(0, scenario.duration, 301)
    best = Solver("dopri5", rtol=1e-10, atol=1e-12)
    exact = prepare(system, best, PLATFORM).run(best, scenario.duration, times).y
    found = {}
    for name, solver in CONTROL_SOLVERS.items():
        ready = prepare(system, solver, PLATFORM)
        error = float(np.abs(ready.run(solver, scenario.duration, times).y - exact).max())
        seconds = [ready.run(solver, scenario.duration).counters.wall_time for _ in range(ROUNDS)]
        found[name] = 1e3 * float(np.median(seconds)) / scenario.duration, error
    return found


def under_control(label: str, scenario: Scenario) -> Row:
    """One step a sample: what a controller at 1 kHz can use."""
    cost, error = controlled_times(scenario)[CONTROLLED]
    message = (
        f"{1e3 / cost:.0f} times real time with {CONTROLLED}; the platform within {error:.1e} m of a converged run"
    )
    return Row(f"delta robot at 1 kHz, {label}", cost, "ms/s", message, goal=REAL_TIME_GOAL, holds=error < 1e-5)


def control_table() -> Table:
    """The PID case with other methods."""
    lines = [(name, *found, 1e3 / found[0]) for name, found in controlled_times(delta_pid()).items()]
    return Table("delta robot under PID at 1 kHz", ("solver", "ms/s", "error m", "times real time"), tuple(lines))
