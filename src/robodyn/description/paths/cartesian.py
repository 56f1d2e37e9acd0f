"""Cartesian path: where does the tool go? By arc length: pieces one after the other, and the tool's orientation."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from robodyn.base import Array, Flaw, FlawList, frozen, refuse
from robodyn.base.spatial import about_axis, clean_rotation, from_matrix
from robodyn.description.model import Bounds
from robodyn.description.model.numbers import LEAST, as_floats, check_finite, check_rotation, check_vector

# --------------------------------------------------------------------------------------------------
# Path segments: of which curves is a path made, and where is the point at arc length s of one of them?
#
# Every piece gives, for an array of ways s [m], the place and its first two derivatives by s:
#
# p(s) [m],   p'(s) (unit tangent),   p''(s) (curvature vector) [1/m],   each (n, 3), world axes


Course = tuple[Array, Array, Array]
Triple = tuple[float, ...]

GAUSS = np.polynomial.legendre.leggauss(48)
"""Nodes and weights of the quadrature along a blend."""
BLEND_SHAPE = (1.0, 0.75, 0.4)
"""Distances of a blend's first three control points from its corner, in radii. This project's own choice: the largest
curvature is 1.1 to 1.5 times that of the arc between the same two ends for turns of 30 to 120 degrees."""


@frozen
class Line:
    """Straight from one place to another [m]."""

    start: Triple
    end: Triple

    @property
    def length(self) -> float:
        """The length of the piece [m]."""
        return float(np.linalg.norm(np.subtract(self.end, self.start)))

    def at(self, s: Any) -> Course:
        """Positions, tangents and curvature vectors at path lengths s [m]."""
        way = np.asarray(s, float)[:, None]
        tangent = np.subtract(self.end, self.start) / self.length
        return self.start + way * tangent, np.broadcast_to(tangent, (len(way), 3)), np.zeros((len(way), 3))


@frozen
class Arc:
    """Part of a circle, from `start` [m] about `center` [m] by an angle [rad], right-handed about the unit `normal`."""

    center: Triple
    normal: Triple
    start: Triple
    angle: float

    @property
    def radius(self) -> float:
        """The radius of the circle [m]."""
        return float(np.linalg.norm(np.subtract(self.start, self.center)))

    @property
    def length(self) -> float:
        """The length of the piece [m]."""
        return self.radius * self.angle

    def at(self, s: Any) -> Course:
        """Positions, tangents and curvature vectors at path lengths s [m]."""
        phi = np.asarray(s, float)[:, None] / self.radius
        outward = np.subtract(self.start, self.center) / self.radius
        forward = np.cross(self.normal, outward)
        radial = np.cos(phi) * outward + np.sin(phi) * forward
        tangent = -np.sin(phi) * outward + np.cos(phi) * forward
        return self.center + self.radius * radial, tangent, -radial / self.radius


@frozen
class Blend:
    """Round corner between two straight lines: leaves the first one `radius` [m] before the corner, meets the second
    one as far behind it, with continuous tangent and curvature.

    Bezier curve of degree 5 in u = 0..1, three of its control points on each line: no curvature at its ends. The way

        s(u) = int |p_u| du

    is integrated by Gauss-Legendre and inverted by Newton's method; p' = p_u / |p_u|,
    p'' = (p_uu - p' (p' . p_uu)) / |p_u|^2.

    Attributes:
        corner: [m]; before, after: unit directions of the two lines.
    """

    corner: Triple
    before: Triple
    after: Triple
    radius: float

    @cached_property
    def _controls(self) -> Array:
        shape = self.radius * np.array(BLEND_SHAPE)[:, None]
        return self.corner + np.concatenate([-shape * self.before, shape[::-1] * self.after])

    @cached_property
    def length(self) -> float:
        """The length of the piece [m]."""
        return 2.0 * float(self._way(np.array([0.5]))[0])

    def _derivatives(self, u: Array) -> Course:
        """p, p_u, p_uu at the curve's parameter."""
        first = 5 * np.diff(self._controls, axis=0)
        second = 4 * np.diff(first, axis=0)
        return _bezier(self._controls, u), _bezier(first, u), _bezier(second, u)

    def _way(self, u: Array) -> Array:
        """s(u) for u up to one half; the other half mirrors it."""
        nodes, weights = GAUSS
        inner = 0.5 * u[:, None] * (nodes + 1.0)
        speed = np.linalg.norm(self._derivatives(inner.ravel())[1], axis=1).reshape(inner.shape)
        return 0.5 * u * (speed @ weights)

    def _parameter(self, s: Array) -> Array:
        """u(s), by Newton's method in the half that s lies in."""
        mirrored = s > 0.5 * self.length
        way = np.where(mirrored, self.length - s, s)
        u = 0.5 * way / (0.5 * self.length)
        for _ in range(12):
            u = u - (self._way(u) - way) / np.linalg.norm(self._derivatives(u)[1], axis=1)
        return np.where(mirrored, 1.0 - u, u)

    def at(self, s: Any) -> Course:
        """Positions, tangents and curvature vectors at path lengths s [m]."""
        p, p_u, p_uu = self._derivatives(self._parameter(np.asarray(s, float)))
        speed = np.linalg.norm(p_u, axis=1)[:, None]
        tangent = p_u / speed
        along = np.sum(tangent * p_uu, axis=1)[:, None]
        return p, tangent, (p_uu - along * tangent) / speed**2


