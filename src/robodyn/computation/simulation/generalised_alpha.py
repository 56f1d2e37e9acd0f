"""Generalised-alpha method (index 3): how does a mechanism take a step with constraints on the level of positions?

    M(q1) a1 + c(q1, v1) = tau1 + H(q1)^T lam1,    h(q1, t1) = 0
    q1 = q0 + h v0 + h^2 ((1/2 - beta) A0 + beta A1),    v1 = v0 + h ((1 - gamma) A0 + gamma A1)
    (1 - alpha_m) A1 + alpha_m A0 = (1 - alpha_f) a1 + alpha_f a0

The generalised-alpha method of Chung and Hulbert (1993), on constraints by Arnold and Bruels (2007): order 2, its
damping of fast motions set by the spectral radius. Other states z move by the same rule, with their rates in place of
the accelerations. A is the rate a little off the grid, A_n = f(t_n + delta h) with delta = alpha_m - alpha_f.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from robodyn.base.symbolic import where
from robodyn.computation.assembly import System
from robodyn.computation.dynamics import inverse_dynamics
from robodyn.computation.simulation.implicit_step import ImplicitStep, Known, at_state, start_step


@dataclass(frozen=True)
class Weights:
    """Coefficients of the method, all from its spectral radius."""

    radius: ca.SX

    @property
    def alpha_m(self) -> ca.SX:
        return (2 * self.radius - 1) / (self.radius + 1)

    @property
    def alpha_f(self) -> ca.SX:
        return self.radius / (self.radius + 1)

    @property
    def delta(self) -> ca.SX:
        return self.alpha_m - self.alpha_f

    @property
    def gamma(self) -> ca.SX:
        return 0.5 - self.delta

    @property
    def beta(self) -> ca.SX:
        return 0.25 * (1 - self.delta) ** 2


@dataclass(frozen=True)
class Forces:
    """The equations of motion at the end of a step.

    Attributes:
        unbalanced: M a + c - tau - H^T lam; h, active: of the constraints.
        z_dot: rates of other states; book: of those on which nothing depends.
    """

    unbalanced: ca.SX
    h: ca.SX
    active: ca.SX
    z_dot: ca.SX
    book: ca.SX


def trace_generalised_alpha(system: System) -> ImplicitStep:
    """The equations of a step, for the unknowns [a1, z1, lam1]; kept between steps are [A, lam, h]."""
    n_q, n_v, k = system.n_q, system.n_v, len(system.motion.constraint_forces)
    n_z = len(system.states) - n_q - n_v - system.n_quadratures
    known = start_step(system, n_v + n_z + k + 1)
    unknowns = ca.SX.sym("unknowns", n_v + n_z + k)
    a, z, lam = _rows(unknowns, 0, n_v), _rows(unknowns, n_v, n_v + n_z), _rows(unknowns, n_v + n_z)
    weights, length = Weights(known.radius), known.h
    q0, v0, z0, book0 = _split(system, known.x)
    _, a0, z_dot0, book_dot0 = _split(system, known.x_dot)

    A0, A1 = _averages(known, weights, a0, a, _rows(known.kept, 0, n_v))
    q = q0 + length * v0 + length**2 * ((0.5 - weights.beta) * A0 + weights.beta * A1)
    v = v0 + length * ((1 - weights.gamma) * A0 + weights.gamma * A1)
    forces = _evaluate(system, ca.vertcat(q, v, z), a, lam)
    Z0, Z1 = _averages(known, weights, z_dot0, forces.z_dot, _rows(known.kept, n_v, n_v + n_z))
    moved = z0 + length * ((1 - weights.gamma) * Z0 + weights.gamma * Z1)
    # Divided by what an acceleration moves, the constraints need no small pivots; what does not hold has no force.
    kept = forces.active * forces.h / (weights.beta * length**2) + (1 - forces.active) * lam

    book = book0 + 0.5 * length * (book_dot0 + forces.book)
    end = [q, v, z, book, v, a, forces.z_dot, forces.book, A1, Z1, lam, length]
    guess = ca.vertcat(a0, z0 + length * z_dot0, _rows(known.kept, n_v + n_z, -1))
    residual = ca.vertcat(forces.unbalanced, moved - z, kept)
    return ImplicitStep(system, known, unknowns, guess, residual, ca.vertcat(*end))


def _split(system: System, x: ca.SX) -> tuple[ca.SX, ca.SX, ca.SX, ca.SX]:
    """Positions, velocities, other states, and those on which nothing depends."""
    n_q, n_v, n = system.n_q, system.n_v, len(system.states) - system.n_quadratures
    return _rows(x, 0, n_q), _rows(x, n_q, n_q + n_v), _rows(x, n_q + n_v, n), _rows(x, n)


def _rows(column: ca.SX, begin: int, end: int | None = None) -> ca.SX:
    """Some rows of a column: of none, an empty column, which a slice of a single entry would not be."""
    return ca.vertcat(ca.SX(0, 1), *ca.vertsplit(column)[begin:end])


def _averages(known: Known, weights: Weights, f0: ca.SX, f1: ca.SX, A: ca.SX) -> tuple[ca.SX, ca.SX]:
    """A0 and A1 from the rates at both ends and the A that the step before left.

    A step of another length than the one before shifts A0 along with it. A fresh one takes A0 = f0 + delta (f1 - f0),
    from which A1 = f0 + (1 + delta) (f1 - f0) follows: for velocities the trapezoidal rule, of order 2 as well.
    """
    old = where(known.fresh, 1.0, known.kept[-1])
    A0 = f0 + known.h / old * (A - f0)
    A1 = ((1 - weights.alpha_f) * f1 + weights.alpha_f * f0 - weights.alpha_m * A0) / (1 - weights.alpha_m)
    fresh, change = known.fresh, f1 - f0
    A0 = fresh * (f0 + weights.delta * change) + (1 - fresh) * A0
    return A0, fresh * (f0 + (1 + weights.delta) * change) + (1 - fresh) * A1


def _evaluate(system: System, x: ca.SX, a: ca.SX, lam: ca.SX) -> Forces:
    """The equations of motion at a state, with accelerations and constraint forces as given."""
    assert system.motion.mechanics is not None
    rates, k = system.expressions.rhs, len(system.motion.constraint_forces)
    h = system.expressions.constraints[:k] if k else ca.SX(0, 1)
    active = system.expressions.active if k else ca.SX(0, 1)
    tau = system.expressions.applied + ca.jacobian(h, system.q).T @ lam
    q, v, acceleration = (list(ca.vertsplit(column)) for column in (system.q, system.v, a))
    needed = ca.SX(inverse_dynamics(system.motion.mechanics.tree, q, v, acceleration))
    for inertia, gradient in system.motion.rotors:
        needed = needed + gradient.T @ (inertia @ (gradient @ a))
    _, _, z_dot, book = _split(system, rates)
    names = [state.name for state in system.states[len(system.states) - system.n_quadratures :]]
    if "energy.work" in names:
        # The power of the forces found here, not of those that the accelerations' own equations give.
        book[names.index("energy.work")] = ca.dot(tau, system.v)
    unused = ca.SX.zeros(system.n_quadratures)
    return Forces(*at_state(system, [needed - tau, h, active, z_dot, book], ca.vertcat(x, unused)))
