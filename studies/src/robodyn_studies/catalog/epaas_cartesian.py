"""EPAAS robot in the coordinates of its wrist: r, z, phi and the gripper's angles gamma and psi, as it is commanded.

    r = a2 cos alpha + a3 cos beta,   z = a2 sin alpha + a3 sin beta

The cylinder L2 is linked to psi + beta: its setpoint gets what L4 turns the forearm by, so that psi stays. That is the
electronic coupling of the published study (figure 2.1-3); without it the gripper rolls as the forearm turns.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple, Unpack

import numpy as np

from robodyn.base.errors import Flaw, ModelError
from robodyn.description.model import Scenario
from robodyn_studies.catalog.epaas import Options, epaas_trajectory
from robodyn_studies.catalog.epaas_arm import CENTRES, LENGTH, angles_at, epaas_cylinders

PLACE_UNITS = "r, z [m], phi, gamma, psi [rad]"


class WristPlace(NamedTuple):
    """Where the wrist is, from the shoulder, and how the gripper points."""

    r: float
    z: float
    phi: float = 0.0
    gamma: float = 0.0
    psi: float = 0.0


# A piece is taken up, carried round and put down: from the start-up position and back to it.
PLACES = (
    WristPlace(0.2493, 0.3147, 0.0, 0.0191, 0.0),
    WristPlace(0.36, 0.25, 0.3, 0.15, 0.1),
    WristPlace(0.38, 0.33, 0.8, 0.0, 0.2),
    WristPlace(0.30, 0.36, 0.6, -0.1, 0.1),
    WristPlace(0.2493, 0.3147, 0.0, 0.0191, 0.0),
)
TIMES = (0.1, 0.7, 1.3, 1.9, 2.5)


def joints_at(place: WristPlace) -> dict[str, float]:
    """Joint angles [rad] at a place of the wrist, elbow up."""
    a2, a3 = LENGTH[1], LENGTH[2]
    bend = (place.r**2 + place.z**2 - a2**2 - a3**2) / (2 * a2 * a3)
    if not -1 <= bend <= 1:
        reach = f"it reaches from {abs(a2 - a3):g} to {a2 + a3:g} m from the shoulder"
        what = f"r = {place.r:g} m, z = {place.z:g} m is out of reach"
        raise ModelError([Flaw("place", what, reach)], "EPAAS robot")
    inner = math.acos(bend)
    beta = math.atan2(place.z, place.r) - math.atan2(a2 * math.sin(inner), a3 + a2 * math.cos(inner))
    alpha = beta + inner
    angles = (place.phi, alpha, 2 * math.pi + beta - alpha, place.gamma - beta, place.psi)
    return dict(zip((f"joint{k}" for k in range(1, 6)), angles, strict=True))


def pistons_at(place: WristPlace, coupled: bool = True) -> dict[str, float]:
    """Positions of the actuators from their centres [m and rad], by circuit.

    Args:
        coupled: whether the setpoint of L2 follows the forearm.
    """
    angles = joints_at(place)
    offsets = {"vane": place.phi}
    for cylinder in epaas_cylinders():
        turns = dict(angles)
        if cylinder.name == "l2" and not coupled:
            start = angles_at(CENTRES)
            turns |= {"joint2": start["joint2"], "joint3": start["joint3"]}
        turn = cylinder.offset + sum(weight * turns[joint] for joint, weight in cylinder.of.items())
        a, b = cylinder.sides
        length = math.sqrt(a**2 + b**2 - 2 * a * b * math.cos(turn))
        offsets[cylinder.name] = length - CENTRES[cylinder.name]
    return offsets


def place_at(offsets: dict[str, float]) -> WristPlace:
    """The wrist's place at positions of the actuators from their centres: the inverse of `pistons_at`."""
    angles = angles_at({name: CENTRES[name] + offsets[name] for name in CENTRES})
    alpha, beta = angles["joint2"], angles["joint2"] + angles["joint3"] - 2 * math.pi
    r, z = (LENGTH[1] * f(alpha) + LENGTH[2] * f(beta) for f in (math.cos, math.sin))
    return WristPlace(r, z, offsets["vane"], angles["joint4"] + beta, angles["joint5"])


def epaas_wrist_path(
    places: Sequence[WristPlace] = PLACES,
    times: Sequence[float] = TIMES,
    between: int = 3,
    coupled: bool = True,
    **options: Unpack[Options],
) -> Scenario:
    """The EPAAS robot moves its wrist through places in r, z, phi, all five axes on splines.

    Args:
        places: PLACE_UNITS; times: at which they are passed [s].
        between: knots of the splines between two places.
        coupled: the electronic coupling of L2.
    """
    knots = np.linspace(0, len(places) - 1, (len(places) - 1) * (between + 1) + 1)
    rows = [
        WristPlace(*(float(np.interp(k, range(len(places)), column)) for column in zip(*places, strict=True)))
        for k in knots
    ]
    pistons = [pistons_at(row, coupled) for row in rows]
    path = {name: [offsets[name] for offsets in pistons] for name in pistons[0]}
    along = epaas_trajectory(path, np.interp(knots, range(len(times)), times).tolist(), **options)
    title = f"EPAAS robot along places of its wrist{'' if coupled else ', L2 without its coupling'}"
    return along.replaced(name="epaas-wrist", title=title)
