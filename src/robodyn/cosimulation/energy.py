"""Energy ledger of a coupling: how much energy does it create or destroy?

Each side of a connection gets the work W = integral of f dy, of the force f on it and of the displacement y at which it
acts: its own, or that of the far side where the elastic part of the coupling is on its own. Jumps of y at an exchange
count. What is coupled exactly gives W_1 + W_2 = 0, or the work W_e that the elastic part takes where both have it;

    energy error = W_1 + W_2 - W_e

The work is integrated with the unit; where a motion comes in, by the trapezoidal rule between exchanges, from both
sides of each: exact for linear springs and held motions. So is that of the elastic part.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from robodyn.cosimulation.connection import InterfacePair, Side
from robodyn.cosimulation.rotations import turn_between

Outputs = Mapping[str, Mapping[str, float]]


@dataclass(frozen=True, eq=False)
class Place:
    """Position (1 or 3,), and rotation (3, 3) where that is coupled."""

    position: np.ndarray
    rotation: np.ndarray | None = None

    def reach(self, other: Place) -> np.ndarray:
        """How far another place is away, in all rows, (k,) [m or rad]."""
        along = other.position - self.position
        if self.rotation is None or other.rotation is None:
            return along
        return np.concatenate([along, turn_between(self.rotation, other.rotation)])


@dataclass(frozen=True, eq=False)
class Snapshot:
    """One side at an instant.

    Attributes:
        work: on it so far [J], None where it does not know; force: (k,).
        acting: where the force acts; own: where this side is.
    """

    work: float | None
    force: np.ndarray
    acting: Place
    own: Place


def take_snapshot(side: Side, outputs: Mapping[str, float]) -> Snapshot:
    """A side as the outputs of its unit give it."""
    part = side.interface
    force = np.array([outputs[name] for name in part.names("force")])
    acting, own = (_find_place(part, key, outputs) for key in ("far_" if side.elastic else "", ""))
    return Snapshot(outputs.get(f"{part.name}.work"), force, acting, own)


def _find_place(part: Any, far: str, outputs: Mapping[str, float]) -> Place:
    position = np.array([outputs[name] for name in part.names(f"{far}position")])
    if not part.rotates:
        return Place(position)
    return Place(position, np.array([outputs[name] for name in part.names(f"{far}orientation")]).reshape(3, 3))


class EnergyLedger:
    """The energy error of one connection so far [J]."""

    def __init__(self, interface_pair: InterfacePair) -> None:
        self.interface_pair = interface_pair
        self.error = 0.0
        self.before: list[Snapshot] | None = None
        self.pulled: tuple[np.ndarray, np.ndarray] | None = None

    def begin(self, outputs: Outputs) -> None:
        """The sides as they are at the start."""
        self.before = self._snapshots(outputs)

    def add(self, begun: Outputs, ended: Outputs) -> None:
        """A macro step, from the outputs after the exchange at its beginning and at its end."""
        right = self.meet(begun)
        left = self._snapshots(ended)
        self.error += sum(_work(right[k], left[k]) for k in (0, 1))
        self.before = left

    def meet(self, begun: Outputs) -> list[Snapshot]:
        """An exchange: the work of jumps, and what the elastic part took since the last one."""
        right = self._snapshots(begun)
        if self.before:
            self.error += sum(_jump(self.before[k], right[k]) for k in (0, 1))
        if all(side.elastic for side in self.interface_pair.sides):
            self._take(right)
        return right

    def _snapshots(self, outputs: Outputs) -> list[Snapshot]:
        return [take_snapshot(side, outputs[side.unit]) for side in self.interface_pair.sides]

    def _take(self, now: list[Snapshot]) -> None:
        """Take off the work of the elastic part since the last exchange: by how far the sides moved apart."""
        pull = _pull([*enumerate(now), *enumerate(self.before or ())], now)
        apart = now[0].own.reach(now[1].own)
        if self.pulled is not None:
            before, begun = self.pulled
            self.error -= float((before + pull) @ (apart - begun)) / 2
        self.pulled = pull, apart

    def copy(self) -> EnergyLedger:
        other = EnergyLedger(self.interface_pair)
        other.error, other.before, other.pulled = self.error, self.before, self.pulled
        return other


def _jump(left: Snapshot, right: Snapshot) -> float:
    """Work of a force whose place jumps at an exchange."""
    return float((left.force + right.force) @ left.acting.reach(right.acting)) / 2


def _work(right: Snapshot, left: Snapshot) -> float:
    """Work during a macro step."""
    if right.work is not None and left.work is not None:
        return left.work - right.work
    return float((right.force + left.force) @ right.acting.reach(left.acting)) / 2


def _pull(known: list[tuple[int, Snapshot]], now: list[Snapshot]) -> np.ndarray:
    """Force that pulls the sides together, from the side that knows best where the other one is."""
    misses = [float(np.sum(side.acting.reach(now[1 - k].own) ** 2)) for k, side in known]
    k, best = known[int(np.argmin(misses))]
    return best.force if k == 0 else -best.force
