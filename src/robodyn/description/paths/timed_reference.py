"""Reference block of a path with a timing of its own: where should the joints be at a time?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from robodyn.base import symbolic as sym
from robodyn.description.laws import LawInfo
from robodyn.description.model import Block
from robodyn.description.model.numbers import as_floats
from robodyn.description.paths.joint_path import JointPath, JointTable, PathRequest, make_table
from robodyn.description.paths.reference import Rows, look_up


@dataclass(frozen=True)
class TimedReference:
    """Law: joints' positions, velocities and accelerations, and the way along the path, from a table over time.

    Polynomials of degree 5 between the times, so that all three belong to each other. Before and after the table the
    joints stand. Outputs as those of `PathReference`.

    Attributes:
        times: since the begin [s]; position, velocity, acceleration: of the joints and, last, of the way.
        request: what the path was planned from.
    """

    joints: tuple[str, ...]
    times: tuple[float, ...] = field(repr=False)
    position: Rows = field(repr=False)
    velocity: Rows = field(repr=False)
    acceleration: Rows = field(repr=False)
    units: tuple[str, ...] = ()
    request: PathRequest | None = field(default=None, repr=False, compare=False)

    __name__ = "timed_reference"

    def __call__(self, time: Any, *, begin: Any = 0.0) -> Any:
        t = sym.clip(time - begin, 0.0, self.times[-1])
        moving = sym.logical_and(time >= begin, time < begin + self.times[-1])
        outputs: dict[str, Any] = {}
        *joints, way = look_up(t, self._table)
        for k, (value, slope, bend) in enumerate(joints, start=1):
            outputs[f"position{k}"] = value
            outputs[f"velocity{k}"] = sym.where(moving, slope, 0.0)
            outputs[f"acceleration{k}"] = sym.where(moving, bend, 0.0)
        return outputs | {"s": way[0], "speed": sym.where(moving, way[1], 0.0)}

    @cached_property
    def _table(self) -> JointTable:
        return make_table(self.times, self.position, self.velocity, self.acceleration)

    @cached_property
    def law_info(self) -> LawInfo:
        units = {"time": "s", "begin": "s", "s": "m", "speed": "m/s"}
        for k, unit in enumerate(self.units or ["rad"] * len(self.joints), start=1):
            units |= {f"position{k}": unit, f"velocity{k}": f"{unit}/s", f"acceleration{k}": f"{unit}/s^2"}
        return LawInfo(units=units, breaks=self.breaks)

    def breaks(self, parameters: Mapping[str, float]) -> list[float]:
        """Times [s] at which it begins and ends."""
        return [parameters["begin"], parameters["begin"] + self.times[-1]]


def timed_block(
    name: str,
    plan: JointPath,
    time: Any,
    s: Any,
    rate: Any,
    change: Any,
    *,
    begin: float = 0.0,
    period: float | None = None,
    delay: float = 0.0,
) -> Block:
    """A block that gives the joints' references along a planned path with a given timing.

    Args:
        time: since the begin [s], (k,); s, rate, change: way [m], speed [m/s] and acceleration [m/s^2] then.
        period, delay: as `path_block` takes them.
    """
    motion = joint_motion(plan, s, rate, change)
    tables = [np.column_stack([part, way]) for part, way in zip(motion, (s, rate, change), strict=True)]
    position, velocity, acceleration = (as_floats(table) for table in tables)
    times = as_floats(np.asarray(time))
    law = TimedReference(plan.joints, times, position, velocity, acceleration, plan.units, plan.request)
    return Block(name, law, parameters={"begin": begin}, period=period, delay=delay)


def joint_motion(plan: JointPath, s: Any, rate: Any, change: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Positions, velocities and accelerations of the joints, (k, n) each, from those along the path."""
    q, slope, bend = plan.at(np.asarray(s))
    v, a = np.asarray(rate)[:, None], np.asarray(change)[:, None]
    return q, slope * v, bend * v**2 + slope * a
