"""Robots here and in MuJoCo: by how much do their dynamics, limits and motions differ?"""

import mujoco
import numpy as np
from support.pinocchio_robots import difference

import robodyn as rd
from robodyn.description.robots.building import build_machine
from robodyn.description.robots.links import MeshFiles
from robodyn.description.robots.mjcf import MjcfReader, compile_model, load_includes
from robodyn.description.robots.xml_tree import load_xml

SINGLE = 2
"""Types of MuJoCo's joints from here on have one position."""


class MujocoPair:
    """A model here and in MuJoCo; positions of hinges and slides are counted from where the model stands."""

    def __init__(self, path, search=()):
        folders, root = MeshFiles(path, search), load_xml(path)
        load_includes(root, path, folders)
        self.model = compile_model(path, root)
        self.data = mujoco.MjData(self.model)
        self.reader = MjcfReader(root, self.model, folders)
        self.machine, self.initial = build_machine(self.reader.read(), keep_massless=True, lock={})
        few = self.machine.mechanism.points[:6]
        mechanism = self.machine.mechanism.replaced(points=few)
        bare = {"mechanism": mechanism, "constraints": (), "blocks": (), "coordinates": (), "loads": ()}
        self.bare = self.machine.replaced(**bare)
        self.dynamics = rd.MachineDynamics(self.bare)
        self.q = self._columns(self.dynamics.positions, self.model.jnt_qposadr)
        self.v = self._columns(self.dynamics.velocities, self.model.jnt_dofadr)

    def _columns(self, names, first):
        """MuJoCo's index of each of our positions or velocities."""
        numbers = {name: number for number, name in self.reader.joints.items()}
        found = []
        for name in names:
            parts = name.split(".")
            joint = next(".".join(parts[:k]) for k in range(len(parts), 0, -1) if ".".join(parts[:k]) in numbers)
            number, rest = numbers[joint], name.removeprefix(f"{joint}.")
            free = self.model.jnt_type[number] == 0
            if "orientation" in rest or "angular" in rest:
                order = "wxyz" if "orientation" in rest else "xyz"
                found.append(first[number] + 3 * free + order.index(rest[-1]))
            else:
                found.append(first[number] + ("xyz".index(rest[0]) if free else 0))
        return found

    @property
    def rest(self):
        """MuJoCo's positions where ours are zero: those of the model for hinges and slides, zero for the others."""
        rest = np.zeros(self.model.nq)
        for number, at in enumerate(self.model.jnt_qposadr):
            if self.model.jnt_type[number] >= SINGLE:
                rest[at] = self.model.qpos0[at]
        return rest

    def set(self, q, v):
        """Put MuJoCo into a state, and say it as ours."""
        mujoco.mj_normalizeQuat(self.model, q)
        self.data.qpos[:], self.data.qvel[:] = q, v
        mujoco.mj_forward(self.model, self.data)
        return (q - self.rest)[self.q], v[self.v]

    def compare(self, rng):
        """Differences at a random state: of mass matrix, bias, Jacobians of points."""
        q, v = self.set(rng.uniform(-1, 1, self.model.nq), rng.uniform(-1, 1, self.model.nv))
        M = np.zeros((self.model.nv, self.model.nv))
        mujoco.mj_fullM(self.model, self.data, M)
        bias = self.data.qfrc_bias[self.v]
        return (
            difference(self.dynamics.mass_matrix(q), M[np.ix_(self.v, self.v)]),
            # Where nothing weighs on a joint the bias is rounding, small beside what accelerates it at 1 rad/s^2.
            float(np.abs(self.dynamics.bias(q, v) - bias).max() / max(np.abs(bias).max(), np.abs(M).max())),
            max((self.compare_jacobian(point, q) for point in self.bare.mechanism.points), default=0.0),
        )

    def compare_jacobian(self, point, q):
        body = next(number for number, name in self.reader.bodies.items() if name == point.body)
        inner = np.array(point.origin) + self.reader.anchors[body]
        place = self.data.xpos[body] + self.data.xmat[body].reshape(3, 3) @ inner
        J, turn = np.zeros((3, self.model.nv)), np.zeros((3, self.model.nv))
        mujoco.mj_jac(self.model, self.data, J, turn, place, body)
        error = np.abs(self.dynamics.jacobian(point.name, q) - np.vstack([turn, J])[:, self.v]).max()
        return float(max(error, np.abs(self.dynamics.position(point.name, q) - place).max()))

    def wrong_limits(self):
        """Names of joints whose limits, damping, friction or rotors differ."""
        found = []
        for number, name in self.reader.joints.items():
            if self.model.jnt_type[number] < SINGLE:
                continue
            joint, dof = self.machine.mechanism.joint(name), self.model.jnt_dofadr[number]
            ends = self.model.jnt_range[number] - self.model.qpos0[self.model.jnt_qposadr[number]]
            limited = bool(self.model.jnt_limited[number])
            good = limited == (joint.lower_limit is not None)
            good &= not limited or np.allclose((joint.lower_limit, joint.upper_limit), ends, rtol=1e-14, atol=1e-14)
            ours = (joint.damping or 0.0, joint.friction or 0.0, joint.armature)
            theirs = np.array(
                [self.model.dof_damping[dof], self.model.dof_frictionloss[dof], self.model.dof_armature[dof]]
            )
            theirs += self.of_actuators(number)
            found += [] if good and np.allclose(ours, theirs, rtol=1e-14, atol=0) else [name]
        return found

    def of_actuators(self, joint):
        """Damping, friction and rotors that the actuators of a joint put on it."""
        total = np.zeros(3)
        for k in range(self.model.nu):
            if self.model.actuator_trnid[k][0] == joint and self.model.actuator_trntype[k] == 0:
                gear = self.model.actuator_gear[k][0]
                own = (self.model.actuator_damping[k], 0.0, self.model.actuator_armature[k])
                total += gear * gear * np.array(own)
        return total

    def compare_swing(self, duration=1.0, step=1e-4):
        """Largest difference of positions after a robot is left to itself, without losses, springs and drives."""
        model, off = self.model, mujoco.mjtDisableBit
        for flag in (off.mjDSBL_LIMIT, off.mjDSBL_ACTUATION, off.mjDSBL_CONTACT, off.mjDSBL_EQUALITY):
            model.opt.disableflags |= flag
        losses = (model.dof_damping, model.dof_frictionloss, model.actuator_damping)
        for table in (*losses, model.jnt_stiffness, model.body_gravcomp):
            table[:] = 0.0
        model.tendon_stiffness[:], model.tendon_damping[:], model.tendon_frictionloss[:] = 0.0, 0.0, 0.0
        model.opt.density, model.opt.viscosity = 0.0, 0.0
        model.opt.integrator, model.opt.timestep = mujoco.mjtIntegrator.mjINT_RK4, step
        data = mujoco.MjData(model)
        for _ in range(round(duration / step)):
            mujoco.mj_step(model, data)
        joints = [
            joint.without_blocks().replaced(lower_limit=None, upper_limit=None)
            if joint.kind in ("revolute", "prismatic")
            else joint
            for joint in self.bare.mechanism.joints
        ]
        machine = self.bare.replaced(mechanism=self.bare.mechanism.replaced(joints=tuple(joints)))
        free = {name: value for name, value in self.initial.items() if self._moves_freely(name)}
        scenario = rd.Scenario("swing", machine, duration, free, solver=rd.Solver(rtol=1e-10, atol=1e-12))
        final = rd.simulate(scenario).final
        ours = np.array([final[name] for name in self.dynamics.positions])
        return float(np.abs(ours - (data.qpos - self.rest)[self.q]).max())

    def _moves_freely(self, name):
        """Whether a position is one of a free joint; the others start where the model stands."""
        free = [joint for number, joint in self.reader.joints.items() if self.model.jnt_type[number] == 0]
        return any(name.startswith(f"{joint}.") for joint in free)
