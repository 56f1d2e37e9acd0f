"""How long does a falling arm of two flexible links take beside Exudyn, at equal accuracy?

Each side has many settings: numbers of modes or elements, methods, steps and tolerances. All are held against one
converged motion, on which both sides agree first; of those within an accuracy the fastest of each side is timed.
Exudyn's cables are its way to these accuracies: absolute nodal coordinates, without floating frame or modes. Its
floating frames are linear in the deformation, and without foreshortening this arm is some tenths of a millimetre off.
Its explicit methods do not take the hinges' constraints.

The numbers that `tests/references/test_flexible_beams.py` has of Exudyn are printed by

    python -m benchmarks.flexible_arm ELEMENTS STEP
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from itertools import pairwise, product
from typing import Any

import numpy as np

from benchmarks.findings import Disagreement, Findings, Row, Table, find_rival, require_agreement
from benchmarks.timing import Prepared, prepare, time_interleaved
from robodyn.computation.assembly import assemble
from robodyn.description.model import GROUND, Body, Joint, Machine, Mechanism, Point, Scenario, Solver
from robodyn.description.structures import Reduction, Section, beam

LENGTH, WIDTH, THICKNESS = 1.0, 0.040, 0.006
YOUNG, DENSITY, PAYLOAD, GRAVITY = 7.0e10, 2700.0, 0.2, 9.81
TIMES = (0.25, 0.5, 0.75, 1.0)
DURATION = TIMES[-1]
PLACES = tuple(f"{point}.position.{axis}" for point in ("elbow", "tip") for axis in "xy")
# By Exudyn 1.13 with 16 elements a link and steps of 50 us: elbow x, y, tip x, y at the times [m].
FALLING = (
    (0.9334626, -0.3586692, 1.9314680, -0.2955509),
    (0.4781850, -0.8782441, 1.3741450, -1.3223714),
    (0.0785314, -0.9969100, -0.3853289, -1.8828080),
    (-0.8820406, -0.4711753, -1.5178750, -1.2429975),
)
# Deflections of the beam that is spun up, by Exudyn with 16 elements, in steps of 1 ms: time [s] -> tip [m].
SPIN_UP = {4.0: -0.47510, 6.0: -0.72700, 8.0: -0.67853, 10.0: -0.43735}
FINE = Reduction(modes=4, directions=("y", "rz"), stiffening=True)
CONVERGED = Solver("dopri5", rtol=1e-8, atol=1e-10)
METHODS = ("rosw2", "generalised_alpha", "rk4", "dopri5", "rodas4")
ADAPTIVE = ("dopri5", "rodas4")
# Whole numbers of steps between the instants that are compared.
STEPS = tuple(DURATION / (4 * n) for n in (50, 80, 125, 160, 200, 250, 400, 500))
SAME_MOTION = 3e-6
"""Between the converged motions of both sides [m]: less than a third of the finest accuracy."""


@dataclass(frozen=True)
class Size:
    """Settings of both sides that are tried, and accuracies of elbow and tip [m] of a fall through 2 m.

    Attributes:
        converged: elements a link and steps of Exudyn's converged motion, and how near it must be to ours [m].
        spun: elements and step [s] of its beam that is spun up, and how near it must be to the numbers kept of it [m].
    """

    accuracies: tuple[float, ...] = (1e-4, 1e-5)
    modes: tuple[int, ...] = (1, 2)
    methods: tuple[str, ...] = METHODS
    steps: tuple[float, ...] = STEPS
    tolerances: tuple[float, ...] = (1e-2, 1e-3, 1e-4)
    elements: tuple[int, ...] = (1, 2, 3, 4)
    newton: tuple[float, ...] = (1e-4, 1e-6)
    converged: tuple[int, int, float] = (8, 8000, SAME_MOTION)
    spun: tuple[int, float, float] = (16, 1e-3, 1e-5)
    rounds: int = 11
    trials: int = 3


SIZES = {
    "smallest": Size(
        (1e-4,), (1,), ("rosw2",), STEPS[2:3], (), (2,), (1e-6,), (4, 1000, 1e-4), (8, 2e-3, 1e-3), rounds=1, trials=1
    ),
    "usual": Size(),
}


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


def measure(size: Size) -> Findings:
    """A row for each accuracy, and our methods beside each other."""
    exact = look(prepare(assemble(falling_arm(FINE)), CONVERGED, PLACES), CONVERGED)
    apart = float(np.abs(np.array(FALLING) - exact).max())
    agreements = [require_agreement("our converged arm and the numbers kept of Exudyn's", apart, SAME_MOTION, "m")]
    ours, rivals = list_ours(exact, size), []
    if find_rival("exudyn"):
        agreements += [check_falling(exact, size), check_spin_up(size)]
        rivals = list_rivals(exact, size)
    rows = []
    for accuracy in size.accuracies:
        best = [pick(side, accuracy, size) for side in (ours, rivals) if side]
        agreements += [
            require_agreement(f"{one.name}, and the converged arm", one.error, accuracy, "m") for one in best
        ]
        rows.append(compare(accuracy, best, size))
    lines = [
        (f"{accuracy:g}", *describe_fastest(ours, method, accuracy, size))
        for accuracy in size.accuracies
        for method in size.methods
    ]
    table = Table("each of our methods at its fastest", ("within, m", "setting", "error, m", "ms/s"), tuple(lines))
    return Findings(tuple(rows), (table,), tuple(agreements), () if rivals else ("exudyn",))


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


def look(prepared: Prepared, solver: Solver) -> np.ndarray:
    """Elbow x, y and tip x, y at the instants [m], (4, 4); not finite where the run broke off."""
    trajectory = prepared.run(solver, DURATION, np.array(TIMES))
    if len(trajectory.time) < len(TIMES):
        return np.full((len(TIMES), len(PLACES)), np.inf)
    columns = {info.name: trajectory.y[-len(TIMES) :, k] for k, info in enumerate(prepared.recorded)}
    return np.stack([columns[name] for name in PLACES], axis=1)


def list_ours(exact: np.ndarray, size: Size) -> list[Contender]:
    """Every number of modes with every method at every step or tolerance."""
    contenders = []
    for modes, method in product(size.modes, size.methods):
        solvers = [
            Solver(method, rtol=value, atol=value / 100) if method in ADAPTIVE else Solver(method, step=value)
            for value in (size.tolerances if method in ADAPTIVE else size.steps)
        ]
        begun = time.perf_counter()
        how = Reduction(modes=modes, directions=("y", "rz"), stiffening=True)
        prepared = prepare(assemble(falling_arm(how)), solvers[0], PLACES)
        setup = time.perf_counter() - begun
        for solver in solvers:
            setting = f"{solver.rtol:g}" if method in ADAPTIVE else f"{1e3 * (solver.step or 0):.3g} ms"
            error = float(np.abs(look(prepared, solver) - exact).max())
            run = partial(prepared.run, solver, DURATION)
            contenders.append(Contender(f"{method}, {setting}, vibrations a link: {modes}", run, error, setup))
    return contenders


def pick(contenders: list[Contender], accuracy: float, size: Size) -> Contender:
    """The fastest within an accuracy, by its best of a few runs."""
    able = [contender for contender in contenders if contender.error <= accuracy]
    if not able:
        raise Disagreement(f"no setting is within {accuracy:g} m of the converged arm")
    return min(able, key=lambda contender: try_out(contender, size))


def try_out(contender: Contender, size: Size) -> float:
    """Best time of a few runs [s]."""
    timings = time_interleaved({"it": contender.run}, size.trials)
    return min(timings.seconds["it"])


def describe_fastest(contenders: list[Contender], method: str, accuracy: float, size: Size) -> tuple[str, float, float]:
    """Setting, error [m] and ms a simulated second of a method's fastest setting."""
    of_method = [contender for contender in contenders if contender.name.startswith(f"{method},")]
    if not any(contender.error <= accuracy for contender in of_method):
        return f"{method}: none", np.inf, np.inf
    best = pick(of_method, accuracy, size)
    return best.name, best.error, 1e3 * try_out(best, size) / DURATION


