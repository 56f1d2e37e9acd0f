"""Minimal coordinates: a system in the independent joints alone; which are these, and when do others take their place?

Of the equations h(q) = 0 of all constraints, Newton's step moves the dependent joints D alone,

    dq = -H_D^-1 h on D, 0 elsewhere

with two simplified steps for the positions and two for the velocities. Joints that were named, and those of redundant
equations, stay the dependent ones: H_D = Q R is factorised as it is, by least squares where equations are spare.

Otherwise the choice may change on the way. D are then those with mask s = 1, W = diag(s),

    dq = -W H^T (H W H^T)^-1 h  =  -H_D^-1 h on D, 0 elsewhere

so that one traced model serves every choice. s is memory: where the volume that the gradients of D span falls below a
third of that of the best choice, det(H W H^T) < 0.1 det(H W* H^T), an event puts the best one in its place. Both follow
the same constraints, so that nothing of the motion changes there (Wehage and Haug, 1982; in Modelica's tools: dynamic
selection of states with dummy derivatives).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

import casadi as ca
import numpy as np
from casadi import SX

from robodyn.base import Array, FlawList, frozen, nearest
from robodyn.base.symbolic import to_column
from robodyn.base.symbolic.tables import spell_out
from robodyn.computation.assembly.declarations import Ending, Guard, MemoryInfo
from robodyn.computation.assembly.system import System
from robodyn.computation.dynamics import ldl, solve_ldl

from .redundancy import Evaluated, close, to_arrays

NEWTON_STEPS = 2
SINGULAR = 0.01
"""Smallest part of a row's mean size that a gradient still has beyond the others; this project's own choice."""
WORSE = 0.1
"""Ratio of squared volumes at which the choice changes; this project's own choice."""
MOST_WORK = 20_000
"""Of equations squared times joints: beyond, the choice of the start is kept, as finding others would cost too much."""
START = "action:start"
SWITCH, END = "constraints.chart", "constraints.independent"
WITHIN = ("rhs", "position_rate", "outputs", "watched", "limits", "delayed", "applied")
"""Columns that are evaluated within steps, where the dependent joints have to follow first. Guards and actions are
evaluated where they have followed: both must see the same state."""


@frozen
class LoopEquations:
    """The equations that dependent joints follow from: residuals h and their rates, in q and v; N: q_dot by v."""

    h: SX
    h_dot: SX
    q: SX
    v: SX
    N: SX

    @cached_property
    def slopes(self) -> SX:
        """H: derivatives of the residuals by the joints, (k, n_v)."""
        return ca.jacobian(self.h, self.q) @ self.N

    def follow(self, columns: SX, solve: Callable[[SX], SX]) -> tuple[SX, SX]:
        """Positions and velocities with the dependent ones from the constraints.

        Args:
            columns: from what `solve` gives for a residual to changes of the joints; one factorisation serves all
                Newton steps, q_d -= H_d^-1 h, then v_d -= H_d^-1 h'.
        """
        q, v = self.q, self.v
        for _ in range(NEWTON_STEPS):
            q = q - self.N @ columns @ solve(ca.substitute(self.h, self.q, q))
        for _ in range(NEWTON_STEPS):
            v = v - columns @ solve(ca.substitute(self.h_dot, ca.vertcat(self.q, self.v), ca.vertcat(q, v)))
        return q, v


def make_minimal(system: System) -> System:
    """A constrained system with its motion in minimal coordinates.

    Unless joints are named, others become independent on the way; a guard ends a run where none are.
    """
    expressions, x, m = system.expressions, system.symbols.x, system.symbols.m
    n, n_v, k = system.n_q, system.n_v, len(system.motion.constraint_forces)
    equations = LoopEquations(expressions.constraints[:k], expressions.constraints[k:], x[:n], x[n : n + n_v], system.N)
    dependent = _choose(system, equations.h)
    start = system.discrete.start_action
    begins = expressions.actions[start] if start else ca.vertcat(x, m)
    # The choice can change where nobody has named it, no equation is spare, and it is not too much work.
    named, spare = system.scenario.constraint_method.independent, system.motion.spare
    if named is None and not spare and k * k * n_v <= MOST_WORK:
        return _switch_charts(system, equations, dependent, begins)
    Q, R = ca.qr(equations.slopes[:, list(dependent)])
    columns = SX.eye(n_v)[:, list(dependent)]
    followed = equations.follow(columns, lambda residual: _solve_upper(R, Q.T @ residual))
    begins = ca.substitute(begins, x[: n + n_v], ca.vertcat(*followed))
    # R_jj small beside the gradients: the dependent joints would run away.
    size = ca.sqrt(ca.sumsqr(equations.slopes) / len(dependent))
    smallest = ca.mmin(to_column(ca.fabs(R[j, j]) for j in range(len(dependent))))
    ends = Guard(END, -1, Ending.SINGULAR), smallest / size - SINGULAR
    return _follow_within(system, followed, SX(0, 1), [ends], {START: begins})


