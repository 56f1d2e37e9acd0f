"""Figures of poses (ISO 9283): accuracy and repeatability of positions, orientations and distances, and settling."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from robodyn.analysis.accuracy import iso9283
from robodyn.analysis.accuracy.causes import Figure
from robodyn.analysis.accuracy.cycles import Cycles, Rest

ANGLES = ("a", "b", "c")
LEAST_TURN = np.radians(1.0)
"""Directions that differ by less are one."""
LEAST_REST = 10
"""Rows of a rest in which it can be seen how a tool settles."""


def pose_figures(cycles: Cycles, band: float | None, notes: list[str]) -> list[Figure]:
    """All figures of all rests."""
    found = [figure for rest in cycles.rests for figure in _of_rest(cycles, rest, band, notes)]
    return [*found, *_variations(cycles), *_distances(cycles, notes)]


def _of_rest(cycles: Cycles, rest: Rest, band: float | None, notes: list[str]) -> list[Figure]:
    attained = iso9283.measure_pose(cycles.deviation[:, rest.last], np.zeros(3))
    count, pose = len(cycles.deviation), rest.name
    found = [
        Figure("AP", "positioning accuracy", "|mean p_j - p_c|", count, attained.accuracy, "m", pose=pose),
        Figure("RP", "positioning repeatability", "mean l_j + 3 S_l", count, attained.repeatability, "m", pose=pose),
    ]
    if cycles.turns is not None:
        turns = (part.tolist() for part in iso9283.measure_turn(cycles.turns[:, rest.last]))
        for x, axis, accuracy, spread in zip(ANGLES, "xyz", *turns, strict=True):
            name, formula = f"about {axis}", f"mean {x}_j - {x}_c"
            found += [
                Figure(f"AP{x}", f"orientation accuracy {name}", formula, count, accuracy, "rad", pose=pose),
                Figure(f"RP{x}", f"orientation repeatability {name}", f"3 S_{x}", count, spread, "rad", pose=pose),
            ]
    within = "RP" if band is None else f"{1e6 * band:.4g} um"
    return found + _settling(cycles, rest, band or attained.repeatability, within, notes)


def _settling(cycles: Cycles, rest: Rest, limit: float, within: str, notes: list[str]) -> list[Figure]:
    if rest.last - rest.first < LEAST_REST:
        notes.append(f"no stabilisation time at {rest.name}: the rest is too short; let it go on")
        return []
    # From when the commanded way to the rest is within the band: a tool may enter it before the command stops, and a
    # path that ends where it began is not within it at its start.
    away = cycles.way[rest.last] - cycles.way[: rest.last + 1]
    begin = int(np.flatnonzero(away > limit).max(initial=0))
    tool = cycles.tool[: iso9283.CORNER_CYCLES, begin : rest.last + 1]
    apart = np.linalg.norm(tool - tool[:, -1:], axis=2)
    found = iso9283.measure_settling(cycles.time[begin : rest.last + 1], apart, limit)
    count, pose = len(tool), rest.name
    return [
        Figure("t", f"stabilisation time within {within}", "first to last entry", count, found.time, "s", pose=pose),
        Figure("OV", f"position overshoot of {within}", "max |p - p_rest|", count, found.overshoot, "m", pose=pose),
    ]


def _variations(cycles: Cycles) -> list[Figure]:
    """vAP of the poses that are approached in several directions."""
    found = []
    for pose in dict.fromkeys(rest.pose for rest in cycles.rests):
        rests: list[Rest] = []
        for rest in cycles.rests:
            if rest.pose == pose and all(_differ(rest, other) for other in rests):
                rests.append(rest)
        if len(rests) > 1:
            middles = np.array([cycles.tool[:, rest.last].mean(axis=0) for rest in rests])
            name = f"multi-directional variation, {len(rests)} approaches"
            value = iso9283.measure_variation(middles)
            found.append(Figure("vAP", name, "max |G_h - G_k|", len(cycles.tool), value, "m", pose=pose))
    return found


def _differ(one: Rest, other: Rest) -> bool:
    if one.direction is None or other.direction is None:
        return False
    cosine = float(np.clip(one.direction @ other.direction, -1, 1))
    return bool(np.arccos(cosine) > LEAST_TURN)


def _distances(cycles: Cycles, notes: list[str]) -> list[Figure]:
    """AD and RD of the two poses farthest apart, the first of several such pairs: P2 and P4 in the standard's cube."""
    if len(cycles.rests) < 2:
        return []
    far: list[tuple[float, Rest, Rest]] = []
    for one, other in combinations(sorted(cycles.rests, key=lambda rest: rest.name), 2):
        if one.place is not None and other.place is not None and one.pose != other.pose:
            far.append((float(np.linalg.norm(one.place - other.place)), one, other))
    if not far:
        notes.append("no distance accuracy: places of the poses are not known")
        return []
    longest = max(far, key=lambda pair: pair[0])[0]
    distance, one, other = next(pair for pair in far if pair[0] > (1 - 1e-6) * longest)
    accuracy, spread = iso9283.measure_distance(cycles.tool[:, one.last], cycles.tool[:, other.last], distance)
    count, name = len(cycles.tool), f"from {one.name} to {other.name}, {1e3 * distance:.5g} mm"
    return [
        Figure("AD", f"distance accuracy {name}", "mean D_j - D_c", count, accuracy, "m"),
        Figure("RD", "distance repeatability", "3 S_D", count, spread, "m"),
    ]
