"""Six-axis arm excited for identification: Fourier series on all motors, Stribeck friction, a coupled wrist.

The arm of `six_axis`; loops, friction and excitation are values of our own. Motor 6 rotates with joint 5 too, as in
wrists whose gears are driven through each other.
"""

from __future__ import annotations

import numpy as np

from robodyn.description.catalog.six_axis import ROTOR_INERTIA, six_axis_mechanism
from robodyn.description.model import Block, LinearCombination, Machine, Scenario, Solver

MOTORS = ("joint1", "joint2", "joint3", "joint4", "motor5", "motor6")
BASE_FREQUENCY, HARMONICS = 0.1, 5
AMPLITUDES = (0.7, 0.5, 0.6, 0.8, 0.8, 1.0)
OFFSETS = (0.0, 1.2, -1.0, 0.3, 0.4, 0.0)
COULOMB = (25.0, 30.0, 12.0, 6.0, 5.0, 3.0)
VISCOUS = (40.0, 55.0, 20.0, 8.0, 7.0, 4.0)
STIFFNESS = (6e4, 8e4, 2e4, 4e3, 3e3, 1.2e3)
DAMPING = (2.4e3, 3e3, 700.0, 140.0, 100.0, 40.0)


def excited_arm(duration: float = 20.0, seed: int = 3) -> Scenario:
    """All axes follow Fourier series, two periods of 10 s: inertias and friction can be identified from it."""
    mechanism = six_axis_mechanism()
    joints = tuple(joint if k < 4 else joint.replaced(armature=0.0) for k, joint in enumerate(mechanism.ordered_joints))
    wrist = (
        LinearCombination("motor5", {"joint5": 1.0}, ROTOR_INERTIA[4]),
        LinearCombination("motor6", {"joint5": 1.0, "joint6": 1.0}, ROTOR_INERTIA[5]),
    )
    blocks = tuple(block for k in range(6) for block in _axis(k, *excitation(k, seed)))
    machine = Machine("excited-arm", mechanism.replaced(joints=joints), blocks, wrist)
    return Scenario(
        "excited-arm",
        machine,
        duration,
        _start(seed),
        solver=Solver("dopri5", rtol=1e-8, atol=1e-10),
        title="Six-axis arm excited by Fourier series on all motors",
    )


def excitation(k: int, seed: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Sines and cosines of an axis whose series begins at rest: speed and acceleration are 0 at the start."""
    rng = np.random.default_rng([seed, k])
    number = np.arange(1, HARMONICS + 1)
    sines, cosines = rng.normal(0, 1, HARMONICS) / number, rng.normal(0, 1, HARMONICS) / number
    sines -= number * (number @ sines) / (number @ number)
    cosines -= number**2 * (number**2 @ cosines) / (number**2 @ number**2)
    size = AMPLITUDES[k] / np.sqrt(np.sum(sines**2 + cosines**2))
    return tuple((size * sines).tolist()), tuple((size * cosines).tolist())


def _start(seed: int) -> dict[str, float]:
    motors = [OFFSETS[k] + sum(excitation(k, seed)[1]) for k in range(6)]
    joints = [*motors[:5], motors[5] - motors[4]]
    return {f"joint{k + 1}.position": float(position) for k, position in enumerate(joints)}


def _axis(k: int, sines: tuple[float, ...], cosines: tuple[float, ...]) -> tuple[Block, ...]:
    motor = MOTORS[k]
    series = {"sines": sines, "cosines": cosines, "frequency": BASE_FREQUENCY, "offset": OFFSETS[k]}
    friction = {"coulomb": COULOMB[k], "static": 1.4 * COULOMB[k], "viscous": VISCOUS[k]}
    return (
        Block(f"{motor}.reference", "multisine_reference", parameters=series),
        Block(
            f"{motor}.control", "pd_control", motor, {"target": f"{motor}.reference.value"},
            {"proportional": STIFFNESS[k], "derivative": DAMPING[k]},
        ),
        Block(f"{motor}.drive", "torque_source", motor, {"command": f"{motor}.control.command"}),
        Block(
            f"{motor}.friction", "stribeck_friction", motor,
            parameters=friction | {"stribeck_velocity": 0.1, "smoothing_velocity": 0.01},
        ),
    )  # fmt: skip