def compare(accuracy: float, best: list[Contender], size: Size) -> Row:
    """Ours and the rival if there is one, in turns; what it took to make them ready is reported, not counted."""
    timings = time_interleaved(dict(zip(("ours", "rival"), [one.run for one in best], strict=False)), size.rounds)
    note = "; ".join(f"{one.name}, {one.error:.1e} m off, ready in {one.setup:.3f} s" for one in best)
    return timings.row(
        f"falling flexible two-link arm within {1e3 * accuracy:g} mm",
        "ours",
        "ms/s",
        1e3 / DURATION,
        note=f"{note} (code compiled before is in the cache)",
        rival="rival",
        rival_name=best[-1].name,
        goal=1.0,
    )


# The same in Exudyn, an independent program, of ANCF cable elements: large rotations are in the elements themselves.


def check_falling(exact: np.ndarray, size: Size) -> str:
    """Exudyn's converged arm against ours."""
    elements, steps, allowed = size.converged
    arm = ExudynArm(elements)
    arm.solve(steps)
    what = f"our converged arm and Exudyn's of {elements} elements a link"
    return require_agreement(what, float(np.abs(arm.read() - exact).max()), allowed, "m")


def check_spin_up(size: Size) -> str:
    """What tests have of a beam that is spun up is what Exudyn computes."""
    elements, step, allowed = size.spun
    time, deflection = spin_up(elements, step)
    kept = np.interp(list(SPIN_UP), time, deflection)
    apart = float(np.abs(kept - list(SPIN_UP.values())).max())
    return require_agreement(f"Exudyn's beam of {elements} elements and the numbers kept of it", apart, allowed, "m")


