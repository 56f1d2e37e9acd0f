"""Inverse kinematics of coordinates: which joint positions belong to given cylinders' lengths and the like?

s(q) = target is solved by Newton's method with the exact ds/dq, followed from a known position in steps that never
cross a dead centre: the mechanism stays assembled as it is there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from robodyn.analysis.mechanics.kinetics import CoordinateMap, Kinetics
from robodyn.assembly import System
from robodyn.errors import Flaw, FlawList, ModelError
from robodyn.model import TriangleLength

CONVERGED = 1e-12
"""Error of a coordinate that is rounding alone, beside its own size or 1."""

SMALLEST_STEP = 1e-7
"""Part of the way to the target below which the mechanism is at its dead centre."""


def coordinate_limits(system: System, name: str) -> tuple[float, float] | None:
    """Lower and upper end of a coordinate: its range, or what the sides of its triangle allow; None without any."""
    described = {coordinate.name: coordinate for coordinate in system.scenario.machine.coordinates}
    coordinate = described.get(name)
    if coordinate is None:
        return None

    return coordinate.range or (coordinate.reach if isinstance(coordinate, TriangleLength) else None)


def check_reach(flaws: FlawList, system: System, names: Sequence[str], positions: np.ndarray) -> None:
    """Each coordinate stays within its limits, as far as they are known; positions (n_time, n)."""
    for name, column in zip(names, positions.T, strict=True):
        limits = coordinate_limits(system, name)
        if limits is None:
            continue
        worst = max(column, key=lambda s: max(limits[0] - s, s - limits[1]))
        if not limits[0] <= worst <= limits[1]:
            what = f"{worst:.6g} is out of reach"
            flaws.add(f"coordinates.{name}", what, f"its range is {limits[0]:.6g} to {limits[1]:.6g}")


def solve_positions(kinetics: Kinetics, targets: Iterable[np.ndarray], guess: np.ndarray) -> np.ndarray:
    """Joint positions for each target position of the coordinates in turn, (n_targets, n).

    Args:
        targets: positions of the coordinates of `kinetics`, (n,) each.
        guess: joint positions to begin from; each next search begins at the solution before.

    Raises:
        ModelError: naming the coordinate that cannot reach its target, and how far it gets.
    """
    found = []
    q = np.asarray(guess, float)
    for target in targets:
        q = _follow(kinetics, np.asarray(target, float), q)
        found.append(q)

    return np.array(found)


def _follow(kinetics: Kinetics, target: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Joint positions at the target, followed along the straight line from the position at q."""
    begin = kinetics.invertible_map_at(q)
    done, step = 0.0, 1.0
    while done < 1.0:
        step = min(step, 1.0 - done)
        aim = target if done + step == 1.0 else begin.position + (done + step) * (target - begin.position)
        tried = _newton(kinetics, aim, q, np.sign(np.linalg.det(begin.gradient)))
        if tried is None:
            step *= 0.5
        else:
            q, done, step = tried, done + step, 2.0 * step
        if step < SMALLEST_STEP:
            raise _unreachable(kinetics, target, kinetics.map_at(q))

    return q


def _newton(kinetics: Kinetics, aim: np.ndarray, q: np.ndarray, side: float) -> np.ndarray | None:
    """Joint positions at the aim; None where the iteration does not settle or leaves this side of a dead centre."""
    for _ in range(12):
        here = kinetics.map_at(q)
        if not (np.all(np.isfinite(here.gradient)) and np.sign(np.linalg.det(here.gradient)) == side):
            return None
        error = aim - here.position
        if np.all(np.abs(error) <= CONVERGED * np.maximum(1.0, np.abs(aim))):
            return q
        q = q + np.linalg.solve(here.gradient, error)

    return None


def _unreachable(kinetics: Kinetics, target: np.ndarray, last: CoordinateMap) -> ModelError:
    """At a dead centre one combination of coordinates cannot move; the largest in it is the cause."""
    stuck = np.linalg.svd(last.gradient)[0][:, -1]
    k = int(np.argmax(np.abs(stuck)))
    what = f"{target[k]:.6g} is out of reach"
    remedy = f"on the way there from the start it gets to {last.position[k]:.6g}, a dead centre"

    return ModelError([Flaw(f"coordinates.{kinetics.names[k]}", what, remedy)])
