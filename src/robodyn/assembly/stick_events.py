"""Events of stick-slip friction: when does an element slip or stop?"""

from __future__ import annotations

import casadi as ca

from robodyn.assembly.builder import Builder, Deferred
from robodyn.assembly.declarations import Guard
from robodyn.assembly.network import Definition, SignalInfo
from robodyn.assembly.promises import Promise
from robodyn.assembly.reaction_modes import ACTION, PROBLEM
from robodyn.assembly.stick_friction import HELD_SPEED, LEAST_SPEED, OPEN, REST_SPEED, Sticking, reserve_of
from robodyn.assembly.tracing import Bindings
from robodyn.symbolic import absolute, minimum, sign, where


def add_sticking(builder: Builder, sticking: Sticking, forces: tuple[ca.SX, ca.SX], bindings: Bindings) -> None:
    """Forces and drifts as signals, promises, and guards of slipping and stopping.

    A guard is negative while it has no meaning: falling, it fires when an element that slid holds, and vice versa, also
    where the event of another element made it so.

    Args:
        forces: of the elements, and those that decide which hold.
    """
    for i, element in enumerate(sticking.elements):
        info = builder.network.infos[element.force]
        builder.network.define([info], Definition({info.name: forces[0][i]}, bindings))
        drift = SignalInfo(f"{element.block.name}.stick_drift", builder.units[f"{element.on}.position"])
        moved = where(element.direction == 0, sticking.position[i] - element.anchor, 0.0)
        builder.network.define([drift], Definition({drift.name: moved}, {}))
        _add_events(builder, sticking, i, forces[1][i], bindings)


def _add_events(builder: Builder, sticking: Sticking, i: int, force: ca.SX, bindings: Bindings) -> None:
    element, speed = sticking.elements[i], sticking.speed[i]
    stuck = element.direction == 0
    # What holds must not creep either; scaled as the force is, so that the course of the force is seen.
    level, reserve = 0.5 * element.strength, reserve_of(element, force, certain=True)
    margin = minimum(reserve, level * (1 - absolute(speed) / HELD_SPEED))
    # What has just slipped is still at rest, and not stopped yet; nor has what can hold nothing. But where one can hold
    # again, or no longer, its rest is decided anew.
    opened = absolute(element.direction) == OPEN
    idle = where(element.strength > 0, where(opened, -REST_SPEED, LEAST_SPEED), where(opened, 1, -1) * REST_SPEED)
    guards = {
        "slips": where(stuck, margin, -1.0),
        "stops": where(stuck, -1.0, sign(element.direction) * speed + idle),
    }
    beyond = where(stuck, -reserve, 0.0)
    against = where(absolute(element.direction) == 1, -element.direction * speed, 0.0)
    power = force * speed
    name, unit = element.block.name, builder.network.infos[element.force].unit
    builder.watch(Promise.HOLDS, name, unit, [beyond, level], bindings)
    builder.watch(Promise.SLIDES, name, builder.units[f"{element.on}.velocity"], [against, 0.0], bindings)
    # What always holds has no power but rounding.
    builder.watch(Promise.PASSIVE, name, "W", [power, absolute(power) + level * HELD_SPEED], bindings)
    for event, value in guards.items():
        guard = Guard(f"{name}.{event}", -1, action=ACTION, problems=(PROBLEM,))
        builder.add_guard(guard, Deferred(value, bindings))
