"""How much faster is the welding robot simulated near its nominal motion than in full: rigid, elastic, flexible?

Both run in the same engine, with the same signals recorded at 1 kHz; friction, drives and controllers are in full on
both sides. Errors are distances of the tip from a converged non-linear run, solver included, with perfect encoders: a
count that falls a tick earlier or later would hide them. Computing the nominal motion, once for all runs, is not part
of the times; it is reported.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from benchmarks.findings import Findings, Row, Table, require_agreement
from benchmarks.rx90 import ACCURACY, CONVERGED, OURS, PERFECT, RECORDING, SIGNALS, STEP, WHOLE, apart, full_run
from benchmarks.timing import time_interleaved
from robodyn.computation.perturbation import Perturbed, compute_nominal
from robodyn.computation.results import Run
from robodyn.description.model import Solver
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
ERRORS = ("non-linear from converged, um", "perturbed from it, um", "both apart with counts, um")


@dataclass(frozen=True)
class Size:
    """Motion begins at 0.3 s."""

    duration: float = WHOLE
    builds: tuple[str, ...] = tuple(GOALS)
    solvers: tuple[str, ...] = tuple(SOLVERS)
    rounds: int = 9


SIZES = {"smallest": Size(0.5, ("rigid",), ("rosw2",), 1), "usual": Size()}


@dataclass(frozen=True)
class Pair:
    """Both methods with one solver: median times [ms/s], ratio of each round's, and errors [m].

    Attributes:
        error, near_error: of the non-linear and of the perturbed run against the converged one, with perfect encoders.
        difference: of both methods, with the encoders' counts.
    """

    name: str
    cost: float
    near_cost: float
    ratio: float
    error: float
    near_error: float
    difference: float


def measure(size: Size) -> Findings:
    """Rows at equal settings and each at its own fastest; a table for every solver."""
    rows, tables, agreements = [], [], []
    for build in size.builds:
        pairs, nominal = compare_methods(build, size)
        for pair in pairs:
            what = f"tips of both methods and of a converged run, {PARTS[build]}, {pair.name},"
            agreements.append(require_agreement(what, max(pair.error, pair.near_error), ACCURACY, "m"))
        rows += [equal_row(build, pairs[0], nominal), own_row(build, pairs)]
        tables.append(tabulate(build, pairs))
    return Findings(tuple(rows), tuple(tables), tuple(agreements))


def tabulate(build: str, pairs: list[Pair]) -> Table:
    lines = tuple(
        (p.name, p.cost, p.near_cost, 1 / p.ratio)
        + tuple(f"{error * 1e6:.3f}" for error in (p.error, p.near_error, p.difference))
        for p in pairs
    )
    columns = ("solver", "non-linear, ms/s", "perturbed, ms/s", "times faster", *ERRORS)
    return Table(f"RX90B weld, {PARTS[build]}: both methods", columns, lines)


def equal_row(build: str, pair: Pair, nominal: float) -> Row:
    """Both methods with the catalogue's solver; nominal: time to compute the nominal motion [s]."""
    return Row(
        f"RX90B weld, {PARTS[build]}, perturbation against non-linear, both {pair.name}",
        pair.near_cost,
        "ms/s",
        f"tips {pair.difference * 1e6:.2f} um apart with the encoders' counts; without them "
        f"{pair.near_error * 1e6:.3f} um from a converged run; nominal motion in {nominal * 1e3:.0f} ms",
        pair.cost,
        f"non-linear {pair.name}",
        pair.ratio,
        GOALS[build],
    )


def own_row(build: str, pairs: list[Pair]) -> Row:
    """Each method with its fastest solver: the tip of each is within 1 um of the converged run."""
    full = min(pairs, key=lambda pair: pair.cost)
    near = min(pairs, key=lambda pair: pair.near_cost)
    return Row(
        f"RX90B weld, {PARTS[build]}, the same, each with its fastest solver",
        near.near_cost,
        "ms/s",
        f"tips within {near.near_error * 1e6:.2f} um ({near.name}) and {full.error * 1e6:.2f} um ({full.name})",
        full.cost,
        f"non-linear {full.name}",
        near.near_cost / full.cost,
        GOALS[build],
    )


def compare_methods(build: str, size: Size) -> tuple[list[Pair], float]:
    """All solvers, all contenders in turn; and what the nominal motion takes to compute, its equations derived [s]."""
    solvers = {name: SOLVERS[name] for name in size.solvers if name in TRIED.get(build, SOLVERS)}
    full = {name: full_run(solver, build, size.duration) for name, solver in solvers.items()}
    scenario = replace(weld(build), duration=size.duration)
    methods = {name: Perturbed(scenario, solver=solver, signals=SIGNALS) for name, solver in solvers.items()}
    near: dict[str, Callable[..., Run]] = {
        name: partial(method.simulate, recording=RECORDING) for name, method in methods.items()
    }
    timings = time_interleaved(full | {f"{name} near": run for name, run in near.items()}, size.rounds)
    best = full_run(CONVERGED, build, size.duration)(parameters=PERFECT)
    pairs = []
    for name in solvers:
        costs = [1e3 * timings.median(each) / size.duration for each in (name, f"{name} near")]
        errors = [apart(run(parameters=PERFECT), best) for run in (full[name], near[name])]
        difference = apart(near[name](), full[name]())
        pairs.append(Pair(name, *costs, timings.ratio(f"{name} near", name), *errors, difference))
    begun = time.perf_counter()
    compute_nominal(next(iter(methods.values())).equations)
    return pairs, time.perf_counter() - begun
