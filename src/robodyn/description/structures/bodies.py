"""Flexible bodies of beams: particles, reduced modes, matched frequencies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from robodyn.base import Array, Flaw, FlawList, ModelError, frozen, nearest, refuse
from robodyn.description.model import Body, BodyNode, Bounds, Description, FlexibleBody, ModalInertia
from robodyn.description.model.body import NEAR, TRIANGLE_TOLERANCE, tensor_of
from robodyn.description.model.fields import flag, quantity, texts, whole_number
from robodyn.description.model.numbers import LARGEST, as_floats, check_count, check_vector

from .beams import BeamStructure, Element, Section, assemble_structure, is_along

# --------------------------------------------------------------------------------------------------
# Checks of beams, frames and modal data: what cannot be one? Every problem is noted with its path.


MOST_MODES, MOST_CELLS = 60, 10**7
"""Modes of a body, and particles times modes squared: the equations of more are too long to be of use."""
MOST_PARTS = 200
"""Elements of a frame, this project's own choice: their dense matrices take some seconds."""


def check_size(flaws: FlawList, elements: Sequence[Element]) -> None:
    """All elements together are no more than what their dense matrices have room for."""
    total = sum(element.parts for element in elements)
    if total > MOST_PARTS:
        remedy = f"at most {MOST_PARTS} are allowed; 10 or 20 make a beam accurate enough"
        flaws.add("elements", f"have {total} parts in all", remedy)


def check_nodes(flaws: FlawList, nodes: Mapping[str, Any], root: str, interfaces: Sequence[str]) -> None:
    """Places are three numbers; the root is one of the nodes, interfaces are others."""
    for node, place in nodes.items():
        check_vector(flaws, f"nodes.{node}", place, 3)
    if root not in nodes:
        flaws.add("root", f"there is no node '{root}'", nearest(root, nodes))
    moving = [node for node in nodes if node != root]
    for node in dict.fromkeys(interfaces):
        if node not in moving:
            flaws.add("interfaces", f"'{node}' is not a node that can move", nearest(node, moving))
        elif list(interfaces).count(node) > 1:
            flaws.add("interfaces", f"'{node}' appears twice", "name each once")


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
        flaws.add("up", "is along the element", "name a direction perpendicular to it")


def check_joined(flaws: FlawList, names: Sequence[str], pairs: Sequence[tuple[int, int]], root: int) -> None:
    """Elements hold every node, and lead from each to the root."""
    # From the root on, element by element, until no further node is reached.
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
        flaws.add(path, what, f"particles times modes squared may be {MOST_CELLS:.0g}: use fewer of either")


def check_shape(flaws: FlawList, path: str, value: Any, shape: tuple[int, ...], meaning: str) -> bool:
    """Whether an array is of a shape and of finite numbers."""
    if np.shape(value) != shape:
        flaws.add(path, f"must be of shape {shape}, is {np.shape(value)}", meaning)
        return False
    if not np.all(np.abs(value) <= LARGEST):
        flaws.add(path, f"must be finite numbers of at most {LARGEST:g} in magnitude")
        return False
    return True


def check_modes(flaws: FlawList, n: int, stiffness: Any, nodes: Mapping[str, Any], shortens: bool = False) -> None:
    """A positive definite stiffness of n modes, and for each node its place and its motion in them.

    Args:
        shortens: whether the particles shorten: nodes must then say how they do.
    """
    shape = (n,) if np.ndim(stiffness) == 1 else (n, n)
    if check_shape(flaws, "stiffness", stiffness, shape, "a number for each mode, or a row"):
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
            # A node at the body's origin, where its joint holds it, does not move.
            size = max((np.max(np.abs(place[0]), initial=0.0) for place in nodes.values()), default=0.0)
            at_origin = np.linalg.norm(position) <= NEAR * size
            if at_origin and np.max(np.abs([shift, turn]), initial=0.0) > NEAR:
                remedy = "use the modes of the body clamped there"
                flaws.add(f"nodes.{node}", "moves in the modes, but stands where the body's joint holds it", remedy)


# --------------------------------------------------------------------------------------------------
# Inertia integrals by particles: what do the particles of a body sum up to in its modes?
#
# A body is a cloud of particles with mass, tensor, and for each mode a displacement and a rotation. Those of beams are
# at Gauss points, which makes their sums the exact integrals over the elements' shape functions.


