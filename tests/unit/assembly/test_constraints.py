"""Constraint equations are differentiated exactly, and the forces that keep them solve the equations of motion."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from support.linkages import FREE, SIXFOLD, chain, crank_rocker, evaluate

from robodyn import (
    Body,
    ConstraintFunction,
    ConstraintMethod,
    Event,
    LinearConstraint,
    LoopJoint,
    Machine,
    Mechanism,
    ModelError,
    Point,
    PrescribedMotion,
    Rod,
    Scenario,
    assemble,
)
from robodyn.base.symbolic import sin

POLE = 7.0
CONSTRAINTS = {
    "spherical": LoopJoint("c", "first", "second"),
    "universal": LoopJoint("c", "first", "second", "universal", (0, 0.6, 0.8), (1, 0, 0)),
    "revolute": LoopJoint("c", "first", "second", "revolute", (0, 0.6, 0.8), (0.6, 0, 0.8)),
    "prismatic": LoopJoint("c", "first", "second", "prismatic", (0, 0.6, 0.8)),
    "fixed": LoopJoint("c", "first", "second", "fixed"),
    "rod": Rod("c", "first", "second", 1.3),
    "coupling": LinearConstraint("c", {"x": 1.0, "pitch": -0.4}, 0.2),
    "prescribed": PrescribedMotion("c", "yaw", 0.3, 0.5, -0.7),
    "relation": ConstraintFunction(
        "c", ("x", "yaw"), lambda x, yaw, time: (x * sin(yaw) - time, x**2 - yaw * time), count=2
    ),
}


def free_body(*constraints, constraint_method=None, **fields):
    body = Body("body", 2.0, (0.1, 0.2, -0.1), (0.2, 0.3, 0.25, 0.01, -0.02, 0.03))
    bodies, joints = chain(body, SIXFOLD, FREE)
    points = (Point("first", "ground", (0.1, 0, 0)), Point("second", "body", (0.3, -0.2, 0.5)))
    machine = Machine("free", Mechanism("free", bodies, joints, points), constraints=constraints)
    return Scenario("free", machine, 1.0, constraint_method=constraint_method or ConstraintMethod(pole=POLE), **fields)


def some_state(system, seed):
    return np.random.default_rng(seed).uniform(-1, 1, len(system.states))


def rate_along(system, expression):
    """Total time derivative of an expression along the motion."""
    t, x = system.symbols.t, system.symbols.x
    return ca.jtimes(expression, x, system.expressions.rhs) + ca.jacobian(expression, t)


@pytest.mark.parametrize("kind", CONSTRAINTS)
def test_rates_of_residuals_are_their_time_derivatives(kind):
    constraint = CONSTRAINTS[kind]
    if kind == "prescribed":
        # The rates of a prescribed motion are given, not derived; those of a constant one are zero.
        constraint = replace(constraint, velocity=0.0, acceleration=0.0)
    system = assemble(free_body(constraint))
    k = len(system.motion.constraint_forces)
    both = system.expressions.constraints
    for seed in range(3):
        x = some_state(system, seed)
        assert evaluate(system, rate_along(system, both[:k]), x) == pytest.approx(
            evaluate(system, both[k:], x), abs=1e-12
        )


@pytest.mark.parametrize("kind", CONSTRAINTS)
def test_the_motion_obeys_baumgartes_equation_wherever_it_is(kind):
    """h'' + 2 p h' + p^2 h = 0, also far off the constraints."""
    system = assemble(free_body(CONSTRAINTS[kind]))
    k = len(system.motion.constraint_forces)
    h, h_dot = (system.expressions.constraints[part] for part in (slice(0, k), slice(k, 2 * k)))
    message = -0.7 if kind == "prescribed" else 0.0
    error = rate_along(system, h_dot) - message + 2 * POLE * h_dot + POLE**2 * h
    for seed in range(3):
        # The compliance of 1e-7, cubed by its corrections, is below rounding of numbers of a hundred.
        assert np.max(np.abs(evaluate(system, error, some_state(system, seed)))) < 1e-8


