"""EPAAS arm: its five axes, its links, and the four cylinders that rotate them through linkages.

The linkages see angles against the horizontal: alpha of the upper arm, beta of the forearm, gamma of the wrist, and
psi of the gripper's roll. In joint angles: alpha = theta2, beta = theta2 + theta3 - 2 pi, gamma = beta + theta4,
psi = theta5. Values: the published modelling study of the EPAAS robot.
"""

from __future__ import annotations

import math
from dataclasses import replace

from robodyn.base.errors import FlawList, nearest
from robodyn.description.files import DHRow, mechanism_from_dh
from robodyn.description.model import Body, Mechanism, Point, TriangleLength

TURN = 2 * math.pi
JOINTS = ("joint1", "joint2", "joint3", "joint4", "joint5")
ALPHA = (90.0, 0.0, 0.0, 270.0, 180.0)
LENGTH = (0.0, 0.310, 0.248, 0.0, 0.0)

# Mass [kg], centre of mass [m], inertia about the link frame's origin [kg m^2] (xx, yy, zz, xy, xz, yz).
LINKS = (
    (21.938, (0.0, 0.0, 0.0), (0.0, 0.1352050, 0.0, 0.0, 0.0, 0.0)),
    (2.316, (-0.135, 0.014, 0.0003), (0.0058297, 0.0621710, 0.0610359, 0.0037936, 0.0, 0.0)),
    (0.914, (-0.201, 0.001, 0.0008), (0.0013536, 0.0566100, 0.0554180, 0.0005841, 0.0, 0.0)),
    (0.0, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)),
)
# The centres of mass are printed with the opposite y: with +2.4 mm for the vertical gripper neither the study's own
# products of inertia nor its J12, J25 and torques of the fifth joint come out, with -2.4 mm all of them do.
GRIPPERS = {
    "vertical": (
        0.752,
        (0.0072, -0.0024, 0.069),
        (0.0064589, 0.0066672, 0.0011179, 0.0000243, -0.0001454, 0.0002236),
    ),
    "horizontal": (
        0.752,
        (0.076, 0.0024, -0.0054),
        (0.0009833, 0.0067416, 0.0066426, -0.0002236, -0.0003559, -0.0000243),
    ),
}
# Where the gripper holds its load, from the wrist. Not printed: with 4 kg at 0.2 m the cylinder L1 carries 25 times the
# mass it carries without, as the study finds.
GRIP = {"vertical": (0.0, 0.0, 0.2), "horizontal": (0.2, 0.0, 0.0)}
GREATEST_PAYLOAD = 4.0

# Sums of squares and twice the products of the linkages' sides [m^2], their angles [rad], centred lengths [m].
UPPER_SQUARES, UPPER_PRODUCT, PSI_0 = 7.0925e-2, 5.5408e-2, 0.0826
LOWER_SQUARES, LOWER_PRODUCT, THETA_0 = 3.9717e-2, 2.6443e-2, 1.3034
CENTRES = {"l1": 0.182263, "l2": 0.182263, "l3": 0.258053, "l4": 0.182263}
# To both sides [m]. Not printed: with 50 mm the cylinder L3 carries the masses the study finds along the workspace.
STROKE = 0.05


def sides_of(squares: float, product: float) -> tuple[float, float]:
    """Two sides a > b of a triangle from a^2 + b^2 and 2 a b."""
    total, difference = math.sqrt(squares + product), math.sqrt(squares - product)
    return (total + difference) / 2, (total - difference) / 2


def epaas_mechanism(gripper: str = "vertical", payload: float = 0.0, weight: bool = True) -> Mechanism:
    """The arm with standard Denavit-Hartenberg frames, z up.

    Args:
        gripper: "vertical" or "horizontal".
        payload: mass of a small load in the gripper [kg].
        weight: whether gravity acts; without it the arm is as if balanced.
    """
    _check_arm(gripper, payload)
    rows = [DHRow(joint, a=a, alpha=math.radians(alpha)) for joint, a, alpha in zip(JOINTS, LENGTH, ALPHA, strict=True)]
    # The data are rounded, and that of the first link is what turns with it alone: not every body is a possible one.
    bodies = [
        Body.about_origin(f"link{k + 1}", *link, physical=False) for k, link in enumerate((*LINKS, GRIPPERS[gripper]))
    ]
    points = (Point("wrist", "link3"), Point("gripper", "link5", GRIP[gripper]), *HINGES)
    mechanism = mechanism_from_dh("epaas", rows, bodies, points=points)
    mechanism = mechanism if weight else replace(mechanism, gravity=(0.0, 0.0, 0.0))
    return mechanism.with_payload(Body("payload", payload), "link5", GRIP[gripper]) if payload else mechanism


