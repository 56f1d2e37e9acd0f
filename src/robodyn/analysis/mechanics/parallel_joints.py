"""Joints that motors turn through rods, as ankles: what do they do, and what does a serial stand-in get wrong?

    s motors, y angles, q all joints, h(q) = 0 the loops, H = dh/dq, S = ds/dq, P = dy/dq

    N = [H; P]^-1 [0; 1]       motions of all joints by each angle's rate, those that keep the loops
    J = S N                    motor speeds by angle rates
    tau_y = J^T tau_s          torques at the angles, for the powers tau_s s_dot = tau_y y_dot are the same
    M_y = N^T M N              inertia that the angles feel; J^T diag(I) J of it are the rotors'

The stand-in is what a file of a tree can say of it: joints at the angles with constant ranges, torques, speeds and
rotors, driven by motors that follow the angles by the constant J of one posture.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from robodyn.base import Array, FlawList, frozen, report_progress
from robodyn.computation.assembly import System

from .machine_dynamics import MachineDynamics
from .parallel_kinematics import ParallelKinematics, Posture, fill_grid

MOST_PLACES = 20_000
"""Of a grid."""


@frozen(eq=False)
class SerialStandIn:
    """Joints at the angles that a tree would have in place of the motors and rods, taken at one posture.

    Attributes:
        at: the posture's angles [rad]; ranges: least and largest of each angle, the others as there, (f, 2).
        jacobian: motor speeds by angle rates, (f, f); rotors: inertia of the rotors alone as each angle feels it.
        torques, speeds: the largest about one angle alone, infinite where the motors have no limits.
        together: share of all these torques that can act at once, whatever their signs.
        there: share of the box of the ranges that the joint can reach.
    """

    at: Array
    ranges: Array
    jacobian: Array
    rotors: Array
    torques: Array
    speeds: Array
    together: float
    there: float


@frozen
class AngleFigures:
    """One angle of a parallel joint: what the stand-in says of it, and how far that holds over what can be reached.

    Attributes:
        lower, upper: of the stand-in [rad]; torque, speed: the largest about this angle alone; rotor: inertia.
        motor_rates: speed of each motor by this angle's rate, where the stand-in is taken.
        least_torque, largest_torque: over the stand-in's; angle_error: largest one of its constant map [rad].
    """

    lower: float
    upper: float
    torque: float
    speed: float
    rotor: float
    motor_rates: dict[str, float]
    least_torque: float
    largest_torque: float
    angle_error: float


@frozen(eq=False)
class ParallelJoint:
    """A parallel joint over a grid of its angles; arrays are nan where it cannot be.

    Attributes:
        values: grid along each angle [rad]. The others have a dimension for each angle first, then
        motor_positions: (..., f); jacobian: motor speeds by angle rates, (..., f, f).
        inertia: that the angles feel [kg m^2], and rotors: the part of the rotors, (..., f, f).
        torques, speeds: the largest about one angle alone, (..., f).
        angle_errors: of the angles that the stand-in's constant map leads to [rad], (..., f).
        stand_in: the joints of a tree in its place.
    """

    JSON = """
    motors
    angles = figures: of each angle, what a serial stand-in says of it, and how far that holds
    together = stand_in.together: share of the torques of all angles that can act at once
    there = stand_in.there: share of the box of the ranges that can be reached
    coupling: largest rotor inertia between two angles, over the geometric mean of theirs
    rotor_error: largest size of what the stand-in's rotors get wrong, over its own
    """
    angles: tuple[str, ...]
    motors: tuple[str, ...]
    values: tuple[Array, ...]
    motor_positions: Array
    jacobian: Array
    inertia: Array
    rotors: Array
    torques: Array
    speeds: Array
    angle_errors: Array
    stand_in: SerialStandIn

    @property
    def reachable(self) -> Array:
        """Where the joint can be."""
        return ~np.isnan(self.motor_positions[..., 0])

    @property
    def torque_ratios(self) -> Array:
        """The largest torques over those of the stand-in, (..., f)."""
        return np.asarray(self.torques / self.stand_in.torques)

    @property
    def rotor_errors(self) -> Array:
        """Size of what the stand-in's rotors get wrong, coupling included, over its own."""
        wrong = self.rotors - np.diag(self.stand_in.rotors)
        size = np.linalg.norm(np.diag(self.stand_in.rotors), 2)
        return np.asarray(np.linalg.norm(wrong, axis=(-2, -1)) / (size or np.nan))

    @property
    def figures(self) -> dict[str, AngleFigures]:
        """The figures of the stand-in for each angle, and how far they hold."""
        made = {}
        own, ratios = self.stand_in, self.torque_ratios
        for k, angle in enumerate(self.angles):
            rates = dict(zip(self.motors, own.jacobian[:, k].tolist(), strict=True))
            errors = np.abs(self.angle_errors[..., k])
            lower, upper = own.ranges[k].tolist()
            made[angle] = AngleFigures(
                lower, upper, float(own.torques[k]), float(own.speeds[k]), float(own.rotors[k]), rates,
                -_largest(-ratios[..., k]), _largest(ratios[..., k]), _largest(errors),
            )  # fmt: skip
        return made

    @property
    def coupling(self) -> float:
        """Largest rotor inertia between two angles, over the geometric mean of theirs."""
        sizes = np.sqrt(np.diagonal(self.rotors, axis1=-2, axis2=-1))
        with np.errstate(invalid="ignore", divide="ignore"):
            relative = np.abs(self.rotors) / (sizes[..., :, None] * sizes[..., None, :])
        return _largest(relative[..., ~np.eye(len(self.angles), dtype=bool)])

    @property
    def rotor_error(self) -> float:
        """Largest size of what the stand-in's rotors get wrong, over its own."""
        return _largest(self.rotor_errors)