@pytest.mark.parametrize("kind", CONSTRAINTS)
def test_forces_and_accelerations_fulfil_the_equations_of_motion(kind):
    """M (a - a_free) = H^T lam, with the accelerations of the unconstrained body."""
    system, free = assemble(free_body(CONSTRAINTS[kind])), assemble(free_body(constraint_method=ConstraintMethod()))
    k, n = len(system.motion.constraint_forces), system.n_v
    H = ca.jacobian(system.expressions.constraints[:k], system.q)
    names = list(system.signal_names)
    rows = [names.index(force) for force in system.motion.constraint_forces]
    sign = -1.0 if kind == "rod" else 1.0
    for seed in range(3):
        x = some_state(system, seed)
        lam = sign * evaluate(system, system.expressions.outputs, x)[rows]
        a = evaluate(system, system.expressions.rhs, x)[n : 2 * n]
        a_free = evaluate(free, free.expressions.rhs, x[: 2 * n])[n : 2 * n]
        M = evaluate(system, ca.vec(system.mass_matrix), x).reshape(n, n)
        gradients = evaluate(system, ca.vec(H), x).reshape(n, k)
        assert M @ (a - a_free) == pytest.approx(gradients @ lam, abs=1e-8)


def test_projection_leaves_accelerations_on_the_constraints_alone():
    system = assemble(free_body(CONSTRAINTS["revolute"], constraint_method=ConstraintMethod("projection")))
    k = len(system.motion.constraint_forces)
    error = rate_along(system, system.expressions.constraints[k:])
    assert np.max(np.abs(evaluate(system, error, some_state(system, 1)))) < 1e-8


def test_projection_puts_positions_and_velocities_on_the_constraints():
    system = assemble(free_body(CONSTRAINTS["revolute"], constraint_method=ConstraintMethod("projection")))
    start = some_state(system, 2)
    residuals = evaluate(system, system.expressions.constraints, start)
    x = start
    for _ in range(20):
        x = evaluate(system, system.expressions.projection, x)[: len(x)]
    found = evaluate(system, system.expressions.constraints, x)
    assert np.max(np.abs(residuals)) > 0.1
    assert np.max(np.abs(found)) < 1e-12


def test_a_constraint_no_event_can_change_costs_no_switch():
    names = [guard.name for guard in assemble(free_body(CONSTRAINTS["rod"])).discrete.guards]
    assert names == []
    release = Event("release", lambda time: time - 0.5, action=lambda: {"c.active": 0.0})
    names = [guard.name for guard in assemble(free_body(CONSTRAINTS["rod"], events=(release,))).discrete.guards]
    assert names == ["release", "c.closes"]


def test_the_own_pole_follows_the_size_and_the_duration():
    """max(5 sqrt(g / size), 10 / duration) of a mechanism of 0.8 m."""

    def pole(duration):
        system = assemble(crank_rocker(duration=duration))
        k = len(system.motion.constraint_forces)
        h, h_dot = (system.expressions.constraints[part] for part in (slice(0, k), slice(k, 2 * k)))
        x = some_state(system, 3)
        wanted, rate, residual = (evaluate(system, e, x) for e in (rate_along(system, h_dot), h_dot, h))
        return np.roots([residual[0], 2 * rate[0], wanted[0]])

    assert np.min(np.abs(pole(10.0) - 5 * np.sqrt(9.81 / 0.8))) < 1e-6
    assert np.min(np.abs(pole(0.1) - 100.0)) < 1e-4


def test_a_relation_that_cannot_be_traced_is_told():
    def broken(x):
        return x if x > 0 else -x

    with pytest.raises(ModelError, match="constraints.c: its function cannot be traced"):
        assemble(free_body(ConstraintFunction("c", ("x",), broken)))


def test_a_relation_that_returns_another_number_of_values_is_told():
    with pytest.raises(ModelError, match="returns 2 values, count says 1"):
        assemble(free_body(ConstraintFunction("c", ("x",), lambda x: (x, x))))


def test_a_prescribed_motion_by_a_signal_that_is_not_there_is_told():
    with pytest.raises(ModelError, match=r"constraints\.c\.position"):
        assemble(free_body(PrescribedMotion("c", "x", "path.position", 0.0)))
