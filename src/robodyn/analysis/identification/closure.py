"""Constraints in a regression: how do all joints follow those that are independent, and which forces are left?

Symbols: u independent, w dependent joints, h(q) = 0 the constraints, K = h_q = [K_u K_w], lam their forces.

    v_w = T v_u,  T = -K_w^-1 K_u,    K_w a_w = -K_u a_u - K' v
    [1 T^T] (Y theta + tau_0) = [1 T^T] tau

Forces of constraints do no work along [1; T], so that they vanish from the equations of the independent joints
(d'Alembert): loops, coupled gears and joints that follow others need no measured reaction, and no position but those
of the independent joints, from which the others are found by Newton's method.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from robodyn.base.errors import Flaw, ModelError
from robodyn.computation.assembly import System
from robodyn.computation.assembly.constraints.redundancy import close
from robodyn.computation.native import compile_kernels
from robodyn.computation.results.signal import Floats

INDEPENDENT = 1e-8
"""Part of a gradient, by its size, that is its own."""
STAGES = 16
"""Straight pieces from the start to a position, in which Newton's method follows the dependent joints."""
NEWTON = 4
"""Steps of it in each: quadratic convergence from within a sixteenth of the way."""
CLOSED = 1e-9


@dataclass(frozen=True, eq=False)
class Closure:
    """How all joints of a machine follow its independent ones.

    Attributes:
        own, others: places of independent and dependent joints; rows: equations that do not follow from others.
        start: a position in which all equations are met.
        equations: of q, (n_rows,); gradients: K_w and K_u by q; drift: K' v by q and v.
    """

    own: tuple[int, ...]
    others: tuple[int, ...]
    start: Floats
    q: ca.SX
    v: ca.SX
    equations: ca.SX
    by_own: ca.SX
    by_others: ca.SX
    drift: ca.SX

    @property
    def follow(self) -> ca.SX:
        """T by q."""
        return -ca.solve(self.by_others, self.by_own)

    def project(self, a: ca.SX, columns: list[ca.SX]) -> tuple[list[ca.SX], list[ca.SX]]:
        """Rows of the independent joints, and the symbols (q, v_u, a_u) that they are functions of.

        Args:
            columns: matrices with a row for each joint, by q, v and a.
        """
        T = self.follow
        v_own, a_own = ca.SX.sym("v", len(self.own)), ca.SX.sym("a", len(self.own))
        v = self._spread(v_own, T @ v_own)
        drift = ca.substitute(self.drift, self.v, v)
        a_others = -ca.solve(self.by_others, self.by_own @ a_own + drift)
        rows = [column[list(self.own), :] + T.T @ column[list(self.others), :] for column in columns]
        moving = [ca.vertcat(self.v, a), ca.vertcat(v, self._spread(a_own, a_others))]
        return ca.substitute(rows, [moving[0]], [moving[1]]), [self.q, v_own, a_own]

    def _spread(self, own: ca.SX, others: ca.SX) -> ca.SX:
        whole = ca.SX.zeros(len(self.own) + len(self.others))
        for places, values in ((self.own, own), (self.others, others)):
            for i, k in enumerate(places):
                whole[k] = values[i]
        return whole

    def gradient_of(self, gradient: ca.SX) -> ca.SX:
        """A gradient by all joints as one by the independent ones, a row."""
        return gradient[:, list(self.own)] + gradient[:, list(self.others)] @ self.follow

    def lever(self, row: Floats) -> Floats | None:
        """A constant gradient by all joints as one by the independent ones; None where that changes on the way."""
        if not np.any(row[list(self.others)]):
            return row[list(self.own)]
        reduced = ca.cse(ca.simplify(self.gradient_of(ca.SX(row[None]))))
        return np.array(ca.DM(ca.densify(reduced))).ravel() if reduced.is_constant() else None

    def complete(self, u: Floats) -> Floats:
        """Positions of all joints from those of the independent ones, (n_times, n).

        Raises:
            ModelError: where the equations cannot be met.
        """
        q = np.tile(self.start, (len(u), 1))
        begin = self.start[list(self.own)]
        k = len(self.others)
        for stage in range(1, STAGES + 1):
            q[:, list(self.own)] = begin + (u - begin) * stage / STAGES
            for _ in range(NEWTON):
                h, slopes = self._newton.call_rows(q)
                q[:, list(self.others)] -= _solve(slopes.reshape(-1, k, k).transpose(0, 2, 1), h)
        left = np.abs(self._newton.call_rows(q)[0]).max(axis=1, initial=0.0)
        open_rows = np.flatnonzero(~(left < CLOSED))
        if open_rows.size:
            names = [self.q[k].name() for k in self.own]
            where = ", ".join(f"{n} = {x:.4g}" for n, x in zip(names, u[open_rows[0]], strict=True))
            what = f"cannot be met at {where} and {open_rows.size - 1} more positions"
            remedy = "look at signs, offsets and units of the positions, and at the scenario's start position"
            raise ModelError([Flaw("constraints", what, remedy)], "identification")
        return q

    @cached_property
    def _newton(self) -> Any:
        columns = [ca.densify(self.equations), ca.densify(ca.vec(self.by_others))]
        return compile_kernels({"newton": ca.Function("newton", [self.q], columns)}, None).kernels["newton"]


