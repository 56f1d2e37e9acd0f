"""Reactions of joints, and motions of bodies."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np
from casadi import SX

from robodyn.base import Array, fits
from robodyn.base.spatial import Pose, multiply, quaternion_from_matrix
from robodyn.base.symbolic import to_column
from robodyn.computation.dynamics import joint_wrenches, link_poses
from robodyn.description.model import XYZ, FunctionCoordinate, Rod, TriangleLength, Wheel
from robodyn.description.model.interface import ROTATION
from robodyn.description.model.joint import QUATERNION

from .constraints.redundancy import NOTE
from .constraints.solution import express_equations
from .contact.geometry import find_contact_points, find_touch, stop_force
from .contribution import Contribution, define_column, merge
from .mechanics import find_wrench
from .motion import Motion, express_coordinate
from .network import SignalInfo
from .tracing import Bindings, placeholder
from .tree import build_tree

# --------------------------------------------------------------------------------------------------
# Motions of bodies: how is each oriented, how fast does it rotate? Traced only where they are asked for.
#
#     BODY.orientation            unit quaternion w, x, y, z, world from body, continuous in time
#     BODY.angular_velocity       x, y, z in the body's axes [rad/s]
#     BODY.angular_acceleration   the same [rad/s^2]
#
# Where a ball or free joint has the body's name, these are names of the joint's own motion.


ORIENTATION, VELOCITY, ACCELERATION = BODY_MOTIONS = ("orientation", "angular_velocity", "angular_acceleration")
BODY_UNITS = {VELOCITY: "rad/s", ACCELERATION: "rad/s^2"}


def define_body_signals(motion: Motion, contributions: Contribution, patterns: Sequence[str]) -> Contribution:
    """Orientation, angular velocity and acceleration of the bodies that a pattern or something in the machine names."""
    if motion.linear is not None:
        return Contribution()
    meant = [pattern for pattern in patterns if any(word in pattern for word in BODY_MOTIONS)]
    taken = {freedom.name for freedom in motion.freedoms if not freedom.is_single}
    bodies = [body.name for body in motion.mechanism.bodies if body.name not in taken]
    asked = {
        quantity: [b for b in bodies if is_asked(contributions, _names(b, quantity), meant)]
        for quantity in BODY_MOTIONS
    }
    parts = []
    for body in asked[ORIENTATION]:
        infos = [SignalInfo(name, "") for name in _names(body, ORIENTATION)]
        parts.append(define_column(infos, _find_orientation(motion, body)))
    for body in asked[VELOCITY]:
        rates = _names(body, ACCELERATION) if body in asked[ACCELERATION] else [None] * 3
        pairs = zip(_names(body, VELOCITY), rates, strict=True)
        infos = [SignalInfo(name, BODY_UNITS[VELOCITY], rate=rate) for name, rate in pairs]
        parts.append(define_column(infos, _find_velocity(motion, body)))
    for body in asked[ACCELERATION]:
        infos = [SignalInfo(name, BODY_UNITS[ACCELERATION]) for name in _names(body, ACCELERATION)]
        parts.append(define_column(infos, *_find_acceleration(motion, _find_velocity(motion, body))))
    return merge(parts)


def _names(body: str, quantity: str) -> list[str]:
    return [f"{body}.{quantity}.{part}" for part in (QUATERNION if quantity == ORIENTATION else XYZ)]


def _find_orientation(motion: Motion, body: str) -> SX:
    place = motion.mechanics.placements[body]
    fixed = quaternion_from_matrix(place.pose.R)
    carrier = motion.quaternions[place.link] if place.link >= 0 else (1.0, 0.0, 0.0, 0.0)
    return to_column(SX(part) for part in multiply(carrier, fixed))


def _find_velocity(motion: Motion, body: str) -> SX:
    place = motion.mechanics.placements[body]
    return SX(place.pose.R.T) @ (SX(motion.angular_velocities[place.link]) if place.link >= 0 else SX.zeros(3))


def _find_acceleration(motion: Motion, omega: SX) -> tuple[SX, Bindings]:
    """Rates of the components, d omega/dq q_dot + d omega/dv a: in the body's own axes they are those of the vector."""
    bindings: Bindings = {}
    names = [name for freedom in motion.freedoms for name in freedom.accelerations]
    a = to_column(placeholder(f"value of {name}", name, bindings) for name in names)
    return ca.jtimes(omega, motion.q, motion.q_dot) + ca.jtimes(omega, motion.v, a), bindings


# --------------------------------------------------------------------------------------------------
# Joint reactions: which force and torque does each joint of a tree carry, bearing, drive and friction together?
#
# Each body is displaced by itself, virtually: its origin by d, the body about that by theta. The work P of all forces
# but those of joints (along coordinates, of constraints, loads, contacts, interfaces) gives their wrench on the body,
#
#     F = dP/dd,   T = dP/dtheta
#
# and what its motion asks for beyond that is left for its joint: the sweep of Newton and Euler, exactly. Bodies on
# fixed joints are links of their own here.


