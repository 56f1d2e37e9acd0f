"""What does the method auto cost beside the best method chosen by hand, at equal error?

Scenarios of the catalogue and twenty random machines are simulated by every method, auto too, with a ladder of
tolerances or steps. The error is the root mean square of all states at 101 times against a run of much smaller
tolerance, each relative to its size. All are compared at the error of auto with its default tolerances: the cost of a
method there lies between two rungs of its ladder, interpolated on logarithmic scales. A method is given twice the time
of auto; what needs more is not the best. Times are those of the integration alone, without compiling, the least of
several.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.findings import Disagreement, Findings, Table
from robodyn.base.errors import ModelError
from robodyn.computation.assembly import System, assemble
from robodyn.computation.engine import EngineProblem, EngineRecording, Status, integrate
from robodyn.computation.simulation import CompiledSystem, compile_system
from robodyn.computation.simulation.batch import PythonCalls
from robodyn.computation.simulation.problem import build_problem
from robodyn.computation.simulation.starting import find_start
from robodyn.description.catalog import list_scenarios
from robodyn.description.model import GROUND, Block, Body, Joint, Machine, Mechanism, Scenario, ScenarioSequence, Solver

GOAL = 1.3
TIMES = 101
TOLERANCES = tuple(10.0**-k for k in range(2, 10))
STEPS = (1e-3, 5e-4, 2.5e-4, 1.25e-4, 6e-5, 3e-5)
ADAPTIVE = ("dopri5", "heun_euler", "rodas4", "rodas4p", "trbdf2")
FIXED = ("rk4", "rosw2", "rosw1")
REFERENCE = (("dopri5", 1e-11), ("rodas4", 1e-10), ("rodas4", 1e-9))
PATIENCE = 40.0
"""Computing time given to a reference [s]."""
ENDS = (Status.FINISHED, Status.TERMINAL)
WELL_POSED, ACCURATE = 1e-10, 1e-4
"""Where two references differ by less than the one, the error of auto must be less than the other."""
RANDOM_DURATION = 1.0


@dataclass(frozen=True)
class Size:
    """Scenarios of the catalogue by how their names begin, random machines, and the ladders of both."""

    scenarios: tuple[str, ...] = ("",)
    without: tuple[str, ...] = ("rx90", "cable", "delta")
    machines: int = 20
    tolerances: tuple[float, ...] = TOLERANCES
    steps: tuple[float, ...] = STEPS
    rounds: int = 5


SIZES = {
    "smallest": Size(("pendulum",), (), 1, TOLERANCES[2:6:2], STEPS[:1], 1),
    "usual": Size(),
    "full": Size(without=()),
}


@dataclass(frozen=True)
class Point:
    """What a method costs [s] and how far off it is."""

    method: str
    seconds: float
    error: float


class Case:
    """A scenario that is simulated again and again."""

    def __init__(self, scenario: Scenario, size: Size) -> None:
        self.scenario, self.system, self.size = scenario, assemble(scenario), size
        self.names = _states(self.system)
        self.ready: dict[str, tuple[CompiledSystem, EngineProblem, PythonCalls]] = {}

    def prepare(self, solver: Solver) -> tuple[CompiledSystem, EngineProblem, PythonCalls]:
        """Everything but the integration, once for each method."""
        if solver.method not in self.ready:
            compiled = compile_system(self.system, solver, signals=self.names)
            values = compiled.system.described_values
            calls = PythonCalls(compiled, compiled.module.prepare(values))
            numbers = {name: number.value for name, number in self.system.numbers.items()}
            self.begin = find_start(compiled, values)
            self.ready[solver.method] = compiled, build_problem(compiled, calls.p, numbers, self.begin), calls
        return self.ready[solver.method]

    def run(self, solver: Solver) -> tuple[float, np.ndarray | None]:
        """Time of the integration [s], and the states at equal times; None where it did not come to the end."""
        _, problem, calls = self.prepare(solver)
        begin, duration = self.begin, self.scenario.duration
        recording = EngineRecording("times", times=np.linspace(0, duration, TIMES))
        started = time.thread_time()
        done = integrate(
            problem, solver, 0.0, duration, begin.x, begin.m, calls.p, recording,
            python_task=calls.run_task, python_action=calls.run_action,
        )  # fmt: skip
        seconds = time.thread_time() - started
        return seconds, done.y if done.status in ENDS else None

    def best_of(self, solver: Solver) -> tuple[float, np.ndarray | None]:
        """The least time of several runs; of one where that is long."""
        runs = [self.run(solver)]
        while len(runs) < self.size.rounds and runs[0][0] < 1.0 and runs[0][1] is not None:
            runs.append(self.run(solver))
        return min(seconds for seconds, _ in runs), runs[0][1]


def _states(system: System) -> tuple[str, ...]:
    """States that are seen, without books of work."""
    seen = set(system.signal_names)
    return tuple(s.name for s in system.states if s.name in seen and math.isfinite(s.nominal))


def measure(size: Size) -> Findings:
    """One line a scenario: auto, the best method by hand at the same error, and the ratio."""
    lines = [compare(name, scenario, size) for name, scenario in list_cases(size)]
    ratios = [line[-1] for line in lines if isinstance(line[-1], float)]
    within = sum(ratio <= GOAL for ratio in ratios)
    # Where the motion is so sensitive that references differ, an error says nothing.
    errors = {line[0]: line[2] for line in lines if isinstance(line[3], float) and line[3] < WELL_POSED}
    far = [name for name, error in errors.items() if not error <= ACCURATE]
    if far or not errors:
        raise Disagreement(f"auto and references differ by more than {ACCURATE:g}: {far or 'there are none'}")
    agreement = (
        f"auto and references agree to {max(errors.values()):.1e} relative in {len(errors)} of {len(lines)} cases"
    )
    title = f"cost of auto beside the best method by hand at equal error: {within} of {len(ratios)} at most {GOAL}"
    columns = ("scenario", "states", "error", "floor", "auto ms", "best by hand", "its ms", "ratio")
    required = f" ({ACCURATE:g} required where references agree to {WELL_POSED:g})"
    return Findings(tables=(Table(title, columns, tuple(lines)),), agreements=(agreement + required,))


def list_cases(size: Size) -> Iterator[tuple[str, Scenario]]:
    """The catalogue, of sequences the first phase, then machines that nobody chose."""
    for name, entry in list_scenarios().items():
        if name.startswith(size.scenarios) and not name.startswith(size.without):
            scenario = entry.thing()
            yield name, scenario.phases[0] if isinstance(scenario, ScenarioSequence) else scenario
    for seed in range(size.machines):
        yield f"random {seed}", random_machine(seed)


def compare(name: str, scenario: Scenario, size: Size) -> tuple[Any, ...]:
    """The line of one scenario; where there is nothing to compare with, it says why."""
    case = Case(scenario, size)
    n = len(case.system.states)
    try:
        found = find_references(case)
        if not found:
            return (name, n, "", "", "", "no reference", "", "")
        reference, floor = found[0], measure_error(case, found[-1], found[0]) if len(found) > 1 else 0.0
        case.run(Solver())
        limit, y = case.best_of(Solver())
    except ModelError as error:
        return (name, n, "", "", "", str(error.flaws[0])[:40], "", "")
    if y is None:
        return (name, n, "", "", limit * 1e3, "auto did not come to the end", "", math.inf)
    error = measure_error(case, y, reference)
    costs = {method: interpolate(points, max(error, floor)) for method, points in ladders(case, reference, limit)}
    ours = costs.pop("auto")
    rival = min(costs, key=lambda method: costs[method])
    return (name, n, error, floor, ours * 1e3, rival, costs[rival] * 1e3, ours / costs[rival])


def find_references(case: Case) -> list[np.ndarray]:
    """The first two runs of much smaller tolerance that come to the end: what they differ by is the floor of errors."""
    found: list[np.ndarray] = []
    for method, rtol in REFERENCE:
        _, y = case.run(Solver(method, rtol=rtol, atol=rtol / 100, max_wall_time=PATIENCE))
        found += [] if y is None else [y]
        if len(found) == 2:
            break
    return found


def measure_error(case: Case, y: np.ndarray, reference: np.ndarray) -> float:
    """Root mean square over all states and times, relative to sizes; not a number where runs ended at other times."""
    if y.shape != reference.shape:
        return math.nan
    nominal = {state.name: state.nominal for state in case.system.states}
    size = np.max(np.abs(reference), axis=0) + 0.01 * np.array([nominal[name] for name in case.names])
    return float(np.sqrt(np.mean(((y - reference) / size) ** 2)))


def ladders(case: Case, reference: np.ndarray, seconds: float) -> Iterator[tuple[str, list[Point]]]:
    """Costs and errors of every method that the scenario allows."""
    limit = max(2 * seconds, 2e-3)
    for method in ("auto", *ADAPTIVE):
        solvers = (Solver(method, rtol=rtol, atol=rtol / 100) for rtol in case.size.tolerances)
        yield method, climb(case, reference, solvers, limit)
    for method in FIXED:
        yield method, climb(case, reference, (Solver(method, step=step) for step in case.size.steps), limit)


def climb(case: Case, reference: np.ndarray, solvers: Iterable[Solver], limit: float) -> list[Point]:
    """Points from coarse to fine, until one takes too long."""
    points: list[Point] = []
    for solver in solvers:
        try:
            case.prepare(solver)
        except ModelError:
            return points
        seconds, y = case.best_of(solver)
        if y is not None and math.isfinite(error := measure_error(case, y, reference)):
            points.append(Point(solver.method, seconds, error))
        if seconds > limit:
            return points
    return points


def interpolate(points: list[Point], error: float) -> float:
    """Cost of a method at an error, infinite where it does not come so near [s]."""
    good = [p for p in points if p.error <= 1.05 * error]
    if not good:
        return math.inf
    cheapest = min(good, key=lambda p: p.seconds)
    coarser = [p for p in points if p.error > 1.05 * error and p.seconds < cheapest.seconds]
    if not coarser or error <= 0.0 or cheapest.error >= error:
        return cheapest.seconds
    near = min(coarser, key=lambda p: p.error)
    part = math.log(near.error / error) / math.log(near.error / max(cheapest.error, 1e-300))
    return near.seconds * (cheapest.seconds / near.seconds) ** part


# Machines that nobody chose: arms with random bodies, springs, friction, motors and loops, from mild to very stiff.


def random_machine(seed: int) -> Scenario:
    """An arm of one to five joints, each with one or two elements and perhaps a motor under control."""
    rng = np.random.default_rng(seed)
    bodies, joints, blocks = [], [], []
    for k in range(1 + seed % 5):
        bodies.append(_body(rng, k))
        joints.append(_joint(rng, k))
        names = rng.permutation(list(ELEMENTS))[: rng.integers(1, 3)]
        blocks += [ELEMENTS[name](rng, f"joint{k}") for name in names]
        if rng.random() < 0.5:
            blocks += _drive(rng, f"joint{k}")
    initial = {f"joint{k}.position": float(rng.normal(0, 0.5)) for k in range(len(joints))}
    mechanism = Mechanism(f"random{seed}", tuple(bodies), tuple(joints))
    machine = Machine(f"random{seed}", mechanism, tuple(blocks))
    return Scenario(f"random{seed}", machine, RANDOM_DURATION, initial)


def _decades(rng: np.random.Generator, low: float, high: float) -> float:
    """A number whose logarithm is equally likely anywhere between two powers of ten."""
    return float(10 ** rng.uniform(low, high))


def _body(rng: np.random.Generator, k: int) -> Body:
    mass, sides = _decades(rng, -0.5, 1.0), rng.uniform(0.05, 0.4, 3)
    inertia = mass / 12 * (np.sum(sides**2) - sides**2)
    return Body(f"body{k}", mass, tuple(rng.normal(0, 0.1, 3)), tuple(inertia))


def _joint(rng: np.random.Generator, k: int) -> Joint:
    kind = str(rng.choice(["revolute", "revolute", "prismatic"]))
    axis = tuple(np.eye(3)[rng.integers(3)])
    parent = GROUND if k == 0 else f"body{k - 1}"
    origin = tuple(rng.uniform(-0.3, 0.3, 3))
    return Joint(f"joint{k}", kind, parent, f"body{k}", origin=origin, axis=axis, armature=0.01)


def _spring(rng: np.random.Generator, joint: str) -> Block:
    values = {"stiffness": _decades(rng, 1, 5), "damping": _decades(rng, -1, 2)}
    return Block(f"{joint}.spring", "spring", on=joint, parameters=values)


def _damper(rng: np.random.Generator, joint: str) -> Block:
    return Block(f"{joint}.damper", "damper", on=joint, parameters={"damping": _decades(rng, -1, 4)})


def _coulomb(rng: np.random.Generator, joint: str) -> Block:
    values = {"coulomb": _decades(rng, -1, 1), "smoothing_velocity": _decades(rng, -4, -1), "viscous": 0.1}
    return Block(f"{joint}.friction", "coulomb_friction", on=joint, parameters=values)


def _lugre(rng: np.random.Generator, joint: str) -> Block:
    coulomb = _decades(rng, -1, 1)
    values = {"stiffness": _decades(rng, 3, 6), "damping": _decades(rng, 0, 2), "viscous": 0.2, "coulomb": coulomb}
    values |= {"static": 1.3 * coulomb, "stribeck_velocity": 0.02}
    return Block(f"{joint}.bristles", "lugre_friction", on=joint, parameters=values)


def _stop(rng: np.random.Generator, joint: str) -> Block:
    values = {"lower": -0.4, "upper": 0.4, "stiffness": _decades(rng, 3, 6), "damping": _decades(rng, 1, 2)}
    return Block(f"{joint}.stop", "end_stop", on=joint, parameters=values)


ELEMENTS = {"spring": _spring, "damper": _damper, "coulomb": _coulomb, "lugre": _lugre, "stop": _stop}


def _drive(rng: np.random.Generator, joint: str) -> list[Block]:
    """A motor, its winding fast or slow, under a PD law that is continuous or sampled."""
    target = Block(f"{joint}.target", "sine_reference", unit="rad", parameters={"amplitude": 0.3, "frequency": 1.0})
    gains = {"proportional": _decades(rng, 1, 2), "derivative": _decades(rng, -1, 1), "limit": 50.0}
    period = None if rng.random() < 0.5 else float(rng.choice([5e-4, 1e-3, 4e-3]))
    wanted = {"target": f"{joint}.target.value"}
    law = Block(f"{joint}.control", "pd_control", on=joint, inputs=wanted, parameters=gains, period=period)
    values = {"resistance": 1.0, "inductance": _decades(rng, -5, -2), "torque_constant": 0.1, "gear": 10.0}
    fed = {"voltage": f"{joint}.control.command"}
    return [target, law, Block(f"{joint}.motor", "dc_motor", on=joint, inputs=fed, parameters=values)]
