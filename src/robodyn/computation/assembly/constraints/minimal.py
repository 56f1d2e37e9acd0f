"""Minimal coordinates: a system in the independent joints alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import casadi as ca
import numpy as np

from robodyn.base.errors import FlawList, nearest
from robodyn.base.symbolic.tables import spell_out
from robodyn.computation.assembly.charts import END as GUARD
from robodyn.computation.assembly.charts import NEWTON_STEPS, SINGULAR, can_switch, switch_charts
from robodyn.computation.assembly.constraints.redundancy import Evaluated, close, to_arrays
from robodyn.computation.assembly.declarations import Ending, Guard
from robodyn.computation.assembly.system import System

START = "action:start"


@dataclass(frozen=True)
class Partition:
    """Which joints are dependent, and the equations that they follow from.

    Attributes:
        dependent: numbers of velocities; h, h_dot: residuals and their rates, in the states x of the system.
        N: q_dot by v.
    """

    dependent: tuple[int, ...]
    h: ca.SX
    h_dot: ca.SX
    q: ca.SX
    v: ca.SX
    N: ca.SX

    @property
    def gradients(self) -> ca.SX:
        """H_d: derivatives of the residuals by the dependent joints; more rows than columns where some follow from
        others, which least squares meet too."""
        return self._slopes[:, list(self.dependent)]

    @cached_property
    def _slopes(self) -> ca.SX:
        return ca.jacobian(self.h, self.q) @ self.N

    def follow(self) -> tuple[ca.SX, ca.SX]:
        """Positions and velocities with the dependent ones from the constraints."""
        # One factorisation H_d = Q R serves all Newton steps: q_d -= H_d^-1 h, then v_d -= H_d^-1 h'.
        Q, R = ca.qr(self.gradients)
        q, v, columns = self.q, self.v, ca.SX.eye(self.v.numel())[:, list(self.dependent)]
        for _ in range(NEWTON_STEPS):
            residual = ca.substitute(self.h, self.q, q)
            q = q - self.N @ columns @ _solve_upper(R, Q.T @ residual)
        for _ in range(NEWTON_STEPS):
            rates = ca.substitute(self.h_dot, ca.vertcat(self.q, self.v), ca.vertcat(q, v))
            v = v - columns @ _solve_upper(R, Q.T @ rates)
        return q, v

    def margin(self) -> ca.SX:
        """How far the dependent joints are from no longer following; negative beyond."""
        _, R = ca.qr(self.gradients)
        k = len(self.dependent)
        # R_jj small beside the gradients: the dependent joints would run away.
        size = ca.sqrt(ca.sumsqr(self._slopes) / k)
        return ca.mmin(ca.vertcat(*(ca.fabs(R[j, j]) for j in range(k)))) / size - SINGULAR


def _solve_upper(R: ca.SX, b: ca.SX) -> ca.SX:
    """x of R x = b, R upper triangular."""
    x: list[ca.SX] = []
    n = b.numel()
    for i in reversed(range(n)):
        known = sum((R[i, j] * x[n - 1 - j] for j in range(i + 1, n)), ca.SX(0))
        x.append((b[i] - known) / R[i, i])
    return ca.vertcat(*reversed(x))


def make_minimal(system: System) -> System:
    """A constrained system with its motion in minimal coordinates.

    Unless joints are named, others become independent on the way (`charts`); a guard ends a run where none are.
    """
    if can_switch(system):
        return switch_charts(
            system, _choose(system, system.expressions.constraints[: len(system.motion.constraint_forces)])
        )
    found, x, m = system.expressions, system.symbols.x, system.symbols.m
    start = system.discrete.start_action
    n, n_v, k = system.n_q, system.n_v, len(system.motion.constraint_forces)
    h, h_dot = found.constraints[:k], found.constraints[k:]
    partition = Partition(_choose(system, h), h, h_dot, x[:n], x[n : n + n_v], system.N)
    q, v = partition.follow()
    begins = found.actions[start] if start else ca.vertcat(x, m)
    # What is evaluated within steps, where the dependent joints have to follow first. Guards and actions are evaluated
    # where they have followed: both must see the same state.
    within = ("rhs", "position_rate", "outputs", "watched", "limits", "delayed", "applied")
    columns = [getattr(found, name) for name in within]
    *followed, begins = ca.substitute([*columns, begins], [x[: n + n_v]], [ca.vertcat(q, v)])
    expressions = replace(
        found,
        **dict(zip(within, followed, strict=True)),  # type: ignore[arg-type]
        guards=ca.vertcat(found.guards, partition.margin()),
        projection=ca.vertcat(q, v, x[n + n_v :], m),
        actions={**found.actions, START: begins},
    )
    guards = (*system.discrete.guards, Guard(GUARD, -1, Ending.SINGULAR))
    return replace(
        system, expressions=expressions, discrete=replace(system.discrete, guards=guards, start_action=START)
    )


def _choose(system: System, h: ca.SX) -> tuple[int, ...]:
    """Numbers of the dependent joints: those whose gradients are largest at the start, or all that are not named.

    Raises:
        ModelError: where there are no minimal coordinates.
    """
    flaws = FlawList()
    path, n, n_v = "constraint_method.method", system.n_q, system.n_v
    dependent: tuple[int, ...] = ()
    if not all(value.is_one() for value in ca.vertsplit(system.expressions.active)):
        flaws.add(path, "minimal needs constraints that always hold", "say baumgarte")
    elif any(entry.is_zero() for entry in ca.vertsplit(h)):
        what = "minimal needs constraints of positions, and wheels roll by velocities"
        flaws.add(path, what, "say baumgarte or projection")
    else:
        H = _gradients_at_start(system, h)
        rank = len(H) - system.motion.spare
        named = system.scenario.constraint_method.independent
        joints = [info.name.removesuffix(".velocity") for info in system.states[n : n + n_v]]
        dependent = _take_largest(flaws, H, rank) if named is None else _take_named(flaws, joints, named, H, rank)
    system.scenario.raise_if_any(flaws)
    return dependent


def _take_largest(flaws: FlawList, H: np.ndarray, rank: int) -> tuple[int, ...]:
    from scipy.linalg import qr

    # Pivoting takes the joints whose gradients are largest: these can be solved for.
    _, R, order = qr(H, mode="economic", pivoting=True)
    if abs(R[rank - 1, rank - 1]) < SINGULAR * np.linalg.norm(H) / np.sqrt(rank):
        flaws.add("constraint_method.method", "the start is a singular position: no joints are independent there")
    return tuple(sorted(int(j) for j in order[:rank]))


def _take_named(flaws: FlawList, joints: list[str], named: Sequence[str], H: np.ndarray, rank: int) -> tuple[int, ...]:
    path, free = "constraint_method.independent", H.shape[1] - rank
    dependent = tuple(k for k, joint in enumerate(joints) if joint not in named)
    unknown = [name for name in named if name not in joints]
    for name in unknown:
        flaws.add(path, f"'{name}' is no moving joint", nearest(name, joints))
    if unknown:
        return ()
    if len(set(named)) != free:
        flaws.add(path, f"names {len(set(named))} joints, the constraints leave {free} free")
        return ()
    smallest = np.min(np.abs(np.diag(np.linalg.qr(H[:, dependent])[1])), initial=np.inf)
    if smallest < SINGULAR * np.linalg.norm(H) / np.sqrt(rank):
        flaws.add(path, "these do not determine the other joints at the start", "name others, or leave it out")
    return dependent


def _gradients_at_start(system: System, h: ca.SX) -> np.ndarray:
    """H by the velocities where the constraints are met, nearest to the start values."""
    n = system.n_q
    start = np.array([info.start for info in system.states], float)
    memory = [info.start for info in system.memory]
    delayed = [info.before or 0.0 for info in system.delays]
    parameters = [number.value for number in system.parameters]
    H = ca.jacobian(h, system.q)
    function = spell_out(ca.Function("h", [*system.symbols], [h, H, H @ system.N]))

    def evaluate(position: np.ndarray) -> Evaluated:
        values = function(0.0, np.concatenate([position, start[n:]]), delayed, memory, parameters)
        return to_arrays(values)

    closed, _ = close(evaluate, start[:n])
    return evaluate(closed)[2]
