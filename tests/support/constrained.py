"""Mechanisms with constraints that several tests need."""

import numpy as np
from scipy.special import ellipj, ellipk

from robodyn.description.model import GROUND, Block, Body, Joint, LoopJoint, Machine, Mechanism, Point, Rod, Scenario

GRAVITY = 9.81
ACROSS = (0.0, 1.0, 0.0)


def cartesian_pendulum(constraint_method, solver, duration: float = 2.0, **fields) -> Scenario:
    """A point mass on two slides and a rod of 1 m, let go level with the pivot."""
    bodies = (Body("slider", 0.0), Body("bob", 1.0))
    joints = (
        Joint("x", "prismatic", GROUND, "slider", axis=(1, 0, 0)),
        Joint("z", "prismatic", "slider", "bob", axis=(0, 0, 1)),
    )
    points = (Point("pivot", GROUND), Point("tip", "bob"))
    mechanism = Mechanism("pendulum", bodies, joints, points, (0.0, 0.0, -GRAVITY))
    machine = Machine("pendulum", mechanism, constraints=(Rod("rod", "pivot", "tip", 1.0),))
    fields = {"initial": {"x.position": -1.0}} | fields
    return Scenario("pendulum", machine, duration, solver=solver, constraint_method=constraint_method, **fields)


def pendulum_at(time: float) -> dict[str, float]:
    """What that pendulum does, by elliptic functions: sin(angle / 2) = k sn(K - w t), angle from hanging."""
    rate, k2 = np.sqrt(GRAVITY), 0.5
    sn, cn, dn, _ = ellipj(ellipk(k2) - rate * time, k2)
    angle = 2 * np.arcsin(np.sqrt(k2) * sn)
    speed = -2 * np.sqrt(k2) * rate * cn
    return {
        "x.position": -np.sin(angle),
        "z.position": -np.cos(angle),
        "x.velocity": -np.cos(angle) * speed,
        "z.velocity": np.sin(angle) * speed,
        "rod.tension": GRAVITY * np.cos(angle) + speed**2,
    }


def _bar(name: str, mass: float, length: float) -> Body:
    inertia = mass * length**2 / 12
    return Body(name, mass, (length / 2, 0.0, 0.0), (0.0, inertia, inertia))


def four_bar(constraint_method, solver, duration: float = 1.0, blocks: tuple[Block, ...] = (), **fields) -> Scenario:
    """A crank that turns through (0.3 m), a coupler (1 m) and a rocker (0.8 m) on a ground of 1 m."""
    joints = (
        Joint("crank", "revolute", GROUND, "first", axis=ACROSS),
        Joint("knee", "revolute", "first", "coupler", (0.3, 0.0, 0.0), axis=ACROSS),
        Joint("rocker", "revolute", GROUND, "last", (1.0, 0.0, 0.0), axis=ACROSS),
    )
    bars = (_bar("first", 1.0, 0.3), _bar("coupler", 2.0, 1.0), _bar("last", 1.5, 0.8))
    points = (Point("end", "coupler", (1.0, 0.0, 0.0)), Point("top", "last", (0.8, 0.0, 0.0)))
    pin = LoopJoint("pin", "end", "top", "revolute", axis=ACROSS)
    constraints = (pin, *fields.pop("constraints", ()))
    machine = Machine("four-bar", Mechanism("four-bar", bars, joints, points), blocks, constraints=constraints)
    start = {"crank.position": -1.0, "knee.position": 0.5, "rocker.position": -1.5, "crank.velocity": 6.0}
    fields = {"initial": start, "initialisation": "assembled"} | fields
    return Scenario("four-bar", machine, duration, solver=solver, constraint_method=constraint_method, **fields)


def _command(angle, speed, *, stiffness, damping):
    return {"torque": stiffness * (0.5 - angle) - damping * speed}


def _motor(command, drive, *, lag):
    return {"drive_dot": (command - drive) / lag, "torque": drive}


def sampled_drive(period: float = 0.05) -> tuple[Block, ...]:
    """A digital controller of the crank, and a motor whose torque follows late."""
    inputs = {"angle": "crank.position", "speed": "crank.velocity"}
    control = Block("control", _command, inputs=inputs, parameters={"stiffness": 20.0, "damping": 3.0}, period=period)
    command = {"command": "control.torque"}
    motor = Block("motor", _motor, on="crank", inputs=command, states={"drive": 0.0}, parameters={"lag": 0.02})
    return control, motor
