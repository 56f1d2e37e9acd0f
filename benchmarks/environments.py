"""How many steps a second does an environment of reinforcement learning make, beside the same one of MuJoCo?

A cart-pole (two Runge-Kutta steps of 10 ms a step of the environment) and the six-axis arm with a velocity servo at
each joint (ten of 1 ms). Both sides are Gymnasium environments with the same actions, observations, rewards and
integrator, and must end in the same state; vectors have 64 robots in one thread, ours also 4,096 in two.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import numpy as np
from gymnasium import Env
from gymnasium.spaces import Box
from gymnasium.vector import SyncVectorEnv

import robodyn as rd
from benchmarks.arm import N_JOINTS, mjcf
from benchmarks.findings import Findings, Row, find_rival, largest_difference, require_agreement
from benchmarks.timing import time_interleaved
from robodyn.description.catalog.six_axis import six_axis_mechanism
from robodyn.exchange.gym import ScenarioEnv, ScenarioVectorEnv, Task

AGREEMENT = 1e-8
GAINS = (4000.0, 5000.0, 1000.0, 300.0, 300.0, 100.0)
CART_POLE = """<mujoco><compiler angle="radian" autolimits="false"/>
<option timestep="0.01" integrator="RK4" gravity="0 0 -9.81"><flag contact="disable" constraint="disable"/></option>
<worldbody><body><joint name="cart" type="slide" axis="1 0 0"/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>
<body><joint name="pole" type="hinge" axis="0 1 0"/>
<inertial pos="0 0 0.5" mass="0.1" diaginertia="0.01 0.01 0.01"/></body></body></worldbody>
<actuator><motor joint="cart" gear="1"/></actuator></mujoco>"""


@dataclass(frozen=True)
class Size:
    machines: tuple[str, ...] = ("cart-pole", "six-axis arm with drives")
    steps: int = 200
    robots: int = 64
    crowd: int = 4096
    rounds: int = 7


SIZES = {"smallest": Size(("cart-pole",), 20, 3, 8, 1), "usual": Size()}


class MujocoEnv(Env[Any, Any]):
    """A model with actuators, as Gymnasium's own environments of MuJoCo have them."""

    def __init__(self, xml: str, substeps: int, steps: int, limit: float, start: np.ndarray) -> None:
        import mujoco

        self.mujoco, self.model = mujoco, mujoco.MjModel.from_xml_string(xml)
        self.data, self.substeps, self.steps, self.start = mujoco.MjData(self.model), substeps, steps, start
        self.action_space = Box(-limit, limit, (self.model.nu,), np.float32)
        self.observation_space = Box(-np.inf, np.inf, (self.model.nq + self.model.nv,), np.float64)

    def _observe(self) -> np.ndarray:
        return np.concatenate([self.data.qpos, self.data.qvel])

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.mujoco.mj_resetData(self.model, self.data)
        self.data.qpos[:], self.count = self.start, 0
        return self._observe(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.data.ctrl[:] = action
        self.mujoco.mj_step(self.model, self.data, nstep=self.substeps)
        self.count += 1
        return self._observe(), float(1 - self.data.qpos[-1] ** 2), False, self.count >= self.steps, {}


def cart_pole() -> Task:
    """The cart-pole of the examples, without an end of its own."""
    bodies = (rd.Body("cart", mass=1.0), rd.Body("pole", 0.1, (0.0, 0.0, 0.5), (0.01, 0.01, 0.01)))
    joints = (
        rd.Joint("cart", "prismatic", rd.GROUND, "cart", axis=(1.0, 0.0, 0.0)),
        rd.Joint("pole", "revolute", "cart", "pole", axis=(0.0, 1.0, 0.0)),
    )
    blocks = (
        rd.Block("push", "constant_reference", parameters={"constant": 0.0}),
        rd.Block("drive", "torque_source", on="cart", inputs={"command": "push.value"}),
    )
    machine = rd.Machine("cart-pole", rd.Mechanism("cart-pole", bodies, joints), blocks)
    start = {"pole.position": 0.1}
    scenario = rd.Scenario("cart-pole", machine, 1e3, start, solver=rd.Solver("rk4", step=0.01, max_steps=10**7))
    seen = ("cart.position", "pole.position", "cart.velocity", "pole.velocity")
    return Task(scenario, {"push.constant": (-10.0, 10.0)}, seen, "1 - pole.position^2", 0.02)


def _servo(command: Any, velocity: Any, *, gain: float) -> dict[str, Any]:
    return {"torque": gain * (command - velocity)}


def arm() -> Task:
    """The six-axis arm; actions are velocities for its drives."""
    names = [f"joint{k + 1}" for k in range(N_JOINTS)]
    blocks = []
    for name, gain in zip(names, GAINS, strict=True):
        blocks.append(rd.Block(f"{name}.wanted", "constant_reference", parameters={"constant": 0.0}))
        inputs = {"command": f"{name}.wanted.value", "velocity": f"{name}.velocity"}
        drive = {"parameters": {"gain": gain}, "acts": {"torque": name}}
        blocks.append(rd.Block(f"{name}.drive", _servo, inputs=inputs, **drive))
    machine = rd.Machine("six-axis", six_axis_mechanism(), tuple(blocks))
    solver = rd.Solver("rk4", step=0.001, max_steps=10**7)
    scenario = rd.Scenario("arm", machine, 1e3, {f"{name}.position": 0.3 for name in names}, solver=solver)
    seen = [f"{name}.{quantity}" for quantity in ("position", "velocity") for name in names]
    actions = {f"{name}.wanted.constant": (-1.0, 1.0) for name in names}
    return Task(scenario, actions, seen, "1 - joint6.position^2", 0.01)


def mujoco_servo_arm() -> str:
    """The arm in MuJoCo's format with velocity servos."""
    root = ET.fromstring(mjcf(0.001))
    option = root.find("option")
    assert option is not None
    option.set("integrator", "RK4")
    ET.SubElement(option, "flag", contact="disable", constraint="disable")
    servos = ET.SubElement(root, "actuator")
    for k, gain in enumerate(GAINS):
        ET.SubElement(servos, "velocity", joint=f"joint{k + 1}", kv=repr(gain))
    return ET.tostring(root, encoding="unicode")


MACHINES: dict[str, Callable[[], tuple[Task, Callable[[], Env[Any, Any]]]]] = {
    "cart-pole": lambda: (cart_pole(), lambda: MujocoEnv(CART_POLE, 2, 10**9, 10.0, np.array([0.0, 0.1]))),
    "six-axis arm with drives": lambda: (
        arm(),
        lambda: MujocoEnv(mujoco_servo_arm(), 10, 10**9, 1.0, np.full(N_JOINTS, 0.3)),
    ),
}
"""The task, and how the rival's environment is made."""


def measure(size: Size) -> Findings:
    """Both machines, one robot and many."""
    mujoco = find_rival("mujoco")
    rows, agreements = [], []
    for label in size.machines:
        task, make_rival = MACHINES[label]()
        more_rows, more_agreements = compare(label, task, make_rival if mujoco else None, size)
        rows += more_rows
        agreements += more_agreements
    return Findings(tuple(rows), agreements=tuple(agreements), missing=() if mujoco else ("mujoco",))


def compare(
    label: str, task: Task, make_rival: Callable[[], Env[Any, Any]] | None, size: Size
) -> tuple[list[Row], list[str]]:
    """One robot and many of a machine, beside the rival's if there is one."""
    ours, many = ScenarioEnv(task), ScenarioVectorEnv(task, size.robots)
    crowd = ScenarioVectorEnv(task, size.crowd, threads=2)
    space = ours.action_space
    actions = np.random.default_rng(1).uniform(space.low, space.high, (size.steps, len(task.actions)))
    actions = 0.1 * actions.astype(np.float32)
    copies = np.repeat(actions[: size.steps // 10, None], size.robots, axis=1)
    few = play(ours, actions[: len(copies)])
    difference = largest_difference((end, few) for end in play(many, copies))
    agreements = [require_agreement(f"{label}: observations of {size.robots} robots and of one", difference, AGREEMENT)]
    crowded = np.repeat(copies[:, :1], size.crowd, axis=1)
    difference = largest_difference((end, few) for end in play(crowd, crowded))
    what = f"{label}: observations of {size.crowd} robots and of one"
    agreements.append(require_agreement(what, difference, AGREEMENT))
    contenders: dict[str, Callable[[], Any]] = {
        "ours": lambda: play(ours, actions),
        "many": lambda: play(many, copies),
        "crowd": lambda: play(crowd, crowded),
    }
    if make_rival:
        theirs, others = make_rival(), SyncVectorEnv([make_rival] * size.robots)
        difference = largest_difference([(play(ours, actions), play(theirs, actions))])
        what = f"{label}: observations after {size.steps} steps and MuJoCo's"
        agreements.append(require_agreement(what, difference, AGREEMENT))
        contenders |= {"mujoco": lambda: play(theirs, actions), "mujocos": lambda: play(others, copies)}
    timings = time_interleaved(contenders, size.rounds)
    rows = []
    for name, rival, count, robots in (
        ("ours", "mujoco", size.steps, ""),
        ("many", "mujocos", len(copies) * size.robots, f", {size.robots} robots"),
        ("crowd", "", len(copies) * size.crowd, f", {size.crowd} robots in two threads"),
    ):
        rows.append(
            timings.row(
                f"environment step, {label}{robots}",
                name,
                "us",
                1e6 / count,
                note=f"{count / timings.median(name):.0f} steps a second",
                rival=rival,
                rival_name=f"mujoco {version('mujoco')}" if make_rival and rival else "",
            )
        )
    return rows, agreements


def play(env: Any, actions: np.ndarray) -> np.ndarray:
    """The observation after the last action."""
    env.reset(seed=0)
    for action in actions:
        observation = env.step(action)[0]
    return np.asarray(observation)