@frozen(eq=False)
class Particles:
    """N particles and their motion in n modes, all in the body's axes.

    Attributes:
        mass: [kg], (N,); position: at rest [m], (N, 3); tensor: inertia about themselves [kg m^2], (N, 3, 3).
        shift: displacement (N, n, 3); turn: rotation vector (N, n, 3); shortening: Gamma (N, n, n, 3).
    """

    mass: Array
    position: Array
    tensor: Array
    shift: Array
    turn: Array
    shortening: Array

    def __post_init__(self) -> None:
        flaws = FlawList()
        # Arrays fit together; masses are not negative, some are positive.
        N, n = len(self.mass), np.shape(self.shift)[1] if np.ndim(self.shift) == 3 else 0
        each = f"{N} particles, {n} modes"
        good = check_shape(flaws, "mass", self.mass, (N,), "a mass for each particle")
        if good and (np.any(self.mass < 0) or not np.sum(self.mass) > 0):
            flaws.add("mass", "must not be negative, and positive somewhere")
        shapes = {"position": (N, 3), "tensor": (N, 3, 3), "shift": (N, n, 3), "turn": (N, n, 3)}
        for name, shape in shapes.items():
            check_shape(flaws, name, getattr(self, name), shape, each)
        check_shape(flaws, "shortening", self.shortening, (N, n, n, 3), each)
        flaws.raise_if_any("particles")

    @classmethod
    def lumped(cls, mass: Any, position: Any, shift: Any, tensor: Any = None, turn: Any = None) -> Particles:
        """Particles without inertia of their own unless it is given, and without foreshortening."""
        mass, position, shift = (np.asarray(value, float) for value in (mass, position, shift))
        N, n = mass.size, shift.shape[1] if shift.ndim == 3 else 0
        flaws = FlawList()
        check_modes_count(flaws, "shift", n, N)
        flaws.raise_if_any("particles")
        tensor = np.zeros((N, 3, 3)) if tensor is None else np.asarray(tensor, float)
        turn = np.zeros((N, n, 3)) if turn is None else np.asarray(turn, float)
        return cls(mass, position, tensor, shift, turn, np.zeros((N, n, n, 3)))

    @property
    def rigid(self) -> tuple[float, Array, Array]:
        """Mass, centre of mass, and tensor about it, at rest."""
        total = float(self.mass.sum())
        com = self.mass @ self.position / total
        r = self.position - com
        second = np.einsum("p,pi,pj->ij", self.mass, r, r)
        tensor = np.trace(second) * np.eye(3) - second + self.tensor.sum(axis=0)
        return total, com, 0.5 * (tensor + tensor.T)

    @property
    def modal_mass(self) -> Array:
        """sum m Phi_i.Phi_j + turn_i.I turn_j, (n, n)."""
        moving = np.einsum("p,pix,pjx->ij", self.mass, self.shift, self.shift)
        return moving + np.einsum("pix,pxy,pjy->ij", self.turn, self.tensor, self.turn)

    def sum_up(self) -> ModalInertia:
        """The sums that the kinetic energy needs, to second order in the modes."""
        m, r, phi, bend = self.mass, self.position, self.shift, self.shortening
        once = np.einsum("p,pix,py->ixy", m, phi, r)
        twice = np.einsum("p,pix,pjy->ijxy", m, phi, phi) + np.einsum("p,pijx,py->ijxy", m, bend, r)
        crossed = np.cross(phi[:, None], phi[:, :, None]) + np.cross(r[:, None, None], bend)
        spin = np.einsum("pxy,piy->ix", self.tensor, self.turn)
        return ModalInertia(
            first=np.einsum("p,pix->ix", m, phi),
            first_bend=np.einsum("p,pijx->ijx", m, bend),
            second=_clean(once + once.transpose(0, 2, 1)),
            second_bend=_clean(twice + twice.transpose(0, 1, 3, 2)),
            turning=_clean(np.einsum("p,pix->ix", m, np.cross(r[:, None], phi)) + spin),
            turning_bend=_clean(np.einsum("p,pijx->ijx", m, crossed)),
        )


def _clean(sums: Array) -> Array:
    """Sums without rounding errors in place of zeros, so that traced graphs stay small."""
    return np.where(np.abs(sums) > 1e-13 * np.max(np.abs(sums), initial=0.0), sums, 0.0)


