"""Methods with steps of their own: which take their equations from the system, and which systems can they move?

Implicit steps are solved by the engine: functions of what is known at the start of a step and of its unknowns. Fused
steps, and those of Rosenbrock methods for small systems, are one function each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, cast

import casadi as ca
import numpy as np

from robodyn.base import FlawList, frozen
from robodyn.base.symbolic import to_column, where
from robodyn.base.symbolic.elimination import eliminate_sparse, factorise_sparse
from robodyn.base.symbolic.tables import node_operation
from robodyn.computation.assembly.contact.modes import ACTION
from robodyn.computation.assembly.contact.stepping import STEP as CONTACTS
from robodyn.computation.assembly.declarations import WORK
from robodyn.computation.assembly.system import System
from robodyn.computation.dynamics import inverse_dynamics, ldl, solve_ldl, solve_symmetric
from robodyn.computation.engine.tableaus import ROSENBROCK, MethodTable, method_table
from robodyn.description.model import Solver, Wheel


@frozen
class StepStart:
    """What a step starts from, as symbols.

    Attributes:
        x, x_dot: states and rates at its start; kept: what the step before left for this one.
        h: length [s]; fresh: whether nothing was left; radius: spectral radius of the method.
    """

    x: ca.SX
    x_dot: ca.SX
    kept: ca.SX
    h: ca.SX
    fresh: ca.SX
    radius: ca.SX

    @property
    def column(self) -> ca.SX:
        return ca.vertcat(self.x, self.x_dot, self.kept, self.h, self.fresh, self.radius)


@frozen
class ImplicitStep:
    """The equations of a step: `residual(unknowns) = 0`, a first guess, and what follows once they are solved.

    Attributes:
        end: [x1, x_dot1, kept for the next step]. The time t of all functions is that at the end of the step.
    """

    system: System
    known: StepStart
    unknowns: ca.SX
    guess: ca.SX
    residual: ca.SX
    end: ca.SX

    @property
    def n_kept(self) -> int:
        return int(self.known.kept.numel())

    @property
    def n_unknowns(self) -> int:
        return int(self.unknowns.numel())

    def functions(self) -> dict[str, ca.Function]:
        """What the engine calls, with the exact derivatives of the residual."""
        outputs = {
            "step_guess": self.guess,
            "step_residual": self.residual,
            "step_jacobian": ca.vec(ca.densify(ca.jacobian(self.residual, self.unknowns))),
            "step_end": self.end,
        }
        columns = [*self.system.symbols._replace(x=ca.vertcat(self.known.column, self.unknowns))]
        return {name: ca.Function(name, columns, [ca.densify(output)]) for name, output in outputs.items()}


def start_step(system: System, n_kept: int) -> StepStart:
    """Symbols of what a step starts from."""
    n = len(system.states)
    sizes = {"x": n, "x_dot": n, "kept": n_kept, "h": 1, "fresh": 1, "radius": 1}
    return StepStart(**{name: ca.SX.sym(name, size) for name, size in sizes.items()})


def at_state(system: System, expressions: Sequence[ca.SX], x: ca.SX) -> list[ca.SX]:
    """Expressions of a system's states, elsewhere."""
    return list(ca.substitute(list(expressions), [system.symbols.x], [x]))


