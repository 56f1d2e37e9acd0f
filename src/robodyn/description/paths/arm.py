"""Kinematics of serial arms (product of exponentials): where do joints bring the tool, how fast do they move it?

An arm is a row of screws, the joints' axes at zero position, and the tool's pose there. With the motions about and
along these axes (Brockett's product of exponentials), for any number of joint positions at once,

    X(q) = exp(S_1 q_1) ... exp(S_n q_n) X(0)

Symbols: w an axis' unit vector, o a point on it, r its turn and t its advance per q (1 and 0 of a hinge, 0 and 1 of a
slide, 1 and the pitch of a screw), p the tool's place, all in world axes.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from robodyn.base import Array, FlawList, frozen, nearest
from robodyn.base.spatial import Pose, skew
from robodyn.description.model import GROUND, Joint, Mechanism

DIRECTIONS = ("rx", "ry", "rz", "x", "y", "z")
"""Motions of the tool: rotations about its own axes, shifts along the world's."""
RANK_TOLERANCE = 1e-9


class PlacedArm(NamedTuple):
    """An arm at some joint positions (..., n).

    Attributes:
        R, p: the tool's pose, (..., 3, 3) and [m] (..., 3).
        w, o: the axes' unit vectors and a point on each [m], (..., n, 3).
        r, t: turn and advance of each, (n, 1).
    """

    R: Array
    p: Array
    w: Array
    o: Array
    r: Array
    t: Array


@frozen(eq=False)
class SerialArm:
    """Joints in a chain, from the ground to the body that carries the tool.

    Attributes:
        w, o: the axes at zero position, (n, 3) each; r, t: turn and advance of each per position, (n,).
        R, p: the tool's pose there: orientation of its body, place of its point.
        lower, upper: limits of the joints, infinite where there are none, (n,).
        kept: which of the tool's six motions count, as `DIRECTIONS`; the others are free.
    """

    joints: tuple[str, ...]
    w: Array
    o: Array
    r: Array
    t: Array
    R: Array
    p: Array
    lower: Array
    upper: Array
    kept: tuple[bool, ...] = (True,) * 6

    def leave_free(self, free: Any) -> SerialArm:
        """This arm for a task that leaves some of the tool's motions free."""
        return replace(self, kept=tuple(name not in free for name in DIRECTIONS))

    @property
    def n(self) -> int:
        """Number of joints."""
        return len(self.joints)

    @property
    def units(self) -> tuple[str, ...]:
        """The unit of each joint's position: rad or m."""
        return tuple("rad" if turns else "m" for turns in self.r)

    @property
    def periodic(self) -> Array:
        """Joints that come back after a whole turn, (n,)."""
        return (self.r == 1.0) & (self.t == 0.0)

    @property
    def whole(self) -> bool:
        """Whether every motion of the tool counts."""
        return all(self.kept)

    @cached_property
    def _turns(self) -> tuple[Array, Array, Array]:
        """Rodrigues' formula R = k k^T + cos (1 - k k^T) + sin skew(k), its three constant matrices of all axes."""
        fixed = np.array([np.outer(k, k) for k in self.w])
        return fixed, np.eye(3) - fixed, np.array([skew(k) for k in self.w])

    @cached_property
    def reach(self) -> float:
        """Distances from axis to axis and to the tool, and travels of slides [m]: scales lengths against angles."""
        stations = np.concatenate([self.o, self.p[None]])
        travel = (self.upper - self.lower)[self.r == 0.0]
        links = float(np.sum(np.linalg.norm(np.diff(stations, axis=0), axis=1)))
        return links + float(np.sum(travel[np.isfinite(travel)])) or 1.0

    @cached_property
    def scale(self) -> Array:
        """Positions of the joints that count alike: 1 rad, or the reach, (n,)."""
        return np.where(self.r == 0.0, self.reach, 1.0)

    @cached_property
    def rank(self) -> int:
        """Motions that count and that the joints can make independently, at a pose like any other."""
        poses = np.random.default_rng(1).uniform(-1.0, 1.0, (4, self.n)) * self.scale
        placed = self.place(poses)
        J = self.select(placed.R, self.scaled(jacobian(placed)))
        return int(np.max(np.linalg.matrix_rank(J, tol=RANK_TOLERANCE)))

    @property
    def redundant(self) -> bool:
        """Whether the joints can move while the tool does not."""
        return self.n > self.rank

    def scaled(self, J: Array) -> Array:
        """A Jacobian with lengths over the reach and joints by their scale."""
        return np.repeat([1.0, 1.0 / self.reach], 3)[:, None] * J * self.scale

    def select(self, R: Array, motion: Array) -> Array:
        """Rows of (..., 6, k) that count; where one rotation is free they are about the axes of the tool at R."""
        if self.whole:
            return motion
        if any(self.kept[:3]):
            turned = np.swapaxes(R, -1, -2) @ motion[..., :3, :]
            motion = np.concatenate([turned, motion[..., 3:, :]], axis=-2)
        return motion[..., list(self.kept), :]

    def turn(self, joint: int, angle: Any) -> Array:
        """Rotations about one axis at zero position, (..., 3, 3)."""
        fixed, across, skewed = (matrices[joint] for matrices in self._turns)
        angle = np.asarray(angle)[..., None, None]
        return fixed + np.cos(angle) * across + np.sin(angle) * skewed

    def place(self, q: Any) -> PlacedArm:
        """The arm at joint positions q [rad or m], (..., n)."""
        q = np.asarray(q, float)
        R = np.broadcast_to(np.eye(3), (*q.shape[:-1], 3, 3))
        shift = np.zeros((*q.shape[:-1], 3))
        w, o = [], []
        fixed, across, skewed = self._turns
        turns = fixed + np.cos(q)[..., None, None] * across + np.sin(q)[..., None, None] * skewed
        for k in range(self.n):
            w.append(R @ self.w[k])
            o.append(R @ self.o[k] + shift)
            if self.r[k]:
                R = R @ turns[..., k, :, :]
            shift = o[k] - R @ self.o[k]
            if self.t[k]:
                shift = shift + self.t[k] * q[..., k, None] * w[k]
        axes = np.stack(w, axis=-2), np.stack(o, axis=-2)
        return PlacedArm(R @ self.R, R @ self.p + shift, *axes, self.r[:, None], self.t[:, None])


