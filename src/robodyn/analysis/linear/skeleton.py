"""Where are the joints and points of a mechanism in a pose, as lines that can be drawn?"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np

from robodyn.assembly import System
from robodyn.assembly.tree import Mechanics
from robodyn.dynamics import link_poses
from robodyn.model import FlexibleBody
from robodyn.model.numbers import XYZ


@dataclass(frozen=True, eq=False)
class Skeleton:
    """A mechanism as points and the lines between them.

    Attributes:
        names: of the points: the ground's origin, moving joints, named points.
        edges: pairs of points that a line joins, (n_edges, 2).
    """

    names: tuple[str, ...]
    edges: np.ndarray
    _positions: ca.Function

    def place(self, x: np.ndarray, p: np.ndarray) -> np.ndarray:
        """World positions of the points [m], (n_points, 3), at states x with parameters p."""
        return np.array(self._positions(x, p)).T


def build_skeleton(system: System) -> Skeleton | None:
    """The skeleton of a system's mechanism; None where it has none.

    Joints stand at the origins of their links' frames; each is joined to the joint before it, a named point to the
    joint that carries its body. Of a flexible body the nodes in use are joined along its beams.
    """
    mechanism, mechanics = system.scenario.machine.mechanism, system.mechanics
    if mechanism is None or mechanics is None:
        return None
    x, p = system.symbols["x"], system.symbols["p"]
    links = mechanics.tree.links
    joints = [ca.SX(pose.p) for pose in link_poses(mechanics.tree, ca.vertsplit(x[: system.n_q]))]
    signals = dict(zip(system.signal_names, ca.vertsplit(system.expressions["outputs"]), strict=True))
    points = [ca.vertcat(*(signals[f"{point.name}.position.{axis}"] for axis in XYZ)) for point in mechanism.points]
    carriers = [mechanics.locate(point, mechanism, np.array(point.origin)).link for point in mechanism.points]
    along = {k: before for body in mechanism.flexible_bodies for k, before in _follow_beams(body, mechanics).items()}
    # The ground is -1 among the links and 0 among the points.
    before = [along.get(k, link.parent) + 1 for k, link in enumerate(links)] + [carrier + 1 for carrier in carriers]
    edges = [(start, k + 1) for k, start in enumerate(before)]
    names = ("ground", *(link.joint for link in links), *(point.name for point in mechanism.points))
    positions = ca.densify(ca.horzcat(ca.SX.zeros(3), *joints, *points))
    return Skeleton(names, np.array(edges, int).reshape(-1, 2), ca.Function("positions", [x, p], [positions]))


def _follow_beams(body: FlexibleBody, mechanics: Mechanics) -> dict[int, int]:
    """Link of each node in use -> that of the next one in use towards the root, where beams lead there."""
    used = {node: link for (name, node), link in mechanics.nodes.items() if name == body.name}
    found: dict[int, int] = {}
    roots = [node.name for node in body.nodes if not np.any(node.shift) and not np.any(node.turn)]
    reached = dict.fromkeys(roots, mechanics.placements[body.name].link)
    while True:
        edges = [pair for edge in body.edges for pair in (edge, edge[::-1])]
        step = next(((start, end) for start, end in edges if start in reached and end not in reached), None)
        if step is None:
            return found
        start, end = step
        before = reached[start]
        if end in used:
            found[used[end]] = before
        reached[end] = used.get(end, before)
