"""Table of a nominal motion: how are its equations read at any time? From one row of numbers for each piece.

On a piece matrices are linear in time, M = M_k + (t - t_k) M_k', and columns cubic. What is cubic there is not the
torque itself but what is left of it for the matrices as they are interpolated,

    r = torque - M a0 - C v0 - K q0,    r' = dtorque/dt - M' a0 - C' v0 - K' q0

so that `M a + r + C v + K q` is exact on the nominal motion, whatever the matrices do between two points, and no
reference has to be read: only deviations from it feel the straight lines. Outputs are treated in the same way.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import casadi as ca
import numpy as np

from robodyn.base.symbolic.tables import row, seek
from robodyn.computation.assembly.linear import LinearMechanics
from robodyn.computation.perturbation.equations import Equations

LINEAR, CUBIC = 2, 4
"""Numbers of a row for one entry."""
STIFFNESS = ("stiffness_structural", "stiffness_geometric", "stiffness_dynamic")

Places = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Layout:
    """Which entries of the equations stand in a row: those that are not zero anywhere.

    Attributes:
        mass: places below and on the diagonal that change along the motion; damping, stiffness: of C0 and K0.
        by_position, by_velocity: of the derivatives of the outputs.
    """

    equations: Equations
    mass: Places
    damping: Places
    stiffness: Places
    by_position: Places
    by_velocity: Places

    @cached_property
    def blocks(self) -> dict[str, tuple[int, int, int]]:
        """Name -> (first column, entries, numbers an entry), in the order of how often they are read."""
        n, k = len(self.equations.outline.joints), len(self.equations.outputs)
        c = len(self.equations.outline.curved)
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


def lay_out_rows(equations: Equations) -> Layout:
    """The entries that equations along a motion have."""
    terms, q = equations.terms, equations.outline.system.q
    M = terms["mass"]
    mass = tuple((i, j) for i in range(M.shape[0]) for j in range(i + 1) if ca.depends_on(M[i, j], q))
    stiffness = sum((terms[name] for name in STIFFNESS), ca.SX(*M.shape))
    by = (terms["outputs_by_position"], terms["outputs_by_velocity"])
    return Layout(equations, mass, *(_places(matrix) for matrix in (terms["damping"], stiffness, *by)))


def _places(matrix: ca.SX) -> Places:
    """Entries of a matrix that are not zero by structure."""
    sparse = ca.sparsify(matrix)
    return tuple(zip(*sparse.sparsity().get_triplet(), strict=True)) if sparse.nnz() else ()


@dataclass(frozen=True)
class Reader:
    """The row at a time, as expressions."""

    layout: Layout
    index: ca.SX
    s: ca.SX

    def read(self, name: str) -> list[ca.SX]:
        """All entries of a block at that time."""
        first, count, order = self.layout.blocks[name]
        return [self._polynomial(first + k * order, order) for k in range(count)]

    def _polynomial(self, column: int, order: int) -> ca.SX:
        value = row(column + order - 1, self.index)
        for k in reversed(range(order - 1)):
            value = row(column + k, self.index) + self.s * value
        return value

    def matrix(self, name: str, shape: tuple[int, int]) -> ca.SX:
        """A matrix of the entries of a block at their places."""
        matrix = ca.SX(*shape)
        for (i, j), value in zip(getattr(self.layout, name), self.read(name), strict=True):
            matrix[i, j] = value
        return matrix


def trace_linear(layout: Layout, data: np.ndarray, time: ca.SX, q: ca.SX, v: ca.SX, p: ca.SX) -> LinearMechanics:
    """The linear mechanics as expressions of time, q, v and the parameters that read the rows."""
    outline = layout.equations.outline
    index = seek(layout.width, time)
    reader = Reader(layout, index, time - row(0, index))
    n, k = q.numel(), len(layout.equations.outputs)
    C, K = (reader.matrix(name, (n, n)) for name in ("damping", "stiffness"))
    bias = ca.vertcat(*reader.read("rest")) + C @ v + K @ q
    y = ca.vertcat(ca.SX(0, 1), *reader.read("outputs"))
    y = y + reader.matrix("by_position", (k, n)) @ q + reader.matrix("by_velocity", (k, n)) @ v
    found = dict(zip(layout.equations.outputs, ca.vertsplit(ca.densify(y)), strict=True)) if k else {}
    signals = {name: found[name] for name in outline.signals}
    carried = ca.vertcat(*(found.get(f"{joint}.carried", ca.SX(0)) for joint in outline.joints))
    signals |= _curved_positions(reader, q)
    M, bias = _mass_matrix(reader, p), ca.densify(bias)
    return LinearMechanics(M, bias, carried, signals, frozenset(outline.folded), data)


def _mass_matrix(reader: Reader, p: ca.SX) -> ca.SX:
    """M, symmetric; entries that do not change along the motion are expressions of parameters."""
    M = ca.SX(reader.layout.equations.terms["mass"])
    for (i, j), value in zip(reader.layout.mass, reader.read("mass"), strict=True):
        M[i, j] = M[j, i] = value
    return ca.substitute(M, reader.layout.equations.outline.system.symbols.p, p)


def _curved_positions(reader: Reader, q: ca.SX) -> dict[str, ca.SX]:
    """`s = s0 + G q' + q'^T H q' / 2` of coordinates with forces kept in full: their gradient is `G + H q'`."""
    names, n = reader.layout.equations.outline.curved, q.numel()
    if not names:
        return {}
    moved = q - ca.vertcat(*reader.read("position"))
    G = ca.reshape(ca.vertcat(*reader.read("gradients")), n, len(names))
    H = reader.read("curvature")
    found = {}
    for k, (name, length) in enumerate(zip(names, reader.read("lengths"), strict=True)):
        bend = ca.reshape(ca.vertcat(*H[k * n * n : (k + 1) * n * n]), n, n)
        found[f"{name}.position"] = length + ca.dot(G[:, k], moved) + 0.5 * ca.dot(moved, bend @ moved)
    return found