def list_rivals(exact: np.ndarray, size: Size) -> list[Contender]:
    """Exudyn with every number of elements, step and tolerance of Newton's method."""
    contenders = []
    for n, step, tolerance in product(size.elements, size.steps, size.newton):
        begun = time.perf_counter()
        arm = ExudynArm(n)
        setup = time.perf_counter() - begun
        steps = round(DURATION / step)
        error = float(np.abs(arm.read() - exact).max()) if arm.try_to_solve(steps, tolerance) else np.inf
        run = partial(arm.solve, steps, tolerance, watched=2 * DURATION)
        name = f"Exudyn {version('exudyn')}, {n} elements a link, {1e3 * step:.3g} ms, Newton {tolerance:g}"
        contenders.append(Contender(name, run, error, setup))
    return contenders


class ExudynArm:
    """The falling arm with some elements a link."""

    def __init__(self, elements: int) -> None:
        import exudyn
        from exudyn import itemInterface as items

        # The container of a system must live as long as it is used.
        self.exudyn, self.container = exudyn, exudyn.SystemContainer()
        self.system = mbs = self.container.AddSystem()
        ground = mbs.AddNode(items.PointGround(referenceCoordinates=[0.0, 0.0, 0.0]))
        area, second = WIDTH * THICKNESS, WIDTH * THICKNESS**3 / 12
        stiffness = {"bendingStiffness": YOUNG * second, "axialStiffness": YOUNG * area}
        upper, lower = (
            add_cable(mbs, start, LENGTH, elements, {"massPerLength": DENSITY * area, **stiffness}, GRAVITY)
            for start in (0.0, LENGTH)
        )
        # The shoulder is held, and the elbow has one place for the ends of both links: hinges.
        zero = mbs.AddMarker(items.MarkerNodeCoordinate(nodeNumber=ground, coordinate=0))
        for k in range(2):
            ends = [
                mbs.AddMarker(items.MarkerNodeCoordinate(nodeNumber=node, coordinate=k))
                for node in (upper[0], upper[-1], lower[0])
            ]
            mbs.AddObject(items.CoordinateConstraint(markerNumbers=[zero, ends[0]]))
            mbs.AddObject(items.CoordinateConstraint(markerNumbers=ends[1:]))
        # The payload as a mass of the last node itself: no coordinates and no constraints of its own.
        mass, weight = np.diag([PAYLOAD, PAYLOAD, 0.0, 0.0]), [0.0, -PAYLOAD * GRAVITY, 0.0, 0.0]
        mbs.AddObject(items.ObjectGenericODE2(nodeNumbers=[lower[-1]], massMatrix=mass, forceVector=weight))
        kind = exudyn.OutputVariableType.Position
        self.sensors = [
            mbs.AddSensor(items.SensorNode(nodeNumber=node, outputVariableType=kind, storeInternal=True))
            for node in (upper[-1], lower[-1])
        ]
        mbs.Assemble()

    def solve(self, steps: int, tolerance: float = 1e-8, watched: float = TIMES[0]) -> None:
        """Run by the generalised alpha method: steps in all, Newton's tolerance, when sensors are read [s]."""
        settings = self.exudyn.SimulationSettings()
        settings.timeIntegration.generalizedAlpha.spectralRadius = 0.9
        # Tighter ones are not reached, and steps that fail leave the motion behind its time.
        settings.timeIntegration.newton.relativeTolerance = tolerance
        settings.timeIntegration.newton.absoluteTolerance = min(100 * tolerance, 1e-3)
        settings.timeIntegration.newton.useModifiedNewton = True
        settings.timeIntegration.adaptiveStep = False
        settings.linearSolver.solverType = self.exudyn.LinearSolverType.EigenDense
        settings.solution.file.write = False
        settings.solution.sensors.writePeriod = watched
        settings.timeIntegration.endTime = DURATION
        settings.timeIntegration.numberOfSteps = steps
        self.system.SolveDynamic(settings)

    def try_to_solve(self, steps: int, tolerance: float) -> bool:
        """Whether Newton's method did not give up."""
        try:
            self.solve(steps, tolerance)
        except self.exudyn.SolverError:
            return False
        return True

    def read(self) -> np.ndarray:
        """Elbow x, y and tip x, y at the instants after a run with sensors [m], (4, 4)."""
        stored = [self.system.GetSensorStoredData(sensor) for sensor in self.sensors]
        rows = [int(np.argmin(np.abs(stored[0][:, 0] - instant))) for instant in TIMES]
        return np.hstack([table[rows, 1:3] for table in stored])


