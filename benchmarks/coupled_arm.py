"""What does the co-simulated flexible space arm cost beside the same arm in one piece?

Arm and payload are coupled by reduced interface models in both directions, at the longest macro step that stays within
1 mm of the monolithic run and at the longest one that is stable. Both sides run in one process, one after the other.
Their steps are as long as the macro step, far shorter than those of the monolithic run: `trbdf2`, which keeps its
derivatives while they serve, is cheaper there than the monolithic run's `rodas4`. Time is the processor's, of the
integration with its exchanges: a run of a single macro step, or of no length, which has all else in it, is taken off.
Nothing is recorded in either.
Then the payload, which touches the wall, is made to need steps of 0.1 ms: in one piece the arm has to take them too.
"""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from benchmarks.agreement import Disagreement
from benchmarks.prepared import Prepared, prepare
from benchmarks.rows import Findings, Row, Table
from benchmarks.timing import Timings
from robodyn.assembly import assemble
from robodyn.cosimulation import Connection, CosimSettings, CosimulationRun, ScenarioUnit, cosimulate
from robodyn.model import Recording, Scenario, Solver
from robodyn.results import Run
from robodyn.simulation import simulate
from robodyn_studies.catalog.space_case import PORT, space_case, space_case_sides

ROUNDS, CALLS = 5, 15
DISTANCE = "touch.gap"
"""Of the payload's corner to the wall [m], which the monolithic run is judged by; a co-simulation by its interface."""
ACCURATE = 1e-3
"""As in the study [m]."""
WAYS: Mapping[str, Mapping[str, Any]] = {"order 0": {}, "order 1": {"order": 1}, "implicit": {"implicit": True}}
LIMITS = {"order 0": 0.115, "order 1": 0.115, "implicit": 0.2}
"""Macro steps at which no disturbance grows, just below those bisected in the study [s]."""
STEPS = (0.05, 0.1)
SIDES = Solver("trbdf2", rtol=0.03, atol=3e-3)
COARSE = Solver("rodas4", rtol=1e-3, atol=1e-4)
"""Of both sides where one needs short steps."""
LADDER = tuple(10.0**-k for k in (1, 1.5, 2, 2.5, 3, 4, 5))
LENGTH = 5.0
IDLE = 1e-6
"""Duration of a run that has all in it but steps [s]."""
EXTRA = 8
"""Micro steps in a macro step of which the cost of one is found."""
SHORT, SHORT_SPAN, SHORT_MACRO = 1e-4, 3.0, 0.05
"""Longest step of what needs short ones, how long it is simulated, and the macro step [s]."""


@dataclass(frozen=True)
class Coupled:
    """A co-simulation with its error [m] and the call that repeats it."""

    step: float
    way: str
    error: float
    last: CosimulationRun
    run: Callable[[float | None], CosimulationRun]

    @property
    def counts(self) -> tuple[int, int, int]:
        """Macro steps, and micro steps of arm and payload, rejected ones included."""
        runs = (self.last["arm"], self.last["payload"])
        arm, payload = (run.statistics.steps + run.statistics.rejected for run in runs)
        return self.last.statistics.steps, arm, payload

    @property
    def micro_steps(self) -> int:
        """Of both units."""
        return sum(self.counts[1:])

    def measure(self) -> float:
        """Seconds of integration, with exchanges."""
        return spend(lambda: self.run(None)) - spend(lambda: self.run(self.step))


def measure() -> Findings:
    """The two macro steps beside the monolithic run, and where the time of all of them goes."""
    scenario = space_case()
    reference = simulate(replace(scenario, solver=replace(scenario.solver, rtol=1e-8, atol=1e-9)))
    whole = find_whole(reference)
    units = make_units(space_case_sides("model-model"), (SIDES, SIDES))
    found = [couple(units, step, way, reference) for way in WAYS for step in (*STEPS, LIMITS[way])]
    chosen = {f"longest stable, {case.way}": case for case in found if case.step == LIMITS[case.way]}
    chosen = {"within 1 mm": longest(found, ACCURATE), **chosen}
    timings = time_rounds(whole.measure, chosen)
    rows = [make_row(name, case, whole, timings) for name, case in chosen.items()]
    rows.append(compare_short(reference))
    return Findings(tuple(rows), (make_table(found), share_time(reference)))


def spend(call: Callable[[], object]) -> float:
    """Seconds of the processor, the least of some calls: differences of two are taken."""
    spent = []
    for _ in range(CALLS):
        begun = clock.process_time()
        call()
        spent.append(clock.process_time() - begun)
    return min(spent)


