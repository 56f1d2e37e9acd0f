"""Is the RX90B described as its study says, does it stand where it is held, and weld within tens of micrometres?"""

import dataclasses

import casadi as ca
import numpy as np
import pytest

from robodyn import Recording, assemble, read_scenario, simulate, write_scenario
from robodyn_studies.catalog import rx90_hold, rx90_weld
from robodyn_studies.catalog import rx90_parameters as rx
from robodyn_studies.catalog.rx90 import weld_angles
from robodyn_studies.catalog.rx90_arm import coupling_matrix, holding_torques, rx90_mechanism
from robodyn_studies.rx90_runs import weld_run


@pytest.fixture(scope="module")
def rigid():
    return assemble(rx90_weld())


@pytest.fixture(scope="module")
def weld():
    """The study's own run."""
    return weld_run()


@pytest.fixture(scope="module")
def hold():
    return simulate(rx90_hold(duration=2.0))


def at_start(system, column):
    """A column of a system at the scenario's start."""
    columns = ([info.start for info in group] for group in (system.states, (), system.memory))
    return np.array(system.function(column)(0.0, *columns, [number.value for number in system.parameters])).squeeze()


def rates_by_state(system):
    """Rate of each state with respect to each, at the start, by name."""
    jacobian = ca.jacobian(system.expressions.rhs, system.symbols.x)
    evaluate = ca.Function("J", [*system.symbols], [jacobian])
    columns = ([info.start for info in group] for group in (system.states, (), system.memory))
    found = np.array(ca.DM(evaluate(0.0, *columns, [number.value for number in system.parameters])))
    names = [info.name for info in system.states]
    return lambda row, column: found[names.index(row), names.index(column)]


def rotor_inertia():
    T = coupling_matrix()
    return T.T @ np.diag([axis.rotor for axis in rx.DRIVES]) @ T


def link_inertia():
    """Mass matrix at the start without rotors."""
    machine = rx90_weld().machine
    bare = tuple(dataclasses.replace(c, inertia=0.0) if hasattr(c, "inertia") else c for c in machine.coordinates)
    scenario = dataclasses.replace(rx90_weld(), machine=dataclasses.replace(machine, coordinates=bare))
    system = assemble(scenario)
    return at_start(system, system.mass_matrix)


def test_the_last_motor_turns_with_axes_five_and_six():
    T = coupling_matrix()
    assert T[5, 4] == T[5, 5] == 46.0
    np.testing.assert_array_equal(T - np.diag(np.diag(T)), np.eye(6)[:, [5]] @ np.array([[0, 0, 0, 0, 46.0, 0]]))


def test_the_rigid_robot_has_the_inertia_of_links_and_geared_rotors(rigid):
    M = at_start(rigid, rigid.mass_matrix)
    np.testing.assert_allclose(M, link_inertia() + rotor_inertia(), rtol=1e-12, atol=1e-12)