def add_cable(
    mbs: Any, start: float, length: float, elements: int, properties: dict[str, float], gravity: float = 0.0
) -> list[Any]:
    """Nodes of a straight cable along x from `start`, which weighs by gravity along -y."""
    from exudyn import itemInterface as items

    places = [start + length * k / elements for k in range(elements + 1)]
    nodes = [mbs.AddNode(items.Point2DS1(referenceCoordinates=[place, 0.0, 1.0, 0.0])) for place in places]
    for pair in pairwise(nodes):
        cable = items.Cable2D(
            length=length / elements, nodeNumbers=list(pair), useReducedOrderIntegration=1, **properties
        )
        marker = mbs.AddMarker(items.MarkerBodyMass(bodyNumber=mbs.AddObject(cable)))
        mbs.AddLoad(items.LoadMassProportional(markerNumber=marker, loadVector=[0.0, -gravity, 0.0]))
    return nodes


def spin_up(elements: int, step: float) -> tuple[np.ndarray, np.ndarray]:
    """The manoeuvre of Kane, Ryan and Banerjee (1987): a hub turns by psi(t), a beam is clamped to it.

    Returns:
        Times [s], and the tip's deflections from the hub's axis there [m].
    """
    import exudyn
    from exudyn import itemInterface as items

    length, young, density, area, second = 8.0, 6.8952e10, 2766.67, 7.2968e-5, 8.2181e-9
    speed, rise, end = 6.0, 15.0, 20.0

    def angle(t: float) -> float:
        """psi [rad]: its rate rises from 0 to `speed` in `rise`."""
        if t >= rise:
            return speed * (t - rise / 2)
        return speed / rise * (t * t / 2 + (rise / (2 * math.pi)) ** 2 * (math.cos(2 * math.pi * t / rise) - 1))

    container = exudyn.SystemContainer()
    mbs = container.AddSystem()
    ground = mbs.AddNode(items.PointGround(referenceCoordinates=[0.0, 0.0, 0.0]))
    stiffness = {"bendingStiffness": young * second, "axialStiffness": young * area}
    nodes = add_cable(mbs, 0.0, length, elements, {"massPerLength": density * area, **stiffness})
    zero = mbs.AddMarker(items.MarkerNodeCoordinate(nodeNumber=ground, coordinate=0))
    # The root's place is held, its slope turns.
    turned = (None, None, lambda m, t, item, o: math.cos(angle(t)) - 1, lambda m, t, item, o: math.sin(angle(t)))
    for k, function in enumerate(turned):
        root = mbs.AddMarker(items.MarkerNodeCoordinate(nodeNumber=nodes[0], coordinate=k))
        constraint = items.CoordinateConstraint(markerNumbers=[zero, root])
        if function is not None:
            constraint.offsetUserFunction = function
        mbs.AddObject(constraint)
    kind = exudyn.OutputVariableType.Position
    sensor = mbs.AddSensor(items.SensorNode(nodeNumber=nodes[-1], outputVariableType=kind, storeInternal=True))
    mbs.Assemble()
    settings = exudyn.SimulationSettings()
    settings.timeIntegration.generalizedAlpha.spectralRadius = 0.7
    settings.timeIntegration.newton.relativeTolerance = 1e-6
    settings.timeIntegration.newton.absoluteTolerance = 1e-6
    settings.timeIntegration.adaptiveStep = False
    settings.solution.file.write = False
    settings.solution.sensors.writePeriod = step
    settings.timeIntegration.endTime = end
    settings.timeIntegration.numberOfSteps = round(end / step)
    mbs.SolveDynamic(settings)
    t, x, y = mbs.GetSensorStoredData(sensor)[:, :3].T
    psi = np.array([angle(instant) for instant in t])
    return t, y * np.cos(psi) - x * np.sin(psi)


def print_numbers(elements: int, step: float) -> None:
    """What tests have of both beams."""
    arm = ExudynArm(elements)
    arm.solve(round(DURATION / step))
    for instant, places in zip(TIMES, arm.read(), strict=True):
        print(f"falling arm at {instant} s:", *places.tolist())
    instants, deflection = spin_up(elements, 20 * step)
    print("spin-up, largest deflection:", deflection.min(), "after it:", np.abs(deflection[instants > 15.0]).max())
    for instant in SPIN_UP:
        print(f"spin-up at {instant} s:", np.interp(instant, instants, deflection))


if __name__ == "__main__":
    print_numbers(int(sys.argv[1]), float(sys.argv[2]))
