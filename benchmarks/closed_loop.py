"""How long does the two-link arm's sampled loop with LuGre friction take, beside SciPy at the same accuracy?

All settings are tried first; then the fastest of SciPy's that are no less accurate than ours are timed again,
in turn with ours. Errors are the largest of a joint angle at any tick, against a converged run of robodyn's.
SciPy's tightest settings approach it too: that is the check that both sides solve the same problem.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np

from benchmarks import scipy_loop
from benchmarks.agreement import require_agreement
from benchmarks.prepared import Prepared, prepare
from benchmarks.rows import Findings, Row, Table
from benchmarks.timing import time_interleaved
from robodyn.assembly import assemble
from robodyn.catalog import two_link_loop
from robodyn.model import Solver

DURATION = 2.0
TICKS = round(DURATION / scipy_loop.TICK)
ROUNDS, FINALISTS = 5, 3
GOAL = 1 / 100
# Largest angle is 0.8 rad: SciPy's tightest run must be within a billionth of it.
SAME_PROBLEM = 1e-9
ANGLES = ("shoulder.position", "elbow.position")
# Magnitudes of the states, which scale the absolute tolerances on both sides; bristles bend by some 1e-5 rad.
MAGNITUDES = np.array([1.0, 1.0, 1.0, 1.0, 1e-5, 1e-5])
STIFF = {"Radau": (1e-3, 1e-5, 1e-7), "BDF": (1e-7, 1e-9), "LSODA": (1e-7, 1e-9, 1e-10, 1e-11)}
EXPLICIT = {"RK23": (1e-4, 1e-5, 1e-6), "RK45": (1e-3, 1e-5, 1e-7), "DOP853": (1e-3, 1e-5)}
OURS = {"rodas4": (1e-3, 1e-4, 1e-5, 1e-6), "trbdf2": (1e-3, 1e-4, 1e-5, 1e-6), "dopri5": (1e-2, 1e-3, 1e-5)}
CATALOGUE = ("rodas4", 1e-5)


@dataclass(frozen=True)
class Trial:
    """One setting: its error [rad] and computing time for the whole run [s]."""

    method: str
    rtol: float
    seconds: float
    error: float
    run: Callable[[], object]

    @property
    def label(self) -> str:
        return f"{self.method} {self.rtol:.0e}"

    @property
    def cost(self) -> float:
        """Computing time per simulated second [ms]."""
        return self.seconds / DURATION * 1e3


def measure() -> Findings:
    """The catalogue's solver beside SciPy's stiff ones, then the fastest of all on both sides."""
    ours = [try_robodyn(method, rtol) for method, rtol in settings(OURS)]
    stiff = [try_scipy(method, rtol) for method, rtol in settings(STIFF)]
    explicit = [try_scipy(method, rtol) for method, rtol in settings(EXPLICIT)]
    tightest = min(trial.error for trial in stiff)
    same = require_agreement("SciPy's most accurate angles and the reference", tightest, SAME_PROBLEM)
    chosen = next(trial for trial in ours if (trial.method, trial.rtol) == CATALOGUE)
    quickest = min(ours, key=lambda trial: trial.seconds)
    rows = (
        compare("the catalogue's solver against SciPy's stiff ones", chosen, stiff, same),
        compare("fastest method against SciPy's fastest", quickest, stiff + explicit, same),
    )
    return Findings(rows, (tabulate("robodyn", ours), tabulate("scipy.solve_ivp", stiff + explicit)))


def settings(methods: dict[str, tuple[float, ...]]) -> Iterable[tuple[str, float]]:
    """All pairs of method and relative tolerance."""
    return [(method, rtol) for method, tolerances in methods.items() for rtol in tolerances]


def compare(label: str, ours: Trial, rivals: list[Trial], same: str) -> Row:
    """Time ours in turn with the fastest rivals that are no less accurate; the row has the best of them."""
    import scipy

    accurate = sorted((trial for trial in rivals if trial.error <= ours.error), key=lambda trial: trial.seconds)
    finalists = accurate[:FINALISTS]
    timings = time_interleaved({trial.label: trial.run for trial in [ours, *finalists]}, ROUNDS)
    rival = min(finalists, key=lambda trial: timings.median(trial.label))
    errors = f"errors {ours.error:.1e} rad ({ours.label}) and {rival.error:.1e} rad ({rival.label})"
    return Row(
        f"two-link sampled loop with LuGre friction, {label}",
        timings.median(ours.label) / DURATION * 1e3,
        "ms/s",
        f"{errors}; {same}",
        timings.median(rival.label) / DURATION * 1e3,
        f"scipy {scipy.__version__} {rival.label}",
        timings.ratio(ours.label, rival.label),
        GOAL,
    )


@cache
def prepared() -> Prepared:
    """The loop compiled for stiff methods, which have all that explicit ones need."""
    return prepare(assemble(two_link_loop(DURATION)), Solver("rodas4"), ANGLES)


@cache
def reference() -> np.ndarray:
    """Joint angles at every tick, converged: another method of that tolerance moves them by 1e-14 rad."""
    return angles_of(Solver("rodas4", rtol=1e-11, atol=1e-13))


def angles_of(solver: Solver) -> np.ndarray:
    """Joint angles at every tick, (ticks + 1, 2) [rad]."""
    return prepared().run(solver, DURATION, np.arange(TICKS + 1) * scipy_loop.TICK).y


def try_robodyn(method: str, rtol: float) -> Trial:
    """Time and error of one of our settings; atol is rtol / 100 of each state's magnitude."""
    solver = Solver(method, rtol=rtol, atol=rtol / 100)
    run = partial(prepared().run, solver, DURATION)
    seconds = min(_seconds(run)[0] for _ in range(3))
    return Trial(method, rtol, seconds, _error(angles_of(solver)), run)


def try_scipy(method: str, rtol: float) -> Trial:
    """Time and error of one of SciPy's settings, with the same scaling of tolerances."""
    options = {"method": method, "rtol": rtol, "atol": rtol / 100 * MAGNITUDES}
    run = partial(scipy_loop.simulate, TICKS, **options)
    seconds, states = _seconds(run)
    return Trial(method, rtol, seconds, _error(states[:, :2]), run)


def _seconds(run: Callable[[], Any]) -> tuple[float, Any]:
    begun = time.perf_counter()
    result = run()
    return time.perf_counter() - begun, result


def _error(angles: np.ndarray) -> float:
    return float(np.max(np.abs(angles - reference())))


def tabulate(who: str, trials: list[Trial]) -> Table:
    """Error against time of all settings tried, one run each."""
    lines = tuple((trial.method, f"{trial.rtol:.0e}", trial.cost, f"{trial.error:.1e}") for trial in trials)
    columns = ("method", "rtol", "ms per simulated s", "error, rad")
    return Table(f"two-link loop: error against computing time, {who}", columns, lines)