def test_the_elastic_robot_has_links_and_rotors_apart():
    elastic = assemble(rx90_weld(elastic=True))
    M = at_start(elastic, elastic.mass_matrix)
    # The joints sag by some 0.1 mrad: their inertia is that of a slightly other place.
    np.testing.assert_allclose(M[:6, :6], link_inertia(), rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(M[6:, 6:], rotor_inertia(), rtol=1e-12)
    np.testing.assert_allclose(M[:6, 6:], 0.0, atol=1e-15)


def test_the_robot_begins_at_rest_held_by_its_motors(rigid):
    """The start's currents come from statics of their own; the accelerations from the assembled dynamics."""
    rates = dict(zip((info.name for info in rigid.states), at_start(rigid, rigid.expressions.rhs), strict=True))
    np.testing.assert_allclose([rates[f"joint{k}.velocity"] for k in rx.AXES], 0.0, atol=1e-9)


def test_friction_at_the_seventh_place_acts_on_both_axes(rigid):
    slope = rates_by_state(rigid)
    acceleration = [slope(f"joint{k}.velocity", "wrist.friction.bristle") for k in rx.AXES]
    torque = at_start(rigid, rigid.mass_matrix) @ acceleration
    stiffness = rx.FRICTIONS["wrist"].stiffness
    # Torques of 2e5 N m/rad come back through a solve of M.
    np.testing.assert_allclose(torque, [0, 0, 0, 0, -stiffness, -stiffness], atol=1e-9 * stiffness)


def test_the_spring_balances_most_of_the_stretched_arm():
    stretched = dict(zip(rx.JOINTS, (0.0, 0.0, -np.pi / 2, 0.0, 0.0, 0.0), strict=True))
    balanced = holding_torques(rx90_mechanism(), stretched)[1]
    spring = rx.SPRING_STIFFNESS * rx.SPRING_HEIGHT * rx.SPRING_ARM
    assert spring == pytest.approx(151.2)
    assert 0 < balanced < 0.6 * (balanced + spring)


def test_the_weld_is_straight_to_tens_of_micrometres_within_the_limits_of_the_drives(weld):
    for way in ("horizontal", "vertical", "along"):
        assert 5e-6 < np.abs(weld[f"deviation.{way}"].values).max() < 100e-6
    for k, axis in enumerate(rx.DRIVES, start=1):
        assert np.abs(weld[f"axis{k}.velocity_loop.command"].values).max() < axis.current_limit
        assert np.all(weld[f"axis{k}.velocity_loop.excess"].values == 0)


def test_the_robot_stays_at_rest_until_it_moves(weld):
    waiting = weld.time < rx.WELD_REST - 1e-3
    for way in ("horizontal", "vertical", "along"):
        # An encoder's count is 0.2 urad of a joint, 0.2 um at the tip.
        assert np.abs(weld[f"deviation.{way}"].values[waiting]).max() < 0.2e-6


@pytest.mark.parametrize("joint", ["joint2", "joint3"])
def test_joints_two_and_three_turn_back_in_the_middle_of_the_line(weld, joint):
    moving = np.abs(weld["path.speed"].values - rx.WELD_SPEED) < 1e-12
    signs = np.sign(weld[f"{joint}.velocity"].values[moving])
    ways = weld["path.s"].values[moving][1:][np.diff(signs) != 0]
    # Friction makes it come to rest a little before and go on a little after.
    assert ways.size > 0
    assert np.all(np.abs(ways - 0.6) < 0.02)


def test_the_tip_jumps_where_friction_changes_its_sign(weld):
    s, deviation = weld["path.s"].values, weld["deviation.horizontal"].values
    near, before = np.abs(s - 0.6) < 0.04, np.abs(s - 0.4) < 0.04
    assert np.ptp(deviation[near]) > 10e-6
    assert np.ptp(deviation[near]) > 10 * np.ptp(deviation[before])


def test_one_speed_moves_reference_and_set_points():
    names = rx90_weld().numbers()
    assert "path.speed" in names
    assert not any(name.startswith("setpoints.speed") for name in names)


def test_a_held_robot_sticks_within_its_bristles(hold):
    for k in rx.AXES:
        friction = rx.FRICTIONS[f"joint{k}"]
        q = hold[f"joint{k}.position"].values
        assert np.abs(q - q[0]).max() < friction.coulomb * friction.static / friction.stiffness
    payload = hold["joint2.position"].values
    # One kilogram at 0.6 m bends bristles of 1e6 N m/rad by some micro-radians.
    assert 1e-6 < np.abs(payload - payload[0]).max() < 1e-5


def test_elastic_gears_sag_by_what_they_hold_and_stay_there():
    scenario = dataclasses.replace(rx90_weld(elastic=True), duration=0.25)
    run = simulate(scenario, recording=Recording(rate=1000.0))
    torques = holding_torques(rx90_mechanism(), weld_angles())
    for k, axis in enumerate(rx.DRIVES, start=1):
        twist = run[f"drive{k}_twist.position"].values
        # Torques are those at the angles without sag, 1e-3 of them off; a count of an encoder is up to 0.5 urad.
        np.testing.assert_allclose(twist, -torques[k - 1] / axis.stiffness, rtol=2e-3, atol=5e-7)


@pytest.mark.parametrize("options", [{}, {"elastic": True}, {"flexible": True}], ids=str)
def test_the_weld_written_to_a_file_runs_bit_equal(tmp_path, options):
    """Its path is a table of points and speeds, and with it all that measures how far the tool is from it."""
    weld = dataclasses.replace(rx90_weld(**options), duration=0.6)
    write_scenario(weld, tmp_path / "weld.toml")
    assert "[paths.path]" in (tmp_path / "weld.toml").read_text()
    again = read_scenario(tmp_path / "weld.toml")
    described, read = simulate(weld), simulate(again)
    assert described.names == read.names
    assert all(np.array_equal(described[name].values, read[name].values) for name in described.names)


def test_another_line_law_and_speed_are_changes_of_its_file(tmp_path):
    write_scenario(rx90_weld(), tmp_path / "weld.toml")
    text = (tmp_path / "weld.toml").read_text()
    text = text.replace("start = [0.6, -0.6,", "start = [0.6, -0.2,").replace("speed = 0.2", 'speed = "400 mm/s"')
    moved = read_scenario(written(tmp_path / "moved.toml", text))
    run = simulate(dataclasses.replace(moved, duration=0.1))
    assert any("path 'path' begins" in sentence and "at_rest" in sentence for sentence in run.warnings)
    # Without start values the robot is looked for at rest where its path begins.
    first, last = text.index("[initial]"), text.index("[recording]")
    text = 'initialisation = "at_rest"\n' + text[:first] + text[last:]
    law = 'law = "stribeck_friction"\non = "joint3"\nparameters = { coulomb = 15.5, static = 17.8, '
    law += "stribeck_velocity = 0.05, smoothing_velocity = 0.001, viscous = 5.0 }\n"
    begin, end = text.index('law = "two_way_lugre_friction"\non = "joint3"'), text.index('[blocks."joint4.friction"]')
    other = read_scenario(written(tmp_path / "other.toml", text[:begin] + law + "\n" + text[end:]))
    run = simulate(dataclasses.replace(other, duration=0.4 / 0.2 + 1.5))
    assert not run.warnings
    assert abs(run["tool.position.y"].values[0] + 0.2) < 1e-4
    assert abs(run["tool.position.y"].final - 0.6) < 1e-4
    assert run["deviation.distance"].values.max() < 0.5e-3


def written(path, text):
    path.write_text(text)
    return path


def test_a_path_that_outlasts_the_run_is_reported():
    run = simulate(rx90_weld().with_numbers({"path.speed": 0.1}), recording=Recording(signals=("path.s",)))
    (sentence,) = (one for one in run.warnings if "not finished" in one)
    assert "'path'" in sentence
    assert "12.4" in sentence
    assert "6.85 s" in sentence
    assert f"{run['path.s'].final:.4g} of 1.2 m" in sentence
    assert not simulate(rx90_weld()).warnings


def test_friction_that_slides_with_more_than_it_holds_is_reported():
    changed = {"joint3.friction.coulomb": 40.0}
    sentences = simulate(dataclasses.replace(rx90_weld(), duration=0.01).with_numbers(changed)).warnings
    assert any("joint3.friction: coulomb = 40 N m is above static = 18.7" in sentence for sentence in sentences)
