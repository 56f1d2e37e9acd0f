"""Energy ledger of a coupling: how much energy does it create or destroy?

Each side of a connection gets the work W = integral of f dy, of the force f on it and of the displacement y at which it
acts: its own, or that of the far side where the elastic part of the coupling is on its own. Jumps of y at an exchange
count. What is coupled exactly gives W_1 + W_2 = 0, or the work W_e that the elastic part takes where both have it;

    energy error = W_1 + W_2 - W_e

The work is integrated with the unit; where a motion comes in, by the trapezoidal rule between exchanges, from both
sides of each: exact for linear springs and held motions. So is that of the elastic part.

All of it is found from what was written down, for all macro steps at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from robodyn.computation.cosimulation.connection import InterfacePair, Side
from robodyn.computation.cosimulation.rotations import reach

Outputs = Mapping[str, Mapping[str, float]]
Signals = list[tuple[str, str]]
"""Unit and output."""


@dataclass(frozen=True, eq=False)
class Place:
    """Positions (n, 1 or 3), and rotations (n, 3, 3) where these are coupled."""

    position: np.ndarray
    rotation: np.ndarray | None = None


@dataclass(frozen=True, eq=False)
class Balance:
    """Energies at a connection.

    Attributes:
        created: the energy error up to each exchange (n,) [J]; passed: between the least and the most that either side
            had received of the other [J]; force: the largest of any row [N or N m].
    """

    created: np.ndarray
    passed: float
    force: float


class SideBook:
    """One side of a connection as columns of what is written down.

    Attributes:
        signals: what is written down of it.
    """

    def __init__(self, side: Side, outputs: Outputs) -> None:
        part, far = side.interface, "far_" if side.elastic else ""
        work = (f"{part.name}.work",) if f"{part.name}.work" in outputs[side.unit] else ()
        names = {"work": work, "force": part.names("force")}
        for key, prefix in (("acting", far), ("own", "")):
            names[key] = part.names(f"{prefix}position")
            names[f"{key}_turn"] = part.names(f"{prefix}orientation") if part.rotates else ()
        ends = np.cumsum([0, *map(len, names.values())]).tolist()
        self._columns = {key: slice(*ends[k : k + 2]) for k, key in enumerate(names)}
        self.signals: Signals = [(side.unit, name) for entry in names.values() for name in entry]

    def work(self, right: np.ndarray, left: np.ndarray) -> np.ndarray:
        """During macro steps, from rows at their beginnings and ends, (n,) [J]."""
        column = self._columns["work"]
        if column.stop > column.start:
            return (left - right)[:, column.start]
        return self.jump(right, left)

    def jump(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """Of a force whose place jumps, by the trapezoidal rule, (n,) [J]."""
        moved = reach(self.place(left, "acting"), self.place(right, "acting"))
        return np.sum((self.force(left) + self.force(right)) * moved, axis=1) / 2

    def force(self, rows: np.ndarray) -> np.ndarray:
        return rows[:, self._columns["force"]]

    def place(self, rows: np.ndarray, key: str) -> Place:
        """Where the force acts ("acting"), or where this side is ("own")."""
        turned = rows[:, self._columns[f"{key}_turn"]]
        rotation = turned.reshape(-1, 3, 3) if turned.shape[1] else None
        return Place(rows[:, self._columns[key]], rotation)


class PairBook:
    """Both sides of a connection; signals: what is written down of them, at both ends of each macro step."""

    def __init__(self, pair: InterfacePair, outputs: Outputs) -> None:
        self.sides = [SideBook(side, outputs) for side in pair.sides]
        self.elastic = all(side.elastic for side in pair.sides)
        self.signals: Signals = [signal for side in self.sides for signal in side.signals]

    def balance(self, start: np.ndarray, begun: np.ndarray, ended: np.ndarray) -> Balance:
        """Energies so far in each row.

        Args:
            start: what was written down at the start (w,); begun, ended: at the beginning, after the exchange, and the
                end of each macro step (n, w), not a number where there was no such.
        """
        n = len(begun)
        before = np.vstack([start, ended])[:n]
        split = [self._split(rows) for rows in (before, begun, ended)]
        met, gone = (~np.isnan(rows).all(axis=1) for rows in (begun, ended))
        # W_1 and W_2 of each row: the jump at the exchange, then the work of the macro step.
        jumps = [np.where(met, side.jump(split[0][k], split[1][k]), 0.0) for k, side in enumerate(self.sides)]
        works = [np.where(gone, side.work(split[1][k], split[2][k]), 0.0) for k, side in enumerate(self.sides)]
        taken = np.where(met, self._taken(split[0], split[1])[:n], 0.0) if self.elastic else np.zeros(n)
        # A row is at the beginning of its macro step: the work in it belongs to the row after.
        earlier = [np.concatenate([[0.0], work])[:n] for work in works]
        received = [np.cumsum(before + jump) for before, jump in zip(earlier, jumps, strict=True)]
        created = received[0] + received[1] - np.cumsum(taken)
        passed = max(float(np.ptp([0.0, *energy])) for energy in received)
        forces = np.hstack([side.force(rows) for side, rows in zip(self.sides, split[1], strict=True)])
        return Balance(created, passed, float(np.nanmax(np.abs(forces), initial=0.0)))

    def _split(self, rows: np.ndarray) -> list[np.ndarray]:
        n = len(self.sides[0].signals)
        return [rows[:, :n], rows[:, n:]]

    def _taken(self, before: list[np.ndarray], now: list[np.ndarray]) -> np.ndarray:
        """Work of the elastic part since the last exchange, by how far the sides moved apart, (n,) [J]."""
        own = [self.sides[k].place(now[k], "own") for k in range(2)]
        pull, apart = self._pull(before, now, own), reach(own[0], own[1])
        taken = np.sum((pull[:-1] + pull[1:]) * np.diff(apart, axis=0), axis=1) / 2
        return np.concatenate([[0.0], taken])

    def _pull(self, before: list[np.ndarray], now: list[np.ndarray], own: list[Place]) -> np.ndarray:
        """Force that pulls the sides together, from the side that knows best where the other one is, (n, k)."""
        known = [(k, rows[k]) for rows in (now, before) for k in range(2)]
        missing = [reach(self.sides[k].place(rows, "acting"), own[1 - k]) for k, rows in known]
        best = np.argmin([np.sum(entry**2, axis=1) for entry in missing], axis=0)
        forces = np.array([self.sides[k].force(rows) * (1 - 2 * k) for k, rows in known])
        return forces[best, np.arange(len(best))]
