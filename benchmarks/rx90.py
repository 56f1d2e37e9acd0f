"""How much faster than real time is the welding robot's closed loop, and how far from a converged run?

The whole weld of 6.85 s by `simulate` on a compiled system, with deviation, joints, currents and bristles recorded at
1 kHz. Errors are distances of the tip at these instants. An encoder's count that falls a tick earlier or later moves
the tip by 0.1 um or more, whatever the step: so errors are also found with perfect encoders.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from benchmarks.rows import Findings, Row, Table
from benchmarks.timing import Timings, time_interleaved
from robodyn.assembly import assemble
from robodyn.model import Recording, Solver
from robodyn.results import Run
from robodyn.simulation import compile_system, simulate
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
ROUNDS = 9
# A hundred times real time at a tip within 1 um.
GOAL, ACCURACY = 10.0, 1e-6


def measure() -> Findings:
    """The catalogue's solver with its goal, and others beside it."""
    runs = {name: full_run(solver) for name, solver in SOLVERS.items()}
    timings = time_interleaved(runs, ROUNDS)
    best, smooth = (full_run(CONVERGED)(parameters=numbers) for numbers in ({}, PERFECT))
    lines = tuple(
        describe(timings, name, apart(run(), best), apart(run(parameters=PERFECT), smooth))
        for name, run in runs.items()
    )
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
    return Findings((row,), (Table("RX90B weld: error against computing time", columns, lines),))


def describe(timings: Timings, name: str, error: float, steady: float) -> tuple[str, float, float, float, float, float]:
    """One line of the table: median and best speed, and errors."""
    duration = rx90_weld().duration
    median, best = timings.median(name), min(timings.seconds[name])
    return name, median / duration * 1e3, duration / median, duration / best, error * 1e6, steady * 1e6


def full_run(solver: Solver, build: str = "rigid") -> Callable[..., Run]:
    """The non-linear run of the whole weld, made ready; takes numbers to change."""
    compiled = compile_system(assemble(weld(build)), solver, signals=SIGNALS)
    return partial(simulate, compiled, solver, recording=RECORDING)


def apart(one: Run, other: Run) -> float:
    """Largest distance of the tip between two runs recorded at the same instants [m]."""
    return float(np.max(np.linalg.norm([one[name].values - other[name].values for name in DEVIATION], axis=0)))
