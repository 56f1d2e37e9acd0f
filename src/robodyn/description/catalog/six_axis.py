"""Six-axis industrial arm of the size of a Staubli RX90, swinging freely or excited.

Geometry: two arms of 0.45 m. Inertias: the published measurement-based set of the smaller TX40 scaled to this size
(length x 2, mass x 3.2), this project's choice; the real arm's values are not public.
"""

from __future__ import annotations

import math

import numpy as np

from robodyn.description.files import DHRow, mechanism_from_dh
from robodyn.description.model import Block, Body, LinearCombination, Machine, Mechanism, Point, Scenario, Solver

ARM = 0.450
FLANGE = 0.085
LENGTH_SCALE, MASS_SCALE = 2.0, 3.2

# TX40 per link, in its modified DH frame: mass [kg], first moment [kg m], inertia about the frame's origin [kg m^2]
# (xx, yy, zz, xy, xz, yz).
TX40 = (
    (8.61, (0.0, 0.0, -0.4305), (0.424, 0.424, 0.352, 0.0, 0.0, 0.0)),
    (4.85, (0.392, -0.0072, 0.162), (0.0163, 0.0881, 0.0828, 7.85e-4, -0.0157, 3.24e-4)),
    (4.07, (0.0326, 0.0244, 0.265), (0.0223, 0.0224, 4.41e-3, -1.95e-4, -1.16e-3, -2.22e-3)),
    (3.62, (0.0145, -0.00724, -0.586), (0.109, 0.108, 4.07e-3, 2.9e-5, 1.35e-3, -1.17e-3)),
    (1.02, (0.0, -3.06e-3, -1.02e-3), (1.01e-3, 1.00e-3, 1.01e-3, 0.0, 0.0, -3.06e-6)),
    (0.20, (0.0, 0.0, 8.4e-3), (3.53e-3, 3.53e-3, 3.53e-4, 0.0, 0.0, 0.0)),
)
ROTOR_INERTIA = (2.95, 3.93, 0.67, 0.27, 0.29, 0.091)
ALPHA = (0.0, math.pi / 2, 0.0, -math.pi / 2, math.pi / 2, -math.pi / 2)


def six_axis_mechanism(rotors: bool = True) -> Mechanism:
    """The arm with modified Denavit-Hartenberg frames (Khalil's convention).

    Args:
        rotors: whether the joints carry the geared rotors' inertia.
    """
    lengths = ((0.0, 0.0), (0.0, 0.0), (ARM, 0.0), (0.0, ARM), (0.0, 0.0), (0.0, 0.0))
    rows = [
        DHRow(f"joint{k + 1}", a=a, alpha=ALPHA[k], d=d, armature=ROTOR_INERTIA[k] if rotors else 0.0)
        for k, (a, d) in enumerate(lengths)
    ]
    bodies = [_scaled_link(k) for k in range(6)]
    tool = Point("tool", "link6", (0.0, 0.0, FLANGE))
    return mechanism_from_dh("six-axis", rows, bodies, "modified", points=(tool,))


def _scaled_link(k: int) -> Body:
    mass, moment, inertia = TX40[k]
    com = tuple(LENGTH_SCALE * component / mass for component in moment)
    scaled = tuple(MASS_SCALE * LENGTH_SCALE**2 * entry for entry in inertia)
    return Body.about_origin(f"link{k + 1}", MASS_SCALE * mass, com, scaled)


def swinging_arm(duration: float = 10.0) -> Scenario:
    """A six-axis arm swings freely from a raised position without drives or friction: its energy is conserved."""
    raised = {f"joint{k + 1}.position": angle for k, angle in enumerate((0.3, 0.8, 0.4, 0.2, 0.5, 0.1))}
    return Scenario(
        "swinging-arm",
        Machine("six-axis", six_axis_mechanism(), tunable=("link6.mass",)),
        duration,
        raised,
        solver=Solver("dopri5", rtol=1e-9, atol=1e-11),
        title="Six-axis arm swinging freely, energy kept",
    )


# --------------------------------------------------------------------------------------------------
# Six-axis arm excited for identification: Fourier series on all motors, Stribeck friction, a coupled wrist.
#
# The same arm; loops, friction and excitation are values of our own. Motor 6 rotates with joint 5 too, as in
# wrists whose gears are driven through each other.


MOTORS = ("joint1", "joint2", "joint3", "joint4", "motor5", "motor6")
BASE_FREQUENCY, HARMONICS = 0.1, 5
AMPLITUDES = (0.7, 0.5, 0.6, 0.8, 0.8, 1.0)
OFFSETS = (0.0, 1.2, -1.0, 0.3, 0.4, 0.0)
COULOMB = (25.0, 30.0, 12.0, 6.0, 5.0, 3.0)
VISCOUS = (40.0, 55.0, 20.0, 8.0, 7.0, 4.0)
STIFFNESS = (6e4, 8e4, 2e4, 4e3, 3e3, 1.2e3)
DAMPING = (2.4e3, 3e3, 700.0, 140.0, 100.0, 40.0)


def excited_arm(duration: float = 20.0, seed: int = 3) -> Scenario:
    """All axes of a six-axis arm follow Fourier series, for the identification of inertias and friction."""
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
