"""Cycles along a path as arrays: when does the tool move, and at which poses does it rest?"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from robodyn.analysis.accuracy import iso9283
from robodyn.analysis.accuracy.path_geometry import PARTS, Followed, measure_turns
from robodyn.base.errors import Flaw, ModelError
from robodyn.computation.results.signal import Floats
from robodyn.computation.results.table import Curves

MOVING, STEADY = 1e-4, 0.999
"""Shares of the top speed above which a tool is under way, and at its commanded speed."""
LEAST_ROWS, SAME_PLACE, NEARBY = 3, 1e-7, 1e-3
"""Rows of a rest; distance [m] of two rests at one pose; part of the path before a rest that tells its direction."""


@dataclass(frozen=True, eq=False)
class Rest:
    """A rest of the tool at a pose.

    Attributes:
        pose: its name, that of a place; name: of this rest, which tells several at one pose apart.
        first, last: rows at which the command stops, and goes on or the run ends.
        place, direction: commanded place [m] and the direction it is approached in, (3,), where known.
    """

    pose: str
    name: str
    first: int
    last: int
    place: Floats | None = None
    direction: Floats | None = None


class Cycles:
    """Deviation and tool (n, m, 3), turns (n, m, 3) or None, speeds (n, m), the commanded way (m,) and its speed."""

    def __init__(self, curves: Curves, followed: Followed) -> None:
        self.time = curves.places
        self.followed = followed
        self.tool = np.stack([curves.values[name] for name in followed.tool], axis=-1)
        self.deviation = _deviate(curves, followed)
        self.turns = measure_turns(curves, followed.turned) if followed.turned else None
        self.way = curves.values[followed.way][0]
        self.commanded = np.gradient(self.way, self.time)
        self.speed = np.linalg.norm(np.gradient(self.tool, self.time, axis=1), axis=2)
        top = self.commanded.max()
        if not top > 0:
            what = f"'{followed.way}' does not grow: the tool is told to stand"
            raise ModelError([Flaw("path", what, "let the scenario last until it moves")], "sheet")
        self.moving = self.commanded > MOVING * top
        self.steady = self.commanded > STEADY * top

    @property
    def across(self) -> Floats:
        """Deviations perpendicular to the path while it is gone along, (n, m', 2)."""
        return self.deviation[: iso9283.PATH_CYCLES, self.moving, 1:]

    @cached_property
    def rests(self) -> tuple[Rest, ...]:
        """Where the command stops after a motion, in order of time; the end of the run where it never does.

        Poses are counted as they are met, P1 being where the path begins.
        """
        rows = _still(self.moving) or [(len(self.time) - 1,) * 2]
        places = [self.followed.place(float(self.way[last])) for _, last in rows]
        if len(rows) == 1:
            return (Rest("end", "end", *rows[0], places[0]),)
        poses = _count(self.followed.place(float(self.way[0])), places)
        found = []
        for k, ((first, last), place) in enumerate(zip(rows, places, strict=True)):
            visits = poses[: k + 1].count(poses[k])
            name = poses[k] if poses.count(poses[k]) == 1 else f"{poses[k]}/{visits}"
            found.append(Rest(poses[k], name, first, last, place, self._direction(last, place)))
        return tuple(found)

    def offsets(self, rest: Rest) -> Floats:
        """Attained positions from the commanded one (n, 3): in world axes where the place is known, else the path's."""
        return self.deviation[:, rest.last] if rest.place is None else self.tool[:, rest.last] - rest.place

    def _direction(self, row: int, place: Floats | None) -> Floats | None:
        before = self.followed.place(float(self.way[row]) - NEARBY * float(self.way[-1]))
        if place is None or before is None:
            return None
        return np.asarray((place - before) / np.linalg.norm(place - before))


def _deviate(curves: Curves, followed: Followed) -> Floats:
    """Along, horizontal and vertical (n, m, 3): of places, which are smooth, where their axes turn at corners."""
    if followed.path is None:
        return np.stack([curves.values[name] for name in followed.deviation], axis=-1)
    found = followed.path(*(curves.values[name] for name in (*followed.tool, followed.way)))
    return np.stack([np.broadcast_to(found[part], curves.values[followed.way].shape) for part in PARTS], axis=-1)


def _still(moving: Floats) -> list[tuple[int, int]]:
    """First and last row of every rest behind a motion."""
    edges = np.flatnonzero(np.diff(np.concatenate([[True], moving, [True]]).astype(int)))
    runs = [(int(a), int(b) - 1) for a, b in zip(edges[::2], edges[1::2], strict=True)]
    begin = int(np.argmax(moving))
    return [(a, b) for a, b in runs if a > begin and b - a >= LEAST_ROWS]


def _count(start: Floats | None, places: list[Floats | None]) -> list[str]:
    """Names of poses: those of one place are one; without places each rest is a pose."""
    known = [start]
    names = []
    for number, place in enumerate(places, start=2):
        same = [k for k, one in enumerate(known, start=1) if _meet(one, place)]
        if not same:
            known.append(place)
        names.append(f"P{same[0] if same else (len(known) if place is not None else number)}")
    return names


def _meet(one: Floats | None, other: Floats | None) -> bool:
    return one is not None and other is not None and float(np.linalg.norm(one - other)) < SAME_PLACE
