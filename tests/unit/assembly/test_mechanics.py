"""Are forces on coordinates, loads, rotors and merged bodies what mechanics says?"""

import casadi as ca
import numpy as np
import pytest
from support.machines import cart

from robodyn.base.errors import ModelError
from robodyn.computation.assembly import assemble
from robodyn.description.model import (
    GROUND,
    Block,
    Body,
    Distance,
    FunctionCoordinate,
    Joint,
    LinearCombination,
    Load,
    Machine,
    Mechanism,
    Point,
    PointCoordinate,
    Scenario,
)


def evaluate(system, column, x, t=0.0, d=(), m=()):
    """A column of the system with its parameters' own values."""
    p = [number.value for number in system.parameters]
    return np.array(system.function(column)(t, x, list(d), list(m), p)).ravel()


def acceleration(system, q, v):
    n = system.n_v
    x = np.concatenate([q, v, np.zeros(len(system.states) - 2 * n)])
    return evaluate(system, system.expressions.rhs, x)[n : 2 * n]


def arm() -> Mechanism:
    """Two links rotating about z, gravity along -y."""
    bodies = (Body("a", 2.0, (0.5, 0, 0), (0.0, 0.2, 0.2)), Body("b", 1.0, (0.4, 0, 0), (0.0, 0.1, 0.1)))
    joints = (Joint("one", "revolute", GROUND, "a"), Joint("two", "revolute", "a", "b", (1.0, 0, 0)))
    points = (Point("tip", "b", (0.8, 0.1, 0)), Point("anchor", GROUND, (0.3, 1.2, 0.0)))
    return Mechanism("arm", bodies, joints, points, (0.0, -9.81, 0.0))


def scenario(*blocks, mechanism=None, **fields) -> Scenario:
    return Scenario("arm", Machine("arm", mechanism or arm(), blocks, **fields), 1.0)


def push(name, on, value):
    return Block(name, "constant_force", on=on, parameters={"value": value})


Q, V = np.array([0.4, -0.9]), np.array([0.7, 1.1])


def torque_difference(system, free):
    """M (a - a_free): the joint torques that a system's blocks and loads add."""
    from robodyn.computation.dynamics import mass_matrix

    M = np.array(mass_matrix(free.motion.mechanics.tree, Q), float)
    return M @ (acceleration(system, Q, V) - acceleration(free, Q, V))


def test_a_force_along_a_direction_acts_by_the_transposed_jacobian():
    system = assemble(scenario(push("push", "up", 5.0), coordinates=(PointCoordinate("up", "tip", (0, 1, 0)),)))
    free = assemble(scenario())
    tip = ca.vertcat(*(free.expressions.outputs[free.signal_names.index(f"tip.position.{axis}")] for axis in "xy"))
    J = ca.Function("J", [free.symbols.x], [ca.jacobian(tip, free.symbols.x[:2])])(np.concatenate([Q, V]))
    np.testing.assert_allclose(torque_difference(system, free), 5.0 * np.array(J)[1], rtol=1e-10)


def test_a_load_equals_forces_along_the_axes():
    load = assemble(scenario(loads=(Load("wind", "tip", (1.0, 2.0, 3.0)),)))
    axes = (PointCoordinate("x", "tip", (1, 0, 0)), PointCoordinate("y", "tip", (0, 1, 0)))
    forces = assemble(scenario(push("px", "x", 1.0), push("py", "y", 2.0), coordinates=axes))
    np.testing.assert_allclose(acceleration(load, Q, V), acceleration(forces, Q, V), rtol=1e-10)


def test_a_load_torque_acts_on_every_joint_below():
    turned = assemble(scenario(loads=(Load("twist", "tip", torque=(0, 0, 4.0)),)))
    np.testing.assert_allclose(torque_difference(turned, assemble(scenario())), [4.0, 4.0], rtol=1e-10)


def test_a_spring_between_points_pulls_along_its_line():
    spring = Block("spring", "spring", on="strut", parameters={"stiffness": 30.0, "rest": 0.2})
    strut = Distance("strut", "anchor", "tip")
    system, free = assemble(scenario(spring, coordinates=(strut,))), assemble(scenario())
    x = np.concatenate([Q, V])
    outputs = dict(zip(free.signal_names, evaluate(free, free.expressions.outputs, x), strict=True))
    tip = np.array([outputs[f"tip.position.{axis}"] for axis in "xy"])
    line = np.array([0.3, 1.2]) - tip
    length = np.linalg.norm(line)
    force = 30.0 * (length - 0.2) * line / length
    powers = force @ np.array([outputs[f"tip.velocity.{axis}"] for axis in "xy"])
    assert torque_difference(system, free) @ V == pytest.approx(powers, rel=1e-10)


def test_a_combination_spreads_its_force_by_its_weights():
    both = LinearCombination("both", {"one": 1.0, "two": -2.0})
    system = assemble(scenario(push("push", "both", 3.0), coordinates=(both,)))
    np.testing.assert_allclose(torque_difference(system, assemble(scenario())), [3.0, -6.0], rtol=1e-10)


def test_a_linkage_acts_by_its_exact_gradient():
    linkage = FunctionCoordinate("rod", ("one", "two"), lambda one, two: one * one + 3 * two, unit="rad")
    system = assemble(scenario(push("push", "rod", 2.0), coordinates=(linkage,)))
    np.testing.assert_allclose(torque_difference(system, assemble(scenario())), [2 * 2 * Q[0], 6.0], rtol=1e-10)