# --------------------------------------------------------------------------------------------------
# Craig-Bampton reduction: which few modes stand for a structure of many degrees of freedom?
#
# Craig and Bampton (1968): the structure is clamped where its joint holds it; its shapes are the static ones of unit
# motions of the interface nodes (constraint modes), and vibrations with these nodes held (fixed-interface modes). They
# are then made orthogonal, so that each has one mass and one stiffness.


ALIKE = 1e-9
"""Relative difference below which squares of frequencies count as equal."""
DIRECTIONS = ("x", "y", "z", "rx", "ry", "rz")
DEFAULT_MODES = 2


class Reduction(Description):
    """How a structure is reduced; to two vibrations where neither their number nor a frequency is given."""

    NOUN = "reduction"

    interfaces: tuple[str, ...] = texts(
        "node", default=("tip",), doc="nodes whose static motions are kept exactly: where joints and loads are"
    )
    modes: int | None = whole_number(
        default=None, doc="number of vibrations that are kept, with the interfaces held", absent="required, or:"
    )
    frequency: float | None = quantity("Hz", positive=True, default=None, doc="those up to this one")
    highest: float | None = quantity(
        "Hz", positive=True, default=None, doc="faster modes of the result are left out", absent="nothing is"
    )
    directions: tuple[str, ...] = texts(
        "direction",
        empty=False,
        options=DIRECTIONS,
        default=DIRECTIONS,
        doc="directions in which nodes can move; the others are held",
    )
    stiffening: bool = flag(
        default=False, doc="whether bending shortens beams, which stiffens them where they spin or hang"
    )

    def check(self, flaws: FlawList) -> None:
        if self.modes is not None and self.frequency is not None:
            flaws.add("modes", "give either modes or frequency", "leave one of them out")
        if self.modes is None and self.frequency is None:
            self.set_fields(modes=DEFAULT_MODES)

    def free(self, n_nodes: int, root: int) -> Array:
        """Numbers of the freedoms left: of all nodes but the root, in the directions given."""
        columns = [DIRECTIONS.index(direction) for direction in self.directions]
        return np.array([6 * node + k for node in range(n_nodes) if node != root for k in sorted(columns)], int)


def reduce_structure(K: Array, M: Array, free: Array, held: Sequence[int], how: Reduction) -> Array:
    """Shapes of the modes, one a column, over all freedoms; mass-orthonormal, lowest frequency first.

    Args:
        K, M: stiffness and mass of all freedoms; free: those not clamped; held: those of the interface nodes.
    """
    outer = np.array([k for k, freedom in enumerate(free) if freedom in set(held)], int)
    inner = np.array([k for k, freedom in enumerate(free) if freedom not in set(held)], int)
    # There are as many fixed-interface modes as freedoms that are not held.
    n_inner = len(inner)
    if how.modes is not None and how.modes > n_inner:
        what = f"{how.modes} are requested with the interfaces held, the structure has {n_inner}"
        refuse("modes", what, "divide it into more elements, or ask for fewer", "reduction")
    stiff, heavy = K[np.ix_(free, free)], M[np.ix_(free, free)]
    basis = np.zeros((len(free), 0))
    # Constraint modes: each interface freedom moved by one, the inner ones follow, x_i = -K_ii^-1 K_io x_o.
    if len(outer):
        basis = np.zeros((len(free), len(outer)))
        basis[outer] = np.eye(len(outer))
        if len(inner):
            basis[inner] = -_solve(stiff[np.ix_(inner, inner)], stiff[np.ix_(inner, outer)])
    # Fixed-interface modes: vibrations K_ii x = w^2 M_ii x with the interfaces held, the lowest of them.
    if len(inner):
        fixed = np.zeros((len(free), len(inner)))
        squares, shapes = find_modes(stiff[np.ix_(inner, inner)], heavy[np.ix_(inner, inner)])
        fixed[inner] = _align(shapes, squares, free[inner] % 6)
        basis = np.hstack([basis, fixed[:, : _count(squares, how)]])
    # Both together are not orthogonal: the modes of the reduced structure are.
    squares, mixed = find_modes(basis.T @ stiff @ basis, basis.T @ heavy @ basis)
    if how.highest is not None:
        mixed = mixed[:, squares <= (2 * np.pi * how.highest) ** 2]
    if not mixed.shape[1]:
        refuse("modes", "none is left", "keep more, up to a higher frequency, or name interfaces")
    flaws = FlawList()
    check_modes_count(flaws, "modes", mixed.shape[1])
    flaws.raise_if_any("reduction")
    shapes = np.zeros((len(K), mixed.shape[1]))
    shapes[free] = _align(basis @ mixed, squares[: mixed.shape[1]], free % 6)
    return shapes


