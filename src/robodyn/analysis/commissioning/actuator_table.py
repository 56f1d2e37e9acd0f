"""Actuator table: what do a machine's drives give over speed, for frameworks that learn with simple actuators?

Of each drive, with k torque constant and R resistance on the joint's side, U voltage, as far as its blocks say them:

    motor      tau_m(w) = min(effort limit, k i_max, k (U - k w) / R)
    friction   tau_f(w) = Fc + (Fs - Fc) exp(-(w / ws)^2) + d w
    output     tau(w) = max(0, (tau_m - tau_f) / (1 + loss)),   loss of the gear by the torque that it transmits
    efficiency tau w / (tau_m w + R (tau_m / k)^2)

The delay is what a command waits until half of it acts: half a sample and the computing time of the blocks that it goes
through, pure delays, and the lag of the current.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from robodyn.base import frozen, refuse
from robodyn.description.model import Block, LinearCombination, Machine

MOTORS = {"torque_source": "command", "current_source": "current_command", "current_lag": "current_command"}
MOTORS |= {"dc_motor": "voltage"}
"""Laws of motors -> the input that commands them."""
PLACES = 41
"""Speeds of a table."""
SPEEDLESS = 10.0
"""Largest speed of a table whose drive has none [rad/s or m/s]."""


@frozen
class ActuatorTable:
    """One drive over speed; units are of the joint it acts on, rad or m.

    Attributes:
        drive: block of the motor; joint: what it acts on; rotates: whether that is an angle.
        armature: inertia of the rotor there; stiffness: of an elastic gear behind it, None where there is none.
        coulomb, static, viscous, stribeck_velocity: friction; gear_loss: by the transmitted torque.
        delay: of a command until half of it acts [s].
        speeds, torques, efficiencies: positive speeds, largest torque that accelerates, and share of the power.
        notes: what is not in it, since no block says it.
    """

    drive: str
    joint: str
    rotates: bool
    armature: float
    stiffness: float | None
    coulomb: float
    static: float
    viscous: float
    stribeck_velocity: float
    gear_loss: float
    delay: float
    speeds: tuple[float, ...]
    torques: tuple[float, ...]
    efficiencies: tuple[float, ...]
    notes: tuple[str, ...]


def actuator_tables(machine: Machine) -> tuple[ActuatorTable, ...]:
    """A table of each drive of a machine.

    Raises:
        ModelError: where it has no drives.
    """
    tables = tuple(_table(machine, block) for block in machine.all_blocks if block.law in MOTORS and block.on)
    if not tables:
        refuse("blocks", "no motor acts on a joint", "`robodyn dress` adds drives", f"actuators of '{machine.name}'")
    return tables


def _table(machine: Machine, motor: Block) -> ActuatorTable:
    assert motor.on is not None
    joints = {joint.name: joint for joint in machine.any_mechanism.joints}
    joint, p = joints.get(motor.on), motor.parameters
    beside = [block for block in machine.all_blocks if block.on == motor.on and block is not motor]
    path = list(_commands(machine, motor))
    notes: list[str] = []

    # Friction, and the gear's loss by torque: of several laws the sums.
    friction = {"coulomb": 0.0, "static": 0.0, "viscous": 0.0, "stribeck_velocity": 0.0, "loss": 0.0}
    for block in beside:
        values = block.parameters
        coulomb = float(values.get("coulomb", 0.0))
        friction["coulomb"] += coulomb
        friction["static"] += max(float(values.get("static", 0.0)), coulomb)
        friction["stribeck_velocity"] = float(values.get("stribeck_velocity", friction["stribeck_velocity"]))
        friction["viscous"] += float(values.get("viscous", 0.0)) + (values["damping"] if block.law == "damper" else 0.0)
        friction["loss"] += float(values.get("load_loss", 0.0))

    # Limits of the motor, as far as blocks say them.
    k = float(p.get("torque_constant", 0.0)) * float(p.get("gear", 1.0)) * float(p.get("torque_factor", 1.0))
    inverter = next((block for block in path if block.law == "inverter"), None)
    resistance = float((inverter or motor).parameters.get("resistance", 0.0))
    supply = math.inf
    if inverter is not None:
        # The voltage of the supply: a constant, or that behind a resistance.
        name = str(inverter.inputs.get("voltage", "")).rpartition(".")[0]
        source: Mapping[str, Any] = next((block.parameters for block in machine.blocks if block.name == name), {})
        supply = float(source.get("source_voltage", source.get("constant", math.inf)))
    limits = [float(p.get("torque_limit", math.inf)), k * float(p.get("current_limit", math.inf)) if k else math.inf]
    if joint is not None and joint.effort_limit is not None:
        limits.append(joint.effort_limit)
    for loop, bound in _bounds(path):
        # What a loop commands is a torque, or a current, or the voltage of a motor with its circuit.
        if motor.law == "dc_motor":
            supply, resistance = bound, float(p["resistance"])
        else:
            limits.append(k * bound if loop.unit == "A" else bound)
    peak = min(limits)
    if not math.isfinite(peak) and not math.isfinite(supply):
        notes.append("no limit of its torque")
    if not resistance or not k:
        notes.append("efficiency without losses of the winding: no resistance")
    # The speed limit of the joint it acts on, or of the one that the drive is named after.
    named = [part for part in (joint, joints.get(motor.name.rpartition(".")[0])) if part is not None]
    top = min((part.speed_limit for part in named if part.speed_limit is not None), default=math.inf)
    if math.isfinite(supply) and k:
        top = min(top, supply / k)
    if not math.isfinite(top):
        notes.append(f"no limit of its speed: up to {SPEEDLESS:g}")
        top = SPEEDLESS

    speeds = np.linspace(0.0, top, PLACES)
    driven = np.full(PLACES, peak)
    if math.isfinite(supply) and k and resistance:
        driven = np.minimum(driven, np.maximum(k * (supply - k * speeds) / resistance, 0.0))
    ws = friction["stribeck_velocity"]
    bump = np.exp(-((speeds / ws) ** 2)) if ws else np.zeros(PLACES)
    rub = friction["coulomb"] + (friction["static"] - friction["coulomb"]) * bump + friction["viscous"] * speeds
    torques = np.maximum((driven - rub) / (1.0 + friction["loss"]), 0.0)
    copper = resistance * (driven / k) ** 2 if k else np.zeros(PLACES)
    taken = driven * speeds + copper
    efficiencies = np.divide(torques * speeds, taken, out=np.zeros(PLACES), where=np.isfinite(taken) & (taken > 0))

    gear = next((b for b in machine.blocks if b.law == "spring" and b.name == f"{motor.on}.gear"), None)
    inertia = {part.name: part.inertia for part in machine.coordinates if isinstance(part, LinearCombination)}
    return ActuatorTable(
        motor.name, motor.on, joint is None or joint.kind != "prismatic",
        joint.armature if joint is not None else inertia.get(motor.on, 0.0),
        None if gear is None else float(gear.parameters["stiffness"]),
        friction["coulomb"], friction["static"], friction["viscous"], ws, friction["loss"],
        _delay(machine, motor, path), tuple(speeds.tolist()), tuple(torques.tolist()),
        tuple(efficiencies.tolist()), tuple(notes),
    )  # fmt: skip


def _commands(machine: Machine, motor: Block) -> Iterator[Block]:
    """Blocks that a command goes through on its way to a motor, the last one first, as long as there is one of each."""
    blocks = {block.name: block for block in machine.blocks}
    signal: Any = motor.inputs.get(MOTORS[str(motor.law)])
    words = ("value", "command", "target", "torque_command", "velocity_command", "current_command")
    seen: set[str] = set()
    while isinstance(signal, str):
        name = signal.rpartition(".")[0]
        delayed = next((delay.signal for delay in machine.delays if delay.name == name), None)
        if delayed is not None:
            signal = delayed
            continue
        if name not in blocks or name in seen:
            return
        seen.add(name)
        yield blocks[name]
        signal = next((blocks[name].inputs[word] for word in words if word in blocks[name].inputs), None)


def _bounds(path: list[Block]) -> Iterator[tuple[Block, float]]:
    """Limits of torques that blocks on the way command: those of loops whose output is a torque."""
    for block in path:
        if block.law in ("pd_control", "pid_control", "sampled_velocity_loop", "sampled_pid"):
            yield block, float(block.parameters.get("limit", math.inf))
            return




def _delay(machine: Machine, motor: Block, path: list[Block]) -> float:
    """Half a sample of the slowest block, computing times, pure delays, and the lag of the current."""
    wait = sum(block.delay for block in path) + float(motor.parameters.get("time_constant", 0.0))
    wait += 0.5 * max((block.period or 0.0 for block in path), default=0.0)
    if motor.law == "dc_motor" and motor.parameters["resistance"]:
        wait += float(motor.parameters["inductance"] / motor.parameters["resistance"])
    signals = {str(motor.inputs.get(MOTORS[str(motor.law)])), *(str(s) for b in path for s in b.inputs.values())}
    return float(wait + sum(delay.time for delay in machine.delays if f"{delay.name}.output" in signals))


def table_rows(tables: tuple[ActuatorTable, ...]) -> Iterator[tuple[Any, ...]]:
    """Heads, then a row for each speed of each drive."""
    yield "drive", "joint", "speed", "torque", "efficiency"
    for table in tables:
        for row in zip(table.speeds, table.torques, table.efficiencies, strict=True):
            yield table.drive, table.joint, *row