Piece = Line | Arc | Blend


def _bezier(controls: Array, u: Array) -> Array:
    """De Casteljau's scheme: repeated linear interpolation of the control points (k, 3) at u (n,)."""
    u = u[:, None]
    points = [np.broadcast_to(control, (len(u), 3)) for control in controls]
    while len(points) > 1:
        points = [(1 - u) * a + u * b for a, b in zip(points[:-1], points[1:], strict=True)]
    return points[0]


# --------------------------------------------------------------------------------------------------
# Tool orientation along a path: as at its start, or evenly from one orientation to another.


HALF_TURN = np.pi - 1e-3
"""From here on the sense of the shortest rotation is a matter of rounding [rad]."""

Rotation = tuple[tuple[float, ...], ...]


@frozen
class Orientation:
    """R_world_tool along a path: constant, or turned from `start` to `end` about one axis, in proportion to the way.

    R(s) = R_start exp(skew(turn) s / length),   omega = R_start turn / length,   alpha = 0
    """

    start: Rotation
    end: Rotation | None = None

    def __post_init__(self) -> None:
        flaws = FlawList()
        for key in ("start", "end"):
            value = getattr(self, key)
            if value is not None:
                problems = FlawList()
                check_rotation(problems, value)
                flaws.extend(Flaw(key, flaw.what, flaw.remedy) for flaw in problems.found)
        if not flaws.found and np.linalg.norm(self.turn) > HALF_TURN:
            flaws.add("end", "is 180 deg from the start: both directions are equally short", "give less than 180 deg")
        flaws.raise_if_any("orientation")
        for key in ("start", "end"):
            value = getattr(self, key)
            object.__setattr__(self, key, None if value is None else as_floats(from_matrix(value)))

    @cached_property
    def turn(self) -> Array:
        """Rotation vector from start to end [rad], in axes of the start."""
        if self.end is None:
            return np.zeros(3)
        return rotation_vector(np.transpose(self.start) @ np.asarray(self.end))

    def at(self, fraction: Any) -> tuple[Array, Array]:
        """R at fractions of the way, (n, 3, 3), and the whole rotation vector in world axes [rad], (3,)."""
        angle = float(np.linalg.norm(self.turn))
        start = np.asarray(self.start)
        if angle == 0.0:
            return np.broadcast_to(start, (len(fraction), 3, 3)), np.zeros(3)
        rotations = np.array([start @ about_axis(self.turn / angle, angle * part) for part in fraction])
        return rotations, start @ self.turn


