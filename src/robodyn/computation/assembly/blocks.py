"""Blocks: what do those of a machine contribute? Signals, states, forces, and for sampled ones memory and tasks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import casadi as ca

from robodyn.base.errors import nearest
from robodyn.base.symbolic import absolute, logical_and, logical_or, maximum, where
from robodyn.computation.assembly.bound_block import BoundBlock, bind_block
from robodyn.computation.assembly.contribution import (
    Context,
    Contribution,
    Deferred,
    StickElement,
    declare_memory,
    define,
    merge,
    reference_to,
    watch,
)
from robodyn.computation.assembly.declarations import BreakRule, DelayInfo, MemoryInfo
from robodyn.computation.assembly.invariants import Invariant
from robodyn.computation.assembly.network import SignalInfo
from robodyn.computation.assembly.passivity import watch_block
from robodyn.computation.assembly.sampling import trace_sampled
from robodyn.computation.assembly.tracing import Bindings, Trace, placeholder
from robodyn.description.laws import arguments_of
from robodyn.description.model import Block
from robodyn.description.model.block import FORCE_NAMES

LIKENESS = 50
"""Depth to which two traced expressions are compared: deeper ones count as different, which costs a signal alone."""


def trace_blocks(context: Context, joints: Contribution) -> Contribution:
    """All blocks, in order of declaration.

    Args:
        joints: of the mechanism, whose states models of controllers read; a block takes its units from its signals and
            from those of the blocks before it.
    """
    parts, units = [], joints.units
    for block in context.scenario.machine.all_blocks:
        part = _trace_block(bind_block(context, block, units, joints.symbols))
        parts.append(part)
        units |= part.units
    return merge(parts)


def _trace_block(bound: BoundBlock) -> Contribution:
    """Its states and memory, what its law says, and what that acts on."""
    block = bound.block
    if not bound.is_complete:
        return bound.declared
    if block.info.sticks:
        return bound.declared + _trace_sticking(bound)
    outputs, traced = trace_sampled(bound) if block.sampled else _trace_continuous(bound)
    forces = () if outputs is None else _find_forces(bound, outputs)
    return merge((bound.declared, traced, Contribution(forces=forces, breaks=_find_breaks(block))))


def _trace_continuous(bound: BoundBlock) -> tuple[list[str] | None, Contribution]:
    """The names of its outputs, None where it cannot be traced, and what it contributes."""
    block, flaws, trace = bound.block, bound.context.flaws, bound.trace()
    if trace is None:
        return None, Contribution()
    rates = merge(_trace_rate(bound, name, trace) for name in block.state_names)
    for name in block.memory_names:
        if f"{name}_next" in trace.results:
            flaws.add(bound.path, f"returns '{name}_next' but is continuous", "give it a period, or set it by events")
    outputs = [name for name in trace.results if name not in {f"{state}_dot" for state in block.state_names}]
    parts = [rates]
    for name in outputs:
        info = SignalInfo(f"{block.name}.{name}", bound.unit_of_output(name))
        if info.name in bound.known or info.name in rates.signals:
            what = f"returns '{name}', but there is a signal '{info.name}' already"
            flaws.add(bound.path, what, "rename the output")
            continue
        parts.append(define([info], {info.name: trace.results[name]}, bound.bindings))
    if not flaws.found:
        parts.append(watch_block(block, bound.arguments, trace.results, bound.bindings))
    return outputs, merge(parts)


def _trace_sticking(bound: BoundBlock) -> Contribution:
    """Friction that sticks, traced for sliding forth and back and without dry friction; its force is found later."""
    block, bindings, flaws = bound.block, bound.bindings, bound.context.flaws
    # One law, three modes: sliding forth, sliding back, and with its dry friction left out.
    traces = [bound.trace(direction=direction) for direction in (1.0, -1.0, 0.0)]
    found = [trace.results for trace in traces if trace is not None]
    if len(found) < len(traces):
        return Contribution()
    names = [name for name in FORCE_NAMES if name in found[0]]
    if len(names) != 1 or set(found[0]) != {names[0], "holding_limit"}:
        flaws.add(bound.path, "a law that sticks returns its force and holding_limit, nothing else")
        return Contribution()
    against_forth, against_back = (ca.SX(results["holding_limit"]) for results in found[:2])
    limits = {f"{block.name}.holding_limit": against_forth}
    # A limit that depends on the direction is two signals.
    if not ca.is_equal(against_forth, against_back, LIKENESS):
        limits[f"{block.name}.holding_limit_back"] = against_back
    unit = bound.units.fill("{F}")
    force = SignalInfo(f"{block.name}.{names[0]}", unit)
    # Where it began to stick: drift from there is taken back.
    anchor = declare_memory(MemoryInfo(f"{block.name}.anchor", "", 0.0, hidden=True))
    memory = (bound.declared.symbols[f"{block.name}.direction"], anchor.symbols[f"{block.name}.anchor"])
    forth, back, free = (results[names[0]] for results in found)
    held = (against_forth, against_back)
    element = StickElement(block, str(block.on), force.name, *memory, forth, back, free, held, bindings)
    signals = [define([SignalInfo(name, unit)], {name: value}, bindings) for name, value in limits.items()]
    return merge((*signals, Contribution(signals={force.name: force}, sticking=(element,)), anchor))


def _trace_rate(bound: BoundBlock, name: str, trace: Trace) -> Contribution:
    """A state's rate, stopped at the state's limits: `0 where x >= upper and rate > 0, or x <= lower and rate < 0`."""
    block, full = bound.block, f"{bound.block.name}.{name}"
    rate = trace.results.get(f"{name}_dot")
    if rate is None:
        what = f"the law does not return '{name}_dot'"
        bound.context.flaws.add(bound.path, what, f"'{name}' is a state: give its rate")
        return Contribution()
    unit, limited = bound.known[full], Contribution()
    limits = block.info.limits.get(name)
    # Saturation with anti-windup: at a limit the integrator stops, it does not wind up beyond.
    if limits:
        lower, upper = (_limit(bound, limit) for limit in limits)
        x = bound.declared.symbols[full]
        outward = logical_or(logical_and(x >= upper, rate > 0), logical_and(x <= lower, rate < 0))
        rate = where(outward, 0.0, rate)
        outside = maximum(x - upper, lower - x)
        limited = replace(watch(Invariant.LIMIT, full, unit, [outside, absolute(x)], {}), limits={full: (lower, upper)})
    dot = SignalInfo(f"{full}_dot", f"{unit}/s" if unit else "1/s")
    state = Contribution(signals={full: SignalInfo(full, unit, rate=dot.name)}, rates={full: reference_to(dot.name)})
    return merge((limited, state, define([dot], {dot.name: rate}, trace.bindings)))


def _limit(bound: BoundBlock, limit: str | float) -> ca.SX:
    """A limit given as a number, a parameter's name, or its negative ("-current_limit")."""
    if isinstance(limit, str):
        value = bound.context.values.parameter(bound.block, limit.removeprefix("-"))
        return ca.SX(-value if limit.startswith("-") else value)
    return ca.SX(limit)


