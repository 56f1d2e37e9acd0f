"""Blocks: what do those of a machine contribute? Signals, states, forces, and for sampled ones memory and tasks."""

from __future__ import annotations

import math
from collections.abc import Container, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import casadi as ca
from casadi import SX

from robodyn.base import FlawList, frozen, nearest
from robodyn.base.symbolic import absolute, changed_entries, logical_and, logical_or, maximum, where
from robodyn.description.laws import LawInfo, arguments_of
from robodyn.description.laws.recorded import RecordedReference
from robodyn.description.model import Block, Scenario
from robodyn.description.model.block import FORCE_NAMES, single_output

from .contribution import (
    Context,
    Contribution,
    Deferred,
    StickElement,
    as_fraction,
    declare_memory,
    declare_state,
    define_signal,
    find_base_period,
    merge,
    reference_to,
    watch,
)
from .control.models import bind_model
from .declarations import (
    BreakRule,
    DelayInfo,
    Invariant,
    LateRead,
    MemoryInfo,
    PythonCall,
    SampledTask,
    StateInfo,
)
from .network import SignalInfo
from .system import FREE, Expressions
from .tracing import FRICTION, FRICTION_FACTOR, Bindings, LawTrace, placeholder, trace_law
from .units import BlockUnits, unit_of_output, units_of

# --------------------------------------------------------------------------------------------------
# Blocks before they are traced: which states and memory has one, and what is its law called with?


@frozen
class BoundBlock:
    """A block, what its law is called with, and its states and memory.

    Attributes:
        known: units of the signals before it, and of its own states and memory.
    """

    context: Context
    block: Block
    arguments: Mapping[str, Any]
    bindings: Bindings
    declared: Contribution
    known: Mapping[str, str]

    @property
    def path(self) -> str:
        """Where its flaws are."""
        return f"blocks.{self.block.name}"

    @cached_property
    def units(self) -> BlockUnits:
        return units_of(self.block, self.known)

    def unit_of_output(self, name: str) -> str:
        return unit_of_output(self.block, name, self.known)

    @property
    def is_complete(self) -> bool:
        """False where its law wants a model of the machine that cannot be made."""
        return self.arguments.get("model", self) is not None

    def trace(self, **changed: Any) -> LawTrace | None:
        """Results of its law, some arguments changed; None and a flaw where it cannot be traced."""
        arguments = {**self.arguments, **changed}
        law_call = (self.block.function, arguments, self.bindings)
        trace = trace_law(*law_call, self.path, self.context.flaws, single_output(self.block))
        if trace is not None and self.block.info.disturbance:
            forces = (*FORCE_NAMES, *self.block.acts)
            scaled = {name: FRICTION_FACTOR * trace.results[name] for name in forces if name in trace.results}
            trace = replace(trace, results={**trace.results, **scaled})
        if trace is None or not self.block.takes_model:
            return trace
        # Every function of a model has its own copy of the dynamics: what they share is computed once.
        shared = ca.cse(list(trace.results.values()))
        return replace(trace, results=dict(zip(trace.results, shared, strict=True)))


def bind_block(context: Context, block: Block, units: Mapping[str, str], joints: Mapping[str, SX]) -> BoundBlock:
    """Symbols for its states and memory, placeholders for the signals that it reads.

    Args:
        units: of the signals known so far; joints: symbols of the mechanism's states.
    """
    declared = _declare(context, block, units)
    arguments, bindings = _bind_arguments(context, block, declared.symbols)
    if block.takes_model:
        more, read, added = bind_model(context, block, joints)
        arguments, bindings = arguments | more, bindings | read
        declared += added
    declared = replace(declared, read=(bindings,))
    if block.takes_model or block.info.disturbance:
        bindings = bindings | {FRICTION_FACTOR.name(): (FRICTION_FACTOR, FRICTION, "")}
    return BoundBlock(context, block, arguments, bindings, declared, {**units, **declared.units})


