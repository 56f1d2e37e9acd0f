"""How does a Denavit-Hartenberg table become a mechanism?

    standard: A_i = Rz(theta) Tz(d) Tx(a) Rx(alpha)      (frame i at the far end of link i)
    modified: A_i = Rx(alpha) Tx(a) Rz(theta) Tz(d)      (Craig, Khalil: frame i on joint i's axis)

The joint variable adds to theta (revolute) or to d (prismatic). Bodies are given in the frame i of their row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from robodyn.errors import Flaw, ModelError
from robodyn.model import GROUND, Body, Joint, Mechanism, Point
from robodyn.spatial import Pose, about_axis

CONVENTIONS = ("standard", "modified")
X, Z = (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)


@dataclass(frozen=True)
class DHRow:
    """One row: lengths [m], angles [rad], the joint's name and kind, its rotor inertia."""

    joint: str
    a: float = 0.0
    alpha: float = 0.0
    d: float = 0.0
    theta: float = 0.0
    kind: str = "revolute"
    armature: float = 0.0


def mechanism_from_dh(
    name: str,
    rows: Sequence[DHRow],
    bodies: Sequence[Body],
    convention: str = "standard",
    *,
    base: Pose | None = None,
    points: Sequence[Point] = (),
    gravity: Sequence[float] = (0.0, 0.0, -9.81),
) -> Mechanism:
    """An open chain from a table, one body for each row.

    Args:
        base: pose of frame 0 in the world.
    """
    if convention not in CONVENTIONS:
        raise ModelError([Flaw("convention", f"'{convention}' is unknown", "standard or modified")])
    if len(rows) != len(bodies):
        raise ModelError([Flaw("bodies", f"there are {len(bodies)} for {len(rows)} rows", "one body for each row")])
    parts: list[Any] = []
    joints: list[Joint] = []
    parent, before = GROUND, base or Pose.identity()
    for row, body in zip(rows, bodies, strict=True):
        spin = Pose(about_axis(Z, row.theta), (0.0, 0.0, row.d))
        twist = Pose(about_axis(X, row.alpha), (row.a, 0.0, 0.0))
        if convention == "modified":
            joints.append(_joint(row.joint, row.kind, parent, body.name, before @ twist @ spin, row.armature))
        else:
            # The joint turns about the previous frame's z axis: a massless hub carries the constant rest of A_i.
            hub = Body(f"{row.joint}_hub")
            parts.append(hub)
            joints.append(_joint(row.joint, row.kind, parent, hub.name, before, row.armature))
            joints.append(_joint(f"{row.joint}_frame", "fixed", hub.name, body.name, spin @ twist))
        parts.append(body)
        parent, before = body.name, Pose.identity()
    return Mechanism(name, tuple(parts), tuple(joints), tuple(points), tuple(gravity))


def _joint(name: str, kind: str, parent: str, child: str, pose: Pose, armature: float = 0.0) -> Joint:
    return Joint(name, kind, parent, child, pose.p, pose.R, Z, armature)