REACTION = "reaction"
UNITS = {"force": "N", "torque": "N m"}
DETERMINED = 1e-6
"""Change of a reaction, as part of what constraint forces do to it, that forces which move nothing may cause."""


def trace_joint_reactions(
    motion: Motion, contributions: Contribution, null_forces: Mapping[str, Array], patterns: Sequence[str]
) -> Contribution:
    """`JOINT.reaction.force.x` and `.torque.x` on the joint's child body, in its axes and about its origin.

    Only of those joints that a pattern or something in the machine asks for by that word.

    Args:
        null_forces: of each constraint force, its part in forces that move nothing.
    """
    meant = [pattern for pattern in patterns if REACTION in pattern]
    joints = [joint.name for joint in motion.mechanism.joints]
    asked = [name for name in joints if is_asked(contributions, reaction_units(name), meant)]
    if not asked or motion.linear is not None:
        return Contribution()
    outside = _Outside(motion, contributions)
    accelerations = [outside.read(name) for freedom in motion.freedoms for name in freedom.accelerations]
    tree: Any = outside.moved.mechanics.tree
    # Newton-Euler on the tree with its fixed bodies apart, under all wrenches that are not the joints' own.
    carried = joint_wrenches(tree, motion.q, motion.v, ca.vertcat(*accelerations), outside.find_wrenches())  # type: ignore[arg-type]
    place = {link.name: k for k, link in enumerate(tree.links)}
    child = {joint.name: joint.child for joint in motion.mechanism.joints}
    parts = []
    for joint in asked:
        force, torque = carried[place[child[joint]]]
        entries = [SX(entry) for entry in (*_entries(force), *_entries(torque))]
        notes, units = outside.note(entries, null_forces), reaction_units(joint)
        infos = [SignalInfo(name, unit, note=note) for (name, unit), note in zip(units.items(), notes, strict=True)]
        parts.append(define_column(infos, ca.vertcat(*entries), outside.bindings))
    return merge((*parts, Contribution(warnings=_describe_unplaced(motion, contributions))))


def reaction_units(joint: str) -> dict[str, str]:
    """The signals of a joint's reaction and their units."""
    return {f"{joint}.{REACTION}.{part}.{axis}": unit for part, unit in UNITS.items() for axis in XYZ}


def _entries(vector: Any) -> list[Any]:
    return [vector[k] for k in range(3)]


def is_asked(contributions: Contribution, names: Iterable[str], patterns: Sequence[str]) -> bool:
    """Whether something in the machine reads one of these signals, or a pattern matches one."""
    return any(name in contributions.names_read or fits(name, patterns) for name in names)


def _describe_unplaced(motion: Motion, contributions: Contribution) -> tuple[str, ...]:
    """Forces along what joint angles alone describe act on the joints as torques: where they push is not known."""
    pushed = {target for target, _ in contributions.forces} | {element.on for element in contributions.sticking}
    return tuple(
        f"reactions contain the torque of '{coordinate.name}' on the joints only, not its force on the bodies, "
        "because its ends are not described; use a Distance between two points"
        for coordinate in motion.machine.coordinates
        if isinstance(coordinate, (TriangleLength, FunctionCoordinate)) and coordinate.name in pushed
    )


