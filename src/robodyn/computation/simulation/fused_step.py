"""Rosenbrock W-method, fused with the model: how does a mechanism with stiff forces take a step in one function?

    M a + c = tau(t, q, v, z),   q_dot = v,   z_dot = f(t, q, v, z)

A Rosenbrock method solves (1 - gamma h J) k = r twice with the same matrix. A W-method keeps its order whatever J is,
so J holds what can be stiff and nothing else: the derivatives of the forces tau and of the rates f, exactly; not those
of the inertia forces. Then z is eliminated entry by entry, q by q_dot = v, and one symmetric matrix of the size of M
is left to be factorised:

    S = M - g^2 tau_q - g tau_v - g tau_z Z^-1 (g f_v + g^2 f_q),   Z = 1 - g f_z,   g = gamma h
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, cast

import casadi as ca
import numpy as np

from robodyn.base.symbolic.elimination import eliminate_sparse
from robodyn.base.symbolic.tables import node_operation
from robodyn.computation.assembly.system import System
from robodyn.computation.dynamics import ldl, solve_ldl

GAMMA = {"rosw1": 0.5, "rosw2": 1 - np.sqrt(0.5)}
"""Of the method of one stage: of order 2 and A-stable; of ROS2: L-stable."""


@dataclass(frozen=True)
class Rates:
    """The equations of motion at a time and state: M a + c = tau, z_dot, and rates of book-keeping states."""

    M: ca.SX
    c: ca.SX
    tau: ca.SX
    z_dot: ca.SX
    book: ca.SX

    @property
    def force(self) -> ca.SX:
        """What accelerates: M a."""
        return self.tau - self.c


@dataclass(frozen=True)
class FusedStep:
    """A step as one function of [x0, h, time at the end, delayed signals at the start]: x1."""

    system: System
    column: ca.SX
    end: ca.SX

    def functions(self) -> dict[str, ca.Function]:
        columns = [*self.system.symbols._replace(x=self.column)]
        return {"fused_step": ca.Function("fused_step", columns, [ca.densify(self.end)])}


def trace_rosw2(system: System) -> FusedStep:
    """ROS2 of Verwer, Spee, Blom and Hundsdorfer (1999).

        (1 - gamma h J) k1 = f(t0, x0),   (1 - gamma h J) k2 = f(t1, x0 + h k1) - 2 k1
        x1 = x0 + 3/2 h k1 + 1/2 h k2

    Linear mechanics that change with time are taken at the middle of the step in both stages, which keeps the order.
    """
    symbols = system.symbols
    x, h, t1, d0 = symbols.x, ca.SX.sym("h"), ca.SX.sym("t1"), ca.SX.sym("d0", symbols.d.numel())
    n, n_v = system.n_q, system.n_v
    q, v, z, book = split_states(system, x)
    middle = ca.SX.sym("middle")
    rates = _freeze_mechanics(system, find_rates(system), middle)
    first = _at(system, rates, symbols.t, x, d0)
    matrix = StageMatrix(system, first, GAMMA["rosw2"] * h)

    k1 = matrix.solve(v, first.force, first.z_dot)
    x2 = ca.vertcat(x[: n + n_v + z.numel()] + h * ca.vertcat(*k1), book)
    second = _at(system, rates, t1, x2, symbols.d)
    v2 = x2[n : n + n_v]
    k2 = matrix.solve(v2 - 2 * k1[0], _second_force(system, first, second, 2 * k1[1]), second.z_dot - 2 * k1[2])

    book1, book2 = (matrix.step * matrix.follow_books(k) for k in (k1, k2))
    book1 += first.book
    book2 += second.book - 2 * book1
    slope1, slope2 = ca.vertcat(*k1, book1), ca.vertcat(*k2, book2)
    end = ca.substitute(x + h * (1.5 * slope1 + 0.5 * slope2), middle, 0.5 * (symbols.t + t1))
    return FusedStep(system, ca.vertcat(x, h, t1, d0), end)


def _freeze_mechanics(system: System, rates: Rates, middle: ca.SX) -> Rates:
    """Rates with linear mechanics taken at one time of the step; those of a mechanism itself do not depend on time."""
    if not system.motion.terms:
        return rates
    M, c = ca.substitute([rates.M, rates.c], [system.symbols.t], [middle])
    return replace(rates, M=M, c=c)


def _second_force(system: System, first: Rates, second: Rates, less: ca.SX) -> ca.SX:
    """M (a2 - less) with the mass matrix of the first stage, which in linear mechanics is that of the second too."""
    if system.motion.terms:
        return second.force - first.M @ less
    a2: Any = solve_ldl(ldl(second.M), ca.vertsplit(second.force))
    return first.M @ (ca.SX(a2) - less)


def trace_rosw1(system: System) -> FusedStep:
    """The linearly implicit midpoint rule: the forces are evaluated once a step, the inertia forces twice.

        (1 - h/2 J) k = f(t + h/2, x0),   x1 = x0 + h k

    J leaves out the inertia forces c. They are taken at the middle of the step: at q0 + h/2 v0, and at the speed
    v0 + h/2 a, whose acceleration a is that of the same equations with c at the speed v0.
    """
    symbols = system.symbols
    x, h, t1, d0 = symbols.x, ca.SX.sym("h"), ca.SX.sym("t1"), ca.SX.sym("d0", symbols.d.numel())
    q, v, z, book = split_states(system, x)
    middle, d = 0.5 * (symbols.t + t1), 0.5 * (d0 + symbols.d)
    rates = find_rates(system)

    def at_middle(velocity: ca.SX) -> Rates:
        return _at(system, rates, middle, ca.vertcat(q + 0.5 * h * v, velocity, z, book), d)

    here, ahead = _at(system, rates, middle, x, d), at_middle(v)
    matrix = StageMatrix(system, replace(here, M=ahead.M), GAMMA["rosw1"] * h)
    _, a, _ = matrix.solve(v, here.tau - ahead.c, here.z_dot)
    k = matrix.solve(v, here.tau - at_middle(v + 0.5 * h * a).c, here.z_dot)
    book_rates = here.book + matrix.step * matrix.follow_books(k)
    return FusedStep(system, ca.vertcat(x, h, t1, d0), x + h * ca.vertcat(*k, book_rates))


FUSED_STEPS = {"rosw1": trace_rosw1, "rosw2": trace_rosw2}


def split_states(system: System, x: ca.SX) -> tuple[ca.SX, ca.SX, ca.SX, ca.SX]:
    """Positions, velocities, other states, and those on which nothing depends."""
    n_q, n_v, n = system.n_q, system.n_v, len(system.states) - system.n_quadratures
    return x[:n_q], x[n_q : n_q + n_v], x[n_q + n_v : n], x[n:]


def find_rates(system: System) -> Rates:
    """The equations of motion in the system's own symbols."""
    _, _, z_dot, book = split_states(system, system.expressions.rhs)
    return Rates(system.mass_matrix, system.bias, system.expressions.applied, z_dot, book)


