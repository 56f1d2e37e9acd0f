"""Are modes, their shapes and their animation those of closed forms?"""

from dataclasses import replace

import numpy as np
import pytest
from scipy.linalg import block_diag, eigh
from support.limber import limber_modes
from support.machines import cart, signals_only

from robodyn import assemble
from robodyn.analysis.linear.linear_model import DelayedSignal, LinearModel, Variable
from robodyn.analysis.linear.modes import DRAWN_DEFLECTION, ModeSet, animate_modes, build_skeleton, find_modes
from robodyn.description.catalog import double_pendulum, pendulum
from robodyn.description.model import GROUND, Block, Body, Joint, Machine, Mechanism, Point, Scenario
from robodyn.description.structures import Reduction, Section, beam

# --------------------------------------------------------------------------------------------------
# Are modes those of closed forms: pendulums, chains of masses, the oil columns of a hydraulic robot?


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


# --------------------------------------------------------------------------------------------------
# Does a mode in motion pass through the shapes that are drawn, with the phases of its states?


# What is left after sums and products of numbers near 1.
ROUNDING = 1e-12


@pytest.fixture(scope="module")
def swinging():
    found, system = limber_modes()
    return found, system, animate_modes(found, system)


def places(found, system, run, t):
    x = found.model.point.x.copy()
    x[: system.n_q] = [run[state.name](t) for state in system.states[: system.n_q]]
    return found.skeleton.place(x, found.model.point.p)


def test_it_begins_and_ends_in_the_drawn_shape_and_is_opposite_between(swinging):
    found, system, vibration = swinging
    assert len(vibration.runs) == len(vibration.modes) > 3
    for mode, run in zip(vibration.modes, vibration.runs, strict=True):
        for share, drawn in ((0.0, mode.displaced.there), (0.5, mode.displaced.back), (1.0, mode.displaced.there)):
            found_there = places(found, system, run, share * vibration.period)
            np.testing.assert_allclose(found_there, drawn, atol=ROUNDING)


def test_states_that_lag_behind_do_so_in_motion(swinging):
    found, system, vibration = swinging
    for mode, run in zip(vibration.modes, vibration.runs, strict=True):
        for state in system.states[: system.n_q]:
            # A quarter of a period on, Re(phi j) = -Im(phi).
            swing = run[state.name](vibration.period / 4) - vibration.rest[state.name](0.0)
            assert swing == pytest.approx(-mode.displaced.amplitude * mode.shape[state.name].imag, abs=ROUNDING)


def test_modes_of_flexible_bodies_are_drawn_large_enough_and_not_too_large(swinging):
    found, _, vibration = swinging
    size = np.ptp(found.mean, axis=0).max()
    assert any(mode.dominant(1)[0].startswith(("crook.mode", "lash.mode")) for mode in vibration.modes)
    for mode in vibration.modes:
        moved = np.linalg.norm(mode.displaced.there - found.mean, axis=1).max() / size
        # Up to the limit of deflection, which is kept to first order, and a tenth of it where turns are the limit.
        assert 0.1 * DRAWN_DEFLECTION < moved < 1.1 * DRAWN_DEFLECTION


def test_free_motions_are_not_taken_for_vibrations():
    found, _ = limber_modes()
    slow, swings = [[0.0, 1.0], [-1e-24, 0.0]], [[0.0, 1.0], [-400.0, 0.0]]
    alone = find_modes(LinearModel(slow))[0]
    beside = min(find_modes(LinearModel(block_diag(slow, swings))), key=lambda mode: abs(mode.pole))
    assert (alone.free, beside.free) == (False, True)
    alone, beside = (replace(mode, participation={"hinge.position": 1.0}) for mode in (alone, beside))
    assert alone in ModeSet(found.model, (alone,), found.skeleton).moving
    assert beside not in ModeSet(found.model, (*found, beside), found.skeleton).moving


def test_modes_that_move_nothing_cannot_be_animated(swinging):
    found, system, _ = swinging
    with pytest.raises(ValueError, match="no mode oscillates"):
        animate_modes(replace(found, modes=()), system)


# --------------------------------------------------------------------------------------------------
# Is a bent beam drawn along its nodes?


def test_skeleton_follows_the_nodes_of_a_bent_beam():
    section = Section.tube(0.02, 0.002, 7e10, 2.7e10, 2700.0)
    body = beam("arm", 1.0, section, Reduction(modes=0, directions=("y", "rz")), elements=3)
    # Two of its four nodes are named points; the others are drawn all the same.
    named = [point for point in body.points() if point.name in ("arm.root", "arm.root_tip1")]
    arm = Mechanism("arm", (body,), (Joint("hinge", "revolute", "ground", "arm"),), named)
    system = assemble(Scenario("draw", Machine("arm", arm), 1.0))

    skeleton = build_skeleton(system)

    lines = {(skeleton.names[a], skeleton.names[b]) for a, b in skeleton.edges}
    beams = {("arm.root", "arm.root_tip1"), ("arm.root_tip1", "arm.root_tip2"), ("arm.root_tip2", "arm.tip")}
    assert {("ground", "hinge"), ("hinge", "arm.root")} | beams <= lines
    x = np.zeros(len(system.states))
    x[1] = 0.1
    places = dict(zip(skeleton.names, skeleton.place(x, np.zeros(0)), strict=True))
    assert places["arm.tip"][1] > places["arm.root_tip2"][1] > places["arm.root_tip1"][1] > 0
