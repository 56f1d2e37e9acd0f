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

from benchmarks.findings import Disagreement, Findings, Row, Table, require_agreement
from benchmarks.timing import Prepared, Timings, prepare
from robodyn.computation.assembly import assemble
from robodyn.computation.cosimulation import Connection, CosimSettings, CosimulationRun, ScenarioUnit, cosimulate
from robodyn.description.model import Recording, Scenario, Solver
from robodyn_studies.catalog.space_case import PITCH, PORT, space_case, space_case_sides

DISTANCE = "touch.gap"
"""Of the payload's corner to the wall [m], which the monolithic run is judged by; a co-simulation by its interface."""
GRIP = "centre.position.x"
"""Where the monolithic arm has its effector's centre, to the right [m]."""
ACCURATE, STABLE = 1e-3, 2e-2
"""As in the study, and the error of any stable macro step [m]: the payload moves by some metres."""
WAYS: Mapping[str, Mapping[str, Any]] = {"order 0": {}, "order 1": {"order": 1}, "implicit": {"implicit": True}}
LIMITS = {"order 0": 0.115, "order 1": 0.115, "implicit": 0.2}
"""Macro steps at which no disturbance grows, just below those bisected in the study [s]."""
SIDES = Solver("trbdf2", rtol=0.03, atol=3e-3)
CONVERGED = Solver("rodas4", rtol=1e-8, atol=1e-9)
COARSE = Solver("rodas4", rtol=1e-3, atol=1e-4)
"""Of both sides where one needs short steps."""
LADDER = tuple(10.0**-k for k in (1, 1.5, 2, 2.5, 3, 4, 5))
LENGTH = 5.0
IDLE = 1e-6
"""Duration of a run that has all in it but steps [s]."""
EXTRA = 8
"""Micro steps in a macro step of which the cost of one is found."""
SHORT, SHORT_MACRO = 1e-4, 0.05
"""Longest step of what needs short ones, and the macro step there [s]."""


@dataclass(frozen=True)
class Size:
    """What is coupled how, for how long [s].

    Attributes:
        steps: macro steps beside the longest stable ones [s].
        short_span: duration with short steps in the payload [s]; 0 for none, nor a table of where the time goes.
        calls: of which the fastest counts; a round is made of these.
    """

    ways: tuple[str, ...] = ("order 0", "order 1", "implicit")
    steps: tuple[float, ...] = (0.05, 0.1)
    duration: float = PITCH.duration
    short_span: float = 3.0
    rounds: int = 5
    calls: int = 15
    flexible: bool = True


SIZES = {"smallest": Size(("implicit",), (0.05,), 4.0, 0.0, 1, 2, flexible=False), "usual": Size()}


@dataclass(frozen=True)
class Coupled:
    """A co-simulation with its error [m] and the call that repeats it."""

    step: float
    way: str
    error: float
    last: CosimulationRun
    run: Callable[[float | None], CosimulationRun]
    calls: int

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
        return spend(lambda: self.run(None), self.calls) - spend(lambda: self.run(self.step), self.calls)


def measure(size: Size) -> Findings:
    """The two macro steps beside the monolithic run, and where the time of all of them goes."""
    prepared = prepare(
        assemble(space_case(size.flexible, duration=size.duration, manoeuvre=PITCH)), CONVERGED, (DISTANCE, GRIP)
    )
    whole = find_whole(prepared, size)
    sides = space_case_sides("model-model", size.flexible, duration=size.duration, manoeuvre=PITCH)
    units = make_units(sides, (SIDES, SIDES))
    cases = [couple(units, step, way, prepared, size) for way in size.ways for step in (*size.steps, LIMITS[way])]
    chosen = {f"longest stable, {case.way}": case for case in cases if case.step == LIMITS[case.way]}
    chosen = {"within 1 mm": longest(cases, ACCURATE), **chosen}
    agreements = [require_agreement("the monolithic run and a converged one", whole.error, ACCURATE, "m")]
    for name, case in chosen.items():
        allowed = ACCURATE if name == "within 1 mm" else STABLE
        what = f"{name}, {1e3 * case.step:g} ms: the coupled arm and the monolithic one"
        agreements.append(require_agreement(what, case.error, allowed, "m"))
    timings = time_rounds(whole.measure, chosen, size.rounds)
    rows = [make_row(name, case, whole, timings) for name, case in chosen.items()]
    tables = [make_table(cases, size)]
    if size.short_span:
        rows.append(compare_short(prepared, size))
        tables.append(share_time(sides, prepared, size))
    return Findings(tuple(rows), tuple(tables), tuple(agreements))


def spend(call: Callable[[], object], calls: int) -> float:
    """Seconds of the processor, the least of some calls: differences of two are taken."""
    spent = []
    for _ in range(calls):
        begun = clock.process_time()
        call()
        spent.append(clock.process_time() - begun)
    return min(spent)


