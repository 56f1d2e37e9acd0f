"""Parallel kinematics: postures, singularities and workspace of closed chains."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import casadi as ca
import numpy as np

from robodyn.analysis.point_functions import PointFunctions, described_point
from robodyn.base import Array, FlawList, frozen, limit_step, refuse, report_progress, solve_newton
from robodyn.computation.assembly import System, assemble
from robodyn.description.model import ConstraintMethod
from robodyn.description.model.numbers import XYZ

from .machine_dynamics import joint_names

# --------------------------------------------------------------------------------------------------
# Kinematics of closed loops: where are joints and a point, given the motors (forward) or the point (inverse)?
#
# Symbols: q joints, h(q) = 0 constraints with H = dh/dq, s(q) actuated positions with S = ds/dq, p(q) the point with
# P = dp/dq.
#
#     forward: h = 0, s = given      inverse: h = 0, p = given      both by damped Newton
#
#     robot Jacobian dp/ds = (P N) (S N)^-1,  N a basis of the motions that keep the constraints, H N = 0


SOLVED = 1e-10
"""Error of equations [m or rad] that are met."""
MOST_STEPS = 50
LONGEST_STEP = 0.5
"""Largest change of a joint in one step [rad or m]."""
SINGULAR = 1e-6
"""Part of the greatest speed below which a position counts as singular."""
SAME = 1e-6
"""Largest difference of actuated positions [rad or m] of branches that are the same."""
TRIES, AROUND = 300, np.pi
"""Guesses for branches, and how far from the start they are scattered [rad or m]."""

Grid = Mapping[str, Sequence[float] | Array]
"""Values along axes, by the names of these."""


@frozen(eq=False)
class Posture:
    """Joint positions that meet the constraints, or as nearly as could be.

    Attributes:
        q: joint positions in the order of `joints`, (n,); actuated: positions of the motors, (f,).
        points: world position of every named point [m].
        iterations: Newton steps taken; residual: largest error left [m or rad].
    """

    joints: tuple[str, ...]
    q: Array
    actuated: Array
    points: Mapping[str, Array]
    iterations: int
    residual: float

    @property
    def solved(self) -> bool:
        """Whether the loops close at the wanted place."""
        return self.residual <= SOLVED

    @property
    def initial(self) -> dict[str, float]:
        """Start values of a scenario that begins here."""
        return {f"{joint}.position": float(value) for joint, value in zip(self.joints, self.q, strict=True)}


@frozen
class Singularity:
    """How near a posture is to a singular one, which has `input` or `output` 0.

    Attributes:
        condition: of the robot Jacobian dp/ds.
        input: least speed of the point in some direction by motions that keep the constraints, over its greatest by
            joints that are free of them; 0 where motors move and the point cannot, the edge of its workspace.
        output: the same of the motors; 0 where the point moves although all motors are held.
        freedom: independent motions that keep the constraints; more than there are motors at a singular constraint.
    """

    condition: float
    input: float
    output: float
    freedom: int
    motors: int

    @property
    def kind(self) -> str:
        """ "none", "input", "output", "both" or "constraint"."""
        if self.freedom != self.motors:
            return "constraint"
        near = [name for name, size in (("input", self.input), ("output", self.output)) if size < SINGULAR]
        return "both" if len(near) == 2 else (near[0] if near else "none")


@frozen(eq=False)
class Gradients:
    """Everything at one position: residuals h, motors s, the point's place or angles p, and their gradients by q."""

    h: Array
    s: Array
    p: Array
    points: Array
    H: Array
    S: Array
    P: Array


