"""Compliant contact: which forces does what sinks in exert on a mechanism, and when do bodies touch and part?"""

from __future__ import annotations

from dataclasses import field, replace
from functools import reduce
from typing import Any

import casadi as ca
from casadi import SX

from robodyn.base import frozen
from robodyn.base.symbolic import minimum, sign, where
from robodyn.computation.assembly.blocks import watch_passive
from robodyn.computation.assembly.contribution import (
    Context,
    Contribution,
    Deferred,
    declare_memory,
    declare_state,
    define_signal,
    merge,
)
from robodyn.computation.assembly.declarations import Guard, MemoryInfo, StateInfo
from robodyn.computation.assembly.events import START, watch_side
from robodyn.computation.assembly.motion import Motion
from robodyn.computation.assembly.tracing import Bindings, trace_law
from robodyn.description.laws import arguments_of, info_of
from robodyn.description.model import XYZ, Box, Contact
from robodyn.description.model.contact import AnyContact, function_of

from .geometry import ContactPoint, find_contact_points

SIGNALS = {"gap": "m", "slip": "m/s", "active": "", "power": "W", "force.normal": "N"}
SIGNALS |= {f"force.{axis}": "N" for axis in XYZ}


@frozen
class ContactForce:
    """The effect of a contact point: normal force, force on the touching body in world axes, and whether it touches."""

    contact_point: ContactPoint
    normal: SX
    force: SX
    active: SX
    bindings: Bindings = field(default_factory=dict)


def trace_contacts(motion: Motion) -> tuple[SX, Contribution]:
    """Joint torques of all compliant contacts (n_v,), and their signals, states and events."""
    tau, parts = SX.zeros(motion.v.numel()), []
    for contact in motion.machine.contacts:
        if not isinstance(contact, Contact):
            continue
        contact_points = find_contact_points(motion, contact)
        if not check_moves(motion, contact_points):
            continue
        pushes = [_push(motion.context, contact_point) for contact_point in contact_points]
        parts += [part for _, part in pushes]
        pushed = [one for one, _ in pushes if one is not None]
        for one in pushed:
            # tau += (dw/dv)^T f: the power f.w is that of the joint torques.
            tau = tau + one.contact_point.gradient.T @ one.force
        if pushed:
            parts.append(define_contact_signals(contact, pushed))
    return tau, merge(parts)


def check_moves(motion: Motion, contact_points: list[ContactPoint]) -> bool:
    """Whether any motion changes the gap; a flaw where none does."""
    contact = contact_points[0].contact
    moves = ca.depends_on(contact_points[0].gap, motion.q)
    if not moves:
        what = "its two points never move against each other"
        motion.flaws.add(f"contacts.{contact.name}", what, "name points of two bodies that do")
    return moves


def _push(context: Context, contact_point: ContactPoint) -> tuple[ContactForce | None, Contribution]:
    contact = contact_point.contact
    assert isinstance(contact, Contact)
    # Which side of the surface it is on is memory, switched by located events, not by the sign of a gap near zero.
    info, side = info_of(function_of(contact.law)), f"{contact_point.name}.side"
    memory = merge(declare_memory(MemoryInfo(side, "", 0.0, hidden=True)) for _ in info.located)
    sides = {name: memory.symbols[side] for name in info.located.values()}  # noqa: C420  none is declared without any
    # The law knows depth and its rate, friction the slips and the normal force.
    arguments = {"depth": -contact_point.gap, "rate": -contact_point.rate} | sides
    normal, traced = trace_contact(context, contact_point, arguments, "law", ("force", *info.located))
    parts = [memory, traced]
    if normal is None:
        return None, merge(parts)
    active, resets = contact_point.gap < 0, {}
    for output, name in info.located.items():
        # Put on the surface at rest: friction acts from the start, or it would begin with a jump at the first rounding.
        active = where(sides[name] == 0, normal[output] >= 0, sides[name] > 0)
    force = normal["force"] * contact_point.normal
    if contact.friction is not None:
        slips = dict(zip(("slip1", "slip2"), contact_point.slips, strict=True))
        slips |= {"normal": normal["force"], "travel": contact_point.travel}
        rubbed, traced = trace_contact(context, contact_point, slips, "friction", ("force1", "force2"), active)
        parts.append(traced)
        if rubbed is None:
            return None, merge(parts)
        force = force + rubbed["force1"] * contact_point.tangents[0] + rubbed["force2"] * contact_point.tangents[1]
        states = info_of(function_of(contact.friction)).states
        resets = {f"{contact_point.name}.{name}": Deferred(SX(0), {}) for name in states}
    parts += [_guard(contact_point, sides[name], normal[output], resets) for output, name in info.located.items()]
    return ContactForce(contact_point, normal["force"], force, active), merge(parts)


