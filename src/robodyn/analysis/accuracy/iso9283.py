"""ISO 9283: pose and path accuracy of a robot from repeated cycles."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from robodyn.base import Array, frozen, nearest, refuse
from robodyn.computation.assembly import System
from robodyn.computation.results.table import Curves
from robodyn.description.model import Scenario
from robodyn.description.paths import PathReference, SerialArm, build_arm
from robodyn.description.paths.deviation import PathDeviation
from robodyn.description.paths.reference import TimedReference, make_table

# --------------------------------------------------------------------------------------------------
# Geometry of a commanded path: which block says how far a tool is from it, where are its places and corners?
#
# The commanded orientation is where nominal kinematics put the tool with the joints at their references.


PARTS = ("along", "horizontal", "vertical")
STRAIGHT = 1e-9
LEAST_TURN = np.radians(1.0)


@frozen
class Corner:
    """Where two straight parts of a path would meet: place (3,), directions before and behind, how far they reach."""

    place: Array
    before: Array
    after: Array
    reach: float


@frozen
class FollowedPath:
    """Signals of a tool that follows a path, and the path's corners.

    Attributes:
        deviation: along, horizontal, vertical; way: commanded way along the path; tool: x, y, z.
        path: the law that knows the path's places, where there is one; turned: how the tool should be turned.
    """

    deviation: tuple[str, str, str]
    way: str
    tool: tuple[str, str, str]
    corners: tuple[Corner, ...] = ()
    path: PathDeviation | None = None
    turned: ToolOrientation | None = None

    @property
    def signals(self) -> tuple[str, ...]:
        return (*self.deviation, self.way, *self.tool, *(self.turned.signals if self.turned else ()))

    def place(self, way: float) -> Array | None:
        """Commanded place (3,) after a way [m], where it is known."""
        if self.path is None:
            return None
        table = make_table(self.path.knots, self.path.place, self.path.tangent, self.path.bend)
        return np.asarray(table.at(way)[0][0])


def find_followed(system: System, name: str) -> FollowedPath:
    """Find the block that measures deviations from a path, what it reads and says; none is a ModelError."""
    blocks = {block.name: block for block in system.scenario.machine.blocks}
    block = blocks.get(name)
    have = [one for one in blocks if all(f"{one}.{part}" in system.signal_names for part in PARTS)]
    if block is None or name not in have:
        what = f"there is no path that a tool follows: no block '{name}' with outputs {', '.join(PARTS)}"
        remedy = nearest(name, have) if have else (
            "rd.move(scenario, along=..., tool=...) makes it; or add law = \"line_deviation\" with the tool's position"
        )  # fmt: skip
        refuse("path", what, remedy, f"sheet of '{system.scenario.name}'")
    inputs = {key: str(value) for key, value in block.inputs.items()}
    way = inputs.get("s") or inputs.get("way") or ""
    tool = tuple(inputs.get(key, "") for key in "xyz")
    missing = [signal for signal in (way, *tool) if signal not in system.signal_names]
    if missing:
        what = f"reads no signals of the tool's place and its way: {', '.join(missing)}"
        refuse(f"blocks.{name}", what, source=f"sheet of '{system.scenario.name}'")
    deviation = (f"{name}.along", f"{name}.horizontal", f"{name}.vertical")
    law = block.law if isinstance(block.law, PathDeviation) else None
    corners = find_corners(law) if law else ()
    turned = find_turned(system.scenario, tool[0].removesuffix(".position.x"), way)
    return FollowedPath(deviation, way, (tool[0], tool[1], tool[2]), corners, law, turned)


def find_corners(law: PathDeviation) -> tuple[Corner, ...]:
    """Corners between straight parts that follow each other, with what rounds them between: others are rests."""
    knots, place, tangent, bend = (np.array(rows) for rows in (law.knots, law.place, law.tangent, law.bend))
    straight = np.linalg.norm(bend, axis=1) < STRAIGHT
    # First and last row of every straight part.
    found: list[tuple[int, int]] = []
    for k in np.flatnonzero(straight):
        joined = found and found[-1][1] == k - 1 and np.allclose(tangent[k], tangent[k - 1], atol=1e-9)
        found = [*found[:-1], (found[-1][0], int(k))] if joined else [*found, (int(k), int(k))]
    pieces = [(a, b) for a, b in found if knots[b] > knots[a]]
    corners = []
    for (a, b), (c, d) in zip(pieces[:-1], pieces[1:], strict=True):
        u, w = tangent[b], tangent[c]
        if np.arccos(np.clip(u @ w, -1, 1)) < LEAST_TURN or knots[b] == knots[c]:
            continue
        # The point of both lines nearest to each other: [u, -w] [s, t] = q - p.
        s, t = np.linalg.lstsq(np.column_stack([u, -w]), place[c] - place[b], rcond=None)[0]
        corner = (place[b] + s * u + place[c] + t * w) / 2
        reach = min(np.linalg.norm(corner - place[a]), np.linalg.norm(place[d] - corner))
        corners.append(Corner(corner, u, w, float(reach)))
    return tuple(corners)


@frozen
class ToolOrientation:
    """Signals of an attained orientation (quaternion w, x, y, z), and references of the joints of the tool's arm."""

    attained: tuple[str, ...]
    references: tuple[str, ...]
    arm: SerialArm

    @property
    def signals(self) -> tuple[str, ...]:
        return (*self.attained, *self.references)