def time_rounds(whole: Callable[[], float], chosen: Mapping[str, Coupled], rounds: int) -> Timings:
    """Integration alone, in turn; a first round does not count. Of differences the least would be luck: the median."""
    entries = [{"whole": whole(), **{name: case.measure() for name, case in chosen.items()}} for _ in range(rounds + 1)]
    return Timings({name: (float(np.median([entry[name] for entry in entries[1:]])),) for name in entries[0]})


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
    calls: int

    def measure(self) -> float:
        """Seconds of integration."""
        idle = spend(lambda: self.prepared.run(self.solver, IDLE), self.calls)
        return spend(lambda: self.prepared.run(self.solver, self.duration), self.calls) - idle


def find_whole(prepared: Prepared, size: Size) -> Whole:
    """The arm in one piece at the coarsest tolerance within 1 mm."""
    times = np.linspace(0.0, size.duration, 1801)
    exact = read(prepared, CONVERGED, DISTANCE, times)
    for tolerance in LADDER:
        solver = Solver("rodas4", rtol=tolerance, atol=tolerance / 10)
        distances = read(prepared, solver, DISTANCE, times)
        if len(distances) == len(times) and np.abs(distances - exact).max() <= ACCURATE:
            return Whole(prepared, solver, size.duration, float(np.abs(distances - exact).max()), size.calls)
    raise Disagreement(f"the monolithic run is never within {ACCURATE:g} m of the converged one")


def read(prepared: Prepared, solver: Solver, signal: str, times: np.ndarray) -> np.ndarray:
    """A signal of the monolithic run at some times up to its end."""
    names = [info.name for info in prepared.recorded]
    return prepared.run(solver, float(times[-1]), times).y[:, names.index(signal)]


def couple(units: list[ScenarioUnit], step: float, way: str, prepared: Prepared, size: Size) -> Coupled:
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
    apart = np.abs(kept.values - read(prepared, CONVERGED, GRIP, last.coupling.time))
    # Whatever a certificate says of so long steps: here they are judged by the position.
    error = float(apart.max()) if last.outcome.carried_through and np.isfinite(apart).all() else np.inf
    return Coupled(step, way, error, last, run, size.calls)


def longest(cases: list[Coupled], bound: float) -> Coupled:
    """With the longest macro step within a bound; of two ways the one with fewer micro steps."""
    able = [case for case in cases if case.error <= bound]
    if not able:
        raise Disagreement(f"no macro step is within {bound:g} m of the monolithic run")
    return max(able, key=lambda case: (case.step, -case.micro_steps))


def make_row(name: str, case: Coupled, whole: Whole, timings: Timings) -> Row:
    note = (
        f"{1e3 * case.error:.2g} mm off, {case.way}, {case.last.statistics.steps} macro steps, "
        f"{case.micro_steps} micro steps; monolithic {1e3 * whole.error:.2g} mm off at {whole.solver.rtol:.0e}"
    )
    label = f"flexible space arm by reduced models, {name}: {1e3 * case.step:g} ms"
    scale, rival = 1e3 / whole.duration, "ours monolithic"
    return timings.row(label, name, "ms/s", scale, note=note, rival="whole", rival_name=rival)


def compare_short(prepared: Prepared, size: Size) -> Row:
    """The payload alone with short steps, beside the whole with them."""
    short, span = replace(COARSE, max_step=SHORT), size.short_span
    units = make_units(space_case_sides("model-model", size.flexible, duration=span, manoeuvre=PITCH), (COARSE, short))
    case = couple(units, SHORT_MACRO, "order 1", prepared, size)
    timings = time_rounds(Whole(prepared, short, span, 0.0, size.calls).measure, {"coupled": case}, size.rounds)
    return timings.row(
        f"the same, {1e3 * SHORT_MACRO:g} ms, with steps of {1e3 * SHORT:g} ms in the payload",
        "coupled",
        "ms/s",
        1e3 / span,
        note=f"{1e3 * case.error:.2g} mm off; {case.micro_steps} micro steps, 0 to {span:g} s",
        rival="whole",
        rival_name="ours monolithic with such steps",
    )


def make_table(cases: list[Coupled], size: Size) -> Table:
    """Every macro step once."""
    lines = tuple(
        (1e3 * case.step, case.way, 1e3 * case.error, case.counts[0], case.micro_steps, 1e3 * case.measure())
        for case in cases
    )
    columns = ("macro step, ms", "models", "error, mm", "macro steps", "micro steps", "ms in all")
    return Table(f"co-simulated flexible arm, {size.duration:g} s, one run each", columns, lines)


def share_time(sides: Sequence[Scenario], prepared: Prepared, size: Size) -> Table:
    """What an exchange and micro steps cost: more micro steps on one side, then on the other, the same exchanges."""
    short = replace(SIDES, max_step=SHORT_MACRO / EXTRA)
    solvers = ((SIDES, SIDES), (short, SIDES), (SIDES, short))
    cases = [couple(make_units(sides, pair), SHORT_MACRO, "order 1", prepared, size) for pair in solvers]
    seconds = [float(np.median([case.measure() for _ in range(size.rounds)])) for case in cases]
    parts = np.linalg.solve(np.array([case.counts for case in cases], float), seconds)
    columns = ("an exchange, us", "a micro step of the arm, us", "of the payload, us")
    return Table("where the time goes", columns, (tuple((1e6 * parts).tolist()),))