def _switch_charts(system: System, equations: LoopEquations, dependent: tuple[int, ...], begins: SX) -> System:
    """The system in minimal coordinates that change on the way, begun with the given dependent joints."""
    n, n_v = system.n_q, system.n_v
    mask = SX.sym("dependent", n_v)
    H = ca.densify(equations.slopes)

    def squared(mask: SX) -> SX:
        """H W H^T."""
        return ca.densify((H * ca.repmat(mask.T, H.shape[0], 1)) @ H.T)

    factors = ldl(squared(mask))
    followed = equations.follow(ca.diag(mask) @ H.T, lambda b: solve_ldl(factors, ca.vertsplit(b)))
    # The best choice: joints with the largest gradients beyond those taken before, by pivoting, k times.
    rest, best = H, SX.zeros(n_v)
    for _ in range(H.shape[0]):
        pivot = _first_largest(ca.sum1(rest**2).T)
        column = rest @ pivot
        unit = column / ca.sqrt(ca.sumsqr(column))
        rest, best = rest - unit @ (unit.T @ rest), best + pivot
    ratio = _determinant(squared(mask)) / _determinant(squared(best))
    # How far the dependent joints are from no longer following; negative beyond.
    pivots = to_column(1 / inverse for inverse in factors.inverse_diagonal)
    margin = ca.mmin(pivots) / (ca.sumsqr(H) / H.shape[0]) - SINGULAR**2

    x, m, switch = system.symbols.x, system.symbols.m, f"action:{SWITCH}"
    actions = {START: ca.vertcat(begins, best), switch: ca.vertcat(x, m, best)}
    guards = [(Guard(SWITCH, -1, action=switch), ratio - WORSE), (Guard(END, -1, Ending.SINGULAR), margin)]
    switching = _follow_within(system, followed, mask, guards, actions)
    joints = [info.name.removesuffix(".velocity") for info in system.states[n : n + n_v]]
    memory = [
        MemoryInfo(f"constraints.dependent.{joint}", "", float(k in dependent), hidden=True)
        for k, joint in enumerate(joints)
    ]
    symbols = system.symbols._replace(m=ca.vertcat(m, mask))
    return replace(switching, symbols=symbols, memory=(*system.memory, *memory))


def _follow_within(
    system: System,
    followed: tuple[SX, SX],
    mask: SX,
    guards: Sequence[tuple[Guard, SX]],
    actions: Mapping[str, SX],
) -> System:
    """A system whose dependent joints follow within steps, and at their ends by projection.

    Args:
        followed: q and v; mask: further memory, that tasks and other actions leave as it is.
        guards, actions: further ones.
    """
    original, x, m, n = system.expressions, system.symbols.x, system.symbols.m, system.n_q + system.n_v
    columns = ca.substitute([getattr(original, name) for name in WITHIN], [x[:n]], [ca.vertcat(*followed)])
    expressions = replace(
        original,
        **dict(zip(WITHIN, columns, strict=True)),  # type: ignore[arg-type]
        guards=ca.vertcat(original.guards, *(value for _, value in guards)),
        projection=ca.vertcat(*followed, x[n:], m, mask),
        updates={name: ca.vertcat(column, mask) for name, column in original.updates.items()},
        actions={name: ca.vertcat(column, mask) for name, column in original.actions.items()} | dict(actions),
    )
    discrete = system.discrete
    watched = (*discrete.guards, *(guard for guard, _ in guards))
    return replace(system, expressions=expressions, discrete=replace(discrete, guards=watched, start_action=START))


