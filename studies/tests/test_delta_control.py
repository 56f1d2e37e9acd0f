"""Do the delta robot's controllers know the robot they control, hold it, and follow their paths at 1 kHz?"""

import casadi as ca
import numpy as np
import pytest

from robodyn import Solver, assemble, simulate
from robodyn.analysis.linear.stability import find_stability_limit
from robodyn.analysis.linear.trim import find_trim
from robodyn.errors import ModelError
from robodyn_studies.catalog.delta_control import NEWTON_STEPS, PLACE_LOOP, SAMPLE
from robodyn_studies.catalog.delta_dynamics import inverse_torques
from robodyn_studies.catalog.delta_kinematics import (
    arm_angles,
    distal_angles,
    improve_angles,
    locate_platform,
    motor_angles,
    motor_speeds,
    platform_motion,
)
from robodyn_studies.catalog.delta_parameters import AUTONOX, FITTED
from robodyn_studies.catalog.delta_robot import ARMS, MOTORS, delta_hold
from robodyn_studies.catalog.delta_tasks import (
    HIGH,
    PATH,
    PAYLOAD,
    delta_linearised,
    delta_pid,
    delta_stand,
    delta_tracking,
    pose_at,
    torques_at,
)

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
def test_inverse_and_forward_kinematics_undo_each_other(robot, place):
    scale = robot.distal_length / FITTED.distal_length
    place = np.array(place) * scale
    np.testing.assert_allclose(locate_platform(robot, motor_angles(robot, place)), place, atol=1e-14)


def test_newtons_method_reaches_seven_decimals_in_three_steps():
    """From 3 deg beside the solution; at 1 kHz a joint moves by much less between samples."""
    motors = motor_angles(FITTED, PLACES[0])
    exact = np.array(all_distal(FITTED, motors, PLACES[0]))
    errors, found = [], exact + np.radians(3.0) * np.array([1, -1, 1, 1, -1, 1])
    for _ in range(3):
        found = improve_angles(FITTED, motors, found)
        errors.append(np.abs(found - exact).max())
    assert errors[2] < 1e-7
    # Quadratic convergence: each error is of the size of the square of the one before.
    assert errors[1] < 10 * errors[0] ** 2