def _declare(context: Context, block: Block, signal_units: Mapping[str, str]) -> Contribution:
    """The block's states and memory."""
    units, initial = units_of(block, signal_units), context.scenario.initial
    parts = []
    for name in block.state_names:
        full = f"{block.name}.{name}"
        start = initial.get(full, block.states.get(name, 0.0))
        unit = units.fill(block.info.units.get(name, ""))
        nominal = block.info.states.get(name, 1.0) * context.size.of(unit)
        parts.append(declare_state(StateInfo(full, unit, start, nominal)))
    for name in block.memory_names:
        full = f"{block.name}.{name}"
        start = initial.get(full, block.memory.get(name, block.info.memory.get(name, 0.0)))
        start = FREE if block.info.sticks and name == "direction" else start
        parts.append(declare_memory(MemoryInfo(full, units.fill(block.info.units.get(name, "")), start)))
    return merge(parts)


def _bind_arguments(context: Context, block: Block, symbols: Mapping[str, SX]) -> tuple[dict[str, Any], Bindings]:
    """Arguments of the law: symbols of its own states, placeholders for signals, values of parameters."""
    arguments: dict[str, Any] = {}
    bindings: Bindings = {}
    path = f"blocks.{block.name}"
    for argument in arguments_of(block.function):
        name, source = argument.name, block.source_of(argument)
        if source in ("state", "memory"):
            arguments[name] = symbols[f"{block.name}.{name}"]
        elif source == "input":
            arguments[name] = placeholder(f"{path}.inputs.{name}", block.inputs[name], bindings)
        elif source == "parameter":
            arguments[name] = context.values.parameter(block, name)
        elif source == "time":
            arguments[name] = context.time
        elif source == "on":
            arguments[name] = placeholder(f"{path}.on.{name}", f"{block.on}.{name}", bindings)
    return arguments, bindings


# --------------------------------------------------------------------------------------------------
# Passivity: does an element that only stores or loses energy ever give more than it holds?
#
#     P + dE/dt <= 0
#
# P is the power of its force on the mechanism, E the energy that the element stores. Both are exact at every instant,
# so that an element that pulls where it should push, slides the wrong way or was changed at the wrong time is reported
# by name.


def watch_passive(
    name: str, info: LawInfo, power: Any, arguments: Mapping[str, Any], rates: Mapping[str, Any], bindings: Bindings
) -> Contribution:
    """Watch an element whose law is passive; its power and what it gains or loses of its store are the sizes.

    Args:
        power: of its force on the mechanism [W].
        arguments: what its law was traced with; rates: of those that its store depends on and that change.
    """
    if not info.passive:
        return Contribution()
    power, growth = SX(power), SX(0)
    if info.stored is not None:
        # dE/dt = sum dE/ds s_dot over what the store depends on, by fresh symbols for just these.
        moving = {key: SX.sym(key) for key in rates}
        values = {**arguments, **moving}
        stored = SX(info.stored(**{argument.name: values[argument.name] for argument in arguments_of(info.stored)}))
        growth = sum((ca.jacobian(stored, moving[key]) * rate for key, rate in rates.items()), SX(0))
        growth = ca.substitute([growth], list(moving.values()), [SX(arguments[key]) for key in moving])[0]
    return watch(Invariant.PASSIVE, name, "W", [power + growth, absolute(power)], bindings)


def watch_block(
    block: Block, arguments: Mapping[str, Any], results: Mapping[str, Any], bindings: Bindings
) -> Contribution:
    """Watch a passive block on a joint or coordinate whose motion it takes from there itself."""
    forces = [name for name in FORCE_NAMES if name in results]
    sources = {a.name: block.source_of(a) for a in arguments_of(block.function) if a.name in ("position", "velocity")}
    # Only then is its force times that speed its power.
    taken = "velocity" in sources and set(sources.values()) == {"on"}
    if block.on is None or block.acts or len(forces) != 1 or not taken:
        return Contribution()
    rates = {name: results[f"{name}_dot"] for name in block.state_names}
    if "position" in sources:
        rates["position"] = arguments["velocity"]
    power = results[forces[0]] * arguments["velocity"]
    return watch_passive(block.name, block.info, power, arguments, rates, bindings)


