"""Flexible bodies: how does a beam, a frame of beams, or modal data of another program become one?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from robodyn.base.errors import FlawList
from robodyn.description.model import BodyNode, FlexibleBody
from robodyn.description.model.kinds import Bounds
from robodyn.description.model.numbers import as_floats, check_count
from robodyn.description.structures.assembled import Structure, assemble_structure
from robodyn.description.structures.checks import (
    check_element,
    check_joined,
    check_modes,
    check_nodes,
    check_size,
)
from robodyn.description.structures.elements import Element
from robodyn.description.structures.particles import Particles
from robodyn.description.structures.reduction import Reduction, find_modes, reduce_structure
from robodyn.description.structures.sections import Section

Place = Sequence[Any]
"""Position (3,), displacement (n, 3) and rotation vector (n, 3) of a node in each mode."""


def beam(
    name: str, length: float, section: Section, how: Reduction | None = None, *, elements: int = 8, **numbers: Any
) -> FlexibleBody:
    """A straight beam along x from "root", where its joint clamps it, to "tip".

    Args:
        how: how it is reduced; by default to two fixed-interface modes and six of its tip.
        numbers: `stiffness`, `damping`, `rayleigh` of the body.
    """
    flaws = FlawList()
    Bounds(positive=True).check(flaws, "length", length, "m")
    check_count(flaws, "elements", elements, 1)
    flaws.raise_if_any(f"flexible body '{name}'")
    nodes = {"root": (0.0, 0.0, 0.0), "tip": (length, 0.0, 0.0)}
    return frame(name, nodes, [Element("root", "tip", section, elements)], how, **numbers)


def frame(
    name: str,
    nodes: Mapping[str, Sequence[float]],
    elements: Sequence[Element],
    how: Reduction | None = None,
    *,
    root: str = "root",
    **numbers: Any,
) -> FlexibleBody:
    """Beams between named nodes, clamped at the root.

    Args:
        nodes: name -> position in the body's frame [m]; those that dividing elements adds are named
            `<start>_<end>1` ...
        numbers: `stiffness`, `damping`, `rayleigh` of the body.
    """
    how = how or Reduction()
    _check_frame(name, nodes, elements, how, root)
    structure = assemble_structure(nodes, elements)
    stations, start = structure.stations(), structure.names.index(root)
    _check_joined(name, structure, start)
    moves, turns = (np.array([station[k] for station in stations]) for k in (3, 4))
    mass, tensor = np.array([s[0] for s in stations]), np.array([s[2] for s in stations])
    M = np.einsum("p,pxa,pxb->ab", mass, moves, moves, optimize=True)
    M += np.einsum("pxa,pxy,pyb->ab", turns, tensor, turns, optimize=True)
    held = [6 * structure.names.index(node) + k for node in how.interfaces for k in range(6)]
    shapes = reduce_structure(structure.K, M, how.free(len(structure.names), start), held, how)
    shapes, twists = _scale(structure, shapes)
    n = shapes.shape[1]
    bend = structure.shorten(shapes, start) if how.stiffening else np.zeros((len(shapes), n, n))
    particles = Particles(
        mass,
        np.array([s[1] for s in stations]),
        tensor,
        (moves @ shapes).transpose(0, 2, 1),
        (turns @ shapes).transpose(0, 2, 1),
        np.einsum("pxa,aij->pijx", moves, bend, optimize=True),
    )
    places = [_node(structure, k, shapes, bend, how.stiffening) for k in range(len(structure.names))]
    edges = [tuple(structure.names[k] for k in part.nodes) for part in structure.beams]
    return _build(name, particles, np.diag(shapes.T @ structure.K @ shapes), twists, places, edges, numbers)


def modal_body(
    name: str, particles: Particles, stiffness: Any, nodes: Mapping[str, Place], **numbers: Any
) -> FlexibleBody:
    """A body from the modes of another program, which must vanish where its joint clamps it.

    Args:
        stiffness: of the modes, (n, n) or its diagonal (n,); modes need not be orthogonal, they are made so.
        nodes: name -> position, displacements (n, 3) and rotations (n, 3) of a node; where the particles shorten, its
            shortening (n, n, 3) too.
    """
    flaws = FlawList()
    check_modes(flaws, particles.shift.shape[1], stiffness, nodes, bool(np.any(particles.shortening)))
    if not flaws.found and not np.min(np.linalg.eigvalsh(particles.modal_mass), initial=np.inf) > 0:
        flaws.add("shift", "a mode, or a sum of modes, moves no mass", "leave it out")
    flaws.raise_if_any(f"flexible body '{name}'")
    K = np.asarray(stiffness, float)
    K = np.diag(K) if K.ndim == 1 else K
    _, mix = find_modes(K, particles.modal_mass)
    size = np.max(np.abs(np.einsum("pix,ij->pjx", particles.shift, mix)), axis=(0, 2))
    twists = [not value > 0 for value in size]
    mix = mix / np.where(size > 0, size, 1.0)
    changed = Particles(
        particles.mass,
        particles.position,
        particles.tensor,
        np.einsum("pix,ij->pjx", particles.shift, mix),
        np.einsum("pix,ij->pjx", particles.turn, mix),
        np.einsum("pabx,ai,bj->pijx", particles.shortening, mix, mix),
    )
    places = [_mixed_node(key, place, mix) for key, place in nodes.items()]
    return _build(name, changed, np.diag(mix.T @ K @ mix), twists, places, [], numbers)


def _mixed_node(name: str, place: Place, mix: np.ndarray) -> BodyNode:
    """A node in other modes, of which each is a sum of those it is given in."""
    position, shift, turn, *bend = (np.asarray(part, float) for part in place)
    shortening = as_floats(np.einsum("abx,ai,bj->ijx", bend[0], mix, mix)) if bend else ()
    return BodyNode(name, as_floats(position), mix.T @ shift, mix.T @ turn, shortening)


def _build(
    name: str,
    particles: Particles,
    stiffness: np.ndarray,
    twists: Sequence[bool],
    places: Sequence[BodyNode],
    edges: Sequence[Any],
    numbers: Mapping[str, Any],
) -> FlexibleBody:
    mass, com, tensor = particles.rigid
    return FlexibleBody(
        name,
        mass,
        as_floats(com),
        as_floats(tensor),
        nodes=tuple(places),
        edges=tuple(edges),
        modal_mass=as_floats(np.diag(particles.modal_mass)),
        modal_stiffness=as_floats(stiffness),
        modal_inertia=particles.sum_up(),
        twists=tuple(twists),
        **numbers,
    )


def _scale(structure: Structure, shapes: np.ndarray) -> tuple[np.ndarray, list[bool]]:
    """Shapes with a largest displacement of 1 m, towards positive; a largest rotation of 1 rad where it only twists."""
    size = np.max(np.ptp(structure.positions, axis=0))
    by_node = shapes.reshape(-1, 6, shapes.shape[1])
    moves, turns = by_node[:, :3].reshape(-1, shapes.shape[1]), by_node[:, 3:].reshape(-1, shapes.shape[1])
    twists = np.max(np.abs(moves), axis=0) < 1e-6 * size * np.max(np.abs(turns), axis=0)
    message = np.where(twists, 1, 0)
    largest = [part[np.argmax(np.abs(part[:, k])), k] for k, part in enumerate((moves, turns)[t] for t in message)]
    scaled = shapes / np.array(largest)
    return np.where(np.abs(scaled) > 1e-12, scaled, 0.0), [bool(value) for value in twists]


def _node(structure: Structure, k: int, shapes: np.ndarray, bend: np.ndarray, stiffening: bool) -> BodyNode:
    rows = shapes[6 * k : 6 * k + 6]
    shortening = as_floats(bend[6 * k : 6 * k + 3].transpose(1, 2, 0)) if stiffening else ()
    return BodyNode(
        structure.names[k], as_floats(structure.positions[k]), as_floats(rows[:3].T), as_floats(rows[3:].T), shortening
    )


def _check_frame(name: str, nodes: Mapping[str, Any], elements: Sequence[Element], how: Reduction, root: str) -> None:
    flaws = FlawList()
    check_nodes(flaws, nodes, root, how.interfaces)
    for k, element in enumerate(elements):
        own = FlawList()
        check_element(own, element, nodes)
        flaws.extend(own.found, under=f"elements[{k}]")
    if not flaws.found:
        check_size(flaws, elements)
    flaws.raise_if_any(f"flexible body '{name}'")


def _check_joined(name: str, structure: Structure, root: int) -> None:
    flaws = FlawList()
    check_joined(flaws, structure.names, [part.nodes for part in structure.beams], root)
    flaws.raise_if_any(f"flexible body '{name}'")