def _check_arm(gripper: str, payload: float) -> None:
    flaws = FlawList()
    if gripper not in GRIPPERS:
        flaws.add("gripper", f"'{gripper}' is unknown", nearest(gripper, GRIPPERS))
    if not 0 <= payload <= GREATEST_PAYLOAD:
        flaws.add("payload", f"must be 0 to {GREATEST_PAYLOAD:g} kg, is {payload:g} kg")
    flaws.raise_if_any("EPAAS arm")


# The linkages' hinge lies on the shoulder; for pictures the cylinders stand beside each other.
HINGES = tuple(
    Point(f"{name}_hinge", "link1", (0.0, 0.0, z))
    for name, z in (("l3", 0.0), ("l4", 0.06), ("l1", -0.06), ("l2", 0.12))
)


def epaas_cylinders() -> tuple[TriangleLength, ...]:
    """Lengths of the four cylinders as functions of the joint angles.

    Angles between the sides: L3 pi - alpha - psi0, L4 beta + theta0, L1 gamma + theta0, L2 psi + beta + theta0.
    """
    behind = math.pi - PSI_0
    upper = TriangleLength(
        "l3",
        {"joint2": -1.0},
        sides_of(UPPER_SQUARES, UPPER_PRODUCT),
        behind,
        range=_stroke("l3"),
        at="l3_hinge",
        arm=(math.cos(behind), math.sin(behind), 0.0),
        axis=(0.0, 0.0, -1.0),
    )
    turning = {
        "l4": ("joint2", "joint3"),
        "l1": ("joint2", "joint3", "joint4"),
        "l2": ("joint2", "joint3", "joint5"),
    }
    return (upper, *(_lower_cylinder(name, joints) for name, joints in turning.items()))


def _stroke(name: str) -> tuple[float, float]:
    return CENTRES[name] - STROKE, CENTRES[name] + STROKE


def _lower_cylinder(name: str, joints: tuple[str, ...]) -> TriangleLength:
    return TriangleLength(
        name,
        dict.fromkeys(joints, 1.0),
        sides_of(LOWER_SQUARES, LOWER_PRODUCT),
        THETA_0 - TURN,
        range=_stroke(name),
        at=f"{name}_hinge",
        arm=(math.cos(THETA_0), -math.sin(THETA_0), 0.0),
    )


def angles_at(lengths: dict[str, float]) -> dict[str, float]:
    """Joint angles [rad] at given lengths of the cylinders [m], the first joint at 0: the linkages' inverse."""
    flaws = FlawList()
    between = {cylinder.name: _angle_between(flaws, cylinder, lengths[cylinder.name]) for cylinder in epaas_cylinders()}
    flaws.raise_if_any("EPAAS arm")
    alpha = math.pi - PSI_0 - between["l3"]
    beta, gamma, rolled = (between[name] - THETA_0 for name in ("l4", "l1", "l2"))
    angles = (0.0, alpha, TURN + beta - alpha, gamma - beta, rolled - beta)
    return dict(zip(JOINTS, angles, strict=True))


def _angle_between(flaws: FlawList, cylinder: TriangleLength, length: float) -> float:
    """Angle between a linkage's sides at a length of its cylinder."""
    shortest, longest = cylinder.reach
    if not shortest <= length <= longest:
        reach = f"the linkage allows {shortest:.6g} to {longest:.6g} m"
        flaws.add(cylinder.name, f"{length:g} m is out of reach", reach)
        return math.nan
    a, b = cylinder.sides
    return math.acos((a**2 + b**2 - length**2) / (2 * a * b))