def find_turned(scenario: Scenario, point: str, way: str) -> ToolOrientation | None:
    """Find the signals that say how a tool is turned; None where its joints follow no path of theirs.

    Args:
        way: output of the block that gives the joints' references.
    """
    mechanism = scenario.machine.any_mechanism
    bodies = {one.name: one.body for one in mechanism.points}
    block = next((one for one in scenario.machine.blocks if way == f"{one.name}.s"), None)
    law = block.law if block else None
    if point not in bodies or not isinstance(law, (PathReference, TimedReference)):
        return None
    assert block is not None
    joints = law.joints
    arm = build_arm(mechanism, point)
    if set(arm.joints) != set(joints):
        return None
    attained = tuple(f"{bodies[point]}.orientation.{part}" for part in "wxyz")
    return ToolOrientation(
        attained, tuple(f"{block.name}.position{1 + joints.index(name)}" for name in arm.joints), arm
    )


def measure_turns(curves: Curves, turned: ToolOrientation) -> Array:
    """Rotation vectors [rad], world axes, from the commanded orientation to the attained one, (n, m, 3)."""
    w, *xyz = (curves.values[name] for name in turned.attained)
    attained = Rotation.from_quat(np.stack([*xyz, w], axis=-1).reshape(-1, 4))
    q = np.stack([curves.values[name] for name in turned.references], axis=-1)
    commanded = Rotation.from_matrix(turned.arm.place(q.reshape(-1, q.shape[-1])).R)
    return np.asarray((attained * commanded.inv()).as_rotvec()).reshape(*w.shape, 3)


# --------------------------------------------------------------------------------------------------
# ISO 9283 figures: accuracy and repeatability of poses and paths, speeds, corners and settling, from attained motions.
#
# Symbols as in the standard: j counts cycles, i places along a path, c is commanded, G the barycentre of a cloud.
#
#     AP = |mean_j p_j - p_c|                       RP = mean_j l_j + 3 S_l,   l_j = |p_j - G|
#     AP_a = mean_j a_j - a_c                       RP_a = 3 S_a                           likewise b, c
#     vAP = max |G_h - G_k|                         AD = mean_j D_j - D_c,   RD = 3 S_D,   D_j = |p_1j - p_2j|
#     AT = max_i |mean_j d_ij|                      RT = max_i (mean_j l_ij + 3 S_li),   l_ij = |d_ij - G_i|
#     AT_a = max_i |mean_j a_ij - a_ci|             RT_a = max_i 3 S_ai
#     AV = (mean v - v_c) / v_c    RV = 3 S_v / v_c    FV = max_j (max_i v_ij - min_i v_ij)
#
# S are standard deviations with n - 1; h and k are directions from which a pose is approached. a, b, c are rotations
# about the world's x, y, z: parts of the rotation vector from the commanded orientation to the attained one, which for
# small deviations is what differences of angles are, at any orientation.


POSE_CYCLES, PATH_CYCLES, CORNER_CYCLES = 30, 10, 3
"""Cycles of the standard: poses; paths and speeds; corners, settling and overshoot."""


@frozen
class PoseFigures:
    """AP and RP [m]; offset: the barycentre from the commanded pose (3,); distances: l_j (n,)."""

    accuracy: float
    repeatability: float
    offset: Array
    distances: Array


def measure_pose(attained: Array, commanded: Array) -> PoseFigures:
    """The accuracy and repeatability of attained positions (n, 3), n at least 2, in one commanded position (3,)."""
    middle = attained.mean(axis=0)
    distances = np.linalg.norm(attained - middle, axis=1)
    offset = middle - commanded
    # l + 3 S of distances (n,).
    repeatability = float(distances.mean() + 3 * distances.std(ddof=1))
    return PoseFigures(float(np.linalg.norm(offset)), repeatability, offset, distances)


