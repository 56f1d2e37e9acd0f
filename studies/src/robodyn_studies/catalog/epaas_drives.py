"""EPAAS hydraulics: position circuits of controller, servovalve, actuator, friction, measuring circuit.

    target -> setpoint [V] -> controller [A] -> delay -> servovalve -> actuator -> piston -> sensor [V] -> delay -+
                                   ^-------------------------------------------------------------------------------+

Values: the published modelling study of the EPAAS robot.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from robodyn.base.errors import Flaw, ModelError, nearest
from robodyn.description.model import Block, Delay

CURRENT_LIMIT = 0.29
VALVE = {"natural_frequency": 1443.0, "damping": 0.38}
VALVE_DELAY, MEASURING_DELAY = 1.629e-3, 0.658e-3
# A second-order lag's phase at low frequencies is that of a pure delay of 2 b / w.
LAG_OF_VALVE = 2 * VALVE["damping"] / VALVE["natural_frequency"]
CYLINDER = {"oil_compliance": 1.0e-6, "leakage": 7.46e-5}
ROBOT_FLOW = {
    "openings": (-0.3, -0.202, 0.002, 0.008, 0.205, 0.3),
    "speeds": (-0.96, -0.95, 0.0, 0.0, 0.73, 0.74),
}
VANE = {
    "oil_compliance": 69e-6,
    "leakage": 0.0,
    "openings": (-0.3, -0.213, -0.106, 0.0, 0.106, 0.213, 0.3),
    "speeds": (-2.439, -2.438, -1.521, 0.0, 1.521, 2.438, 2.439),
}

FRICTIONS = ("smooth", "stick", "lugre", "none")
# This project's choice, for the study gives the sliding level alone: where smoothed friction is full (by coordinate,
# m/s and rad/s), how far bristles bend before they slip (m and rad), how their damping and their Stribeck speed are.
SMOOTHING_VELOCITY = {"m": 1e-3, "rad": 1e-2}
BRISTLE_REACH = {"m": 1e-5, "rad": 1e-4}
BRISTLE_TIME = 1e-3
STRIBECK_VELOCITY = {"m": 1e-2, "rad": 1e-1}


@dataclass(frozen=True)
class Circuit:
    """One position circuit.

    Attributes:
        name: of its blocks; on: joint or coordinate it drives (the same by default); unit: "m" or "rad".
        gain: of the controller [A/V]; measuring_gain: [V/m or V/rad]; measuring_delay: [s], 0 for none.
        centre: position at which the sensor shows zero volts; actuator: parameters of its `hydraulic_actuator`.
        viscous, coulomb: friction on the piston [N s/m and N, or N m s/rad and N m].
    """

    name: str
    gain: float
    measuring_gain: float
    actuator: dict[str, Any]
    viscous: float = 501.0
    coulomb: float = 0.0
    centre: float = 0.0
    measuring_delay: float = MEASURING_DELAY
    unit: str = "m"
    on: str = ""

    @property
    def place(self) -> str:
        return self.on or self.name

    def position_at(self, volts: float) -> float:
        """Where the piston is when the sensor shows a voltage."""
        return self.centre + volts / self.measuring_gain


def hold_target(circuit: Circuit) -> Block:
    """Stay at the centre."""
    return step_target(circuit, 0.0, 0.0)


def step_target(circuit: Circuit, volts: float, at: float) -> Block:
    """Jump from the centre to the position that the sensor shows as a voltage."""
    parameters = {"before": circuit.centre, "after": circuit.position_at(volts), "at": at}
    return Block(f"{circuit.name}.target", "step_reference", parameters=parameters, unit=circuit.unit)


def make_circuit(
    circuit: Circuit,
    target: Block,
    friction: str = "smooth",
    reduced: bool = False,
    control: Callable[[Circuit, Block, str], tuple[Block, ...]] | None = None,
) -> tuple[tuple[Block, ...], tuple[Delay, ...]]:
    """Blocks and delays of one circuit.

    Args:
        target: block of the wanted position: its output `position` of a spline, `value` of any other.
        friction: "smooth", "stick", "lugre" or "none" (viscous alone).
        reduced: whether a longer delay stands for the valve.
        control: blocks of another controller than the study's, by circuit, target and measured signal.
    """
    if friction not in FRICTIONS:
        raise ModelError([Flaw("friction", f"'{friction}' is unknown", nearest(friction, FRICTIONS))], circuit.name)
    sensor, sensing = _measuring_parts(circuit)
    return (
        (
            target,
            *sensor,
            *_driving_blocks(circuit, target, reduced, control or _proportional),
            _friction_block(circuit, friction),
        ),
        (*sensing, Delay(f"{circuit.name}.late", f"{circuit.name}.control.current", _valve_delay(reduced))),
    )


def _valve_delay(reduced: bool) -> float:
    return VALVE_DELAY + (LAG_OF_VALVE if reduced else 0.0)


def _measuring_parts(circuit: Circuit) -> tuple[tuple[Block, ...], tuple[Delay, ...]]:
    """The piston's position as a voltage, late by the measuring circuit's delay."""
    name = circuit.name
    parameters = {"gain": circuit.measuring_gain, "offset": circuit.centre}
    sensor = Block(f"{name}.sensor", "measuring_circuit", on=circuit.place, parameters=parameters)
    if circuit.measuring_delay == 0:
        return (sensor,), ()
    return (sensor,), (Delay(f"{name}.measured", f"{name}.sensor.voltage", circuit.measuring_delay),)


def _proportional(circuit: Circuit, target: Block, measured: str) -> tuple[Block, ...]:
    """The study's controller."""
    inputs = {"target": f"{circuit.name}.set_point.voltage", "measured": measured}
    parameters = {"gain": circuit.gain, "limit": CURRENT_LIMIT}
    return (Block(f"{circuit.name}.control", "valve_controller", inputs=inputs, parameters=parameters),)