# --------------------------------------------------------------------------------------------------
# Continuous blocks, friction that sticks, and what the outputs of a block act on.


LIKENESS = 50
"""Depth to which two traced expressions are compared: deeper ones count as different, which costs a signal alone."""


def trace_blocks(context: Context, joints: Contribution) -> Contribution:
    """All blocks, in order of declaration.

    Args:
        joints: of the mechanism, whose states models of controllers read; a block takes its units from its signals and
            from those of the blocks before it.
    """
    parts, units = [], joints.units
    for block in context.machine.all_blocks:
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
        full = f"{block.name}.{name}"
        if full in bound.known or full in rates.signals:
            what = f"returns '{name}', but there is a signal '{full}' already"
            flaws.add(bound.path, what, "rename the output")
            continue
        parts.append(define_signal(full, bound.unit_of_output(name), trace.results[name], bound.bindings))
    if not flaws.found:
        parts.append(watch_block(block, bound.arguments, trace.results, bound.bindings))
    return outputs, merge(parts)


def _trace_sticking(bound: BoundBlock) -> Contribution:
    """Friction that sticks, traced for sliding forth and back and without dry friction; its force is found later."""
    block, bindings, flaws = bound.block, bound.bindings, bound.context.flaws
    # One law, three modes: sliding forth, sliding back, and with its dry friction left out.
    traces = [bound.trace(direction=direction) for direction in (1.0, -1.0, 0.0)]
    modes = [trace.results for trace in traces if trace is not None]
    if len(modes) < len(traces):
        return Contribution()
    names = [name for name in FORCE_NAMES if name in modes[0]]
    if len(names) != 1 or set(modes[0]) != {names[0], "holding_limit"}:
        flaws.add(bound.path, "a law that sticks returns its force and holding_limit, nothing else")
        return Contribution()
    against_forth, against_back = (SX(results["holding_limit"]) for results in modes[:2])
    limits = {f"{block.name}.holding_limit": against_forth}
    # A limit that depends on the direction is two signals.
    if not ca.is_equal(against_forth, against_back, LIKENESS):
        limits[f"{block.name}.holding_limit_back"] = against_back
    unit = bound.units.fill("{F}")
    force = SignalInfo(f"{block.name}.{names[0]}", unit)
    # Where it began to stick: drift from there is taken back.
    anchor = declare_memory(MemoryInfo(f"{block.name}.anchor", "", 0.0, hidden=True))
    memory = (bound.declared.symbols[f"{block.name}.direction"], anchor.symbols[f"{block.name}.anchor"])
    forth, back, free = (results[names[0]] for results in modes)
    held = (against_forth, against_back)
    element = StickElement(block, str(block.on), force.name, *memory, forth, back, free, held, bindings)
    signals = [define_signal(name, unit, value, bindings) for name, value in limits.items()]
    return merge((*signals, Contribution(signals={force.name: force}, sticking=(element,)), anchor))


def _trace_rate(bound: BoundBlock, name: str, trace: LawTrace) -> Contribution:
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
    dot = f"{full}_dot"
    state = Contribution(signals={full: SignalInfo(full, unit, rate=dot)}, rates={full: reference_to(dot)})
    return merge((limited, state, define_signal(dot, f"{unit}/s" if unit else "1/s", rate, trace.bindings)))


