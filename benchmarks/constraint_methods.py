"""What does each way to keep constraints cost at equal accuracy?

Every contender gets the coarsest tolerance or step of a ladder at which its positions stay within the accuracy asked
for, all the time; then it is timed. Minimal coordinates of the pendulum are its angle, those of the delta robot its
motors' angles. The drift is that of the recorded instants, between steps too. The study of Baumgarte's method speaks of
index-3 runs about 5 times (pendulum) and 10 times (delta robot) as long.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import pi

import numpy as np

from benchmarks.findings import Disagreement, Findings, Row, Table, require_agreement
from benchmarks.timing import Prepared, Timings, prepare
from robodyn.computation.assembly import assemble
from robodyn.computation.engine import Trajectory
from robodyn.description.catalog import cartesian_pendulum
from robodyn.description.catalog.linkages import pendulum
from robodyn.description.model import ConstraintMethod, Scenario, Solver
from robodyn.description.model.solver import is_adaptive
from robodyn_studies.catalog.delta_robot import MOTORS, delta_hold, symmetric_pose

LADDER = 10.0 ** -np.arange(1, 13, 0.25)
"""Tolerances of adaptive methods; steps of others go down with them as h = 0.1 tolerance^(1/3) s."""
BAUMGARTE, INDEX3 = "Baumgarte, dopri5", "index 3, generalised alpha"


@dataclass(frozen=True)
class Size:
    """Motions, and errors that are allowed [m]."""

    cases: tuple[str, ...] = ("pendulum", "delta robot")
    accuracies: tuple[float, ...] = (1e-3, 1e-6)
    rounds: int = 11


SIZES = {"smallest": Size(("pendulum",), (1e-3,), 1), "usual": Size()}


@dataclass(frozen=True)
class Case:
    """A motion, the ways to compute it, and the positions [m] by which they are judged."""

    name: str
    scenario: Scenario
    signals: tuple[str, ...]
    pole: float
    minimal: Scenario
    claim: float

    @property
    def ways(self) -> dict[str, tuple[Scenario, str]]:
        """Contender -> scenario with its constraint method, and method."""
        baumgarte = replace(self.scenario, constraint_method=ConstraintMethod(pole=self.pole))
        return {
            BAUMGARTE: (baumgarte, "dopri5"),
            "Baumgarte, heun": (baumgarte, "heun"),
            "Baumgarte, trbdf2": (baumgarte, "trbdf2"),
            "projection, dopri5": (replace(self.scenario, constraint_method=ConstraintMethod("projection")), "dopri5"),
            "minimal, dopri5": (self.minimal, "dopri5"),
            INDEX3: (replace(self.scenario, constraint_method=ConstraintMethod("index3")), "generalised_alpha"),
        }


@dataclass(frozen=True)
class Contender:
    """A way with the settings that just give the accuracy asked for."""

    prepared: Prepared
    solver: Solver
    duration: float
    error: float
    drift: float
    energy: float

    def run(self) -> Trajectory:
        return self.prepared.run(self.solver, self.duration)


def measure(size: Size) -> Findings:
    """A table for each motion and accuracy, and Baumgarte's method beside index 3 in each."""
    rows, tables, agreements = [], [], []
    for case in (CASES[name]() for name in size.cases):
        exact = reference(case)
        ready = {way: prepare_way(case, *chosen) for way, chosen in case.ways.items()}
        for accuracy in size.accuracies:
            contenders = {way: find_contender(case, way, ready[way], exact, accuracy) for way in case.ways}
            worst = max(contender.error for contender in contenders.values())
            what = f"{case.name}: positions of {len(contenders)} ways and converged ones"
            agreements.append(require_agreement(what, worst, accuracy, "m"))
            timings = time_engine(contenders, size.rounds)
            tables.append(make_table(case, accuracy, contenders, timings))
            rows.append(make_row(case, accuracy, contenders, timings))
    return Findings(tuple(rows), tuple(tables), tuple(agreements))


def pendulum_case() -> Case:
    """A point mass on two slides and a rod, let go level with its pivot, for 10 s."""
    signals = ("tip.position.x", "tip.position.z")
    return Case("pendulum", cartesian_pendulum(), signals, 10.0, pendulum(angle=pi / 2), claim=5.0)