def _solve(slopes: Floats, h: Floats) -> Floats:
    """Steps of all rows; a singular one is none."""
    regular = np.abs(np.linalg.det(slopes)) > 0
    steps = np.zeros_like(h)
    steps[regular] = np.linalg.solve(slopes[regular], h[regular][:, :, None])[:, :, 0]
    return steps


def find_closure(system: System, driven: Collection[str], guess: Floats) -> Closure | None:
    """How joints follow the independent ones; None without constraints.

    Args:
        system: the mechanism alone; driven: joints that are to be independent where they can be.
        guess: a position of all joints near one that meets the constraints.
    """
    count = len(system.motion.constraint_forces)
    if not count:
        return None
    numbers = ca.vertcat(system.symbols.p, system.symbols.m)
    values = ca.SX([n.value for n in system.parameters] + [info.start for info in system.memory])
    h, h_dot = ca.substitute(
        [system.expressions.constraints[:count], system.expressions.constraints[count:]], [numbers], [values]
    )
    q, v = system.q, system.v
    K = ca.jacobian(h_dot, v)
    both = ca.Function("constraints", [q], [ca.densify(h), ca.densify(ca.jacobian(h, q)), ca.densify(K)])

    def evaluate(at: Floats) -> tuple[Floats, Floats, Floats]:
        h, by_positions, gradients = (np.array(part) for part in both(at))
        return h.ravel(), by_positions, gradients

    start, left = close(evaluate, guess)
    _check(h, system, left)
    at = np.array(both(start)[2])
    rows = _independent(at.T, range(count))
    names = [symbol.name().removesuffix(".position") for symbol in ca.vertsplit(q)]
    order = sorted(range(len(names)), key=lambda k: (names[k] in driven, -k))
    others = sorted(_independent(at[rows], order))
    own = [k for k in range(len(names)) if k not in others]
    drift = ca.jtimes(h_dot[rows], q, v)
    return Closure(tuple(own), tuple(others), start, q, v, h[rows], K[rows, own], K[rows, others], drift)


def _check(h: ca.SX, system: System, left: float) -> None:
    """Refuse equations of velocities alone, of time, and such that the start does not meet."""
    remedy = "fit its numbers by simulation instead: robodyn fit"
    if any(h[row].is_zero() for row in range(h.numel())):
        raise ModelError([Flaw("constraints", "hold velocities alone (wheels)", remedy)], "identification")
    if any(ca.which_depends(h, system.symbols.t, 1, False)):
        raise ModelError([Flaw("constraints", "depend on time (prescribed motions)", remedy)], "identification")
    if not left < 1e-6:
        what, near = f"are not met at the start: {left:.2g} is left", "give a start position that is near to closed"
        raise ModelError([Flaw("constraints", what, near)], "identification")


def _independent(columns: Floats, order: Collection[int]) -> list[int]:
    """Columns, taken in an order, that do not follow from those before them."""
    return [k for k, part in own_parts(columns, order, INDEPENDENT, INDEPENDENT).items() if part > INDEPENDENT]


def own_parts(columns: Floats, order: Collection[int], none: float, dependent: float) -> dict[int, float]:
    """Of each column, in an order, the share that those kept before it do not give: Gram-Schmidt, done twice.

    Args:
        none: size of a column, by the largest, that is left out; dependent: share up to which one is not kept.
    """
    found: dict[int, float] = {}
    basis = np.zeros((columns.shape[0], 0))
    sizes = np.linalg.norm(columns, axis=0)
    for k in (k for k in order if sizes[k] > none * sizes.max()):
        own = columns[:, k] / sizes[k]
        for _ in range(2):
            own = own - basis @ (basis.T @ own)
        found[k] = float(np.linalg.norm(own))
        if found[k] > dependent:
            basis = np.column_stack([basis, own / found[k]])
    return found