def trace_generalised_alpha(system: System) -> ImplicitStep:
    """The generalised-alpha method of Chung and Hulbert (1993), with constraints by Arnold and Bruels (2007).

        M(q1) a1 + c(q1, v1) = tau1 + H(q1)^T lam1,    h(q1, t1) = 0
        q1 = q0 + h v0 + h^2 ((1/2 - beta) A0 + beta A1),    v1 = v0 + h ((1 - gamma) A0 + gamma A1)
        (1 - alpha_m) A1 + alpha_m A0 = (1 - alpha_f) a1 + alpha_f a0

    Of order 2; the spectral radius sets its damping of fast motions. Other states z move by the same rule, with their
    rates in place of the accelerations. A is the rate a little off the grid, A_n = f(t_n + delta h) with
    delta = alpha_m - alpha_f. Unknowns are [a1, z1, lam1], kept between steps [A, lam, h].
    """
    n_q, n_v, k = system.n_q, system.n_v, len(system.motion.constraint_forces)
    n_z = system.n_moving - n_q - n_v
    known = start_step(system, n_v + n_z + k + 1)
    unknowns = ca.SX.sym("unknowns", n_v + n_z + k)
    a, z, lam = _rows(unknowns, 0, n_v), _rows(unknowns, n_v, n_v + n_z), _rows(unknowns, n_v + n_z)
    length, radius, fresh = known.h, known.radius, known.fresh
    q0, v0, z0, book0 = split_states(system, known.x)
    _, a0, z_dot0, book_dot0 = split_states(system, known.x_dot)
    # All coefficients follow from the spectral radius.
    alpha_m, alpha_f = (2 * radius - 1) / (radius + 1), radius / (radius + 1)
    delta = alpha_m - alpha_f
    gamma, beta = 0.5 - delta, 0.25 * (1 - delta) ** 2

    def average(f0: ca.SX, f1: ca.SX, A: ca.SX) -> tuple[ca.SX, ca.SX]:
        """A0 and A1 from the rates at both ends and the A that the step before left."""
        # A step of another length than the one before shifts A0 along with it.
        old = where(fresh, 1.0, known.kept[-1])
        A0 = f0 + length / old * (A - f0)
        A1 = ((1 - alpha_f) * f1 + alpha_f * f0 - alpha_m * A0) / (1 - alpha_m)
        # A fresh one takes A0 = f0 + delta (f1 - f0), from which A1 = f0 + (1 + delta) (f1 - f0) follows: for
        # velocities the trapezoidal rule, of order 2 as well.
        change = f1 - f0
        A0 = fresh * (f0 + delta * change) + (1 - fresh) * A0
        return A0, fresh * (f0 + (1 + delta) * change) + (1 - fresh) * A1

    A0, A1 = average(a0, a, _rows(known.kept, 0, n_v))
    q = q0 + length * v0 + length**2 * ((0.5 - beta) * A0 + beta * A1)
    v = v0 + length * ((1 - gamma) * A0 + gamma * A1)
    unbalanced, h, active, z_dot, book_dot = _evaluate(system, ca.vertcat(q, v, z), a, lam)
    Z0, Z1 = average(z_dot0, z_dot, _rows(known.kept, n_v, n_v + n_z))
    moved = z0 + length * ((1 - gamma) * Z0 + gamma * Z1)
    # Divided by what an acceleration moves, the constraints need no small pivots; what does not hold has no force.
    closed = active * h / (beta * length**2) + (1 - active) * lam

    book = book0 + 0.5 * length * (book_dot0 + book_dot)
    end = [q, v, z, book, v, a, z_dot, book_dot, A1, Z1, lam, length]
    guess = ca.vertcat(a0, z0 + length * z_dot0, _rows(known.kept, n_v + n_z, -1))
    return ImplicitStep(system, known, unknowns, guess, ca.vertcat(unbalanced, moved - z, closed), ca.vertcat(*end))


def split_states(system: System, x: ca.SX) -> tuple[ca.SX, ca.SX, ca.SX, ca.SX]:
    """Positions, velocities, other states, and those on which nothing depends."""
    n_q, n_v, n = system.n_q, system.n_v, system.n_moving
    return _rows(x, 0, n_q), _rows(x, n_q, n_q + n_v), _rows(x, n_q + n_v, n), _rows(x, n)


def _rows(column: ca.SX, begin: int, end: int | None = None) -> ca.SX:
    """Some rows of a column: of none, an empty column, which a slice of a single entry would not be."""
    return to_column(ca.vertsplit(column)[begin:end])


def _evaluate(system: System, x: ca.SX, a: ca.SX, lam: ca.SX) -> list[ca.SX]:
    """The equations of motion at a state, with accelerations and constraint forces as given: M a + c - tau - H^T lam;
    h of the constraints and which hold; rates of other states, and of those on which nothing depends."""
    assert system.motion.mechanics is not None
    rates, k = system.expressions.rhs, len(system.motion.constraint_forces)
    h = system.expressions.constraints[:k] if k else ca.SX(0, 1)
    active = system.expressions.active if k else ca.SX(0, 1)
    tau = system.expressions.applied + ca.jacobian(h, system.q).T @ lam
    q, v, acceleration = (list(ca.vertsplit(column)) for column in (system.q, system.v, a))
    needed = ca.SX(inverse_dynamics(system.motion.mechanics.tree, q, v, acceleration))
    for inertia, gradient in system.motion.rotors:
        needed = needed + gradient.T @ (inertia @ (gradient @ a))
    _, _, z_dot, book = split_states(system, rates)
    names = system.state_names[system.n_moving :]
    if WORK in names:
        # The power of the forces found here, not of those that the accelerations' own equations give.
        book[names.index(WORK)] = ca.dot(tau, system.v)
    unused = ca.SX.zeros(system.n_quadratures)
    return at_state(system, [needed - tau, h, active, z_dot, book], ca.vertcat(x, unused))


