"""Do the delta robot's controllers know the robot they control, hold it, and follow their paths at 1 kHz?"""

from dataclasses import replace

import numpy as np
import pytest

from robodyn import MachineDynamics, assemble, simulate
from robodyn.analysis.linear.stability import find_stability_limit
from robodyn.analysis.linear.trim import find_trim
from robodyn.base.errors import ModelError
from robodyn_studies.catalog.delta_control import PLACE_LOOP, SAMPLE
from robodyn_studies.catalog.delta_kinematics import arm_angles, distal_angles, motor_angles, motor_speeds
from robodyn_studies.catalog.delta_parameters import AUTONOX, FITTED
from robodyn_studies.catalog.delta_robot import ARMS, MOTORS, delta_hold, delta_machine
from robodyn_studies.catalog.delta_tasks import (
    HIGH,
    PATH,
    PAYLOAD,
    delta_linearised,
    delta_pid,
    delta_stand,
    pose_at,
    torques_at,
)
from robodyn_studies.constraints_control import LOADS, linearised_run, pid_run, torques_of, tracking_run

PLACES = [(0.06, -0.04, -0.30), (-0.10, 0.02, -0.36), HIGH]
AXES = "xyz"


def all_distal(robot, motors, place):
    return [float(angle) for k in range(3) for angle in distal_angles(robot, k, motors[k], place)]


def tracking_error(run):
    """Distance of the platform from its reference [m], at 2000 times."""
    t = np.linspace(0, run.time[-1], 2000)
    apart = [run[f"platform.position.{axis}"](t) - run[f"reference.{axis}.position"](t) for axis in AXES]
    return np.linalg.norm(apart, axis=0)


@pytest.mark.parametrize("robot", [FITTED, AUTONOX])
@pytest.mark.parametrize("place", [(0.06, -0.04, -0.30), (0.02, 0.1, -0.38)])
def test_joints_of_a_place_bring_the_platform_there(robot, place):
    """Inverse kinematics written by hand against those of the mechanism, whose tips meet."""
    place = np.array(place) * robot.distal_length / FITTED.distal_length
    dynamics = MachineDynamics(delta_machine(robot))
    q = dynamics.positions_at(pose_at(robot, place))
    for point in ("platform", "arm2.tip", "arm3.tip"):
        np.testing.assert_allclose(dynamics.position(point, q), place, atol=1e-14)


def test_velocities_are_derivatives_of_places():
    place, velocity = np.array(PLACES[0]), np.array([0.3, -0.5, 0.2])
    h = 1e-6
    before, after = (np.array(motor_angles(FITTED, place + s * h * velocity)) for s in (-1, 1))
    motors = motor_angles(FITTED, place)
    arms = arm_angles(motors, all_distal(FITTED, motors, place))
    speeds = motor_speeds(FITTED, arms, velocity)
    # Central differences of step 1e-6.
    np.testing.assert_allclose(speeds, (after - before) / (2 * h), rtol=1e-8)


@pytest.fixture(scope="module")
def held():
    return assemble(delta_hold())


@pytest.mark.parametrize("place", PLACES)
def test_gravity_compensation_holds_the_simulated_robot(held, place):
    """Virtual work against the equilibrium of the assembled mechanism."""
    wanted = {f"{motor}.position": angle for motor, angle in zip(MOTORS, motor_angles(FITTED, place), strict=True)}
    found = find_trim(held, wanted, [f"{arm}.motor.value" for arm in ARMS], guess=pose_at(FITTED, place))
    np.testing.assert_allclose(torques_at(FITTED, place), list(found.inputs.values()), rtol=1e-9)


def test_linearising_feedback_makes_the_platform_a_linear_oscillator():
    """Continuous control, ideal drives: e'' + k2 e' + k1 e = 0 to the solver's tolerance."""
    run = linearised_run()
    k1, k2 = PLACE_LOOP["stiffness"], PLACE_LOOP["damping"]
    roots = np.roots([1, k2, k1]).astype(complex)
    t = np.linspace(0, 0.8, 100)
    decay = ((roots[1] * np.exp(roots[0] * t) - roots[0] * np.exp(roots[1] * t)) / (roots[1] - roots[0])).real
    for axis, start, target in zip(AXES, HIGH, (0.0, 0.02, -0.21), strict=True):
        expected = target + (start - target) * decay
        np.testing.assert_allclose(run[f"platform.position.{axis}"](t), expected, atol=2e-9)


def test_the_sampled_loop_settles_and_its_torques_change_at_samples_only():
    run = simulate(delta_linearised())
    for axis, target in zip(AXES, (0.0, 0.02, -0.21), strict=True):
        assert run[f"platform.position.{axis}"].final == pytest.approx(target, abs=1e-5)
    torque = run["control.torque.0"]
    changes = torque.time[1:][np.diff(torque.values) != 0]
    ticks = changes / SAMPLE
    assert len(changes) > 700
    np.testing.assert_allclose(ticks, np.round(ticks), atol=1e-6)


