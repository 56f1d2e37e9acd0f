"""Mechanisms with constraints that several tests need."""

from math import pi

import casadi as ca
import numpy as np

from robodyn import Solver
from robodyn.description.model import GROUND, Body, Joint, LoopJoint, Machine, Mechanism, Point, Scenario

FORTH = (0.0, -1.0, 0.0)
PRECISE = Solver("dopri5", rtol=1e-10, atol=1e-12)
SIXFOLD = (("prismatic", (1, 0, 0)), ("prismatic", (0, 1, 0)), ("prismatic", (0, 0, 1)))
SIXFOLD += (("revolute", (0, 1, 0)), ("revolute", (1, 0, 0)), ("revolute", (0, 0, 1)))
FREE = ("x", "y", "z", "pitch", "roll", "yaw")


def chain(body: Body, steps, names, parent=GROUND, origin=(0.0, 0.0, 0.0)):
    """Joints one behind the other, with massless bodies between, from the parent to the body."""
    between = [Body(f"{name}_frame") for name in names[:-1]]
    owners = [parent, *(part.name for part in between), body.name]
    origins = [origin, *[(0.0, 0.0, 0.0)] * (len(names) - 1)]
    joints = [
        Joint(name, kind, owners[k], owners[k + 1], origins[k], axis=axis)
        for k, (name, (kind, axis)) in enumerate(zip(names, steps, strict=True))
    ]
    return [*between, body], joints


def crank_rocker(kind="spherical", initial=None, lengths=(0.3, 0.9, 0.7), ground=0.8, **fields) -> Scenario:
    """A planar four-bar in x and z: crank, coupler on it, rocker on the ground; closed at the rocker's end."""
    bodies = [
        Body(name, mass, (length / 2, 0, 0), (0, mass * length**2 / 12, mass * length**2 / 12))
        for name, mass, length in zip(("crank", "coupler", "rocker"), (1.0, 2.0, 1.5), lengths, strict=True)
    ]
    joints = (
        Joint("crank_joint", "revolute", GROUND, "crank", axis=FORTH),
        Joint("coupler_joint", "revolute", "crank", "coupler", (lengths[0], 0, 0), axis=FORTH),
        Joint("rocker_joint", "revolute", GROUND, "rocker", (ground, 0, 0), axis=FORTH),
    )
    points = (Point("coupler_end", "coupler", (lengths[1], 0, 0)), Point("rocker_end", "rocker", (lengths[2], 0, 0)))
    axis = {"axis": FORTH} if kind == "revolute" else {}
    machine = Machine(
        "four-bar",
        Mechanism("four-bar", bodies, joints, points),
        constraints=(LoopJoint("loop", "coupler_end", "rocker_end", kind, **axis),),
        **{key: fields.pop(key) for key in ("blocks", "loads", "coordinates") if key in fields},
    )
    guess = {"crank_joint.position": 1.0, "coupler_joint.position": -0.5, "rocker_joint.position": pi / 2}
    given = {"duration": 1.0, "solver": PRECISE, "initialisation": "assembled"} | fields
    return Scenario("four-bar", machine, initial=guess | (initial or {}), **given)


def evaluate(system, expression, x, time=0.4):
    """An expression of a system at a state, with memory and parameters as described."""
    own = system.symbols
    columns = [own.t, own.x, own.m, own.p]
    memory, parameters = [info.start for info in system.memory], [number.value for number in system.parameters]
    return np.array(ca.Function("f", columns, [expression])(time, x, memory, parameters)).ravel()