def _largest(values: Array) -> float:
    return float(np.nanmax(values)) if np.any(~np.isnan(values)) else float("nan")


@frozen(eq=False)
class MotorLimits:
    """Limits of motors: ranges of positions (f, 2), torques and speeds (f,), infinite where there is no limit."""

    ranges: Array
    torques: Array
    speeds: Array
    rotors: Array

    @classmethod
    def of(cls, system: System, motors: Sequence[str]) -> MotorLimits:
        machine = system.scenario.machine
        joints = {joint.name: joint for joint in machine.any_mechanism.joints}
        strokes = {part.name: part.range for part in machine.coordinates}
        rows = []
        for name in motors:
            joint = joints.get(name)
            limits = {} if joint is None else joint.limits
            lower, upper = strokes.get(name) or (-np.inf, np.inf)
            ends = limits.get("lower_limit", lower), limits.get("upper_limit", upper)
            most = limits.get("effort_limit", np.inf), limits.get("speed_limit", np.inf)
            rows.append((*ends, *most, 0.0 if joint is None else joint.armature))
        table = np.array(rows)
        return cls(table[:, :2], table[:, 2], table[:, 3], table[:, 4])


def largest_torques(J: Array, limits: Array) -> Array:
    """The largest torque about each angle alone: tau_s = J^-T e_k t within the motors' limits."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.min(limits[:, None] / np.abs(np.linalg.inv(J).T), axis=0))


def largest_speeds(J: Array, limits: Array) -> Array:
    """The largest speed of each angle alone: s_dot = J e_k w within the motors' limits."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.min(limits[:, None] / np.abs(J), axis=0))