def test_velocities_are_derivatives_of_places():
    place, velocity = np.array(PLACES[0]), np.array([0.3, -0.5, 0.2])
    h = 1e-6
    before, after = (np.array(motor_angles(FITTED, place + s * h * velocity)) for s in (-1, 1))
    motors = motor_angles(FITTED, place)
    arms = arm_angles(motors, all_distal(FITTED, motors, place))
    speeds = motor_speeds(FITTED, arms, velocity)
    # Central differences of step 1e-6.
    np.testing.assert_allclose(speeds, (after - before) / (2 * h), rtol=1e-8)
    found, moving, rates = platform_motion(FITTED, arms, speeds)
    np.testing.assert_allclose(found, place, atol=1e-14)
    np.testing.assert_allclose(moving, velocity, atol=1e-13)
    ends = [np.array(all_distal(FITTED, m, place + s * h * velocity)) for s, m in ((-1, before), (1, after))]
    np.testing.assert_allclose(np.array(rates)[:, 1:].ravel(), (ends[1] - ends[0]) / (2 * h), rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("place", PLACES)
def test_gravity_compensation_holds_the_simulated_robot(place):
    """Nine equations written by hand against the equilibrium of the assembled mechanism."""
    system = assemble(delta_hold())
    held = {f"{motor}.position": angle for motor, angle in zip(MOTORS, motor_angles(FITTED, place), strict=True)}
    found = find_trim(system, held, [f"{arm}.motor.value" for arm in ARMS], guess=pose_at(FITTED, place))
    np.testing.assert_allclose(torques_at(FITTED, place), list(found.inputs.values()), rtol=1e-9)


@pytest.mark.parametrize("payload", [0.0, PAYLOAD])
def test_inverse_dynamics_accelerate_the_simulated_robot_as_wanted(payload):
    """In motion, with damping and a load: the assembled mechanism's acceleration is the one that was asked for."""
    place, velocity, wanted = np.array(PLACES[0]), np.array([0.4, 0.9, -0.6]), np.array([3.0, -5.0, 4.0])
    motors = motor_angles(FITTED, place)
    arms = arm_angles(motors, all_distal(FITTED, motors, place))
    _, _, rates = platform_motion(FITTED, arms, motor_speeds(FITTED, arms, velocity))
    torques = inverse_torques(FITTED, payload, arms, rates, wanted)
    system = assemble(delta_hold(payload=payload))
    start = pose_at(FITTED, place)
    for arm, (phi, theta, alpha) in zip(ARMS, rates, strict=True):
        start |= {f"{arm}.q1.velocity": phi, f"{arm}.q2.velocity": theta - phi, f"{arm}.q3.velocity": alpha}
    x = [start.get(state.name, 0.0) for state in system.states]
    given = {f"{arm}.motor.value": torque for arm, torque in zip(ARMS, torques, strict=True)}
    p = [given.get(number.name, number.value) for number in system.parameters]
    names = [f"platform.velocity.{axis}" for axis in AXES]
    outputs = ca.vertcat(*(system.expressions.outputs[system.signal_names.index(name)] for name in names))
    along = ca.jtimes(outputs, system.symbols.x, system.expressions.rhs)
    inputs = [*system.symbols]
    m = [info.start for info in system.memory]
    found = ca.Function("along", inputs, [outputs, along])(0.0, x, [], m, p)
    np.testing.assert_allclose(np.array(found[0]).ravel(), velocity, atol=1e-12)
    np.testing.assert_allclose(np.array(found[1]).ravel(), wanted, atol=1e-9)


def test_linearising_feedback_makes_the_platform_a_linear_oscillator():
    """Continuous control, ideal drives: e'' + k2 e' + k1 e = 0 to the solver's tolerance."""
    run = simulate(delta_linearised(drives="ideal", period=None), Solver("dopri5", rtol=1e-9, atol=1e-11))
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


def test_newton_steps_of_each_sample_follow_the_robot():
    """Two steps from the last sample's solution: the error left of them is far below any encoder's."""
    assert NEWTON_STEPS == 2
    run = simulate(delta_tracking())
    ticks = SAMPLE * np.arange(0, 1200, 7)
    exact = run["arm2.q1.position"](ticks) + run["arm2.q2.position"](ticks)
    assert np.abs(run["kinematics.theta2"](ticks) - exact).max() < 1e-9


def test_pid_with_gravity_compensation_settles_from_where_the_robot_falls():
    run = simulate(delta_pid())
    error = tracking_error(run)
    assert error.max() < 7e-3
    assert error[-1] < 1e-4
    np.testing.assert_allclose(
        [run[f"{arm}.motor.torque"].final for arm in ARMS], torques_at(FITTED, (0.05, -0.03, -0.26)), atol=0.01
    )


def test_an_unknown_payload_spoils_tracking_and_a_known_one_does_not():
    errors = {
        name: tracking_error(simulate(delta_tracking(**load)))
        for name, load in (
            ("none", {"payload": 0.0}),
            ("unknown", {"payload": PAYLOAD}),
            ("known", {"payload": PAYLOAD, "known_payload": PAYLOAD}),
        )
    }
    # Half a sample's delay and the motors' electric lag leave some tenths of a millimetre.
    assert errors["none"].max() < 4e-4
    assert errors["known"].max() < 4e-4
    assert errors["unknown"].max() > 10 * errors["known"].max()
    assert errors["unknown"][-1] > 4e-3
    assert errors["known"][-1] < 1e-6


def test_the_load_hangs_where_the_loops_stiffness_lets_it():
    """At rest, the torques of the wanted acceleration k1 e of a robot without load carry the load."""
    run = simulate(delta_tracking())
    place = np.array([run[f"platform.position.{axis}"].final for axis in AXES])
    motors = motor_angles(FITTED, place)
    arms = arm_angles(motors, all_distal(FITTED, motors, place))
    pull = PLACE_LOOP["stiffness"] * (np.array(PATH[-1]) - place)
    expected = inverse_torques(FITTED, 0.0, arms, ((0.0,) * 3,) * 3, pull)
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
