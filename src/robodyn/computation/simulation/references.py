"""References known before a run: what will they be, which leaves its joint's limits, which is not finished at the end?

A reference is a signal that is a function of time and numbers alone: of a nominal motion, a prescribed motion, a
planned path, or what a controller of a joint takes as its target. What depends on the motion is not known before it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from robodyn.base import Array, ca
from robodyn.base.symbolic.tables import spell_out
from robodyn.computation.assembly import System
from robodyn.description.laws import arguments_of
from robodyn.description.model import Block, PrescribedMotion
from robodyn.description.model.block import name_results
from robodyn.description.model.joint import BOUNDED, excess

RATES = ("position", "velocity", "acceleration")
INSTANTS = 2001
"""Times at which references are looked at, beside those where they bend."""


def find_motions(
    system: System, signals: Sequence[Any], values: Mapping[str, float]
) -> tuple[Array, list[dict[str, Array]]]:
    """Times, and position, velocity and acceleration of each there; nothing where they depend on more than time."""
    end = system.scenario.duration
    bends = system.discrete.break_times(values, 0.0, end)
    times = np.unique(np.concatenate([np.linspace(0.0, end, INSTANTS), bends, np.nextafter(bends, -np.inf)]))
    owners = {str(signal).rpartition(".")[0] for signal in signals}
    blocks = [block for block in system.scenario.machine.blocks if block.name in owners]
    # Outputs of these are functions of time and their numbers, be they sampled or not.
    alone = {"time", "parameter"}
    clocks = {b.name: b for b in blocks if b.native and {*map(b.source_of, arguments_of(b.function))} == alone}
    results = {name: evaluate_block(block, values, times) for name, block in clocks.items()}
    motions = []
    for signal in signals:
        owner, _, output = str(signal).rpartition(".")
        names = [output.replace("position", rate) for rate in RATES]
        beside = results.get(owner, {})
        rows: Sequence[Any]
        if not isinstance(signal, str):
            rows = [np.full(times.shape, rate) for rate in (float(signal), 0.0, 0.0)]
        elif "position" in output and {*names} <= beside.keys():
            rows = [np.broadcast_to(beside[name], times.shape) for name in names]
        else:
            traced = evaluate_block(clocks[owner], values, system.symbols.t) if owner in clocks else {}
            position = ca.SX(traced[output]) if output in traced else system.signal_expressions.get(signal)
            rows = _differentiate(system, position, values, times)
        motions.append(dict(zip(RATES, rows, strict=False)))
    return times, motions


def path_starts(system: System, values: Mapping[str, float]) -> dict[str, dict[str, float]]:
    """Where planned paths ask joints to be at the start: positions by state, by the name of the path's block."""
    from robodyn.description.paths.reference import PathReference, TimedReference

    starts: dict[str, dict[str, float]] = {}
    for block in system.scenario.machine.all_blocks:
        if isinstance(block.law, (PathReference, TimedReference)):
            outputs = evaluate_block(block, values, 0.0)
            signals = {joint: f"position{k}" for k, joint in enumerate(block.law.joints, start=1)}
            # Of a nominal motion also joints that the path knows nothing of, such as drives behind elastic gears.
            for joint, signal in system.scenario.nominal.items():
                owner, _, output = signal.rpartition(".")
                signals |= {joint: output} if owner == block.name and output in outputs else {}
            starts[block.name] = {f"{joint}.position": float(outputs[name]) for joint, name in signals.items()}
    return starts


def evaluate_block(block: Block, values: Mapping[str, float], time: Any) -> Mapping[str, Any]:
    """A block's outputs at times, or as expressions of the time."""
    names = {key: f"{block.name}.{key}" for key in block.parameters}
    numbers = {key: values.get(names[key], value) for key, value in block.parameters.items()}
    with suppress(Exception):  # a user's function may work on symbols alone
        return name_results(block, block.function(time=time, **numbers))
    return {}