def _determinant(M: SX) -> SX:
    determinant = SX(1.0)
    for inverse in ldl(M).inverse_diagonal:
        determinant = determinant / inverse
    return determinant


def _first_largest(sizes: SX) -> SX:
    """1 where a size is the largest, the first of equal ones, else 0."""
    largest, free, marks = ca.mmax(sizes), SX(1.0), []
    for size in ca.vertsplit(sizes):
        hit = ca.if_else(size >= largest, free, 0.0)
        free = free - hit
        marks.append(hit)
    return ca.vertcat(*marks)


def _solve_upper(R: SX, b: SX) -> SX:
    """x of R x = b, R upper triangular."""
    x: list[SX] = []
    n = b.numel()
    for i in reversed(range(n)):
        rest = sum((R[i, j] * x[n - 1 - j] for j in range(i + 1, n)), SX(0))
        x.append((b[i] - rest) / R[i, i])
    return ca.vertcat(*reversed(x))


def _choose(system: System, h: SX) -> tuple[int, ...]:
    """Numbers of the dependent joints: those whose gradients are largest at the start, or all that are not named.

    Raises:
        ModelError: where there are no minimal coordinates.
    """
    flaws = FlawList()
    path, n, n_v = "constraint_method.method", system.n_q, system.n_v
    dependent: tuple[int, ...] = ()
    if not all(value.is_one() for value in ca.vertsplit(system.expressions.active)):
        flaws.add(path, "minimal needs constraints that always hold", "use baumgarte")
    elif any(entry.is_zero() for entry in ca.vertsplit(h)):
        what = "minimal needs constraints of positions, and wheels roll by velocities"
        flaws.add(path, what, "use baumgarte or projection")
    else:
        H = _gradients_at_start(system, h)
        rank = len(H) - system.motion.spare
        named = system.scenario.constraint_method.independent
        joints = [info.name.removesuffix(".velocity") for info in system.states[n : n + n_v]]
        dependent = _take_largest(flaws, H, rank) if named is None else _take_named(flaws, joints, named, H, rank)
    system.scenario.raise_if_any(flaws)
    return dependent


def _take_largest(flaws: FlawList, H: Array, rank: int) -> tuple[int, ...]:
    from scipy.linalg import qr

    # Pivoting takes the joints whose gradients are largest: these can be solved for.
    _, R, order = qr(H, mode="economic", pivoting=True)
    if abs(R[rank - 1, rank - 1]) < SINGULAR * np.linalg.norm(H) / np.sqrt(rank):
        flaws.add("constraint_method.method", "the start is a singular position: no joints are independent there")
    return tuple(sorted(int(j) for j in order[:rank]))


def _take_named(flaws: FlawList, joints: list[str], named: Sequence[str], H: Array, rank: int) -> tuple[int, ...]:
    path, free = "constraint_method.independent", H.shape[1] - rank
    dependent = tuple(k for k, joint in enumerate(joints) if joint not in named)
    unknown = [name for name in named if name not in joints]
    for name in unknown:
        flaws.add(path, f"'{name}' is not a moving joint", nearest(name, joints))
    if unknown:
        return ()
    if len(set(named)) != free:
        flaws.add(path, f"names {len(set(named))} joints, the constraints leave {free} free")
        return ()
    smallest = np.min(np.abs(np.diag(np.linalg.qr(H[:, dependent])[1])), initial=np.inf)
    if smallest < SINGULAR * np.linalg.norm(H) / np.sqrt(rank):
        flaws.add(path, "these do not determine the other joints at the start", "name others, or leave it out")
    return dependent


def _gradients_at_start(system: System, h: SX) -> Array:
    """H by the velocities where the constraints are met, nearest to the start values."""
    n = system.n_q
    start, delayed, memory, parameters = system.described
    H = ca.jacobian(h, system.q)
    function = spell_out(ca.Function("h", [*system.symbols], [h, H, H @ system.N]))

    def evaluate(position: Array) -> Evaluated:
        values = function(0.0, np.concatenate([position, start[n:]]), delayed, memory, parameters)
        return to_arrays(values)

    closed, _ = close(evaluate, start[:n])
    return evaluate(closed)[2]
