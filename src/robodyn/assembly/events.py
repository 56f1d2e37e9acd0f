"""Events: when does something happen, and what? Guards and actions of a scenario's events."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import casadi as ca

from robodyn.assembly.builder import Builder, Deferred, reference_to
from robodyn.assembly.declarations import Ending, Guard, PythonCall
from robodyn.assembly.promises import Promise
from robodyn.assembly.sampling import add_python_inputs
from robodyn.assembly.tracing import Bindings, check_arguments, placeholder, trace_law
from robodyn.errors import nearest
from robodyn.laws import arguments_of
from robodyn.model import Event
from robodyn.model.event import DIRECTIONS
from robodyn.symbolic import absolute, sign, where

START = "action:sides"


def add_events(builder: Builder) -> None:
    """Guards in the order of declaration."""
    for event in builder.scenario.events:
        path = f"events.{event.name}"
        arguments, bindings = _bind(builder, event, event.guard)
        builder.flaws.extend(check_arguments(event.guard, arguments, path))
        if any(flaw.path.startswith(path) for flaw in builder.flaws.found):
            continue
        trace = trace_law(event.guard, arguments, bindings, path, builder.flaws)
        if trace is None:
            continue
        if len(trace.results) != 1:
            builder.flaws.add(path, "the guard must return one value")
            continue
        _check_used(builder, event)
        # The energy balance of a run holds only if no action moves a state: the guard knows.
        action, call = _add_action(builder, event)
        states = {info.name for info in builder.states}
        moves = call is not None or (action is not None and not states.isdisjoint(builder.actions[action]))
        ending = Ending.STOPPED if event.terminal else None
        guard = Guard(event.name, DIRECTIONS[event.direction], ending, action, call, moves)
        builder.add_guard(guard, Deferred(next(iter(trace.results.values())), bindings))


def add_located(builder: Builder) -> None:
    """Zero crossings that laws want located: a step ends there, and memory notes the side, also at the start.

    side = sign(value), at a crossing that ends on zero itself the other side; at a root, where rounding could decide,
    the engine puts there the side that the crossing led to.
    """
    start: dict[str, Deferred] = {}
    for block in builder.scenario.machine.all_blocks:
        for output, argument in block.info.located.items():
            name, side = f"{block.name}.{output}", f"{block.name}.{argument}"
            if name not in builder.network.infos:
                builder.flaws.add(f"blocks.{block.name}", f"the law locates '{output}', which it does not return")
                continue
            value = reference_to(name)
            action = f"action:{name}"
            # At zero itself the side is the one it comes to, not the one it came from.
            passed = where(value.expression == 0, -builder.memory_symbols[side], sign(value.expression))
            builder.actions[action] = {side: Deferred(passed, value.bindings)}
            builder.add_guard(Guard(name, DIRECTIONS["both"], action=action, side=side), value)
            start[side] = Deferred(sign(value.expression), value.bindings)
            watch_side(builder, name, builder.memory_symbols[side], value)
    if start:
        builder.actions[START] = start


def add_ranges_of_laws(builder: Builder) -> None:
    """Outputs of laws that must be above zero: a run ends where one is not, and must not begin there."""
    for block in builder.scenario.machine.blocks:
        for output in block.info.positive:
            name = f"{block.name}.{output}"
            if name not in builder.network.infos:
                builder.flaws.add(f"blocks.{block.name}", f"the law needs '{output}', which it does not return")
                continue
            value = reference_to(name)
            builder.add_guard(Guard(name, DIRECTIONS["falling"], Ending.OUT_OF_REACH, block=block.name), value)
            below = [-value.expression, absolute(value.expression)]
            builder.watch(Promise.RANGE, name, builder.network.infos[name].unit, below, value.bindings)


def watch_side(builder: Builder, name: str, side: ca.SX, value: Deferred) -> None:
    """A value must be on the side that was noted when it passed zero; 0 notes nothing."""
    unit = builder.network.infos[name].unit if name in builder.network.infos else "m"
    values = [-side * value.expression, absolute(value.expression)]
    builder.watch(Promise.SIDE, name, unit, values, value.bindings)


def located_sides(builder: Builder) -> list[str]:
    """Memory that notes sides."""
    blocks = builder.scenario.machine.all_blocks
    return [f"{block.name}.{side}" for block in blocks for side in block.info.located.values()]


def _bind(builder: Builder, event: Event, function: Callable[..., Any]) -> tuple[dict[str, Any], Bindings]:
    arguments: dict[str, Any] = {}
    bindings: Bindings = {}
    for argument in arguments_of(function):
        name = argument.name
        if name in event.inputs:
            arguments[name] = placeholder(f"events.{event.name}.inputs.{name}", event.inputs[name], bindings)
        elif name in event.parameters:
            arguments[name] = builder.values.parameter(event, name)
        elif name == "time":
            arguments[name] = builder.time
    builder.network.refer(bindings)
    return arguments, bindings


def _check_used(builder: Builder, event: Event) -> None:
    """Every input and parameter must be an argument of the guard or of the action."""
    known = {a.name for function in (event.guard, event.action) if function for a in arguments_of(function)}
    for group, keys in (("inputs", event.inputs), ("parameters", event.parameters)):
        for key in keys:
            if key not in known:
                builder.flaws.add(
                    f"events.{event.name}.{group}.{key}",
                    "neither guard nor action takes it",
                    nearest(key, known),
                )


def _add_action(builder: Builder, event: Event) -> tuple[str | None, PythonCall | None]:
    if event.action is None:
        return None, None
    path = f"events.{event.name}.action"
    arguments, bindings = _bind(builder, event, event.action)
    builder.flaws.extend(check_arguments(event.action, arguments, f"events.{event.name}"))
    if not event.native:
        inputs = f"inputs:{event.name}"
        shapes = add_python_inputs(builder, inputs, arguments, bindings)
        return None, PythonCall(event.action, inputs, shapes, _targets(builder))
    trace = trace_law(event.action, arguments, bindings, path, builder.flaws)
    if trace is None:
        return None, None
    known = _targets(builder)
    for name in trace.results:
        if name not in known:
            builder.flaws.add(path, f"sets '{name}', which is no state or memory", nearest(name, known))
    # Traced: the action is a column of new values in the same symbols as everything else.
    function = f"action:events.{event.name}"
    builder.actions[function] = {key: Deferred(value, bindings) for key, value in trace.results.items()}
    return function, None


def place_targets(builder: Builder) -> None:
    """Where Python actions write, now that all states and memory are declared."""
    # Python's results are written by name; the places are final only now.
    places = _targets(builder)
    for k, guard in enumerate(builder.guards):
        if guard.call is not None:
            targets = {name: places[name] for name in guard.call.targets}
            builder.guards[k] = replace(guard, call=replace(guard.call, targets=targets))


def _targets(builder: Builder) -> dict[str, int]:
    """Indices into [x, m] of everything an action can change."""
    visible = [info.name for info in builder.states] + [info.name for info in builder.memory]
    return {name: k for k, name in enumerate(visible)}
