"""Random mechanisms in a known pose: trees of all joint kinds, and the loops that this pose closes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from robodyn.base.spatial import about_axis, from_quaternion, from_rpy
from robodyn.base.symbolic import sin
from robodyn.description.model import (
    GROUND,
    Body,
    ConstraintFunction,
    FlexibleBody,
    Freedom,
    Joint,
    LinearConstraint,
    LoopJoint,
    Mechanism,
    Point,
    Rod,
)
from robodyn.description.model.constraint import Constraint
from robodyn.description.model.joint import KINDS, SINGLE
from robodyn.description.structures import Reduction, Section, beam

SIZE = 0.3
"""Of a body [m]."""
ALUMINIUM = Section.tube(0.01, 0.002, 70e9, 26e9, 2700.0)


@dataclass
class Frame:
    """A mechanism under construction, with the pose of every body at the joint positions q.

    Attributes:
        plain: whether all joints are revolute, prismatic or fixed; bending: part of the bodies that are flexible.
        q: position of each axis; units: of them; orientations: quaternion of each ball.
    """

    rng: np.random.Generator
    planar: bool
    plain: bool = True
    bending: float = 0.03
    bodies: list[Body] = field(default_factory=list)
    joints: list[Joint] = field(default_factory=list)
    points: list[Point] = field(default_factory=list)
    poses: dict[str, tuple[np.ndarray, np.ndarray]] = field(default_factory=dict)
    q: dict[str, float] = field(default_factory=dict)
    units: dict[str, str] = field(default_factory=dict)
    orientations: dict[str, np.ndarray] = field(default_factory=dict)

    @property
    def moving(self) -> list[Joint]:
        return [joint for joint in self.joints if joint.kind != "fixed"]

    @property
    def n_v(self) -> int:
        """Degrees of freedom of the joints."""
        return len(self.q) + 3 * len(self.orientations)

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


def random_frame(rng: np.random.Generator, n: int, plain: bool = True, bending: float = 0.03) -> Frame:
    """A branching tree of n bodies with points on all of them; of the plain ones every third is planar."""
    frame = Frame(rng, planar=bool(rng.random() < 0.35) and plain, plain=plain, bending=bending)
    frame.poses[GROUND] = np.eye(3), np.zeros(3)
    frame.points.append(Point("base", GROUND))
    for k in range(n):
        _add_body(frame, k, f"b{rng.integers(max(0, k - 2), k)}" if k and rng.random() < 0.85 else GROUND)
    return frame


def _add_body(frame: Frame, k: int, parent: str) -> None:
    rng, name = frame.rng, f"b{k}"
    kind = _kind(frame, k)
    fields: dict[str, Any] = {} if kind in ("fixed", "ball", "free") else {"axis": _axis(frame, kind)}
    if kind in SINGLE and rng.random() < 0.3:
        fields["armature"] = rng.uniform(0.001, 0.1)
    if kind in ("universal", "planar"):
        fields["second_axis"] = tuple(np.cross(fields["axis"], rng.normal(size=3)))
    if kind == "screw":
        fields["pitch"] = rng.uniform(0.01, 0.1) * rng.choice([-1, 1])
    if not frame.planar and rng.random() < 0.5:
        fields["rotation"] = from_rpy(*rng.uniform(-1.5, 1.5, 3))
    origin = rng.uniform(-SIZE, SIZE, 3) * ([1, 0, 1] if frame.planar else [1, 1, 1])
    joint = Joint(f"j{k}", kind, parent, name, tuple(origin), node=frame.node(parent), **fields)
    frame.joints.append(joint)
    frame.bodies.append(_random_body(frame, name))
    R, p = frame.poses[parent]
    R, p = R @ np.array(joint.rotation), p + R @ np.array(joint.origin)
    if kind == "fixed":
        rng.random()  # keeps the machines of old seeds
    for freedom in joint.freedoms:
        R_moved, p_moved = _draw_motion(frame, freedom, joint.pitch)
        R, p = R @ R_moved, p + R @ p_moved
    frame.poses[name] = R, p
    frame.attach(name, rng.uniform(-SIZE, SIZE, 3))


def _kind(frame: Frame, k: int) -> str:
    """The first joint moves, and has an axis."""
    if frame.plain:
        return str(frame.rng.choice(["revolute", "prismatic", "fixed"], p=[0.6, 0.28, 0.12])) if k else "revolute"
    return str(frame.rng.choice(KINDS if k else [kind for kind in KINDS if kind not in ("fixed", "ball")]))


def _draw_motion(frame: Frame, freedom: Freedom, pitch: float) -> tuple[np.ndarray, np.ndarray]:
    """Where an elementary motion of a joint stands: it rotates by R and moves by p."""
    rng, name = frame.rng, freedom.name
    if freedom.kind == "ball":
        frame.orientations[name] = (drawn := rng.normal(size=4)) / np.linalg.norm(drawn)
        return np.array(from_quaternion(*frame.orientations[name]), float), np.zeros(3)
    axis = np.array(freedom.axis)
    frame.q[name] = q = float(rng.uniform(-1.0, 1.0)) * (1.0 if freedom.rotates else SIZE)
    frame.units[name] = freedom.unit
    if freedom.kind == "prismatic":
        return np.eye(3), axis * q
    return np.array(about_axis(axis, q), float), axis * (pitch * q)


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
    if rng.random() < frame.bending:
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
        kinds = PLANAR if frame.planar else MAKERS
        makers = [(count, maker) for count, maker in kinds if count < freedoms and _has_axes(frame, maker)]
        if not makers:
            break
        count, maker = makers[int(frame.rng.integers(len(makers)))]
        found.append(maker(frame, f"c{len(found)}"))
        freedoms -= count
    return found


def _has_axes(frame: Frame, maker: Callable[[Frame, str], Constraint]) -> bool:
    """Some constraints are between two axes."""
    return len(frame.q) > 1 or maker not in (_coupling, _relation)


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