def trace_rattle(system: System) -> ImplicitStep:
    """RATTLE of Andersen (1983), a symplectic step of a constrained mechanism in momenta.

        p_half = p0 + h/2 (F(q0, p_half) + H(q0)^T lam),    F = -dE/dq + tau,  E(q, p) the energy
        q1 = q0 + h/2 (v(q0, p_half) + v(q1, p_half)),      h(q1) = 0
        p1 = p_half + h/2 (F(q1, p_half) + H(q1)^T mu),     H(q1) v(q1, p1) = 0

    For energies of any form: Hairer, Lubich and Wanner, Geometric Numerical Integration (2006), VII.1.4. Order 2,
    symmetric, symplectic on the constraints where no torques are applied. Unknowns are [q1, p_half, lam]; lam is kept
    as the next guess.
    """
    n, k, expressions = system.n_q, len(system.motion.constraint_forces), system.expressions
    known = start_step(system, k)
    unknowns = ca.SX.sym("unknowns", 2 * n + k)
    q1, p_half, lam = unknowns[:n], unknowns[n : 2 * n], unknowns[2 * n :]
    q0, p0, half = known.x[:n], known.x[n : 2 * n], known.h / 2
    # Velocities, forces without those of the constraints, residuals, which hold, and their gradients.
    v, force = expressions.position_rate, expressions.momentum_rate + expressions.applied
    h, active = (expressions.constraints[:k], expressions.active) if k else (ca.SX(0, 1), ca.SX(0, 1))
    H = ca.jacobian(h, system.q)

    def at(columns: list[ca.SX], q: ca.SX, p: ca.SX) -> list[ca.SX]:
        return at_state(system, columns, ca.vertcat(q, p, ca.SX.zeros(system.n_quadratures)))

    v0, force0, H0 = at([v, force, H], q0, p_half)
    v1, force1, h1, active1, H1 = at([v, force, h, active, H], q1, p_half)
    residual = ca.vertcat(
        q1 - q0 - half * (v0 + v1),
        p_half - p0 - half * (force0 + H0.T @ lam),
        active1 * h1 / (half * known.h) + (1 - active1) * lam,
    )
    # mu is linear in the rates of the constraints that are left without it: H M^-1 H^T (h/2) mu = -h_dot.
    mu = ca.SX(0, 1)
    if k:
        h_dot = expressions.constraints[k:]
        S = ca.jacobian(h_dot, system.symbols.x[n : 2 * n]) @ H.T
        h_dot, S, held = at([h_dot, S, active], q1, p_half + half * force1)
        S = S + ca.diag(1 - held)
        mu = ca.SX(solve_symmetric(half * S, [-h_dot[i] for i in range(k)]))
    p1 = p_half + half * (force1 + H1.T @ mu)

    # What nothing depends on moves by the trapezoidal rule, the work by the power of the forces found here.
    book = expressions.rhs[2 * n :]
    if WORK in system.state_names:
        book[system.state_names.index(WORK) - 2 * n] = ca.dot(expressions.applied + H.T @ mu, v)
    v_end, p_dot, book = at([v, force + H.T @ mu, book], q1, p1)
    book1 = known.x[2 * n :] + known.h / 2 * (known.x_dot[2 * n :] + book)
    end = ca.vertcat(q1, p1, book1, v_end, p_dot, book, lam)
    guess = ca.vertcat(q0 + known.h * known.x_dot[:n], p0 + half * known.x_dot[n : 2 * n], known.kept)
    return ImplicitStep(system, known, unknowns, guess, residual, end)


STEP = "rosenbrock_step"
"""Name of a whole step of a stiff method, which only some systems have."""
MOST_STATES, MOST_OPERATIONS = 8, 150
"""States, and operations of the rates, up to which a step is traced: beyond, compiling takes too long; own choices."""
MISS = 1e-12
"""Part of the terms of an equation by which a solution may miss it: rounding is some 1e-15, own choice."""


