"""Events: when does something happen, and what? Guards and actions of a scenario's events."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import casadi as ca

from robodyn.base import nearest
from robodyn.base.symbolic import absolute, sign, where
from robodyn.description.laws import arguments_of
from robodyn.description.model import EMPTY, Block, Event
from robodyn.description.model.event import DIRECTIONS

from .blocks import spread_arguments
from .contribution import Context, Contribution, Deferred, merge, reference_to, watch
from .declarations import Ending, Guard, Invariant, PythonCall
from .tracing import Bindings, check_arguments, placeholder, trace_law

START = "action:sides"


def trace_events(context: Context, contributions: Contribution) -> Contribution:
    """Guards and actions of the scenario's events, in the order of declaration.

    Args:
        contributions: states and memory, which actions may set.
    """
    return merge(_trace_event(context, event, contributions) for event in context.scenario.events)


def _trace_event(context: Context, event: Event, contributions: Contribution) -> Contribution:
    path, flaws = f"events.{event.name}", context.flaws
    arguments, bindings = _bind(context, event, event.guard)
    read = Contribution(read=(bindings,))
    flaws.extend(check_arguments(event.guard, arguments, path))
    if any(flaw.path.startswith(path) for flaw in flaws.found):
        return read
    trace = trace_law(event.guard, arguments, bindings, path, flaws)
    if trace is None:
        return read
    if len(trace.results) != 1:
        flaws.add(path, "the guard must return one value")
        return read
    _check_used(context, event)
    # The energy balance of a run holds only if no action moves a state: the guard knows.
    action, call, acted = _trace_action(context, event, contributions)
    states = {info.name for info in contributions.states}
    moves = call is not None or (action is not None and not states.isdisjoint(acted.actions[action]))
    ending = Ending.STOPPED if event.terminal else None
    guard = Guard(event.name, DIRECTIONS[event.direction], ending, action, call, moves)
    value = Deferred(next(iter(trace.results.values())), bindings)
    return merge((read, acted, Contribution(guards=((guard, value),))))


def locate_crossings(context: Context, contributions: Contribution) -> Contribution:
    """Zero crossings that laws want located: a step ends there, and memory notes the side, also at the start.

    side = sign(value), at a crossing that ends on zero itself the other side; at a root, where rounding could decide,
    the engine puts there the side that the crossing led to.
    """
    parts, start = [], {}
    for block in context.machine.all_blocks:
        for output, argument in block.info.located.items():
            name, side = f"{block.name}.{output}", f"{block.name}.{argument}"
            if name not in contributions.signals:
                _miss_output(context, block, f"the law locates '{output}', which it does not return")
                continue
            value, noted, action = reference_to(name), contributions.symbols[side], f"action:{name}"
            # At zero itself the side is the one it comes to, not the one it came from.
            passed = where(value.expression == 0, -noted, sign(value.expression))
            guard = Guard(name, DIRECTIONS["both"], action=action, side=side)
            update = {side: Deferred(passed, value.bindings)}
            parts.append(Contribution(guards=((guard, value),), actions={action: update}))
            parts.append(watch_side(name, contributions.signals[name].unit, noted, value))
            start[side] = Deferred(sign(value.expression), value.bindings)
    return merge((*parts, Contribution(actions={START: start} if start else EMPTY)))


def _miss_output(context: Context, block: Block, what: str) -> None:
    """A law that could not be traced has been reported."""
    if not context.flaws.concern(f"blocks.{block.name}"):
        context.flaws.add(f"blocks.{block.name}", what)


def guard_laws(context: Context, contributions: Contribution) -> Contribution:
    """Outputs of laws that must be above zero: a run ends where one is not, and must not begin there."""
    parts = []
    for block in context.machine.blocks:
        for output in block.info.positive:
            name = f"{block.name}.{output}"
            if name not in contributions.signals:
                _miss_output(context, block, f"the law needs '{output}', which it does not return")
                continue
            begin = context.scenario.initial.get(name, block.states.get(output, 0.0))
            if output in block.state_names and begin <= 0:
                remedy = f"give it here or by blocks.{block.name}.states"
                context.flaws.add(f"initial.{name}", f"must be positive, is {begin:g}", remedy)
            value = reference_to(name)
            guard = Guard(name, DIRECTIONS["falling"], Ending.OUT_OF_REACH, block=block.name)
            below = [-value.expression, absolute(value.expression)]
            parts.append(Contribution(guards=((guard, value),)))
            parts.append(watch(Invariant.RANGE, name, contributions.signals[name].unit, below, value.bindings))
    return merge(parts)


def watch_side(name: str, unit: str, side: ca.SX, value: Deferred) -> Contribution:
    """A value must be on the side that was noted when it passed zero; 0 notes nothing."""
    values = [-side * value.expression, absolute(value.expression)]
    return watch(Invariant.SIDE, name, unit, values, value.bindings)


def located_sides(context: Context) -> list[str]:
    """Memory that notes sides."""
    blocks = context.machine.all_blocks
    return [f"{block.name}.{side}" for block in blocks for side in block.info.located.values()]


def _bind(context: Context, event: Event, function: Callable[..., Any]) -> tuple[dict[str, Any], Bindings]:
    arguments: dict[str, Any] = {}
    bindings: Bindings = {}
    for argument in arguments_of(function):
        name = argument.name
        if name in event.inputs:
            arguments[name] = placeholder(f"events.{event.name}.inputs.{name}", event.inputs[name], bindings)
        elif name in event.parameters:
            arguments[name] = context.values.parameter(event, name)
        elif name == "time":
            arguments[name] = context.time
    return arguments, bindings


def _check_used(context: Context, event: Event) -> None:
    """Every input and parameter must be an argument of the guard or of the action."""
    names = {a.name for function in (event.guard, event.action) if function for a in arguments_of(function)}
    for group, keys in (("inputs", event.inputs), ("parameters", event.parameters)):
        context.flaws.add_unknown(keys, names, "neither guard nor action takes it", f"events.{event.name}.{group}")


def _trace_action(
    context: Context, event: Event, contributions: Contribution
) -> tuple[str | None, PythonCall | None, Contribution]:
    """Key of a native action, or a call in Python, and what it contributes."""
    if event.action is None:
        return None, None, Contribution()
    path, targets = f"events.{event.name}.action", contributions.targets
    arguments, bindings = _bind(context, event, event.action)
    read = Contribution(read=(bindings,))
    context.flaws.extend(check_arguments(event.action, arguments, f"events.{event.name}"))
    if not event.native:
        inputs = f"inputs:{event.name}"
        shapes, column = spread_arguments(arguments, bindings)
        call = PythonCall(event.action, inputs, shapes, {name: name for name in targets})
        return None, call, replace(read, arguments={inputs: column})
    trace = trace_law(event.action, arguments, bindings, path, context.flaws)
    if trace is None:
        return None, None, read
    for name in trace.results:
        if name not in targets:
            context.flaws.add(path, f"sets '{name}', which is neither a state nor memory", nearest(name, targets))
    # Traced: the action is a column of new values in the same symbols as everything else.
    function = f"action:events.{event.name}"
    action = {key: Deferred(value, bindings) for key, value in trace.results.items()}
    return function, None, replace(read, actions={function: action})