def _differentiate(
    system: System, position: ca.SX | None, values: Mapping[str, float], times: Array
) -> Sequence[Array]:
    """An expression and its rates at times; nothing where it depends on more than time."""
    t, p = system.symbols.t, system.symbols.p
    free = ca.vertcat(t, p)
    if position is None or not all(ca.depends_on(free, symbol) for symbol in ca.symvar(position)):
        return []
    velocity = ca.jacobian(position, t)
    column = ca.densify(ca.vertcat(position, velocity, ca.jacobian(velocity, t)))
    function: Any = spell_out(ca.Function("reference", [t, p], [column]))
    # One column of parameters stands for all times: a table of them, number by number, took most of the time here.
    return list(np.array(function(times[None, :], [values[name] for name in system.places])))


ROUNDING = 1e-9
"""Part of the duration by which a reference may end after it."""
MOTION = {"position", "velocity", "acceleration"}
"""Outputs of a reference that moves from rest to rest."""
TARGETS = ("target", "targets", "position_ref")
"""Arguments of controllers that are wanted positions."""


def find_reference_warnings(
    system: System, numbers: Mapping[str, float] | None = None, states: Mapping[str, float] | None = None
) -> list[str]:
    """A sentence for each limit of a joint that a reference leaves, each reference that outlasts the run, and each
    singular position on the way.

    Args:
        numbers: of the scenario, where they are not those described; states: at the start, those
            that are not as described; None where they are not known, and so no way to anywhere.
    """
    described = system.number_values
    values = described | dict(numbers or {})
    if values == described:
        limits = system.recall("references beyond limits", lambda: _find_limit_warnings(system, described))
    else:
        limits = _find_limit_warnings(system, values)
    before = [*limits, *_find_unfinished(system, values), *_find_falling_levels(system, values)]
    if states is None:
        return before
    from .reference_paths import find_singular_warnings

    return [*before, *find_singular_warnings(system, values, states)]


def _find_unfinished(system: System, values: Mapping[str, float]) -> Iterator[str]:
    """A sentence for each motion from rest to rest, such as a path, that is under way when the run ends."""
    end = system.scenario.duration
    units = system.signal_units
    for block in system.scenario.machine.all_blocks:
        if block.info.breaks is None:
            continue
        parameters = {key: values.get(f"{block.name}.{key}", value) for key, value in block.parameters.items()}
        last = max(block.info.breaks(parameters), default=0.0)
        if not end * (1 + ROUNDING) < last < np.inf:
            continue
        outputs = evaluate_block(block, values, np.array([0.0, end, last]))
        progress = "s" if "s" in outputs else "position"
        # A table that is longer than the run is no motion.
        if progress != "s" and not outputs.keys() >= MOTION:
            continue
        first, now, whole = np.broadcast_to(outputs[progress], 3)
        if now != whole:
            unit = units.get(f"{block.name}.{progress}", "")
            yield (
                f"the reference '{block.name}' is not finished: it ends at {last:.4g} s, the run at {end:.4g} s after "
                f"{now - first:.4g} of {whole - first:.4g} {unit}"
            ).rstrip()


def _find_falling_levels(system: System, values: Mapping[str, float]) -> Iterator[str]:
    """A sentence for each number that is below another one which its law expects it to reach."""
    for block in system.scenario.machine.all_blocks:
        for upper, lower in block.info.at_least.items():
            high, low = (values.get(f"{block.name}.{key}", block.parameters[key]) for key in (upper, lower))
            if isinstance(high, float) and isinstance(low, float) and high < low:
                unit = system.numbers[f"{block.name}.{lower}"].unit
                yield (
                    f"blocks.{block.name}: {lower} = {low:g} {unit} is above {upper} = {high:g} {unit}: this friction "
                    f"grows with speed and holds less than it slides with; raise {upper} too"
                )


