"""Flexible bodies: what deforms? Inertia and stiffness in a few modes, and how a body's nodes move with them.

    r = r0 + sum Phi_i eta_i + 1/2 sum Gamma_ij eta_i eta_j

in the body's own axes, clamped where its joint holds it; Gamma is the foreshortening of beams that bend. Modes are
orthogonal, so that masses and stiffnesses of them are single numbers. Beams and frames of beams are made into such
bodies by `robodyn.description.structures`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from robodyn.base.errors import FlawList, nearest
from robodyn.description.model.body import Body, Inertia
from robodyn.description.model.description import Description
from robodyn.description.model.fields import ZERO, array, child, children, part_name, place, quantity, vector
from robodyn.description.model.freedom import Freedom
from robodyn.description.model.joint import Point
from robodyn.description.model.numbers import Floats, Rows, as_floats

NEAR = 1e-6
"""Part of a body's size within which a joint or point stands at a node."""


class BodyNode(Description):
    """A place of a flexible body where joints, bodies and points can be attached."""

    NOUN = "node"

    name: str = part_name()
    position: Floats = vector("m", suffixes=(), doc="at rest, in the body's frame")
    shift: Rows = array(doc="displacement for a unit of each mode (n x 3)")
    turn: Rows = array(doc="rotation vector for a unit of each mode (n x 3) [rad]")
    shortening: tuple[Any, ...] = array(default=(), doc="Gamma_ij, second derivative of the displacement (n x n x 3)")


class ModalInertia(Description):
    """What deformation changes in a body's inertia, summed over its particles."""

    NOUN = "modal inertia"

    first: Any = array(doc="sum m Phi_i (n x 3)")
    first_bend: Any = array(doc="sum m Gamma_ij (n x n x 3)")
    second: Any = array(doc="derivative of sum m r r^T by eta_i (n x 3 x 3)")
    second_bend: Any = array(doc="by eta_i and eta_j (n x n x 3 x 3)")
    turning: Any = array(doc="sum m r0 x Phi_i (n x 3)")
    turning_bend: Any = array(doc="its derivative by eta_j (n x n x 3)")


