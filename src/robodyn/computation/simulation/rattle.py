"""RATTLE: how does a constrained mechanism in momenta take a symplectic step?

    p_half = p0 + h/2 (F(q0, p_half) + H(q0)^T lam),    F = -dE/dq + tau,  E(q, p) the energy
    q1 = q0 + h/2 (v(q0, p_half) + v(q1, p_half)),      h(q1) = 0
    p1 = p_half + h/2 (F(q1, p_half) + H(q1)^T mu),     H(q1) v(q1, p1) = 0

RATTLE of Andersen (1983) for energies of any form: Hairer, Lubich and Wanner, Geometric Numerical Integration (2006),
VII.1.4. Order 2, symmetric, symplectic on the constraints where no torques are applied.
"""

from __future__ import annotations

import casadi as ca

from robodyn.computation.assembly import System
from robodyn.computation.dynamics import solve_symmetric
from robodyn.computation.simulation.implicit_step import ImplicitStep, Known, at_state, start_step


def trace_rattle(system: System) -> ImplicitStep:
    """The equations of a step, for the unknowns [q1, p_half, lam]; lam is kept as the next guess."""
    n, k = system.n_q, len(system.motion.constraint_forces)
    known = start_step(system, k)
    unknowns = ca.SX.sym("unknowns", 2 * n + k)
    q1, p_half, lam = unknowns[:n], unknowns[n : 2 * n], unknowns[2 * n :]
    q0, p0, half = known.x[:n], known.x[n : 2 * n], known.h / 2

    v, force, h, active, H = _parts(system)
    v0, force0, H0 = _at(system, [v, force, H], q0, p_half)
    v1, force1, h1, active1, H1 = _at(system, [v, force, h, active, H], q1, p_half)
    residual = ca.vertcat(
        q1 - q0 - half * (v0 + v1),
        p_half - p0 - half * (force0 + H0.T @ lam),
        active1 * h1 / (half * known.h) + (1 - active1) * lam,
    )
    mu = _velocity_forces(system, (q1, p_half + half * force1), half)
    p1 = p_half + half * (force1 + H1.T @ mu)
    end = _end(system, known, (q1, p1), mu)

    guess = ca.vertcat(q0 + known.h * known.x_dot[:n], p0 + half * known.x_dot[n : 2 * n], known.kept)
    return ImplicitStep(system, known, unknowns, guess, residual, ca.vertcat(*end, lam))


def _parts(system: System) -> list[ca.SX]:
    """Velocities, forces without those of the constraints, residuals, which hold, and their gradients."""
    k = len(system.motion.constraint_forces)
    h = system.expressions.constraints[:k] if k else ca.SX(0, 1)
    active = system.expressions.active if k else ca.SX(0, 1)
    force = system.expressions.momentum_rate + system.expressions.applied
    return [system.expressions.position_rate, force, h, active, ca.jacobian(h, system.q)]


def _at(system: System, expressions: list[ca.SX], q: ca.SX, p: ca.SX) -> list[ca.SX]:
    return at_state(system, expressions, ca.vertcat(q, p, ca.SX.zeros(system.n_quadratures)))


def _velocity_forces(system: System, place: tuple[ca.SX, ca.SX], half: ca.SX) -> ca.SX:
    """mu, linear in the rates of the constraints that are left without it: H M^-1 H^T (h/2) mu = -h_dot."""
    k = len(system.motion.constraint_forces)
    if k == 0:
        return ca.SX(0, 1)
    _, _, _, active, H = _parts(system)
    h_dot = system.expressions.constraints[k:]
    S = ca.jacobian(h_dot, system.symbols.x[system.n_q : 2 * system.n_q]) @ H.T
    h_dot, S, active = _at(system, [h_dot, S, active], *place)
    S = S + ca.diag(1 - active)
    return ca.SX(solve_symmetric(half * S, [-h_dot[i] for i in range(k)]))


def _end(system: System, known: Known, place: tuple[ca.SX, ca.SX], mu: ca.SX) -> list[ca.SX]:
    """[x1, x_dot1]; what nothing depends on moves by the trapezoidal rule."""
    n, names = system.n_q, [state.name for state in system.states]
    v, force, _, _, H = _parts(system)
    book = system.expressions.rhs[2 * n :]
    if "energy.work" in names:
        book[names.index("energy.work") - 2 * n] = ca.dot(system.expressions.applied + H.T @ mu, v)
    v, p_dot, book = _at(system, [v, force + H.T @ mu, book], *place)
    book1 = known.x[2 * n :] + known.h / 2 * (known.x_dot[2 * n :] + book)
    return [*place, book1, v, p_dot, book]
