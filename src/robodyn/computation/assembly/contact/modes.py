"""Modes of reactions: which rows hold, which slide (complementarity), and which forces follow?"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import field, replace
from functools import cached_property
from itertools import accumulate, chain

import casadi as ca
import numpy as np
from casadi import SX

from robodyn.base import frozen
from robodyn.base import symbolic as sym
from robodyn.base.symbolic import absolute, factor_linear, is_zero, logical_and, maximum, sqrt, to_column, where
from robodyn.computation.assembly.contribution import Contribution, Deferred, declare_memory, merge
from robodyn.computation.assembly.declarations import Guard, MemoryInfo, ProblemInfo
from robodyn.computation.assembly.events import START
from robodyn.computation.assembly.motion import Motion
from robodyn.computation.assembly.tracing import Bindings
from robodyn.computation.dynamics import LdlFactors, halve_ldl, ldl, solve_ldl

# --------------------------------------------------------------------------------------------------
# Mobility: which forces keep rows of accelerations or velocities at rest?
#
# Symbols: k rows K of motions of the n joints; D the directions in which their forces act; f forces, w motions:
#
#     w = b + K W f,    W = M^-1 D^T,    w_i = 0 where a row is held, f_i = 0 where it is not
#
# Constraints, friction that sticks and rigid contacts are such rows. Rows that depend on each other share what they
# hold: each gives way by a little compliance, which refinement takes back where it changes the motion (augmented
# Lagrangian). What is held is a column of conditions (k,), here and elsewhere.


Solve = Callable[[SX], SX]
COMPLIANCE = 1e-7
"""Part of their mean mobility by which rows give way, so that a singular position does not stop the motion."""
LEAST_COMPLIANCE = 1e-30
"""Of a row [1/kg or 1/(kg m^2)]."""
REFINEMENTS = 2
"""How often forces are corrected for that, so that nothing of it is left at other positions."""
NEARLY_FREE = 0.1
"""Mobility, as part of the compliance, from which on compliance is taken back altogether."""
SEEN = 1e-5
"""Part of the forces that a correction must be to be more than rounding."""
TINY = 1e-60
RETURN_RATE = 20.0
"""Rate [1/s] at which what is held on moving joints returns to where it should be (Baumgarte)."""
NO_FORCE = 1e-9
"""Acceleration [m/s^2], and part of the largest acceleration or speed, that a force must make to count."""


Weigh = Callable[[SX], SX]
"""The compliance of each row, from what their forces do where they act themselves, both (k,)."""


@frozen
class MassSolver:
    """M^-1 as a function of a column, by the factors of M = L^T D L."""

    factors: LdlFactors

    def __call__(self, b: SX) -> SX:
        return SX(solve_ldl(self.factors, b))  # type: ignore[arg-type]

    def respond(self, rows: SX) -> SX:
        """K M^-1 K^T of rows (k, n), by half a solution of each and one product for both entries of a pair."""
        k, weights = rows.shape[0], SX(ca.vertcat(*self.factors.inverse_diagonal))
        entries = [halve_ldl(self.factors, rows[i, :]) for i in range(k)]  # type: ignore[arg-type]
        halves = [SX(sym.stack(half)) for half in entries]
        # Forces that no joint feels both of do nothing to each other: most pairs of a long row of loops.
        felt = np.array([[not is_zero(entry) for entry in half] for half in entries], np.float64).reshape(rows.shape)
        S = SX.zeros(k, k)
        for i, j in np.argwhere(np.tril(felt @ felt.T)).tolist():
            S[i, j] = S[j, i] = ca.dot(halves[i], weights * halves[j])
        return S


@frozen
class Mobility:
    """The motions that forces cause where they act.

    Attributes:
        rows: K (k, n); columns: W (n, k); S: K W.
        compliance: how much each row gives way under its own force (k,).
        leaning: numbers of rows whose forces act in another direction, by friction; S is symmetric but for these.
    """

    rows: SX
    columns: SX
    S: SX
    compliance: SX
    leaning: tuple[int, ...] = ()

    @cached_property
    def own(self) -> SX:
        """The effect of each force where it acts itself, negative where friction pulls more than the force pushes,
        (k,)."""
        return ca.diag(self.S) + self.compliance

    def select(self, these: slice) -> Mobility:
        """The mobility of some of the rows and their forces, which do not lean."""
        F = SX.eye(self.rows.shape[0])[these, :]
        return self.combine(F, F.T, self.compliance[these])

    def combine(self, F: SX, E: SX, compliance: SX, leaning: tuple[int, ...] = ()) -> Mobility:
        """The mobility of the motions `F w` under forces that are the columns of E, of these here."""
        return Mobility(F @ self.rows, self.columns @ E, F @ self.S @ E, compliance, leaning)

    def holder(self, held: SX) -> Solve:
        """f as a function of b: `K W f + b = 0` where held, 0 elsewhere; by the smaller set of equations."""
        k, n = self.rows.shape
        stiff = any(c.is_zero() for c in ca.vertsplit(self.compliance))
        return self._by_rows(held) if k <= n or stiff else self._by_joints(held)

    def _by_rows(self, held: SX) -> Solve:
        """k equations, (K W + compliance) f_new = -b + compliance f, a few times, whose fixed point is K W f = -b."""
        k = held.numel()
        A = self.S + ca.diag(self.compliance)
        # One matrix for every set that may be held: rows of what is not are rows of the identity.
        matrix = SX(k, k)
        coupled = {*zip(*ca.sparsify(A).sparsity().get_triplet(), strict=True), *((i, i) for i in range(k))}
        for i, j in sorted(coupled):
            matrix[i, j] = where(logical_and(held[i], held[j]), A[i, j], SX(float(i == j)))
        solve = _factorise(matrix, self.leaning)

        def find(b: SX) -> SX:
            first = solve(where(held, -b, 0.0))
            forces = [first]
            for _ in range(0 if self.compliance.is_zero() else REFINEMENTS):
                forces.append(first + solve(self.compliance * forces[-1]))
            return _extrapolate(forces, self.compliance)

        return find

    def _by_joints(self, held: SX) -> Solve:
        """n equations for what the joints do, y = W f with f_i = -(b_i + K_i y) / compliance_i (Woodbury).

        (g + sum W_i K_i g / compliance_i) y = -sum W_i b_i g / compliance_i over what is held
        """
        n, g = self.rows.shape[1], self.compliance[0]
        weights = where(held, g / self.compliance, 0.0)
        weighted = self.columns @ ca.diag(weights)
        matrix = g * SX.eye(n) + weighted @ self.rows
        solve = _factorise_any(matrix)

        def find_once(b: SX) -> SX:
            y = solve(-(weighted @ b))
            return -weights * (b + self.rows @ y) / g

        def find(b: SX) -> SX:
            forces = [find_once(b)]
            for _ in range(REFINEMENTS):
                # What is left of the motion, not all of it again: rounding then shrinks with it.
                forces.append(forces[-1] + find_once(b + self.rows @ (self.columns @ forces[-1])))
            return _extrapolate(forces, self.compliance)

        return find


def _factorise(A: SX, leaning: Sequence[int]) -> Solve:
    """A^-1 on columns, for a matrix that is symmetric and positive but for some rows and columns.

        A_tt x_t + A_tn x_n = b_t,    (A_nn - A_nt A_tt^-1 A_tn) x_n = b_n - A_nt A_tt^-1 b_t

    The others, t, need no pivots and are eliminated first; what is left of those that lean, n, may have any sign.
    """
    n, t = list(leaning), [i for i in range(A.shape[0]) if i not in leaning]
    solve, order = MassSolver(ldl(A[t, t])), [int(place) for place in np.argsort([*t, *n])]
    if not n:
        return solve
    if not t:
        return _factorise_any(A)
    inner = ca.horzcat(*(solve(A[t, j]) for j in n))
    solve_left = _factorise_any(A[n, n] - A[n, t] @ inner)

    def find(b: SX) -> SX:
        reached = solve(b[t])
        x = solve_left(b[n] - A[n, t] @ reached)
        return ca.vertcat(reached - inner @ x, x)[order]

    return find


def _factorise_any(A: SX) -> Solve:
    """A^-1 on columns."""
    solve = factor_linear([ca.horzsplit(A[i, :]) for i in range(A.shape[0])])
    return lambda b: ca.vertcat(*solve(ca.vertsplit(b)))


def _extrapolate(forces: list[SX], compliance: SX) -> SX:
    """Where the last corrections lead to (Aitken), so that a toggle holds although it hardly moves what it holds.

        f + d (r + r^2 + ...),    r = d_before . d / d_before . d_before

    In the metric of the compliance r is between 0 and 1, with 1 for what no row holds: there nothing is added, and none
    where corrections are mere rounding.
    """
    if len(forces) < 3:
        return forces[-1]
    before, last = forces[-2] - forces[-3], forces[-1] - forces[-2]
    scale = ca.dot(compliance, before * before) + SEEN**2 * ca.dot(compliance, forces[0] * forces[0]) + TINY
    r = ca.dot(compliance, before * last) / scale
    return forces[-1] + last * (r * (1 - r) / ((1 - r) ** 2 + (NEARLY_FREE * r**4) ** 2))


def build_mobility(solve: Solve, rows: SX, weigh: Weigh) -> Mobility:
    """The mobility of rows (k, n) on a mechanism, whose forces act along them.

    Args:
        solve: M^-1 as a function of a column.
    """
    columns = ca.horzcat(*(solve(rows[i, :].T) for i in range(rows.shape[0])))
    S = solve.respond(rows) if isinstance(solve, MassSolver) else rows @ columns
    # Where a prescribed motion moves all, nothing but rounding is mobile: there is some compliance nevertheless.
    weights = ca.vertsplit(weigh(ca.diag(S)))
    compliance = to_column(c if c.is_zero() else sqrt(c**2 + LEAST_COMPLIANCE**2) for c in weights)
    return Mobility(rows, columns, S, compliance)


def mean_compliance(own: SX) -> SX:
    """A compliance that is alike for all rows, so that four corners share a load."""
    return ca.repmat(COMPLIANCE * ca.sum1(own) / max(own.numel(), 1), own.numel(), 1)


def stack(*parts: Mobility) -> Mobility:
    """Rows of several kinds together."""
    if len(parts) == 1:
        return parts[0]
    # How the rows of one kind move under the forces of another: its own S on the diagonal, rows M^-1 columns beside it.
    blocks = [[part.S if part is other else part.rows @ other.columns for other in parts] for part in parts]
    begins = accumulate([0, *(part.compliance.numel() for part in parts)])
    leaning = tuple(begin + i for begin, part in zip(begins, parts, strict=False) for i in part.leaning)
    columns = [(part.rows, part.columns.T, part.compliance) for part in parts]
    rows, columns_T, compliance = (ca.vertcat(*column) for column in zip(*columns, strict=True))
    return Mobility(rows, columns_T.T, ca.blockcat(blocks), compliance, leaning)


def slack_of(b: SX, allowed: SX, least: float = NO_FORCE) -> SX:
    """The size that counts as zero beside the motions b, at least so much."""
    return NO_FORCE * maximum(least / NO_FORCE, ca.mmax(where(allowed, absolute(b), 0.0)))


# --------------------------------------------------------------------------------------------------
# Complementarity problems: what does the engine need to know to find which rows hold and which move?
#
#     HELD      w_i = 0,          lower_i <= f_i <= upper_i
#     FORWARD   f_i = below_i,    w_i >= 0
#     BACKWARD  f_i = above_i,    w_i <= 0,        w = b + K W f
#
# The engine finds the modes by pivoting (`engine/complementarity.c`) before an action runs, and writes them to memory.
# Given the modes, forces are linear equations, solved by the action itself, so that it has exact derivatives.


NO_BOUND = 1e300
FORWARD, UNSETTLED = 1.0, 2.0
"""Modes; 0 is held, -1 backward. Unsettled is a row that only pushes and finds neither (Painleve's paradox)."""
FIXED, ALLOWED, FOLLOWS = 0.0, 1.0, 2.0
"""A row may change its mode or not; one that follows has no force, and its mode is the direction in which it moves."""
COLUMNS = ("lower", "upper", "below", "above", "coefficient", "partner", "allowed", "tolerance", "initial")
"""Bounds in the order of the engine, behind b and the compliance."""


@frozen
class Posed:
    """Rows whose modes are looked for, each entry a column (k,) or one number for all rows.

    Attributes:
        b: motions without forces.
        allowed: whether the mode may change; tolerance: motion that counts as none; initial: mode to begin with.
        lower, upper: forces that hold; below, above: of what moves forward and backward.
        coefficient, partners: the levels are -+coefficient times the force of a row of the part before, by its number.
    """

    mobility: Mobility
    b: SX
    allowed: SX
    tolerance: SX
    initial: SX | float = 0.0
    lower: SX | float = 0.0
    upper: SX | float = 0.0
    below: SX | float = 0.0
    above: SX | float = 0.0
    coefficient: SX | float = 0.0
    partners: Sequence[int] = ()

    def columns(self, before: int) -> list[SX]:
        """Bounds of each row.

        Args:
            before: number of the first row of the part before.
        """
        k = self.b.numel()
        partner = SX([before + float(i) for i in self.partners] or -1.0)
        values = {**vars(self), "partner": partner}
        return [SX.ones(k) * values[name] for name in COLUMNS]


def pose_pushes(mobility: Mobility, b: SX, allowed: SX, slack: SX) -> Posed:
    """Rows that push and do not pull: whatever would move in by itself pushes at first."""
    pushes, least = logical_and(allowed, b < -slack), slack / absolute(mobility.own)
    return Posed(mobility, b, allowed, slack, where(pushes, 0.0, FORWARD), lower=least, upper=NO_BOUND)


def pose_problem(name: str, parts: Sequence[Posed], bindings: Bindings) -> tuple[list[SX], Contribution]:
    """A problem that is solved before actions: modes of each part, memory that these read, and what declares both."""
    counts = [part.b.numel() for part in parts]
    ends = [0, *accumulate(counts)]
    bounds = [part.columns(ends[max(i - 1, 0)]) for i, part in enumerate(parts)]
    rows = ca.vertcat(*(part.mobility.rows for part in parts))
    column_groups = [
        [part.b, part.mobility.compliance, *bound_columns] for part, bound_columns in zip(parts, bounds, strict=True)
    ]
    columns = [ca.vertcat(*kind) for kind in zip(*column_groups, strict=True)]
    columns += [ca.vec(rows.T), *(ca.vec(part.mobility.columns) for part in parts)]
    data = Deferred(to_column(ca.densify(column) for column in columns), bindings)
    memory = [MemoryInfo(f"{name}.mode{i}", "", FORWARD, hidden=True) for i in range(ends[-1])]
    declared = merge(declare_memory(info) for info in memory)
    modes = ca.vertcat(*declared.symbols.values())
    problem = ProblemInfo(name, *rows.shape, memory[0].name), data
    return ca.vertsplit(modes, ends), replace(declared, problems={name: problem})


# --------------------------------------------------------------------------------------------------
# Reactions: which rows of motions hold, with which forces, and what are their modes after an event?
#
# Symbols: K rows of motions, D the directions of their forces f, held the modes:
#
#     w = b + S f = 0 where held,    f given elsewhere,    S = K M^-1 D^T with the constraints kept
#
# Constraints are such `Rows` too, whose modes stay; each `Reaction` has rows whose modes change. One complementarity
# problem of all of them finds the modes anew wherever any of them may change: what slips changes what presses, and what
# presses changes what slips.


ACTION, PROBLEM = "action:modes", "modes"


@frozen
class Settled:
    """The changes that new modes make.

    Attributes:
        update: memory and states by name; jams: memory of what has found no modes.
        stops: which of the rows `mobility`, of the given speeds, have come to rest.
    """

    update: dict[str, SX]
    mobility: Mobility | None = None
    speeds: SX = SX(0, 1)
    stops: SX = SX(0, 1)
    jams: dict[str, SX] = field(default_factory=dict)


@frozen
class Rows:
    """Rows of one kind, `w = K a + drift`, each entry a column (k,).

    Attributes:
        held: where the present modes keep w at zero; drift: motions while the joints do not accelerate.
    """

    mobility: Mobility
    held: SX
    drift: SX

    def motions(self, a: SX) -> SX:
        """Without the forces of the rows."""
        return self.mobility.rows @ a + self.drift

    @cached_property
    def hold(self) -> Solve:
        """Forces that take off motions where they are held, 0 elsewhere."""
        return self.mobility.holder(self.held)

    @property
    def returning(self) -> SX:
        """Motions against which what is held returns to where it should be; they do not decide what holds."""
        return SX(self.held.numel(), 1)


@frozen
class Reaction(Rows, ABC):
    """Rows whose modes change: friction that sticks, rigid contacts."""

    @property
    def sliding(self) -> SX:
        """Forces of what is not held."""
        return SX(self.held.numel(), 1)

    @property
    def directions(self) -> SX:
        """D, of the forces in the joints' space (k, n_v)."""
        return self.mobility.rows

    @abstractmethod
    def pose(self, b: SX, forces: SX) -> list[Posed]:
        """The rows as parts of the problem of all modes.

        Args:
            b: motions without forces; forces: by the present modes, which locate events: what holds is decided by the
                same.
        """

    @abstractmethod
    def settle(self, modes: list[SX]) -> Settled:
        """The changes that new modes of these parts make."""

    def hold_joints(self, values: SX, held: SX) -> SX:
        """Rates of the joints, exactly zero of those that rows keep at rest."""
        return values


@frozen
class Reactions:
    """All reactions of a machine.

    Attributes:
        a: joint accelerations without their forces, constraints kept.
    """

    parts: Sequence[Reaction]
    a: SX

    def split(self, column: SX) -> list[SX]:
        """A column of all rows by kinds."""
        return list(ca.vertsplit(column, [0, *accumulate(part.held.numel() for part in self.parts)]))

    @cached_property
    def motions(self) -> SX:
        return to_column(part.motions(self.a) for part in self.parts)

    @cached_property
    def forces(self) -> SX:
        """Those that hold, with what returns held rows to where they should be, or those of sliding."""
        returning = to_column(part.returning for part in self.parts)
        return self._find(self.motions + returning) if returning.nnz() else self.deciding_forces

    @cached_property
    def deciding_forces(self) -> SX:
        """The same without what returns: by these a row holds or slips, here as where modes are found, so that a
        located slip is one there too."""
        return self._find(self.motions)

    @cached_property
    def _all(self) -> Rows:
        mobility = stack(*(part.mobility for part in self.parts))
        return Rows(mobility, to_column(part.held for part in self.parts), self.motions)

    def _find(self, b: SX) -> SX:
        sliding = to_column(part.sliding for part in self.parts)
        if not sliding.nnz():
            return self._all.hold(b)
        return where(self._all.held, self._all.hold(b + self._all.mobility.S @ sliding), sliding)

    def torques(self) -> SX:
        """The torques of all rows on the joints."""
        return ca.vertcat(*(part.directions for part in self.parts)).T @ self.forces

    def hold_joints(self, values: SX) -> SX:
        """Rates of the joints, exactly zero of those that rows keep at rest."""
        for part in self.parts:
            values = part.hold_joints(values, part.held)
        return values


def trace_modes(motion: Motion, reactions: Reactions, contributions: Contribution, bindings: Bindings) -> Contribution:
    """The one problem of all modes and the one action that takes them over, at the start too.

    Args:
        contributions: what else is noted at the start, so that this joins it there.
    """
    columns = (reactions.parts, reactions.split(reactions.motions), reactions.split(reactions.deciding_forces))
    posed = [part.pose(b, forces) for part, b, forces in zip(*columns, strict=True)]
    modes, problem = pose_problem(PROBLEM, list(chain(*posed)), bindings)
    each = iter(modes)
    modes_of_parts = [[next(each) for _ in group] for group in posed]
    settled = [part.settle(modes_of_part) for part, modes_of_part in zip(reactions.parts, modes_of_parts, strict=True)]
    update = {name: value for one in settled for name, value in one.update.items()}
    jams = {name: value for one in settled for name, value in one.jams.items()}
    stopping = [one for one in settled if one.mobility]
    if stopping:
        v = _stop(motion.v, stopping)
        for part, modes_of_part in zip(reactions.parts, modes_of_parts, strict=True):
            v = part.hold_joints(v, modes_of_part[0] == 0)
        update |= {motion.v[j].name(): v[j] for j in range(v.numel())}
    # At the start there are no events: a contact that finds no force sinks, hits and is then reported.
    actions = {START: update} if jams or START in contributions.actions else {}
    actions[ACTION] = update | jams
    deferred = {name: {key: Deferred(v, bindings) for key, v in new.items()} for name, new in actions.items()}
    return replace(problem, actions=deferred)


def guard_modes(name: str, value: SX, bindings: Bindings, contact: str | None = None) -> tuple[Guard, Deferred]:
    """An event at which modes are found anew: where a value falls through zero."""
    return Guard(name, -1, action=ACTION, contact=contact, problems=(PROBLEM,)), Deferred(value, bindings)


def _stop(v: SX, stopping: list[Settled]) -> SX:
    """Speeds of what has come to rest made exactly zero: `v - W S^-1 K v`, the nearest in kinetic energy."""
    mobility = stack(*(one.mobility for one in stopping if one.mobility))
    stops, speeds = (ca.vertcat(*column) for column in zip(*((s.stops, s.speeds) for s in stopping), strict=True))
    # An impulse along what rests: K M^-1 K^T lam = -K v.
    return v + mobility.columns @ mobility.holder(stops)(speeds)
