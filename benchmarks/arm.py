"""The six-axis arm of the catalogue, the same in robodyn, Pinocchio and MuJoCo."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import replace
from functools import cache
from typing import Any

import casadi as ca
import numpy as np

from benchmarks.findings import largest_difference, require_agreement
from robodyn.computation.assembly import System, assemble
from robodyn.computation.dynamics import Link, Tree, forward_dynamics, inverse_dynamics
from robodyn.computation.native import Kernel, compile_kernels
from robodyn.description.catalog import swinging_arm

N_JOINTS = 6
# Two programs sum some hundred products in different orders, and the solution with M magnifies the rounding.
AGREEMENT = 1e-9
# What MuJoCo would compute beyond free motion; all of it is switched off, so that it does no needless work.
MUJOCO_OFF = (
    "CONSTRAINT",
    "CONTACT",
    "LIMIT",
    "SPRING",
    "DAMPER",
    "EULERDAMP",
    "ACTUATION",
    "SENSOR",
    "WARMSTART",
)


@cache
def arm_system() -> System:
    """The swinging arm with every number folded into the code, as the rivals have theirs fixed."""
    scenario = swinging_arm()
    return assemble(replace(scenario, machine=replace(scenario.machine, tunable=())))


def arm_tree() -> Tree:
    """Links, joints and inertias as numbers."""
    mechanics = arm_system().motion.mechanics
    assert mechanics is not None
    return mechanics.tree


@cache
def arm_kernel() -> Kernel:
    """Native (q, v, tau) -> a."""
    q, v, tau = (ca.SX.sym(name, N_JOINTS) for name in ("q", "v", "tau"))
    a = ca.densify(ca.SX(forward_dynamics(arm_tree(), q, v, tau)))
    function = ca.Function("forward_dynamics", [q, v, tau], [a], ["q", "v", "tau"], ["a"])
    return compile_kernels({"forward_dynamics": function}).kernels["forward_dynamics"]


def check_kernel(count: int) -> str:
    """The accelerations of random states need the torques that made them, by the recursion of Newton and Euler."""
    kernel, tree = arm_kernel(), arm_tree()
    pairs = [(np.array(inverse_dynamics(tree, q, v, kernel(q, v, tau))), tau) for q, v, tau in random_states(count)]
    what = f"torques at {count} random states and those of the inverse dynamics"
    return require_agreement(what, largest_difference(pairs), AGREEMENT)


def step_by_hand(x: np.ndarray, steps: int, step: float, semi_implicit: bool) -> np.ndarray:
    """The free arm after some Euler steps, in Python with the accelerations of single calls, (12,)."""
    kernel, torque = arm_kernel(), np.zeros(N_JOINTS)
    q, v = x[:N_JOINTS].copy(), x[N_JOINTS:].copy()
    for _ in range(steps):
        new = v + step * kernel(q, v, torque)
        q = q + step * (new if semi_implicit else v)
        v = new
    return np.concatenate([q, v])


def pinocchio_arm(tree: Tree | None = None) -> tuple[Any, Any]:
    """Pinocchio's model and data of the arm, or of another one whose joints turn about their z axes."""
    import pinocchio as pin

    tree = tree or arm_tree()
    model = pin.Model()
    model.gravity.linear = tree.gravity
    for link in tree.links:
        # Joint 0 is Pinocchio's universe, so link k has the joint k + 1.
        frame = pin.SE3(link.frame.R, link.frame.p)
        joint = model.addJoint(link.parent + 1, _pinocchio_joint(pin, link), frame, link.joint)
        inertia = pin.Inertia(link.inertia.mass, link.inertia.com, link.inertia.tensor)
        model.appendBodyToJoint(joint, inertia, pin.SE3.Identity())
    model.armature = np.array([link.armature for link in tree.links])
    return model, model.createData()


def _pinocchio_joint(pin: Any, link: Link) -> Any:
    """Its joint about z, which is faster than the one about a general axis."""
    if link.kind != "revolute" or tuple(link.axis) != (0.0, 0.0, 1.0):
        raise ValueError(f"joint {link.joint}: expected to be revolute about z")
    return pin.JointModelRZ()


def mujoco_arm(step: float) -> Any:
    """MuJoCo's model with Euler integration of the given step [s]."""
    import mujoco

    model = mujoco.MjModel.from_xml_string(mjcf(step))
    for name in MUJOCO_OFF:
        model.opt.disableflags |= getattr(mujoco.mjtDisableBit, f"mjDSBL_{name}")
    return model


def mjcf(step: float) -> str:
    """The arm in MuJoCo's format; numbers in full, so that both sides have the same model."""
    tree = arm_tree()
    root = ET.Element("mujoco", model="six-axis")
    ET.SubElement(root, "compiler", angle="radian", autolimits="false")
    ET.SubElement(root, "option", timestep=repr(step), integrator="Euler", gravity=_text(tree.gravity))
    bodies = {-1: ET.SubElement(root, "worldbody")}
    for k, link in enumerate(tree.links):
        bodies[k] = _add_body(bodies[link.parent], link)
    return ET.tostring(root, encoding="unicode")


def _add_body(parent: ET.Element, link: Link) -> ET.Element:
    T = link.inertia.tensor
    body = ET.SubElement(parent, "body", name=link.name, pos=_text(link.frame.p), xyaxes=_text(link.frame.R[:, :2].T))
    ET.SubElement(
        body,
        "joint",
        name=link.joint,
        type="hinge",
        axis=_text(link.axis),
        armature=repr(float(link.armature)),
    )
    entries = (T[0, 0], T[1, 1], T[2, 2], T[0, 1], T[0, 2], T[1, 2])
    ET.SubElement(
        body,
        "inertial",
        pos=_text(link.inertia.com),
        mass=repr(float(link.inertia.mass)),
        fullinertia=_text(entries),
    )
    return body


def _text(values: Any) -> str:
    return " ".join(repr(float(value)) for value in np.ravel(values))


def random_states(count: int) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """States q [rad], v [rad/s] and torques tau [N m] at which the contenders are compared and timed."""
    generator = np.random.default_rng(7)
    sizes = (np.pi, 3.0, 100.0)
    return [tuple(generator.uniform(-size, size, N_JOINTS) for size in sizes) for _ in range(count)]  # type: ignore[misc]
