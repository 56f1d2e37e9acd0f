"""Functions of a system at points: values and exact derivatives of any of its expressions, in native code."""

from __future__ import annotations

from collections.abc import Mapping

import casadi as ca
import numpy as np

from robodyn.base import Array, frozen
from robodyn.computation.assembly import System
from robodyn.computation.assembly.system import INPUTS
from robodyn.computation.native import FEW_CALLS, Sweep, build_jacobian, compile_kernels


@frozen(eq=False)
class OperatingPoint:
    """One value of everything a system's functions depend on: t [s], x, d, m, p in the system's order."""

    t: float
    x: Array
    d: Array
    m: Array
    p: Array


def described_point(system: System) -> OperatingPoint:
    """Start values, values before the start and parameters as the scenario describes them."""
    return OperatingPoint(0.0, *system.described)


class PointFunctions:
    """Columns of expressions by name, and the derivative of one by another, compiled once for many points.

    Args:
        values: in the system's symbols; slopes: a column of rows, and of the symbols by which they are differentiated.
        quick: whether to compile fast, for a few calls only.
    """

    def __init__(
        self,
        system: System,
        values: Mapping[str, ca.SX],
        slopes: tuple[ca.SX, ca.SX] | None = None,
        *,
        quick: bool = False,
    ) -> None:
        functions: dict[str, ca.Function | Sweep] = {
            name: system.function(ca.vec(column), "values") for name, column in values.items()
        }
        if slopes is not None:
            rows, columns = slopes
            sweep = "slopes", [*system.symbols], ca.densify(rows), columns
            functions["slopes"] = build_jacobian(*sweep, written_out=FEW_CALLS if quick else None)
            self._shape = rows.numel(), columns.numel()
        self.module = compile_kernels(functions, INPUTS.index("p"), quick=quick)
        self._prepared: tuple[Array, Array] | None = None

    def __call__(self, name: str, point: OperatingPoint) -> Array:
        """The values of a column; a matrix column after column."""
        if self._prepared is None or self._prepared[0] is not point.p:
            self._prepared = point.p, self.module.prepare(point.p)
        inputs = (np.array([point.t]), point.x, point.d, point.m, self._prepared[1])
        return np.array(self.module.kernels[name](*inputs))

    def slopes(self, point: OperatingPoint) -> Array:
        """d rows[i] / d columns[j], (rows, columns)."""
        return self("slopes", point).reshape(self._shape, order="F")