def _find_limit_warnings(system: System, values: Mapping[str, float]) -> list[str]:
    mechanism = system.scenario.machine.mechanism
    limits = {joint.name: joint.limits for joint in (mechanism.joints if mechanism else ())}
    if not any(limits.values()):
        return []
    units = system.signal_units
    wanted = [pair for pair in dict.fromkeys(find_references(system, list(limits))) if limits[pair[0]]]
    times, motions = find_motions(system, [signal for _, signal in wanted], values)
    warnings: dict[str, None] = {}
    for (joint, signal), motion in zip(wanted, motions, strict=True):
        for field in limits[joint]:
            unit = units.get(f"{joint}.{BOUNDED[field][0]}", "")
            warnings |= dict.fromkeys(_compare((joint, signal, field), values[f"{joint}.{field}"], unit, times, motion))
    return list(warnings)


def find_references(system: System, joints: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Every joint with a signal that it is to follow."""
    from robodyn.description.paths.reference import PathReference

    machine = system.scenario.machine
    yield from system.scenario.nominal.items()
    for constraint in machine.constraints:
        if isinstance(constraint, PrescribedMotion) and constraint.of in joints:
            yield constraint.of, constraint.position
    blocks = {block.name: block for block in machine.all_blocks}
    delays = {delay.name: delay.signal for delay in machine.delays}
    for block in machine.all_blocks:
        # A planned path knows its joints.
        for k, joint in enumerate(block.law.joints if isinstance(block.law, PathReference) else ()):
            if joint in joints:
                yield joint, f"{block.name}.position{k + 1}"
        target = next((block.inputs[key] for key in TARGETS if isinstance(block.inputs.get(key), str)), None)
        measured = _measured(f"{block.name}.", blocks, joints, set()) if target else None
        if target and measured:
            yield measured, _source(target, blocks, delays)


def _measured(signal: str, blocks: Mapping[str, Block], joints: Sequence[str], visited: set[str]) -> str | None:
    """The one joint whose position a block takes, by itself or through sensors and filters."""
    owner = signal.rpartition(".")[0]
    if owner in joints:
        return owner if signal == f"{owner}.position" else None
    block = blocks.get(owner)
    if block is None or owner in visited:
        return None
    if block.on in joints:
        return block.on
    read = [one for key, one in block.inputs.items() if key not in TARGETS and isinstance(one, str)]
    joints_read = {_measured(one, blocks, joints, visited | {owner}) for one in read} - {None}
    return joints_read.pop() if len(joints_read) == 1 else None


def _source(signal: str, blocks: Mapping[str, Block], delays: Mapping[str, str]) -> str:
    """What a signal comes from through delays and sampled blocks that read nothing else."""
    for _ in range(len(blocks) + len(delays)):
        owner = signal.rpartition(".")[0]
        block = blocks.get(owner)
        read = list(block.inputs.values()) if block is not None and block.sampled and not block.on else []
        if owner in delays:
            signal = delays[owner]
        elif len(read) == 1 and isinstance(read[0], str):
            signal = read[0]
        else:
            break
    return signal


def _compare(
    which: tuple[str, Any, str], limit: float, unit: str, times: Array, motion: Mapping[str, Array]
) -> Iterator[str]:
    """A sentence where a reference leaves a limit.

    Args:
        which: joint, signal and limit.
    """
    joint, signal, field = which
    quantity = BOUNDED[field][0]
    if quantity not in motion:
        return
    beyond = np.array(excess(field, motion[quantity], limit))
    if not np.any(beyond > 0):
        return
    first, worst = int(np.argmax(beyond > 0)), int(np.argmax(beyond))
    begin, when, value = times[first], times[worst], motion[quantity][worst]
    name = f"'{signal}'" if isinstance(signal, str) else f"{signal:g}"
    yield (
        f"the reference {name} of joint '{joint}' passes its {field.replace('_', ' ')} of {limit:.6g} {unit} at "
        f"{begin:.4g} s: {quantity} {value:.6g} {unit} at {when:.4g} s"
    )