def cross(a: Array, b: Array) -> Array:
    """Vector products along the last axis; `numpy.cross` spends its time on choosing axes."""
    (a0, a1, a2), (b0, b1, b2) = ((v[..., 0], v[..., 1], v[..., 2]) for v in (a, b))
    return np.stack([a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0], axis=-1)


def jacobian(arm: PlacedArm) -> Array:
    """J (..., 6, n) from joint rates to the tool's motion in world axes, angular rows first.

    column k = (r w_k, r w_k x (p - o_k) + t w_k)
    """
    velocity = cross(arm.w, arm.p[..., None, :] - arm.o)
    return np.swapaxes(np.concatenate([arm.r * arm.w, arm.r * velocity + arm.t * arm.w], axis=-1), -1, -2)


def jacobian_rate(arm: PlacedArm, v: Array) -> Array:
    """Rate of J at joint rates v, (..., 6, n).

    w_k' = Omega_k x w_k,   o_k' = u_k: motion of the link that carries axis k
    column k = (r w_k', r (w_k' x (p - o_k) + w_k x (p' - o_k')) + t w_k')
    """
    rates = v[..., None] * arm.r * arm.w
    carried = np.cumsum(rates, axis=-2) - rates
    # Velocity of the point x on the link that carries axis k: sum_{j<k} v_j (r_j w_j x (x - o_j) + t_j w_j)
    anchors = cross(rates, arm.o) - v[..., None] * arm.t * arm.w
    offsets = np.cumsum(anchors, axis=-2) - anchors
    o_rate = cross(carried, arm.o) - offsets
    p_rate = cross(np.sum(rates, axis=-2), arm.p) - np.sum(anchors, axis=-2)
    w_rate = cross(carried, arm.w)
    lever = arm.p[..., None, :] - arm.o
    velocity_rate = cross(w_rate, lever) + cross(arm.w, p_rate[..., None, :] - o_rate)
    return np.swapaxes(np.concatenate([arm.r * w_rate, arm.r * velocity_rate + arm.t * w_rate], axis=-1), -1, -2)


def build_arm(mechanism: Mechanism, point: str) -> SerialArm:
    """The chain of a mechanism from the ground to the body of a named point.

    Raises:
        ModelError: when there is no such point, or the chain has no joints, or one without single positions.
    """
    flaws = FlawList()
    points = {one.name: one for one in mechanism.points}
    if point not in points:
        flaws.add("point", f"there is no point '{point}'", nearest(point, points))
        flaws.raise_if_any(f"arm of '{mechanism.name}'")
    # The joints from the ground to the point, and what no arm may have.
    body = points[point].body
    carrier = {joint.child: joint for joint in mechanism.joints}
    chain: list[Joint] = []
    while body != GROUND:
        chain.insert(0, carrier[body])
        body = carrier[body].parent
    if not any(joint.freedoms for joint in chain):
        flaws.add("point", f"'{point}' is not carried by any joint", "name a point that moves")
    for joint in chain:
        if any(not freedom.is_single for freedom in joint.freedoms):
            flaws.add(f"joints.{joint.name}", f"is {joint.kind}", "joints of an arm have single positions")
        if joint.node is not None:
            flaws.add(f"joints.{joint.name}", "is on a flexible body", "plan for the rigid arm")
    if points[point].node is not None:
        flaws.add(f"points.{point}", "is on a flexible body", "plan for the rigid arm")
    flaws.raise_if_any(f"arm of '{mechanism.name}'")
    # Every axis w and a point o on it where all joints are at 0, in the world: product of exponentials.
    pose = Pose.identity()
    names, w, o, r, t, limits = [], [], [], [], [], []
    for joint in chain:
        pose = pose @ Pose(np.array(joint.rotation), np.array(joint.origin))
        for freedom in joint.freedoms:
            names.append(freedom.name)
            w.append(pose.R @ np.array(freedom.axis))
            o.append(pose.p)
            r.append(float(freedom.rotates))
            t.append({"prismatic": 1.0, "screw": joint.pitch}.get(freedom.kind, 0.0))
            limits.append((-np.inf, np.inf))
            if freedom.name == joint.name:
                limits[-1] = (_bound(joint.lower_limit, -np.inf), _bound(joint.upper_limit, np.inf))
    lower, upper = np.array(limits).T
    place = pose.R, pose.apply(np.array(points[point].origin))
    return SerialArm(tuple(names), np.array(w), np.array(o), np.array(r), np.array(t), *place, lower, upper)


def _bound(limit: float | None, absent: float) -> float:
    return absent if limit is None else limit
