"""Denavit-Hartenberg tables: how does one become a mechanism?

    standard: A_i = Rz(theta) Tz(d) Tx(a) Rx(alpha)      (frame i at the far end of link i)
    modified: A_i = Rx(alpha) Tx(a) Rz(theta) Tz(d)      (Craig, Khalil: frame i on joint i's axis)

The joint variable adds to theta (revolute) or to d (prismatic). Bodies are given in the frame i of their row.
"""

from __future__ import annotations

from collections.abc import Sequence

from robodyn.base.errors import Flaw, ModelError, refuse_word
from robodyn.base.spatial import Pose, about_axis
from robodyn.description.model import GROUND, Body, Joint, Mechanism, Point
from robodyn.description.model.description import Description
from robodyn.description.model.fields import choice, declare_as, part_name, quantity
from robodyn.description.model.joint import KINDS

CONVENTIONS = ("standard", "modified")
X, Z = (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)


class DHRow(Description):
    """One row of the table: its joint with two lengths and two angles."""

    NOUN = "row"

    joint: str = part_name(key="joint", doc="name of the joint")
    a: float = quantity("m", default=0.0, doc="length along x")
    alpha: float = quantity("rad", default=0.0, doc="angle about x")
    d: float = quantity("m", default=0.0, doc="length along z")
    theta: float = quantity("rad", default=0.0, doc="angle about z")
    kind: str = choice(KINDS, default="revolute", doc="of the joint")
    armature: float = declare_as(Joint, "armature")
    lower_limit: float | None = declare_as(Joint, "lower_limit")
    upper_limit: float | None = declare_as(Joint, "upper_limit")
    speed_limit: float | None = declare_as(Joint, "speed_limit")
    acceleration_limit: float | None = declare_as(Joint, "acceleration_limit")
    effort_limit: float | None = declare_as(Joint, "effort_limit")
    damping: float | None = declare_as(Joint, "damping")
    friction: float | None = declare_as(Joint, "friction")
    stop_stiffness: float | None = declare_as(Joint, "stop_stiffness")
    stop_damping: float | None = declare_as(Joint, "stop_damping")
    stop_restitution: float | None = declare_as(Joint, "stop_restitution")


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
    refuse_word("convention", convention, CONVENTIONS)
    if len(rows) != len(bodies):
        what = f"there are {len(bodies)} for {len(rows)} rows"
        raise ModelError([Flaw("bodies", what, "one body for each row")])
    parts: list[Body] = []
    joints: list[Joint] = []
    parent, before = GROUND, base or Pose.identity()
    for row, body in zip(rows, bodies, strict=True):
        spin = Pose(about_axis(Z, row.theta), (0.0, 0.0, row.d))
        twist = Pose(about_axis(X, row.alpha), (row.a, 0.0, 0.0))
        if convention == "modified":
            joints.append(_moving_joint(row, parent, body.name, before @ twist @ spin))
        else:
            # The joint rotates about the previous z axis: a massless hub carries the constant rest of A_i.
            hub = Body(f"{row.joint}_hub")
            parts.append(hub)
            joints.append(_moving_joint(row, parent, hub.name, before))
            rest = spin @ twist
            joints.append(Joint(f"{row.joint}_frame", "fixed", hub.name, body.name, rest.p, rest.R))
        parts.append(body)
        parent, before = body.name, Pose.identity()
    return Mechanism(name, tuple(parts), tuple(joints), tuple(points), tuple(gravity))


def _moving_joint(row: DHRow, parent: str, child: str, pose: Pose) -> Joint:
    own = {field: getattr(row, field) for field in row.KINDS if field in Joint.KINDS and field != "kind"}
    return Joint(row.joint, row.kind, parent, child, pose.p, pose.R, Z, **own)