def _limit(bound: BoundBlock, limit: str | float) -> SX:
    """A limit given as a number, a parameter's name, or its negative ("-current_limit")."""
    if isinstance(limit, str):
        value = bound.context.values.parameter(bound.block, limit.removeprefix("-"))
        return SX(-value if limit.startswith("-") else value)
    return SX(limit)


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
        flaws.add(path, "returns both torque and force", "name in acts what each of them acts on")
    elif block.on and acting:
        forces.append((block.on, f"{block.name}.{acting[0]}"))
    elif block.on and not block.acts and "on" not in map(block.source_of, arguments_of(block.function)):
        flaws.add(f"{path}.on", "has no effect", "the law neither reads position or velocity nor returns a force")
    flaws.add_unknown(block.hold, outputs, "the law has no such output", f"{path}.hold")
    return tuple(forces)


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
    parts, signal_units = [], dict(units)
    for delay in context.machine.delays:
        bindings: Bindings = {}
        source = placeholder(f"delays.{delay.name}.signal", delay.signal, bindings)
        name = f"{delay.name}.output"
        signal_units[name] = signal_units.get(delay.signal, "")
        parts.append(
            Contribution(
                signals={name: SignalInfo(name, signal_units[name])},
                symbols={name: SX.sym(name)},
                read=(bindings,),
                delays=(DelayInfo(name, delay.time, delay.before),),
                delayed=(Deferred(source, bindings),),
            )
        )
    return merge(parts)


# --------------------------------------------------------------------------------------------------
# Sampled blocks and zero-order hold: when do they run, what do they remember, when do their outputs take effect?
#
# At a tick of its period a block reads signals and its memory, and writes its memory and its held outputs. With a delay
# the outputs wait in a pipeline; a second task lets them take effect, before all samples of the same tick. Blocks that
# are due at the same tick run in the order in which they read each other, whatever the order of their declaration.


Pipelines = dict[str, list[str]]
"""Output -> names of the memory through which it passes, the held one last."""


def trace_sampled(bound: BoundBlock) -> tuple[list[str] | None, Contribution]:
    """Held outputs and tasks of a sampled block; the outputs' names, None where its law cannot be traced."""
    block, path, flaws = bound.block, bound.path, bound.context.flaws
    if not block.native:
        outputs = list(block.hold)
        pipelines, declared = _declare_outputs(bound, outputs)
        return outputs, declared + _call_python(bound, pipelines, declared)
    trace = bound.trace()
    if trace is None:
        return None, Contribution()
    # What the law returns as `<name>_next` is memory; everything else is an output.
    nexts = {f"{name}_next": name for name in block.memory_names}
    outputs = [name for name in trace.results if name not in nexts]
    if not outputs and not block.memory_names:
        flaws.add(path, "the law returns nothing", "return outputs, or memory as '<name>_next'")
    pipelines, declared = _declare_outputs(bound, outputs)
    update = {f"{block.name}.{nexts[key]}": trace.results[key] for key in trace.results if key in nexts}
    for name in block.memory_names:
        if f"{name}_next" not in trace.results:
            flaws.add(path, f"the law does not return '{name}_next'", f"'{name}' is memory: give its new value")
    # Outputs are held until the next sample (zero-order hold); with a delay they wait in a shift register.
    for name, pipeline in pipelines.items():
        update |= _push(declared, pipeline, trace.results[name])
    function = f"task:{block.name}"
    updates = {function: {key: Deferred(value, bound.bindings) for key, value in update.items()}}
    tasks = _plan_tasks(bound, pipelines, declared, function=function)
    return outputs, merge((declared, Contribution(updates=updates), tasks))


def _depth(block: Block) -> int:
    """Samples under way at once."""
    assert block.period is not None
    return math.ceil(as_fraction(block.delay) / as_fraction(block.period))


