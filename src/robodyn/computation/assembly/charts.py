"""Charts of minimal coordinates: which joints are independent now, and when do others take their place?

The dependent joints D are those with mask s = 1, W = diag(s). Newton's step of them alone is

    dq = -W H^T (H W H^T)^-1 h  =  -H_D^-1 h on D, 0 elsewhere

so that one traced model serves every choice. s is memory: where the volume that the gradients of D span falls below a
third of that of the best choice, det(H W H^T) < 0.1 det(H W* H^T), an event puts the best one in its place. Both follow
the same constraints, so that nothing of the motion changes there (Wehage and Haug, 1982; in Modelica's tools: dynamic
selection of states with dummy derivatives).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import casadi as ca
import numpy as np

from robodyn.computation.assembly.declarations import Ending, Guard, MemoryInfo
from robodyn.computation.assembly.system import System
from robodyn.computation.dynamics import ldl, solve_ldl
from robodyn.computation.dynamics.solve import Factors

NEWTON_STEPS = 2
SINGULAR = 0.01
"""Smallest part of a row's mean size that a gradient still has beyond the others; this project's own choice."""
WORSE = 0.1
"""Ratio of squared volumes at which the choice changes; this project's own choice."""
MOST_WORK = 20_000
"""Of equations squared times joints: beyond, the choice of the start is kept, as finding others would cost too much."""
SWITCH, END = "constraints.chart", "constraints.independent"


@dataclass(frozen=True)
class Chart:
    """A choice of dependent joints by a mask of symbols.

    Attributes:
        mask: 1 for dependent joints, else 0, (n_v,); h, h_dot: residuals and their rates in q and v; N: q_dot by v.
    """

    mask: ca.SX
    h: ca.SX
    h_dot: ca.SX
    q: ca.SX
    v: ca.SX
    N: ca.SX

    @cached_property
    def gradients(self) -> ca.SX:
        """H: derivatives of the residuals by the joints, (k, n_v)."""
        return ca.densify(ca.jacobian(self.h, self.q) @ self.N)

    def squared(self, mask: ca.SX) -> ca.SX:
        """H W H^T."""
        H = self.gradients
        return ca.densify((H * ca.repmat(mask.T, H.shape[0], 1)) @ H.T)

    def follow(self) -> tuple[ca.SX, ca.SX]:
        """Positions and velocities with the dependent ones from the constraints."""
        factors, back = ldl(self.squared(self.mask)), ca.diag(self.mask) @ self.gradients.T
        q, v = self.q, self.v
        for _ in range(NEWTON_STEPS):
            residual = ca.substitute(self.h, self.q, q)
            q = q - self.N @ back @ _solve(factors, residual)
        for _ in range(NEWTON_STEPS):
            rates = ca.substitute(self.h_dot, ca.vertcat(self.q, self.v), ca.vertcat(q, v))
            v = v - back @ _solve(factors, rates)
        return q, v

    def best(self) -> ca.SX:
        """The mask of the joints with the largest gradients beyond those taken before: pivoting, k times."""
        rest, mask = self.gradients, ca.SX.zeros(self.v.numel())
        for _ in range(self.h.numel()):
            sizes = ca.sum1(rest**2).T
            taken = _first_largest(sizes)
            column = rest @ taken
            unit = column / ca.sqrt(ca.sumsqr(column))
            rest, mask = rest - unit @ (unit.T @ rest), mask + taken
        return mask

    def ratio(self, best: ca.SX) -> ca.SX:
        """Squared volume of the choice by that of the best one."""
        return _determinant(self.squared(self.mask)) / _determinant(self.squared(best))

    def margin(self) -> ca.SX:
        """How far the dependent joints are from no longer following; negative beyond."""
        pivots = [1 / inverse for inverse in ldl(self.squared(self.mask)).inverse_diagonal]
        size = ca.sumsqr(self.gradients) / self.h.numel()
        return ca.mmin(ca.vertcat(*pivots)) / size - SINGULAR**2


def _solve(factors: Factors, b: ca.SX) -> ca.SX:
    return solve_ldl(factors, ca.vertsplit(b))


def _determinant(M: ca.SX) -> ca.SX:
    found = ca.SX(1.0)
    for inverse in ldl(M).inverse_diagonal:
        found = found / inverse
    return found


def _first_largest(sizes: ca.SX) -> ca.SX:
    """1 where a size is the largest, the first of equal ones, else 0."""
    largest, free, found = ca.mmax(sizes), ca.SX(1.0), []
    for size in ca.vertsplit(sizes):
        hit = ca.if_else(size >= largest, free, 0.0)
        free = free - hit
        found.append(hit)
    return ca.vertcat(*found)


def switch_charts(system: System, dependent: tuple[int, ...]) -> System:
    """A constrained system in minimal coordinates that change on the way, begun with the given dependent joints."""
    found, x, m = system.expressions, system.symbols.x, system.symbols.m
    n, n_v, k = system.n_q, system.n_v, len(system.motion.constraint_forces)
    mask = ca.SX.sym("dependent", n_v)
    h, h_dot = found.constraints[:k], found.constraints[k:]
    chart = Chart(mask, h, h_dot, x[:n], x[n : n + n_v], system.N)
    q, v = chart.follow()
    best, rest = chart.best(), x[n + n_v :]
    within = ("rhs", "position_rate", "outputs", "watched", "limits", "delayed", "applied")
    columns = [getattr(found, name) for name in within]
    followed = ca.substitute(columns, [x[: n + n_v]], [ca.vertcat(q, v)])
    start = system.discrete.start_action
    begins = ca.vertcat(found.actions[start], best) if start else ca.vertcat(x, m, best)
    actions = {name: ca.vertcat(column, mask) for name, column in found.actions.items()}
    expressions = replace(
        found,
        **dict(zip(within, followed, strict=True)),  # type: ignore[arg-type]
        guards=ca.vertcat(found.guards, chart.ratio(best) - WORSE, chart.margin()),
        projection=ca.vertcat(q, v, rest, m, mask),
        updates={name: ca.vertcat(column, mask) for name, column in found.updates.items()},
        actions={**actions, "action:start": begins, f"action:{SWITCH}": ca.vertcat(x, m, best)},
    )
    guards = (
        *system.discrete.guards,
        Guard(SWITCH, -1, action=f"action:{SWITCH}"),
        Guard(END, -1, Ending.SINGULAR),
    )
    return replace(
        system,
        expressions=expressions,
        symbols=system.symbols._replace(m=ca.vertcat(m, mask)),
        memory=(*system.memory, *_mask_memory(system, dependent)),
        discrete=replace(system.discrete, guards=guards, start_action="action:start"),
    )


def _mask_memory(system: System, dependent: tuple[int, ...]) -> list[MemoryInfo]:
    joints = [info.name.removesuffix(".velocity") for info in system.states[system.n_q : system.n_q + system.n_v]]
    starts = np.isin(np.arange(len(joints)), dependent).astype(float)
    return [
        MemoryInfo(f"constraints.dependent.{joint}", "", float(start), hidden=True)
        for joint, start in zip(joints, starts, strict=True)
    ]


def can_switch(system: System) -> bool:
    """Whether the choice can change: nobody has named it, no equation is spare, and it is not too much work."""
    k = len(system.motion.constraint_forces)
    named, spare = system.scenario.constraint_method.independent, system.motion.spare
    return named is None and not spare and k * k * system.n_v <= MOST_WORK
