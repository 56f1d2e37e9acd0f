"""Sampled blocks and zero-order hold: when do they run, what do they remember, when do their outputs take effect?

At a tick of its period a block reads signals and its memory, and writes its memory and its held outputs. With a delay
the outputs wait in a pipeline; a second task lets them take effect, before all samples of the same tick.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from typing import Any

import casadi as ca

from robodyn.assembly.builder import Builder, Deferred
from robodyn.assembly.declarations import MemoryInfo, PythonCall, Task
from robodyn.assembly.tracing import Bindings, trace_law
from robodyn.assembly.units import unit_of_output
from robodyn.errors import FlawList
from robodyn.model import Block, Scenario
from robodyn.model.outputs import single_output

SMALLEST_BASE = Fraction(1, 10**9)


def as_fraction(seconds: float) -> Fraction:
    """The simple fraction a decimal time stands for (0.00025 is 1/4000)."""
    return Fraction(seconds).limit_denominator(10**9)


def find_base_period(scenario: Scenario, flaws: FlawList) -> Fraction | None:
    """The longest time of which all periods, offsets and delays of sampled blocks are multiples."""
    times = [
        as_fraction(time)
        for block in scenario.machine.blocks
        if block.period is not None
        for time in (block.period, block.offset, block.delay)
        if time > 0
    ]
    if not times:
        return None
    if min(times) == 0:
        flaws.add("blocks", "a sample time is below 1 ns", "leave the delay or offset out")
        return None
    # gcd(a/b, c/d) = gcd(a d, c b) / (b d): exact, ticks are whole numbers.
    base = times[0]
    for time in times[1:]:
        base = Fraction(
            math.gcd(base.numerator * time.denominator, time.numerator * base.denominator),
            base.denominator * time.denominator,
        )
    if base < SMALLEST_BASE:
        shown = ", ".join(sorted({f"{float(time):g} s" for time in times}))
        flaws.add("blocks", f"sample times {shown} have no common base period above 1 ns", "round them to multiples")
        return None
    return base


def add_sampled_block(
    builder: Builder, block: Block, arguments: dict[str, Any], bindings: Bindings
) -> list[str] | None:
    """Declare held outputs and tasks; returns the outputs' names."""
    if not block.native:
        outputs = list(block.hold)
        targets = _declare_outputs(builder, block, outputs)
        _add_python_task(builder, block, arguments, bindings, targets)
        return outputs
    path = f"blocks.{block.name}"
    trace = trace_law(block.function, arguments, bindings, path, builder.flaws, single_output(block))
    if trace is None:
        return None
    # What the law returns as `<name>_next` is memory; everything else is an output.
    nexts = {f"{name}_next": name for name in block.memory_names}
    outputs = [name for name in trace.results if name not in nexts]
    if not outputs and not block.memory_names:
        builder.flaws.add(path, "the law returns nothing", "return outputs, or memory as '<name>_next'")
    targets = _declare_outputs(builder, block, outputs)
    update = {f"{block.name}.{nexts[key]}": trace.results[key] for key in trace.results if key in nexts}
    for name in block.memory_names:
        if f"{name}_next" not in trace.results:
            builder.flaws.add(path, f"the law does not return '{name}_next'", f"'{name}' is memory: give its new value")
    # Outputs are held until the next sample (zero-order hold); with a delay they wait in a shift register.
    for name, waiting in targets.items():
        update |= _push(builder, waiting, trace.results[name])
    function = f"task:{block.name}"
    builder.updates[function] = {key: Deferred(value, bindings) for key, value in update.items()}
    _add_tasks(builder, block, targets, function=function)
    return outputs


def _depth(block: Block) -> int:
    """Samples under way at once."""
    assert block.period is not None
    return math.ceil(as_fraction(block.delay) / as_fraction(block.period))


