"""Known references: what will a signal be, and how fast will it change, where it depends on time and numbers alone?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import casadi as ca
import numpy as np

from robodyn.base.symbolic.tables import spell_out
from robodyn.computation.assembly import System
from robodyn.computation.simulation.problem import break_times
from robodyn.description.laws import arguments_of
from robodyn.description.model import Block
from robodyn.description.model.outputs import name_results

RATES = ("position", "velocity", "acceleration")
INSTANTS = 2001
"""Times at which references are looked at, beside those where they bend."""


def find_motions(
    system: System, signals: Sequence[Any], values: Mapping[str, float]
) -> tuple[np.ndarray, list[dict[str, np.ndarray]]]:
    """Times, and position, velocity and acceleration of each there; nothing where they depend on more than time."""
    end = system.scenario.duration
    bends = break_times(system.discrete.breaks, dict(values), 0.0, end)
    times = np.unique(np.concatenate([np.linspace(0.0, end, INSTANTS), bends, np.nextafter(bends, -np.inf)]))
    owners = {str(signal).rpartition(".")[0] for signal in signals}
    blocks = [block for block in system.scenario.machine.blocks if block.name in owners]
    clocks = {block.name: block for block in blocks if _takes_time_alone(block)}
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
            position = ca.SX(traced[output]) if output in traced else _expression(system, signal)
            rows = _differentiate(system, position, values, times)
        motions.append(dict(zip(RATES, rows, strict=False)))
    return times, motions


def path_starts(system: System, values: Mapping[str, float]) -> dict[str, dict[str, float]]:
    """Where planned paths ask joints to be at the start: positions by state, by the name of the path's block."""
    from robodyn.description.paths.reference import PathReference
    from robodyn.description.paths.timed_reference import TimedReference

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


def _expression(system: System, signal: str) -> ca.SX | None:
    """A signal as it was traced; None where there is none of that name."""
    names = system.signal_names
    return system.expressions.outputs[names.index(signal)] if signal in names else None


def _takes_time_alone(block: Block) -> bool:
    """Whether a block's outputs are functions of time and its numbers, be they sampled or not."""
    return block.native and {block.source_of(argument) for argument in arguments_of(block.function)} == {
        "time",
        "parameter",
    }


def evaluate_block(block: Block, values: Mapping[str, float], time: Any) -> Mapping[str, Any]:
    """A block's outputs at times, or as expressions of the time."""
    names = {key: f"{block.name}.{key}" for key in block.parameters}
    given = {key: values.get(names[key], value) for key, value in block.parameters.items()}
    with suppress(Exception):  # a user's function may work on symbols alone
        return name_results(block, block.function(time=time, **given))
    return {}


def _differentiate(
    system: System, position: ca.SX | None, values: Mapping[str, float], times: np.ndarray
) -> Sequence[np.ndarray]:
    """An expression and its rates at times; nothing where it depends on more than time."""
    t, p = system.symbols.t, system.symbols.p
    free = ca.vertcat(t, p)
    if position is None or not all(ca.depends_on(free, symbol) for symbol in ca.symvar(position)):
        return []
    velocity = ca.jacobian(position, t)
    column = ca.densify(ca.vertcat(position, velocity, ca.jacobian(velocity, t)))
    function: Any = spell_out(ca.Function("reference", [t, p], [column]))
    # One column of parameters stands for all times: a table of them, number by number, took most of the time here.
    return list(np.array(function(times[None, :], [values[number.name] for number in system.parameters])))
