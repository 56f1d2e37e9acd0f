"""How long does a falling arm of two flexible links take beside Exudyn, at equal accuracy?

Each side has many settings: numbers of modes or elements, methods, steps and tolerances. All are held against one
converged motion, on which both sides agree first; of those within an accuracy the fastest of each side is timed.
Exudyn's cables are its way to these accuracies: its floating frames are linear in the deformation, and without
foreshortening this arm is some tenths of a millimetre off. Its explicit methods do not take the hinges' constraints.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from itertools import product
from typing import Any

import numpy as np

from benchmarks.agreement import Disagreement
from benchmarks.exudyn_two_link_arm import (
    DENSITY,
    GRAVITY,
    LENGTH,
    PAYLOAD,
    THICKNESS,
    TIMES,
    WIDTH,
    YOUNG,
    build,
    read,
    settle,
)
from benchmarks.prepared import Prepared, prepare
from benchmarks.rows import Findings, Row, Table
from benchmarks.timing import time_interleaved
from robodyn.assembly import assemble
from robodyn.model import GROUND, Body, Joint, Machine, Mechanism, Point, Scenario, Solver
from robodyn.structures import Reduction, Section, beam

ROUNDS, TRIALS = 11, 3
ACCURACIES = (1e-4, 1e-5)
"""Of elbow and tip, at four instants of a fall through 2 m [m]."""
AGREEMENT = 3e-6
"""Between the converged motions of both sides [m]: less than a third of the finest accuracy."""
PLACES = tuple(f"{point}.position.{axis}" for point in ("elbow", "tip") for axis in "xy")
DURATION = TIMES[-1]
FINE = Reduction(modes=4, directions=("y", "rz"), stiffening=True)
MODES, ELEMENTS = (1, 2), (1, 2, 3, 4)
METHODS = ("rosw2", "generalised_alpha", "rk4", "dopri5", "rodas4")
# Whole numbers of steps between the instants that are compared.
STEPS = tuple(DURATION / (4 * n) for n in (50, 80, 125, 160, 200, 250, 400, 500))
TOLERANCES = (1e-2, 1e-3, 1e-4)
NEWTON = (1e-4, 1e-6)
ADAPTIVE = ("dopri5", "rodas4")


@dataclass(frozen=True)
class Contender:
    """One side with one setting.

    Attributes:
        run: integrate; error: the largest at all instants [m].
        setup: to make it ready, compiling included where that was never done before [s].
    """

    name: str
    run: Callable[[], object]
    error: float
    setup: float


def measure() -> Findings:
    """A row for each accuracy, and our methods beside each other."""
    exact = converge()
    ours, rivals = list_ours(exact), list_rivals(exact)
    rows = [compare(accuracy, pick(ours, accuracy), pick(rivals, accuracy)) for accuracy in ACCURACIES]
    lines = [
        (f"{accuracy:g}", *describe_fastest(ours, method, accuracy)) for accuracy in ACCURACIES for method in METHODS
    ]
    columns = ("within, m", "setting", "error, m", "ms/s")
    return Findings(tuple(rows), (Table("each of our methods at its fastest", columns, tuple(lines)),))


def falling_arm(how: Reduction) -> Scenario:
    """Two links that start level, with a payload at the end."""
    section = Section.rectangle(THICKNESS, WIDTH, YOUNG, YOUNG / 2.6, DENSITY)
    bodies = (beam("upper", LENGTH, section, how), beam("lower", LENGTH, section, how), Body("payload", PAYLOAD))
    end = (LENGTH, 0.0, 0.0)
    joints = (
        Joint("shoulder", "revolute", GROUND, "upper"),
        Joint("hinge", "revolute", "upper", "lower", end),
        Joint("grip", "fixed", "lower", "payload", end),
    )
    points = (Point("elbow", "upper", end), Point("tip", "lower", end))
    arm = Mechanism("arm", bodies, joints, points, (0.0, -GRAVITY, 0.0))
    return Scenario("falling-arm", Machine("arm", arm), DURATION)


def converge() -> np.ndarray:
    """Elbow and tip as ours has them with many modes; Disagreement where Exudyn with many elements differs."""
    solver = Solver("dopri5", rtol=1e-8, atol=1e-10)
    exact = look(prepare(assemble(falling_arm(FINE)), solver, PLACES), solver)
    _, system, sensors = kept = build(8)
    system.SolveDynamic(settle(8000))
    apart = float(np.abs(read(*kept[1:]) - exact).max())
    if not apart <= AGREEMENT:
        raise Disagreement(f"the converged arms differ by {apart:.1e} m, allowed are {AGREEMENT:.0e}")
    return exact


def look(prepared: Prepared, solver: Solver) -> np.ndarray:
    """Elbow x, y and tip x, y at the instants [m], (4, 4); not finite where the run broke off."""
    found = prepared.run(solver, DURATION, np.array(TIMES))
    if len(found.time) < len(TIMES):
        return np.full((len(TIMES), len(PLACES)), np.inf)
    columns = {info.name: found.y[-len(TIMES) :, k] for k, info in enumerate(prepared.recorded)}
    return np.stack([columns[name] for name in PLACES], axis=1)


def list_ours(exact: np.ndarray) -> list[Contender]:
    """Every number of modes with every method at every step or tolerance."""
    found = []
    for modes, method in product(MODES, METHODS):
        solvers = [
            Solver(method, rtol=value, atol=value / 100) if method in ADAPTIVE else Solver(method, step=value)
            for value in (TOLERANCES if method in ADAPTIVE else STEPS)
        ]
        begun = time.perf_counter()
        how = Reduction(modes=modes, directions=("y", "rz"), stiffening=True)
        prepared = prepare(assemble(falling_arm(how)), solvers[0], PLACES)
        setup = time.perf_counter() - begun
        for solver in solvers:
            size = f"{solver.rtol:g}" if method in ADAPTIVE else f"{1e3 * (solver.step or 0):.3g} ms"
            error = float(np.abs(look(prepared, solver) - exact).max())
            run = partial(prepared.run, solver, DURATION)
            found.append(Contender(f"{method}, {size}, vibrations a link: {modes}", run, error, setup))
    return found


def list_rivals(exact: np.ndarray) -> list[Contender]:
    """Exudyn with every number of elements, step and tolerance of Newton's method."""
    found = []
    for n, step, tolerance in product(ELEMENTS, STEPS, NEWTON):
        begun = time.perf_counter()
        kept = build(n)
        setup = time.perf_counter() - begun
        error = attempt(kept, settle(round(DURATION / step), tolerance), exact)
        run = partial(kept[1].SolveDynamic, settle(round(DURATION / step), tolerance, watched=2 * DURATION))
        name = f"Exudyn {version('exudyn')}, {n} elements a link, {1e3 * step:.3g} ms, Newton {tolerance:g}"
        found.append(Contender(name, partial(_keep, kept, run), error, setup))
    return found


