"""RX90B with a laser welding head: a straight weld under friction and digital control, and standing still.

The study's robot and task; which numbers are published and which are this project's choice say `rx90_parameters` and
docs/rx90.md.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from functools import cache

import numpy as np

from robodyn.description.catalog.six_axis import ARM, FLANGE
from robodyn.description.model import (
    Block,
    ElasticGear,
    Machine,
    Obstacle,
    Recording,
    Scenario,
    Solver,
    with_elastic_joints,
)
from robodyn.description.paths import CartesianPath, deviation_blocks, path_block, plan_path, point_tool, straight_line
from robodyn_studies.catalog import rx90_parameters as rx
from robodyn_studies.catalog.rx90_arm import (
    balance_spring,
    coupling_matrix,
    holding_torques,
    rx90_coordinates,
    rx90_mechanism,
)
from robodyn_studies.catalog.rx90_drives import axis_blocks, friction_blocks
from robodyn_studies.catalog.rx90_links import resting_modes, rx90_flexible_mechanism

SOLVER = Solver("rosw2", step=0.25e-3)
RECORDING = Recording(rate=1000.0)
TUNABLE = ("payload.mass", "motor*.inertia")
WELD_START = (rx.WELD_X, -rx.WELD_LENGTH / 2, -rx.WELD_DEPTH - FLANGE - rx.HEAD_TIP)


PLATE = 0.02
"""Thickness of the workpiece in pictures [m]."""


def rx90_machine(
    reference: Block,
    payload: float = 0.0,
    elastic: bool = False,
    flexible: bool = False,
    deviations: tuple[Block, ...] = (),
) -> Machine:
    """The robot with drives, friction and controller, following a reference.

    Args:
        reference: continuous block with outputs position1 to 6, velocity1 to 6, acceleration1 to 6 and the way s.
        payload: [kg] at the tool's tip that the controller does not know of.
        elastic: whether the gears twist; motors, friction and encoders are then on the side of drive1 to drive6.
        flexible: whether upper arm and forearm bend.
        deviations: blocks that measure how far the tool is from its path.
    """
    controlled = tuple(block for k in rx.AXES for block in axis_blocks(k))
    following = (reference, *deviations, _set_points(reference.name))
    blocks = (*following, balance_spring(), *friction_blocks(), *controlled)
    mechanism = rx90_flexible_mechanism(payload) if flexible else rx90_mechanism(payload)
    rigid = Machine("rx90", mechanism, blocks, rx90_coordinates(), tunable=TUNABLE)
    return with_elastic_joints(rigid, elastic_gears()) if elastic else rigid


def elastic_gears() -> dict[str, ElasticGear]:
    """Stiffness and damping of the six gears, by joint."""
    return {f"joint{k}": ElasticGear(f"drive{k}", a.stiffness, a.damping) for k, a in enumerate(rx.DRIVES, start=1)}


def _set_points(reference: str) -> Block:
    """The reference as the controller gets it."""
    quantities = {"positions": "position", "velocities": "velocity", "accelerations": "acceleration"}
    inputs = {key: tuple(f"{reference}.{quantity}{k}" for k in rx.AXES) for key, quantity in quantities.items()}
    return Block("setpoints", "sampled_set_points", inputs=inputs, period=rx.SLOW)


def weld_angles(way: float = 0.0) -> dict[str, float]:
    """Joint angles on the weld, tool straight down, elbow up [rad]: closed form for this arm.

    Args:
        way: from the start of the line [m].
    """
    x, y, z = WELD_START[0], WELD_START[1] + way, -rx.WELD_DEPTH
    distance = math.sqrt(x * x + y * y + z * z)
    half, elevation = math.acos(distance / (2 * ARM)), math.atan2(z, math.hypot(x, y))
    upper, forearm = elevation + half, elevation - half
    turn = math.atan2(y, x)
    angles = (turn, upper, forearm - upper - math.pi / 2, 0.0, -math.pi / 2 - forearm, turn)
    return dict(zip(rx.JOINTS, angles, strict=True))


def resting_start(angles: Mapping[str, float], elastic: bool = False, flexible: bool = False) -> dict[str, float]:
    """Start values at rest without payload: joints, currents that hold the arm, and what the loops remember of them.

    Elastic gears twist under what they hold: the drives stand at the angles, the joints sag by `tau / k`.
    Flexible links bend under the arm's weight; torques are those of the arm as it were without it.
    """
    torques = holding_torques(rx90_mechanism(), angles)
    T = coupling_matrix()
    positions, held = T @ np.array([angles[joint] for joint in rx.JOINTS]), np.linalg.solve(T.T, torques)
    start: dict[str, float] = resting_modes(rx90_flexible_mechanism(), angles) if flexible else {}
    for k, axis in enumerate(rx.DRIVES, start=1):
        angle, current = angles[f"joint{k}"], held[k - 1] / axis.torque_constant
        start |= {f"drive{k}.position": angle} if elastic else {}
        start |= {
            f"joint{k}.position": angle - (torques[k - 1] / axis.stiffness if elastic else 0.0),
            f"axis{k}.encoder.previous": positions[k - 1],
            f"axis{k}.position_loop.held": current,
            f"axis{k}.position_loop.command": current,
            f"axis{k}.drive.current": current,
            f"axis{k}.current_loop.held": rx.RESISTANCE * current,
            f"axis{k}.current_loop.voltage": rx.RESISTANCE * current,
        }
    return start


def weld_line() -> CartesianPath:
    """The seam, with the tool straight down."""
    end = (WELD_START[0], WELD_START[1] + rx.WELD_LENGTH, WELD_START[2])
    return straight_line(WELD_START, end, point_tool((0, 0, -1), spin=math.pi))


@cache
def weld_reference(speed: float, acceleration: float) -> Block:
    """The joints' motion along the weld, at rest until WELD_REST."""
    near = tuple(weld_angles().values())
    plan = plan_path(rx90_mechanism(), "tool", weld_line(), near=near, speed=speed, acceleration=acceleration)
    return path_block("path", plan, speed=speed, acceleration=acceleration, begin=rx.WELD_REST)


