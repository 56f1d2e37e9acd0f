"""Reference block of a path: where should the joints be at a time, so that the tool follows it?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from functools import cached_property
from inspect import Signature, signature
from itertools import pairwise
from typing import Any

import numpy as np

from robodyn.base import symbolic as sym
from robodyn.base.records import dataclass
from robodyn.description.laws import LawInfo
from robodyn.description.laws.speed_profile import plan_legs, time_at, travel
from robodyn.description.model import Block
from robodyn.description.model.numbers import as_floats
from robodyn.description.paths.joint_path import (
    JointPath,
    JointTable,
    PathRequest,
    evaluate,
    evaluate_bend,
    evaluate_slope,
    make_table,
)

Rows = tuple[tuple[float, ...], ...]
NUMBERS = ("speed", "acceleration", "jerk")


def look_up(s: Any, table: JointTable) -> list[tuple[Any, Any, Any]]:
    """Value, slope and bend of each column of a table at a way s, a number or a symbol."""

    def hold(values: np.ndarray) -> Any:
        """The entry of the piece that s lies in; a plain number where all are alike."""
        return float(values[0]) if np.ptp(values) == 0.0 else sym.hold_table(s, table.starts, values)

    width = hold(table.widths)
    u = (s - hold(table.starts)) / width
    columns = []
    for k in range(table.coefficients.shape[2]):
        c = [hold(table.coefficients[:, power, k]) for power in range(6)]
        columns.append((evaluate(c, u), evaluate_slope(c, u) / width, evaluate_bend(c, u) / width**2))
    return columns


@dataclass(frozen=True)
class PathReference:
    """Law: joints' positions, velocities and accelerations on a planned path, gone along from rest to rest.

        q = q(s(t)),   v = q' s_dot,   a = q'' s_dot^2 + q' s_ddot

    Speed, acceleration, jerk and begin are parameters, which change without compiling again; the table is folded into
    the code. Outputs: `position1`, `velocity1`, `acceleration1` and so on for each joint, `s` [m] and `speed` [m/s].

    Attributes:
        joints: names, in the order of the columns; knots, position, slope, bend, rests: as in a `JointPath`. With
            rests there is one more parameter, their `pause` [s].
        request: what the path was planned from.
    """

    joints: tuple[str, ...]
    knots: tuple[float, ...]
    position: Rows = field(repr=False)
    slope: Rows = field(repr=False)
    bend: Rows = field(repr=False)
    units: tuple[str, ...] = ()
    rests: tuple[float, ...] = ()
    request: PathRequest | None = field(default=None, repr=False, compare=False)

    __name__ = "path_reference"

    def __call__(
        self, time: Any, *, speed: Any, acceleration: Any, jerk: Any = np.inf, begin: Any = 0.0, pause: Any = 0.0
    ) -> Any:
        s, rate, change, _ = travel(time, plan_legs(self._ends, speed, acceleration, jerk, begin, pause))
        outputs: dict[str, Any] = {}
        for k, (value, slope, bend) in enumerate(look_up(s, self._table), start=1):
            outputs[f"position{k}"] = value
            outputs[f"velocity{k}"] = slope * rate
            outputs[f"acceleration{k}"] = bend * rate**2 + slope * change
        return outputs | {"s": s, "speed": rate}

    @property
    def __signature__(self) -> Signature:
        whole = signature(type(self).__call__)
        unused = {"self"} if self.rests else {"self", "pause"}
        return whole.replace(parameters=[p for p in whole.parameters.values() if p.name not in unused])

    @property
    def _ends(self) -> tuple[float, ...]:
        return 0.0, *self.rests, self.knots[-1]

    @cached_property
    def _table(self) -> JointTable:
        return make_table(self.knots, self.position, self.slope, self.bend)

    @cached_property
    def law_info(self) -> LawInfo:
        """Units and checks of the law that it is."""
        units = {"time": "s", "speed": "m/s", "acceleration": "m/s^2", "jerk": "m/s^3", "begin": "s", "s": "m"}
        for k, unit in enumerate(self.units or ["rad"] * len(self.joints), start=1):
            units |= {f"position{k}": unit, f"velocity{k}": f"{unit}/s", f"acceleration{k}": f"{unit}/s^2"}
        checks = dict.fromkeys(NUMBERS, "positive")
        if self.rests:
            units, checks = units | {"pause": "s"}, checks | {"pause": "non-negative"}
        return LawInfo(units=units, checks=checks, breaks=self.breaks)

    def breaks(self, parameters: Mapping[str, float]) -> list[float]:
        """Times [s] at which the acceleration or its rate jumps: phases of the speed, and pieces of the path."""
        speed, acceleration, jerk, begin = (parameters[key] for key in (*NUMBERS, "begin"))
        phases = plan_legs(self._ends, speed, acceleration, jerk, begin, parameters.get("pause", 0.0))
        ends = [a for a, b in pairwise(self.knots) if a == b and a not in self.rests]
        return sorted([*(float(phase.begin) for phase in phases), *(time_at(end, phases) for end in ends)])


def path_law(path: JointPath) -> PathReference:
    """The law of a planned path."""
    position, slope, bend = (as_floats(table) for table in (path.position, path.slope, path.bend))
    return PathReference(
        path.joints, as_floats(path.knots), position, slope, bend, path.units, path.rests, path.request
    )


def path_block(
    name: str,
    path: JointPath,
    *,
    speed: float,
    acceleration: float,
    jerk: float | None = None,
    begin: float = 0.0,
    pause: float | None = None,
    period: float | None = None,
    delay: float = 0.0,
) -> Block:
    """A block that gives the joints' references along a planned path.

    Args:
        speed: top speed along the path [m/s]; acceleration: [m/s^2]; jerk: [m/s^3], None for a trapezoidal speed.
        begin: time at which it starts to move [s]; pause: at each rest on the way [s], 0 by default.
        period: sample time [s] of set-points, None for a continuous reference; delay: of their effect [s].
    """
    numbers = {"speed": speed, "acceleration": acceleration, "jerk": np.inf if jerk is None else jerk, "begin": begin}
    paused = {} if pause is None else {"pause": pause}
    return Block(name, path_law(path), parameters=numbers | paused, period=period, delay=delay)
