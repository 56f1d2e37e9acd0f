"""Compliant contact: which forces does it exert on a mechanism, and when do they touch and part?"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

import casadi as ca

from robodyn.assembly.builder import Builder, Deferred
from robodyn.assembly.contact_geometry import ContactPoint, find_contact_points
from robodyn.assembly.declarations import Guard, MemoryInfo, StateInfo
from robodyn.assembly.events import START, watch_side
from robodyn.assembly.motion import Motion
from robodyn.assembly.network import Definition, SignalInfo
from robodyn.assembly.passivity import watch_passive
from robodyn.assembly.tracing import Bindings, trace_law
from robodyn.laws import arguments_of, info_of
from robodyn.model import Ball, Contact
from robodyn.model.contact import AnyContact, function_of
from robodyn.model.numbers import XYZ
from robodyn.symbolic import minimum, sign, where

SIGNALS = {"gap": "m", "slip": "m/s", "active": "", "power": "W", "force.normal": "N"}
SIGNALS |= {f"force.{axis}": "N" for axis in XYZ}


class HasName(Protocol):
    @property
    def name(self) -> str: ...


@dataclass(frozen=True)
class ContactForce:
    """What a contact point does: normal force, force on the touching body in world axes, and whether it touches."""

    contact_point: ContactPoint
    normal: ca.SX
    force: ca.SX
    active: ca.SX
    bindings: Bindings = field(default_factory=dict)


def add_contacts(builder: Builder, motion: Motion) -> ca.SX:
    """Signals, states and events of all compliant contacts; returns their joint torques (n_v,)."""
    tau = ca.SX.zeros(motion.v.numel())
    for contact in builder.scenario.machine.contacts:
        if not isinstance(contact, Contact):
            continue
        contact_points = find_contact_points(motion, contact)
        if not check_moves(builder, motion, contact_points):
            continue
        pushed = [found for contact_point in contact_points if (found := _push(builder, contact_point)) is not None]
        for one in pushed:
            # tau += (dw/dv)^T f: the power f.w is that of the joint torques.
            tau = tau + ca.jtimes(one.contact_point.velocity, motion.v, one.force, True)
        if pushed:
            add_contact_signals(builder, contact, pushed)
    return tau


def check_moves(builder: Builder, motion: Motion, contact_points: list[ContactPoint]) -> bool:
    """Whether any motion changes the gap; a flaw where none does."""
    contact = contact_points[0].contact
    moves = ca.depends_on(contact_points[0].gap, motion.q)
    if not moves:
        what = "its two points never move against each other"
        builder.flaws.add(f"contacts.{contact.name}", what, "name points of two bodies that do")
    return moves


def _push(builder: Builder, contact_point: ContactPoint) -> ContactForce | None:
    contact = contact_point.contact
    assert isinstance(contact, Contact)
    # Which side of the surface it is on is memory, switched by located events, not by the sign of a gap near zero.
    info = info_of(function_of(contact.law))
    sides = {name: _add_side(builder, contact_point) for name in info.located.values()}
    # The law knows depth and its rate, friction the slips and the normal force.
    given = {"depth": -contact_point.gap, "rate": -contact_point.rate} | sides
    normal = trace_contact(builder, contact_point, given, "law", ("force", *info.located))
    if normal is None:
        return None
    active, resets = contact_point.gap < 0, {}
    for output, side in info.located.items():
        value = normal[output]
        # Put on the surface at rest: friction acts from the start, or it would begin with a jump at the first rounding.
        active = where(sides[side] == 0, value >= 0, sides[side] > 0)
    force = normal["force"] * contact_point.normal
    if contact.friction is not None:
        slips = dict(zip(("slip1", "slip2"), contact_point.slips, strict=True))
        rubbed = trace_contact(
            builder, contact_point, slips | {"normal": normal["force"]}, "friction", ("force1", "force2"), active
        )
        if rubbed is None:
            return None
        force = force + rubbed["force1"] * contact_point.tangents[0] + rubbed["force2"] * contact_point.tangents[1]
        resets = {
            own_name(contact_point, name): Deferred(ca.SX(0), {})
            for name in info_of(function_of(contact.friction)).states
        }
    for output, side in info.located.items():
        _add_events(builder, contact_point, sides[side], normal[output], resets)
    return ContactForce(contact_point, normal["force"], force, active)


def own_name(contact_point: HasName, name: str) -> str:
    return f"{contact_point.name}.{name}"


def _add_side(builder: Builder, contact_point: ContactPoint) -> ca.SX:
    return builder.add_memory(MemoryInfo(own_name(contact_point, "side"), "", 0.0, hidden=True))


def trace_contact(
    builder: Builder,
    contact_point: ContactPoint,
    given: dict[str, Any],
    field: str,
    wanted: tuple[str, ...],
    active: Any = True,
) -> dict[str, ca.SX] | None:
    """Results of a contact's law or friction; what it integrates while it is active becomes states."""
    prefix, law, parameters = contact_point.contact.laws[field]
    function, path = function_of(law), f"contacts.{contact_point.contact.name}.{field}"
    info = info_of(function)
    states = {name: _add_state(builder, contact_point, name, info) for name in info.states}
    values = {key: builder.values[f"{prefix}.{key}"] for key in parameters}
    known = given | states | values
    arguments = {argument.name: known[argument.name] for argument in arguments_of(function)}
    trace = trace_law(function, arguments, {}, path, builder.flaws)
    if trace is None:
        return None
    missing = [name for name in (*wanted, *(f"{state}_dot" for state in states)) if name not in trace.results]
    for name in missing:
        builder.flaws.add(path, f"the law does not return '{name}'")
    if missing:
        return None
    # Bristles bend only while there is contact.
    rates = {name: where(active, trace.results[f"{name}_dot"], 0.0) for name in states}
    for name, rate in rates.items():
        builder.rates[own_name(contact_point, name)] = Deferred(rate, {})
    _watch(builder, contact_point, info, arguments, trace.results, rates)
    return dict(trace.results)