def point_tool(direction: Any, spin: float = 0.0, axis: Any = (0.0, 0.0, 1.0)) -> Array:
    """Orientation R_world_tool whose tool axis points along a world direction, 3 x 3.

    The tool's x axis is as near to the world's as it can be, then rotated by `spin` [rad] about the direction:
    `point_tool((0, 0, -1))` is the tool pointing down with its x axis along the world's. (For a direction along x
    itself, the tool's x axis points down, or up for -x.)

    Args:
        axis: of the tool, in axes of its body: z unless given.
    """
    goal, own = _frame_along(direction), _frame_along(axis)
    return clean_rotation(about_axis(goal[:, 2], spin) @ goal @ own.T)


def _frame_along(direction: Any) -> Array:
    """Right-handed axes as columns: the third along a direction, the first as near to x as it can be."""
    third = np.asarray(direction, float) / np.linalg.norm(direction)
    first = np.array([1.0, 0.0, 0.0]) - third[0] * third
    if np.linalg.norm(first) < 1e-6:
        first = np.array([0.0, 0.0, -third[0]])
    first = first / np.linalg.norm(first)
    return np.stack([first, np.cross(third, first), third], axis=1)


def rotation_vector(R: Any) -> Array:
    """Axis times angle [rad] of rotations (..., 3, 3), angle in [0, pi]; at pi either sense of the axis.

        v = (R32 - R23, R13 - R31, R21 - R12) / 2 = k sin(angle),   cos(angle) = (trace R - 1) / 2

    Near half a turn v vanishes; the axis k is then the longest column of (R + R^T) / 2 - cos(angle) 1, which is
    (1 - cos(angle)) k k^T.
    """
    pairs = ((2, 1), (0, 2), (1, 0))
    v = 0.5 * np.stack([R[..., i, j] - R[..., j, i] for i, j in pairs], axis=-1)
    sine = np.linalg.norm(v, axis=-1, keepdims=True)
    cosine = 0.5 * (np.trace(R, axis1=-2, axis2=-1)[..., None] - 1.0)
    angle = np.arctan2(sine, cosine)
    direct = v * np.where(sine > 1e-12, angle / np.where(sine > 1e-12, sine, 1.0), 1.0)
    half_turn = (cosine < 0) & (sine < 1e-3)
    return np.where(half_turn, angle * _axis_of(R, cosine, v), direct) if np.any(half_turn) else direct


def _axis_of(R: Array, cosine: Array, v: Array) -> Array:
    """Unit axis from the symmetric part of a rotation, in the sense of v."""
    outer = 0.5 * (R + np.swapaxes(R, -1, -2)) - cosine[..., None] * np.eye(3)
    lengths = np.linalg.norm(outer, axis=-2)
    column = np.argmax(lengths, axis=-1)[..., None, None]
    axis = np.take_along_axis(outer, np.broadcast_to(column, (*column.shape[:-2], 3, 1)), axis=-1)[..., 0]
    axis = axis / np.maximum(np.linalg.norm(axis, axis=-1, keepdims=True), 1e-300)
    return axis * np.where(np.sum(axis * v, axis=-1, keepdims=True) < 0, -1.0, 1.0)


TANGENT_ERROR = 1e-6
"""Largest kink [rad] between two pieces that counts as smooth."""


class PathMotion(NamedTuple):
    """Where the tool is after some ways s, and how that changes with s; n ways, world axes.

    Attributes:
        R: (n, 3, 3); p: [m], (n, 3).
        twist: by arc length, angular rows first: omega [rad/m], p', (n, 6); twist_rate: its derivative by s, (n, 6).
    """

    R: Array
    p: Array
    twist: Array
    twist_rate: Array


@frozen
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
        flaws.raise_if_any("path")

    @cached_property
    def ends(self) -> Array:
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
        refuse("end_orientation", what, "give the tool's orientation at the start", "path")
    turned = None if orientation is None else Orientation(orientation, end_orientation)
    return CartesianPath(tuple(pieces), turned, stops)


# --------------------------------------------------------------------------------------------------
# Lines, arcs and blended waypoints: how is a path given? By its ends, by three points or about a centre.


