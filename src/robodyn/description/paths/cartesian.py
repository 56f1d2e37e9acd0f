"""Cartesian path: where does the tool go? By arc length: pieces one after the other, and the tool's orientation."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from robodyn.base.errors import Flaw, FlawList, ModelError
from robodyn.base.records import dataclass
from robodyn.description.paths.orientation import Orientation
from robodyn.description.paths.pieces import Piece

TANGENT_ERROR = 1e-6
"""Largest kink [rad] between two pieces that counts as smooth."""


class PathMotion(NamedTuple):
    """Where the tool is after some ways s, and how that changes with s; n ways, world axes.

    Attributes:
        R: (n, 3, 3); p: [m], (n, 3).
        twist: by arc length, angular rows first: omega [rad/m], p', (n, 6); twist_rate: its derivative by s, (n, 6).
    """

    R: np.ndarray
    p: np.ndarray
    twist: np.ndarray
    twist_rate: np.ndarray


@dataclass(frozen=True)
class CartesianPath:
    """Pieces, each beginning where the one before ends and in its direction; how the tool is turned, if that counts.

    Attributes:
        stops: whether the tool rests where two pieces meet; only then may the path have corners there.
    """

    pieces: tuple[Piece, ...]
    orientation: Orientation | None
    stops: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "pieces", tuple(self.pieces))
        flaws = FlawList()
        if not self.pieces:
            flaws.add("pieces", "there are none", "a path has at least one piece")
        for k, piece in enumerate(self.pieces):
            if not piece.length > 1e-9:
                flaws.add(f"pieces[{k}]", f"has the length {piece.length:g} m", "it must lead somewhere")
        if not flaws.found:
            self._check_joints(flaws)
        flaws.raise_if_any("path")

    def _check_joints(self, flaws: FlawList) -> None:
        for k, (one, other) in enumerate(zip(self.pieces[:-1], self.pieces[1:], strict=True), start=1):
            (end, leaving, _), (start, entering, _) = one.at([one.length]), other.at([0.0])
            gap = float(np.linalg.norm(start - end))
            kink = float(np.linalg.norm(np.cross(leaving, entering)))
            if gap > 1e-9:
                flaws.add(f"pieces[{k}]", f"begins {1e3 * gap:.3g} mm from where the one before ends")
            elif not self.stops and (kink > TANGENT_ERROR or float(np.sum(leaving * entering)) < 0):
                turn = np.degrees(np.arctan2(kink, np.sum(leaving * entering)))
                remedy = "blend the corner, or stop there and begin a new path"
                flaws.add(f"pieces[{k}]", f"the path turns by {turn:.3g} deg at a point", remedy)

    @cached_property
    def ends(self) -> np.ndarray:
        """Ways at which pieces begin and end [m], (n_pieces + 1,)."""
        return np.concatenate([[0.0], np.cumsum([piece.length for piece in self.pieces])])

    @property
    def length(self) -> float:
        """The whole way [m]."""
        return float(self.ends[-1])

    @property
    def rests(self) -> tuple[float, ...]:
        """Ways between its ends at which the tool rests [m]."""
        return tuple(float(way) for way in self.ends[1:-1]) if self.stops else ()

    def at(self, s: Any, piece: int | None = None) -> PathMotion:
        """Pose and its derivatives after some ways s [m], (n,).

        Args:
            piece: index of the piece to take; by default the one that s lies in, at an end of two the later one.
        """
        s = np.atleast_1d(np.asarray(s, float))
        last = len(self.pieces) - 1
        chosen = np.clip(np.searchsorted(self.ends, s, side="right") - 1, 0, last) if piece is None else piece
        p, tangent, bend = (np.empty((s.size, 3)) for _ in range(3))
        for k in np.unique(chosen):
            rows = np.flatnonzero(np.broadcast_to(chosen, s.shape) == k)
            p[rows], tangent[rows], bend[rows] = self.pieces[k].at(s[rows] - self.ends[k])
        free = np.broadcast_to(np.eye(3), (s.size, 3, 3)), np.zeros(3)
        R, turn = free if self.orientation is None else self.orientation.at(s / self.length)
        omega = np.broadcast_to(turn / self.length, (s.size, 3))
        rate = np.concatenate([np.zeros((s.size, 3)), bend], axis=1)
        return PathMotion(R, p, np.concatenate([omega, tangent], axis=1), rate)


def join_pieces(
    pieces: Sequence[Piece], orientation: Any = None, end_orientation: Any = None, stops: bool = False
) -> CartesianPath:
    """A path of given pieces with a constant orientation, or one that turns into another (3 x 3, R_world_tool).

    Without an orientation the tool may turn as it likes.
    """
    if orientation is None and end_orientation is not None:
        what = "is given without orientation"
        raise ModelError([Flaw("end_orientation", what, "say how the tool is turned at the start")], "path")
    turned = None if orientation is None else Orientation(orientation, end_orientation)
    return CartesianPath(tuple(pieces), turned, stops)
