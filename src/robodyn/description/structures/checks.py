"""Checks of beams, frames and modal data: what cannot be one? Every problem is noted with its path."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from robodyn.base.errors import FlawList, nearest
from robodyn.description.model.body import NEAR
from robodyn.description.model.numbers import LARGEST, check_vector
from robodyn.description.structures.beams import Element, is_along

MOST_MODES, MOST_CELLS = 60, 10**7
"""Modes of a body, and particles times modes squared: the equations of more are too long to be of use."""
MOST_PARTS = 200
"""Elements of a frame, this project's own choice: their dense matrices take some seconds."""


def check_size(flaws: FlawList, elements: Sequence[Element]) -> None:
    """All elements together are no more than what their dense matrices have room for."""
    total = sum(element.parts for element in elements)
    if total > MOST_PARTS:
        remedy = f"at most {MOST_PARTS} are taken; 10 or 20 make a beam exact enough"
        flaws.add("elements", f"are {total} parts together", remedy)


def check_nodes(flaws: FlawList, nodes: Mapping[str, Any], root: str, interfaces: Sequence[str]) -> None:
    """Places are three numbers; the root is one of the nodes, interfaces are others."""
    for node, place in nodes.items():
        check_vector(flaws, f"nodes.{node}", place, 3)
    if root not in nodes:
        flaws.add("root", f"there is no node '{root}'", nearest(root, nodes))
    moving = [node for node in nodes if node != root]
    for node in dict.fromkeys(interfaces):
        if node not in moving:
            flaws.add("interfaces", f"'{node}' is no node that can move", nearest(node, moving))
        elif list(interfaces).count(node) > 1:
            flaws.add("interfaces", f"'{node}' is there twice", "name each once")


def check_element(flaws: FlawList, element: Element, nodes: Mapping[str, Any]) -> None:
    """Its ends are nodes apart from each other, and `up` is across."""
    ends = [end for end in (element.start, element.end) if end not in nodes]
    for end in ends:
        flaws.add("", f"there is no node '{end}'", nearest(end, nodes))
    places = [nodes[end] for end in (element.start, element.end)] if not ends else []
    usable = bool(places) and all(check_vector(FlawList(), "", place, 3) for place in places)
    along = np.subtract(*places) if usable else None
    if along is not None and not np.linalg.norm(along) > 0:
        flaws.add("", "has no length", "its ends must be apart")
        along = None
    if along is not None and element.up != Element.up and is_along(along, np.array(element.up)):
        flaws.add("up", "is along the element", "name a direction across it")


def check_joined(flaws: FlawList, names: Sequence[str], pairs: Sequence[tuple[int, int]], root: int) -> None:
    """Elements hold every node, and lead from each to the root."""
    reached, growing = {root}, True
    while growing:
        new = {node for pair in pairs if reached & set(pair) for node in pair} - reached
        reached |= new
        growing = bool(new)
    ends = {node for pair in pairs for node in pair}
    for k, node in enumerate(names):
        if k not in ends:
            flaws.add(f"nodes.{node}", "no element holds it", "join it, or leave it out")
        elif k not in reached:
            flaws.add(f"nodes.{node}", f"no elements lead from it to '{names[root]}'", "join it, or leave it out")


def check_modes_count(flaws: FlawList, path: str, modes: int, particles: int = 1) -> None:
    """A body has so few modes that what they do to its inertia has room, before any of it is computed."""
    if modes > MOST_MODES:
        flaws.add(path, f"are {modes} modes, at most {MOST_MODES} are taken", "keep the lowest ones")
    elif particles * modes**2 > MOST_CELLS:
        what = f"{particles} particles in {modes} modes are too many"
        flaws.add(path, what, f"particles times modes squared may be {MOST_CELLS:.0g}: take fewer of either")


def check_shape(flaws: FlawList, path: str, value: Any, shape: tuple[int, ...], meaning: str) -> bool:
    """Whether an array is of a shape and of finite numbers."""
    if np.shape(value) != shape:
        flaws.add(path, f"must be of shape {shape}, is {np.shape(value)}", meaning)
        return False
    if not np.all(np.abs(value) <= LARGEST):
        flaws.add(path, f"must be finite numbers of at most {LARGEST:g} in magnitude")
        return False
    return True


def check_particles(flaws: FlawList, particles: Any) -> None:
    """Arrays fit together; masses are not negative, some are positive."""
    N, n = len(particles.mass), np.shape(particles.shift)[1] if np.ndim(particles.shift) == 3 else 0
    each = f"{N} particles, {n} modes"
    good = check_shape(flaws, "mass", particles.mass, (N,), "a mass for each particle")
    if good and (np.any(particles.mass < 0) or not np.sum(particles.mass) > 0):
        flaws.add("mass", "must not be negative, and positive somewhere")
    shapes = {"position": (N, 3), "tensor": (N, 3, 3), "shift": (N, n, 3), "turn": (N, n, 3)}
    for name, shape in shapes.items():
        check_shape(flaws, name, getattr(particles, name), shape, each)
    check_shape(flaws, "shortening", particles.shortening, (N, n, n, 3), each)


def check_modes(flaws: FlawList, n: int, stiffness: Any, nodes: Mapping[str, Any], shortens: bool = False) -> None:
    """A positive definite stiffness of n modes, and for each node its place and its motion in them.

    Args:
        shortens: whether the particles shorten: nodes must then say how they do.
    """
    wanted = (n,) if np.ndim(stiffness) == 1 else (n, n)
    if check_shape(flaws, "stiffness", stiffness, wanted, "a number for each mode, or a row"):
        square = np.diag(stiffness) if np.ndim(stiffness) == 1 else np.asarray(stiffness)
        if not np.allclose(square, square.T):
            flaws.add("stiffness", "must be symmetric")
        elif n and not np.min(np.linalg.eigvalsh(square)) > 0:
            flaws.add("stiffness", "must be positive for each mode", "motions without stiffness are for the joint")
    if not nodes:
        flaws.add("nodes", "there are none", "name the places where something is attached")
    for node, place in nodes.items():
        if len(place) != 3 + shortens:
            parts = "position, displacements and turns" + (", and shortening, as the particles have it" * shortens)
            flaws.add(f"nodes.{node}", f"has {len(place)} parts", f"give {parts}")
            continue
        position, shift, turn, *bend = place
        check_vector(flaws, f"nodes.{node}.position", position, 3)
        for value in bend:
            check_shape(flaws, f"nodes.{node}.shortening", value, (n, n, 3), "a vector for each pair of modes")
        shaped = check_shape(flaws, f"nodes.{node}.shift", shift, (n, 3), "a displacement in each mode")
        if shaped and check_shape(flaws, f"nodes.{node}.turn", turn, (n, 3), "a turn in each mode"):
            _check_held(flaws, node, position, np.abs([shift, turn]), nodes)


def _check_held(flaws: FlawList, node: str, position: Any, motion: np.ndarray, nodes: Mapping[str, Any]) -> None:
    """A node at the body's origin, where its joint holds it, does not move."""
    size = max((np.max(np.abs(place[0]), initial=0.0) for place in nodes.values()), default=0.0)
    at_origin = np.linalg.norm(position) <= NEAR * size
    if at_origin and np.max(motion, initial=0.0) > NEAR:
        remedy = "take the modes of the body clamped there"
        flaws.add(f"nodes.{node}", "moves in the modes, but stands where the body's joint holds it", remedy)
