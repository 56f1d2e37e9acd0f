"""Robots from MJCF against MuJoCo: mass matrix, bias, Jacobians, limits, springs and drives, and a swing of one second.

Differences are of rounding, far below 1e-9 of the largest entry. The swing: MuJoCo's Runge-Kutta steps of 0.1 ms and
our tolerance of 1e-10 are both converged to better than 1e-7 rad; 1e-6 rad is asked for.
"""

from dataclasses import replace

import mujoco
import numpy as np
import pytest
from support.robot_files import OWN

import robodyn as rd

NEAR = 1e-9
PATH = OWN / "arm.xml"
SINGLE = ("yaw", "pitch", "elbow", "slide")


def near(ours, theirs):
    return np.abs(ours - theirs).max() <= NEAR * max(np.abs(theirs).max(), 1e-30)


class Pair:
    """The model here and in MuJoCo; positions of hinges and slides are counted from where the model stands."""

    def __init__(self):
        self.model = mujoco.MjModel.from_xml_path(str(PATH))
        self.data = mujoco.MjData(self.model)
        self.robot = rd.import_robot(PATH)
        machine = self.robot.machine
        self.dynamics = rd.MachineDynamics(machine.replaced(constraints=()))
        self.q, self.v = self._columns(self.dynamics.positions), self._columns(self.dynamics.velocities)

    def _columns(self, names):
        """MuJoCo's index of each of our positions or velocities."""
        found = []
        for name in names:
            joint, _, rest = name.partition(".")
            number = self.model.joint(joint).id
            is_q = rest.endswith("position") or "orientation" in rest
            first = self.model.jnt_qposadr[number] if is_q else self.model.jnt_dofadr[number]
            if "orientation" in rest or "angular" in rest:
                shift = 3 if joint == "flight" else 0
                found.append(first + shift + ("wxyz" if is_q else "xyz").index(rest[-1]))
            else:
                found.append(first + ("xyz".index(rest[0]) if joint == "flight" else 0))
        return found

    def set(self, q, v):
        mujoco.mj_normalizeQuat(self.model, q)
        self.data.qpos[:], self.data.qvel[:] = q, v
        mujoco.mj_forward(self.model, self.data)
        return (q - self._rest())[self.q], v[self.v]

    def _rest(self):
        """MuJoCo's positions where ours are zero: those of the model for hinges and slides, zero for the others."""
        rest = np.zeros(self.model.nq)
        for name in SINGLE:
            at = self.model.jnt_qposadr[self.model.joint(name).id]
            rest[at] = self.model.qpos0[at]
        return rest


@pytest.fixture(scope="module")
def pair():
    return Pair()


def test_mass_matrix_bias_and_jacobians_are_those_of_mujoco(pair):
    model, data, rng = pair.model, pair.data, np.random.default_rng(5)
    for _ in range(100):
        q, v = pair.set(rng.uniform(-1, 1, model.nq), rng.uniform(-1, 1, model.nv))
        M = np.zeros((model.nv, model.nv))
        mujoco.mj_fullM(model, data, M)
        assert near(pair.dynamics.mass_matrix(q), M[np.ix_(pair.v, pair.v)])
        assert near(pair.dynamics.bias(q, v), data.qfrc_bias[pair.v])
        for site in ("tip", "home"):
            place, turn = np.zeros((3, model.nv)), np.zeros((3, model.nv))
            mujoco.mj_jacSite(model, data, place, turn, model.site(site).id)
            assert np.abs(pair.dynamics.jacobian(site, q) - np.vstack([turn, place])[:, pair.v]).max() <= NEAR
            assert np.abs(pair.dynamics.position(site, q) - data.site(site).xpos).max() <= NEAR