SHARPEST = np.radians(175.0)
"""Largest turn at a waypoint [rad]: behind it the blend nearly goes back on itself."""
STRAIGHT = 1e-9
"""Turn below which a waypoint lies on a straight line [rad]."""


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
        refuse("middle", "the three points lie on one line", "they must lie on a circle", "arc")
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
        refuse("normal", "must not be zero", source="arc")
    unit = np.sign(angle) * np.asarray(normal, float) / np.linalg.norm(normal)
    arm = np.subtract(start, center)
    along = float(arm @ unit)
    if not np.linalg.norm(arm - along * unit) > 1e-9:
        refuse("start", "lies on the axis", "give the arc a radius", "arc")
    middle = np.asarray(center, float) + along * unit
    arc = Arc(as_floats(middle), as_floats(unit), as_floats(start), abs(float(angle)))
    return join_pieces([arc], orientation, end_orientation)


def waypoints(points: Any, radius: Any = None, orientation: Any = None, end_orientation: Any = None) -> CartesianPath:
    """Straight lines through waypoints [m, world], with a rest at each, or their corners rounded by blends of
    continuous curvature.

    Args:
        points: at least two, (n, 3); with blends those between the first and the last are passed by.
        radius: distance from an inner waypoint at which its blend begins and ends [m]; one number, or one for each;
            None to rest at each of them.
    """
    # Points are places, each another than the one before.
    flaws = FlawList()
    rows = list(points)
    good = [check_vector(flaws, f"points[{k}]", row, 3) for k, row in enumerate(rows)]
    if len(rows) < 2:
        flaws.add("points", f"must be at least two, are {len(rows)}")
    for k in range(1, len(rows)):
        if good[k] and good[k - 1] and np.linalg.norm(np.subtract(rows[k], rows[k - 1])) < 1e-9:
            flaws.add(f"points[{k}]", "equals the one before", "leave it out")
    flaws.raise_if_any("waypoints")
    corners = np.asarray(rows, float)
    if radius is None:
        lines = [Line(as_floats(start), as_floats(end)) for start, end in pairwise(corners)]
        return join_pieces(lines, orientation, end_orientation, stops=True)
    # A radius for each of the inner waypoints.
    count = len(corners) - 2
    per_corner: Sequence[Any] = [radius] * count if np.ndim(radius) == 0 else list(radius)
    if len(per_corner) != count:
        flaws.add("radius", f"must be one number, or {count} for the inner waypoints, has {len(per_corner)}")
    allowed = Bounds(positive=True, remedy="or rest at the waypoints: give no radius")
    for k, value in enumerate(per_corner):
        allowed.check(flaws, f"radius[{k}]", value, "m")
    flaws.raise_if_any("waypoints")
    radii = np.asarray(per_corner, float)
    # Lines between the corners, and blends where they turn.
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


def _add_line(pieces: list[Piece], start: Array, end: Array) -> None:
    """A line, unless two blends touch."""
    if np.linalg.norm(end - start) > 1e-9:
        pieces.append(Line(as_floats(start), as_floats(end)))


def _angle(a: Array, b: Array) -> float:
    return float(np.arctan2(np.linalg.norm(np.cross(a, b)), a @ b))


def _check_places(flaws: FlawList, places: dict[str, Any]) -> None:
    for key, value in places.items():
        check_vector(flaws, key, value, 3)


def _check_corners(turns: list[float], radii: Array, lengths: Array) -> None:
    """Blends have room on their lines, and none goes back on itself."""
    flaws = FlawList()
    for k, turn in enumerate(turns):
        if turn > SHARPEST:
            what = f"the path turns by {np.degrees(turn):.4g} deg, at most 175 deg can be blended"
            flaws.add(f"points[{k + 1}]", what, "rest at the waypoints: give no radius")
    for k, length in enumerate(lengths):
        needed = radii[k] + radii[k + 1]
        if needed > length * (1 + 1e-12):
            what = f"need {1e3 * needed:.4g} mm of the line of {1e3 * length:.4g} mm from point {k} to point {k + 1}"
            flaws.add("radius", f"the blends {what}", "make them smaller")
    flaws.raise_if_any("waypoints")