def trace_contact(
    context: Context,
    contact_point: ContactPoint,
    inputs: dict[str, Any],
    field: str,
    wanted: tuple[str, ...],
    active: Any = True,
) -> tuple[dict[str, SX] | None, Contribution]:
    """Results of a contact's law or friction; what it integrates while it is active becomes states."""
    prefix, law, parameters = contact_point.contact.laws[field]
    function, path = function_of(law), f"contacts.{contact_point.contact.name}.{field}"
    info = info_of(function)
    declared = merge(_declare_state(context, contact_point, name, info) for name in info.states)
    states = {name: declared.symbols[f"{contact_point.name}.{name}"] for name in info.states}
    values = {key: context.values[f"{prefix}.{key}"] for key in parameters}
    sources = inputs | states | values
    arguments = {argument.name: sources[argument.name] for argument in arguments_of(function)}
    trace = trace_law(function, arguments, {}, path, context.flaws)
    if trace is None:
        return None, declared
    missing = [name for name in (*wanted, *(f"{state}_dot" for state in states)) if name not in trace.results]
    for name in missing:
        context.flaws.add(path, f"the law does not return '{name}'")
    if missing:
        return None, declared
    # Bristles bend only while there is contact.
    rates = {name: where(active, trace.results[f"{name}_dot"], 0.0) for name in states}
    moved = {f"{contact_point.name}.{name}": Deferred(rate, {}) for name, rate in rates.items()}
    watched = _watch(contact_point, info, arguments, trace.results, rates)
    return dict(trace.results), merge((replace(declared, rates=moved), watched))


def _watch(contact_point: ContactPoint, info: Any, arguments: Any, results: Any, rates: dict[str, SX]) -> Contribution:
    """A normal force pushes the surfaces apart, friction acts along the slips."""
    if "depth" in arguments:
        power = results["force"] * contact_point.rate
        rates = rates | {"depth": -contact_point.rate}
    else:
        power = results["force1"] * contact_point.slips[0] + results["force2"] * contact_point.slips[1]
    return watch_passive(contact_point.name, info, power, arguments, rates, {})


def _declare_state(context: Context, contact_point: ContactPoint, name: str, info: Any) -> Contribution:
    full = f"{contact_point.name}.{name}"
    start = context.scenario.initial.get(full, 0.0)
    unit = info.units.get(name, "")
    return declare_state(StateInfo(full, unit, start, info.states[name] * context.size.of(unit)))


def _guard(contact_point: ContactPoint, side: SX, value: SX, resets: dict[str, Deferred]) -> Contribution:
    """Touch-down and lift-off are located; the side is noted, and friction begins anew.

    At the start a contact point on the surface itself is on the side it moves to.
    """
    actions, guards = {}, []
    for event, direction, more in (("touches", 1, resets), ("parts", -1, {})):
        action = f"action:{contact_point.name}.{event}"
        actions[action] = {side.name(): Deferred(SX(direction), {})} | more
        owner = contact_point.contact.name
        guard = Guard(f"{contact_point.name}.{event}", direction, action=action, contact=owner, side=side.name())
        guards.append((guard, Deferred(value, {})))
    begins = where(value == 0, -sign(contact_point.rate), sign(value))
    actions[START] = {side.name(): Deferred(begins, {})}
    watched = watch_side(contact_point.name, "m", side, Deferred(value, {}))
    return replace(watched, guards=tuple(guards), actions=actions)


def define_contact_signals(contact: AnyContact, pushed: list[ContactForce]) -> Contribution:
    """Signals of each contact point, and of a whole box: the least gap, the sums of forces and of touching corners."""
    all_of: dict[str, list[SX]] = {name: [] for name in SIGNALS}
    bindings: Bindings = {}
    parts = []
    for one in pushed:
        bindings |= one.bindings
        first, second = one.contact_point.slips
        slip, power = ca.sqrt(first * first + second * second), ca.dot(one.force, one.contact_point.velocity)
        values = [one.contact_point.gap, slip, where(one.active, 1.0, 0.0), power, one.normal]
        for name, value in zip(SIGNALS, [*values, *ca.vertsplit(one.force)], strict=True):
            all_of[name].append(value)
            if isinstance(contact.touching, Box):
                full = f"{one.contact_point.name}.{name}"
                parts.append(define_signal(full, SIGNALS[name], value, one.bindings))
    for name, entries in all_of.items():
        total = reduce(minimum, entries) if name == "gap" else sum(entries[1:], entries[0])
        if name != "slip" or not isinstance(contact.touching, Box):
            parts.append(define_signal(f"{contact.name}.{name}", SIGNALS[name], total, bindings))
    return merge(parts)