class _Outside:
    """The forces on bodies that are not those of their joints, as functions of virtual displacements.

    Attributes:
        resting: the motion itself; moved: the same with all bodies displaced.
        shifts: d and theta of each link, (6, n_links).
    """

    def __init__(self, motion: Motion, contributions: Contribution) -> None:
        self.contributions, self.machine, self.resting = contributions, motion.machine, motion
        self.bindings: Bindings = {}
        self.values: dict[str, SX] = {}
        # Bodies on fixed joints carry reactions too: the tree is built once more without merging them.
        mechanics = build_tree(motion.mechanism, motion.values, merge=False)
        self.shifts = SX.sym("virtual", 6, len(mechanics.tree.links))
        self.poses = link_poses(mechanics.tree, motion.q)
        displaced = [_displace(pose, self.shifts[:, k]) for k, pose in enumerate(self.poses)]
        moved = replace(motion, mechanics=mechanics, poses=displaced)
        described = {c.name: express_coordinate(moved, c)[1] for c in self.machine.coordinates}
        self.moved = replace(moved, positions={**motion.positions, **described})

    def read(self, signal: str) -> SX:
        """The value that a signal will turn out to have."""
        if signal not in self.values:
            self.values[signal] = placeholder(f"value of {signal}", signal, self.bindings)
        return self.values[signal]

    def note(self, entries: Sequence[SX], null: Mapping[str, Array]) -> list[str]:
        """Notes on reactions that constraint forces change which the motion does not determine."""
        # Redundant constraints: does a force in the null space of H^T reach this joint?
        if not null:
            return [""] * len(entries)
        forces = to_column(self.read(name) for name in null)
        signs = np.array([-1.0 if name.endswith(".tension") else 1.0 for name in null])
        effects = self.moved.value_somewhere(ca.jacobian(ca.vertcat(*entries), forces))
        sizes = np.linalg.norm(effects @ (signs[:, None] * np.array(list(null.values()))), axis=1)
        return [NOTE if size > DETERMINED * np.max(np.abs(effects), initial=1.0) else "" for size in sizes]

    def find_wrenches(self) -> dict[int, tuple[SX, SX]]:
        """Force and torque about its origin on each link, in world axes."""
        work = self._work_along_coordinates() + self._work_of_constraints() + self._work_at_points()
        # Principle of virtual work: the gradient by (d, theta) of each link is its wrench.
        wrenches = ca.reshape(ca.gradient(work, ca.vec(self.shifts)), 6, -1)
        wrenches = ca.substitute(wrenches, self.shifts, SX.zeros(self.shifts.shape))
        return {k: (wrenches[:3, k], wrenches[3:, k]) for k in range(wrenches.shape[1])}

    def _work_along_coordinates(self) -> SX:
        acting = [*self.contributions.forces, *((element.on, element.force) for element in self.contributions.sticking)]
        acting += [(joint.name, stop_force(joint)) for joint in self.resting.mechanism.rigid_stops]
        acting += [(str(i.on), i.names("force")[0]) for i in self.machine.interfaces if i.point is None]
        return sum((self.read(signal) * self.moved.positions[target] for target, signal in acting), SX(0))

    def _work_of_constraints(self) -> SX:
        work = SX(0)
        for constraint in self.machine.all_constraints:
            if isinstance(constraint, Wheel):
                touch = find_touch(self.resting, constraint)
                moved = self._carry(constraint.center, touch.place)
                for name, direction in zip(constraint.equations, touch.directions, strict=True):
                    work = work + self.read(f"{constraint.name}.{name}") * ca.dot(direction, moved)
                continue
            sign = -1 if isinstance(constraint, Rod) else 1
            for name, h in zip(constraint.equations, express_equations(self.moved, constraint), strict=True):
                work = work + sign * self.read(f"{constraint.name}.{name}") * h
        return work

    def _work_at_points(self) -> SX:
        """The work of loads, of interfaces and of contacts."""
        work = SX(0)
        for load in self.machine.loads:
            # A virtual displacement does not rotate the force.
            force, torque = find_wrench(self.resting, load)
            pushed = ca.dot(force, self.moved.point_position(load.point)) + self._turn(load.point, torque)
            work = work + (pushed if load.times is None else self.read(load.times) * pushed)
        for interface in (i for i in self.machine.interfaces if i.point is not None):
            rows = dict(zip(interface.row_names, interface.names("force"), strict=True))
            # Rows that the interface does not have carry nothing.
            given = {row: self.read(signal) for row, signal in rows.items()}
            force, torque = (to_column(given.get(row, SX(0)) for row in axes) for axes in (XYZ, ROTATION))
            point = str(interface.point)
            work = work + ca.dot(force, self.moved.point_position(point))
            if interface.rotates:
                work = work + self._turn(point, torque)
        for contact in self.machine.contacts:
            for contact_point in find_contact_points(self.moved, contact):
                force = to_column(self.read(f"{contact_point.name}.force.{axis}") for axis in XYZ)
                # A contact pushes both bodies at the place where they touch, which does not move with either.
                place = ca.substitute(contact_point.place, self.shifts, SX.zeros(self.shifts.shape))
                for sign, part in ((1, contact.touching), (-1, contact.against)):
                    work = work + sign * ca.dot(force, self._carry(part.point, place))
        return work

    def _turn(self, point: str, torque: SX) -> SX:
        """Work of a torque on the body of a point."""
        link, _ = self.moved.point_pose(point)
        return ca.dot(torque, self.shifts[3:, link]) if link >= 0 else SX(0)

    def _carry(self, point: str, place: SX) -> SX:
        """How the place of a body moves, the body of a point."""
        link, _ = self.moved.point_pose(point)
        if link < 0:
            return SX.zeros(3)
        return self.shifts[:3, link] + ca.cross(self.shifts[3:, link], place - SX(self.poses[link].p))


def _displace(pose: Pose, shift: SX) -> Pose:
    """To first order, which is all that derivatives see."""
    R = SX(pose.R)
    return Pose(R + ca.skew(shift[3:]) @ R, SX(pose.p) + shift[:3])
