"""Blocks: what do those of a machine contribute? Signals, states, forces, and for sampled ones memory and tasks."""

from __future__ import annotations

from typing import Any

import casadi as ca

from robodyn.assembly.builder import Builder, Deferred, StickElement, reference_to
from robodyn.assembly.control_models import bind_model
from robodyn.assembly.declarations import BreakRule, DelayInfo, MemoryInfo, StateInfo
from robodyn.assembly.network import Definition, SignalInfo
from robodyn.assembly.passivity import watch_block
from robodyn.assembly.promises import Promise
from robodyn.assembly.sampling import add_sampled_block
from robodyn.assembly.system import FREE
from robodyn.assembly.tracing import Bindings, Trace, placeholder, trace_law
from robodyn.assembly.units import unit_of_output, units_of
from robodyn.errors import nearest
from robodyn.laws import arguments_of
from robodyn.model import Block
from robodyn.model.block import FORCE_NAMES
from robodyn.model.outputs import single_output
from robodyn.symbolic import absolute, logical_and, logical_or, maximum, where

LIKENESS = 50
"""Depth to which two traced expressions are compared: deeper ones count as different, which costs a signal alone."""


def add_blocks(builder: Builder) -> None:
    """All blocks, in order of declaration."""
    for block in builder.scenario.machine.all_blocks:
        # Declare first, so that blocks may read one another in any order; then trace, then note what acts where.
        symbols = _declare(builder, block)
        arguments, bindings = bind_arguments(builder, block, symbols)
        if arguments.get("model", block) is None:
            continue
        if block.info.sticks:
            _add_sticking(builder, block, arguments, bindings)
            continue
        if block.sampled:
            outputs = add_sampled_block(builder, block, arguments, bindings)
        else:
            outputs = _add_continuous(builder, block, arguments, bindings)
        if outputs is not None:
            _add_forces(builder, block, outputs)
        _add_breaks(builder, block)


def _declare(builder: Builder, block: Block) -> dict[str, ca.SX]:
    """Make the block's states and memory known."""
    units = units_of(block, builder.units)
    initial = builder.scenario.initial
    symbols = {}
    for name in block.state_names:
        full = f"{block.name}.{name}"
        start = initial.get(full, block.states.get(name, 0.0))
        unit = units.fill(block.info.units.get(name, ""))
        symbols[name] = builder.add_state(StateInfo(full, unit, start, block.info.states.get(name, 1.0)))
    for name in block.memory_names:
        full = f"{block.name}.{name}"
        start = initial.get(full, block.memory.get(name, block.info.memory.get(name, 0.0)))
        start = FREE if block.info.sticks and name == "direction" else start
        unit = units.fill(block.info.units.get(name, ""))
        symbols[name] = builder.add_memory(MemoryInfo(full, unit, start))
    return symbols


def bind_arguments(builder: Builder, block: Block, symbols: dict[str, ca.SX]) -> tuple[dict[str, Any], Bindings]:
    """What the law is called with: symbols of its own states, placeholders for signals, values of parameters."""
    arguments: dict[str, Any] = {}
    bindings: Bindings = {}
    path = f"blocks.{block.name}"
    for argument in arguments_of(block.function):
        name, source = argument.name, block.source_of(argument)
        if source in ("state", "memory"):
            arguments[name] = symbols[name]
        elif source == "input":
            arguments[name] = placeholder(f"{path}.inputs.{name}", block.inputs[name], bindings)
        elif source == "parameter":
            arguments[name] = builder.values.parameter(block, name)
        elif source == "time":
            arguments[name] = builder.time
        elif source == "on":
            arguments[name] = placeholder(f"{path}.on.{name}", f"{block.on}.{name}", bindings)
    if block.takes_model:
        bind_model(builder, block, arguments, bindings)
    builder.network.refer(bindings)
    return arguments, bindings


def _add_continuous(builder: Builder, block: Block, arguments: dict[str, Any], bindings: Bindings) -> list[str] | None:
    path = f"blocks.{block.name}"
    trace = trace_law(block.function, arguments, bindings, path, builder.flaws, single_output(block))
    if trace is None:
        return None
    for name in block.state_names:
        _add_rate(builder, block, name, trace)
    for name in block.memory_names:
        if f"{name}_next" in trace.results:
            builder.flaws.add(path, f"returns '{name}_next' but is continuous", "give it a period, or set it by events")
    rates = {f"{name}_dot" for name in block.state_names}
    outputs = [name for name in trace.results if name not in rates]
    for name in outputs:
        info = SignalInfo(f"{block.name}.{name}", unit_of_output(block, name, builder.units))
        if info.name in builder.network.infos:
            builder.flaws.add(
                path, f"returns '{name}', but there is a signal '{info.name}' already", "rename the output"
            )
            continue
        builder.network.define([info], Definition({info.name: trace.results[name]}, bindings))
    if not builder.flaws.found:
        watch_block(builder, block, arguments, trace.results, bindings)
    return outputs