def test_a_rotor_on_a_combination_adds_its_inertia():
    from robodyn.computation.dynamics import bias, mass_matrix

    system = assemble(scenario(coordinates=(LinearCombination("rotor", {"one": 1.0, "two": 5.0}, inertia=0.02),)))
    tree = system.motion.mechanics.tree
    M = np.array(mass_matrix(tree, Q), float) + 0.02 * np.outer([1, 5], [1, 5])
    expected = np.linalg.solve(M, -np.array(bias(tree, Q, V), float).ravel())
    np.testing.assert_allclose(acceleration(system, Q, V), expected, rtol=1e-10)


def test_bodies_on_fixed_joints_move_as_one():
    merged = assemble(scenario(mechanism=arm().with_payload(Body("load", 0.7, (0.1, 0, 0)), "b", (0.8, 0, 0))))
    c = (1.0 * 0.4 + 0.7 * 0.9) / 1.7
    moment = 0.1 + 1.0 * (c - 0.4) ** 2 + 0.7 * (0.9 - c) ** 2
    bodies = (arm().bodies[0], Body("b", 1.7, (c, 0, 0), (0.0, moment, moment)))
    by_hand = assemble(scenario(mechanism=Mechanism("arm", bodies, arm().joints, arm().points, (0, -9.81, 0))))
    np.testing.assert_allclose(acceleration(merged, Q, V), acceleration(by_hand, Q, V), rtol=1e-10)


def test_tunable_mechanism_numbers_are_inputs_and_give_the_same_motion():
    folded, tuned = assemble(scenario()), assemble(scenario(tunable=("*.mass", "*.com.*", "gravity.*", "one.origin.*")))
    assert "a.mass" in {number.name for number in tuned.parameters}
    np.testing.assert_allclose(acceleration(tuned, Q, V), acceleration(folded, Q, V), rtol=1e-12)


def test_a_joint_without_inertia_is_named():
    bodies = (Body("a", 1.0, (1, 0, 0)), Body("ghost"))
    joints = (Joint("one", "revolute", GROUND, "a"), Joint("loose", "revolute", "a", "ghost", (1, 0, 0)))
    with pytest.raises(ModelError, match=r"joints\.loose: feels no inertia"):
        assemble(Scenario("bad", Machine("bad", Mechanism("bad", bodies, joints)), 1.0))


def test_a_massless_link_between_massive_ones_is_fine():
    bodies = (Body("hub"), Body("bob", 1.0, (0, 0, -1.0)))
    joints = (
        Joint("yaw", "revolute", GROUND, "hub", axis=(1, 0, 0)),
        Joint("roll", "revolute", "hub", "bob", axis=(0, 1, 0)),
    )
    system = assemble(Scenario("universal", Machine("u", Mechanism("u", bodies, joints)), 1.0))
    assert np.all(np.isfinite(acceleration(system, np.array([0.3, 0.2]), np.array([0.1, -0.4]))))


def test_power_of_all_forces_is_the_rate_of_energy():
    blocks = (
        push("push", "one", 3.0),
        Block("brake", "viscous_friction", on="two", parameters={"viscous": 0.7}),
        Block("spring", "spring", on="strut", parameters={"stiffness": 30.0}),
    )
    coordinates = (
        Distance("strut", "anchor", "tip"),
        LinearCombination("rotor", {"one": 1.0, "two": 5.0}, inertia=0.02),
    )
    system = assemble(scenario(*blocks, coordinates=coordinates, loads=(Load("wind", "tip", (1.0, 2.0, 0.0)),)))
    balance = system.expressions.outputs[system.signal_names.index("energy.balance")]
    rate = ca.jtimes(balance, system.symbols.x, system.expressions.rhs)
    columns = [*system.symbols]
    p = [number.value for number in system.parameters]
    value = ca.Function("rate", columns, [rate])(0, np.concatenate([Q, V, [0.0]]), [], [], p)
    # Kinetic, potential and work rates are tens of watts each and cancel.
    assert float(value) == pytest.approx(0.0, abs=1e-11)


def test_a_cart_under_gravity_along_its_rail_falls_freely():
    system = assemble(cart(gravity=9.81))
    np.testing.assert_allclose(acceleration(system, np.zeros(1), np.zeros(1)), [9.81])


def test_a_tunable_rotor_counts_even_if_it_starts_at_nothing():
    rotor = LinearCombination("rotor", {"one": 1.0, "two": 5.0}, inertia=0.0)
    tuned = assemble(scenario(coordinates=(rotor,), tunable=("rotor.inertia",)))
    p = [0.02 if number.name == "rotor.inertia" else number.value for number in tuned.parameters]
    rates = np.array(tuned.function(tuned.expressions.rhs)(0.0, np.concatenate([Q, V]), [], [], p)).ravel()
    fixed = assemble(scenario(coordinates=(LinearCombination("rotor", {"one": 1.0, "two": 5.0}, inertia=0.02),)))
    np.testing.assert_allclose(rates[2:4], acceleration(fixed, Q, V), rtol=1e-10)


def test_a_linkage_that_cannot_be_traced_is_told():
    bad = FunctionCoordinate("rod", ("one",), lambda one: 1.0 if one > 0 else 2.0)
    with pytest.raises(ModelError, match=r"coordinates\.rod: its function cannot be traced"):
        assemble(scenario(coordinates=(bad,)))
