"""What does the co-simulated flexible space arm cost beside the same arm in one piece?

Arm and payload are coupled by reduced interface models in both directions, at the longest macro step that stays within
1 mm of the monolithic run and at the longest one that is stable. Both sides run in one process, one after the other.
Then the payload, which touches the wall, is made to need steps of 0.1 ms: in one piece the arm has to take them too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from benchmarks.agreement import Disagreement
from benchmarks.prepared import Prepared, prepare
from benchmarks.rows import Findings, Row, Table
from benchmarks.timing import Timings, time_interleaved
from robodyn.assembly import assemble
from robodyn.cosimulation import Connection, CosimSettings, CosimulationRun, ScenarioUnit, cosimulate
from robodyn.model import Solver
from robodyn.results import Run
from robodyn.simulation import simulate
from robodyn_studies.catalog.space_case import PORT, space_case, space_case_sides

ROUNDS = 5
DISTANCE = "touch.gap"
"""Of the payload's corner to the wall [m]."""
ACCURATE = 1e-3
"""As in the study [m]."""
LIMIT = 0.115
"""Longest macro step at which no disturbance grows, as bisected in the study [s]."""
STEPS = (0.05, 0.1, LIMIT)
ORDERS = (0, 1)
COARSE = Solver("rodas4", rtol=1e-3, atol=1e-4)
"""For the micro steps: within a macro step of 50 ms a tighter one does not change the error in three digits."""
LADDER = tuple(10.0**-k for k in (1, 1.5, 2, 2.5, 3, 4, 5))
LENGTH = 5.0
SHORT, SHORT_SPAN, SHORT_MACRO = 1e-4, 3.0, 0.05
"""Longest step of what needs short ones, how long it is simulated, and the macro step [s]."""


@dataclass(frozen=True)
class Coupled:
    """A co-simulation with its error [m] and the call that repeats it."""

    step: float
    order: int
    error: float
    last: CosimulationRun
    run: Callable[[], CosimulationRun]

    @property
    def micro_steps(self) -> int:
        """Of both units, rejected ones included."""
        return sum(run.statistics.steps + run.statistics.rejected for run in (self.last["arm"], self.last["payload"]))


def measure() -> Findings:
    """The two macro steps beside the monolithic run, and where the time of all of them goes."""
    scenario = space_case()
    reference = simulate(replace(scenario, solver=replace(scenario.solver, rtol=1e-8, atol=1e-9)))
    whole = find_whole(reference)
    units = [
        ScenarioUnit(side, name=name, length=LENGTH, solver=COARSE)
        for name, side in zip(("arm", "payload"), space_case_sides("model-model"), strict=True)
    ]
    found = [couple(units, step, order, reference) for order in ORDERS for step in STEPS]
    chosen = {
        "within 1 mm": longest(found, ACCURATE),
        "stable": next(case for case in found if case.order == 0 and case.step == LIMIT),
    }
    contenders: dict[str, Callable[[], object]] = {name: case.run for name, case in chosen.items()}
    timings = time_interleaved({"whole": whole.run, **contenders}, ROUNDS)
    rows = [make_row(name, case, whole, timings) for name, case in chosen.items()]
    rows.append(compare_short(reference))
    return Findings(tuple(rows), (make_table(found), share_time(found)))


@dataclass(frozen=True)
class Whole:
    """The monolithic run with a setting within 1 mm."""

    prepared: Prepared
    solver: Solver
    duration: float
    error: float

    def run(self) -> object:
        return self.prepared.run(self.solver, self.duration)


def find_whole(reference: Run) -> Whole:
    """The arm in one piece at the coarsest tolerance within 1 mm."""
    scenario = space_case()
    prepared = prepare(assemble(scenario), scenario.solver, (DISTANCE,))
    times = np.linspace(0.0, scenario.duration, 1801)
    for tolerance in LADDER:
        solver = Solver("rodas4", rtol=tolerance, atol=tolerance / 10)
        found = prepared.run(solver, scenario.duration, times)
        error = float(np.abs(found.y[:, 0] - reference[DISTANCE](found.time)).max())
        if error <= ACCURATE and len(found.time) >= len(times):
            return Whole(prepared, solver, scenario.duration, error)
    raise Disagreement(f"the monolithic run is never within {ACCURATE:g} m of the converged one")