def _declare_outputs(builder: Builder, block: Block, outputs: list[str]) -> dict[str, list[str]]:
    """Held outputs and, with a delay, their pipeline: output -> memory names, the held one last."""
    targets: dict[str, list[str]] = {}
    for name in outputs:
        full = f"{block.name}.{name}"
        unit = unit_of_output(block, name, builder.units)
        start = builder.scenario.initial.get(full, block.hold.get(name, 0.0))
        if full in builder.memory_symbols:
            what = f"returns '{name}', which is the name of its memory"
            builder.flaws.add(f"blocks.{block.name}", what, "rename the output")
            continue
        pipeline = [f"{full}.pending.{k}" for k in range(_depth(block))]
        for waiting in pipeline:
            builder.add_memory(MemoryInfo(waiting, unit, start, hidden=True))
        builder.add_memory(MemoryInfo(full, unit, start))
        targets[name] = [*pipeline, full]
    return targets


def _push(builder: Builder, names: list[str], value: ca.SX) -> dict[str, ca.SX]:
    """A new sample enters the pipeline (or, without a delay, takes effect at once)."""
    if len(names) == 1:
        return {names[0]: value}
    pipeline = names[:-1]
    shifted = [builder.memory_symbols[name] for name in pipeline[:-1]]
    return dict(zip(pipeline, [value, *shifted], strict=True))


def _add_tasks(
    builder: Builder,
    block: Block,
    targets: dict[str, list[str]],
    function: str | None = None,
    call: PythonCall | None = None,
) -> None:
    """Shift a Python block's pipeline, then take the new sample; outputs arrive before all samples of their tick."""
    base = builder.base_period
    if base is None:
        return
    assert block.period is not None
    period, offset, delay = (int(as_fraction(time) / base) for time in (block.period, block.offset, block.delay))
    # A task of its own publishes delayed outputs, before any sample of the same tick reads them.
    waiting = {names[-1]: names[:-1] for names in targets.values() if len(names) > 1}
    if waiting:
        _add_update(builder, f"publish:{block.name}", {held: pipeline[-1] for held, pipeline in waiting.items()})
        builder.arrivals.append(Task(f"{block.name} (output)", period, offset + delay, f"publish:{block.name}"))
    # Python writes the newest sample only: a native task shifts the others first.
    if call and _depth(block) > 1:
        shift = {late: early for pipeline in waiting.values() for early, late in pairwise(pipeline)}
        _add_update(builder, f"shift:{block.name}", shift)
        builder.tasks.append(Task(f"{block.name} (pipeline)", period, offset, f"shift:{block.name}"))
    builder.tasks.append(Task(block.name, period, offset, function, call))


def _add_update(builder: Builder, name: str, copies: dict[str, str]) -> None:
    """A task that copies memory: target -> source."""
    builder.updates[name] = {to: Deferred(builder.memory_symbols[source], {}) for to, source in copies.items()}


def _add_python_task(
    builder: Builder,
    block: Block,
    arguments: dict[str, Any],
    bindings: Bindings,
    targets: dict[str, list[str]],
) -> None:
    """A law called in Python: its arguments are evaluated natively, its results written back by name."""
    inputs = f"inputs:{block.name}"
    shapes = add_python_inputs(builder, inputs, arguments, bindings)
    order = {info.name: k for k, info in enumerate(builder.memory)}
    names = {f"{name}_next": order[f"{block.name}.{name}"] for name in block.memory_names}
    names |= {name: order[waiting[0]] for name, waiting in targets.items()}
    _add_tasks(builder, block, targets, call=PythonCall(block.function, inputs, shapes, names))


def add_python_inputs(
    builder: Builder, inputs: str, arguments: dict[str, Any], bindings: Bindings
) -> dict[str, int | None]:
    """The column of argument values of a Python call, and the shape of each argument."""
    column: list[Deferred] = []
    shapes: dict[str, int | None] = {}
    for name, value in arguments.items():
        entries = value if isinstance(value, tuple) else (value,)
        shapes[name] = len(entries) if isinstance(value, tuple) else None
        column += [Deferred(ca.SX(entry), bindings) for entry in entries]
    builder.arguments[inputs] = column
    return shapes
