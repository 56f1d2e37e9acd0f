"""State of a controller's model: where are all joints, given positions and velocities of the axes alone?

    h(q) = 0,  s(q) = position,    then    h' = 0,  s' = velocity

Axes that are joints are set; the others follow by Newton's method from where the machine is, so that the result is on
the same branch, and depends on the axes alone where constraints and axes determine it. What they leave undetermined,
a floating base, stays as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from robodyn.base.symbolic.linear import factor_linear
from robodyn.base.symbolic.tables import call
from robodyn.computation.assembly.model_functions import ModelFunctions

NEWTON_STEPS = 3
SPARE = 1e-9
"""Damping of equations of which some follow from others, over their mean size."""
Values = Sequence[Any]


@dataclass(frozen=True)
class Known:
    """What a law sees of the machine: all joints, its axes, and the numbers of its model."""

    time: ca.SX
    q: ca.SX
    v: ca.SX
    position: tuple[Any, ...]
    velocity: tuple[Any, ...]
    numbers: ca.SX


@dataclass(frozen=True)
class StateFinder:
    """Finds the state of a model.

    Attributes:
        exact: whether the model's geometry is that of the machine, so that joints are where they are.
    """

    functions: ModelFunctions
    known: Known
    exact: bool

    def call(self, name: str, q: ca.SX, v: ca.SX, target: ca.SX | None = None) -> ca.SX:
        """A function of the model in a state; a target of the task where it depends on that."""
        known, function = self.known, self.functions.named[name]
        aim = ca.SX.zeros(function.size1_in(4)) if target is None else target
        # Positions that a law wants may be numbers, and velocities at rest are.
        return call(function, [known.time, q, v, known.numbers, aim])[0]

    def find(self, position: Values, velocity: Values) -> tuple[ca.SX, ca.SX]:
        """q and v."""
        here = self.exact and same(position, self.known.position)
        if here and same(velocity, self.known.velocity):
            return self.known.q, self.known.v
        q, v = ca.SX(self.known.q), ca.SX(self.known.v)
        for axis, (place, rate) in self.functions.direct.items():
            q[place], v[rate] = position[axis], velocity[axis]
        q = self.known.q if here else self._close(q, v, position)
        return q, self._match(q, v, velocity)

    def _close(self, q: ca.SX, v: ca.SX, position: Values) -> ca.SX:
        """Newton's steps of the positions that are not given."""
        n = len(position)
        rows = [*self._indirect(n), *(n + row for row in self.functions.positional)]
        if not rows or not self._free:
            return q
        for _ in range(NEWTON_STEPS):
            missed = (self.call("positions", q, v) - _padded(position, self._rows("positions")))[rows]
            step = ca.SX.zeros(self.functions.n_v)
            slopes = self.call("position_slopes", q, v)[rows, self._free]
            step[self._free] = least_squares(slopes, missed, self.functions.spare)
            q = q - self.call("position_rates", q, v) @ step
        return q

    def _match(self, q: ca.SX, v: ca.SX, velocity: Values) -> ca.SX:
        """The velocities that are not given, from linear equations."""
        rows = [*self._indirect(len(velocity)), *range(len(velocity), self._rows("rates"))]
        if not rows or not self._free:
            return v
        missed = (self.call("rates", q, v) - _padded(velocity, self._rows("rates")))[rows]
        slopes = self.call("rate_slopes", q, v)[rows, self._free]
        v = ca.SX(v)
        v[self._free] = v[self._free] - least_squares(slopes, missed, self.functions.spare)
        return v

    def _rows(self, name: str) -> int:
        return int(self.functions.named[name].size1_out(0))

    def _indirect(self, n: int) -> list[int]:
        """Axes that are coordinates, functions of several joints."""
        return [k for k in range(n) if k not in self.functions.direct]

    @property
    def _free(self) -> list[int]:
        """Places in v of what is no axis itself."""
        taken = {rate for _, rate in self.functions.direct.values()}
        return [k for k in range(self.functions.n_v) if k not in taken]


def _padded(values: Values, n: int) -> ca.SX:
    return ca.vertcat(*values, ca.SX.zeros(n - len(values)))


def identify(value: Any) -> float:
    """Equal for equal numbers, and for the same symbol."""
    return int(value.element_hash()) if isinstance(value, ca.SX) else float(value)


def same(values: Values, others: Values) -> bool:
    """Whether these are the same symbols."""
    return all(identify(one) == identify(other) for one, other in zip(values, others, strict=True))


def solve(A: ca.SX, b: ca.SX) -> ca.SX:
    """x of A x = b, column by column."""
    A = ca.densify(A)
    rows = [[A[i, j] for j in range(A.shape[1])] for i in range(A.shape[0])]
    factored = factor_linear(rows)
    return ca.horzcat(*(ca.vertcat(*factored(ca.vertsplit(column))) for column in ca.horzsplit(ca.densify(b))))


def invert(A: ca.SX) -> ca.SX:
    """A^-1."""
    return solve(A, ca.SX(np.eye(A.shape[0])))


def least_squares(A: ca.SX, r: ca.SX, spare: int) -> ca.SX:
    """x of A x = r: of least squares where rows follow from others, of the least norm where there are too few."""
    rows, columns = A.shape
    if rows == columns and not spare:
        return solve(A, r)
    if rows - spare >= columns:
        return solve(A.T @ A, A.T @ r)
    # Rows that follow from others would make the equations singular; the next step takes back what this leaves.
    damping = SPARE * ca.trace(A @ A.T) / rows if spare else 0.0
    return A.T @ solve(A @ A.T + damping * ca.SX.eye(rows), r)