def couple(units: list[ScenarioUnit], step: float, order: int, reference: Run) -> Coupled:
    """One co-simulation; units are made anew from their compiled code."""

    def run() -> CosimulationRun:
        connection = Connection(f"arm.{PORT}", f"payload.{PORT}", order)
        return cosimulate(
            [unit.renew() for unit in units], [connection], settings=CosimSettings(step, largest_value=1e6)
        )

    last = run()
    gap = last["payload"][DISTANCE]
    apart = np.abs(gap.values - reference[DISTANCE](last["payload"].time))
    error = float(apart.max()) if last.outcome.ok and np.isfinite(apart).all() else np.inf
    return Coupled(step, order, error, last, run)


def longest(found: list[Coupled], bound: float) -> Coupled:
    """With the longest macro step within a bound; of two orders the one with fewer micro steps."""
    able = [case for case in found if case.error <= bound]
    if not able:
        raise Disagreement(f"no macro step is within {bound:g} m of the monolithic run")
    return max(able, key=lambda case: (case.step, -case.micro_steps))


def make_row(name: str, case: Coupled, whole: Whole, timings: Timings) -> Row:
    per_second = 1e3 / whole.duration
    message = (
        f"{1e3 * case.error:.2g} mm off, order {case.order}, {case.last.statistics.steps} macro steps, "
        f"{case.micro_steps} micro steps; monolithic {1e3 * whole.error:.2g} mm off at {whole.solver.rtol:.0e}"
    )
    return Row(
        f"flexible space arm by reduced models, {name}: {1e3 * case.step:g} ms",
        timings.median(name) * per_second,
        "ms/s",
        message,
        timings.median("whole") * per_second,
        "ours monolithic",
        timings.ratio(name, "whole"),
    )


def compare_short(reference: Run) -> Row:
    """The payload alone with short steps, beside the whole with them."""
    short = replace(COARSE, max_step=SHORT)
    whole = prepare(assemble(space_case(duration=SHORT_SPAN)), short, (DISTANCE,))
    sides = space_case_sides("model-model", duration=SHORT_SPAN)
    units = [
        ScenarioUnit(side, name=name, length=LENGTH, solver=solver)
        for name, side, solver in zip(("arm", "payload"), sides, (COARSE, short), strict=True)
    ]
    case = couple(units, SHORT_MACRO, 1, reference)
    timings = time_interleaved({"whole": lambda: whole.run(short, SHORT_SPAN), "coupled": case.run}, ROUNDS)
    return Row(
        f"the same, {1e3 * SHORT_MACRO:g} ms, with steps of {1e3 * SHORT:g} ms in the payload",
        timings.median("coupled") * 1e3 / SHORT_SPAN,
        "ms/s",
        f"{1e3 * case.error:.2g} mm off; {case.micro_steps} micro steps, 0 to {SHORT_SPAN:g} s",
        timings.median("whole") * 1e3 / SHORT_SPAN,
        "ours monolithic with such steps",
        timings.ratio("coupled", "whole"),
    )


def make_table(found: list[Coupled]) -> Table:
    """Every macro step once."""
    lines = tuple(
        (1e3 * case.step, case.order, 1e3 * case.error, *count(case), 1e3 * case.last.statistics.wall_time)
        for case in found
    )
    columns = ("macro step, ms", "order", "error, mm", "macro steps", "micro steps", "ms in all")
    return Table("co-simulated flexible arm, 36 s, one run each", columns, lines)


def count(case: Coupled) -> tuple[int, int]:
    """Macro and micro steps."""
    return case.last.statistics.steps, case.micro_steps


def share_time(found: list[Coupled]) -> Table:
    """What an exchange and a micro step cost: the times of all runs, as a sum of both, by least squares."""
    seconds = np.array([case.last.statistics.wall_time for case in found])
    (exchange, micro), *_ = np.linalg.lstsq(np.array([count(case) for case in found], float), seconds)
    columns = ("an exchange, ms", "a micro step, us")
    return Table("where the time goes", columns, ((1e3 * float(exchange), 1e6 * float(micro)),))
