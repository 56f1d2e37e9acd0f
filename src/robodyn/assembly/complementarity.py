"""Complementarity problems: what does the engine need to know to find which rows hold and which move?

    HELD      w_i = 0,          lower_i <= f_i <= upper_i
    FORWARD   f_i = below_i,    w_i >= 0
    BACKWARD  f_i = above_i,    w_i <= 0,        w = b + K W f

The engine finds the modes by pivoting (`engine/complementarity.c`) before an action runs, and writes them to memory.
Given the modes, forces are linear equations, solved by the action itself, so that it has exact derivatives.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import casadi as ca

from robodyn.assembly.contribution import Contribution, Deferred, declare_memory, merge
from robodyn.assembly.declarations import MemoryInfo, ProblemInfo
from robodyn.assembly.mobility import Masks, Mobility
from robodyn.assembly.tracing import Bindings
from robodyn.symbolic import absolute, logical_and, where

NO_BOUND = 1e300
FORWARD, UNSETTLED = 1.0, 2.0
"""Modes; 0 is held, -1 backward. Unsettled is a row that only pushes and finds neither (Painleve's paradox)."""
FIXED, ALLOWED, FOLLOWS = 0.0, 1.0, 2.0
"""A row may change its mode or not; one that follows has no force, and its mode is the direction in which it moves."""


@dataclass(frozen=True)
class Bounds:
    """Of k rows, each entry a column (k,).

    Attributes:
        lower, upper: forces that hold; below, above: of what moves forward and backward.
        allowed: whether the mode may change; tolerance: motion that counts as none; initial: mode to begin with.
        coefficient, partner: the levels are -+coefficient times the force of the row `partner`; -1 where there is none.
    """

    lower: ca.SX
    upper: ca.SX
    below: ca.SX
    above: ca.SX
    allowed: ca.SX
    tolerance: ca.SX
    initial: ca.SX
    coefficient: ca.SX
    partner: ca.SX

    def columns(self) -> list[ca.SX]:
        """In the order of the engine, behind b and the compliance."""
        levels = [self.lower, self.upper, self.below, self.above, self.coefficient, self.partner]
        return [*levels, self.allowed, self.tolerance, self.initial]


def stack_bounds(*parts: Bounds) -> Bounds:
    """Of rows of several kinds together."""
    return Bounds(*(ca.vertcat(*(getattr(part, one.name) for part in parts)) for one in fields(Bounds)))


def pushing_bounds(mobility: Mobility, b: ca.SX, allowed: Masks, slack: ca.SX) -> Bounds:
    """Of rows that push and do not pull: whatever would move in by itself pushes at first."""
    k = len(allowed)
    zero = ca.SX.zeros(k)
    pushes = [logical_and(may, b[i] < -slack) for i, may in enumerate(allowed)]
    return Bounds(
        lower=slack / absolute(mobility.own),
        upper=ca.SX.ones(k) * NO_BOUND,
        below=zero,
        above=zero,
        allowed=ca.vertcat(*(where(may, ALLOWED, FIXED) for may in allowed)),
        tolerance=ca.SX.ones(k) * slack,
        initial=ca.vertcat(*(where(push, 0.0, FORWARD) for push in pushes)),
        coefficient=zero,
        partner=-ca.SX.ones(k),
    )


def friction_bounds(allowed: Masks, slack: ca.SX, coefficients: ca.SX, first: int = 0) -> Bounds:
    """Of rows whose levels are -+mu times the forces of as many others, from number `first` on: all stick at first."""
    k = len(allowed)
    zero, partners = ca.SX.zeros(k), ca.SX([float(first + i) for i in range(k)])
    may = ca.vertcat(*(where(one, ALLOWED, FIXED) for one in allowed))
    return Bounds(zero, zero, zero, zero, may, ca.SX.ones(k) * slack, zero, coefficients, partners)


def pose_problem(
    name: str, mobility: Mobility, b: ca.SX, bounds: Bounds, bindings: Bindings
) -> tuple[list[ca.SX], Contribution]:
    """A problem that is solved before actions: its modes, memory that these read, and what declares both."""
    k, n = mobility.rows.shape
    memory = [MemoryInfo(f"{name}.mode{i}", "", FORWARD, hidden=True) for i in range(k)]
    declared = merge(declare_memory(info) for info in memory)
    columns = [b, mobility.compliance, *bounds.columns(), ca.vec(mobility.rows.T), ca.vec(mobility.columns)]
    data = Deferred(ca.vertcat(*(ca.densify(column) for column in columns)), bindings)
    problem = ProblemInfo(name, k, n, memory[0].name), data
    return list(declared.symbols.values()), replace(declared, problems={name: problem})