class ParallelKinematics:
    """A machine with constraints, a point of it and the joints or coordinates that motors move, traced once.

    Args:
        point: a named point; axes: those of its coordinates that count, as many as there are motors. Without a point
            ("") the axes are joints: angles that the motors turn.
        actuated: joints or coordinates.

    Raises:
        ModelError: for unknown names, and where constraints, motors and axes are not as many as the joints need.
    """

    def __init__(self, system: System, point: str, actuated: Sequence[str], axes: Sequence[str] = XYZ) -> None:
        if system.motion.spare:
            # As many equations as they determine joints: index 3 has no others.
            system = assemble(
                replace(system.scenario, constraint_method=ConstraintMethod("index3")), inputs=system.inputs
            )
        self.system, self.point = system, point
        self.actuated, self.axes = tuple(actuated), tuple(axes)
        self.joints = joint_names(system)
        self.points = tuple(one.name for one in system.scenario.machine.any_mechanism.points)
        flaws, n = FlawList(), len(self.joints)
        coordinates = self.system.motion.coordinates
        if self.point:
            flaws.add_unknown([self.point], self.points, "there is no such point", "points")
        flaws.add_unknown(self.actuated, coordinates, "there is no such joint or coordinate", "actuated")
        what = "is not an axis" if self.point else "there is no such joint or coordinate"
        flaws.add_unknown(self.axes, XYZ if self.point else coordinates, what, "axes")
        k, f = len(self.system.motion.constraint_forces), len(self.actuated)
        if k + f != n:
            what = f"{k} independent equations and {f} motors do not determine {n} joints"
            flaws.add("actuated", what, f"name {n - k} of them")
        if len(self.axes) != f:
            flaws.add("axes", f"{len(self.axes)} are named for {f} motors", "name one for each motor")
        flaws.raise_if_any(f"kinematics of '{self.system.scenario.name}'")
        self._functions = self._compile()
        self._described = described_point(system)
        self.start = self._described.x[: system.n_q]

    def _compile(self) -> PointFunctions:
        system = self.system
        signals = [f"{name}.position.{axis}" for name in self.points for axis in XYZ]
        points = ca.vertcat(*(system.signal_expressions[name] for name in signals))
        # Positions are functions of q, also where they are signals of a system with other states.
        h = system.expressions.constraints[: len(system.motion.constraint_forces)]
        s = ca.vertcat(*(system.motion.coordinates[name] for name in self.actuated))
        if self.point:
            first = 3 * self.points.index(self.point)
            p = ca.vertcat(*(points[first + XYZ.index(axis)] for axis in self.axes))
        else:
            p = ca.vertcat(*(system.motion.coordinates[name] for name in self.axes))
        rows, moving = ca.vertcat(h, s, p, points), ca.vertcat(h, s, p)
        return PointFunctions(system, {"values": rows}, (moving, system.q))

    def at(self, q: Any) -> Gradients:
        """Residuals, motors, points and their gradients at joint positions q, (n,)."""
        x = self._described.x.copy()
        x[: len(self.joints)] = q
        point = replace(self._described, x=x)
        k, f = len(self.system.motion.constraint_forces), len(self.actuated)
        slopes = self._functions.slopes(point)
        h, s, p, points = np.split(self._functions("values", point), [k, k + f, k + 2 * f])
        return Gradients(h, s, p, points, slopes[:k], slopes[k : k + f], slopes[k + f :])

    def forward(self, actuated: Any, guess: Any = None, tolerance: float = SOLVED) -> Posture:
        """Posture with the motors at given positions, (f,), near a guess of all joints (by default the start)."""
        return self._solve("s", actuated, guess, tolerance)

    def inverse(self, target: Any, guess: Any = None, tolerance: float = SOLVED) -> Posture:
        """Posture with the point at a target [m], (f,), near a guess of all joints (by default the start)."""
        return self._solve("p", target, guess, tolerance)

    def _solve(self, which: Literal["s", "p"], targets: Any, guess: Any, tolerance: float) -> Posture:
        """The posture that Newton's method finds with steps of limited length: h = 0 and s, or p, as wanted."""
        targets = np.asarray(targets, float)

        def evaluate(q: Array) -> tuple[Array, Array]:
            here = self.at(q)
            value, slope = (here.s, here.S) if which == "s" else (here.p, here.P)
            return np.concatenate([here.h, value - targets]), np.vstack([here.H, slope])

        result = solve_newton(
            evaluate,
            lambda q, error, slope: -np.linalg.lstsq(slope, error, rcond=1e-10)[0],
            np.array(self.start if guess is None else guess, float),
            most_steps=MOST_STEPS,
            still=tolerance,
            shorten=limit_step(LONGEST_STEP),
        )
        here = self.at(result.z)
        points = dict(zip(self.points, here.points.reshape(-1, 3), strict=True))
        return Posture(self.joints, result.z, here.s, points, result.steps, float(np.max(np.abs(result.residual))))

    def branches(self, target: Any) -> list[Posture]:
        """All ways found to put the point at a target, the nearest to the start first.

        Postures with the same motor positions (angles modulo 2 pi) count once.
        """
        generator = np.random.default_rng(1)
        postures: list[Posture] = []
        begin = self.at(self.start).s
        for k in range(TRIES):
            guess = self.start + (k > 0) * AROUND * generator.uniform(-1, 1, len(self.start))
            posture = self.inverse(target, guess)
            # Without whole revolutions of joints away from the start, where no constraint counts them.
            turns = np.array([state.unit == "rad" for state in self.system.states[: len(self.joints)]])
            apart = posture.q - self.start
            near = self.inverse(target, self.start + np.where(turns, np.angle(np.exp(1j * apart)), apart))
            posture = near if near.solved and near.iterations <= 1 else posture
            if posture.solved and all(self._apart(posture.actuated, other.actuated) > SAME for other in postures):
                postures.append(posture)
        return sorted(postures, key=lambda posture: self._apart(posture.actuated, begin))

    def _apart(self, a: Array, b: Array) -> float:
        """Largest difference of two sets of motor positions, angles modulo 2 pi."""
        turns = np.array([self.system.signal_units[f"{name}.position"] == "rad" for name in self.actuated])
        return float(np.max(np.where(turns, np.abs(np.angle(np.exp(1j * (a - b)))), np.abs(a - b))))

    def jacobian(self, posture: Posture) -> Array:
        """Speeds of the point by speeds of the motors, dp/ds, (f, f).

        Raises:
            ModelError: where the point moves although all motors are held.
        """
        here = self.at(posture.q)
        slope = np.vstack([here.H, here.S])
        if np.linalg.cond(slope) > 1 / np.finfo(float).eps:
            what = f"the point '{self.point}' moves here although all motors are held"
            refuse("posture", what, "choose another posture: this one is singular", "robot Jacobian")
        motors = np.vstack([np.zeros((len(here.h), len(here.s))), np.eye(len(here.s))])
        return here.P @ np.linalg.solve(slope, motors)

    def singularity(self, posture: Posture) -> Singularity:
        """Measures of how near a posture is to a singular one."""
        here = self.at(posture.q)
        _, sizes, motions = np.linalg.svd(here.H)
        rank = int(np.sum(sizes > SINGULAR * sizes[0]))
        N = motions[rank:].T
        # The least that a unit motion causes in some direction, over the most.
        slowest = [np.linalg.norm(slope @ N, -2) / np.linalg.norm(slope, 2) for slope in (here.P, here.S)]
        output, free = float(slowest[1]), N.shape[1]
        regular = free == len(here.s) and output > SINGULAR
        condition = np.linalg.cond(self.jacobian(posture)) if regular else np.inf
        return Singularity(float(condition), float(slowest[0]), output, free, len(here.s))

    def orientation(self, q: Array) -> tuple[float, float]:
        """Signs that change where a motion passes an input or an output singularity."""
        here = self.at(q)
        signs = [np.linalg.slogdet(np.vstack([here.H, slope]))[0] for slope in (here.P, here.S)]
        return float(signs[0]), float(signs[1])


