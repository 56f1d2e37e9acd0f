"""Are modes those of closed forms: pendulums, chains of masses, the oil columns of a hydraulic robot?"""

import numpy as np
import pytest
from scipy.linalg import eigh
from support.machines import cart, signals_only

from robodyn import assemble
from robodyn.analysis.linear.linear_model import DelayedSignal, LinearModel, Variable
from robodyn.analysis.linear.modes import find_modes
from robodyn.description.catalog import double_pendulum, pendulum
from robodyn.description.model import GROUND, Block, Body, Joint, Machine, Mechanism, Point, Scenario

HANGING = {"shoulder.position": 0.0, "elbow.position": 0.0}
MASSES, STIFFNESSES = (2.0, 3.0), (500.0, 300.0)


def two_masses(damping=0.0):
    """Two masses on a rail, each on a spring to the one before it."""
    bodies = tuple(Body(f"mass{k}", mass) for k, mass in enumerate(MASSES))
    joints = (
        Joint("first", "prismatic", GROUND, "mass0", axis=(1, 0, 0)),
        Joint("second", "prismatic", "mass0", "mass1", (1.0, 0.0, 0.0), axis=(1, 0, 0)),
    )
    mechanism = Mechanism("chain", bodies, joints, (Point("end", "mass1"),), (0.0, 0.0, 0.0))
    springs = tuple(
        Block(
            f"{joint}.spring", "spring", on=joint, parameters={"stiffness": stiffness, "damping": damping * stiffness}
        )
        for joint, stiffness in zip(("first", "second"), STIFFNESSES, strict=True)
    )
    return Scenario("chain", Machine("chain", mechanism, springs), 1.0)


def chain_frequencies():
    """Angular frequencies and shapes (absolute displacements) of the same chain from K phi = omega^2 M phi."""
    one, two = STIFFNESSES
    squares, shapes = eigh(np.array([[one + two, -two], [-two, two]]), np.diag(MASSES))
    return np.sqrt(squares), shapes


@pytest.mark.parametrize("length", [0.5, 2.0])
def test_a_pendulum_swings_with_the_root_of_g_over_l(length):
    scenario = pendulum(length=length)
    (mode,) = find_modes(assemble(scenario), at={"hinge.position": 0.0})
    gravity = -scenario.machine.mechanism.gravity[2]
    assert mode.frequency == pytest.approx(np.sqrt(gravity / length) / (2 * np.pi), rel=1e-12)
    assert mode.damping == pytest.approx(0.0, abs=1e-14)
    assert mode.participation["hinge.position"] == pytest.approx(0.5)


@pytest.mark.parametrize("ratio", [0.05, 0.4, 0.9])
def test_a_mass_on_a_spring_has_its_damping_ratio(ratio):
    mass, stiffness = 2.0, 50.0
    omega = np.sqrt(stiffness / mass)
    spring = {"stiffness": stiffness, "damping": 2 * ratio * mass * omega}
    (mode,) = find_modes(assemble(cart(Block("spring", "spring", on="rail", parameters=spring), mass=mass)))
    assert mode.frequency == pytest.approx(omega / (2 * np.pi), rel=1e-12)
    assert mode.damping == pytest.approx(ratio, rel=1e-12)
    assert mode.time_constant == pytest.approx(1 / (ratio * omega), rel=1e-12)
    assert mode.oscillates


def test_an_overdamped_mass_has_two_modes_that_do_not_oscillate():
    spring = {"stiffness": 50.0, "damping": 100.0}
    found = find_modes(assemble(cart(Block("spring", "spring", on="rail", parameters=spring), mass=2.0)))
    rates = np.roots([2.0, 100.0, 50.0])
    np.testing.assert_allclose(sorted(mode.pole.real for mode in found), sorted(rates), rtol=1e-10)
    assert found.oscillating == ()
    with pytest.raises(ValueError, match="no mode oscillates"):
        found.nearest(1.0)


