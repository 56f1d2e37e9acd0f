"""Compliant contacts: forces of what sinks in."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import casadi as ca

from robodyn.base.symbolic import logical_and, logical_not, logical_or, maximum, minimum, sign, sqrt, where
from robodyn.computation.assembly.contact.geometry import ContactPoint, find_contact_points
from robodyn.computation.assembly.contact.stick_friction import HELD_SPEED, LIMIT_MARGIN, REST_SPEED, TINY
from robodyn.computation.assembly.contribution import (
    Context,
    Contribution,
    Deferred,
    declare_memory,
    declare_state,
    define,
    merge,
)
from robodyn.computation.assembly.declarations import Guard, MemoryInfo, StateInfo
from robodyn.computation.assembly.events import START, watch_side
from robodyn.computation.assembly.motion import Motion
from robodyn.computation.assembly.network import SignalInfo
from robodyn.computation.assembly.passivity import watch_passive
from robodyn.computation.assembly.tracing import Bindings, trace_law
from robodyn.description.laws import arguments_of, info_of
from robodyn.description.model import Box, Contact
from robodyn.description.model.contact import AnyContact, function_of
from robodyn.description.model.numbers import XYZ

# --------------------------------------------------------------------------------------------------
# Dry friction of rigid contacts: which contact points stick, and which slide in which direction?
#
# Symbols: w slips of a contact point along one or two tangents, T their gradients, N the normal force, f what holds:
#
#     sticks    T a + T_dot v = 0,    |f| <= mu N
#     slides    f = -mu N e,          e = w / |w|
#
# What slides is a part of the normal force, whose direction it changes; what sticks is a row of its own. Memory
# holds e,
# zero where the point sticks.


STOP_MARGIN, STOP_TIME = 1.01, 1e-3
"""Part of the rest speed up to which a slip may be stopped, and time [s] in which friction must be able to do so."""
TURNED = 0.97
"""Cosine of the angle, 14 degrees, from its direction in memory at which a slow slip has turned."""


@dataclass(frozen=True)
class DryPoint:
    """A contact point with dry friction.

    Attributes:
        number: of the contact point; rows: of its slips among all rows of contacts.
        used: along which of its two tangents it can slip; slips: along these (m,); memory: the direction e (m,).
        rest_speed: below which a slip in space that slows down has stopped; resting: whether the contact point rests.
        length: that of the machine [m], of which thresholds of speeds are parts.
    """

    contact_point: ContactPoint
    number: int
    rows: slice
    used: list[int]
    slips: ca.SX
    memory: ca.SX
    coefficient: ca.SX
    rest_speed: ca.SX
    resting: ca.SX
    length: float

    @property
    def in_space(self) -> bool:
        """Whether it may slip along both tangents, and not in a plane only."""
        return len(self.used) > 1

    @property
    def slides(self) -> ca.SX:
        return ca.sumsqr(self.memory) > 0.25

    @property
    def held(self) -> ca.SX:
        return logical_and(self.resting, logical_not(self.slides))

    @property
    def speed(self) -> ca.SX:
        return sqrt(ca.sumsqr(self.slips) + TINY * self.length**2)

    @property
    def moves(self) -> ca.SX:
        """Whether it slides for certain.

        What slid in a plane is at rest only where its zero was located. In space the slip need not pass zero: it slides
        while it is fast, or goes on as it does.
        """
        if not self.in_space:
            return self.speed > self.length * where(self.slides, REST_SPEED, HELD_SPEED)
        goes_on = logical_and(self.slides, logical_and(self.speed > REST_SPEED * self.length, self.onward > 0))
        return logical_or(self.speed > STOP_MARGIN * self.rest_speed, goes_on)

    @property
    def onward(self) -> ca.SX:
        """How fast it slides on in the direction of memory, less than zero where it has turned; in space only."""
        return ca.dot(self.memory, self.slips) - TURNED * self.speed + REST_SPEED * self.length

    @property
    def slip_direction(self) -> ca.SX:
        """e: that of memory in a plane, so that it does not turn round in a step; in space that of the slip, (m,).

        What begins to slip has no direction yet, and one that turns at mu N / (m |w|): memory gives it below the speed
        of rest.
        """
        if not self.in_space:
            return self.memory
        moved = self.slips + maximum(self.rest_speed - self.speed, 0.0) * self.memory
        return moved / sqrt(ca.sumsqr(moved) + TINY * self.length**2)

    @property
    def slide_direction(self) -> ca.SX:
        """The same where it slides already, else that of the slip, (m,)."""
        return where(self.slides, self.slip_direction, self.slips / self.speed)

    @property
    def direction(self) -> tuple[ca.SX, ca.SX]:
        """The same along both tangents; where nothing slides any will do."""
        e = where(self.slides, self.slip_direction, ca.SX([1.0, 0.0][: len(self.used)]))
        full = {k: e[i] for i, k in enumerate(self.used)}
        return full.get(0, ca.SX(0)), full.get(1, ca.SX(0))

    @property
    def turn(self) -> ca.SX:
        """Rows along and across the slip of what moves in space, (m, m)."""
        if not self.in_space:
            return ca.SX.eye(1)
        e = where(self.moves, self.slide_direction, ca.SX([1.0, 0.0]))
        return ca.vertcat(ca.horzcat(e[0], e[1]), ca.horzcat(-e[1], e[0]))

    @property
    def to_rest(self) -> ca.SX:
        """A slow slip in space by the time in which friction has to stop it: w / tau + w' is what it holds, (m,).

        So a point stops where a force within its cone can do that beside all others, else it slides on: close to a
        singular position a slow slip may be a fast joint.
        """
        slow = logical_and(self.speed > HELD_SPEED * self.length, logical_not(self.moves))
        return where(slow, self.slips / STOP_TIME, 0.0) if self.in_space else ca.SX(1, 1)

    def begin(self, forces: ca.SX) -> ca.SX:
        """Modes to begin with: what rests sticks, but for what is beyond its limit in a plane; what moves slides, (m,).

        Args:
            forces: of all rows of contacts, by the present modes.
        """
        limit, across = (1 + 0.5 * LIMIT_MARGIN) * self.coefficient * forces[self.number], forces[self.rows]
        slips = ca.SX(0) if self.in_space else logical_and(self.held, across**2 >= limit**2)
        return where(self.moves, _sign(self.turn @ self.slips), where(slips, -_sign(across), 0.0))

    @property
    def coefficients(self) -> ca.SX:
        """Of the rows: what moves along has no force across, (m,)."""
        return ca.vertcat(self.coefficient, where(self.moves, 0.0, self.coefficient))[: len(self.used)]

    def slide(self, modes: ca.SX) -> ca.SX:
        """The direction in which it slides in new modes, zero where it sticks."""
        begun = self.turn.T @ modes
        begun = begun / maximum(sqrt(ca.sumsqr(begun)), 0.5)
        ahead = self.slips / self.speed
        if self.in_space:
            # What friction cannot stop slides on in the direction it would have after STOP_TIME, an implicit step:
            # the present direction, taken over, would turn to and fro about the one that lasts.
            back = logical_and(ca.sumsqr(begun) > 0.25, ca.dot(begun, self.slips) <= 0)
            begun = where(logical_and(back, self.speed > HELD_SPEED * self.length), ahead, begun)
            ahead = where(logical_and(self.slides, self.speed < self.rest_speed), self.memory, ahead)
        return where(self.moves, ahead, begun)

    def stops(self, direction: ca.SX, rests: ca.SX) -> ca.SX:
        """Whether it has come to rest, if only to slide in another direction."""
        onward = ca.dot(direction, self.slips) > 0 if self.in_space else ca.sumsqr(direction) > 0
        return logical_and(logical_and(rests, logical_not(self.moves)), logical_not(onward))


def _sign(value: ca.SX) -> ca.SX:
    return where(value < 0, -1.0, 1.0)


# --------------------------------------------------------------------------------------------------
# Compliant contact: which forces does it exert on a mechanism, and when do they touch and part?


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


def trace_contacts(motion: Motion) -> tuple[ca.SX, Contribution]:
    """Joint torques of all compliant contacts (n_v,), and their signals, states and events."""
    tau, parts = ca.SX.zeros(motion.v.numel()), []
    for contact in motion.context.scenario.machine.contacts:
        if not isinstance(contact, Contact):
            continue
        contact_points = find_contact_points(motion, contact)
        if not check_moves(motion, contact_points):
            continue
        found = [_push(motion.context, contact_point) for contact_point in contact_points]
        parts += [part for _, part in found]
        pushed = [one for one, _ in found if one is not None]
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
        motion.context.flaws.add(f"contacts.{contact.name}", what, "name points of two bodies that do")
    return moves


def _push(context: Context, contact_point: ContactPoint) -> tuple[ContactForce | None, Contribution]:
    contact = contact_point.contact
    assert isinstance(contact, Contact)
    # Which side of the surface it is on is memory, switched by located events, not by the sign of a gap near zero.
    info, side = info_of(function_of(contact.law)), own_name(contact_point, "side")
    memory = merge(declare_memory(MemoryInfo(side, "", 0.0, hidden=True)) for _ in info.located)
    sides = {name: memory.symbols[side] for name in info.located.values()}  # noqa: C420  none is declared without any
    # The law knows depth and its rate, friction the slips and the normal force.
    given = {"depth": -contact_point.gap, "rate": -contact_point.rate} | sides
    normal, traced = trace_contact(context, contact_point, given, "law", ("force", *info.located))
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
        resets = {own_name(contact_point, name): Deferred(ca.SX(0), {}) for name in states}
    parts += [_guard(contact_point, sides[name], normal[output], resets) for output, name in info.located.items()]
    return ContactForce(contact_point, normal["force"], force, active), merge(parts)


def own_name(contact_point: HasName, name: str) -> str:
    return f"{contact_point.name}.{name}"


def trace_contact(
    context: Context,
    contact_point: ContactPoint,
    given: dict[str, Any],
    field: str,
    wanted: tuple[str, ...],
    active: Any = True,
) -> tuple[dict[str, ca.SX] | None, Contribution]:
    """Results of a contact's law or friction; what it integrates while it is active becomes states."""
    prefix, law, parameters = contact_point.contact.laws[field]
    function, path = function_of(law), f"contacts.{contact_point.contact.name}.{field}"
    info = info_of(function)
    declared = merge(_declare_state(context, contact_point, name, info) for name in info.states)
    states = {name: declared.symbols[own_name(contact_point, name)] for name in info.states}
    values = {key: context.values[f"{prefix}.{key}"] for key in parameters}
    known = given | states | values
    arguments = {argument.name: known[argument.name] for argument in arguments_of(function)}
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
    moved = {own_name(contact_point, name): Deferred(rate, {}) for name, rate in rates.items()}
    watched = _watch(contact_point, info, arguments, trace.results, rates)
    return dict(trace.results), merge((replace(declared, rates=moved), watched))


