"""How does MuJoCo simulate the catalogue's quadruped, with its own contacts?

The same bodies, joints, gains and gait, written as MJCF from the mechanism; feet are spheres with elliptic friction
cones on a plane, all else of the contacts is MuJoCo's own: soft constraints with its default time constants.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from robodyn.catalog.quadruped import DIAGONAL, FOOT, FRICTION, GAINS, GAIT, HEIGHT, LEGS, quadruped_mechanism
from robodyn.laws.walking import walking_leg
from robodyn.model import GROUND, Body, Joint, Mechanism

JOINTS = ("abduction", "hip", "knee")


@dataclass(frozen=True)
class Rival:
    """MuJoCo's quadruped at a time step [s] with a gait."""

    step: float
    stride: float
    lift: float
    duration: float

    @cached_property
    def model(self) -> Any:
        import mujoco

        return mujoco.MjModel.from_xml_string(write_mjcf(quadruped_mechanism(), self.step))

    @cached_property
    def controls(self) -> np.ndarray:
        """Targets of the twelve joints at each step, known before: (1, n_steps, 12)."""
        times = np.arange(round(self.duration / self.step)) * self.step
        gait = GAIT | {"stride": self.stride, "lift": self.lift}
        rounds = [walking_leg(times, **gait, phase=0.5 * k) for k in range(2)]
        columns = []
        for leg in LEGS:
            angles = rounds[int(leg not in DIAGONAL)]
            columns += [np.zeros_like(times), angles["hip_angle"], angles["knee_angle"]]
        return np.stack(columns, axis=1)[None]

    @cached_property
    def start(self) -> np.ndarray:
        """Time, positions, velocities as MuJoCo counts them."""
        import mujoco

        data = mujoco.MjData(self.model)
        data.qpos[:7] = (0, 0, HEIGHT + FOOT, 1, 0, 0, 0)
        data.qpos[7:] = self.controls[0, 0]
        state = np.zeros(mujoco.mj_stateSize(self.model, mujoco.mjtState.mjSTATE_FULLPHYSICS))
        mujoco.mj_getState(self.model, data, state, mujoco.mjtState.mjSTATE_FULLPHYSICS)
        return state

    def run(self) -> np.ndarray:
        """All states, (n_steps, n_state); in MuJoCo's own loop."""
        import mujoco
        from mujoco import rollout

        states, _ = rollout.rollout(self.model, mujoco.MjData(self.model), self.start, self.controls)
        return np.asarray(states)[0]

    def feet(self, states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Gaps below the feet [m], and how fast each slips there [m/s], both (n_rows, 4)."""
        import mujoco

        data, velocity, found = mujoco.MjData(self.model), np.zeros(6), []
        for state in states:
            mujoco.mj_setState(self.model, data, state, mujoco.mjtState.mjSTATE_FULLPHYSICS)
            mujoco.mj_fwdPosition(self.model, data)
            mujoco.mj_fwdVelocity(self.model, data)
            for leg in LEGS:
                geom = data.geom(f"{leg}_foot")
                mujoco.mj_objectVelocity(self.model, data, mujoco.mjtObj.mjOBJ_GEOM, geom.id, velocity, 0)
                # Of the middle, and what its rotation adds at the lowest place.
                slip = velocity[3:] + np.cross(velocity[:3], (0.0, 0.0, -FOOT))
                found.append((geom.xpos[2] - FOOT, np.hypot(slip[0], slip[1])))
        gaps, slips = np.array(found).T.reshape(2, -1, len(LEGS))
        return gaps, slips

    def mass_matrix(self, angles: np.ndarray) -> np.ndarray:
        """With the trunk upright, (18, 18)."""
        import mujoco

        data, M = mujoco.MjData(self.model), np.zeros((18, 18))
        data.qpos[3:7], data.qpos[7:] = (1, 0, 0, 0), angles
        mujoco.mj_forward(self.model, data)
        mujoco.mj_fullM(self.model, data, M)
        return M


def write_mjcf(mechanism: Mechanism, step: float) -> str:
    """A mechanism of free and revolute joints as MJCF, with feet and position servos."""
    trunk = "".join(_write_body(mechanism, joint) for joint in mechanism.joints if joint.parent == GROUND)
    gains = f'kp="{GAINS["proportional"]}" kv="{GAINS["derivative"]}"'
    names = [f"{leg}_{joint}" for leg in LEGS for joint in JOINTS]
    limit = f'forcerange="{-GAINS["limit"]} {GAINS["limit"]}"'
    servos = "".join(f'<position joint="{name}" {gains} {limit}/>' for name in names)
    return (
        f'<mujoco><compiler angle="radian" autolimits="true"/>'
        f'<option timestep="{step}" integrator="implicitfast" cone="elliptic"/>'
        f'<worldbody><geom type="plane" size="20 20 1" friction="{FRICTION["coefficient"]} 0 0"/>{trunk}</worldbody>'
        f"<actuator>{servos}</actuator></mujoco>"
    )


def _write_body(mechanism: Mechanism, joint: Joint) -> str:
    body = next(body for body in mechanism.bodies if body.name == joint.child)
    assert isinstance(body, Body)
    inner = "".join(_write_body(mechanism, other) for other in mechanism.joints if other.parent == body.name)
    moved = "<freejoint/>" if joint.kind == "free" else _write_hinge(joint)
    return f'<body name="{body.name}" pos="{_text(joint.origin)}">{moved}{"".join(_own(mechanism, body))}{inner}</body>'


def _write_hinge(joint: Joint) -> str:
    return f'<joint name="{joint.name}" axis="{_text(joint.axis)}" armature="{joint.armature}"/>'


def _own(mechanism: Mechanism, body: Body) -> Iterator[str]:
    yield f'<inertial pos="{_text(body.com)}" mass="{body.mass}" diaginertia="{_text(body.inertia[:3])}"/>'
    for point in mechanism.points:
        if point.body == body.name and point.name.endswith("_foot"):
            place = f'name="{point.name}" pos="{_text(point.origin)}" size="{FOOT}"'
            yield f'<geom type="sphere" {place} friction="{FRICTION["coefficient"]} 0 0" condim="3"/>'


def _text(values: Any) -> str:
    return " ".join(str(float(value)) for value in values)
