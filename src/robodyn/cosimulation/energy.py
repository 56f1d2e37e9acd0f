"""How much energy does a coupling create or destroy?

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

import numpy as np

from robodyn.cosimulation.connection import Bond, Side

Outputs = Mapping[str, Mapping[str, float]]


@dataclass(frozen=True, eq=False)
class Snapshot:
    """One side at an instant.

    Attributes:
        work: on it so far [J], None where it does not know; force: (k,).
        displacement: (1 or 3,), rate: (k,), at which the force acts; position, velocity: its own.
    """

    work: float | None
    force: np.ndarray
    displacement: np.ndarray
    rate: np.ndarray
    position: np.ndarray
    velocity: np.ndarray


def take_snapshot(side: Side, outputs: Mapping[str, float]) -> Snapshot:
    """A side as the outputs of its unit tell it."""
    part = side.interface
    far = "far_" if side.elastic else ""
    quantities = ("force", f"{far}position", f"{far}velocity", "position", "velocity")
    values = np.array([outputs[name] for quantity in quantities for name in part.names(quantity)])
    found, end = [], 0
    for quantity in quantities:
        begin, end = end, end + len(part.names(quantity))
        found.append(values[begin:end])
    return Snapshot(outputs.get(f"{part.name}.work"), *found)


class EnergyBook:
    """The energy error of one connection so far [J]."""

    def __init__(self, bond: Bond) -> None:
        self.bond = bond
        self.error = 0.0
        self.before: list[Snapshot] | None = None
        self.pulled: tuple[np.ndarray, list[Snapshot], float] | None = None

    def begin(self, outputs: Outputs) -> None:
        """The sides as they are at the start."""
        self.before = self._snapshots(outputs)

    def add(self, begun: Outputs, ended: Outputs, step: float) -> None:
        """A macro step, from the outputs after the exchange at its beginning and at its end."""
        right = self.meet(begun, step)
        left = self._snapshots(ended)
        self.error += sum(_work(right[k], left[k], step) for k in (0, 1))
        self.before = left

    def meet(self, begun: Outputs, step: float = 0.0) -> list[Snapshot]:
        """An exchange: the work of jumps, and what the elastic part took since the last one."""
        right = self._snapshots(begun)
        if self.before:
            self.error += sum(_jump(self.before[k], right[k]) for k in (0, 1))
        if all(side.elastic for side in self.bond.sides):
            self._take(right, step)
        return right

    def _snapshots(self, outputs: Outputs) -> list[Snapshot]:
        return [take_snapshot(side, outputs[side.unit]) for side in self.bond.sides]

    def _take(self, now: list[Snapshot], step: float) -> None:
        """Take off the work of the elastic part since the last exchange: by how far the sides moved apart."""
        pull = _pull([*enumerate(now), *enumerate(self.before or ())], now)
        if self.pulled is not None:
            before, begun, passed = self.pulled
            apart = [second.position - first.position for first, second in (begun, now)]
            rates = (begun[1].velocity - begun[0].velocity, now[1].velocity - now[0].velocity)
            self.error -= float((before + pull) @ _moved(apart[1] - apart[0], rates, passed)) / 2
        self.pulled = pull, now, step

    def copy(self) -> EnergyBook:
        other = EnergyBook(self.bond)
        other.error, other.before, other.pulled = self.error, self.before, self.pulled
        return other


def _jump(left: Snapshot, right: Snapshot) -> float:
    """Work of a force whose place jumps at an exchange."""
    n = len(left.displacement)
    return float((left.force[:n] + right.force[:n]) @ (right.displacement - left.displacement)) / 2


def _work(right: Snapshot, left: Snapshot, step: float) -> float:
    """Work during a macro step."""
    if right.work is not None and left.work is not None:
        return left.work - right.work
    moved = _moved(left.displacement - right.displacement, (right.rate, left.rate), step)
    return float((right.force + left.force) @ moved) / 2


def _moved(along: np.ndarray, rates: tuple[np.ndarray, np.ndarray], step: float) -> np.ndarray:
    """Displacement in all rows: as given along the axes, by the trapezoidal rule about them."""
    return np.concatenate([along, step * (rates[0] + rates[1])[len(along) :] / 2])


def _pull(known: list[tuple[int, Snapshot]], now: list[Snapshot]) -> np.ndarray:
    """Force that pulls the sides together, from the side that knows best where the other one is."""
    misses = [float(np.sum((side.displacement - now[1 - k].position) ** 2)) for k, side in known]
    k, best = known[int(np.argmin(misses))]
    return best.force if k == 0 else -best.force