def followed_references(elastic: bool = False) -> dict[str, str]:
    """The reference of each joint, and of the drive behind its elastic gear."""
    hinges = ("joint", "drive") if elastic else ("joint",)
    return {f"{hinge}{k}": f"path.position{k}" for hinge in hinges for k in rx.AXES}


def rx90_weld(
    speed: float = rx.WELD_SPEED,
    ramp: float = rx.WELD_RAMP,
    payload: float = 0.0,
    elastic: bool = False,
    flexible: bool = False,
) -> Scenario:
    """A Staubli RX90 welds 1.2 m straight along y from rest to rest; joints 2 and 3 turn back halfway.

    Args:
        speed: of the tip [m/s]; ramp: time to reach it [s]; payload, elastic, flexible: as of `rx90_machine`.
    """
    parts = {"elastic": "gears elastic"} if elastic else {}
    parts |= {"flexible": "links flexible"} if flexible else {}
    reference = weld_reference(speed, speed / ramp)
    deviations = deviation_blocks(rx90_mechanism(), reference.name, "tool", weld_line())
    return Scenario(
        "-".join(["rx90-weld", *parts]),
        rx90_machine(reference, payload, elastic, flexible, deviations),
        2 * rx.WELD_REST + rx.WELD_LENGTH / speed + ramp,
        resting_start(weld_angles(), elastic, flexible),
        recording=RECORDING,
        solver=SOLVER,
        title=", its ".join(["RX90B welding a straight line of 1.2 m", *parts.values()]),
        obstacles=(workpiece(),),
        nominal=followed_references(elastic),
    )


def workpiece() -> Obstacle:
    """The plate below the seam, for pictures."""
    x, y, z = WELD_START
    center = (x, y + rx.WELD_LENGTH / 2, z - PLATE / 2)
    return Obstacle("workpiece", center, (0.2, rx.WELD_LENGTH + 0.1, PLATE))


def stiff_bristles() -> dict[str, float]:
    """Numbers of bristles that give way by tenths of a microradian, as damped as the others: `c1 ~ sqrt(c0)`."""
    stiffer = {f"{place}.friction.stiffness": rx.STIFF * found.stiffness for place, found in rx.FRICTIONS.items()}
    damped = {f"{place}.friction.damping": rx.STIFF**0.5 * found.damping for place, found in rx.FRICTIONS.items()}
    return stiffer | damped


def rx90_weld_stiction() -> Scenario:
    """The weld of the RX90 with friction bristles as stiff as the study's, and a step that suits them."""
    return dataclasses.replace(
        rx90_weld().with_numbers(stiff_bristles()),
        name="rx90-weld-stiction",
        solver=Solver("rosw2", step=rx.FAST / 4),
        title="RX90B welding a straight line of 1.2 m, its friction stiff to tenths of a microradian",
    )


def rx90_hold(duration: float = 10.0, payload: float = 1.0) -> Scenario:
    """The RX90 stands in the middle of the weld and gets a payload: friction takes it up, nothing slides.

    Args:
        payload: [kg], not known to the controller when it takes hold at the start.
    """
    angles = weld_angles(rx.WELD_LENGTH / 2)
    reference = Block("path", "standing_reference", parameters={"positions": tuple(angles.values())})
    return Scenario(
        "rx90-hold",
        rx90_machine(reference, payload),
        duration,
        resting_start(angles),
        recording=RECORDING,
        # What little moves while friction takes the payload up moves fast.
        solver=Solver("rosw2", step=0.125e-3),
        title="RX90B standing still under friction and control",
        nominal=followed_references(),
    )