def delta_case() -> Case:
    """The delta robot swinging about where its motors' torques hold it, for 5 s."""
    start = symmetric_pose(angle=0.5) | {"arm1.q1.velocity": 1.0}
    scenario = replace(delta_hold(angle=0.7), initial=start, initialisation="assembled", duration=5.0)
    minimal = replace(scenario, constraint_method=ConstraintMethod("minimal", independent=MOTORS))
    return Case(
        "delta robot", scenario, tuple(f"platform.position.{axis}" for axis in "xyz"), 20.0, minimal, claim=10.0
    )


CASES = {"pendulum": pendulum_case, "delta robot": delta_case}


def time_engine(contenders: dict[str, Contender], rounds: int) -> Timings:
    """Seconds of each contender by the engine's own clock: short runs would be hidden behind their preparation."""
    seconds: dict[str, list[float]] = {way: [] for way in contenders}
    for _ in range(rounds):
        for way, contender in contenders.items():
            seconds[way].append(contender.run().counters.wall_time)
    return Timings({way: tuple(values) for way, values in seconds.items()})


def prepare_way(case: Case, scenario: Scenario, method: str) -> Prepared:
    """A way in native code, with the signals it is judged by."""
    system = assemble(scenario)
    watched = [name for name in ("constraints.position_error", "energy.balance") if name in system.signal_names]
    return prepare(system, settings(method, LADDER[0]), (*case.signals, *watched))


def find_contender(case: Case, way: str, prepared: Prepared, exact: np.ndarray, accuracy: float) -> Contender:
    """The coarsest settings of a way that give the accuracy."""
    method = case.ways[way][1]
    for tolerance in LADDER:
        found = try_settings(case, prepared, settings(method, tolerance), exact)
        if found.error <= accuracy:
            return found
    raise Disagreement(f"{case.name}: '{way}' never comes within {accuracy:g} m of the reference")


def settings(method: str, tolerance: float) -> Solver:
    """A solver of the ladder."""
    if is_adaptive(method):
        return Solver(method, rtol=tolerance, atol=tolerance)
    return Solver(method, step=0.1 * tolerance ** (1 / 3))


def instants(case: Case) -> np.ndarray:
    return np.linspace(0.0, case.scenario.duration, 201)


def reference(case: Case) -> np.ndarray:
    """Positions at the instants, by Baumgarte's method at a tolerance far below all accuracies asked for."""
    scenario, method = case.ways[BAUMGARTE]
    solver = Solver(method, rtol=1e-12, atol=1e-12)
    prepared = prepare(assemble(scenario), solver, case.signals)
    return prepared.run(solver, scenario.duration, instants(case)).y


def try_settings(case: Case, prepared: Prepared, solver: Solver, exact: np.ndarray) -> Contender:
    """One run with all instants kept: how far it is off, how it drifts there, what it does to the energy."""
    run = prepared.run(solver, case.scenario.duration, instants(case))
    names = [info.name for info in prepared.recorded]
    columns = dict(zip(names, run.y.T, strict=True))
    moved = np.column_stack([columns[name] for name in case.signals])
    whole = len(moved) == len(exact)
    drift = columns.get("constraints.position_error", np.zeros(1))
    return Contender(
        prepared,
        solver,
        case.scenario.duration,
        error=float(np.max(np.abs(moved - exact))) if whole else np.inf,
        drift=float(np.max(drift)),
        energy=float(np.max(np.abs(columns["energy.balance"] - columns["energy.balance"][0]))),
    )


def make_table(case: Case, accuracy: float, contenders: dict[str, Contender], timings: Timings) -> Table:
    lines = []
    for way, contender in contenders.items():
        counted, solver = contender.run().counters, contender.solver
        chosen = f"rtol {solver.rtol:.1e}" if solver.adaptive else f"step {solver.step:.1e} s"
        steps = f"{counted.steps} + {counted.rejected}"
        measured = (contender.error, contender.drift, contender.energy)
        lines.append((way, chosen, steps, counted.evaluations, timings.median(way) * 1e3, *measured))
    columns = ("way", "settings", "steps", "evaluations", "ms", "error m", "drift m", "energy error J")
    return Table(f"{case.name}, {case.scenario.duration:g} s, within {accuracy:g} m", columns, tuple(lines))


def make_row(case: Case, accuracy: float, contenders: dict[str, Contender], timings: Timings) -> Row:
    errors = ", ".join(f"{way} {contenders[way].error:.1e} m" for way in (BAUMGARTE, INDEX3))
    return timings.row(
        f"{case.name} within {accuracy:g} m",
        BAUMGARTE,
        "ms",
        1e3,
        note=f"largest errors: {errors}",
        rival=INDEX3,
        rival_name="index 3",
        goal=1 / case.claim,
    )
