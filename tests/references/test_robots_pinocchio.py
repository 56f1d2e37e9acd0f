"""Robots from URDF against Pinocchio: mass matrix, bias, gravity, Jacobians of points, limits.

Both compute the same expressions in another order: differences are of rounding, far below 1e-9 of the largest entry.
The robots are one of each kind in example-robot-data; `tests/soak/robots.py` compares all of them.
"""

import numpy as np
import pinocchio as pin
import pytest
from support.pinocchio_robots import PinocchioPair, difference, symmetric
from support.robot_files import OWN, example_robot

import robodyn as rd

ROBOTS = {
    "panda.urdf": "arm with a gripper",
    "ur5_robot.urdf": "arm",
    "allegro_left_hand.urdf": "hand, its names changed",
    "solo12.urdf": "quadruped",
    "hextilt_flying_arm_5.urdf": "drone with an arm",
    "double_pendulum_continuous.urdf": "joints without limits",
    "simple_humanoid.urdf": "humanoid",
}
NEAR = 1e-9


@pytest.mark.parametrize("name", [*ROBOTS, "arm.urdf"])
def test_a_robot_has_the_dynamics_and_limits_that_pinocchio_finds(name, proof):
    pair = PinocchioPair(OWN / name if name == "arm.urdf" else example_robot(name))
    rng = np.random.default_rng(7)
    apart = max(max(pair.compare(rng)) for _ in range(100))
    what = "mass matrix, bias, gravity and Jacobians of URDF robots (Panda, UR5, hand, quadruped, drone, humanoid)"
    proof(what, kind="program", source=f"Pinocchio {pin.__version__}", deviation=apart, within=NEAR, relative=True)
    assert not pair.wrong_limits()


def test_a_floating_robot_has_the_dynamics_that_pinocchio_finds():
    """Pinocchio's velocities of a floating base are in its own axes, ours of translation in those of the ground."""
    machine = rd.read_robot(OWN / "floating.urdf")
    dynamics = rd.MachineDynamics(machine)
    model = pin.buildModelFromUrdf(str(OWN / "floating.urdf"))
    data = model.createData()
    pin.seed(3)
    names = [*(f"drift.{axis}.velocity" for axis in "xyz"), *(f"drift.angular_velocity.{axis}" for axis in "xyz")]
    columns = {
        "drift": names,
        "arm": ["arm.velocity"],
        "plate": [f"plate.{axis}.velocity" for axis in ("x", "y", "angle")],
    }
    order = [dynamics.velocities.index(name) for joint in model.names[1:] for name in columns[joint]]
    for _ in range(100):
        there = pin.randomConfiguration(model, -np.ones(model.nq), np.ones(model.nq))
        T, q = np.zeros((model.nv, model.nv)), dict.fromkeys(dynamics.positions, 0.0)
        for k, joint in enumerate(model.names[1:], 1):
            at, v, part = model.idx_qs[k], model.idx_vs[k], there[model.idx_qs[k] :]
            T[v : v + model.nvs[k], v : v + model.nvs[k]] = np.eye(model.nvs[k])
            if joint == "drift":
                R = pin.Quaternion(part[3:7].copy()).matrix()
                T[v : v + 3, v : v + 3] = R
                q |= dict(zip((f"drift.{axis}.position" for axis in "xyz"), part[:3], strict=True))
                q |= dict(zip((f"drift.orientation.{axis}" for axis in "xyzw"), part[3:7], strict=True))
            elif joint == "plate":
                T[v : v + 2, v : v + 2] = [[part[2], -part[3]], [part[3], part[2]]]
                q |= {"plate.x.position": part[0], "plate.y.position": part[1]}
                q["plate.angle.position"] = np.arctan2(part[3], part[2])
            else:
                q[f"{joint}.position"] = there[at]
        ours = dynamics.positions_at(q)
        M = dynamics.mass_matrix(ours)[np.ix_(order, order)]
        assert difference(T.T @ M @ T, symmetric(pin.crba(model, data, there))) <= NEAR
        v = np.zeros(model.nv)
        gravity = dynamics.bias(ours, v)[order]
        assert difference(T.T @ gravity, pin.rnea(model, data, there, 0 * v, 0 * v)) <= NEAR