def _at(system: System, rates: Rates, t: ca.SX, x: ca.SX, d: ca.SX) -> Rates:
    symbols = [system.symbols.t, system.symbols.x, system.symbols.d]
    return Rates(*ca.substitute([rates.M, rates.c, rates.tau, rates.z_dot, rates.book], symbols, [t, x, d]))


class StageMatrix:
    """1 - gamma h J at the start of a step, with all but the accelerations eliminated."""

    def __init__(self, system: System, first: Rates, step: ca.SX) -> None:
        self.step, self.system, self.first = step, system, first
        q, v, z, _ = split_states(system, system.symbols.x)
        tau = first.tau
        self.tau_q, self.tau_v, self.tau_z = (ca.jacobian(tau, part) for part in (q, v, z))
        self.f_q, self.f_v = ca.jacobian(first.z_dot, q), ca.jacobian(first.z_dot, v)
        self.Z = ca.SX.eye(z.numel()) - step * ca.jacobian(first.z_dot, z)
        coupling = self.eliminate(step * self.f_v + step**2 * self.f_q)
        stiff = step**2 * self.tau_q + step * self.tau_v + step * self.tau_z @ coupling
        self.coupling = coupling
        self._solve_accelerations = _make_solver(first.M, stiff)

    def eliminate(self, right: ca.SX) -> ca.SX:
        """Z^-1 on columns; mostly Z is diagonal."""
        return eliminate_sparse(self.Z, right)

    def solve(self, r_q: ca.SX, r_v: ca.SX, r_z: ca.SX) -> tuple[ca.SX, ca.SX, ca.SX]:
        """Increments of q, v and z; r_v is a force, M times the acceleration."""
        step = self.step
        z0 = self.eliminate(r_z + step * self.f_q @ r_q)
        k_v = self._solve_accelerations(r_v + step * (self.tau_q @ r_q + self.tau_z @ z0))
        return r_q + step * k_v, k_v, z0 + self.coupling @ k_v

    def follow_books(self, k: tuple[ca.SX, ca.SX, ca.SX]) -> ca.SX:
        """The rows of J of book-keeping states, times increments k of all others: nothing is solved for them."""
        system, first = self.system, self.first
        rates = ca.jtimes(first.book, system.symbols.x, ca.vertcat(*k, ca.SX(first.book.numel(), 1)))
        names = [state.name for state in system.states[len(system.states) - system.n_quadratures :]]
        if "energy.work" in names:
            # It grows with the power tau . v, and the derivatives of tau are there for the motion.
            change = self.tau_q @ k[0] + self.tau_v @ k[1] + self.tau_z @ k[2]
            rates[names.index("energy.work")] = ca.dot(first.tau, k[1]) + ca.dot(system.v, change)
        return rates


def _make_solver(M: ca.SX, stiff: ca.SX) -> Callable[[ca.SX], ca.SX]:
    """S^-1 on columns, S = M - stiff: by LDL^T where S is symmetric, as with friction, springs and motors; else by
    elimination."""
    S = M - stiff
    if not _is_symmetric(stiff):
        return lambda b: eliminate_sparse(S, b)
    factors = ldl(S)
    return lambda b: ca.SX(cast(Any, solve_ldl(factors, ca.vertsplit(b))))


def _is_symmetric(S: ca.SX) -> bool:
    """Whether S equals its transpose somewhere; what cannot be evaluated here, a table, counts as not symmetric."""
    # An entry that a switch makes zero there may have no counterpart elsewhere.
    if not ca.sparsify(S).sparsity().is_symmetric():
        return False
    free = ca.symvar(S)
    values = 0.3 + 0.5 * np.abs(np.sin(1.0 + np.arange(len(free))))
    given: Any = ca.Function("matrix", [ca.vertcat(ca.SX(0, 1), *free)], [ca.densify(S)])
    if any(given.instruction_id(k) == node_operation() for k in range(given.n_instructions())):
        return False
    M = np.array(given(values))
    return bool(np.all(np.isfinite(M)) and np.allclose(M, M.T, rtol=1e-9, atol=1e-12 * np.max(np.abs(M), initial=0.0)))