def _declare_outputs(bound: BoundBlock, outputs: list[str]) -> tuple[Pipelines, Contribution]:
    """Held outputs and, with a delay, the memory in which they wait."""
    block, parts = bound.block, []
    pipelines: Pipelines = {}
    for name in outputs:
        full, unit = f"{block.name}.{name}", bound.unit_of_output(name)
        start = bound.context.scenario.initial.get(full, block.hold.get(name, 0.0))
        if full in bound.declared.symbols:
            what = f"returns '{name}', which is the name of its memory"
            bound.context.flaws.add(bound.path, what, "rename the output")
            continue
        waiting = [f"{full}.pending.{k}" for k in range(_depth(block))]
        parts += [declare_memory(MemoryInfo(late, unit, start, hidden=True)) for late in waiting]
        parts.append(declare_memory(MemoryInfo(full, unit, start)))
        pipelines[name] = [*waiting, full]
    return pipelines, merge(parts)


def _push(declared: Contribution, names: list[str], value: SX) -> dict[str, SX]:
    """A new sample enters the pipeline (or, without a delay, takes effect at once)."""
    if len(names) == 1:
        return {names[0]: value}
    pipeline = names[:-1]
    shifted = [declared.symbols[name] for name in pipeline[:-1]]
    return dict(zip(pipeline, [value, *shifted], strict=True))


def _plan_tasks(
    bound: BoundBlock,
    pipelines: Pipelines,
    declared: Contribution,
    function: str | None = None,
    call: PythonCall | None = None,
) -> Contribution:
    """Shift a Python block's pipeline, then take the new sample; outputs arrive before all samples of their tick."""
    block, base = bound.block, bound.context.base_period
    if base is None:
        return Contribution()
    assert block.period is not None
    period, offset, delay = (int(as_fraction(time) / base) for time in (block.period, block.offset, block.delay))
    updates, arrivals, sample = {}, list[SampledTask](), SampledTask(block.name, period, offset, function, call)
    # A task of its own publishes delayed outputs, before any sample of the same tick reads them.
    waiting = {names[-1]: names[:-1] for names in pipelines.values() if len(names) > 1}
    if waiting:
        publish = f"publish:{block.name}"
        updates[publish] = _copy(declared, {held: pipeline[-1] for held, pipeline in waiting.items()})
        arrivals = [SampledTask(f"{block.name} (output)", period, offset + delay, publish)]
    # Python writes the newest sample only: a native task shifts the others first, behind what they become.
    if call and _depth(block) > 1:
        shift = f"shift:{block.name}"
        late = {late: early for pipeline in waiting.values() for early, late in pairwise(pipeline)}
        updates[shift] = _copy(declared, late)
        arrivals.append(SampledTask(f"{block.name} (pipeline)", period, offset, shift))
    return Contribution(updates=updates, arrivals=tuple(arrivals), tasks=(sample,))


def place_recorded(scenario: Scenario) -> Scenario:
    """The scenario with held samples of recordings exactly at the ticks that they belong to."""
    laws = {block.name: block.law for block in scenario.machine.blocks}
    recorded = {name: law for name, law in laws.items() if isinstance(law, RecordedReference)}
    base = find_base_period(scenario, FlawList()) if recorded else None
    if base is None:
        return scenario
    placed = {name: law.on_ticks(base) for name, law in recorded.items()}
    blocks = tuple(block.replaced(law=placed.get(block.name, block.law)) for block in scenario.machine.blocks)
    return scenario.replaced(machine=scenario.machine.replaced(blocks=blocks))


