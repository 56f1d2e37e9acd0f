"""Complementarity problems: what does the engine need to know to find which rows hold and which move?

    HELD      w_i = 0,          lower_i <= f_i <= upper_i
    FORWARD   f_i = below_i,    w_i >= 0
    BACKWARD  f_i = above_i,    w_i <= 0,        w = b + K W f

The engine finds the modes by pivoting (`engine/complementarity.c`) before an action runs, and writes them to memory.
Given the modes, forces are linear equations, solved by the action itself, so that it has exact derivatives.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

import casadi as ca

from robodyn.base.symbolic import absolute, logical_and, where
from robodyn.computation.assembly.contribution import Contribution, Deferred, declare_memory, merge
from robodyn.computation.assembly.declarations import MemoryInfo, ProblemInfo
from robodyn.computation.assembly.mobility import Mobility
from robodyn.computation.assembly.tracing import Bindings

NO_BOUND = 1e300
FORWARD, UNSETTLED = 1.0, 2.0
"""Modes; 0 is held, -1 backward. Unsettled is a row that only pushes and finds neither (Painleve's paradox)."""
FIXED, ALLOWED, FOLLOWS = 0.0, 1.0, 2.0
"""A row may change its mode or not; one that follows has no force, and its mode is the direction in which it moves."""
COLUMNS = ("lower", "upper", "below", "above", "coefficient", "partner", "allowed", "tolerance", "initial")
"""Bounds in the order of the engine, behind b and the compliance."""


@dataclass(frozen=True)
class Posed:
    """Rows whose modes are looked for, each entry a column (k,) or one number for all rows.

    Attributes:
        b: motions without forces.
        allowed: whether the mode may change; tolerance: motion that counts as none; initial: mode to begin with.
        lower, upper: forces that hold; below, above: of what moves forward and backward.
        coefficient, partners: the levels are -+coefficient times the force of a row of the part before, by its number.
    """

    mobility: Mobility
    b: ca.SX
    allowed: ca.SX
    tolerance: ca.SX
    initial: ca.SX | float = 0.0
    lower: ca.SX | float = 0.0
    upper: ca.SX | float = 0.0
    below: ca.SX | float = 0.0
    above: ca.SX | float = 0.0
    coefficient: ca.SX | float = 0.0
    partners: Sequence[int] = ()

    def columns(self, before: int) -> list[ca.SX]:
        """Bounds of each row.

        Args:
            before: number of the first row of the part before.
        """
        k = self.b.numel()
        partner = ca.SX([before + float(i) for i in self.partners] or -1.0)
        given = {**vars(self), "partner": partner}
        return [ca.SX.ones(k) * given[name] for name in COLUMNS]


def pose_pushes(mobility: Mobility, b: ca.SX, allowed: ca.SX, slack: ca.SX) -> Posed:
    """Rows that push and do not pull: whatever would move in by itself pushes at first."""
    pushes, least = logical_and(allowed, b < -slack), slack / absolute(mobility.own)
    return Posed(mobility, b, allowed, slack, where(pushes, 0.0, FORWARD), lower=least, upper=NO_BOUND)


def pose_problem(name: str, parts: Sequence[Posed], bindings: Bindings) -> tuple[list[ca.SX], Contribution]:
    """A problem that is solved before actions: modes of each part, memory that these read, and what declares both."""
    counts = [part.b.numel() for part in parts]
    ends = [0, *accumulate(counts)]
    bounds = [part.columns(ends[max(i - 1, 0)]) for i, part in enumerate(parts)]
    rows = ca.vertcat(*(part.mobility.rows for part in parts))
    given = [[part.b, part.mobility.compliance, *own] for part, own in zip(parts, bounds, strict=True)]
    columns = [ca.vertcat(*kind) for kind in zip(*given, strict=True)]
    columns += [ca.vec(rows.T), *(ca.vec(part.mobility.columns) for part in parts)]
    data = Deferred(ca.vertcat(*(ca.densify(column) for column in columns)), bindings)
    memory = [MemoryInfo(f"{name}.mode{i}", "", FORWARD, hidden=True) for i in range(ends[-1])]
    declared = merge(declare_memory(info) for info in memory)
    modes = ca.vertcat(*declared.symbols.values())
    problem = ProblemInfo(name, *rows.shape, memory[0].name), data
    return ca.vertsplit(modes, ends), replace(declared, problems={name: problem})