def test_limits_losses_and_rotors_are_those_of_mujoco(pair):
    for name in SINGLE:
        joint, number = pair.robot.machine.mechanism.joint(name), pair.model.joint(name).id
        dof, zero = pair.model.jnt_dofadr[number], pair.model.qpos0[pair.model.jnt_qposadr[number]]
        if pair.model.jnt_limited[number]:
            ends = pair.model.jnt_range[number] - zero
            assert (joint.lower_limit, joint.upper_limit) == pytest.approx(tuple(ends), rel=1e-14)
        else:
            assert joint.lower_limit is None
        assert (joint.damping or 0.0, joint.armature) == (pair.model.dof_damping[dof], pair.model.dof_armature[dof])


def accelerations(robot, q, v):
    """Of the machine with all that acts on it, wherever its limits are."""
    mechanism = robot.machine.mechanism
    free = [joint.replaced(lower_limit=None, upper_limit=None) for joint in mechanism.joints]
    machine = robot.machine.replaced(constraints=(), mechanism=mechanism.replaced(joints=tuple(free)))
    dynamics = rd.MachineDynamics(machine)
    initial = dict(zip([*dynamics.positions, *dynamics.velocities], [*q, *v], strict=True))
    run = rd.simulate(rd.Scenario("a", machine, 1e-3, initial, solver=rd.Solver("rk4", step=1e-3)))
    single = [name for name in dynamics.velocities if "angular" not in name]
    return {name: run[name.replace("velocity", "acceleration")].values[0] for name in single}


def test_springs_dampers_and_drives_act_as_in_mujoco(pair):
    """Accelerations at random states; what is not used (damping of the ball, a filtered drive) is off there too."""
    model = pair.model
    model.dof_damping[model.jnt_dofadr[model.joint("hook").id] :][:3] = 0.0
    data, rng = pair.data, np.random.default_rng(8)
    data.ctrl[model.actuator("push").id] = 1.0
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_LIMIT
    for _ in range(3):
        q, v = pair.set(rng.uniform(-1, 1, model.nq), rng.uniform(-1, 1, model.nv))
        ours = accelerations(pair.robot, q, v)
        theirs = dict(zip(pair.dynamics.velocities, data.qacc[pair.v], strict=True))
        scale = max(abs(value) for value in theirs.values())
        assert all(abs(value - theirs[name]) <= 1e-9 * scale for name, value in ours.items())


def test_a_swing_of_one_second_is_that_of_mujoco():
    """The arm and the flying bell left to themselves, without springs and losses."""
    model = mujoco.MjModel.from_xml_path(str(PATH))
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_LIMIT | mujoco.mjtDisableBit.mjDSBL_ACTUATION
    model.dof_damping[:], model.jnt_stiffness[:], model.tendon_stiffness[:], model.tendon_damping[:] = 0, 0, 0, 0
    data = mujoco.MjData(model)
    data.qvel[model.jnt_dofadr[model.joint("hook").id]] = 1.0
    while data.time < 1.0 - 1e-9:
        mujoco.mj_step(model, data)
    robot = rd.import_robot(PATH)
    mechanism = robot.machine.mechanism
    still = mechanism.replaced(joints=tuple(joint.without_blocks() for joint in mechanism.joints))
    machine = robot.machine.replaced(mechanism=still, constraints=(), blocks=())
    scenario = replace(robot.scenario(1.0), machine=machine, solver=rd.Solver(rtol=1e-10, atol=1e-12))
    scenario = scenario.replaced(initial=dict(scenario.initial) | {"hook.angular_velocity.x": 1.0})
    final = rd.simulate(scenario).final
    for name in SINGLE:
        at = model.jnt_qposadr[model.joint(name).id]
        assert abs(final[f"{name}.position"] - (data.qpos[at] - model.qpos0[at])) < 1e-6
    start = model.jnt_qposadr[model.joint("hook").id]
    ours = [final[f"hook.orientation.{part}"] for part in "wxyz"]
    assert np.abs(np.array(ours) - data.qpos[start : start + 4]).max() < 1e-6
