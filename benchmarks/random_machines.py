"""Machines that nobody chose: arms with random bodies, springs, friction, motors and loops, from mild to very stiff."""

from __future__ import annotations

import numpy as np

from robodyn.model import GROUND, Block, Body, Joint, Machine, Mechanism, Scenario

DURATION = 1.0


def random_machine(seed: int) -> Scenario:
    """An arm of one to five joints, each with one or two elements and perhaps a motor under control."""
    rng = np.random.default_rng(seed)
    bodies, joints, blocks = [], [], []
    for k in range(1 + seed % 5):
        bodies.append(_body(rng, k))
        joints.append(_joint(rng, k))
        names = rng.permutation(list(ELEMENTS))[: rng.integers(1, 3)]
        blocks += [ELEMENTS[name](rng, f"joint{k}") for name in names]
        if rng.random() < 0.5:
            blocks += _drive(rng, f"joint{k}")
    initial = {f"joint{k}.position": float(rng.normal(0, 0.5)) for k in range(len(joints))}
    mechanism = Mechanism(f"random{seed}", tuple(bodies), tuple(joints))
    machine = Machine(f"random{seed}", mechanism, tuple(blocks))
    return Scenario(f"random{seed}", machine, DURATION, initial)


def _decades(rng: np.random.Generator, low: float, high: float) -> float:
    """A number whose logarithm is equally likely anywhere between two powers of ten."""
    return float(10 ** rng.uniform(low, high))


def _body(rng: np.random.Generator, k: int) -> Body:
    mass, sides = _decades(rng, -0.5, 1.0), rng.uniform(0.05, 0.4, 3)
    inertia = mass / 12 * (np.sum(sides**2) - sides**2)
    return Body(f"body{k}", mass, tuple(rng.normal(0, 0.1, 3)), tuple(inertia))


def _joint(rng: np.random.Generator, k: int) -> Joint:
    kind = str(rng.choice(["revolute", "revolute", "prismatic"]))
    axis = tuple(np.eye(3)[rng.integers(3)])
    parent = GROUND if k == 0 else f"body{k - 1}"
    origin = tuple(rng.uniform(-0.3, 0.3, 3))
    return Joint(f"joint{k}", kind, parent, f"body{k}", origin=origin, axis=axis, armature=0.01)


def _spring(rng: np.random.Generator, joint: str) -> Block:
    values = {"stiffness": _decades(rng, 1, 5), "damping": _decades(rng, -1, 2)}
    return Block(f"{joint}.spring", "spring", on=joint, parameters=values)


def _damper(rng: np.random.Generator, joint: str) -> Block:
    return Block(f"{joint}.damper", "damper", on=joint, parameters={"damping": _decades(rng, -1, 4)})


def _coulomb(rng: np.random.Generator, joint: str) -> Block:
    values = {"coulomb": _decades(rng, -1, 1), "smoothing_velocity": _decades(rng, -4, -1), "viscous": 0.1}
    return Block(f"{joint}.friction", "coulomb_friction", on=joint, parameters=values)


def _lugre(rng: np.random.Generator, joint: str) -> Block:
    coulomb = _decades(rng, -1, 1)
    values = {"stiffness": _decades(rng, 3, 6), "damping": _decades(rng, 0, 2), "viscous": 0.2, "coulomb": coulomb}
    values |= {"static": 1.3 * coulomb, "stribeck_velocity": 0.02}
    return Block(f"{joint}.bristles", "lugre_friction", on=joint, parameters=values)


def _stop(rng: np.random.Generator, joint: str) -> Block:
    values = {"lower": -0.4, "upper": 0.4, "stiffness": _decades(rng, 3, 6), "damping": _decades(rng, 1, 2)}
    return Block(f"{joint}.stop", "end_stop", on=joint, parameters=values)


ELEMENTS = {"spring": _spring, "damper": _damper, "coulomb": _coulomb, "lugre": _lugre, "stop": _stop}


def _drive(rng: np.random.Generator, joint: str) -> list[Block]:
    """A motor, its winding fast or slow, under a PD law that is continuous or sampled."""
    target = Block(f"{joint}.target", "sine_reference", unit="rad", parameters={"amplitude": 0.3, "frequency": 1.0})
    gains = {"proportional": _decades(rng, 1, 2), "derivative": _decades(rng, -1, 1), "limit": 50.0}
    period = None if rng.random() < 0.5 else float(rng.choice([5e-4, 1e-3, 4e-3]))
    wanted = {"target": f"{joint}.target.value"}
    law = Block(f"{joint}.control", "pd_control", on=joint, inputs=wanted, parameters=gains, period=period)
    values = {"resistance": 1.0, "inductance": _decades(rng, -5, -2), "torque_constant": 0.1, "gear": 10.0}
    fed = {"voltage": f"{joint}.control.command"}
    return [target, law, Block(f"{joint}.motor", "dc_motor", on=joint, inputs=fed, parameters=values)]