def _align(shapes: Array, squares: Array, direction: Array) -> Array:
    """Rotate modes of equal frequency, of which any mixture is as good, towards single directions of motion.

    Round tubes bend in all planes alike: their modes become those along the axes, and traced graphs stay small.

    Args:
        squares: of the frequencies, ascending; direction: number of each row's direction.
    """
    # Within a group of equal frequencies: eigenvectors of X^T diag(w) X, w another number for each direction.
    weight = 1.0 + direction[:, None]
    aligned, first = shapes.copy(), 0
    for last in range(1, len(squares) + 1):
        if last == len(squares) or squares[last] > squares[first] * (1 + ALIKE):
            alike = shapes[:, first:last]
            aligned[:, first:last] = alike @ np.linalg.eigh(alike.T @ (weight * alike))[1]
            first = last
    return aligned


def find_modes(K: Array, M: Array) -> tuple[Array, Array]:
    """Squares of frequencies, ascending, and shapes, one a column: K x = squares M x.

    Raises:
        ModelError: where stiffnesses or masses are so far apart that rounding leaves no such numbers.
    """
    from scipy.linalg import eigh

    try:
        squares, shapes = eigh(K, M)
    except ValueError as error:  # not finite, or LinAlgError: not positive definite
        raise _too_far_apart() from error
    if not (np.isfinite(shapes).all() and np.max(np.abs(squares), initial=0.0) < LARGEST**2):
        raise _too_far_apart()
    return squares, shapes


def _solve(A: Array, b: Array) -> Array:
    try:
        return np.linalg.solve(A, b)
    except np.linalg.LinAlgError as error:
        raise _too_far_apart() from error


def _too_far_apart() -> ModelError:
    what = "its stiffnesses and masses differ too much in size to find modes"
    return ModelError([Flaw("", what, "check the units of lengths, sections and material")], "structure")


def _count(squares: Array, how: Reduction) -> int:
    if how.modes is not None:
        return how.modes
    return int(np.sum(squares <= (2 * np.pi * (how.frequency or 0.0)) ** 2))


# --------------------------------------------------------------------------------------------------
# Inertia matching: how does a rigid link of known inertia become flexible, and keep that inertia?
#
# A structure that deforms is rarely all of a link: motors, gears and housings sit on it. What the link has beyond its
# structure is taken as rigid and fixed at the structure's root, where nothing moves with the modes:
#
#     inertia of the link = inertia of the structure + inertia of a rigid rest
#
# All three are linear in the pseudo-inertia [[sum m r r^T, sum m r], [sum m r^T, sum m]] (Wensing, Kim and Slotine,
# 2018), and a rest made of masses has one without a negative eigenvalue.


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


def pseudo_inertia(body: Body) -> Array:
    """[[sum m r r^T, sum m r], [sum m r^T, sum m]] about the origin of the body's frame, (4, 4)."""
    c, tensor = np.array(body.com), tensor_of(body.inertia)
    second = 0.5 * np.trace(tensor) * np.eye(3) - tensor + body.mass * np.outer(c, c)
    first = body.mass * c[:, None]
    return np.block([[second, first], [first.T, np.array([[body.mass]])]])


def _check_rest(structure: FlexibleBody, link: Body) -> None:
    flaws = FlawList()
    if structure.mass > link.mass * (1 + TRIANGLE_TOLERANCE):
        what = f"the structure has {structure.mass:.6g} kg, the link {link.mass:.6g} kg"
        flaws.add("mass", what, "use a lighter structure")
    elif link.physical:
        # In metres and kilograms weighed alike: lengths of the link's own size.
        size = structure.size or 1.0
        scale = np.diag([1 / size] * 3 + [1.0])
        rest = scale @ (pseudo_inertia(link) - pseudo_inertia(structure)) @ scale
        if np.linalg.eigvalsh(rest)[0] < -TRIANGLE_TOLERANCE * link.mass:
            what = "what the link has beyond the structure could not be made of masses"
            flaws.add("inertia", what, "use a lighter structure, or one nearer to the link's centre of mass")
    flaws.raise_if_any(f"flexible body '{link.name}'")