def _watch(
    builder: Builder, contact_point: ContactPoint, info: Any, arguments: Any, results: Any, rates: dict[str, ca.SX]
) -> None:
    """A normal force pushes the surfaces apart, friction acts along the slips."""
    if "depth" in arguments:
        power = results["force"] * contact_point.rate
        rates = rates | {"depth": -contact_point.rate}
    else:
        power = results["force1"] * contact_point.slips[0] + results["force2"] * contact_point.slips[1]
    watch_passive(builder, contact_point.name, info, power, arguments, rates, {})


def _add_state(builder: Builder, contact_point: ContactPoint, name: str, info: Any) -> ca.SX:
    full = own_name(contact_point, name)
    start = builder.scenario.initial.get(full, 0.0)
    return builder.add_state(StateInfo(full, info.units.get(name, ""), start, info.states[name]))


def _add_events(
    builder: Builder, contact_point: ContactPoint, side: ca.SX, value: ca.SX, resets: dict[str, Deferred]
) -> None:
    """Touch-down and lift-off are located; the side is noted, and friction begins anew.

    At the start a contact point on the surface itself is on the side it moves to.
    """
    for event, direction, more in (("touches", 1, resets), ("parts", -1, {})):
        action = f"action:{contact_point.name}.{event}"
        builder.actions[action] = {side.name(): Deferred(ca.SX(direction), {})} | more
        owner = contact_point.contact.name
        guard = Guard(own_name(contact_point, event), direction, action=action, contact=owner, side=side.name())
        builder.add_guard(guard, Deferred(value, {}))
    watch_side(builder, contact_point.name, side, Deferred(value, {}))
    begins = where(value == 0, -sign(contact_point.rate), sign(value))
    builder.actions.setdefault(START, {})[side.name()] = Deferred(begins, {})


def add_contact_signals(builder: Builder, contact: AnyContact, pushed: list[ContactForce]) -> None:
    """Signals of each contact point, and of a whole box: the least gap, the sums of forces and of touching corners."""
    all_of: dict[str, list[ca.SX]] = {name: [] for name in SIGNALS}
    bindings: Bindings = {}
    for one in pushed:
        bindings |= one.bindings
        first, second = one.contact_point.slips
        slip, power = ca.sqrt(first * first + second * second), ca.dot(one.force, one.contact_point.velocity)
        values = [one.contact_point.gap, slip, where(one.active, 1.0, 0.0), power, one.normal]
        for name, value in zip(SIGNALS, [*values, *ca.vertsplit(one.force)], strict=True):
            all_of[name].append(value)
            if not isinstance(contact.touching, Ball):
                _define(builder, f"{one.contact_point.name}.{name}", SIGNALS[name], value, one.bindings)
    for name, entries in all_of.items():
        total = _least(entries) if name == "gap" else sum(entries[1:], entries[0])
        if name != "slip" or isinstance(contact.touching, Ball):
            _define(builder, f"{contact.name}.{name}", SIGNALS[name], total, bindings)


def _define(builder: Builder, name: str, unit: str, value: ca.SX, bindings: Bindings) -> None:
    builder.network.define([SignalInfo(name, unit)], Definition({name: value}, bindings))


def _least(values: list[ca.SX]) -> ca.SX:
    least = values[0]
    for value in values[1:]:
        least = minimum(least, value)
    return least