@report_progress("mapping the joint")
def map_parallel_joint(
    system: System, motors: Sequence[str], grid: Mapping[str, Any], start: Mapping[str, float] | None = None
) -> ParallelJoint:
    """A joint whose angles motors turn through loops, over a grid of the angles.

    Args:
        motors: joints or coordinates, as many as there are angles; their limits bound what can be reached.
        grid: values of each angle [rad], by joint; limits of these joints bound it too.
        start: angles of the posture that the stand-in is taken at; by default those of the scenario's start.

    Raises:
        ModelError: for unknown names, and where loops, motors and angles do not fit each other.
    """
    flaws = FlawList()
    for angle, column in grid.items():
        if len(column) == 0 or np.any(np.diff(column) <= 0) or not np.all(np.isfinite(column)):
            flaws.add(f"grid.{angle}", "must be increasing numbers", "sort them")
    places = int(np.prod([len(column) for column in grid.values()]))
    if places > MOST_PLACES:
        flaws.add("grid", f"has {places} places, at most {MOST_PLACES} are mapped", "use fewer values")
    flaws.raise_if_any("parallel joint")
    angles = tuple(grid)
    kinematics = ParallelKinematics(system, "", motors, angles)
    dynamics = MachineDynamics(system.scenario.machine.replaced(loads=()))
    limits = MotorLimits.of(system, motors)
    own = MotorLimits.of(system, angles).ranges
    values = tuple(np.asarray(grid[angle], float) for angle in angles)

    # The posture of the stand-in, and from there what can be reached without passing a singular posture.
    begin = kinematics.forward(kinematics.at(kinematics.start).s)
    wanted = [(start or {}).get(angle, value) for angle, value in zip(angles, kinematics.at(begin.q).p, strict=True)]
    flaws = FlawList()
    for angle, y, column, (low, high) in zip(angles, wanted, values, own, strict=True):
        least, most = max(low, column[0]), min(high, column[-1])
        if not least <= y <= most:
            what = f"is {y:.4g} rad, its grid within its limits goes from {least:.4g} to {most:.4g}"
            flaws.add(f"start.{angle}", what, "place the stand-in on the grid")
    flaws.raise_if_any("parallel joint")
    home = kinematics.inverse(wanted, begin.q)
    if not home.solved:
        flaws.add("start", f"the loops do not close there, {home.residual:.3g} m or rad remain", "choose other angles")
        flaws.raise_if_any("parallel joint")
    inside = tuple(
        np.where((column >= low) & (column <= high), column, np.nan)
        for column, (low, high) in zip(values, own, strict=True)
    )
    bounds = limits.ranges[:, 0], limits.ranges[:, 1]
    postures = {
        place: posture
        for place, posture in fill_grid(kinematics, values, home, bounds)
        if not any(np.isnan(column[k]) for column, k in zip(inside, place, strict=True))
    }

    # Torque map and inertia at each place.
    n_y, shape = len(angles), tuple(len(column) for column in values)
    table = {name: np.full((*shape, n_y), np.nan) for name in ("positions", "torques", "speeds", "errors")}
    squares = {name: np.full((*shape, n_y, n_y), np.nan) for name in ("jacobian", "inertia", "rotors")}
    J_home = _maps(kinematics, home)[1]
    for place, posture in postures.items():
        N, J = _maps(kinematics, posture)
        squares["jacobian"][place] = J
        squares["inertia"][place] = N.T @ dynamics.mass_matrix(posture.q) @ N
        squares["rotors"][place] = J.T @ np.diag(limits.rotors) @ J
        table["positions"][place] = posture.actuated
        table["torques"][place] = largest_torques(J, limits.torques)
        table["speeds"][place] = largest_speeds(J, limits.speeds)
        # Motors that follow the constant map lead to other angles than are wanted.
        y = np.array([column[k] for column, k in zip(values, place, strict=True)])
        led = kinematics.forward(home.actuated + J_home @ (y - np.array(wanted)), posture.q)
        if led.solved:
            table["errors"][place] = kinematics.at(led.q).p - y

    stand_in = _stand_in(values, np.array(wanted), J_home, limits, ~np.isnan(table["positions"][..., 0]))
    return ParallelJoint(
        angles, tuple(motors), values, table["positions"], squares["jacobian"], squares["inertia"], squares["rotors"],
        table["torques"], table["speeds"], table["errors"], stand_in,
    )  # fmt: skip


def _maps(kinematics: ParallelKinematics, posture: Posture) -> tuple[Array, Array]:
    """N and J at a posture."""
    here = kinematics.at(posture.q)
    n_y = len(here.p)
    directions = np.vstack([np.zeros((len(here.h), n_y)), np.eye(n_y)])
    N = np.linalg.solve(np.vstack([here.H, here.P]), directions)
    return N, here.S @ N


def _stand_in(values: tuple[Array, ...], at: Array, J: Array, limits: MotorLimits, reachable: Array) -> SerialStandIn:
    home = tuple(int(np.argmin(np.abs(column - y))) for column, y in zip(values, at, strict=True))
    ranges, box = [], []
    for k, column in enumerate(values):
        along: Any = (*home[:k], slice(None), *home[k + 1 :])
        line = reachable[along]
        # As far as it goes without a gap.
        first = last = home[k]
        while first > 0 and line[first - 1]:
            first -= 1
        while last + 1 < len(column) and line[last + 1]:
            last += 1
        ranges.append((column[first], column[last]))
        box.append(slice(first, last + 1))
    torques = largest_torques(J, limits.torques)
    together = 1.0
    if np.all(np.isfinite(torques)):
        together = float(np.min(limits.torques / (np.abs(np.linalg.inv(J).T) @ torques)))
    rotors = np.diag(J.T @ np.diag(limits.rotors) @ J)
    there = float(np.mean(reachable[tuple(box)]))
    speeds = largest_speeds(J, limits.speeds)
    return SerialStandIn(at, np.array(ranges), J, rotors, torques, speeds, together, there)
