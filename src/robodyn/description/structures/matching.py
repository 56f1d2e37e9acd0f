"""Inertia matching: how does a rigid link of known inertia become flexible, and keep that inertia?

A structure that deforms is rarely all of a link: motors, gears and housings sit on it. What the link has beyond its
structure is taken as rigid and fixed at the structure's root, where nothing moves with the modes:

    inertia of the link = inertia of the structure + inertia of a rigid rest

All three are linear in the pseudo-inertia [[sum m r r^T, sum m r], [sum m r^T, sum m]] (Wensing, Kim and Slotine,
2018), and a rest made of masses has one without a negative eigenvalue.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from robodyn.base.errors import FlawList
from robodyn.description.model import Body, FlexibleBody
from robodyn.description.model.body import TRIANGLE_TOLERANCE, tensor_of


def match_inertia(structure: FlexibleBody, link: Body) -> FlexibleBody:
    """The structure with the name, mass, centre of mass and inertia of a rigid link in the same frame.

    Modes, stiffness and nodes are the structure's. What the link has beyond it is rigid, at the structure's root; parts
    that should move with its other nodes are bodies of their own, fixed there.

    Raises:
        ModelError: where the structure alone has more inertia than the link.
    """
    _check_rest(structure, link)
    return replace(
        structure, name=link.name, mass=link.mass, com=link.com, inertia=link.inertia, physical=link.physical
    )


def pseudo_inertia(body: Body) -> np.ndarray:
    """[[sum m r r^T, sum m r], [sum m r^T, sum m]] about the origin of the body's frame, (4, 4)."""
    c, tensor = np.array(body.com), tensor_of(body.inertia)
    second = 0.5 * np.trace(tensor) * np.eye(3) - tensor + body.mass * np.outer(c, c)
    first = body.mass * c[:, None]
    return np.block([[second, first], [first.T, np.array([[body.mass]])]])


def _check_rest(structure: FlexibleBody, link: Body) -> None:
    flaws = FlawList()
    if structure.mass > link.mass * (1 + TRIANGLE_TOLERANCE):
        what = f"the structure has {structure.mass:.6g} kg, the link {link.mass:.6g} kg"
        flaws.add("mass", what, "take a lighter structure")
    elif link.physical:
        # In metres and kilograms weighed alike: lengths of the link's own size.
        size = structure.size or 1.0
        scale = np.diag([1 / size] * 3 + [1.0])
        rest = scale @ (pseudo_inertia(link) - pseudo_inertia(structure)) @ scale
        if np.linalg.eigvalsh(rest)[0] < -TRIANGLE_TOLERANCE * link.mass:
            what = "what the link has beyond the structure could not be made of masses"
            flaws.add("inertia", what, "take a lighter structure, or one nearer to the link's centre of mass")
    flaws.raise_if_any(f"flexible body '{link.name}'")