def _driving_blocks(
    circuit: Circuit, target: Block, reduced: bool, control: Callable[[Circuit, Block, str], tuple[Block, ...]]
) -> tuple[Block, ...]:
    """Setpoint in volts, controller, valve (unless reduced) and actuator."""
    name = circuit.name
    wanted = "position" if target.law == "spline_reference" else "value"
    measured = f"{name}.measured.output" if circuit.measuring_delay else f"{name}.sensor.voltage"
    opening = f"{name}.late.output" if reduced else f"{name}.valve.opening"
    scale = {"gain": circuit.measuring_gain, "offset": circuit.centre}
    set_point = Block(
        f"{name}.set_point",
        "measuring_circuit",
        inputs={"position": f"{target.name}.{wanted}"},
        parameters=scale,
        unit=circuit.unit,
    )
    valve = Block(f"{name}.valve", "servovalve", inputs={"command": f"{name}.late.output"}, parameters=VALVE)
    actuator = Block(
        f"{name}.actuator",
        "hydraulic_actuator",
        on=circuit.place,
        inputs={"opening": opening},
        parameters=circuit.actuator,
    )
    parts = (set_point, *control(circuit, target, measured))
    return (*parts, actuator) if reduced else (*parts, valve, actuator)


def _friction_block(circuit: Circuit, friction: str) -> Block:
    law, parameters = "viscous_friction", {"viscous": circuit.viscous}
    if circuit.coulomb and friction != "none":
        law, more = _dry_friction(circuit, friction)
        parameters |= more
    return Block(f"{circuit.name}.friction", law, on=circuit.place, parameters=parameters)


def _dry_friction(circuit: Circuit, friction: str) -> tuple[str, dict[str, float]]:
    """Law and parameters of one of three descriptions of the same sliding level."""
    level, unit = circuit.coulomb, circuit.unit
    if friction == "smooth":
        return "coulomb_friction", {"coulomb": level, "smoothing_velocity": SMOOTHING_VELOCITY[unit]}
    if friction == "stick":
        return "stick_friction", {"coulomb": level, "static": level}
    stiffness = level / BRISTLE_REACH[unit]
    return "lugre_friction", {
        "coulomb": level,
        "static": level,
        "stiffness": stiffness,
        "damping": stiffness * BRISTLE_TIME,
        "stribeck_velocity": STRIBECK_VELOCITY[unit],
    }
