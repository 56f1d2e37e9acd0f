"""Joints that motors turn through rods: torque map and inertia against closed geometry, statics and a simulation."""

import numpy as np
import pytest
from scipy.optimize import brentq

import robodyn as rd
from robodyn.analysis.mechanics.parallel_joints import map_parallel_joint
from robodyn.description.catalog import parallel_ankle

MOTORS = ("left_motor", "right_motor")
ARM, WIDE = 0.046, 0.035
SIDES = {"left_motor": (1, 0.18), "right_motor": (-1, 0.25)}
"""Side of the foot, and height of the motor, which is its rod's length."""


@pytest.fixture(scope="module")
def system():
    return rd.assemble(parallel_ankle())


@pytest.fixture(scope="module")
def ankle(system):
    return map_parallel_joint(system, MOTORS, {"pitch": [-0.8, -0.4, 0.0, 0.5], "roll": [-0.4, 0.0, 0.3]})


def crank_angle(motor, pitch, roll, near):
    """Where the rod from a crank's end to the foot's heel is as long as it is."""
    side, height = SIDES[motor]
    x, y, z = -ARM, side * WIDE * np.cos(roll), side * WIDE * np.sin(roll)
    heel = np.array([x * np.cos(pitch) + z * np.sin(pitch), y, -x * np.sin(pitch) + z * np.cos(pitch)])

    def stretch(angle):
        top = np.array([-ARM * np.cos(angle), side * WIDE, height + ARM * np.sin(angle)])
        return np.linalg.norm(top - heel) - height

    return brentq(stretch, near - 0.15, near + 0.15, xtol=1e-15)


def test_motors_and_torque_map_are_those_of_the_closed_geometry(ankle):
    """Postures are solved to 1e-10 m, 1e-8 rad of a short arm; central differences of 1e-5 rad are good for 1e-9."""
    step = 1e-5
    for place in zip(*np.nonzero(ankle.reachable), strict=True):
        y = np.array([column[k] for column, k in zip(ankle.values, place, strict=True)])
        for k, motor in enumerate(MOTORS):
            near = ankle.motor_positions[place][k]
            assert abs(crank_angle(motor, *y, near) - near) < 1e-8
            ends = [[crank_angle(motor, *(y + sign * step * e), near) for sign in (1, -1)] for e in np.eye(2)]
            slopes = [(after - before) / (2 * step) for after, before in ends]
            assert np.abs(slopes - ankle.jacobian[place][k]).max() < 1e-8


def test_motors_hold_the_weight_that_the_map_says(system, ankle):
    """Inverse dynamics, which knows of the loops' gradients only, against J^-T of what the angles feel."""
    machine = system.scenario.machine
    dynamics = rd.MachineDynamics(machine)
    place = (1, 2)
    y = {"pitch": ankle.values[0][1], "roll": ankle.values[1][2]}
    s = dict(zip(MOTORS, ankle.motor_positions[place], strict=True))
    q = dynamics.positions_at({f"{name}.position": value for name, value in (y | s).items()})
    held = dynamics.inverse_dynamics(q, np.zeros(4), np.zeros(4), list(MOTORS))
    weight = dict(zip([name.split(".")[0] for name in dynamics.velocities], dynamics.bias(q, np.zeros(4)), strict=True))
    J = ankle.jacobian[place]
    felt = np.array([weight["pitch"], weight["roll"]]) + J.T @ [weight[motor] for motor in MOTORS]
    assert held == pytest.approx(np.linalg.solve(J.T, felt), abs=1e-8)
    assert np.abs(held).max() > 0.05


def test_inertia_is_that_of_the_foot_and_of_what_the_motors_turn(system, ankle):
    """Kinetic energy of the tree without rods, the cranks moving as the map says."""
    dynamics = rd.MachineDynamics(system.scenario.machine.replaced(constraints=()))
    order = [name.split(".")[0] for name in dynamics.positions]
    for place in ((0, 1), (3, 2)):
        y = [column[k] for column, k in zip(ankle.values, place, strict=True)]
        values = dict(zip(("pitch", "roll", *MOTORS), [*y, *ankle.motor_positions[place]], strict=True))
        moves = dict(zip(("pitch", "roll", *MOTORS), np.vstack([np.eye(2), ankle.jacobian[place]]), strict=True))
        N = np.array([moves[name] for name in order])
        M = dynamics.mass_matrix([values[name] for name in order])
        assert np.abs(N.T @ M @ N - ankle.inertia[place]).max() < 1e-12
        assert np.abs(0.008 * ankle.jacobian[place].T @ ankle.jacobian[place] - ankle.rotors[place]).max() < 1e-15


def test_a_simulation_gives_motors_and_angles_the_same_power(system):
    run = rd.simulate(parallel_ankle().with_numbers({"duration": 0.22}))
    assert run.outcome.ok
    t = 0.22
    y = {name: float(run[f"{name}.position"](t)) for name in ("pitch", "roll")}
    J = map_parallel_joint(system, MOTORS, {name: [value] for name, value in y.items()}, y).jacobian[0, 0]
    rates = np.array([float(run[f"{name}.velocity"](t)) for name in ("pitch", "roll")])
    motors = np.array([float(run[f"{name}.velocity"](t)) for name in MOTORS])
    torques = np.array([float(run[f"{name}.torque"](t)) for name in ("left_drive", "right_drive")])
    assert np.abs(motors).max() > 0.1
    assert torques @ motors == pytest.approx((J.T @ torques) @ rates, rel=1e-4)


def test_the_stand_in_is_exact_where_it_is_taken_and_not_elsewhere(ankle):
    home = (2, 1)
    assert ankle.torque_ratios[home] == pytest.approx(1.0)
    assert np.abs(ankle.angle_errors[home]).max() < 1e-9
    assert ankle.rotor_errors[home] < 1e-9
    assert ankle.stand_in.together == pytest.approx(0.5)
    assert np.degrees(np.nanmax(np.abs(ankle.angle_errors))) > 1.0


@pytest.mark.parametrize(
    ("motors", "grid", "sentence"),
    [
        (("left_motor",), {"pitch": [0, 1], "roll": [0, 1]}, "name 2 of them"),
        (("left_motor", "rigth_motor"), {"pitch": [0, 1], "roll": [0, 1]}, "did you mean 'right_motor'"),
        (MOTORS, {"pitch": [1, 0], "roll": [0, 1]}, "must be increasing numbers"),
    ],
)
def test_what_does_not_fit_is_said(system, motors, grid, sentence):
    with pytest.raises(rd.ModelError, match=sentence):
        map_parallel_joint(system, motors, grid)


def test_a_stand_in_is_taken_within_the_limits(system):
    with pytest.raises(rd.ModelError, match=r"start.pitch: is 2 rad, its grid within its limits goes from -0.8 to 0.5"):
        map_parallel_joint(system, MOTORS, {"pitch": [-0.8, 0.5], "roll": [-0.2, 0.2]}, {"pitch": 2.0})
