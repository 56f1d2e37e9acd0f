"""Sampled blocks and zero-order hold: when do they run, what do they remember, when do their outputs take effect?

At a tick of its period a block reads signals and its memory, and writes its memory and its held outputs. With a delay
the outputs wait in a pipeline; a second task lets them take effect, before all samples of the same tick. Blocks that
are due at the same tick run in the order in which they read each other, whatever the order of their declaration.
"""

from __future__ import annotations

import math
from collections.abc import Container, Mapping, Sequence
from itertools import pairwise
from typing import Any

import casadi as ca

from robodyn.base.errors import FlawList
from robodyn.base.symbolic import changed_entries
from robodyn.computation.assembly.base_period import as_fraction, find_base_period
from robodyn.computation.assembly.bound_block import BoundBlock
from robodyn.computation.assembly.contribution import Contribution, Deferred, declare_memory, merge
from robodyn.computation.assembly.declarations import LateRead, MemoryInfo, PythonCall, Task
from robodyn.computation.assembly.functions import Expressions
from robodyn.computation.assembly.tracing import Bindings
from robodyn.description.laws.recorded import RecordedReference
from robodyn.description.model import Block, Scenario

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


def _push(declared: Contribution, names: list[str], value: ca.SX) -> dict[str, ca.SX]:
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
    updates, arrivals, sample = {}, list[Task](), Task(block.name, period, offset, function, call)
    # A task of its own publishes delayed outputs, before any sample of the same tick reads them.
    waiting = {names[-1]: names[:-1] for names in pipelines.values() if len(names) > 1}
    if waiting:
        publish = f"publish:{block.name}"
        updates[publish] = _copy(declared, {held: pipeline[-1] for held, pipeline in waiting.items()})
        arrivals = [Task(f"{block.name} (output)", period, offset + delay, publish)]
    # Python writes the newest sample only: a native task shifts the others first, behind what they become.
    if call and _depth(block) > 1:
        shift = f"shift:{block.name}"
        late = {late: early for pipeline in waiting.values() for early, late in pairwise(pipeline)}
        updates[shift] = _copy(declared, late)
        arrivals.append(Task(f"{block.name} (pipeline)", period, offset, shift))
    return Contribution(updates=updates, arrivals=tuple(arrivals), tasks=(sample,))


def place_recorded(scenario: Scenario) -> Scenario:
    """The same scenario with held samples of recordings exactly at the ticks that they belong to."""
    laws = {block.name: block.law for block in scenario.machine.blocks}
    recorded = {name: law for name, law in laws.items() if isinstance(law, RecordedReference)}
    base = find_base_period(scenario, FlawList()) if recorded else None
    if base is None:
        return scenario
    placed = {name: law.on_ticks(base) for name, law in recorded.items()}
    blocks = tuple(block.replaced(law=placed.get(block.name, block.law)) for block in scenario.machine.blocks)
    return scenario.replaced(machine=scenario.machine.replaced(blocks=blocks))


def order_samples(
    samples: Sequence[Task],
    memory: Sequence[MemoryInfo],
    remembered: Container[str],
    symbols: ca.SX,
    expressions: Expressions,
) -> tuple[tuple[Task, ...], tuple[LateRead, ...]]:
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


def _meet(a: Task, b: Task) -> bool:
    """Whether two samples are ever due at the same tick."""
    return (a.offset - b.offset) % math.gcd(a.period, b.period) == 0


def _first_of_circle(needs: Sequence[set[int]], waiting: Sequence[int]) -> int:
    """The first sample as declared that needs none but those which need it, too."""
    reached: dict[int, set[int]] = {}
    for b in waiting:
        found, trail = set[int](), [b]
        while trail:
            more = (needs[trail.pop()] & set(waiting)) - found
            found |= more
            trail += more
        reached[b] = found
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
    """Of a call in Python: the shape of each argument, and the column of all their values."""
    column: list[Deferred] = []
    shapes: dict[str, int | None] = {}
    for name, value in arguments.items():
        entries = value if isinstance(value, tuple) else (value,)
        shapes[name] = len(entries) if isinstance(value, tuple) else None
        column += [Deferred(ca.SX(entry), bindings) for entry in entries]
    return shapes, tuple(column)