def point_outwards(*points: str) -> Callable[[Posture], float]:
    """A choice among branches: the least is the one whose points are farthest from the vertical axis (elbows out)."""
    return lambda posture: -sum(float(np.hypot(*posture.points[name][:2])) for name in points)


# --------------------------------------------------------------------------------------------------
# Workspace of closed loops: where can a point of the mechanism go, and how well conditioned is it there?
#
# A grid is filled from the start posture outwards: each place is tried from neighbours that have been reached. What is
# reached without passing a singular posture belongs to the same working mode.


@frozen(eq=False)
class WorkspaceMap:
    """A point's reach on a grid; arrays have one dimension for each axis, nan where it is out of reach.

    Attributes:
        axes: name of each axis; values: grid along each [m].
        reachable: whether the point can be there, in the working mode of the start.
        condition: of the robot Jacobian; input, output: 0 at a singular posture, see `Singularity`.
        actuated: motor positions, with one more dimension of the motors.
    """

    point: str
    motors: tuple[str, ...]
    axes: tuple[str, ...]
    values: tuple[Array, ...]
    reachable: Array
    condition: Array
    input: Array
    output: Array
    actuated: Array

    @property
    def share(self) -> float:
        """Part of the grid that can be reached."""
        return float(np.mean(self.reachable))