# --------------------------------------------------------------------------------------------------
# Flexible bodies: how does a beam, a frame of beams, or modal data of another program become one?


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
    flaws = FlawList()
    check_nodes(flaws, nodes, root, how.interfaces)
    for k, element in enumerate(elements):
        own = FlawList()
        check_element(own, element, nodes)
        flaws.extend(own.found, under=f"elements[{k}]")
    if not flaws.found:
        check_size(flaws, elements)
    flaws.raise_if_any(f"flexible body '{name}'")
    # All nodes and elements as one structure, each joined to the root.
    structure = assemble_structure(nodes, elements)
    stations, start = structure.stations(), structure.names.index(root)
    check_joined(flaws, structure.names, [part.nodes for part in structure.beams], start)
    flaws.raise_if_any(f"flexible body '{name}'")
    # Mass matrix by Gauss points: M = sum m N^T N + R^T J R, N and R displacement and rotation by all freedoms.
    moves, turns = (np.array([station[k] for station in stations]) for k in (3, 4))
    mass, tensor = np.array([s[0] for s in stations]), np.array([s[2] for s in stations])
    M = np.einsum("p,pxa,pxb->ab", mass, moves, moves, optimize=True)
    M += np.einsum("pxa,pxy,pyb->ab", turns, tensor, turns, optimize=True)
    # A few shapes x = Phi eta stand for all freedoms; bent beams get shorter by eta_i eta_j Gamma_ij.
    interface_rows = [6 * structure.names.index(node) + k for node in how.interfaces for k in range(6)]
    shapes = reduce_structure(structure.K, M, how.free(len(structure.names), start), interface_rows, how)
    shapes, twists = _scale(structure, shapes)
    n = shapes.shape[1]
    bend = structure.shorten(shapes, start) if how.stiffening else np.zeros((len(shapes), n, n))
    # The body: its particles in these modes, modal stiffness diag(Phi^T K Phi), and its nodes.
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
    # Sums of the modes that are orthogonal, K x = w^2 M x, each scaled to a largest displacement of 1 m.
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


def _mixed_node(name: str, place: Place, mix: Array) -> BodyNode:
    """A node in other modes, of which each is a sum of those it is given in."""
    position, shift, turn, *bend = (np.asarray(part, float) for part in place)
    shortening = as_floats(np.einsum("abx,ai,bj->ijx", bend[0], mix, mix)) if bend else ()
    return BodyNode(name, as_floats(position), mix.T @ shift, mix.T @ turn, shortening)


def _build(
    name: str,
    particles: Particles,
    stiffness: Array,
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


def _scale(structure: BeamStructure, shapes: Array) -> tuple[Array, list[bool]]:
    """Shapes with a largest displacement of 1 m, towards positive; a largest rotation of 1 rad where it only twists."""
    size = np.max(np.ptp(structure.positions, axis=0))
    by_node = shapes.reshape(-1, 6, shapes.shape[1])
    moves, turns = by_node[:, :3].reshape(-1, shapes.shape[1]), by_node[:, 3:].reshape(-1, shapes.shape[1])
    twists = np.max(np.abs(moves), axis=0) < 1e-6 * size * np.max(np.abs(turns), axis=0)
    part_of = np.where(twists, 1, 0)
    largest = [part[np.argmax(np.abs(part[:, k])), k] for k, part in enumerate((moves, turns)[t] for t in part_of)]
    scaled = shapes / np.array(largest)
    return np.where(np.abs(scaled) > 1e-12, scaled, 0.0), [bool(value) for value in twists]


def _node(structure: BeamStructure, k: int, shapes: Array, bend: Array, stiffening: bool) -> BodyNode:
    rows = shapes[6 * k : 6 * k + 6]
    shortening = as_floats(bend[6 * k : 6 * k + 3].transpose(1, 2, 0)) if stiffening else ()
    return BodyNode(
        structure.names[k], as_floats(structure.positions[k]), as_floats(rows[:3].T), as_floats(rows[3:].T), shortening
    )
