"""Table data: which numbers does each piece of a nominal motion put into its row? Those that `table` reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from robodyn.computation.native.rows import pack_rows
from robodyn.computation.perturbation.nominal import Nominal
from robodyn.computation.perturbation.table import Layout, Places


def fill_rows(layout: Layout, nominal: Nominal) -> np.ndarray:
    """The numbers of all pieces, as `native.rows` has them behind the parameters."""
    begin = np.flatnonzero(np.diff(nominal.times) > 0)
    length = np.diff(nominal.times)[begin]
    pieces = _Pieces(nominal, begin, length)
    blocks = [nominal.times[begin][:, None]]
    blocks += [pieces.linear(nominal.mass, layout.mass), pieces.linear(nominal.damping, layout.damping)]
    blocks += [pieces.linear(nominal.stiffness, layout.stiffness), pieces.rest(), pieces.outputs()]
    blocks += [pieces.linear(nominal.outputs_by_position, layout.by_position)]
    blocks += [pieces.linear(nominal.outputs_by_velocity, layout.by_velocity)]
    blocks += pieces.curved()
    rows = np.concatenate(blocks, axis=1)
    return pack_rows(rows)


@dataclass(frozen=True)
class _Pieces:
    """The pieces of a nominal motion: the rows where they begin, and their lengths [s]."""

    nominal: Nominal
    begin: np.ndarray
    length: np.ndarray

    def slope(self, values: np.ndarray) -> np.ndarray:
        """Mean slope on each piece."""
        length = self.length.reshape(-1, *[1] * (values.ndim - 1))
        return (values[self.begin + 1] - values[self.begin]) / length

    def linear(self, matrices: np.ndarray, places: Places) -> np.ndarray:
        """Value and slope of some entries, side by side."""
        i, j = np.array(places, int).reshape(-1, 2).T
        return _interleave([matrices[self.begin][:, i, j], self.slope(matrices)[:, i, j]])

    def cubic(self, values: Sequence[np.ndarray], slopes: Sequence[np.ndarray]) -> np.ndarray:
        """Coefficients of the cubics through values and slopes at both ends, entry by entry (Hermite)."""
        (y0, y1), (d0, d1), h = values, slopes, self.length[:, None]
        mean = (y1 - y0) / h
        return _interleave([y0, d0, (3 * mean - 2 * d0 - d1) / h, (d0 + d1 - 2 * mean) / h**2])

    def rest(self) -> np.ndarray:
        """What the interpolated matrices leave of the torque."""
        n = self.nominal
        matrices = (n.mass, n.damping, n.stiffness)
        moved = (n.acceleration, n.velocity, n.position)
        return self._left(n.torque, n.torque_rate, list(zip(matrices, moved, strict=True)))

    def outputs(self) -> np.ndarray:
        """What the interpolated derivatives leave of the outputs."""
        n = self.nominal
        parts = [(n.outputs_by_position, n.position), (n.outputs_by_velocity, n.velocity)]
        # Of all outputs only torques change with time itself, as they do in the torque that is needed against them.
        rate = np.zeros_like(n.outputs)
        for column, joint in enumerate(n.joints):
            if f"{joint}.carried" in n.signals:
                rate[:, n.signals.index(f"{joint}.carried")] = -n.torque_rate[:, column]
        return self._left(n.outputs, rate, parts)

    def _left(self, whole: np.ndarray, rate: np.ndarray, parts: list[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
        """Cubics of `whole - sum A x`, whose slope is `rate - sum A' x` where dwhole/dt = rate + sum A dx/dt."""
        ends = (self.begin, self.begin + 1)
        values = [whole[end] - sum(_apply(A[end], x[end]) for A, x in parts) for end in ends]
        slopes = [rate[end] - sum(_apply(self.slope(A), x[end]) for A, x in parts) for end in ends]
        return self.cubic(values, slopes)

    def curved(self) -> list[np.ndarray]:
        """Reference positions, and lengths, gradients and curvatures of coordinates with forces kept in full."""
        n, ends = self.nominal, (self.begin, self.begin + 1)
        if not n.curved:
            return []
        size = len(n.joints)
        places = [n.signals.index(f"{name}.position") for name in n.curved]
        H = n.curvature.reshape(len(n.times), size, len(places), size).transpose(0, 2, 1, 3)
        s, G = n.outputs[:, places], n.outputs_by_position[:, places]
        G_dot = np.einsum("rcij,rj->rci", H, n.velocity)
        flat = [array.reshape(len(n.times), -1) for array in (G, G_dot, H)]
        s_dot = _apply(G, n.velocity)
        return [
            self.cubic([n.position[end] for end in ends], [n.velocity[end] for end in ends]),
            self.cubic([s[end] for end in ends], [s_dot[end] for end in ends]),
            self.cubic([flat[0][end] for end in ends], [flat[1][end] for end in ends]),
            _interleave([flat[2][self.begin], self.slope(flat[2])]),
        ]


def _apply(A: np.ndarray, x: np.ndarray) -> np.ndarray:
    return np.einsum("rij,rj->ri", A, x)


def _interleave(parts: Sequence[np.ndarray]) -> np.ndarray:
    """Numbers of one entry side by side: (pieces, entries * parts)."""
    stacked = np.stack(parts, axis=-1)
    return stacked.reshape(len(stacked), -1)