def test_a_chain_of_two_masses_has_the_frequencies_and_shapes_of_its_matrices():
    omegas, shapes = chain_frequencies()
    found = find_modes(assemble(two_masses()))
    assert len(found) == 2
    for mode, omega, shape in zip(found, omegas, shapes.T, strict=True):
        assert 2 * np.pi * mode.frequency == pytest.approx(omega, rel=1e-12)
        # The second joint's position is relative to the first mass.
        relative = np.array([shape[0], shape[1] - shape[0]])
        expected = relative / relative[np.argmax(np.abs(relative))]
        np.testing.assert_allclose(
            [mode.shape[f"{joint}.position"] for joint in ("first", "second")], expected, atol=1e-9
        )


def test_damping_proportional_to_stiffness_damps_each_mode_by_half_its_frequency():
    omegas, _ = chain_frequencies()
    found = find_modes(assemble(two_masses(damping=2e-3)))
    np.testing.assert_allclose([mode.damping for mode in found], 2e-3 * omegas / 2, rtol=1e-10)


def test_velocities_follow_positions_by_the_pole():
    for mode in find_modes(assemble(two_masses(damping=1e-2))):
        for joint in ("first", "second"):
            assert mode.shape[f"{joint}.velocity"] == pytest.approx(mode.pole * mode.shape[f"{joint}.position"])


def test_a_drawn_shape_keeps_lengths_and_swings_both_ways():
    found = find_modes(assemble(double_pendulum()), at=HANGING)
    assert found.skeleton.names == ("ground", "shoulder", "elbow", "tip")
    np.testing.assert_allclose(found.mean, [[0, 0, 0], [0, 0, 0], [0, 0, -1], [0, 0, -2]], atol=1e-15)
    for mode in found:
        for points in (mode.displaced.there, mode.displaced.back):
            lengths = np.linalg.norm(points[found.skeleton.edges[1:, 1]] - points[found.skeleton.edges[1:, 0]], axis=1)
            np.testing.assert_allclose(lengths, 1.0, rtol=1e-12)
        np.testing.assert_allclose(mode.displaced.there[:, 0], -mode.displaced.back[:, 0], atol=1e-12)
    first, second = found
    # In step in the slow mode, against each other in the fast one.
    assert first.displaced.there[2, 0] * first.displaced.there[3, 0] > 0
    assert second.displaced.there[2, 0] * second.displaced.there[3, 0] < 0


def test_modes_that_move_no_joint_have_no_shape():
    filter_ = Block("filter", "low_pass", inputs={"value": "rail.position"}, parameters={"time_constant": 0.1})
    spring = Block("spring", "spring", on="rail", parameters={"stiffness": 50.0})
    found = find_modes(assemble(cart(spring, filter_)))
    still = [mode for mode in found if mode.displaced is None]
    assert [mode.dominant() for mode in still] == [("filter.filtered",)]
    assert len(found.moving) == 1


def test_signals_without_a_mechanism_have_modes_without_shapes():
    lag = Block("lag", lambda x: {"x_dot": -4.0 * x}, states={"x": 0.0})
    found = find_modes(assemble(signals_only(lag)))
    assert found.skeleton is None
    assert found[0].pole == -4.0
    assert found[0].displaced is None


def test_a_delay_takes_part_in_the_modes_it_makes():
    """x' = -k x(t - tau) with k tau = pi / 2 swings undamped: s = j k."""
    gain = 3.0
    model = LinearModel(
        [[0.0]],
        E=[[-gain]],
        F=[[1.0]],
        states=(Variable("x"),),
        delays=(DelayedSignal("late", np.pi / 2 / gain),),
    )
    mode = find_modes(model).nearest(gain / (2 * np.pi))
    assert mode.pole == pytest.approx(1j * gain, abs=1e-12)
    assert set(mode.participation) == {"x", "late"}
    # Shares 1 / (1 + s tau) and s tau / (1 + s tau) with s tau = j pi / 2.
    assert mode.participation["late"] / mode.participation["x"] == pytest.approx(np.pi / 2)
    assert sum(mode.participation.values()) == pytest.approx(1.0)
