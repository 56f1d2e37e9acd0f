"""How does a Denavit-Hartenberg table become a mechanism?

    standard: A_i = Rz(theta) Tz(d) Tx(a) Rx(alpha)      (frame i at the far end of link i)
    modified: A_i = Rx(alpha) Tx(a) Rz(theta) Tz(d)      (Craig, Khalil: frame i on joint i's axis)

The joint variable adds to theta (revolute) or to d (prismatic). Bodies are given in the frame i of their row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from robodyn.errors import Flaw, FlawList, ModelError, nearest
from robodyn.model import GROUND, Body, Joint, Mechanism, Point
from robodyn.model.joint import KINDS
from robodyn.model.numbers import check_finite, check_name
from robodyn.spatial import Pose, about_axis

CONVENTIONS = ("standard", "modified")
X, Z = (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)


@dataclass(frozen=True)
class DHRow:
    """One row: lengths [m], angles [rad], the joint's name and kind, its rotor inertia [kg m^2 or kg]."""

    joint: str
    a: float = 0.0
    alpha: float = 0.0
    d: float = 0.0
    theta: float = 0.0
    kind: str = "revolute"
    armature: float = 0.0

    def __post_init__(self) -> None:
        flaws = FlawList()
        check_name(flaws, self.joint)
        for key in ("a", "alpha", "d", "theta", "armature"):
            check_finite(flaws, key, getattr(self, key))
        if not flaws.found and self.armature < 0:
            flaws.add("armature", f"must not be negative, is {self.armature:g}")
        if self.kind not in KINDS:
            flaws.add("kind", f"'{self.kind}' is unknown", nearest(str(self.kind), KINDS))
        flaws.raise_if_any(f"row '{self.joint}'")


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
        flaw = Flaw("convention", f"'{convention}' is unknown", nearest(str(convention), CONVENTIONS))
        raise ModelError([flaw])
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
            # The joint turns about the previous z axis: a massless hub carries the constant rest of A_i.
            hub = Body(f"{row.joint}_hub")
            parts.append(hub)
            joints.append(_moving_joint(row, parent, hub.name, before))
            rest = spin @ twist
            joints.append(Joint(f"{row.joint}_frame", "fixed", hub.name, body.name, rest.p, rest.R))
        parts.append(body)
        parent, before = body.name, Pose.identity()
    return Mechanism(name, tuple(parts), tuple(joints), tuple(points), tuple(gravity))


def _moving_joint(row: DHRow, parent: str, child: str, pose: Pose) -> Joint:
    return Joint(row.joint, row.kind, parent, child, pose.p, pose.R, Z, row.armature)
