"""Robots from URDF against Pinocchio: mass matrix, bias, gravity, Jacobians of points, limits.

Both compute the same expressions in another order: differences are of rounding, far below 1e-9 of the largest entry.
The robots are one of each kind in example-robot-data; all of them were compared when the reader was made.
"""

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
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


def limits_agree(ours, theirs):
    """A limit that is not there is infinite in Pinocchio, or leaves no room."""
    return ours == pytest.approx(theirs, rel=1e-12) if ours is not None else not 0.0 < theirs < 1e30


def near(ours, theirs):
    return np.abs(ours - theirs).max() <= NEAR * max(np.abs(theirs).max(), 1e-30)


class Pair:
    """A robot here and in Pinocchio, with the same order of joints."""

    def __init__(self, path):
        robot = rd.import_robot(path)
        self.mechanism = robot.machine.mechanism
        names = [name.removesuffix(".position") for name in self._dynamics(robot.machine).positions]
        self.model = pin.buildModelFromUrdf(str(path))
        self.ids = [self.model.getJointId(self._pinocchio_name(robot, name)) for name in names]
        locked = [k for k in range(1, self.model.njoints) if k not in self.ids]
        if locked:
            self.model = pin.buildReducedModel(self.model, locked, pin.neutral(self.model))
            self.ids = [self.model.getJointId(name) for name in names]
        self.data = self.model.createData()
        self.joints = [self.mechanism.joint(name) for name in names]
        self.order = [self.model.idx_vs[k] for k in self.ids]

    def _dynamics(self, machine):
        bodies = machine.mechanism.bodies
        self.points = [rd.Point(f"point_{k}", body.name, (0.1, 0.02, -0.3)) for k, body in enumerate(bodies)][
            :: max(len(bodies) // 4, 1)
        ]
        mechanism = replace(machine.mechanism, points=tuple(self.points))
        self.dynamics = rd.MachineDynamics(machine.replaced(mechanism=mechanism))
        return self.dynamics

    def _pinocchio_name(self, robot, name):
        """The name in the file of a joint whose name was changed."""
        written = {entry.note: entry.value for entry in robot.sheet.entries if "/joint" in entry.kind}
        return written.get(f"the name is written '{name}'", name)

    def configuration(self, q):
        """Positions in Pinocchio's order; a joint without limits has a cosine and a sine."""
        found = pin.neutral(self.model)
        for k, value in zip(self.ids, q, strict=True):
            at = self.model.idx_qs[k]
            found[at : at + self.model.nqs[k]] = [value] if self.model.nqs[k] == 1 else [np.cos(value), np.sin(value)]
        return found

    def compare(self, rng):
        n = len(self.ids)
        q, v = rng.uniform(-1.5, 1.5, n), rng.uniform(-1, 1, n)
        there, w = self.configuration(q), np.zeros(n)
        w[self.order] = v
        M = np.triu(pin.crba(self.model, self.data, there))
        M += np.triu(M, 1).T
        assert near(self.dynamics.mass_matrix(q), M[np.ix_(self.order, self.order)])
        for rates, speed in ((v, w), (0 * v, 0 * w)):
            assert near(self.dynamics.bias(q, rates), pin.rnea(self.model, self.data, there, speed, 0 * w)[self.order])
        pin.computeJointJacobians(self.model, self.data, there)
        pin.updateFramePlacements(self.model, self.data)
        for point in self.points:
            self.compare_jacobian(point, q)

    def compare_jacobian(self, point, q):
        frame = self.model.getFrameId(point.body, pin.FrameType.BODY)
        if frame >= self.model.nframes:
            return
        J = pin.getFrameJacobian(self.model, self.data, frame, pin.LOCAL_WORLD_ALIGNED)[:, self.order]
        arm = self.data.oMf[frame].rotation @ np.array(point.origin)
        theirs = np.vstack([J[3:], J[:3] - pin.skew(arm) @ J[3:]])
        ours = self.dynamics.jacobian(point.name, q)
        assert np.abs(ours - theirs).max() <= NEAR

    def compare_limits(self):
        for joint, k in zip(self.joints, self.ids, strict=True):
            at, v = self.model.idx_qs[k], self.model.idx_vs[k]
            lower, upper = self.model.lowerPositionLimit[at], self.model.upperPositionLimit[at]
            if joint.lower_limit is not None:
                assert (joint.lower_limit, joint.upper_limit) == pytest.approx((lower, upper), rel=1e-12)
            else:
                assert self.model.nqs[k] == 2 or not lower < upper
            assert limits_agree(joint.speed_limit, self.model.upperVelocityLimit[v])
            assert limits_agree(joint.effort_limit, self.model.upperEffortLimit[v])


@pytest.mark.parametrize("name", [*ROBOTS, "arm.urdf"])
def test_a_robot_has_the_dynamics_and_limits_that_pinocchio_finds(name):
    pair = Pair(OWN / name if name == "arm.urdf" else example_robot(name))
    rng = np.random.default_rng(7)
    for _ in range(100):
        pair.compare(rng)
    pair.compare_limits()


def test_a_floating_robot_has_the_dynamics_that_pinocchio_finds():
    """Pinocchio's velocities of a floating base are in its own axes, ours of translation in those of the ground."""
    machine = rd.read_robot(OWN / "floating.urdf")
    dynamics = rd.MachineDynamics(machine)
    model = pin.buildModelFromUrdf(str(OWN / "floating.urdf"))
    data, rng = model.createData(), np.random.default_rng(3)
    names = [*(f"drift.{axis}.velocity" for axis in "xyz"), *(f"drift.angular_velocity.{axis}" for axis in "xyz")]
    columns = {
        "drift": names,
        "arm": ["arm.velocity"],
        "plate": [f"plate.{axis}.velocity" for axis in ("x", "y", "angle")],
    }
    order = [dynamics.velocities.index(name) for joint in model.names[1:] for name in columns[joint]]
    for _ in range(100):
        there = pin.randomConfiguration(model, -np.ones(model.nq), np.ones(model.nq))
        w = rng.uniform(-1, 1, model.nv)
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
        theirs = np.triu(pin.crba(model, data, there))
        theirs += np.triu(theirs, 1).T
        assert near(T.T @ M @ T, theirs)
        v = np.zeros(model.nv)
        gravity = dynamics.bias(ours, v)[order]
        assert near(T.T @ gravity, pin.rnea(model, data, there, 0 * w, 0 * w))
