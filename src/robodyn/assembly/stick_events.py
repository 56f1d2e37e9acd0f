"""Events of stick-slip friction: when does an element slip or stop, and what does it change?"""

from __future__ import annotations

import casadi as ca

from robodyn.assembly.builder import Builder, Deferred
from robodyn.assembly.declarations import Guard
from robodyn.assembly.promises import Promise
from robodyn.assembly.stick_friction import HELD_SPEED, LEAST_SPEED, OPEN, REST_SPEED, Sticking, reserve_of
from robodyn.assembly.tracing import Bindings
from robodyn.symbolic import absolute, logical_and, minimum, sign, where

ACTION = "action:friction"


def add_stick_events(builder: Builder, sticking: Sticking, states: tuple[list[str], ca.SX], bindings: Bindings) -> None:
    """Guards of slipping and stopping, and the one action of all of them, which is carried out at the start too.

    A guard is negative while it has no meaning: falling, it fires when an element that slid holds, and vice versa, also
    where the event of another element made it so.

    Args:
        states: names and symbols of the joint velocities.
    """
    forces = sticking.physical_forces()
    for i, element in enumerate(sticking.elements):
        stuck = element.direction == 0
        # What holds must not creep either; scaled as the force is, so that the course of the force is seen.
        level, reserve = 0.5 * element.strength, reserve_of(element, forces[i], certain=True)
        margin = minimum(reserve, level * (1 - absolute(sticking.speed[i]) / HELD_SPEED))
        # What has just slipped is still at rest, and not stopped yet; nor has what can hold nothing. But where one can
        # hold again, or no longer, its rest is decided anew.
        opened = absolute(element.direction) == OPEN
        idle = where(element.strength > 0, where(opened, -REST_SPEED, LEAST_SPEED), where(opened, 1, -1) * REST_SPEED)
        guards = {
            "slips": where(stuck, margin, -1.0),
            "stops": where(stuck, -1.0, sign(element.direction) * sticking.speed[i] + idle),
        }
        beyond = where(stuck, -reserve, 0.0)
        against = where(absolute(element.direction) == 1, -element.direction * sticking.speed[i], 0.0)
        power = forces[i] * sticking.speed[i]
        name, unit = element.block.name, builder.network.infos[element.force].unit
        builder.watch(Promise.HOLDS, name, unit, [beyond, level], bindings)
        builder.watch(Promise.SLIDES, name, builder.units[f"{element.on}.velocity"], [against, 0.0], bindings)
        # What always holds has no power but rounding.
        builder.watch(Promise.PASSIVE, name, "W", [power, absolute(power) + level * HELD_SPEED], bindings)
        for event, value in guards.items():
            builder.add_guard(Guard(f"{element.block.name}.{event}", -1, action=ACTION), Deferred(value, bindings))
    # One action for all: new directions, speeds of what rests made exactly zero, and where each began to stick.
    directions, resting = sticking.find_directions()
    names, v = states
    stopped = sticking.hold_joints(sticking.stop_resting(v, resting), directions)
    update = {name: Deferred(stopped[j], bindings) for j, name in enumerate(names)}
    for i, element in enumerate(sticking.elements):
        newly = logical_and(directions[i] == 0, element.direction != 0)
        anchor = where(newly, sticking.position[i], element.anchor)
        update[element.direction.name()] = Deferred(directions[i], bindings)
        update[element.anchor.name()] = Deferred(anchor, bindings)
    builder.actions[ACTION] = update
