"""RX90B flexible links: how do its two long links bend, and how far under the arm's weight?

Upper arm (link2) and forearm (link4) are aluminium tubes, this project's own choice, from where their joints hold them
to where they carry the next one. Masses, centres of mass and inertias of the links stay those of the rigid arm: what a
link has beyond its tube is rigid at the tube's root.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache

import numpy as np

from robodyn.base.spatial import Pose
from robodyn.description.catalog.six_axis import ARM
from robodyn.description.model import FlexibleBody, Mechanism
from robodyn.description.structures import Element, Reduction, Section, frame, match_inertia
from robodyn_studies.catalog import rx90_parameters as rx
from robodyn_studies.catalog.rx90_arm import bodies_beyond, place_bodies, rx90_mechanism

TUBES = {
    "link2": (rx.UPPER_ARM_TUBE, {"root": (0.0, 0.0, 0.0), "foot": (rx.SPRING_ARM, 0.0, 0.0), "tip": (ARM, 0.0, 0.0)}),
    "link4": (rx.FOREARM_TUBE, {"root": (0.0, 0.0, -ARM), "tip": (0.0, 0.0, 0.0)}),
}
"""Radius and wall, and nodes in the link's frame; joint 4 rotates about the forearm, its frame is at the wrist."""
BENDING = {"link2": ("y", "z", "rx", "ry", "rz"), "link4": ("x", "y", "rx", "ry", "rz")}
"""How nodes of a tube move: it does not stretch."""


def rx90_flexible_mechanism(payload: float = 0.0, vibrations: int = 0) -> Mechanism:
    """The arm of `rx90_mechanism` with a flexible upper arm and forearm.

    Args:
        vibrations: modes of each tube with its end held, beside the five static motions of its end.
    """
    rigid = rx90_mechanism(payload)
    return rigid.with_bodies(*(match_inertia(_tube(name, vibrations), rigid.body(name)) for name in TUBES))


@cache
def _tube(name: str, vibrations: int) -> FlexibleBody:
    (radius, wall), nodes = TUBES[name]
    section = Section.tube(radius, wall, **rx.ALUMINIUM)
    # Short tubes shear too, where they bend; a thin ring bears shear with half of its area.
    section = replace(section, shear_area=0.5 * section.area)
    ends = list(nodes)
    elements = [Element(start, end, section, 4) for start, end in zip(ends[:-1], ends[1:], strict=True)]
    how = Reduction(modes=vibrations, directions=BENDING[name])
    return frame(name, nodes, elements, how, damping=rx.LINK_DAMPING)


def resting_modes(mechanism: Mechanism, angles: Mapping[str, float]) -> dict[str, float]:
    """Start values of the modes under gravity and the balance spring, to first order in the deflection.

    k_i eta_i = f_i.g + shift_i.F + turn_i.M at the tip + shift_i.F_spring at the spring's foot
    """
    places = place_bodies(mechanism, angles)
    start = {}
    for link in mechanism.flexible_bodies:
        load = _load_modes(mechanism, places, link)
        for mode, eta in zip(link.modes, load / np.array(link.modal_stiffness), strict=True):
            start[f"{mode.name}.position"] = float(eta)
    return start


def _load_modes(mechanism: Mechanism, places: Mapping[str, Pose], link: FlexibleBody) -> np.ndarray:
    """Forces of gravity and spring on the modes of a link as it is at rest, (n,)."""
    here, tip, gravity = places[link.name], link.node("tip"), np.array(mechanism.gravity)
    carried = bodies_beyond(mechanism, link.name)[1:]
    weights = np.array([body.mass * gravity for body in carried])
    arms = [places[body.name].apply(body.com) - here.apply(tip.position) for body in carried]
    force, moment = weights.sum(axis=0), np.cross(arms, weights).sum(axis=0)
    assert link.modal_inertia is not None
    load = np.array(link.modal_inertia.first) @ here.R.T @ gravity
    load += np.array(tip.shift) @ here.R.T @ force + np.array(tip.turn) @ here.R.T @ moment
    for node in (node for node in link.nodes if node.name == "foot"):
        load += np.array(node.shift) @ here.R.T @ _pull_spring(mechanism, places)
    return load


def _pull_spring(mechanism: Mechanism, places: Mapping[str, Pose]) -> np.ndarray:
    """Force of the balance spring on its foot, in the world [N], (3,)."""
    points = {point.name: places[point.body].apply(point.origin) for point in mechanism.points}
    return rx.SPRING_STIFFNESS * (points["spring_top"] - points["spring_foot"])
