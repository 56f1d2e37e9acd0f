"""How much faster than real time is the welding robot's closed loop, and how far from a converged run?

The whole weld of 6.85 s by `simulate` on a compiled system, with deviation, joints, currents and bristles recorded at
1 kHz. Errors are distances of the tip at these instants. An encoder's count that falls a tick earlier or later moves
the tip by 0.1 um or more, whatever the step: so errors are also found with perfect encoders.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, partial

import numpy as np

from benchmarks.findings import Findings, Row, Table, require_agreement
from benchmarks.timing import Timings, time_interleaved
from robodyn.computation.assembly import System, assemble
from robodyn.computation.results import Run
from robodyn.computation.simulation import CompiledSystem, compile_system, simulate
from robodyn.description.model import Recording, Solver
from robodyn.description.model.solver import is_adaptive
from robodyn_studies.catalog import rx90_weld
from robodyn_studies.rx90_runs import weld

STEP = 0.25e-3
OURS = Solver("rosw2", step=STEP)
CONVERGED = Solver("rosw2", step=STEP / 16)
SOLVERS = {
    "rosw2": OURS,
    "rosw1": Solver("rosw1", step=STEP),
    "rosw2, half the step": Solver("rosw2", step=STEP / 2),
    "rodas4p 1e-3": Solver("rodas4p", rtol=1e-3, atol=1e-5),
    "rodas4p 1e-5": Solver("rodas4p", rtol=1e-5, atol=1e-8),
}
PERFECT = {f"axis{k}.encoder.resolution": 0.0 for k in range(1, 7)}
DEVIATION = ("deviation.horizontal", "deviation.vertical", "deviation.along")
SIGNALS = ("deviation.*", "joint?.position", "joint?.velocity", "axis?.drive.current", "*.friction.bristle")
RECORDING = Recording(rate=1000.0, signals=SIGNALS)
WHOLE = rx90_weld().duration
# A hundred times real time at a tip within 1 um.
GOAL, ACCURACY = 10.0, 1e-6


@dataclass(frozen=True)
class Size:
    """Motion begins at 0.3 s."""

    duration: float = WHOLE
    solvers: tuple[str, ...] = tuple(SOLVERS)
    rounds: int = 9


SIZES = {"smallest": Size(0.5, ("rosw2",), 1), "usual": Size()}


def measure(size: Size) -> Findings:
    """The catalogue's solver with its goal, and others beside it."""
    runs = {name: full_run(SOLVERS[name], "rigid", size.duration) for name in size.solvers}
    timings = time_interleaved(runs, size.rounds)
    converged = full_run(CONVERGED, "rigid", size.duration)
    best, smooth = (converged(parameters=numbers) for numbers in ({}, PERFECT))
    lines, agreements = [], []
    for name, run in runs.items():
        error, steady = apart(run(), best), apart(run(parameters=PERFECT), smooth)
        what = f"tips of {name} and of a converged run, with perfect encoders,"
        agreements.append(require_agreement(what, steady, ACCURACY, "m"))
        lines.append(describe(timings, name, error, steady, size.duration))
    name, cost, speed, _, error, steady = lines[0]
    row = Row(
        "RX90B weld, closed loop, non-linear",
        cost,
        "ms/s",
        f"{speed:.0f} times real time by {name}; tip within {error:.2f} um of a converged run, with perfect encoders "
        f"{steady:.3f} um",
        goal=GOAL,
        holds=error < ACCURACY * 1e6,
    )
    columns = ("solver", "ms/s", "times real time", "best", "tip error, um", "with perfect encoders, um")
    table = Table("RX90B weld: error against computing time", columns, tuple(lines))
    return Findings((row,), (table,), tuple(agreements))


def describe(
    timings: Timings, name: str, error: float, steady: float, duration: float
) -> tuple[str, float, float, float, float, float]:
    """One line of the table: median and best speed, and errors."""
    median, best = timings.median(name), min(timings.seconds[name])
    return name, median / duration * 1e3, duration / median, duration / best, error * 1e6, steady * 1e6


@cache
def assembled(build: str = "rigid") -> System:
    """The weld of one build, traced once for all benchmarks of a process."""
    return assemble(weld(build))


@cache
def compiled(build: str, method: str, signals: tuple[str, ...]) -> CompiledSystem:
    """The weld for all steps and tolerances of a method."""
    solver = Solver(method) if is_adaptive(method) else Solver(method, step=STEP)
    return compile_system(assembled(build), solver, signals=signals)


def shorten(whole: CompiledSystem, duration: float) -> CompiledSystem:
    """The same code for a shorter run."""
    scenario = replace(whole.system.scenario, duration=duration)
    return replace(whole, system=replace(whole.system, scenario=scenario))


def full_run(solver: Solver, build: str, duration: float) -> Callable[..., Run]:
    """The non-linear run of the weld, made ready; takes numbers to change."""
    code = shorten(compiled(build, solver.method, SIGNALS), duration)
    return partial(simulate, code, solver, recording=RECORDING)


def apart(one: Run, other: Run) -> float:
    """Largest distance of the tip between two runs recorded at the same instants [m]."""
    return float(np.max(np.linalg.norm([one[name].values - other[name].values for name in DEVIATION], axis=0)))
