"""Table of a nominal motion: how are its equations read at any time? From one row of numbers for each piece.

On a piece matrices are linear in time, M = M_k + (t - t_k) M_k', and columns cubic. What is cubic there is not the
torque itself but what is left of it for the matrices as they are interpolated,

    r = torque - M a0 - C v0 - K q0,    r' = dtorque/dt - M' a0 - C' v0 - K' q0

so that `M a + r + C v + K q` is exact on the nominal motion, whatever the matrices do between two points, and no
reference has to be read: only deviations from it feel the straight lines. Outputs are treated in the same way.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import casadi as ca
import numpy as np
from casadi import SX

from robodyn.base import Array, frozen
from robodyn.base.symbolic import to_column
from robodyn.base.symbolic.tables import row, seek
from robodyn.computation.assembly.motion import LinearMechanics
from robodyn.computation.native.rows import pack_rows

from .nominal import LinearisedEquations, Nominal

LINEAR, CUBIC = 2, 4
"""Numbers of a row for one entry."""
STIFFNESS = ("stiffness_structural", "stiffness_geometric", "stiffness_dynamic")

Places = tuple[tuple[int, int], ...]


@frozen
class RowLayout:
    """Which entries of the equations stand in a row: those that are not zero anywhere.

    Attributes:
        mass: places below and on the diagonal that change along the motion; damping, stiffness: of C0 and K0.
        by_position, by_velocity: of the derivatives of the outputs.
    """

    equations: LinearisedEquations
    mass: Places
    damping: Places
    stiffness: Places
    by_position: Places
    by_velocity: Places

    @cached_property
    def blocks(self) -> dict[str, tuple[int, int, int]]:
        """Name -> (first column, entries, numbers an entry), in the order of how often they are read."""
        n, k = len(self.equations.scope.joints), len(self.equations.outputs)
        c = len(self.equations.scope.curved)
        sizes = {
            "mass": (len(self.mass), LINEAR),
            "damping": (len(self.damping), LINEAR),
            "stiffness": (len(self.stiffness), LINEAR),
            "rest": (n, CUBIC),
            "outputs": (k, CUBIC),
            "by_position": (len(self.by_position), LINEAR),
            "by_velocity": (len(self.by_velocity), LINEAR),
            "position": (n if c else 0, CUBIC),
            "lengths": (c, CUBIC),
            "gradients": (c * n, CUBIC),
            "curvature": (c * n * n, LINEAR),
        }
        firsts = np.cumsum([1, *(count * order for count, order in sizes.values())])
        return {name: (int(first), *size) for (name, size), first in zip(sizes.items(), firsts, strict=False)}

    @property
    def width(self) -> int:
        return 1 + sum(count * order for _, count, order in self.blocks.values())


def lay_out_rows(equations: LinearisedEquations) -> RowLayout:
    """The entries that equations along a motion have."""
    terms, q = equations.terms, equations.scope.system.q
    M = terms["mass"]
    mass = tuple((i, j) for i in range(M.shape[0]) for j in range(i + 1) if ca.depends_on(M[i, j], q))
    stiffness = sum((terms[name] for name in STIFFNESS), SX(*M.shape))
    by = (terms["outputs_by_position"], terms["outputs_by_velocity"])
    return RowLayout(equations, mass, *(_places(matrix) for matrix in (terms["damping"], stiffness, *by)))


def _places(matrix: SX) -> Places:
    """Entries of a matrix that are not zero by structure."""
    sparse = ca.sparsify(matrix)
    return tuple(zip(*sparse.sparsity().get_triplet(), strict=True)) if sparse.nnz() else ()


@frozen
class RowReader:
    """The row at a time, as expressions."""

    layout: RowLayout
    index: SX
    s: SX

    def read(self, name: str) -> list[SX]:
        """All entries of a block at that time."""
        first, count, order = self.layout.blocks[name]
        return [self._polynomial(first + k * order, order) for k in range(count)]

    def _polynomial(self, column: int, order: int) -> SX:
        value = row(column + order - 1, self.index)
        for k in reversed(range(order - 1)):
            value = row(column + k, self.index) + self.s * value
        return value

    def matrix(self, name: str, shape: tuple[int, int]) -> SX:
        """A matrix of the entries of a block at their places."""
        matrix = SX(*shape)
        for (i, j), value in zip(getattr(self.layout, name), self.read(name), strict=True):
            matrix[i, j] = value
        return matrix


def trace_linear(layout: RowLayout, data: Array, time: SX, q: SX, v: SX, p: SX) -> LinearMechanics:
    """The linear mechanics as expressions of time, q, v and the parameters that read the rows."""
    scope = layout.equations.scope
    index = seek(layout.width, time)
    reader = RowReader(layout, index, time - row(0, index))
    n, k = q.numel(), len(layout.equations.outputs)
    C, K = (reader.matrix(name, (n, n)) for name in ("damping", "stiffness"))
    bias = ca.vertcat(*reader.read("rest")) + C @ v + K @ q
    y = to_column(reader.read("outputs"))
    y = y + reader.matrix("by_position", (k, n)) @ q + reader.matrix("by_velocity", (k, n)) @ v
    outputs = dict(zip(layout.equations.outputs, ca.vertsplit(ca.densify(y)), strict=True)) if k else {}
    signals = {name: outputs[name] for name in scope.signals}
    carried = ca.vertcat(*(outputs.get(f"{joint}.carried", SX(0)) for joint in scope.joints))
    signals |= _curved_positions(reader, q)
    # M, symmetric; entries that do not change along the motion are expressions of parameters.
    M = SX(reader.layout.equations.terms["mass"])
    for (i, j), value in zip(reader.layout.mass, reader.read("mass"), strict=True):
        M[i, j] = M[j, i] = value
    M = ca.substitute(M, scope.system.symbols.p, p)
    return LinearMechanics(M, ca.densify(bias), carried, signals, frozenset(scope.folded), data)


def _curved_positions(reader: RowReader, q: SX) -> dict[str, SX]:
    """`s = s0 + G q' + q'^T H q' / 2` of coordinates with forces kept in full: their gradient is `G + H q'`."""
    names, n = reader.layout.equations.scope.curved, q.numel()
    if not names:
        return {}
    displacement = q - ca.vertcat(*reader.read("position"))
    G = ca.reshape(ca.vertcat(*reader.read("gradients")), n, len(names))
    H = reader.read("curvature")
    positions = {}
    for k, (name, length) in enumerate(zip(names, reader.read("lengths"), strict=True)):
        bend = ca.reshape(ca.vertcat(*H[k * n * n : (k + 1) * n * n]), n, n)
        positions[f"{name}.position"] = (
            length + ca.dot(G[:, k], displacement) + 0.5 * ca.dot(displacement, bend @ displacement)
        )
    return positions


# --------------------------------------------------------------------------------------------------
# Table data: which numbers does each piece of a nominal motion put into its row? Those that `table` reads.


def fill_rows(layout: RowLayout, nominal: Nominal) -> Array:
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


@frozen
class _Pieces:
    """The pieces of a nominal motion: the rows where they begin, and their lengths [s]."""

    nominal: Nominal
    begin: Array
    length: Array

    def slope(self, values: Array) -> Array:
        """Mean slope on each piece."""
        length = self.length.reshape(-1, *[1] * (values.ndim - 1))
        return (values[self.begin + 1] - values[self.begin]) / length

    def linear(self, matrices: Array, places: Places) -> Array:
        """Value and slope of some entries, side by side."""
        i, j = np.array(places, int).reshape(-1, 2).T
        return _interleave([matrices[self.begin][:, i, j], self.slope(matrices)[:, i, j]])

    def cubic(self, values: Sequence[Array], slopes: Sequence[Array]) -> Array:
        """Coefficients of the cubics through values and slopes at both ends, entry by entry (Hermite)."""
        (y0, y1), (d0, d1), h = values, slopes, self.length[:, None]
        mean = (y1 - y0) / h
        return _interleave([y0, d0, (3 * mean - 2 * d0 - d1) / h, (d0 + d1 - 2 * mean) / h**2])

    def rest(self) -> Array:
        """The remainder of the torque beside the interpolated matrices."""
        n = self.nominal
        matrices = (n.mass, n.damping, n.stiffness)
        moved = (n.acceleration, n.velocity, n.position)
        return self._left(n.torque, n.torque_rate, list(zip(matrices, moved, strict=True)))

    def outputs(self) -> Array:
        """The remainder of the outputs beside the interpolated derivatives."""
        n = self.nominal
        parts = [(n.outputs_by_position, n.position), (n.outputs_by_velocity, n.velocity)]
        # Of all outputs only torques change with time itself, as they do in the torque that is needed against them.
        rate = np.zeros_like(n.outputs)
        for column, joint in enumerate(n.joints):
            if f"{joint}.carried" in n.signals:
                rate[:, n.signals.index(f"{joint}.carried")] = -n.torque_rate[:, column]
        return self._left(n.outputs, rate, parts)

    def _left(self, whole: Array, rate: Array, parts: list[tuple[Array, Array]]) -> Array:
        """Cubics of `whole - sum A x`, whose slope is `rate - sum A' x` where dwhole/dt = rate + sum A dx/dt."""
        ends = (self.begin, self.begin + 1)
        values = [whole[end] - sum(_apply(A[end], x[end]) for A, x in parts) for end in ends]
        slopes = [rate[end] - sum(_apply(self.slope(A), x[end]) for A, x in parts) for end in ends]
        return self.cubic(values, slopes)

    def curved(self) -> list[Array]:
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


def _apply(A: Array, x: Array) -> Array:
    return np.einsum("rij,rj->ri", A, x)


def _interleave(parts: Sequence[Array]) -> Array:
    """Numbers of one entry side by side: (pieces, entries * parts)."""
    stacked = np.stack(parts, axis=-1)
    return stacked.reshape(len(stacked), -1)
