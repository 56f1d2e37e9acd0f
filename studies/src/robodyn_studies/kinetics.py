"""Kinetics of machines: inverse and forward dynamics, inertia and workspace by joints."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from scipy.interpolate import CubicSpline

from robodyn.base.errors import Flaw, FlawList, ModelError, refuse_unknown
from robodyn.computation.assembly import System
from robodyn.description.model import TriangleLength

# --------------------------------------------------------------------------------------------------
# Equations of motion as coefficients, in the joints or in other coordinates such as cylinders' lengths.
#
# In any coordinates s that determine the joints they have one form, D_lm symmetric and D_lmn symmetric in m and n:
#
#     F_l = sum_m D_lm s''_m + sum_mn D_lmn s'_m s'_n + D_l
#
# Symbols: q, v, a of the joints; G = ds/dq, A = G^-1; K_m the matrix of second derivatives of s_m; M, D, g in the
# joints.
#
#     s' = G v,  s'' = G a + v^T K v,  F = A^T tau
#     D_lm' = A^T M A,  D_l' = A^T g,  D_lmn' = sum_i A_il A^T (D_i - sum_m (M A)_im K_m) A


SINGULAR = 1e10
"""Condition of ds/dq beyond which the coordinates no longer determine how the joints move."""


@dataclass(frozen=True, eq=False)
class MotionCoefficients:
    """Coefficients of the equations of motion at one position, of n joints or coordinates in the order of `names`.

    Attributes:
        inertial: D_lm, (n, n); velocity: D_lmn, (n, n, n); gravity: D_l, (n,).
    """

    names: tuple[str, ...]
    inertial: np.ndarray
    velocity: np.ndarray
    gravity: np.ndarray

    def force(self, velocity: Any, acceleration: Any) -> np.ndarray:
        """Force or torque on each coordinate that moves it so, (n,)."""
        return self.inertial @ acceleration + self.velocity @ velocity @ velocity + self.gravity


@dataclass(frozen=True, eq=False)
class CoordinateMap:
    """Coordinates at one position: s (n,), G = ds/dq (n, n) and second derivatives K (n, n, n)."""

    position: np.ndarray
    gradient: np.ndarray
    curvature: np.ndarray

    def rates(self, v: np.ndarray, a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """s' = G v and s'' = G a + v^T K v."""
        return self.gradient @ v, self.gradient @ a + self.curvature @ v @ v

    def joint_rates(self, velocity: np.ndarray, acceleration: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """v and a of the joints from s' and s''."""
        v = np.linalg.solve(self.gradient, velocity)

        return v, np.linalg.solve(self.gradient, acceleration - self.curvature @ v @ v)


class Kinetics:
    """The mechanism of a system in its joints, or in as many coordinates named, traced once for many positions.

    Its tunable numbers are as described, or as `changed`; blocks, friction and loads are no part of it.

    Raises:
        ModelError: without a mechanism, for unknown or repeated names, for more or fewer of them than joints.
    """

    def __init__(self, system: System, coordinates: Sequence[str] | None = None) -> None:
        self.joints = joint_names(system)
        self.in_joints = coordinates is None
        self.names = self.joints if coordinates is None else tuple(coordinates)
        _check_names(system, self.joints, self.names)
        self.units = tuple(position_unit(system, name) for name in self.names)
        self._numbers = {number.name: number.value for number in system.parameters}
        self._parameters = np.array(list(self._numbers.values()))
        s = ca.vertcat(*(system.motion.coordinates[name] for name in self.names))
        self._map = _function(system, [s, *_derivatives(s, system.q)])
        self._motion = _function(system, _motion_terms(system))

    def changed(self, parameters: Mapping[str, float]) -> Kinetics:
        """The same with other tunable numbers, not traced anew."""
        refuse_unknown(parameters, self._numbers, "is not tunable", under="parameters")
        other = copy(self)
        other._parameters = np.array(list({**self._numbers, **parameters}.values()), float)

        return other

    def map_at(self, q: Any) -> CoordinateMap:
        """Position and derivatives of the coordinates at joint positions q, (n,)."""
        s, G, K = self._evaluate(self._map, q)

        return CoordinateMap(s.ravel(), G, _cube(K))

    def coefficients_at(self, q: Any) -> MotionCoefficients:
        """Coefficients of the equations of motion at joint positions q, (n,)."""
        M, D, g = self._evaluate(self._motion, q)
        own = MotionCoefficients(self.joints, M, _cube(D), g.ravel())

        return own if self.in_joints else _transform(own, self.names, self.invertible_map_at(q))

    def invertible_map_at(self, q: Any) -> CoordinateMap:
        """The coordinates at q; a ModelError where they do not determine how the joints move."""
        found = self.map_at(q)
        if not np.linalg.cond(found.gradient) < SINGULAR:
            place = ", ".join(f"{name} {value:.6g}" for name, value in zip(self.joints, q, strict=True))
            what = f"{', '.join(self.names)} do not determine the motion of the joints at {place}"
            raise ModelError([Flaw("coordinates", what, "it is a dead centre, or one of them follows from the others")])

        return found

    def _evaluate(self, function: ca.Function, q: Any) -> tuple[np.ndarray, ...]:
        q = np.asarray(q, float)
        if q.shape != (len(self.joints),):
            raise ValueError(f"q has shape {q.shape}, there are {len(self.joints)} joints: {', '.join(self.joints)}")

        return tuple(np.array(value) for value in function(q, self._parameters))


def joint_names(system: System) -> tuple[str, ...]:
    """Moving joints, then modes, in the order of q; a ModelError without a mechanism."""
    mechanism = system.scenario.machine.mechanism
    if mechanism is None:
        flaw = Flaw("machine.mechanism", "there is none", "forces and inertias belong to a mechanism")
        raise ModelError([flaw], f"scenario '{system.scenario.name}'")

    return tuple(freedom.name for freedom in mechanism.freedoms)


def start_positions(system: System) -> np.ndarray:
    """Joint positions at the described start of the scenario, (n,)."""
    return np.array([state.start for state in system.states[: system.n_q]])


def _check_names(system: System, joints: Sequence[str], names: Sequence[str]) -> None:
    flaws = FlawList()
    flaws.add_unknown(names, system.motion.coordinates, "there is no such joint or coordinate", "coordinates")
    for name in {name for name in names if names.count(name) > 1}:
        flaws.add(f"coordinates.{name}", "is named more than once")
    if len(names) != len(joints):
        what = f"{len(names)} are named for {len(joints)} joints ({', '.join(joints)})"
        flaws.add("coordinates", what, "name one for each joint; a joint is a coordinate too")
    flaws.raise_if_any(f"scenario '{system.scenario.name}'")


def position_unit(system: System, name: str) -> str:
    """Unit of a joint's or coordinate's position."""
    return next(info.unit for info in system.signals if info.name == f"{name}.position")


def _motion_terms(system: System) -> list[ca.SX]:
    """M; half the second derivatives of the bias by the speeds, in which it is quadratic; the bias at rest."""
    return [system.mass_matrix, 0.5 * _derivatives(system.bias, system.v)[1], system.gravity]


def _derivatives(y: ca.SX, x: ca.SX) -> tuple[ca.SX, ca.SX]:
    """Jacobian (n, m) and the Hessians of all entries one below the other, (n m, m)."""
    jacobian = ca.jacobian(y, x)

    return jacobian, ca.vertcat(*(ca.jacobian(jacobian[k, :], x) for k in range(y.numel())))


def _function(system: System, outputs: Sequence[ca.SX]) -> ca.Function:
    dense = ca.cse([ca.densify(output) for output in outputs])

    return ca.Function("kinetics", [system.q, system.symbols.p], dense)


def _cube(stacked: np.ndarray) -> np.ndarray:
    """Square matrices one below the other as (n, m, m)."""
    m = stacked.shape[1]

    return stacked.reshape(-1, m, m)


def _transform(own: MotionCoefficients, names: tuple[str, ...], to: CoordinateMap) -> MotionCoefficients:
    """Equations of motion in the joints written in other coordinates."""
    A = np.linalg.inv(to.gradient)
    MA = own.inertial @ A
    velocity = own.velocity - np.tensordot(MA, to.curvature, axes=1)
    inertial = A.T @ MA

    return MotionCoefficients(
        names, 0.5 * (inertial + inertial.T), np.einsum("il,ijk,jm,kn->lmn", A, velocity, A, A), A.T @ own.gravity
    )


# --------------------------------------------------------------------------------------------------
# Spline motion: how do coordinates and joints move along cubic splines through given positions?
#
# Positions of all coordinates (cylinders' lengths) at some times are joined by cubic splines, at rest at both ends and
# continuous to the second derivative; joint positions, speeds and accelerations follow from the exact gradients.
#
# Joint positions solve s(q) = target by Newton's method with the exact ds/dq, followed from a known position in steps
# that never cross a dead centre: the mechanism stays assembled as it is there.


@dataclass(frozen=True, eq=False)
class SampledMotion:
    """A motion of some joints or coordinates at sampled times.

    Attributes:
        time: [s], (n_time,); position, velocity, acceleration: (n_time, n) in the order of names.
    """

    names: tuple[str, ...]
    time: np.ndarray
    position: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray


def spline_motion(times: Sequence[float], points: Mapping[str, Sequence[float]], at: Any) -> SampledMotion:
    """Cubic splines through points at given times, sampled at others.

    Args:
        times: of the points [s], increasing.
        points: name -> position at each of these times.
        at: times to sample at [s], within the former.

    Raises:
        ModelError: with all that is wrong with times and points.
    """
    knots, instants = np.asarray(times, float), np.atleast_1d(np.asarray(at, float))
    _check_points(knots, points, instants)
    spline = CubicSpline(knots, np.column_stack(list(points.values())), bc_type="clamped")

    return SampledMotion(tuple(points), instants, *(spline(instants, order) for order in range(3)))


def joint_motion(system: System, motion: SampledMotion, guess: Any = None) -> SampledMotion:
    """The joints' motion that moves the coordinates as given.

        s(q) = s,  G v = s',  G a = s'' - v^T K v    with G = ds/dq, K its derivative

    Args:
        motion: of as many coordinates as there are joints (a joint is a coordinate too).
        guess: joint positions near the first, (n,); the scenario's start by default.

    Raises:
        ModelError: for unknown coordinates and positions out of reach: which one, which position, its range.
    """
    kinetics = Kinetics(system, motion.names)
    flaws = FlawList()
    check_reach(flaws, system, motion.names, motion.position)
    flaws.raise_if_any("motion")
    q = solve_positions(kinetics, motion.position, start_positions(system) if guess is None else guess)
    maps = [kinetics.invertible_map_at(row) for row in q]
    rates = [
        here.joint_rates(velocity, acceleration)
        for here, velocity, acceleration in zip(maps, motion.velocity, motion.acceleration, strict=True)
    ]

    return SampledMotion(
        kinetics.joints, motion.time, q, np.array([v for v, _ in rates]), np.array([a for _, a in rates])
    )


def _check_points(knots: np.ndarray, points: Mapping[str, Sequence[float]], instants: np.ndarray) -> None:
    flaws = FlawList()
    if knots.ndim != 1 or knots.size < 2 or not np.all(np.diff(knots) > 0):
        flaws.add("times", "must increase and be two at least", f"given: {knots.tolist()}")
    if not points:
        flaws.add("points", "there are none", "name -> positions")
    for name, values in points.items():
        if len(values) != knots.size:
            flaws.add(f"points.{name}", f"has {len(values)} positions for {knots.size} times")
        elif not np.all(np.isfinite(np.asarray(values, float))):
            flaws.add(f"points.{name}", "must be finite numbers")
    if not flaws.found and not np.all((knots[0] <= instants) & (instants <= knots[-1])):
        what = f"{instants.min():g} to {instants.max():g} s goes beyond the points"
        flaws.add("at", what, f"they go from {knots[0]:g} to {knots[-1]:g} s")
    flaws.raise_if_any("spline")


CONVERGED = 1e-12
"""Error of a coordinate that is rounding alone, beside its own size or 1."""

SMALLEST_STEP = 1e-7
"""Part of the way to the target below which the mechanism is at its dead centre."""


def coordinate_limits(system: System, name: str) -> tuple[float, float] | None:
    """Lower and upper end of a coordinate: its range, or what the sides of its triangle allow; None without any."""
    described = {coordinate.name: coordinate for coordinate in system.scenario.machine.coordinates}
    coordinate = described.get(name)
    if coordinate is None:
        return None

    return coordinate.range or (coordinate.reach if isinstance(coordinate, TriangleLength) else None)


def check_reach(flaws: FlawList, system: System, names: Sequence[str], positions: np.ndarray) -> None:
    """Each coordinate stays within its limits, as far as they are known; positions (n_time, n)."""
    for name, column in zip(names, positions.T, strict=True):
        limits = coordinate_limits(system, name)
        if limits is None:
            continue
        worst = max(column, key=lambda s: max(limits[0] - s, s - limits[1]))
        if not limits[0] <= worst <= limits[1]:
            what = f"{worst:.6g} is out of reach"
            flaws.add(f"coordinates.{name}", what, f"its range is {limits[0]:.6g} to {limits[1]:.6g}")


def solve_positions(kinetics: Kinetics, targets: Iterable[np.ndarray], guess: np.ndarray) -> np.ndarray:
    """Joint positions for each target position of the coordinates in turn, (n_targets, n).

    Args:
        targets: positions of the coordinates of `kinetics`, (n,) each.
        guess: joint positions to begin from; each next search begins at the solution before.

    Raises:
        ModelError: naming the coordinate that cannot reach its target, and how far it gets.
    """
    found = []
    q = np.asarray(guess, float)
    for target in targets:
        q = _follow(kinetics, np.asarray(target, float), q)
        found.append(q)

    return np.array(found)


def _follow(kinetics: Kinetics, target: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Joint positions at the target, followed along the straight line from the position at q."""
    begin = kinetics.invertible_map_at(q)
    done, step = 0.0, 1.0
    while done < 1.0:
        step = min(step, 1.0 - done)
        aim = target if done + step == 1.0 else begin.position + (done + step) * (target - begin.position)
        tried = _newton(kinetics, aim, q, np.sign(np.linalg.det(begin.gradient)))
        if tried is None:
            step *= 0.5
        else:
            q, done, step = tried, done + step, 2.0 * step
        if step < SMALLEST_STEP:
            raise _unreachable(kinetics, target, kinetics.map_at(q))

    return q


def _newton(kinetics: Kinetics, aim: np.ndarray, q: np.ndarray, side: float) -> np.ndarray | None:
    """Joint positions at the aim; None where the iteration does not settle or leaves this side of a dead centre."""
    for _ in range(12):
        here = kinetics.map_at(q)
        if not (np.all(np.isfinite(here.gradient)) and np.sign(np.linalg.det(here.gradient)) == side):
            return None
        error = aim - here.position
        if np.all(np.abs(error) <= CONVERGED * np.maximum(1.0, np.abs(aim))):
            return q
        q = q + np.linalg.solve(here.gradient, error)

    return None


def _unreachable(kinetics: Kinetics, target: np.ndarray, last: CoordinateMap) -> ModelError:
    """At a dead centre one combination of coordinates cannot move; the largest in it is the cause."""
    stuck = np.linalg.svd(last.gradient)[0][:, -1]
    k = int(np.argmax(np.abs(stuck)))
    what = f"{target[k]:.6g} is out of reach"
    remedy = f"on the way there from the start it gets to {last.position[k]:.6g}, a dead centre"

    return ModelError([Flaw(f"coordinates.{kinetics.names[k]}", what, remedy)])


# --------------------------------------------------------------------------------------------------
# Workspace boundary: which region can a point reach when coordinates run along the ends of their ranges?
#
# Two coordinates at their ends bound a region in the plane (r, z) through the vertical axis: r = sqrt(x^2 + y^2). Its
# boundary is four trajectories; on each, one of the two runs through its range while the other stays at an end.


Ranges = Mapping[str, tuple[float, float]]


@dataclass(frozen=True, eq=False)
class WorkspaceBoundary:
    """Four trajectories around the region a point can reach, each sampled.

    Attributes:
        point: its name; moved: the two coordinates that run; names: all coordinates, in the order of `coordinates`.
        coordinates: (4, n_samples, n); q: joint positions, (4, n_samples, n).
        r, z: distance from the vertical axis and height of the point [m], (4, n_samples).
    """

    point: str
    moved: tuple[str, str]
    names: tuple[str, ...]
    coordinates: np.ndarray
    q: np.ndarray
    r: np.ndarray
    z: np.ndarray


def workspace_boundary(
    system: System,
    point: str,
    moved: tuple[str, str],
    *,
    others: tuple[str, ...] | None = None,
    ranges: Ranges | None = None,
    n_samples: int = 25,
) -> WorkspaceBoundary:
    """Boundary of a point's region, the other coordinates held where they start.

    Args:
        point: a named point of the mechanism.
        moved: the two coordinates that run along the ends of their ranges, the first one first.
        others: the coordinates held, so that there is one for each joint; by default the machine's other ones, and
            joints that none of them moves with.
        ranges: (lower, upper) of coordinates whose description has none, or instead of it.

    Raises:
        ModelError: for unknown names, coordinates without a range, and ends out of reach.
    """
    if n_samples < 2:
        raise ValueError(f"n_samples must be 2 at least, is {n_samples}")
    limits = _find_limits(system, point, moved, ranges or {})
    held_ones = _other_coordinates(system, moved) if others is None else others
    names = (*moved, *held_ones)
    kinetics = Kinetics(system, names)
    begin = start_positions(system)
    held = kinetics.map_at(begin).position[2:]
    pairs = _run_around(limits, n_samples)
    targets = np.concatenate([pairs, np.broadcast_to(held, (*pairs.shape[:2], held.size))], axis=-1)
    q = solve_positions(kinetics, targets.reshape(-1, len(names)), begin).reshape(targets.shape)
    x, y, z = np.moveaxis(_positions(system, point, q), -1, 0)

    return WorkspaceBoundary(point, moved, names, targets, q, np.hypot(x, y), z)


def _other_coordinates(system: System, moved: tuple[str, str]) -> tuple[str, ...]:
    """The machine's coordinates that do not run, and the joints that no coordinate moves with."""
    described = [c.name for c in system.scenario.machine.coordinates if c.name not in moved]
    positions = ca.vertcat(*(system.motion.coordinates[name] for name in (*moved, *described)))
    touched = ca.which_depends(positions, system.q, 1, False)
    free = [joint for joint, used in zip(joint_names(system), touched, strict=True) if not used]

    return (*described, *free)


def _run_around(limits: list[tuple[float, float]], n_samples: int) -> np.ndarray:
    """Corner to corner around the rectangle of two ranges, (4, n_samples, 2)."""
    (a, b), (c, d) = limits
    corners = np.array([(a, c), (b, c), (b, d), (a, d), (a, c)])
    part = np.linspace(0.0, 1.0, n_samples)[:, None]

    return np.array([begin + part * (end - begin) for begin, end in zip(corners, corners[1:], strict=False)])


def _find_limits(system: System, point: str, moved: tuple[str, str], ranges: Ranges) -> list[tuple[float, float]]:
    flaws = FlawList()
    joint_names(system)
    mechanism = system.scenario.machine.mechanism
    points = [known.name for known in mechanism.points] if mechanism else []
    flaws.add_unknown([point], points, "there is no such point", "points")
    known = system.motion.coordinates
    flaws.add_unknown((*moved, *ranges), known, "there is no such joint or coordinate", "coordinates")
    for name in set(ranges) - set(moved):
        flaws.add(f"ranges.{name}", "has no effect: it does not run", f"those that run: {', '.join(moved)}")
    limits = []
    for name in moved:
        found = ranges.get(name) or coordinate_limits(system, name)
        if found is None:
            flaws.add(f"ranges.{name}", "is missing: its description has no range", "give (lower, upper)")
        else:
            limits.append((float(found[0]), float(found[1])))
    flaws.raise_if_any("workspace")

    return limits


def _positions(system: System, point: str, q: np.ndarray) -> np.ndarray:
    """World position of a point at many joint positions, (..., 3) [m]."""
    names = system.signal_names
    rows = [names.index(f"{point}.position.{axis}") for axis in "xyz"]
    expression = ca.vertcat(*(system.expressions.outputs[row] for row in rows))
    place = ca.Function("place", [system.q, system.symbols.p], [expression])
    parameters = [number.value for number in system.parameters]
    flat = np.array([np.array(place(row, parameters)).ravel() for row in q.reshape(-1, q.shape[-1])])

    return flat.reshape(*q.shape[:-1], 3)
