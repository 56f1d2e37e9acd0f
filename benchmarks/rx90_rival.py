"""How much faster is the welding robot's closed loop than SciPy with Pinocchio's dynamics, at no less accuracy?

Two pieces of the weld of 0.25 s each: its start, and the middle where joints 2 and 3 turn back. All begin with the same
states and memory. Errors are distances of the tip at any tick from a converged run of robodyn's, with perfect encoders:
a count that falls a tick earlier or later would hide them. Times are those with the encoders' counts. SciPy's tight
settings approach the converged run: that is the check that both sides solve the same problem.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, partial

import numpy as np

from benchmarks.agreement import Disagreement
from benchmarks.rows import Findings, Row, Table
from benchmarks.rx90 import CONVERGED, OURS, PERFECT
from benchmarks.rx90_plant import MAGNITUDES, Plant
from benchmarks.rx90_scipy import RATE, SET_POINTS, SLOW, Window, simulate
from benchmarks.timing import time_interleaved
from robodyn.assembly import assemble
from robodyn.engine import Problem, Recording, integrate
from robodyn.model import Recording as Kept
from robodyn.model import Scenario, Solver
from robodyn.simulation import CompiledSystem, compile_system
from robodyn.simulation import simulate as simulate_run
from robodyn.simulation.problem import build_problem
from robodyn.simulation.starting import Start, find_start
from robodyn_studies.catalog import rx90_weld

# First ticks of both pieces: motion begins at 0.3 s, joints 2 and 3 turn back at 3.4 s.
FIRST, TICKS = (1000, 13400), 1000
DURATION = len(FIRST) * TICKS / RATE
TIP = ("tool.position.x", "tool.position.y", "tool.position.z")
RIVALS = {"Radau": (1e-3, 1e-6), "LSODA": (1e-4, 1e-6), "RK45": (1e-3,), "RK23": (1e-3,)}
# Radau's tighter setting must be within a nanometre of the converged run.
SAME_PROBLEM = 1e-9
ROUNDS, GOAL = 3, 1 / 300
# Ours is run so often in each turn: a turn of one run would be too short beside the rival's to meet the same load.
REPEATS = 100


@dataclass(frozen=True)
class Trial:
    """One setting: its error [m] and computing time for both pieces [s]."""

    name: str
    seconds: float
    error: float
    run: Callable[[], object]

    @property
    def cost(self) -> float:
        """Computing time per simulated second [ms]."""
        return self.seconds / DURATION * 1e3


def measure() -> Findings:
    """Ours beside SciPy's Radau, and beside the fastest of its methods."""
    ours = try_robodyn("rosw2", OURS)
    rivals = [try_scipy(method, rtol) for method, tolerances in RIVALS.items() for rtol in tolerances]
    radau = [trial for trial in rivals if trial.name.startswith("Radau")]
    same = min(trial.error for trial in radau)
    if not same <= SAME_PROBLEM:
        raise Disagreement(f"SciPy's tip and the converged one differ by {same:.2g} m")
    rows = (
        compare("against SciPy's Radau", ours, radau, same, GOAL),
        compare("against SciPy's fastest", ours, rivals, same, None),
    )
    lines = tuple((t.name, t.cost, 1e3 / t.cost, f"{t.error * 1e6:.2g}") for t in (ours, *rivals))
    columns = ("method", "ms/s", "times real time", "tip error with perfect encoders, um")
    return Findings(rows, (Table("RX90B weld, two pieces of 0.25 s, one run each", columns, lines),))


def compare(label: str, ours: Trial, rivals: list[Trial], same: float, goal: float | None) -> Row:
    """Time ours in turn with the fastest rival that is no less accurate."""
    import pinocchio
    import scipy

    rival = min((trial for trial in rivals if trial.error <= ours.error), key=lambda trial: trial.seconds)
    timings = time_interleaved({"ours": ours.run, "rival": rival.run}, ROUNDS)
    return Row(
        f"RX90B weld, closed loop, {label}",
        timings.median("ours") / REPEATS / DURATION * 1e3,
        "ms/s",
        f"tip within {ours.error * 1e6:.2g} um (ours) and {rival.error * 1e6:.2g} um of a converged run; "
        f"Radau meets it to {same * 1e6:.1g} um",
        timings.median("rival") / DURATION * 1e3,
        f"scipy {scipy.__version__} {rival.name}, pinocchio {pinocchio.__version__}",
        timings.ratio("ours", "rival") / REPEATS,
        goal,
    )