def time_rounds(whole: Callable[[], float], chosen: Mapping[str, Coupled]) -> Timings:
    """Integration alone, in turn; a first round does not count. Of differences the least would be luck: the median."""
    rounds = [{"whole": whole(), **{name: case.measure() for name, case in chosen.items()}} for _ in range(ROUNDS + 1)]
    return Timings({name: (float(np.median([entry[name] for entry in rounds[1:]])),) for name in rounds[0]})


def make_units(sides: Sequence[Scenario], solvers: Sequence[Solver]) -> list[ScenarioUnit]:
    """Arm and payload, which record one signal at the end."""
    kept = [
        replace(side, recording=Recording(times=(side.duration,), signals=(f"{PORT}.position.x",))) for side in sides
    ]
    return [
        ScenarioUnit(side, name=name, length=LENGTH, solver=solver)
        for name, side, solver in zip(("arm", "payload"), kept, solvers, strict=True)
    ]


@dataclass(frozen=True)
class Whole:
    """The monolithic run with a setting within 1 mm."""

    prepared: Prepared
    solver: Solver
    duration: float
    error: float

    def measure(self) -> float:
        """Seconds of integration."""
        idle = spend(lambda: self.prepared.run(self.solver, IDLE))
        return spend(lambda: self.prepared.run(self.solver, self.duration)) - idle


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


def couple(units: list[ScenarioUnit], step: float, way: str, reference: Run) -> Coupled:
    """One co-simulation; units are made anew from their compiled code."""

    def run(duration: float | None) -> CosimulationRun:
        connection = Connection(f"arm.{PORT}", f"payload.{PORT}", **WAYS[way])
        return cosimulate(
            [unit.renew() for unit in units],
            [connection],
            settings=CosimSettings(step, largest_value=1e6),
            duration=duration,
        )

    last = run(None)
    kept = last.coupling[f"payload.{PORT}.position.x"]
    apart = np.abs(kept.values - grip_of(reference, last.coupling.time))
    error = float(apart.max()) if last.outcome.ok and np.isfinite(apart).all() else np.inf
    return Coupled(step, way, error, last, run)


def grip_of(reference: Run, time: np.ndarray) -> np.ndarray:
    """Where the monolithic arm has its effector's centre, to the right [m]."""
    return reference["centre.position.x"](time)


def longest(found: list[Coupled], bound: float) -> Coupled:
    """With the longest macro step within a bound; of two ways the one with fewer micro steps."""
    able = [case for case in found if case.error <= bound]
    if not able:
        raise Disagreement(f"no macro step is within {bound:g} m of the monolithic run")
    return max(able, key=lambda case: (case.step, -case.micro_steps))


def make_row(name: str, case: Coupled, whole: Whole, timings: Timings) -> Row:
    per_second = 1e3 / whole.duration
    message = (
        f"{1e3 * case.error:.2g} mm off, {case.way}, {case.last.statistics.steps} macro steps, "
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
    units = make_units(sides, (COARSE, short))
    case = couple(units, SHORT_MACRO, "order 1", reference)
    timings = time_rounds(Whole(whole, short, SHORT_SPAN, 0.0).measure, {"coupled": case})
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
        (1e3 * case.step, case.way, 1e3 * case.error, case.counts[0], case.micro_steps, 1e3 * case.measure())
        for case in found
    )
    columns = ("macro step, ms", "models", "error, mm", "macro steps", "micro steps", "ms in all")
    return Table("co-simulated flexible arm, 36 s, one run each", columns, lines)


def share_time(reference: Run) -> Table:
    """What an exchange and micro steps cost: more micro steps on one side, then on the other, the same exchanges."""
    short = replace(SIDES, max_step=SHORT_MACRO / EXTRA)
    sides = space_case_sides("model-model")
    solvers = ((SIDES, SIDES), (short, SIDES), (SIDES, short))
    cases = [couple(make_units(sides, pair), SHORT_MACRO, "order 1", reference) for pair in solvers]
    seconds = [float(np.median([case.measure() for _ in range(ROUNDS)])) for case in cases]
    parts = np.linalg.solve(np.array([case.counts for case in cases], float), seconds)
    columns = ("an exchange, us", "a micro step of the arm, us", "of the payload, us")
    return Table("where the time goes", columns, (tuple((1e6 * parts).tolist()),))