def _watch(
    contact_point: ContactPoint, info: Any, arguments: Any, results: Any, rates: dict[str, ca.SX]
) -> Contribution:
    """A normal force pushes the surfaces apart, friction acts along the slips."""
    if "depth" in arguments:
        power = results["force"] * contact_point.rate
        rates = rates | {"depth": -contact_point.rate}
    else:
        power = results["force1"] * contact_point.slips[0] + results["force2"] * contact_point.slips[1]
    return watch_passive(contact_point.name, info, power, arguments, rates, {})


def _declare_state(context: Context, contact_point: ContactPoint, name: str, info: Any) -> Contribution:
    full = own_name(contact_point, name)
    start = context.scenario.initial.get(full, 0.0)
    unit = info.units.get(name, "")
    return declare_state(StateInfo(full, unit, start, info.states[name] * context.size.of(unit)))


def _guard(contact_point: ContactPoint, side: ca.SX, value: ca.SX, resets: dict[str, Deferred]) -> Contribution:
    """Touch-down and lift-off are located; the side is noted, and friction begins anew.

    At the start a contact point on the surface itself is on the side it moves to.
    """
    actions, guards = {}, []
    for event, direction, more in (("touches", 1, resets), ("parts", -1, {})):
        action = f"action:{contact_point.name}.{event}"
        actions[action] = {side.name(): Deferred(ca.SX(direction), {})} | more
        owner = contact_point.contact.name
        guard = Guard(own_name(contact_point, event), direction, action=action, contact=owner, side=side.name())
        guards.append((guard, Deferred(value, {})))
    begins = where(value == 0, -sign(contact_point.rate), sign(value))
    actions[START] = {side.name(): Deferred(begins, {})}
    watched = watch_side(contact_point.name, "m", side, Deferred(value, {}))
    return replace(watched, guards=tuple(guards), actions=actions)


def define_contact_signals(contact: AnyContact, pushed: list[ContactForce]) -> Contribution:
    """Signals of each contact point, and of a whole box: the least gap, the sums of forces and of touching corners."""
    all_of: dict[str, list[ca.SX]] = {name: [] for name in SIGNALS}
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
                parts.append(_define(f"{one.contact_point.name}.{name}", SIGNALS[name], value, one.bindings))
    for name, entries in all_of.items():
        total = _least(entries) if name == "gap" else sum(entries[1:], entries[0])
        if name != "slip" or not isinstance(contact.touching, Box):
            parts.append(_define(f"{contact.name}.{name}", SIGNALS[name], total, bindings))
    return merge(parts)


def _define(name: str, unit: str, value: ca.SX, bindings: Bindings) -> Contribution:
    return define([SignalInfo(name, unit)], {name: value}, bindings)


def _least(values: list[ca.SX]) -> ca.SX:
    least = values[0]
    for value in values[1:]:
        least = minimum(least, value)
    return least