def trace_rosenbrock(system: System, solver: Solver) -> dict[str, ca.Function]:
    """A step of a Rosenbrock method as a function of [x0, h, the latest time that may be seen]: all u_i, x1 and what is
    missed; nothing where the engine is to compose it.

        W u_i = f(t + c_i h, x0 + sum_j a_ij u_j) + sum_j C_ij u_j / h + time_weight_i h f_t,   W = 1 / (gamma h) - J
        x1 = x0 + sum_i b_i u_i

    The engine calls the rates and their derivatives, with dense linear algebra between them: of a few states that costs
    more than the rates. In one function all of it stands in registers, zeros of the Jacobian cost nothing, and several
    robots are computed at once. A graph cannot choose pivots while it runs: where the first solution misses its
    equations, the engine takes the step itself, with pivots.
    """
    method, n = method_table(solver.method), len(system.states)
    if method.family != ROSENBROCK or system.delays or not 0 < n <= MOST_STATES:
        return {}
    rates = system.function(system.expressions.rhs, "rates")
    if rates.n_instructions() > MOST_OPERATIONS:
        return {}
    column, result = trace_step(method, system.symbols.t, system.symbols.x, system.expressions.rhs)
    return {STEP: ca.Function(STEP, [*system.symbols._replace(x=column)], [result])}


def trace_step(method: MethodTable, t: ca.SX, x: ca.SX, f: ca.SX) -> tuple[ca.SX, ca.SX]:
    """Argument and result of the function for x_dot = f(t, x)."""
    h, latest = ca.SX.sym("h"), ca.SX.sym("latest")
    W = ca.SX.eye(x.numel()) / (method.gamma * h) - ca.jacobian(f, x)
    f_t, solve = ca.jacobian(f, t), factorise_sparse(W)
    u: list[ca.SX] = []
    miss = ca.SX(0)
    for i in range(1, method.stages):
        time = ca.fmin(t + method.c[i] * h, latest)
        right = ca.substitute(f, ca.vertcat(t, x), ca.vertcat(time, x + _combine(method.a[i], u, x))) if u else f
        right = right + _combine(method.C[i], u, x) / h + method.time_weights[i] * h * f_t
        u.append(solve(right))
        if i == 1:
            miss = _missed(W, u[0], right)
    return ca.vertcat(x, h, latest), ca.densify(ca.vertcat(*u, x + _combine(method.b, u, x), miss))


def _combine(weights: Any, u: list[ca.SX], x: ca.SX) -> ca.SX:
    """sum_j weights_j u_j; the engine's first stage, the slope at the start, has no weight."""
    total = ca.SX.zeros(x.numel())
    for weight, each in zip(weights[1:], u, strict=False):
        if weight != 0.0:
            total = total + float(weight) * each
    return total


def _missed(W: ca.SX, u: ca.SX, right: ca.SX) -> ca.SX:
    """By how much W u = right is missed in all, beyond rounding: 0 or more, or no number where u is none."""
    size = ca.fabs(W) @ ca.fabs(u) + ca.fabs(right)
    over = ca.fabs(W @ u - right) - MISS * size
    return ca.sum1(ca.if_else(over <= 0, 0, over))


GAMMA = {"rosw1": 0.5, "rosw2": 1 - np.sqrt(0.5)}
"""Of the method of one stage: of order 2 and A-stable; of ROS2: L-stable."""


@frozen
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


# --------------------------------------------------------------------------------------------------
# Fused steps: a step of a Rosenbrock W-method as a function of [x0, h, time at the end, delayed signals at the start].
#
#     M a + c = tau(t, q, v, z),   q_dot = N(q) v,   z_dot = f(t, q, v, z)
#
# A Rosenbrock method solves (1 - gamma h J) k = r twice with the same matrix. A W-method keeps its order whatever J is,
# so J holds what can be stiff and nothing else: the derivatives of the forces tau and of the rates f, exactly; not
# those of the inertia forces, nor of N, the identity but for balls. Then z is eliminated entry by entry, q by
# q_dot = N v, and one symmetric matrix of the size of M is left to be factorised:
#
#     S = M - g^2 tau_q N - g tau_v - g tau_z Z^-1 (g f_v + g^2 f_q N),   Z = 1 - g f_z,   g = gamma h