def try_robodyn(name: str, solver: Solver) -> Trial:
    """Time and error of one of our solvers."""
    run = partial(run_pieces, [prepare_piece(first, False, solver) for first in FIRST], REPEATS)
    seconds = min(_seconds(run) for _ in range(3)) / REPEATS
    return Trial(name, seconds, _error([prepare_piece(f, True, solver).run() for f in FIRST]), run)


def try_scipy(method: str, rtol: float) -> Trial:
    """Time and error of one of SciPy's settings; atol is rtol / 100 of each state's magnitude."""
    settings = {"method": method, "rtol": rtol, "atol": rtol / 100 * MAGNITUDES}
    run = partial(run_scipy, False, **settings)
    states = run_scipy(True, **settings)
    return Trial(f"{method} {rtol:.0e}", _seconds(run), _error([plant().find_tips(x[:, :6]) for x in states]), run)


def run_scipy(perfect: bool, **settings: object) -> list[np.ndarray]:
    """States at the ticks of both pieces."""
    return [simulate(plant(), window(first, perfect), **settings) for first in FIRST]


@cache
def plant() -> Plant:
    return Plant()


def _seconds(run: Callable[[], object]) -> float:
    begun = time.perf_counter()
    run()
    return time.perf_counter() - begun


def _error(tips: list[np.ndarray]) -> float:
    """Largest distance from the converged run, both with perfect encoders [m]."""
    pairs = zip(tips, converged(), strict=True)
    return max(float(np.max(np.linalg.norm(ours - best, axis=1))) for ours, best in pairs)


@cache
def converged() -> list[np.ndarray]:
    """Tips at the ticks of both pieces, with perfect encoders."""
    return [prepare_piece(first, True, CONVERGED).run() for first in FIRST]


def weld(perfect: bool) -> Scenario:
    """The weld of the catalogue, or with perfect encoders."""
    return rx90_weld().with_numbers(PERFECT if perfect else {})


@cache
def window(first: int, perfect: bool) -> Window:
    """Where a piece begins: the run so far ends a billionth of a second before the first tick takes its samples."""
    kept = Kept(rate=RATE / SLOW, signals=SET_POINTS)
    whole = simulate_run(weld(perfect), OURS, recording=kept)
    wanted = np.array([whole[name].values for name in SET_POINTS]).T
    short = weld(perfect).with_numbers({"duration": first / RATE - 1e-9})
    before = simulate_run(short, OURS, recording=kept)
    return Window(first, first + TICKS, before.end, wanted[first // SLOW :], 0.0 if perfect else None)


@dataclass(frozen=True)
class Piece:
    """A piece ready to be integrated by one of our solvers."""

    problem: Problem
    solver: Solver
    start: Start
    p: np.ndarray
    window: Window

    def run(self) -> np.ndarray:
        """Tips at the ticks, (n, 3) [m]."""
        times = self.window.times
        recording = Recording("times", times=times)
        start = self.start
        return integrate(self.problem, self.solver, start.time, times[-1], start.x, start.m, self.p, recording).y


def run_pieces(pieces: list[Piece], repeats: int) -> None:
    for _ in range(repeats):
        for piece in pieces:
            piece.run()


def prepare_piece(first: int, perfect: bool, solver: Solver) -> Piece:
    """The compiled system with the states and memory at the begin of a piece."""
    code, place = compiled(perfect, solver), window(first, perfect)
    values = code.parameter_values({})
    described = find_start(code, values)
    x = np.array([place.names[state.name] for state in code.system.states])
    m = np.array([place.names[memory.name] for memory in code.system.memory])
    start = replace(described, time=first / RATE, x=x, m=m)
    p = code.module.prepare(values)
    numbers = {name: number.value for name, number in code.system.numbers.items()}
    return Piece(build_problem(code, p, numbers, start), solver, start, p, place)


@cache
def compiled(perfect: bool, solver: Solver) -> CompiledSystem:
    return compile_system(assemble(weld(perfect)), solver, signals=TIP)