def test_the_controller_knows_the_motors_alone():
    """Gravity compensation by Newton's steps from the motors' angles, at each sample, against virtual work."""
    run = pid_run()
    for t in (0.2, 0.35, 0.6):
        tick = round(t / SAMPLE) * SAMPLE
        place = [run[f"platform.position.{axis}"](tick) for axis in AXES]
        # Baumgarte's method leaves the joints 1e-7 rad off the place.
        found = [run[f"gravity.torque.{k}"](tick + 0.5 * SAMPLE) for k in range(3)]
        np.testing.assert_allclose(found, torques_at(FITTED, place), rtol=1e-5)


def test_pid_with_gravity_compensation_settles_from_where_the_robot_falls():
    run = pid_run()
    error = tracking_error(run)
    assert error.max() < 7e-3
    assert error[-1] < 1e-4
    np.testing.assert_allclose(
        [run[f"{arm}.motor.torque"].final for arm in ARMS], torques_at(FITTED, (0.05, -0.03, -0.26)), atol=0.01
    )


def test_an_unknown_payload_spoils_tracking_and_a_known_one_does_not():
    errors = {load: tracking_error(tracking_run(load)) for load in LOADS}
    # Half a sample's delay and the motors' electric lag leave some tenths of a millimetre.
    assert errors["none"].max() < 4e-4
    assert errors["known"].max() < 4e-4
    assert errors["unknown"].max() > 10 * errors["known"].max()
    assert errors["unknown"][-1] > 4e-3
    assert errors["known"][-1] < 1e-6


def test_the_load_hangs_where_the_loops_stiffness_lets_it():
    """At rest, the torques of the wanted acceleration k1 e of a robot without load carry the load."""
    run = tracking_run("unknown")
    place = np.array([run[f"platform.position.{axis}"].final for axis in AXES])
    expected = torques_of(place, PLACE_LOOP["stiffness"] * (np.array(PATH[-1]) - place))
    # What is left of the motion's end after 0.5 s.
    np.testing.assert_allclose(torques_at(FITTED, place, PAYLOAD), expected, rtol=1e-3)


@pytest.mark.parametrize("period", [None, SAMPLE])
def test_the_least_stabilising_gain_is_the_slope_of_the_holding_torque(period):
    """Constant torques and PD loops: at rest, P must outdo the gravity that grows with the angle."""
    system = assemble(delta_stand(period=period))
    gains = [f"{arm}.control.proportional" for arm in ARMS]
    found = find_stability_limit(system, gains, 0.0, 10.0)
    h = 1e-5
    slope = (FITTED.holding_torque(-h) - FITTED.holding_torque(h)) / (2 * h)
    # A pole counts as growing from 1e-9 of the largest on.
    assert found.value == pytest.approx(slope, rel=1e-6)
    assert found.stable_above


@pytest.mark.parametrize(("share", "falls"), [(0.8, True), (1.3, False)])
def test_the_robot_falls_below_that_gain_and_stands_above(share, falls):
    gains = {"proportional": share * 1.7819, "integral": 0.0, "derivative": 0.1}
    # A millimetre and a half beside the place where it is to stand.
    nudged = {f"initial.{name}": value for name, value in pose_at(FITTED, (0.0, 0.0, -0.184)).items()}
    run = simulate(delta_stand(gains=gains).with_numbers({"duration": 4.0} | nudged))
    moved = abs(run["arm1.q1.position"].final)
    assert (moved > 0.1) if falls else (moved < 5e-3)


def test_unknown_drives_are_refused():
    with pytest.raises(ModelError, match="'servo' is unknown"):
        delta_pid(drives="servo")


def test_places_out_of_reach_are_refused_by_name():
    """The nearest angle instead would end 0.18 m off, and say nothing."""
    with pytest.raises(ModelError, match=r"places\[1\]: \(0.6, 0, -0.3\) m is out of reach of arm 2, arm 3"):
        delta_pid(target=(0.6, 0.0, -0.3))
    with pytest.raises(ModelError, match=r"target: \(0, 0, -0.9\) m is out of reach of arm 1"):
        delta_linearised(target=(0.0, 0.0, -0.9))
    with pytest.raises(ModelError, match="place: .* out of reach"):
        pose_at(FITTED, (0.0, 0.0, 0.9))


def test_a_run_whose_reference_leaves_the_reach_ends_there():
    """Numbers may be changed after the description was checked: the angle is then no number."""
    scenario = delta_pid(period=None, drives="ideal")
    blocks = tuple(
        replace(block, parameters=block.parameters | {"points": (0.0, 0.6)}) if block.name == "reference.x" else block
        for block in scenario.machine.blocks
    )
    run = simulate(replace(scenario, machine=replace(scenario.machine, blocks=blocks)))
    assert not run.outcome.carried_through
