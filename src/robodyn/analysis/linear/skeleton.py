"""Skeleton of a mechanism: where are joints, points and beams in a pose, as lines that can be drawn?"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np

from robodyn.computation.assembly import System
from robodyn.computation.assembly.tree import Mechanics, build_node
from robodyn.computation.dynamics import link_poses
from robodyn.description.model import FlexibleBody
from robodyn.description.model.numbers import XYZ

Edge = tuple[int, int]


@dataclass(frozen=True, eq=False)
class Skeleton:
    """A mechanism as points and the lines between them.

    Attributes:
        names: of the points: the ground's origin, joints, named points, nodes of flexible bodies.
        edges: pairs of points that a line joins, (n_edges, 2).
        coordinates: names of the joints and modes whose positions place the points.
    """

    names: tuple[str, ...]
    edges: np.ndarray
    coordinates: tuple[str, ...]
    _positions: ca.Function

    def place(self, x: np.ndarray, p: np.ndarray) -> np.ndarray:
        """World positions of the points [m], (n_points, 3), at states x with parameters p."""
        return np.array(self._positions(x, p)).T


def build_skeleton(system: System) -> Skeleton | None:
    """The skeleton of a system's mechanism; None where it has none.

    Joints stand at the origins of their links' frames; each is joined to the joint before it, a named point to the
    joint that carries its body. A flexible body is drawn along the beams between its nodes.
    """
    mechanism, mechanics = system.scenario.machine.mechanism, system.motion.mechanics
    if mechanism is None or mechanics is None:
        return None
    x, p = system.symbols.x, system.symbols.p
    links = mechanics.tree.links
    joints = [ca.SX(pose.p) for pose in link_poses(mechanics.tree, ca.vertsplit(x[: system.n_q]))]
    signals = dict(zip(system.signal_names, ca.vertsplit(system.expressions.outputs), strict=True))
    points = [ca.vertcat(*(signals[f"{point.name}.position.{axis}"] for axis in XYZ)) for point in mechanism.points]
    names = ["ground", *(link.joint for link in links), *(point.name for point in mechanism.points)]
    nodes = _place_nodes(mechanism.flexible_bodies, mechanics, ca.vertsplit(x[: system.n_q]))
    # The ground is -1 among the links and 0 among the points; what is no link yet comes last.
    numbers = {node: link + 1 for node, link in mechanics.nodes.items()}
    numbers |= {node: len(names) + k for k, node in enumerate(nodes)}
    carriers = [mechanics.locate(point, mechanism, np.array(point.origin)).link for point in mechanism.points]
    edges = [(link.parent + 1, k + 1) for k, link in enumerate(links) if link.node is None]
    edges += [(carrier + 1, len(links) + 1 + k) for k, carrier in enumerate(carriers)]
    edges += [edge for body in mechanism.flexible_bodies for edge in _follow_beams(body, mechanics, numbers)]
    positions = ca.densify(ca.horzcat(ca.SX.zeros(3), *joints, *points, *nodes.values()))
    return Skeleton(
        (*names, *(f"{body}.{node}" for body, node in nodes)),
        np.array(edges, int).reshape(-1, 2),
        tuple(freedom.name for freedom in mechanism.freedoms),
        ca.Function("positions", [x, p], [positions]),
    )


def _place_nodes(
    bodies: tuple[FlexibleBody, ...], mechanics: Mechanics, q: list[ca.SX]
) -> dict[tuple[str, str], ca.SX]:
    """(body, node) -> place in the world, of nodes that carry nothing and so are no links."""
    poses, modes = link_poses(mechanics.tree, q), mechanics.tree.deformations(q)
    found: dict[tuple[str, str], ca.SX] = {}
    for body in bodies:
        link = mechanics.placements[body.name].link
        for node in body.nodes:
            if (body.name, node.name) not in mechanics.nodes:
                found[body.name, node.name] = ca.SX((poses[link] @ build_node(node).pose(modes[link])).p)
    return found


def _follow_beams(body: FlexibleBody, mechanics: Mechanics, numbers: dict[tuple[str, str], int]) -> list[Edge]:
    """Lines along the beams of a body, and from its joint to where it is clamped; without beams to each node."""
    joint = mechanics.placements[body.name].link + 1
    clamped = [node for node in body.nodes if not body.edges or not (np.any(node.shift) or np.any(node.turn))]
    beams = [(numbers[body.name, start], numbers[body.name, end]) for start, end in body.edges]
    return [(joint, numbers[body.name, node.name]) for node in clamped] + beams
