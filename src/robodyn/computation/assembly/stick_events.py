"""Events of stick-slip friction: when does an element slip or stop?"""

from __future__ import annotations

import casadi as ca

from robodyn.base.symbolic import absolute, minimum, sign, where
from robodyn.computation.assembly.contribution import Contribution, define, merge, watch
from robodyn.computation.assembly.invariants import Invariant
from robodyn.computation.assembly.motion import Motion
from robodyn.computation.assembly.network import SignalInfo
from robodyn.computation.assembly.reaction_modes import guard_modes
from robodyn.computation.assembly.stick_friction import HELD_SPEED, LEAST_SPEED, OPEN, REST_SPEED, Sticking, reserve_of
from robodyn.computation.assembly.tracing import Bindings

SEEN_SPEED = 1e-4
"""Speed [rad/s, or m/s of a machine of 1 m] by which the work of friction is measured: a millionth is rounding."""


def trace_stick_events(
    motion: Motion, sticking: Sticking, forces: ca.SX, deciding: ca.SX, known: Contribution, bindings: Bindings
) -> Contribution:
    """Forces and drifts as signals, invariants, and guards of slipping and stopping.

    A guard is negative while it has no meaning: falling, it fires when an element that slid holds, and vice versa, also
    where the event of another element made it so.

    Args:
        forces: of the elements; deciding: those that decide which hold.
        known: signals of the elements and of what they are on.
    """
    parts = []
    for i, element in enumerate(sticking.elements):
        info = known.signals[element.force]
        parts.append(define([info], {info.name: forces[i]}, bindings))
        drift = SignalInfo(f"{element.block.name}.stick_drift", known.signals[f"{element.on}.position"].unit)
        moved = where(element.direction == 0, sticking.position[i] - element.anchor, 0.0)
        parts.append(define([drift], {drift.name: moved}))
        units = (info.unit, known.signals[f"{element.on}.velocity"].unit)
        parts.append(_trace_events(sticking, i, deciding[i], units, bindings))
    return merge(parts)


def _trace_events(sticking: Sticking, i: int, force: ca.SX, units: tuple[str, str], bindings: Bindings) -> Contribution:
    element, speed = sticking.elements[i], sticking.speed[i]
    size, stuck = sticking.sizes[i], element.direction == 0
    # What holds must not creep either; scaled as the force is, so that the course of the force is seen.
    level, reserve = 0.5 * element.strength, reserve_of(element, force, certain=True)
    margin = minimum(reserve, level * (1 - absolute(speed) / (HELD_SPEED * size)))
    # What has just slipped is still at rest, and not stopped yet; nor has what can hold nothing. But where one can hold
    # again, or no longer, its rest is decided anew.
    opened = absolute(element.direction) == OPEN
    idle = where(element.strength > 0, where(opened, -REST_SPEED, LEAST_SPEED), where(opened, 1, -1) * REST_SPEED)
    values = {
        "slips": where(stuck, margin, -1.0),
        "stops": where(stuck, -1.0, sign(element.direction) * speed + idle * size),
    }
    beyond = where(stuck, -reserve, 0.0)
    against = where(absolute(element.direction) == 1, -element.direction * speed, 0.0)
    power, least, name = force * speed, absolute(force) * SEEN_SPEED * size, element.block.name
    guards = tuple(guard_modes(f"{name}.{event}", value, bindings) for event, value in values.items())
    return merge(
        (
            watch(Invariant.HOLDS, name, units[0], [beyond, level], bindings),
            watch(Invariant.SLIDES, name, units[1], [against, 0.0], bindings),
            # What always holds, and what rubs at a joint that constraints lock, has no power but rounding.
            watch(Invariant.PASSIVE, name, "W", [power, absolute(power) + least], bindings),
            Contribution(guards=guards),
        )
    )