class FlexibleBody(Body):
    """A body that deforms; mass, centre of mass and inertia are those at rest."""

    NOUN, MARKS = "flexible body", ("modal_mass",)

    mass: float = quantity("kg", non_negative=True, default=0.0, named=False)
    com: Floats = place(default=ZERO, suffixes=())
    inertia: Floats = vector("kg m^2", 6, suffixes=(), default=(0.0,) * 6, make=Inertia)
    nodes: tuple[BodyNode, ...] = children(BodyNode, default=(), doc="tables of nodes, where something can be attached")
    edges: tuple[tuple[str, str], ...] = array(of="string", default=(), doc="pairs of nodes, lines to draw")
    modal_mass: Floats = array(default=(), doc="of each mode [kg; kg m^2 where it only twists]")
    modal_stiffness: Floats = array(default=(), doc="of each mode [N/m; N m/rad where it only twists]")
    modal_inertia: ModalInertia | None = child(
        ModalInertia, default=None, doc="what deformation changes in the inertia"
    )
    twists: tuple[bool, ...] = array(of="boolean", default=(), doc="for each mode whether its coordinate is an angle")
    stiffness: float = quantity("1", positive=True, default=1.0, doc="factor of all stiffnesses")
    damping: float = quantity(
        "1", non_negative=True, default=0.0, doc="ratio of each mode's damping to its critical one"
    )
    rayleigh: Floats = vector(
        "",
        2,
        suffixes=("mass", "stiffness"),
        units=("1/s", "s"),
        non_negative=True,
        default=(0.0, 0.0),
        doc="table of factors that are added to it: of `mass` [1/s] and of `stiffness` [s]",
    )

    def check(self, flaws: FlawList) -> None:
        super().check(flaws)
        if self.looks:
            flaws.add("looks", "have no effect on a body that deforms", "give them to a body fixed to it")
        self._check_modes(flaws)
        self._check_nodes(flaws)

    def _check_modes(self, flaws: FlawList) -> None:
        n = len(self.modal_mass)
        if not n:
            flaws.add("modal_mass", "there is no mode", "take a Body where nothing deforms")
        if len(self.modal_stiffness) != n or len(self.twists) != n:
            flaws.add("modal_stiffness", f"has {len(self.modal_stiffness)} modes, modal_mass {n}")
        for name in ("modal_mass", "modal_stiffness"):
            if not all(value > 0 for value in getattr(self, name)):
                flaws.add(name, "must be positive for each mode", "a mode without stiffness is a motion of its joint")
        shapes = {"first": (n, 3), "first_bend": (n, n, 3), "second": (n, 3, 3), "second_bend": (n, n, 3, 3)}
        shapes |= {"turning": (n, 3), "turning_bend": (n, n, 3)}
        for name, shape in shapes.items():
            found = np.shape(getattr(self.modal_inertia, name, ()))
            if found != shape:
                flaws.add(f"modal_inertia.{name}", f"must be of shape {shape}, is {found}")

    def _check_nodes(self, flaws: FlawList) -> None:
        n = len(self.modal_mass)
        names = [node.name for node in self.nodes]
        for node in self.nodes:
            if np.shape(node.shift) != (n, 3) or np.shape(node.turn) != (n, 3):
                flaws.add(f"nodes.{node.name}", f"shift and turn must be of shape {(n, 3)}")
            if node.shortening and np.shape(node.shortening) != (n, n, 3):
                flaws.add(f"nodes.{node.name}.shortening", f"must be of shape {(n, n, 3)}, or ()")
            if names.count(node.name) > 1:
                flaws.add(f"nodes.{node.name}", "this name is used twice", "give each its own name")
        for edge in self.edges:
            for end in edge:
                if end not in names:
                    flaws.add("edges", f"there is no node '{end}'")

    @property
    def modes(self) -> tuple[Freedom, ...]:
        """Its modal coordinates, `<body>.mode1` ...: the largest displacement [m] of a mode, or the largest angle [rad]
        of one that only twists."""
        kinds = ("revolute" if twists else "prismatic" for twists in self.twists)
        return tuple(Freedom(f"{self.name}.mode{k}", kind) for k, kind in enumerate(kinds, start=1))

    @property
    def frequencies(self) -> np.ndarray:
        """Of the modes, the body clamped at its joint and nothing attached [Hz], (n,)."""
        return np.sqrt(self.stiffness * np.array(self.modal_stiffness) / np.array(self.modal_mass)) / (2 * np.pi)

    @property
    def size(self) -> float:
        """Largest distance between nodes along one axis [m]."""
        places = np.array([node.position for node in self.nodes])
        return float(np.max(places.max(axis=0) - places.min(axis=0), initial=0.0)) if len(places) else 0.0

    def node(self, name: str) -> BodyNode:
        """The node of that name; KeyError where there is none."""
        return {node.name: node for node in self.nodes}[name]

    def find_node(self, origin: Sequence[float], name: str | None = None) -> BodyNode | None:
        """The node of a name, or the one at a position of the body's frame [m]; None where there is none."""
        if name is not None:
            return next((node for node in self.nodes if node.name == name), None)
        if not self.nodes:
            return None
        near = self.nearest_node(origin)
        apart = float(np.linalg.norm(np.subtract(near.position, origin)))
        return near if apart <= NEAR * max(self.size, 1e-3) else None

    def nearest_node(self, origin: Sequence[float]) -> BodyNode:
        """The node nearest to a position of the body's frame [m]."""
        return min(self.nodes, key=lambda node: float(np.linalg.norm(np.subtract(node.position, origin))))

    def points(self) -> tuple[Point, ...]:
        """A named point `<body>.<node>` at every node, so that its positions, deformation included, are signals."""
        return tuple(Point(f"{self.name}.{node.name}", self.name, node.position, node.name) for node in self.nodes)


def check_attachments(flaws: FlawList, bodies: Sequence[Body], joints: Sequence[Any], points: Sequence[Any]) -> None:
    """Whatever hangs on a flexible body, or is a point of it, is carried by one of its nodes."""
    flexible = {body.name: body for body in bodies if isinstance(body, FlexibleBody)}
    hanging = [(f"joints.{joint.name}", joint.parent, joint) for joint in joints]
    hanging += [(f"points.{point.name}", point.body, point) for point in points]
    for path, name, part in hanging:
        body = flexible.get(name)
        if body is not None:
            _check_carrier(flaws, path, body, part)
        elif part.node is not None:
            flaws.add(f"{path}.node", f"'{name}' is rigid and has no nodes", "leave it out")


def _check_carrier(flaws: FlawList, path: str, body: FlexibleBody, part: Any) -> None:
    if body.find_node(part.origin, part.node) is not None:
        return
    if part.node is not None:
        known = [node.name for node in body.nodes]
        flaws.add(f"{path}.node", f"'{body.name}' has no node '{part.node}'", nearest(part.node, known))
        return
    remedy = "give the body nodes"
    if body.nodes:
        near = body.nearest_node(part.origin)
        remedy = f"nearest is '{near.name}' at {_shown(near.position)} m; node = \"{near.name}\" makes a rigid bracket"
    flaws.add(f"{path}.origin", f"{_shown(part.origin)} m is no node of the flexible body '{body.name}'", remedy)


def _shown(position: Sequence[float]) -> str:
    return "(" + ", ".join(f"{value:.6g}" for value in as_floats(position)) + ")"