def _keep(kept: Any, run: Callable[[], object]) -> object:
    """The container of a system must live as long as it is used."""
    return run()


def attempt(kept: Any, settings: Any, exact: np.ndarray) -> float:
    """Largest error of a run; infinite where Newton's method gave up."""
    import exudyn

    try:
        kept[1].SolveDynamic(settings)
    except exudyn.SolverError:
        return np.inf
    return float(np.abs(read(*kept[1:]) - exact).max())


def pick(contenders: list[Contender], accuracy: float) -> Contender:
    """The fastest within an accuracy, by its best of a few runs."""
    able = [contender for contender in contenders if contender.error <= accuracy]
    if not able:
        raise Disagreement(f"no setting is within {accuracy:g} m of the converged arm")
    return min(able, key=try_out)


def try_out(contender: Contender) -> float:
    """Best time of a few runs [s]."""
    timings = time_interleaved({"it": contender.run}, TRIALS)
    return min(timings.seconds["it"])


def describe_fastest(contenders: list[Contender], method: str, accuracy: float) -> tuple[str, float, float]:
    """Setting, error [m] and ms a simulated second of a method's fastest setting."""
    of_method = [contender for contender in contenders if contender.name.startswith(f"{method},")]
    if not any(contender.error <= accuracy for contender in of_method):
        return f"{method}: none", np.inf, np.inf
    best = pick(of_method, accuracy)
    return best.name, best.error, 1e3 * try_out(best) / DURATION


def compare(accuracy: float, ours: Contender, rival: Contender) -> Row:
    """Both timed in turns; what it took to make them ready is reported, not counted."""
    timings = time_interleaved({"ours": ours.run, "rival": rival.run}, ROUNDS)
    message = (
        f"{ours.name}, {ours.error:.1e} m off, ready in {ours.setup:.2f} s (code compiled before is in the cache); "
        f"{rival.name}, {rival.error:.1e} m off, ready in {rival.setup:.3f} s"
    )
    per_second = 1e3 / DURATION
    return Row(
        f"falling flexible two-link arm within {1e3 * accuracy:g} mm",
        timings.median("ours") * per_second,
        "ms/s",
        message,
        timings.median("rival") * per_second,
        rival.name,
        timings.ratio("ours", "rival"),
        1.0,
    )
