"""ISO 9283 figures: accuracy and repeatability of poses and paths, speeds, corners and settling, from attained motions.

Symbols as in the standard: j counts cycles, i places along a path, c is commanded, G the barycentre of a cloud.

    AP = |mean_j p_j - p_c|                       RP = mean_j l_j + 3 S_l,   l_j = |p_j - G|
    AP_a = mean_j a_j - a_c                       RP_a = 3 S_a                           likewise b, c
    vAP = max |G_h - G_k|                         AD = mean_j D_j - D_c,   RD = 3 S_D,   D_j = |p_1j - p_2j|
    AT = max_i |mean_j d_ij|                      RT = max_i (mean_j l_ij + 3 S_li),   l_ij = |d_ij - G_i|
    AT_a = max_i |mean_j a_ij - a_ci|             RT_a = max_i 3 S_ai
    AV = (mean v - v_c) / v_c    RV = 3 S_v / v_c    FV = max_j (max_i v_ij - min_i v_ij)

S are standard deviations with n - 1; h and k are directions from which a pose is approached. a, b, c are rotations
about the world's x, y, z: parts of the rotation vector from the commanded orientation to the attained one, which for
small deviations is what differences of angles are, at any orientation.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robodyn.computation.results.signal import Floats

POSE_CYCLES, PATH_CYCLES, CORNER_CYCLES = 30, 10, 3
"""Cycles of the standard: poses; paths and speeds; corners, settling and overshoot."""


@dataclass(frozen=True)
class PoseFigures:
    """AP and RP [m]; offset: the barycentre from the commanded pose (3,); distances: l_j (n,)."""

    accuracy: float
    repeatability: float
    offset: Floats
    distances: Floats


def measure_pose(attained: Floats, commanded: Floats) -> PoseFigures:
    """Of attained positions (n, 3), n at least 2, in one commanded position (3,)."""
    middle = attained.mean(axis=0)
    distances = np.linalg.norm(attained - middle, axis=1)
    offset = middle - commanded
    return PoseFigures(float(np.linalg.norm(offset)), _repeatability(distances), offset, distances)


def _repeatability(distances: Floats) -> float:
    """l + 3 S of distances (n,)."""
    return float(distances.mean() + 3 * distances.std(ddof=1))


def measure_turn(turns: Floats) -> tuple[Floats, Floats]:
    """Accuracy and repeatability about x, y, z [rad] of rotations from the commanded orientation at a pose, (n, 3)."""
    return turns.mean(axis=0), 3 * turns.std(axis=0, ddof=1)


def measure_path_turn(turns: Floats) -> tuple[Floats, Floats]:
    """The same of rotations along a path, (n cycles, m places, 3)."""
    return np.abs(turns.mean(axis=0)).max(axis=0), 3 * turns.std(axis=0, ddof=1).max(axis=0)


def measure_variation(middles: Floats) -> float:
    """vAP [m] of barycentres of one pose, each approached in another direction, (k, 3)."""
    return float(np.linalg.norm(middles[:, None] - middles[None], axis=2).max())


def measure_distance(first: Floats, second: Floats, commanded: float) -> tuple[float, float]:
    """AD and RD [m] of positions attained in the same cycles at two poses, (n, 3) each, a commanded distance apart."""
    apart = np.linalg.norm(first - second, axis=1)
    return float(apart.mean() - commanded), float(3 * apart.std(ddof=1))


@dataclass(frozen=True)
class PathFigures:
    """AT and RT [m]; the places at which they are found; at each place the barycentre (m, 2) and l + 3 S (m,)."""

    accuracy: float
    repeatability: float
    worst: int
    widest: int
    offsets: Floats
    spreads: Floats


def measure_path(deviations: Floats) -> PathFigures:
    """Of deviations in the planes perpendicular to the path, (n cycles, m places, 2)."""
    middle = deviations.mean(axis=0)
    distances = np.linalg.norm(deviations - middle, axis=2)
    spreads = distances.mean(axis=0) + 3 * distances.std(axis=0, ddof=1)
    sizes = np.linalg.norm(middle, axis=1)
    worst, widest = int(np.argmax(sizes)), int(np.argmax(spreads))
    return PathFigures(float(sizes[worst]), float(spreads[widest]), worst, widest, middle, spreads)


@dataclass(frozen=True)
class VelocityFigures:
    """AV and RV [1, shares of the commanded speed], FV [m/s]."""

    accuracy: float
    repeatability: float
    fluctuation: float


def measure_velocity(speeds: Floats, commanded: float) -> VelocityFigures:
    """Of speeds along the path where it is commanded to be constant, (n cycles, m places)."""
    means = speeds.mean(axis=1)
    accuracy = (means.mean() - commanded) / commanded
    fluctuation = np.ptp(speeds, axis=1).max()
    return VelocityFigures(float(accuracy), float(3 * means.std(ddof=1) / commanded), float(fluctuation))


@dataclass(frozen=True)
class CornerFigures:
    """CR and CO [m]: of all cycles the largest distance of the motion from the corner, and beyond the line after it."""

    rounding: float
    overshoot: float


def measure_corner(tracks: Floats, corner: Floats, before: Floats, after: Floats) -> CornerFigures:
    """Of tracks near a corner, (n, m, 3), and the directions of the path before and behind it.

    Overshoot is the largest distance from the line behind the corner on its outer side, where the path before points.
    """
    apart = tracks - corner
    rounding = max(_nearest(track) for track in apart)
    outward = before - (before @ after) * after
    size = np.linalg.norm(outward)
    beyond = apart @ (outward / size) if size > 0 else np.zeros(apart.shape[:2])
    passed = apart @ after > 0
    return CornerFigures(float(rounding), float(np.max(np.where(passed, beyond, 0.0), initial=0.0)))


def _nearest(track: Floats) -> float:
    """Distance of the origin from the straight lines between the rows (m, 3) of a track."""
    begin, along = track[:-1], np.diff(track, axis=0)
    lengths = np.maximum((along**2).sum(axis=1), 1e-300)
    share = np.clip(-(begin * along).sum(axis=1) / lengths, 0, 1)
    return float(np.linalg.norm(begin + share[:, None] * along, axis=1).min())


@dataclass(frozen=True)
class SettlingFigures:
    """t [s] and OV [m]: the longest and the largest of all cycles."""

    time: float
    overshoot: float


def measure_settling(time: Floats, distances: Floats, band: float) -> SettlingFigures:
    """Of distances from the attained pose while coming to rest, (n, m).

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
