"""Start values of ball and free joints: how are orientations, places and velocities given as vectors?

base.orientation        quaternion w, x, y, z of length 1; or roll, pitch, yaw about fixed x, y, z axes [rad]
base.angular_velocity   x, y, z in the child's axes [rad/s]
base.position           x, y, z of a free joint [m]
base.velocity           x, y, z of a free joint [m/s]
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from robodyn.base.errors import FlawList, nearest
from robodyn.base.spatial import quaternion_from_rpy
from robodyn.description.model.joint import Joint

ORIENTATION = ".orientation"
UNIT_LENGTH = 1e-6
"""Largest error of a quaternion's length that is taken for rounding: files often print six digits."""


def vector_parts(joints: Iterable[Joint]) -> dict[str, dict[str, str]]:
    """What may be given as a vector -> its states and their units."""
    found: dict[str, dict[str, str]] = {}
    for joint in joints:
        balls = [freedom for freedom in joint.freedoms if not freedom.is_single]
        for ball in balls:
            found[ball.name + ORIENTATION] = ball.positions
            found[f"{ball.name}.angular_velocity"] = ball.velocities
        if joint.kind == "free":
            slides = [freedom for freedom in joint.freedoms if freedom.is_single]
            found[f"{joint.name}.position"] = {name: unit for s in slides for name, unit in s.positions.items()}
            found[f"{joint.name}.velocity"] = {name: unit for s in slides for name, unit in s.velocities.items()}
    return found


def vector_units(joints: Iterable[Joint]) -> dict[str, str]:
    """Units of what may be given as a vector."""
    return {name: next(iter(parts.values())) for name, parts in vector_parts(joints).items()}


def list_unit(name: str, unit: str, length: int) -> str:
    """Unit of the entries of a list: an orientation of three is given by angles."""
    return "rad" if name.endswith(ORIENTATION) and length == 3 else unit


def spread_vectors(flaws: FlawList, initial: Mapping[str, Any], joints: Iterable[Joint]) -> dict[str, float]:
    """Start values by state, those given as vectors taken apart."""
    known = vector_parts(joints)
    spread: dict[str, float] = {}
    for name, value in initial.items():
        entries = _entries(flaws, name, value, known)
        for state in entries.keys() & (spread.keys() | (initial.keys() - {name})):
            flaws.add(f"initial.{state}", "is given twice", f"give it or initial.{name}")
        spread |= entries
    if not flaws.concern("initial"):
        check_orientations(flaws, known, spread)
    return spread


def check_orientations(flaws: FlawList, vectors: Mapping[str, Mapping[str, str]], values: Mapping[str, float]) -> None:
    """The quaternions among start values by state.

    Args:
        vectors: what may be given as a vector, with its states.
    """
    for name, parts in vectors.items():
        if name.endswith(ORIENTATION) and any(state in values for state in parts):
            _check_quaternion(flaws, f"initial.{name}", [values.get(state, 0.0) for state in parts])


def _entries(flaws: FlawList, name: str, value: Any, known: Mapping[str, Mapping[str, str]]) -> dict[str, float]:
    """The states that a start value is of, with their values."""
    given, parts = isinstance(value, tuple), known.get(name)
    if parts is None:
        if given:
            flaws.add(f"initial.{name}", f"must be a number, is {list(value)}", nearest(name, known))
            return {}
        return {name: value}
    turned = name.endswith(ORIENTATION)
    noun = "4 numbers w, x, y, z of a quaternion or 3 angles roll, pitch, yaw" if turned else "3 numbers x, y, z"
    if not given or len(value) not in ((3, 4) if turned else (3,)):
        flaws.add(f"initial.{name}", f"must be {noun}, is {list(value) if given else value}")
        return {}
    values = quaternion_from_rpy(*value) if turned and len(value) == 3 else value
    return {state: float(entry) for state, entry in zip(parts, values, strict=True)}


def _check_quaternion(flaws: FlawList, path: str, quaternion: list[float]) -> None:
    """Its length must be 1: another one is more likely a mistake than meant."""
    length = float(np.linalg.norm(quaternion))
    if length == 0:
        flaws.add(path, "is a quaternion of zeros, which is no rotation", "[1, 0, 0, 0] leaves the body as it is")
    elif abs(length - 1) > UNIT_LENGTH:
        unit = ", ".join(repr(round(entry / length, 12)) for entry in quaternion)
        flaws.add(
            path, f"the quaternion {quaternion} has length {length:.9g}, must have 1", f"normalised it is [{unit}]"
        )
