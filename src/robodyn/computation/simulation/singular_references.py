"""Singular positions on the way: where do a controller's axes or task lose a direction, and by how much? Before a run.

Along the path that a machine follows, the smallest singular value is that of J, the task by the axes, or the inverse of
the largest of T, the joints by the axes; lengths over the machine's size. Spare axes and floating bases move as forces
say, and references may depend on the motion: nothing is said of these before a run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from robodyn.base.numerics import bisect
from robodyn.computation.assembly import System
from robodyn.computation.assembly.model_checks import name_direction
from robodyn.computation.assembly.model_info import ModelInfo
from robodyn.computation.simulation.followed_path import MOVING, TURNING, Following, Motions
from robodyn.computation.simulation.known_references import find_motions
from robodyn.description.model import Block

LINEAR = ("computed_torque", "operational_space_control")
"""Laws under which errors are linear."""
STEPS, HALVINGS = 100, 20
RATE_ERROR = 1e-6
"""Of given rates of a target, over the largest."""


def find_singular_warnings(system: System, values: Mapping[str, float], states: Mapping[str, float]) -> list[str]:
    """A sentence for each law that comes to a singular position from the states at the start."""
    blocks = {block.name: block for block in system.scenario.machine.blocks if block.law in LINEAR}
    found = []
    for info in system.models if blocks else ():
        block = blocks.get(info.block)
        if block is not None and _is_determined(info):
            given = _known_inputs(system, block, values)
            found += _look(Following(info, block, values, given, states), system.scenario.duration) if given else []
    return found


def _is_determined(info: ModelInfo) -> bool:
    """Whether the law says where all joints are, and there may be positions in which it cannot."""
    functions, n, m = info.functions, len(info.axes), len(info.rows.all)
    positions_alone = len(functions.positional) == functions.named["positions"].size1_out(0) - n
    return info.determined and positions_alone and (m == n or (m == 0 and n < functions.n_v))


def _known_inputs(system: System, block: Block, values: Mapping[str, float]) -> dict[str, Motions]:
    """What is wanted, by argument; nothing where any of it depends on more than time, or its rates are not given."""
    signals = {name: given if isinstance(given, tuple) else (given,) for name, given in block.inputs.items()}
    if not signals.keys() <= {*MOVING, *TURNING}:
        return {}
    times, motions = find_motions(system, [signal for several in signals.values() for signal in several], values)
    if not all("velocity" in motion for motion in motions):
        return {}
    shaped = [{rate: np.broadcast_to(row, times.shape) for rate, row in motion.items()} for motion in motions]
    rows = iter(shaped)
    found = {name: [next(rows) for _ in several] for name, several in signals.items()}
    if not _knows_rates(found):
        return {}
    return {name: [(times, motion["position"]) for motion in several] for name, several in found.items()}


def _knows_rates(found: Mapping[str, list[dict[str, np.ndarray]]]) -> bool:
    """Whether the law is given the velocities and accelerations that its targets have: else the machine lags behind."""

    def values(name: str, rate: str) -> np.ndarray:
        return np.array([motion[rate] for motion in found.get(name, ())])

    def agree(true: np.ndarray, given: np.ndarray) -> bool:
        left = true - given if len(given) else true
        return bool(np.max(np.abs(left), initial=0.0) <= RATE_ERROR * (1 + np.max(np.abs(true), initial=0.0)))

    pairs = (MOVING[:2], MOVING[1:], TURNING[1:])
    turning = np.linalg.norm(values(TURNING[0], "velocity"), axis=0)
    return all(agree(values(name, "velocity"), values(rate, "position")) for name, rate in pairs) and agree(
        # |q'| = |omega| / 2
        turning,
        0.5 * np.linalg.norm(values(TURNING[1], "position"), axis=0) if TURNING[1] in found else np.zeros(0),
    )


@dataclass(frozen=True)
class Place:
    """Where a machine is, and how far from singular.

    Attributes:
        margin: what the law compares with its least; smallest: singular value; lost: its direction; side: of a
            singular position, the sign of the determinant.
    """

    q: np.ndarray
    margin: float
    smallest: float
    lost: str
    side: float


def _find(path: Following, near: np.ndarray, t: float) -> Place | None:
    q = path.solve(near, t)
    if q is None:
        return None
    J = path.jacobian(q, t)
    left, values, _ = np.linalg.svd(J)
    smallest = float(values[-1])
    margin = float(np.sum(values**-2.0)) ** -0.5 if smallest > 0 else 0.0
    side = float(np.sign(np.linalg.det(J))) if path.info.rows.all else 1.0
    return Place(q, margin, smallest, name_direction(left[:, -1], path.info.rows.names or path.info.axes), side)


def _look(path: Following, duration: float) -> list[str]:
    """Where the machine comes to, instant by instant, until it is singular."""
    place, good = _find(path, path.q, 0.0), 0.0
    for t in np.linspace(0.0, duration, STEPS + 1)[1:]:
        if place is None:  # the start is off its constraints, which is reported elsewhere
            return []
        found = _find(path, place.q, t)
        if _is_lost(path, place, found):
            return [_describe(path, *_narrow(path, place, good, t))]
        place, good = found, t
    return []


def _is_lost(path: Following, before: Place, now: Place | None) -> bool:
    return now is None or now.margin < path.least or now.side != before.side


def _narrow(path: Following, place: Place, good: float, bad: float) -> tuple[Place, float]:
    """The last place that is not singular, and when that is, by bisection."""

    def is_lost(time: float) -> bool:
        nonlocal place
        found = _find(path, place.q, time)
        if found is None or _is_lost(path, place, found):
            return True
        place = found
        return False

    good, _ = bisect(is_lost, good, bad, HALVINGS)
    return place, good


def _describe(path: Following, place: Place, t: float) -> str:
    what = "task" if path.info.rows.all else "axes"
    begin = f"blocks.{path.block.name}: on the way to the target the {what}"
    if place.margin > 2 * path.least:
        return f"{begin} cannot follow from {t:.4g} s on: nothing that the machine can do is near"
    size = f"smallest singular value {place.smallest:.2g} along {place.lost}"
    return f"{begin} will be close to singular at {t:.4g} s: {size}; keep away from there, or control fewer directions"
