"""Measured inputs: a scenario in which recorded signals take the place of computed ones.

A signal that blocks read is read from the recording; a force that a block puts on a joint is the recorded force. What
computed it before, such as a controller, goes on computing and has no effect.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from robodyn.errors import FlawList, nearest
from robodyn.laws.recorded import RecordedReference
from robodyn.model import Block, Scenario
from robodyn.results import Run

SOURCE = "measured"
FORCES = ("torque", "force")


def drive_by_data(scenario: Scenario, data: Run, signals: Sequence[str]) -> Scenario:
    """The scenario driven by these signals of the data, in straight lines between samples, held ones held."""
    _check(scenario, data, signals)
    _refuse_unread(scenario, signals)
    blocks = list(scenario.machine.blocks)
    sources = {}
    for signal in signals:
        name = f"{SOURCE}.{signal}"
        sources[signal] = f"{name}.value"
        owner, _, output = signal.rpartition(".")
        recorded = _recorded(data, signal)
        for i, block in enumerate(blocks):
            if block.name == owner and block.on and output in FORCES:
                blocks[i] = Block(owner, "torque_source", block.on, {"command": sources[signal]})
        blocks.append(Block(name, recorded))
    rewired = [_rewired(block, sources) for block in blocks]
    return scenario.replaced(machine=scenario.machine.replaced(blocks=tuple(rewired)))


def _check(scenario: Scenario, data: Run, signals: Sequence[str]) -> None:
    flaws = FlawList()
    owners = {block.name for block in scenario.machine.blocks}
    for signal in signals:
        if signal not in data:
            flaws.add(signal, "is not in the data", nearest(signal, data.names))
        elif signal.rpartition(".")[0] not in owners:
            flaws.add(signal, "is not computed by a block", nearest(signal.rpartition(".")[0], owners))
        elif np.isnan(data[signal].values).any():
            row = int(np.flatnonzero(np.isnan(data[signal].values))[0])
            flaws.add(
                signal, f"is missing at row {row + 1}", "an input is needed at all times: fill it in, or resample"
            )
    flaws.raise_if_any("measured inputs")


def _refuse_unread(scenario: Scenario, signals: Sequence[str]) -> None:
    """A measured signal that nothing reads, and that is no force, would drive nothing."""
    flaws = FlawList()
    for signal in signals:
        owner, _, output = signal.rpartition(".")
        forces = [b.on for b in scenario.machine.blocks if b.name == owner and b.on and output in FORCES]
        probe = {signal: ""}
        if not forces and all(_rewired(block, probe) is block for block in scenario.machine.blocks):
            flaws.add(signal, "is read by no block: it would drive nothing", "name the force, or what the drive reads")
    flaws.raise_if_any("measured inputs")


def _recorded(data: Run, signal: str) -> RecordedReference:
    own = data[signal]
    rising = np.concatenate([np.diff(own.time) > 0, [True]])
    how = "held" if own.kind == "held" else "linear"
    times, points = (tuple(part[rising].tolist()) for part in (own.time, own.values))
    return RecordedReference(times, points, how, unit=own.unit or None, source=signal)


def _rewired(block: Block, sources: dict[str, str]) -> Block:
    def renamed(value: Any) -> Any:
        return tuple(map(renamed, value)) if isinstance(value, tuple) else sources.get(value, value)

    inputs = {key: renamed(value) for key, value in block.inputs.items()}
    return block if inputs == dict(block.inputs) else block.replaced(inputs=inputs)