def measure_turn(turns: Array) -> tuple[Array, Array]:
    """Accuracy and repeatability about x, y, z [rad] of rotations from the commanded orientation at a pose, (n, 3)."""
    return turns.mean(axis=0), 3 * turns.std(axis=0, ddof=1)


def measure_path_turn(turns: Array) -> tuple[Array, Array]:
    """The path accuracy of rotations along a path, (n cycles, m places, 3)."""
    return np.abs(turns.mean(axis=0)).max(axis=0), 3 * turns.std(axis=0, ddof=1).max(axis=0)


def measure_variation(middles: Array) -> float:
    """vAP [m] of barycentres of one pose, each approached in another direction, (k, 3)."""
    return float(np.linalg.norm(middles[:, None] - middles[None], axis=2).max())


def measure_distance(first: Array, second: Array, commanded: float) -> tuple[float, float]:
    """AD and RD [m] of positions attained in the same cycles at two poses, (n, 3) each, a commanded distance apart."""
    apart = np.linalg.norm(first - second, axis=1)
    return float(apart.mean() - commanded), float(3 * apart.std(ddof=1))


@frozen
class PathFigures:
    """AT and RT [m]; the places at which they are found; at each place the barycentre (m, 2) and l + 3 S (m,)."""

    accuracy: float
    repeatability: float
    worst: int
    widest: int
    offsets: Array
    spreads: Array


def measure_path(deviations: Array) -> PathFigures:
    """The path accuracy by deviations in the planes perpendicular to the path, (n cycles, m places, 2)."""
    middle = deviations.mean(axis=0)
    distances = np.linalg.norm(deviations - middle, axis=2)
    spreads = distances.mean(axis=0) + 3 * distances.std(axis=0, ddof=1)
    sizes = np.linalg.norm(middle, axis=1)
    worst, widest = int(np.argmax(sizes)), int(np.argmax(spreads))
    return PathFigures(float(sizes[worst]), float(spreads[widest]), worst, widest, middle, spreads)


@frozen
class VelocityFigures:
    """AV and RV [1, shares of the commanded speed], FV [m/s]."""

    accuracy: float
    repeatability: float
    fluctuation: float


def measure_velocity(speeds: Array, commanded: float) -> VelocityFigures:
    """The velocity accuracy by speeds along the path where it is commanded to be constant, (n cycles, m places)."""
    means = speeds.mean(axis=1)
    accuracy = (means.mean() - commanded) / commanded
    fluctuation = np.ptp(speeds, axis=1).max()
    return VelocityFigures(float(accuracy), float(3 * means.std(ddof=1) / commanded), float(fluctuation))


@frozen
class CornerFigures:
    """CR and CO [m]: of all cycles the largest distance of the motion from the corner, and beyond the line after it."""

    rounding: float
    overshoot: float


def measure_corner(tracks: Array, corner: Array, before: Array, after: Array) -> CornerFigures:
    """The corner figures of tracks near a corner, (n, m, 3), and the directions of the path before and behind it.

    Overshoot is the largest distance from the line behind the corner on its outer side, where the path before points.
    """
    apart = tracks - corner
    rounding = max(_nearest(track) for track in apart)
    outward = before - (before @ after) * after
    size = np.linalg.norm(outward)
    beyond = apart @ (outward / size) if size > 0 else np.zeros(apart.shape[:2])
    passed = apart @ after > 0
    return CornerFigures(float(rounding), float(np.max(np.where(passed, beyond, 0.0), initial=0.0)))


def _nearest(track: Array) -> float:
    """Distance of the origin from the straight lines between the rows (m, 3) of a track."""
    begin, along = track[:-1], np.diff(track, axis=0)
    lengths = np.maximum((along**2).sum(axis=1), 1e-300)
    share = np.clip(-(begin * along).sum(axis=1) / lengths, 0, 1)
    return float(np.linalg.norm(begin + share[:, None] * along, axis=1).min())


@frozen
class SettlingFigures:
    """t [s] and OV [m]: the longest and the largest of all cycles."""

    time: float
    overshoot: float


def measure_settling(time: Array, distances: Array, band: float) -> SettlingFigures:
    """The settling figures by distances from the attained pose while coming to rest, (n, m).

    The stabilisation time is from the first entry into the band to the last; the overshoot is the largest distance
    after the first entry of a motion that leaves the band again, else 0.
    """
    times, overshoots = [0.0], [0.0]
    for track in distances:
        inside = track <= band
        first = int(np.argmax(inside))
        outside = np.flatnonzero(~inside[first:])
        if inside.any() and outside.size:
            times.append(float(time[min(first + outside[-1] + 1, len(time) - 1)] - time[first]))
            overshoots.append(float(track[first:].max()))
    return SettlingFigures(max(times), max(overshoots))
