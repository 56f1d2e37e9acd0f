"""How much faster is the welding robot simulated near its nominal motion than in full: rigid, elastic, flexible?

Both run in the same engine, with the same signals recorded at 1 kHz; friction, drives and controllers are in full on
both sides. Errors are distances of the tip from a converged non-linear run, solver included, with perfect encoders: a
count that falls a tick earlier or later would hide them. Computing the nominal motion, once for all runs, is not part
of the times; it is reported.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from benchmarks.rows import Findings, Row, Table
from benchmarks.rx90 import ACCURACY, CONVERGED, OURS, PERFECT, RECORDING, SIGNALS, STEP, apart, full_run
from benchmarks.timing import Timings, time_interleaved
from robodyn.model import Solver
from robodyn.perturbation import Perturbed, compute_nominal
from robodyn.results import Run
from robodyn_studies.catalog import rx90_weld
from robodyn_studies.rx90_runs import weld

SOLVERS = {
    "rosw2": OURS,
    "rosw1": Solver("rosw1", step=STEP),
    "rodas4p 1e-3": Solver("rodas4p", rtol=1e-3, atol=1e-5),
    "dopri5 1e-3": Solver("dopri5", rtol=1e-3, atol=1e-5),
}
GOALS = {"rigid": 1 / 3, "elastic": 1 / 10, "flexible": None}
PARTS = {"rigid": "rigid gears", "elastic": "elastic gears", "flexible": "flexible links"}
# Of the many states of flexible links exact Jacobians and small explicit steps cost more than they gain.
TRIED = {"flexible": ("rosw2", "rosw1")}
ROUNDS = 9
# Computing time of the whole weld in ms per simulated second.
PER_SECOND = 1e3 / rx90_weld().duration
ERRORS = ("non-linear from converged, um", "perturbed from it, um", "both apart with counts, um")


@dataclass(frozen=True)
class Pair:
    """Both methods with one solver: median times [s], ratio of each round's, and errors [m].

    Attributes:
        error, near_error: of the non-linear and of the perturbed run against the converged one, with perfect encoders.
        difference: of both methods, with the encoders' counts.
    """

    name: str
    seconds: float
    near_seconds: float
    ratio: float
    error: float
    near_error: float
    difference: float


def measure() -> Findings:
    """Rows at equal settings and each at its own fastest; a table for every solver."""
    rows, tables = [], []
    for build, goal in GOALS.items():
        pairs = compare_methods(build)
        rows += [equal_row(build, pairs[0], goal), own_row(build, pairs, goal)]
        tables.append(tabulate(build, pairs))
    return Findings(tuple(rows), tuple(tables))


def tabulate(build: str, pairs: list[Pair]) -> Table:
    lines = tuple(
        (p.name, p.seconds * PER_SECOND, p.near_seconds * PER_SECOND, 1 / p.ratio)
        + tuple(f"{error * 1e6:.3f}" for error in (p.error, p.near_error, p.difference))
        for p in pairs
    )
    columns = ("solver", "non-linear, ms/s", "perturbed, ms/s", "times faster", *ERRORS)
    return Table(f"RX90B weld, {PARTS[build]}: both methods", columns, lines)


def equal_row(build: str, pair: Pair, goal: float | None) -> Row:
    """Both methods with the catalogue's solver."""
    return Row(
        f"RX90B weld, {PARTS[build]}, perturbation against non-linear, both {pair.name}",
        pair.near_seconds * PER_SECOND,
        "ms/s",
        f"tips {pair.difference * 1e6:.2f} um apart with the encoders' counts; without them "
        f"{pair.near_error * 1e6:.3f} um from a converged run; nominal motion in {nominal_time(build) * 1e3:.0f} ms",
        pair.seconds * PER_SECOND,
        f"non-linear {pair.name}",
        pair.ratio,
        goal,
    )


def own_row(build: str, pairs: list[Pair], goal: float | None) -> Row:
    """Each method with its fastest solver whose tip is within 1 um of the converged run."""
    full = min((pair for pair in pairs if pair.error < ACCURACY), key=lambda pair: pair.seconds)
    near = min((pair for pair in pairs if pair.near_error < ACCURACY), key=lambda pair: pair.near_seconds)
    return Row(
        f"RX90B weld, {PARTS[build]}, the same, each with its fastest solver",
        near.near_seconds * PER_SECOND,
        "ms/s",
        f"tips within {near.near_error * 1e6:.2f} um ({near.name}) and {full.error * 1e6:.2f} um ({full.name})",
        full.seconds * PER_SECOND,
        f"non-linear {full.name}",
        near.near_seconds / full.seconds,
        goal,
    )


def compare_methods(build: str) -> list[Pair]:
    """All solvers, all contenders in turn."""
    solvers = {name: SOLVERS[name] for name in TRIED.get(build, SOLVERS)}
    full = {name: full_run(solver, build) for name, solver in solvers.items()}
    near = {name: near_run(solver, build) for name, solver in solvers.items()}
    timings = time_interleaved(full | {f"{name} near": run for name, run in near.items()}, ROUNDS)
    best = full_run(CONVERGED, build)(parameters=PERFECT)
    return [pair_up(name, full[name], near[name], best, timings) for name in solvers]


def pair_up(name: str, full: Callable[..., Run], near: Callable[..., Run], best: Run, timings: Timings) -> Pair:
    ratio = timings.ratio(f"{name} near", name)
    error, near_error = (apart(run(parameters=PERFECT), best) for run in (full, near))
    return Pair(
        name, timings.median(name), timings.median(f"{name} near"), ratio, error, near_error, apart(near(), full())
    )


def near_run(solver: Solver, build: str) -> Callable[..., Run]:
    """The run near the nominal motion, made ready; takes numbers to change."""
    return partial(Perturbed(weld(build), solver=solver, signals=SIGNALS).simulate, recording=RECORDING)


def nominal_time(build: str) -> float:
    """What the nominal motion takes to compute, its equations being derived [s]."""
    equations = Perturbed(weld(build), solver=OURS).equations
    begun = time.perf_counter()
    compute_nominal(equations)
    return time.perf_counter() - begun
