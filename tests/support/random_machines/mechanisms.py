"""Random mechanisms in a known pose: trees of all joint kinds, and the loops that this pose closes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from robodyn.model import (
    GROUND,
    Body,
    ConstraintFunction,
    FlexibleBody,
    Joint,
    LinearConstraint,
    LoopJoint,
    Mechanism,
    Point,
    Rod,
)
from robodyn.model.constraint import Constraint
from robodyn.spatial import about_axis, from_rpy
from robodyn.structures import Reduction, Section, beam
from robodyn.symbolic import sin

SIZE = 0.3
"""Of a body [m]."""
ALUMINIUM = Section.tube(0.01, 0.002, 70e9, 26e9, 2700.0)


@dataclass
class Frame:
    """A mechanism under construction, with the pose of every body at the joint positions q."""

    rng: np.random.Generator
    planar: bool
    bodies: list[Body] = field(default_factory=list)
    joints: list[Joint] = field(default_factory=list)
    points: list[Point] = field(default_factory=list)
    poses: dict[str, tuple[np.ndarray, np.ndarray]] = field(default_factory=dict)
    q: dict[str, float] = field(default_factory=dict)

    @property
    def moving(self) -> list[Joint]:
        return [joint for joint in self.joints if joint.kind != "fixed"]

    def carrier(self, body: str) -> str:
        """The body that moves by a joint, or the ground, to which a body is fixed."""
        holding = {joint.child: joint for joint in self.joints}
        while body != GROUND and holding[body].kind == "fixed":
            body = holding[body].parent
        return body

    def place(self, point: Point) -> np.ndarray:
        """World position of a point."""
        R, p = self.poses[point.body]
        return p + R @ np.array(point.origin)

    def add_point(self, body: str, world: np.ndarray) -> Point:
        """A point of a body that is at this place of the world."""
        R, p = self.poses[body]
        return self.attach(body, R.T @ (world - p))

    def attach(self, body: str, origin: np.ndarray) -> Point:
        """A point at this place of a body."""
        self.points.append(Point(f"p{len(self.points)}", body, tuple(origin), self.node(body)))
        return self.points[-1]

    def node(self, body: str) -> str | None:
        """What carries joints and points of a body: the tip of one that bends, as by a rigid bracket."""
        return "tip" if any(isinstance(b, FlexibleBody) and b.name == body for b in self.bodies) else None


def random_frame(rng: np.random.Generator, n: int) -> Frame:
    """A branching tree of n bodies, every third one planar, with points on all bodies."""
    frame = Frame(rng, planar=bool(rng.random() < 0.35))
    frame.poses[GROUND] = np.eye(3), np.zeros(3)
    frame.points.append(Point("base", GROUND))
    for k in range(n):
        _add_body(frame, k, f"b{rng.integers(max(0, k - 2), k)}" if k and rng.random() < 0.85 else GROUND)
    return frame


def _add_body(frame: Frame, k: int, parent: str) -> None:
    rng, name = frame.rng, f"b{k}"
    kind = str(rng.choice(["revolute", "prismatic", "fixed"], p=[0.6, 0.28, 0.12])) if k else "revolute"
    fields: dict[str, Any] = {} if kind == "fixed" else {"axis": _axis(frame, kind)}
    if kind != "fixed" and rng.random() < 0.3:
        fields["armature"] = rng.uniform(0.001, 0.1)
    if not frame.planar and rng.random() < 0.5:
        fields["rotation"] = from_rpy(*rng.uniform(-1.5, 1.5, 3))
    origin = rng.uniform(-SIZE, SIZE, 3) * ([1, 0, 1] if frame.planar else [1, 1, 1])
    joint = Joint(f"j{k}", kind, parent, name, tuple(origin), node=frame.node(parent), **fields)
    frame.joints.append(joint)
    frame.bodies.append(_random_body(frame, name))
    q = float(rng.uniform(-1.0, 1.0)) * (1.0 if joint.rotates else SIZE)
    R, p = frame.poses[parent]
    R, p, axis = R @ np.array(joint.rotation), p + R @ np.array(joint.origin), np.array(joint.axis)
    if kind == "revolute":
        R = R @ np.array(about_axis(axis, q), float)
    elif kind == "prismatic":
        p = p + R @ axis * q
    frame.poses[name] = R, p
    if kind != "fixed":
        frame.q[joint.name] = q
    frame.attach(name, rng.uniform(-SIZE, SIZE, 3))


def _axis(frame: Frame, kind: str) -> tuple[float, ...]:
    """In a planar mechanism all turn about y, and slide perpendicular to it."""
    rng = frame.rng
    if frame.planar:
        angle = rng.uniform(0, 2 * np.pi)
        return (0.0, 1.0, 0.0) if kind == "revolute" else (np.cos(angle), 0.0, np.sin(angle))
    return tuple(np.eye(3)[rng.integers(3)] if rng.random() < 0.5 else rng.normal(size=3))


def _random_body(frame: Frame, name: str) -> Body:
    """A box of some size off the joint; some of them are beams that bends."""
    rng = frame.rng
    if rng.random() < 0.03:
        bends = Reduction((), modes=2, directions=("y", "rz", "z", "ry"))
        return beam(name, 2 * SIZE, ALUMINIUM, bends, elements=3, damping=float(rng.choice([0.0, 0.02])))
    mass, sides = rng.uniform(0.3, 3.0), rng.uniform(0.1, 1.0, 3) * SIZE
    inertia = mass / 12 * (sides @ sides - sides**2)
    return Body(name, mass, tuple(rng.uniform(-0.5, 0.5, 3) * SIZE), tuple(inertia))


def finish(frame: Frame) -> Mechanism:
    gravity = (0.0, 0.0, -9.81) if frame.rng.random() < 0.85 else (0.0, 0.0, 0.0)
    return Mechanism("m", frame.bodies, frame.joints, frame.points, gravity)


def random_constraints(frame: Frame, freedoms: int) -> list[Constraint]:
    """Loops, rods and couplings that the pose meets and that leave one freedom at least."""
    found: list[Constraint] = []
    for _ in range(int(frame.rng.integers(1, 3))):
        makers = [(count, maker) for count, maker in (PLANAR if frame.planar else MAKERS) if count < freedoms]
        if not makers:
            break
        count, maker = makers[int(frame.rng.integers(len(makers)))]
        found.append(maker(frame, f"c{len(found)}"))
        freedoms -= count
    return found


def _far_ends(frame: Frame) -> tuple[str, str]:
    """A body late in the tree, and the ground or another body that moves against it."""
    late = frame.moving[-1].child
    others = [name for name in frame.poses if frame.carrier(name) != late]
    return late, str(frame.rng.choice(others))


def _rod(frame: Frame, name: str) -> Constraint:
    late, other = _far_ends(frame)
    ends = [frame.add_point(body, frame.poses[body][1] + frame.rng.normal(size=3) * SIZE) for body in (late, other)]
    return Rod(name, ends[0].name, ends[1].name, float(np.linalg.norm(frame.place(ends[0]) - frame.place(ends[1]))))


def _coupling(frame: Frame, name: str) -> Constraint:
    chosen = frame.rng.choice(list(frame.q), 2, replace=False)
    weights = {str(joint): float(frame.rng.uniform(0.3, 2.0) * frame.rng.choice([-1, 1])) for joint in chosen}
    return LinearConstraint(name, weights, sum(weight * frame.q[joint] for joint, weight in weights.items()))


def _relation(frame: Frame, name: str) -> Constraint:
    first, second = (str(joint) for joint in frame.rng.choice(list(frame.q), 2, replace=False))
    gain = float(frame.rng.uniform(0.2, 0.8))
    offset = frame.q[first] - gain * np.sin(frame.q[second])
    return ConstraintFunction(name, (first, second), lambda a, b: a - gain * sin(b) - offset)


def _loop_joint(kind: str):
    def make(frame: Frame, name: str) -> Constraint:
        late, other = _far_ends(frame)
        here = frame.poses[late][1] + frame.rng.normal(size=3) * SIZE
        first, second = frame.add_point(late, here), frame.add_point(other, here)
        R_late, R_other = frame.poses[late][0], frame.poses[other][0]
        axis = np.array([0.0, 1.0, 0.0]) if frame.planar else frame.rng.normal(size=3)
        across = np.cross(axis, frame.rng.normal(size=3))
        fields: dict[str, Any] = {}
        if kind in ("revolute", "universal", "prismatic"):
            fields["axis"] = tuple(R_late.T @ (across if kind == "prismatic" else axis))
        if kind in ("revolute", "universal"):
            fields["second_axis"] = tuple(R_other.T @ (axis if kind == "revolute" else across))
        if kind in ("prismatic", "fixed"):
            fields["rotation"] = R_late.T @ R_other
        return LoopJoint(name, first.name, second.name, kind, **fields)

    return make


MAKERS = [(1, _rod), (1, _coupling), (1, _relation), (3, _loop_joint("spherical")), (4, _loop_joint("universal"))]
MAKERS += [(5, _loop_joint("revolute")), (5, _loop_joint("prismatic"))]
PLANAR = [(1, _rod), (1, _coupling), (1, _relation), (2, _loop_joint("spherical")), (2, _loop_joint("revolute"))]
"""Equations that count, and the constraint that has them: where all turns in one plane, a loop has only two."""