def order_samples(
    samples: Sequence[SampledTask],
    memory: Sequence[MemoryInfo],
    remembered: Container[str],
    symbols: SX,
    expressions: Expressions,
) -> tuple[tuple[SampledTask, ...], tuple[LateRead, ...]]:
    """Samples in the order in which they read each other's outputs, and what is read a sample late in spite of it.

    Those that do not depend on each other stay as they are declared, as do those that read what another remembers. So
    do those that read each other in a circle, as at a common tick one of them has to be first: it reads what another
    left at a tick before.

    Args:
        remembered: names of the laws' own memory; symbols: of all memory.
    """
    names = [info.name for info in memory]
    place = {symbols[k].element_hash(): k for k in range(symbols.numel())}
    reads, writes = list[set[int]](), list[set[int]]()
    for task in samples:
        if task.call:
            column, written = expressions.arguments[task.call.inputs], set(task.call.targets.values())
        else:
            after = expressions.updates[task.function or ""]
            changed = changed_entries(symbols, after)
            column, written = after[changed, 0], {names[k] for k in changed}
        reads.append({place[s.element_hash()] for s in ca.symvar(column) if s.element_hash() in place})
        writes.append({names.index(name) for name in written})

    # read[b]: samples whose values b reads at ticks that both are due at; needs[b]: those of them that come first.
    n = len(samples)
    read = [{a for a in range(n) if a != b and writes[a] & reads[b]} for b in range(n)]
    for b, others in enumerate(read):
        others -= {a for a in others if not _meet(samples[a], samples[b])}
    outputs = [{k for k in written if names[k] not in remembered} for written in writes]
    needs = [{a for a in read[b] if outputs[a] & reads[b]} for b in range(n)]

    order, waiting = list[int](), dict.fromkeys(range(n))
    while waiting:
        ready = next((b for b in waiting if not needs[b] & waiting.keys()), None)
        first = _first_of_circle(needs, list(waiting)) if ready is None else ready
        order.append(first)
        del waiting[first]

    turn = {b: k for k, b in enumerate(order)}
    pairs = [(b, a) for b in order for a in sorted(read[b]) if turn[b] < turn[a]]
    late = [
        LateRead(samples[b].name, names[k], names[k] in remembered)
        for b, a in pairs
        for k in sorted(writes[a] & reads[b])
    ]
    return tuple(samples[b] for b in order), tuple(late)


def _meet(a: SampledTask, b: SampledTask) -> bool:
    """Whether two samples are ever due at the same tick."""
    return (a.offset - b.offset) % math.gcd(a.period, b.period) == 0


def _first_of_circle(needs: Sequence[set[int]], waiting: Sequence[int]) -> int:
    """The first sample as declared that needs none but those which need it, too."""
    reached: dict[int, set[int]] = {}
    for b in waiting:
        needed, trail = set[int](), [b]
        while trail:
            more = (needs[trail.pop()] & set(waiting)) - needed
            needed |= more
            trail += more
        reached[b] = needed
    return next(b for b in waiting if all(b in reached[a] for a in reached[b]))


def _copy(declared: Contribution, copies: dict[str, str]) -> dict[str, Deferred]:
    """An update that copies memory: target -> source."""
    return {to: Deferred(declared.symbols[source], {}) for to, source in copies.items()}


def _call_python(bound: BoundBlock, pipelines: Pipelines, declared: Contribution) -> Contribution:
    """A law called in Python: its arguments are evaluated natively, its results written back by name."""
    block, inputs = bound.block, f"inputs:{bound.block.name}"
    shapes, column = spread_arguments(bound.arguments, bound.bindings)
    targets = {f"{name}_next": f"{block.name}.{name}" for name in block.memory_names}
    targets |= {name: pipeline[0] for name, pipeline in pipelines.items()}
    call = PythonCall(block.function, inputs, shapes, targets)
    return Contribution(arguments={inputs: column}) + _plan_tasks(bound, pipelines, declared, call=call)


def spread_arguments(
    arguments: Mapping[str, Any], bindings: Bindings
) -> tuple[dict[str, int | None], tuple[Deferred, ...]]:
    """The shape of each argument of a call in Python, and the column of all their values."""
    column: list[Deferred] = []
    shapes: dict[str, int | None] = {}
    for name, value in arguments.items():
        entries = value if isinstance(value, tuple) else (value,)
        shapes[name] = len(entries) if isinstance(value, tuple) else None
        column += [Deferred(SX(entry), bindings) for entry in entries]
    return shapes, tuple(column)