def _add_sticking(builder: Builder, block: Block, arguments: dict[str, Any], bindings: Bindings) -> None:
    """Friction that sticks, traced for sliding forth and back and without dry friction; its force is found later."""
    path = f"blocks.{block.name}"
    # One law, three modes: sliding forth, sliding back, and with its dry friction left out.
    ways = [arguments | {"direction": direction} for direction in (1.0, -1.0, 0.0)]
    traces = [trace_law(block.function, way, bindings, path, builder.flaws) for way in ways]
    found = [trace.results for trace in traces if trace is not None]
    if len(found) < len(ways):
        return
    names = [name for name in FORCE_NAMES if name in found[0]]
    if len(names) != 1 or set(found[0]) != {names[0], "holding_limit"}:
        builder.flaws.add(path, "a law that sticks returns its force and holding_limit, nothing else")
        return
    units = units_of(block, builder.units)
    against_forth, against_back = (ca.SX(results["holding_limit"]) for results in found[:2])
    limits = {"holding_limit": against_forth}
    # A limit that depends on the direction is two signals.
    if not ca.is_equal(against_forth, against_back, LIKENESS):
        limits["holding_limit_back"] = against_back
    for name, value in limits.items():
        limit = SignalInfo(f"{block.name}.{name}", units.fill("{F}"))
        builder.network.define([limit], Definition({limit.name: value}, bindings))
    force = SignalInfo(f"{block.name}.{names[0]}", units.fill("{F}"))
    builder.network.infos[force.name] = force
    # Where it began to stick: drift from there is taken back.
    anchor = builder.add_memory(MemoryInfo(f"{block.name}.anchor", "", 0.0, hidden=True))
    direction = builder.memory_symbols[f"{block.name}.direction"]
    forth, back, free = (results[names[0]] for results in found)
    sliding, held = (forth, back, free), (limits["holding_limit"], against_back)
    element = StickElement(block, str(block.on), force.name, direction, anchor, *sliding, held, dict(bindings))
    builder.sticking.append(element)


def _add_rate(builder: Builder, block: Block, name: str, trace: Trace) -> None:
    """A state's rate, stopped at the state's limits: `0 where x >= upper and rate > 0, or x <= lower and rate < 0`."""
    full = f"{block.name}.{name}"
    rate = trace.results.get(f"{name}_dot")
    if rate is None:
        builder.flaws.add(
            f"blocks.{block.name}",
            f"the law does not return '{name}_dot'",
            f"'{name}' is a state: give its rate",
        )
        return
    limits = block.info.limits.get(name)
    # Saturation with anti-windup: at a limit the integrator stops, it does not wind up beyond.
    if limits:
        lower, upper = (_limit(builder, block, limit) for limit in limits)
        x = builder.symbol_of(full)
        outward = logical_or(logical_and(x >= upper, rate > 0), logical_and(x <= lower, rate < 0))
        rate = where(outward, 0.0, rate)
        builder.limits[full] = (lower, upper)
        outside = maximum(x - upper, lower - x)
        builder.watch(Promise.LIMIT, full, builder.network.infos[full].unit, [outside, absolute(x)], {})
    unit = builder.network.infos[full].unit
    dot = SignalInfo(f"{full}_dot", f"{unit}/s" if unit else "1/s")
    builder.network.infos[full] = SignalInfo(full, unit, rate=dot.name)
    builder.network.define([dot], Definition({dot.name: rate}, trace.bindings))
    builder.rates[full] = reference_to(dot.name)


def _limit(builder: Builder, block: Block, limit: str | float) -> ca.SX:
    """A limit given as a number, a parameter's name, or its negative ("-current_limit")."""
    if isinstance(limit, str):
        value = builder.values.parameter(block, limit.removeprefix("-"))
        return ca.SX(-value if limit.startswith("-") else value)
    return ca.SX(limit)


def _add_forces(builder: Builder, block: Block, outputs: list[str]) -> None:
    """Note which outputs act on which joint or coordinate."""
    path = f"blocks.{block.name}"
    for output, target in block.targets.items():
        if output not in outputs:
            builder.flaws.add(f"{path}.acts.{output}", "the law has no such output", nearest(output, outputs))
        else:
            builder.forces.append((target, f"{block.name}.{output}"))
    acting = [name for name in FORCE_NAMES if name in outputs and name not in block.acts]
    if block.on and len(acting) > 1:
        builder.flaws.add(path, "returns both torque and force", "say with acts what each of them acts on")
    elif block.on and acting:
        builder.forces.append((block.on, f"{block.name}.{acting[0]}"))
    elif block.on and not block.acts and not _reads_place(block):
        builder.flaws.add(
            f"{path}.on", "has no effect", "the law neither reads position or velocity nor returns a force"
        )
    for key in block.hold:
        if key not in outputs:
            builder.flaws.add(f"{path}.hold.{key}", "the law has no such output", nearest(key, outputs))


def _reads_place(block: Block) -> bool:
    return any(block.source_of(argument) == "on" for argument in arguments_of(block.function))


def _add_breaks(builder: Builder, block: Block) -> None:
    if block.info.breaks and not block.sampled:
        names = {
            key: tuple(f"{block.name}.{key}.{k}" for k in range(len(value)))
            if isinstance(value, tuple)
            else f"{block.name}.{key}"
            for key, value in block.parameters.items()
        }
        builder.breaks.append(BreakRule(block.info.breaks, names))


def add_delays(builder: Builder) -> None:
    """Delayed signals are global symbols, read from history; what they delay is evaluated along the way."""
    for delay in builder.scenario.machine.delays:
        bindings: Bindings = {}
        source = placeholder(f"delays.{delay.name}.signal", delay.signal, bindings)
        builder.network.refer(bindings)
        builder.delayed.append(Deferred(source, bindings))
        builder.delays.append(DelayInfo(f"{delay.name}.output", delay.time, delay.before))
        builder.network.add_symbol(
            SignalInfo(f"{delay.name}.output", builder.units.get(delay.signal, "")),
            ca.SX.sym(f"{delay.name}.output"),
        )