def fused_step(system: System, column: ca.SX, end: ca.SX) -> dict[str, ca.Function]:
    """The function of a step: its arguments in the place of x, and x1."""
    columns = [*system.symbols._replace(x=column)]
    return {"fused_step": ca.Function("fused_step", columns, [ca.densify(end)])}


def trace_rosw2(system: System) -> dict[str, ca.Function]:
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

    k1 = matrix.solve(system.N @ v, first.force, first.z_dot)
    x2 = ca.vertcat(x[: n + n_v + z.numel()] + h * ca.vertcat(*k1), book)
    second = _at(system, rates, t1, x2, symbols.d)
    q_dot2 = at_state(system, [system.N], x2)[0] @ x2[n : n + n_v]
    k2 = matrix.solve(q_dot2 - 2 * k1[0], _second_force(system, first, second, 2 * k1[1]), second.z_dot - 2 * k1[2])

    book1, book2 = (matrix.step * matrix.follow_books(k) for k in (k1, k2))
    book1 += first.book
    book2 += second.book - 2 * book1
    slope1, slope2 = ca.vertcat(*k1, book1), ca.vertcat(*k2, book2)
    end = ca.substitute(x + h * (1.5 * slope1 + 0.5 * slope2), middle, 0.5 * (symbols.t + t1))
    return fused_step(system, ca.vertcat(x, h, t1, d0), end)


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


def trace_rosw1(system: System) -> dict[str, ca.Function]:
    """The linearly implicit midpoint rule: the forces are evaluated once a step, the inertia forces twice.

        (1 - h/2 J) k = f(t + h/2, x0),   x1 = x0 + h k

    J leaves out the inertia forces c. They are taken at the middle of the step: at q0 + h/2 N v0, and at the speed
    v0 + h/2 a, whose acceleration a is that of the same equations with c at the speed v0. So is the rate N v of q.
    """
    symbols = system.symbols
    x, h, t1, d0 = symbols.x, ca.SX.sym("h"), ca.SX.sym("t1"), ca.SX.sym("d0", symbols.d.numel())
    q, v, z, book = split_states(system, x)
    middle, d = 0.5 * (symbols.t + t1), 0.5 * (d0 + symbols.d)
    rates = find_rates(system)
    q_dot = system.N @ v
    q_middle = q + 0.5 * h * q_dot

    def at_middle(velocity: ca.SX) -> Rates:
        return _at(system, rates, middle, ca.vertcat(q_middle, velocity, z, book), d)

    here, ahead = _at(system, rates, middle, x, d), at_middle(v)
    matrix = StageMatrix(system, replace(here, M=ahead.M), GAMMA["rosw1"] * h)
    _, a, _ = matrix.solve(q_dot, here.tau - ahead.c, here.z_dot)
    k = matrix.solve(q_dot, here.tau - at_middle(v + 0.5 * h * a).c, here.z_dot)
    book_rates = here.book + matrix.step * matrix.follow_books(k)
    if system.has_balls:
        N = ca.substitute(system.N, system.q, q_middle)
        k = N @ (v + 0.5 * h * k[1]), *k[1:]
    return fused_step(system, ca.vertcat(x, h, t1, d0), x + h * ca.vertcat(*k, book_rates))


def trace_contact_step(system: System) -> dict[str, ca.Function]:
    """What a step with rigid contacts needs to know, and the rates of all states behind the velocities."""
    rates = system.expressions.rhs[system.n_q + system.n_v :]
    return {CONTACTS: system.function(ca.vertcat(system.expressions.problems[CONTACTS], rates), CONTACTS)}


