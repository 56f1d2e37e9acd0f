"""Lines, arcs and blended way-points: how is a path given? By its ends, by three points or about a centre."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from robodyn.base.errors import FlawList
from robodyn.description.model.kinds import Bounds
from robodyn.description.model.numbers import LEAST, as_floats, check_finite, check_vector
from robodyn.description.paths.cartesian import CartesianPath, join_pieces
from robodyn.description.paths.pieces import Arc, Blend, Line, Piece

SHARPEST = np.radians(175.0)
"""Largest turn at a way-point [rad]: behind it the blend nearly goes back on itself."""
STRAIGHT = 1e-9
"""Turn below which a way-point lies on a straight line [rad]."""


def straight_line(start: Any, end: Any, orientation: Any = None, end_orientation: Any = None) -> CartesianPath:
    """Straight from one place to another [m, world].

    Args:
        orientation: R_world_tool, 3 x 3 (`point_tool` makes one), None where only the place counts.
        end_orientation: what it turns into on the way.
    """
    flaws = FlawList()
    _check_places(flaws, {"start": start, "end": end})
    flaws.raise_if_any("line")
    return join_pieces([Line(as_floats(start), as_floats(end))], orientation, end_orientation)


def arc_through(
    start: Any, middle: Any, end: Any, orientation: Any = None, end_orientation: Any = None
) -> CartesianPath:
    """Arc from start over middle to end [m, world]."""
    flaws = FlawList()
    _check_places(flaws, {"start": start, "middle": middle, "end": end})
    flaws.raise_if_any("arc")
    a, b = np.subtract(middle, start), np.subtract(end, start)
    normal = np.cross(a, b)
    size = np.linalg.norm(normal)
    if not size > 1e-9 * np.linalg.norm(a) * np.linalg.norm(b):
        flaws.add("middle", "the three points lie on one line", "they must lie on a circle")
        flaws.raise_if_any("arc")
    # Center of the circle through 0, a, b: ((a.a) b - (b.b) a) x (a x b) / (2 |a x b|^2)
    offset = np.cross((a @ a) * b - (b @ b) * a, normal) / (2 * size**2)
    outward, reached = -offset, b - offset
    forward = np.cross(normal / size, outward)
    angle = np.arctan2(reached @ forward, reached @ outward) % (2 * np.pi)
    arc = Arc(as_floats(start + offset), as_floats(normal / size), as_floats(start), float(angle))
    return join_pieces([arc], orientation, end_orientation)


def arc_about(
    center: Any, normal: Any, start: Any, angle: float, orientation: Any = None, end_orientation: Any = None
) -> CartesianPath:
    """Arc from start about an axis through center [m, world] by an angle [rad], right-handed about the normal."""
    flaws = FlawList()
    _check_places(flaws, {"center": center, "normal": normal, "start": start})
    if check_finite(flaws, "angle", angle) and angle == 0:
        flaws.add("angle", "must not be 0")
    flaws.raise_if_any("arc")
    if not np.linalg.norm(normal) >= LEAST:
        flaws.add("normal", "must not be zero")
        flaws.raise_if_any("arc")
    unit = np.sign(angle) * np.asarray(normal, float) / np.linalg.norm(normal)
    arm = np.subtract(start, center)
    along = float(arm @ unit)
    if not np.linalg.norm(arm - along * unit) > 1e-9:
        flaws.add("start", "lies on the axis", "give the arc a radius")
        flaws.raise_if_any("arc")
    middle = np.asarray(center, float) + along * unit
    arc = Arc(as_floats(middle), as_floats(unit), as_floats(start), abs(float(angle)))
    return join_pieces([arc], orientation, end_orientation)


def way_points(points: Any, radius: Any = None, orientation: Any = None, end_orientation: Any = None) -> CartesianPath:
    """Straight lines through way-points [m, world], with a rest at each, or their corners rounded by blends of
    continuous curvature.

    Args:
        points: at least two, (n, 3); with blends those between the first and the last are passed by.
        radius: distance from an inner way-point at which its blend begins and ends [m]; one number, or one for each;
            None to rest at each of them.
    """
    corners = _checked_points(points)
    if radius is None:
        lines = [Line(as_floats(start), as_floats(end)) for start, end in pairwise(corners)]
        return join_pieces(lines, orientation, end_orientation, stops=True)
    radii = _checked_radii(radius, len(corners) - 2)
    legs = np.diff(corners, axis=0)
    lengths = np.linalg.norm(legs, axis=1)
    directions = legs / lengths[:, None]
    turns = [_angle(a, b) for a, b in zip(directions[:-1], directions[1:], strict=True)]
    _check_corners(turns, np.concatenate([[0.0], np.where(np.array(turns) > STRAIGHT, radii, 0.0), [0.0]]), lengths)
    pieces: list[Piece] = []
    at = corners[0]
    for k, turn in enumerate(turns):
        if turn <= STRAIGHT:
            continue
        before, after, corner = directions[k], directions[k + 1], corners[k + 1]
        _add_line(pieces, at, corner - radii[k] * before)
        pieces.append(Blend(as_floats(corner), as_floats(before), as_floats(after), float(radii[k])))
        at = corner + radii[k] * after
    _add_line(pieces, at, corners[-1])
    return join_pieces(pieces, orientation, end_orientation)


def _add_line(pieces: list[Piece], start: np.ndarray, end: np.ndarray) -> None:
    """A line, unless two blends touch."""
    if np.linalg.norm(end - start) > 1e-9:
        pieces.append(Line(as_floats(start), as_floats(end)))


def _angle(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.arctan2(np.linalg.norm(np.cross(a, b)), a @ b))


def _check_places(flaws: FlawList, places: dict[str, Any]) -> None:
    for key, value in places.items():
        check_vector(flaws, key, value, 3)


def _checked_points(points: Any) -> np.ndarray:
    flaws = FlawList()
    rows = list(points)
    good = [check_vector(flaws, f"points[{k}]", row, 3) for k, row in enumerate(rows)]
    if len(rows) < 2:
        flaws.add("points", f"must be at least two, are {len(rows)}")
    for k in range(1, len(rows)):
        if good[k] and good[k - 1] and np.linalg.norm(np.subtract(rows[k], rows[k - 1])) < 1e-9:
            flaws.add(f"points[{k}]", "is the same as the one before", "leave it out")
    flaws.raise_if_any("way-points")
    return np.asarray(rows, float)


def _checked_radii(radius: Any, count: int) -> np.ndarray:
    flaws = FlawList()
    given: Sequence[Any] = [radius] * count if np.ndim(radius) == 0 else list(radius)
    if len(given) != count:
        flaws.add("radius", f"must be one number, or {count} for the inner way-points, has {len(given)}")
    allowed = Bounds(positive=True, remedy="or rest at the way-points: give no radius")
    for k, value in enumerate(given):
        allowed.check(flaws, f"radius[{k}]", value, "m")
    flaws.raise_if_any("way-points")
    return np.asarray(given, float)


def _check_corners(turns: list[float], radii: np.ndarray, lengths: np.ndarray) -> None:
    """Blends have room on their lines, and none goes back on itself."""
    flaws = FlawList()
    for k, turn in enumerate(turns):
        if turn > SHARPEST:
            what = f"the path turns by {np.degrees(turn):.4g} deg, at most 175 deg can be blended"
            flaws.add(f"points[{k + 1}]", what, "rest at the way-points: give no radius")
    for k, length in enumerate(lengths):
        needed = radii[k] + radii[k + 1]
        if needed > length * (1 + 1e-12):
            what = f"need {1e3 * needed:.4g} mm of the line of {1e3 * length:.4g} mm from point {k} to point {k + 1}"
            flaws.add("radius", f"the blends {what}", "make them smaller")
    flaws.raise_if_any("way-points")