def _find_forces(bound: BoundBlock, outputs: list[str]) -> tuple[tuple[str, str], ...]:
    """Which outputs act on which joint or coordinate."""
    block, path, flaws = bound.block, bound.path, bound.context.flaws
    forces = []
    for output, target in block.targets.items():
        if output not in outputs:
            flaws.add(f"{path}.acts.{output}", "the law has no such output", nearest(output, outputs))
        else:
            forces.append((target, f"{block.name}.{output}"))
    acting = [name for name in FORCE_NAMES if name in outputs and name not in block.acts]
    if block.on and len(acting) > 1:
        flaws.add(path, "returns both torque and force", "say with acts what each of them acts on")
    elif block.on and acting:
        forces.append((block.on, f"{block.name}.{acting[0]}"))
    elif block.on and not block.acts and not _reads_place(block):
        flaws.add(f"{path}.on", "has no effect", "the law neither reads position or velocity nor returns a force")
    for key in block.hold:
        if key not in outputs:
            flaws.add(f"{path}.hold.{key}", "the law has no such output", nearest(key, outputs))
    return tuple(forces)


def _reads_place(block: Block) -> bool:
    return any(block.source_of(argument) == "on" for argument in arguments_of(block.function))


def _find_breaks(block: Block) -> tuple[BreakRule, ...]:
    if not block.info.breaks or block.sampled:
        return ()
    names = {
        key: tuple(f"{block.name}.{key}.{k}" for k in range(len(value)))
        if isinstance(value, tuple)
        else f"{block.name}.{key}"
        for key, value in block.parameters.items()
    }
    return (BreakRule(block, names),)


def trace_delays(context: Context, units: Mapping[str, str]) -> Contribution:
    """Delayed signals are global symbols, read from history; what they delay is evaluated along the way."""
    parts, known = [], dict(units)
    for delay in context.scenario.machine.delays:
        bindings: Bindings = {}
        source = placeholder(f"delays.{delay.name}.signal", delay.signal, bindings)
        name = f"{delay.name}.output"
        known[name] = known.get(delay.signal, "")
        parts.append(
            Contribution(
                signals={name: SignalInfo(name, known[name])},
                symbols={name: ca.SX.sym(name)},
                read=(bindings,),
                delays=(DelayInfo(name, delay.time, delay.before),),
                delayed=(Deferred(source, bindings),),
            )
        )
    return merge(parts)