FUSED_STEPS = {"rosw1": trace_rosw1, "rosw2": trace_rosw2}


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
        tau, self.N = first.tau, system.N
        self.tau_q, self.tau_v, self.tau_z = (ca.jacobian(tau, part) for part in (q, v, z))
        self.f_q, self.f_v = ca.jacobian(first.z_dot, q), ca.jacobian(first.z_dot, v)
        self.Z = ca.SX.eye(z.numel()) - step * ca.jacobian(first.z_dot, z)
        coupling = self.eliminate(step * self.f_v + step**2 * self.f_q @ self.N)
        stiff = step**2 * self.tau_q @ self.N + step * self.tau_v + step * self.tau_z @ coupling
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
        return r_q + step * self.N @ k_v, k_v, z0 + self.coupling @ k_v

    def follow_books(self, k: tuple[ca.SX, ca.SX, ca.SX]) -> ca.SX:
        """The rows of J of book-keeping states, times increments k of all others: nothing is solved for them."""
        system, first = self.system, self.first
        rates = ca.jtimes(first.book, system.symbols.x, ca.vertcat(*k, ca.SX(first.book.numel(), 1)))
        names = system.state_names[system.n_moving :]
        if WORK in names:
            # It grows with the power tau . v, and the derivatives of tau are there for the motion.
            change = self.tau_q @ k[0] + self.tau_v @ k[1] + self.tau_z @ k[2]
            rates[names.index(WORK)] = ca.dot(first.tau, k[1]) + ca.dot(system.v, change)
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
    matrix: Any = ca.Function("matrix", [to_column(free)], [ca.densify(S)])
    if any(matrix.instruction_id(k) == node_operation() for k in range(matrix.n_instructions())):
        return False
    M = np.array(matrix(values))
    return bool(np.all(np.isfinite(M)) and np.allclose(M, M.T, rtol=1e-9, atol=1e-12 * np.max(np.abs(M), initial=0.0)))


STEPS = {"generalised_alpha": trace_generalised_alpha, "rattle": trace_rattle}


def check_method(system: System, solver: Solver) -> None:
    """Refuse a method that does not fit the constraint method, or the kind of states."""
    flaws = FlawList()
    constraint_method, method = system.scenario.constraint_method.method, solver.method
    if system.motion.constraint_forces and solver.implicit_step and constraint_method != "index3":
        what = (
            f"'{constraint_method}' cannot be combined with the method {method}, which has the constraints in its steps"
        )
        flaws.add("constraint_method.method", what, "use index3, or choose another method")
    if system.motion.constraint_forces and constraint_method == "index3" and not solver.implicit_step:
        what = f"{method} cannot be combined with the constraint method 'index3'"
        flaws.add("solver.method", what, f"use {'rattle' if system.motion.momenta else 'generalised_alpha'}")
    if system.has_balls and solver.implicit_step:
        what = f"{method} needs joints of one position each, not ball joints"
        flaws.add("solver.method", what, "use rodas4p, or auto with another constraint method")
    if solver.implicit_step and any(isinstance(c, Wheel) for c in system.scenario.machine.all_constraints):
        what = f"{method} keeps constraints of positions, but wheels roll by velocities"
        flaws.add("solver.method", what, "use another method, with baumgarte or projection")
    motion, other = system.motion, system.states[system.n_q + system.n_v : system.n_moving]
    if solver.implicit_step and motion.mechanics is None:
        flaws.add("solver.method", f"{method} needs a mechanism", "choose another method")
    elif method == "rattle" and not motion.momenta:
        flaws.add("solver.method", "rattle moves systems in momenta", "make one by hamiltonian_system")
    elif method == "generalised_alpha" and motion.momenta:
        flaws.add("solver.method", "generalised_alpha moves systems in velocities", "use rattle")
    if method == "rattle" and other:
        names = ", ".join(state.name for state in other)
        flaws.add("solver.method", f"rattle moves positions and momenta only, and there are {names}")
    # A step taken whole moves a mechanism M a + c = tau; what else acts on its joints is not in it.
    if solver.fused_step and (motion.mechanics is None or motion.momenta):
        flaws.add("solver.method", f"{method} moves mechanisms in positions and velocities", "choose another method")
    if solver.fused_step and motion.constraint_forces:
        flaws.add("solver.method", f"{method} cannot be combined with constraints", "use rodas4p")
    if solver.fused_step and ACTION in system.expressions.actions:
        flaws.add(
            "solver.method", f"{method} cannot be combined with friction that sticks or rigid contacts", "use rodas4p"
        )
    if solver.contact_step != system.scenario.solver.contact_step:
        flaws.add("solver.method", f"the system was assembled for {system.scenario.solver.method}", "assemble it anew")
    elif solver.contact_step and CONTACTS not in system.expressions.problems:
        flaws.add("solver.method", f"{method} moves machines with rigid contacts", "use another method")
    system.scenario.raise_if_any(flaws)
