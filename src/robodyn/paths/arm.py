"""Kinematics of six-axis arms (product of exponentials): where do joints bring the tool, how fast do they move it?

A six-axis arm is six lines in space, the joints' axes at zero position, and the tool's pose there. With the screw
motions about these lines (Brockett's product of exponentials), for any number of joint positions at once,

    X(q) = exp(S_1 q_1) ... exp(S_6 q_6) X(0)

Symbols: w an axis' unit vector, o a point on it, p the tool's place, all in world axes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from robodyn.errors import FlawList, nearest
from robodyn.model import GROUND, Joint, Mechanism
from robodyn.spatial import Pose, skew

N_JOINTS = 6


class Placed(NamedTuple):
    """An arm at some joint positions (..., 6).

    Attributes:
        R, p: the tool's pose, (..., 3, 3) and [m] (..., 3).
        w, o: the axes' unit vectors and a point on each [m], (..., 6, 3).
    """

    R: np.ndarray
    p: np.ndarray
    w: np.ndarray
    o: np.ndarray


@dataclass(frozen=True, eq=False)
class SixAxisArm:
    """Six revolute joints in a chain, from the ground to the body that carries the tool.

    Attributes:
        w, o: the axes at zero position, (6, 3) each.
        R, p: the tool's pose there: orientation of its body, place of its point.
    """

    joints: tuple[str, ...]
    w: np.ndarray
    o: np.ndarray
    R: np.ndarray
    p: np.ndarray

    @cached_property
    def _turns(self) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Rodrigues' formula R = k k^T + cos (1 - k k^T) + sin skew(k), its three constant matrices for each axis."""
        return [(np.outer(k, k), np.eye(3) - np.outer(k, k), skew(k)) for k in self.w]

    @cached_property
    def reach(self) -> float:
        """Sum of the distances from axis to axis and to the tool [m]: scales lengths against angles."""
        stations = np.concatenate([self.o, self.p[None]])
        return float(np.sum(np.linalg.norm(np.diff(stations, axis=0), axis=1)))

    def turn(self, joint: int, angle: Any) -> np.ndarray:
        """Rotations about one axis at zero position, (..., 3, 3)."""
        fixed, across, skewed = self._turns[joint]
        angle = np.asarray(angle)[..., None, None]
        return fixed + np.cos(angle) * across + np.sin(angle) * skewed

    def place(self, q: Any) -> Placed:
        """The arm at joint positions q [rad], (..., 6)."""
        q = np.asarray(q, float)
        R = np.broadcast_to(np.eye(3), (*q.shape[:-1], 3, 3))
        shift = np.zeros((*q.shape[:-1], 3))
        w, o = [], []
        for k in range(N_JOINTS):
            w.append(R @ self.w[k])
            o.append(R @ self.o[k] + shift)
            R = R @ self.turn(k, q[..., k])
            shift = o[k] - R @ self.o[k]
        return Placed(R @ self.R, R @ self.p + shift, np.stack(w, axis=-2), np.stack(o, axis=-2))


def jacobian(arm: Placed) -> np.ndarray:
    """J (..., 6, 6) from joint rates to the tool's motion in world axes, angular rows first.

    column k = (w_k, w_k x (p - o_k))
    """
    moved = np.cross(arm.w, arm.p[..., None, :] - arm.o)
    return np.swapaxes(np.concatenate([arm.w, moved], axis=-1), -1, -2)


def jacobian_rate(arm: Placed, v: np.ndarray) -> np.ndarray:
    """Rate of J at joint rates v, (..., 6, 6).

    w_k' = Omega_k x w_k,   o_k' = u_k: motion of the link that carries axis k
    column k = (w_k', w_k' x (p - o_k) + w_k x (p' - o_k'))
    """
    rates = v[..., None] * arm.w
    carried = np.cumsum(rates, axis=-2) - rates
    # Velocity of the point x on the link that carries axis k: sum_{j<k} v_j w_j x (x - o_j)
    anchors = np.cross(rates, arm.o)
    offsets = np.cumsum(anchors, axis=-2) - anchors
    o_rate = np.cross(carried, arm.o) - offsets
    p_rate = np.cross(np.sum(rates, axis=-2), arm.p) - np.sum(anchors, axis=-2)
    w_rate = np.cross(carried, arm.w)
    lever = arm.p[..., None, :] - arm.o
    moved = np.cross(w_rate, lever) + np.cross(arm.w, p_rate[..., None, :] - o_rate)
    return np.swapaxes(np.concatenate([w_rate, moved], axis=-1), -1, -2)


def build_arm(mechanism: Mechanism, point: str) -> SixAxisArm:
    """The chain of a mechanism from the ground to the body of a named point.

    Raises:
        ModelError: when there is no such point, or the chain is not one of six revolute joints.
    """
    flaws = FlawList()
    points = {known.name: known for known in mechanism.points}
    if point not in points:
        flaws.add("point", f"there is no point '{point}'", nearest(point, points))
        flaws.raise_if_any(f"arm of '{mechanism.name}'")
    chain = _chain_to(mechanism, points[point].body)
    moving = [joint for joint in chain if joint.kind != "fixed"]
    if len(moving) != N_JOINTS:
        names = ", ".join(joint.name for joint in moving) or "none"
        flaws.add("point", f"'{point}' hangs on {len(moving)} joints ({names})", "the arm must have six")
    for joint in moving:
        if not joint.rotates:
            flaws.add(f"joints.{joint.name}", f"is {joint.kind}", "all joints of the arm must be revolute")
    flaws.raise_if_any(f"arm of '{mechanism.name}'")
    return _arm_of(chain, points[point].origin)


def _chain_to(mechanism: Mechanism, body: str) -> list[Joint]:
    carrier = {joint.child: joint for joint in mechanism.joints}
    chain: list[Joint] = []
    while body != GROUND:
        chain.insert(0, carrier[body])
        body = carrier[body].parent
    return chain


def _arm_of(chain: list[Joint], tip: Any) -> SixAxisArm:
    pose = Pose.identity()
    names, w, o = [], [], []
    for joint in chain:
        pose = pose @ Pose(np.array(joint.rotation), np.array(joint.origin))
        if joint.rotates:
            names.append(joint.name)
            w.append(pose.R @ np.array(joint.axis))
            o.append(pose.p)
    return SixAxisArm(tuple(names), np.array(w), np.array(o), pose.R, pose.apply(np.array(tip)))
