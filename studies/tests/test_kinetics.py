from dataclasses import replace

import numpy as np
import pytest
from support.epaas_arm import ACTUATORS, CENTRED, START, epaas_system
from support.machines import signals_only

from robodyn.base.errors import ModelError
from robodyn.computation.assembly import assemble
from robodyn.computation.dynamics import inverse_dynamics
from robodyn.description.catalog import two_link_loop
from robodyn.description.model import GROUND, Block, Body, Joint, LinearCombination, Machine, Mechanism, Scenario
from robodyn_studies.kinetics import Kinetics, start_positions
from robodyn_studies.lagrange import lagrange_coefficients

Q = np.radians([44.0, 81.0, 274.0, 12.0, 5.0])
V, A = np.array([1.2, -0.7, 0.9, 0.4, -1.5]), np.array([3.0, -2.0, 5.0, 1.0, 4.0])
# Some thousand roundings of 1e-16 on numbers of size up to 1e2.
TOLERANCE = 1e-11


@pytest.fixture(scope="module")
def system():
    return epaas_system()


def test_coefficients_in_the_joints_are_those_of_uicker_kahn(system):
    found, expected = Kinetics(system).coefficients_at(Q), lagrange_coefficients(system.motion.mechanics.tree, Q)

    np.testing.assert_allclose(found.inertial, expected.inertial, atol=TOLERANCE)
    np.testing.assert_allclose(found.velocity, expected.velocity, atol=TOLERANCE)
    np.testing.assert_allclose(found.gravity, expected.gravity, atol=TOLERANCE)


def test_force_in_coordinates_and_torque_in_joints_do_the_same_work(system):
    kinetics = Kinetics(system, ACTUATORS)
    here = kinetics.map_at(Q)

    force = kinetics.coefficients_at(Q).force(*here.rates(V, A))

    torque = inverse_dynamics(system.motion.mechanics.tree, Q, V, A)
    np.testing.assert_allclose(here.gradient.T @ force, torque, rtol=1e-9, atol=1e-10)


def test_curvature_is_the_change_of_the_gradient(system):
    kinetics = Kinetics(system, ACTUATORS)
    h = 1e-5

    change = (kinetics.map_at(Q + h * V).gradient - kinetics.map_at(Q - h * V).gradient) / (2 * h)

    # Central difference: h^2 of third derivatives of size 1, and rounding 1e-16 / h.
    np.testing.assert_allclose(kinetics.map_at(Q).curvature @ V, change, atol=1e-9)


def test_joint_rates_undo_coordinate_rates(system):
    here = Kinetics(system, ACTUATORS).map_at(Q)

    v, a = here.joint_rates(*here.rates(V, A))

    np.testing.assert_allclose(v, V, rtol=1e-10)
    np.testing.assert_allclose(a, A, rtol=1e-9)


def test_start_up_position_centres_the_pistons(system):
    np.testing.assert_array_equal(start_positions(system), START)
    # The angles of the start-up position are printed to a thousandth of a degree, 1e-6 m at the pistons.
    found = Kinetics(system, ACTUATORS).map_at(START).position
    np.testing.assert_allclose(found, [CENTRED[name] for name in ACTUATORS], atol=2e-6)


def test_rotor_on_a_combination_adds_its_inertia():
    body = Body("disc", 1.0, inertia=(0.1, 0.1, 0.1))
    mechanism = Mechanism("m", (body,), (Joint("j", "revolute", GROUND, "disc"),))
    machine = Machine("m", mechanism, coordinates=(LinearCombination("motor", {"j": 10.0}, inertia=0.02),))
    system = assemble(Scenario("s", machine, 1.0))

    assert Kinetics(system).coefficients_at([0.3]).inertial == pytest.approx(0.1 + 0.02 * 100)
    assert Kinetics(system, ["motor"]).coefficients_at([0.3]).inertial == pytest.approx(0.1 / 100 + 0.02)


def test_unknown_repeated_and_missing_coordinates_are_told_at_once(system):
    with pytest.raises(ModelError) as message:
        Kinetics(system, ["L1", "L1", "L9"])

    text = str(message.value)
    assert "coordinates.L9: there is no such joint or coordinate" in text
    assert "coordinates.L1: is named more than once" in text
    assert "3 are named for 5 joints" in text


def test_coordinates_that_follow_from_one_another_are_refused(system):
    with pytest.raises(ModelError, match="do not determine the motion of the joints"):
        Kinetics(system, ["L3", "axis2", "L1", "L2", "vane"]).coefficients_at(Q)


def test_blocks_and_delays_of_the_system_do_not_matter():
    system = assemble(two_link_loop())
    q = np.array([0.3, -0.6])

    expected = lagrange_coefficients(system.motion.mechanics.tree, q)
    np.testing.assert_allclose(Kinetics(system).coefficients_at(q).inertial, expected.inertial, atol=TOLERANCE)


def test_system_without_a_mechanism_is_refused():
    system = assemble(signals_only(Block("one", "constant_reference", parameters={"constant": 1.0})))

    with pytest.raises(ModelError, match="machine.mechanism: there is none"):
        Kinetics(system)


def test_wrong_number_of_positions_is_refused(system):
    with pytest.raises(ValueError, match="there are 5 joints: axis1, axis2"):
        Kinetics(system).coefficients_at([0.0, 1.0])


def test_changed_numbers_are_those_of_a_machine_described_so():
    q, heavy = [0.3, -0.8], {"forearm.mass": 5.0}
    scenario = two_link_loop()
    scenario = replace(scenario, machine=replace(scenario.machine, tunable=tuple(heavy)))

    found = Kinetics(assemble(scenario)).changed(heavy).coefficients_at(q)

    expected = Kinetics(assemble(scenario.with_numbers(heavy))).coefficients_at(q)
    np.testing.assert_allclose(found.inertial, expected.inertial, rtol=1e-12)
    np.testing.assert_allclose(found.gravity, expected.gravity, rtol=1e-12, atol=1e-12)
    with pytest.raises(ModelError, match="is not tunable"):
        Kinetics(assemble(scenario)).changed({"forearm.mas": 5.0})