@report_progress("mapping the workspace")
def map_workspace(
    kinematics: ParallelKinematics,
    grid: Grid,
    limits: Mapping[str, tuple[float, float]] | None = None,
) -> WorkspaceMap:
    """Reach and condition of the kinematics' point on a grid of its positions.

    Args:
        grid: values along each of the kinematics' axes [m]; one value alone makes a plane or a line.
        limits: (lower, upper) of motor positions that bound what can be reached.
    """
    # Postures on the grid, from the start outwards, then how well conditioned each is.
    bounds = _find_bounds(kinematics, grid, limits or {})
    values = tuple(np.asarray(grid[axis], float) for axis in kinematics.axes)
    begin = kinematics.forward(kinematics.at(kinematics.start).s)
    shape = tuple(map(len, values))
    measures = np.full((*shape, 3), np.nan)
    actuated = np.full((*shape, len(kinematics.actuated)), np.nan)
    for place, posture in fill_grid(kinematics, values, begin, bounds):
        here = kinematics.singularity(posture)
        measures[place] = here.condition, here.input, here.output
        actuated[place] = posture.actuated
    names = kinematics.point, kinematics.actuated, kinematics.axes
    condition, edge, held = np.moveaxis(measures, -1, 0)
    return WorkspaceMap(*names, values, ~np.isnan(held), condition, edge, held, actuated)


def _find_bounds(
    kinematics: ParallelKinematics, grid: Grid, limits: Mapping[str, tuple[float, float]]
) -> tuple[Array, Array]:
    """Lower and upper motor positions, infinite where none are given."""
    flaws = FlawList()
    flaws.add_unknown(grid, kinematics.axes, "is not an axis of the kinematics", "grid")
    for axis in kinematics.axes:
        if not len(grid.get(axis, ())):
            flaws.add(f"grid.{axis}", "is missing", "give at least one value")
    flaws.add_unknown(limits, kinematics.actuated, "is not actuated", "limits")
    for name, (lower, upper) in limits.items():
        if not lower < upper:
            flaws.add(f"limits.{name}", f"must go from lower to upper, are {lower:g} to {upper:g}")
    flaws.raise_if_any(f"workspace of '{kinematics.point}'")
    pairs = np.array([limits.get(name, (-np.inf, np.inf)) for name in kinematics.actuated])
    return pairs[:, 0], pairs[:, 1]


def fill_grid(
    kinematics: ParallelKinematics,
    values: tuple[Array, ...],
    begin: Posture,
    bounds: tuple[Array, Array],
) -> Iterator[tuple[tuple[int, ...], Posture]]:
    """Places of the grid and their postures, from the place nearest to the start outwards."""
    # Breadth first: every place is tried from a neighbour that was reached, and belongs to the same working mode.
    mode = kinematics.orientation(begin.q)
    here = kinematics.at(begin.q).p
    nearest_place = tuple(int(np.argmin(np.abs(column - c))) for column, c in zip(values, here, strict=True))
    waiting, reached = deque([(nearest_place, begin.q)]), set()
    while waiting:
        place, guess = waiting.popleft()
        if place in reached:
            continue
        posture = kinematics.inverse([column[k] for column, k in zip(values, place, strict=True)], guess)
        inside = np.all((posture.actuated >= bounds[0]) & (posture.actuated <= bounds[1]))
        if not (posture.solved and inside and kinematics.orientation(posture.q) == mode):
            continue
        reached.add(place)
        yield place, posture
        waiting.extend((beside, posture.q) for beside in _neighbours(place, values) if beside not in reached)


def _neighbours(place: tuple[int, ...], values: tuple[Array, ...]) -> Iterator[tuple[int, ...]]:
    for axis, column in enumerate(values):
        for k in (place[axis] - 1, place[axis] + 1):
            if 0 <= k < len(column):
                yield (*place[:axis], k, *place[axis + 1 :])
