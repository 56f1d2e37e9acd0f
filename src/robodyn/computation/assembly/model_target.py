"""Target of a task: are as many positions and orientations wanted as the task needs, and is each of them one?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from robodyn.base.symbolic import is_symbolic
from robodyn.description.model.freedom import QUATERNION
from robodyn.description.model.numbers import XYZ
from robodyn.description.model.task import TaskRows

UNIT = 1e-3
"""Largest error of a quaternion's length that is forgiven."""


def list_target(rows: TaskRows, moving: Sequence[Any], turning: Sequence[Any]) -> Iterator[Any]:
    """Values in the order of `ModelTask.target`.

    Args:
        moving: positions, velocities, accelerations; turning: orientations, angular velocities and accelerations.

    Raises:
        ValueError: of another number of values, or an orientation that is no unit quaternion.
    """
    places, about = rows.positions, [f"{name}.{axis}" for name in rows.oriented for axis in XYZ]
    quaternions = [f"{name}.orientation.{part}" for name in rows.oriented for part in QUATERNION]
    orientation = _each("target_orientation", turning[0], quaternions)
    _check_lengths(orientation)
    yield from _each("target", moving[0], places)
    yield from _rates("target_velocity", moving[1], places)
    yield from orientation
    yield from _rates("target_angular_velocity", turning[1], about)
    yield from _rates("target_acceleration", moving[2], places)
    yield from _rates("target_angular_acceleration", turning[2], about)


def _rates(argument: str, values: Any, names: Sequence[str]) -> tuple[Any, ...]:
    """One value for each name, or none of a target that rests."""
    resting = isinstance(values, (tuple, list)) and not values
    return (0.0,) * len(names) if resting else _each(argument, values, names)


def _each(argument: str, values: Any, names: Sequence[str]) -> tuple[Any, ...]:
    given = tuple(values) if isinstance(values, (tuple, list)) else (values,)
    if len(given) != len(names):
        raise ValueError(f"{argument} has {len(given)} values, needs {len(names)}: {', '.join(names) or 'none'}")
    return given


def _check_lengths(orientation: Sequence[Any]) -> None:
    for k in range(0, len(orientation), 4):
        parts = orientation[k : k + 4]
        if any(is_symbolic(part) for part in parts):
            continue
        length = float(np.linalg.norm(parts))
        if not abs(length - 1) < UNIT:
            raise ValueError(f"target_orientation is no unit quaternion w, x, y, z: its length is {length:.4g}")
