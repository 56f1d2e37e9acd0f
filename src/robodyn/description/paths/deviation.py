"""Path deviation: how far is the tool from the path it should follow? By its place, or as joints' encoders see it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from robodyn.base import frozen
from robodyn.base import symbolic as sym
from robodyn.description.laws import LawInfo
from robodyn.description.model import Block, Mechanism, as_floats

from .arm import SerialArm, build_arm
from .cartesian import CartesianPath, Line
from .planning import pose_at
from .reference import JointTable, Rows, look_up, make_table

PIECES = 64
"""Intervals of the table in a curved piece of the path: an arc of a whole turn is met to 1e-10 of its radius."""
STEPS = 3
"""Newton steps to the place of the path that is nearest to the tool, from where it should be."""
LEVEL = 1e-9
DEVIATION, SEEN, NOMINAL = "deviation", "deviation_seen", "nominal_tool"
"""Blocks that measure how far the tool is from its path, and encoders see it; `budget` splits the first."""


@frozen
class PathDeviation:
    """Law: deviation of a point from its place on a path, and from the path itself.

        e = p - path(s),   along = e.u,   horizontal = e.h,   vertical = e.(u x h),   distance = min |p - path|

    u: the path's direction at s, h: level and to its left (the world's y where the path is vertical).

    Attributes:
        knots, place, tangent, bend: of the path by arc length.
    """

    knots: tuple[float, ...] = field(repr=False)
    place: Rows = field(repr=False)
    tangent: Rows = field(repr=False)
    bend: Rows = field(repr=False)

    __name__ = "path_deviation"

    def __call__(self, x: Any, y: Any, z: Any, s: Any) -> Any:
        p = (x, y, z)
        there, u, _ = zip(*look_up(s, self._table), strict=True)
        e = [a - b for a, b in zip(p, there, strict=True)]
        level = sym.sqrt(u[0] * u[0] + u[1] * u[1])
        slanted = level > LEVEL
        size = sym.where(slanted, level, 1.0)
        h = (sym.where(slanted, -u[1] / size, 0.0), sym.where(slanted, u[0] / size, 1.0), 0.0)
        outputs = {"along": _dot(e, u), "horizontal": _dot(e, h), "vertical": _dot(e, _cross(u, h))}
        return outputs | {"distance": self._distance(p, s)}

    def _distance(self, p: Any, s: Any) -> Any:
        """From the nearest place of the path: e.u = 0 there, (e.u)' = e.u' - 1."""
        length = self.knots[-1]
        # On one straight line the first step is exact.
        for _ in range(STEPS if len(self.knots) > 2 else 1):
            there, u, bend = zip(*look_up(s, self._table), strict=True)
            e = [a - b for a, b in zip(p, there, strict=True)]
            s = sym.clip(s + _dot(e, u) / sym.maximum(1.0 - _dot(e, bend), 0.5), 0.0, length)
        there, _, _ = zip(*look_up(s, self._table), strict=True)
        e = [a - b for a, b in zip(p, there, strict=True)]
        return sym.sqrt(_dot(e, e))

    @cached_property
    def _table(self) -> JointTable:
        return make_table(self.knots, self.place, self.tangent, self.bend)

    @cached_property
    def law_info(self) -> LawInfo:
        names = ("x", "y", "z", "s", "along", "horizontal", "vertical", "distance")
        return LawInfo(units=dict.fromkeys(names, "m"))


@frozen
class NominalTool:
    """Law: where an arm's nominal kinematics put its tool, from positions of its joints.

    X(q) p = exp(S_1 q_1) ... exp(S_n q_n) p
    """

    axes: Rows
    places: Rows
    turns: tuple[float, ...]
    advances: tuple[float, ...]
    tip: tuple[float, ...]

    __name__ = "nominal_tool"

    def __call__(self, positions: Any) -> Any:
        entries = positions if isinstance(positions, (tuple, list)) else (positions,)
        p: tuple[Any, ...] = self.tip
        for k in reversed(range(len(self.axes))):
            p = self._moved(k, entries[k], p)
        return dict(zip("xyz", p, strict=True))

    def _moved(self, k: int, q: Any, p: tuple[Any, ...]) -> tuple[Any, ...]:
        """A point moved by one joint: turned about its axis w through o, then shifted along it."""
        w, o = self.axes[k], self.places[k]
        arm = [a - b for a, b in zip(p, o, strict=True)]
        across = _cross(w, arm)
        cosine, sine = sym.cos(self.turns[k] * q), sym.sin(self.turns[k] * q)
        shift = _dot(arm, w) * (1 - cosine) + self.advances[k] * q
        return tuple(o[i] + cosine * arm[i] + sine * across[i] + shift * w[i] for i in range(3))

    @cached_property
    def law_info(self) -> LawInfo:
        return LawInfo(units={"positions": "{x}", "x": "m", "y": "m", "z": "m"})


def deviation_law(path: CartesianPath) -> PathDeviation:
    """The law of a path."""
    counts = [2 if isinstance(piece, Line) else PIECES + 1 for piece in path.pieces]
    knots = np.concatenate([np.linspace(*ends, n) for ends, n in zip(pairwise(path.ends), counts, strict=True)])
    pieces = np.repeat(np.arange(len(path.pieces)), counts)
    motion = pose_at(path, knots, pieces)
    rows = (motion.p, motion.twist[:, 3:], motion.twist_rate[:, 3:])
    place, tangent, bend = (as_floats(table) for table in rows)
    return PathDeviation(as_floats(knots), place, tangent, bend)


def nominal_tool(arm: SerialArm) -> NominalTool:
    """The law of an arm."""
    return NominalTool(as_floats(arm.w), as_floats(arm.o), as_floats(arm.r), as_floats(arm.t), as_floats(arm.p))


def deviation_blocks(
    mechanism: Mechanism, name: str, tool: str, path: CartesianPath, measured: Sequence[str] = ()
) -> tuple[Block, ...]:
    """Deviations of a tool from a path; and, of measured positions of the arm's joints, of where they see it.

    Args:
        name: of the path's reference block.
    """
    law, way = deviation_law(path), {"s": f"{name}.s"}
    blocks = [Block(DEVIATION, law, inputs={axis: f"{tool}.position.{axis}" for axis in "xyz"} | way)]
    if measured:
        nominal = Block(NOMINAL, nominal_tool(build_arm(mechanism, tool)), inputs={"positions": tuple(measured)})
        blocks += [nominal, Block(SEEN, law, inputs={axis: f"{NOMINAL}.{axis}" for axis in "xyz"} | way)]
    return tuple(blocks)


def _dot(a: Any, b: Any) -> Any:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def _cross(a: Any, b: Any) -> tuple[Any, ...]:
    """a x b; entries may be whole arrays, those of all runs of a sweep."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]
