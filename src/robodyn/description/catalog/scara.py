"""SCARA arm of the ARGESIM comparison C11: three axes, servo motors with limits under PD control.

The comparison's own table of values is not public. The values are those of the SCARA robot in the Modelica library of
the textbook "Praxis der Simulationstechnik" (github.com/modelica-3rdparty/PraxisSimulationstechnik,
`Solutions.ScaraA`). That they are the comparison's is inferred: 2 L/R of its second axis is 1 ms, the step at which
the comparison finds Euler and Heun critical. Its voltage limits serve as the emergency ones; the regular ones, chosen
so that the motion lasts about 2.8 s and axes 1 and 2 arrive before axis 3, and the obstacle are this project's own.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from robodyn.base import frozen
from robodyn.base import symbolic as sym
from robodyn.description.model import (
    GROUND,
    Block,
    Body,
    Event,
    Joint,
    Machine,
    Mechanism,
    Obstacle,
    Point,
    Scenario,
    ScenarioSequence,
    Solver,
)

LENGTH_1, LENGTH_2 = 0.40, 0.30
MASS_1, MASS_2 = 8.0, 6.0
# The third motor's 2.5 kg stay on the second link, the load of 0.5 kg moves along z.
MASS_Z_UNIT, MASS_Z_MOVING = 3.0, 0.5
ROTOR_3 = 9.1e-6
ARRIVED_WITHIN = 1e-3
# The arm turns above what stands on the ground; heights of the tool count from there.
COLUMN = 0.5


@frozen
class Axis:
    """Servo axis: gear [or rad/m], torque constant [N m/A], R [ohm], L [H], limits [A, V, V], gains, target."""

    joint: str
    gear: float
    torque_constant: float
    resistance: float
    inductance: float
    current_limit: float
    voltage_limit: float
    emergency_voltage: float
    proportional: float
    derivative: float
    target: float


AXES = (
    Axis("shoulder", 130.0, 0.40, 3.9, 7.3e-3, 6.640, 60.0, 100.0, 1000.0, 10.0, 2.0),
    Axis("elbow", 100.0, 0.25, 50.0, 25e-3, 2.771, 60.0, 75.0, 1000.0, 25.0, 2.0),
    Axis("lift", 1047.0, 0.40, 40.0, 25e-3, 1.732, 48.0, 90.0, 5000.0, 10.0, 0.3),
)


def thin_rod(mass: float, length: float) -> tuple[float, float, float]:
    """Inertia of a thin rod along x about its centre [kg m^2]."""
    moment = mass * length**2 / 12
    return 0.0, moment, moment


def scara_mechanism() -> Mechanism:
    """Two rods rotating about vertical axes, a vertical slide at the end of the second."""
    bodies = (
        Body("link1", MASS_1, (LENGTH_1 / 2, 0.0, 0.0), thin_rod(MASS_1, LENGTH_1)),
        Body("link2", MASS_2, (LENGTH_2 / 2, 0.0, 0.0), thin_rod(MASS_2, LENGTH_2)),
        Body("z_housing", MASS_Z_UNIT - MASS_Z_MOVING),
        Body("quill", MASS_Z_MOVING),
    )
    end = (LENGTH_2, 0.0, 0.0)
    joints = (
        Joint("shoulder", "revolute", GROUND, "link1", (0.0, 0.0, COLUMN)),
        Joint("elbow", "revolute", "link1", "link2", (LENGTH_1, 0.0, 0.0)),
        Joint("z_mount", "fixed", "link2", "z_housing", end),
        Joint("lift", "prismatic", "link2", "quill", end, armature=ROTOR_3 * AXES[2].gear ** 2),
    )
    return Mechanism("scara", bodies, joints, (Point("tool", "quill", (0.0, 0.0, -COLUMN)),))


def target_block(axis: Axis) -> Block:
    """Where an axis is to go."""
    unit = "m" if axis.joint == "lift" else "rad"
    return Block(f"{axis.joint}.target", "constant_reference", parameters={"constant": axis.target}, unit=unit)


def servo_blocks(axis: Axis, target: str = "", limit: str | float = "") -> tuple[Block, ...]:
    """PD controller and motor of one axis.

    Args:
        target: signal of the wanted position, the axis' own target by default.
        limit: greatest voltage, a number or a signal; the regular one by default.
    """
    joint = axis.joint
    inputs = {"target": target or f"{joint}.target.value"}
    pd = {"proportional": axis.proportional, "derivative": axis.derivative}
    if isinstance(limit, str) and limit:
        inputs["limit"] = limit
    else:
        pd["limit"] = limit or axis.voltage_limit
    motor = {
        "resistance": axis.resistance,
        "inductance": axis.inductance,
        "torque_constant": axis.torque_constant,
        "gear": axis.gear,
        "torque_factor": math.sqrt(3) / 2,
        "current_limit": axis.current_limit,
    }
    return (
        Block(f"{joint}.control", "pd_control", joint, inputs, pd, unit="V"),
        Block(f"{joint}.motor", "dc_motor", joint, {"voltage": f"{joint}.control.command"}, motor),
    )


def distance_to_go(positions, targets, tolerance):
    """Largest distance of a joint from its target, less the tolerance."""
    furthest = 0.0
    for position, target in zip(positions, targets, strict=True):
        furthest = sym.maximum(furthest, sym.absolute(position - target))
    return furthest - tolerance


def arrival(name: str, axes: tuple[Axis, ...], terminal: bool) -> Event:
    """Event when all the given axes are within tolerance of their own targets."""
    return Event(
        name,
        distance_to_go,
        {
            "positions": tuple(f"{axis.joint}.position" for axis in axes),
            "targets": tuple(f"{axis.joint}.target.value" for axis in axes),
        },
        {"tolerance": ARRIVED_WITHIN},
        direction="falling",
        terminal=terminal,
    )


def arrivals() -> tuple[Event, ...]:
    """Each axis settled, and all arrived, which ends the run."""
    settled = tuple(arrival(f"{axis.joint}_settled", (axis,), False) for axis in AXES)
    return (*settled, arrival("arrived", AXES, True))


def scara_ptp(duration: float = 5.0) -> Scenario:
    """A SCARA robot moves point to point to (2 rad, 2 rad, 0.3 m) and ends when every axis has arrived."""
    blocks = tuple(block for axis in AXES for block in (target_block(axis), *servo_blocks(axis)))
    return Scenario(
        "scara-ptp",
        Machine("scara", scara_mechanism(), blocks),
        duration,
        events=arrivals(),
        solver=Solver("dopri5", rtol=1e-7, atol=1e-9),
        title="SCARA robot, point-to-point motion with servo motors and limits (ARGESIM C11, task b)",
    )


# --------------------------------------------------------------------------------------------------
# SCARA collision avoidance (task c of the comparison C11), as three phases in sequence, each ended by an event.
#
# An obstacle stands at x_obs. When the tip comes within d_crit of it while the tool is lower than the obstacle, the
# motion of the arm stops at its present place and the tool rises with emergency voltage; the old targets return when
# the tool is h_safe above the obstacle. The study of the comparison has the same as a single model with a decision.


X_OBSTACLE, HEIGHT, CRITICAL, SAFE = -0.20, 0.20, 0.10, 0.005
ARM = AXES[:2]
# Drawn so that it stands under the tip's path; the decision knows only its place along x and its height.
BOX = Obstacle("obstacle", (X_OBSTACLE, 0.45, HEIGHT / 2), (0.10, 0.40, HEIGHT))
SOLVER = Solver("dopri5", rtol=1e-7, atol=1e-9)
NEAR = {"tip": "tool.position.x", "height": "lift.position"}
LIMITS = {"x_obstacle": X_OBSTACLE, "critical": CRITICAL, "obstacle_height": HEIGHT}


def clearance(tip, height, x_obstacle, critical, obstacle_height):
    """Positive while the tip is far from the obstacle or above it: `max(x - x_obs - d_crit, q3 - h_obs)`."""
    return sym.maximum(tip - x_obstacle - critical, height - obstacle_height)


def safe_height(height, obstacle_height, safe):
    """Positive once the tool is safely above the obstacle."""
    return height - obstacle_height - safe


def blocked(terminal: bool = False, action: Callable[..., Any] | None = None) -> Event:
    """The tip comes too near while it is too low."""
    here = {"shoulder": "shoulder.position", "elbow": "elbow.position"} if action else {}
    return Event("blocked", clearance, NEAR | here, LIMITS, "falling", action, terminal)


def cleared(terminal: bool = False, action: Callable[..., Any] | None = None) -> Event:
    """The tool is safely above the obstacle."""
    heights = {"obstacle_height": HEIGHT, "safe": SAFE}
    return Event("cleared", safe_height, {"height": "lift.position"}, heights, "rising", action, terminal)


def phase(name: str, blocks: tuple[Block, ...], events: tuple[Event, ...]) -> Scenario:
    machine = Machine("scara", scara_mechanism(), blocks)
    return Scenario(name, machine, 6.0, events=events, solver=SOLVER, obstacles=(BOX,))


def held_place(axis: Axis) -> Block:
    """The place of an axis when the phase begins, held from then on."""
    return Block(f"{axis.joint}.place", "sample_and_hold", inputs={"value": f"{axis.joint}.position"}, period=10.0)


def scara_phases() -> ScenarioSequence:
    """A SCARA robot avoids an obstacle in three phases: approach, rise and finish, each ended by an event."""
    regular = tuple(block for axis in AXES for block in (target_block(axis), *servo_blocks(axis)))
    rising = (target_block(AXES[2]), *servo_blocks(AXES[2], limit=AXES[2].emergency_voltage))
    for axis in ARM:
        rising += (held_place(axis), *servo_blocks(axis, f"{axis.joint}.place.output", axis.emergency_voltage))
    phases = (
        phase("approach", regular, (blocked(terminal=True),)),
        phase("rise", rising, (cleared(terminal=True),)),
        phase("finish", regular, arrivals()),
    )
    return ScenarioSequence(
        "scara-phases", phases, "SCARA robot, collision avoidance in a sequence of three phases (ARGESIM C11, task c)"
    )
