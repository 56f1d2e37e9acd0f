"""Inputs of a system: which signals of a scenario come from outside?

A block's output that is declared an input is no longer computed: it is held in memory, which whoever runs the system
writes at communication points. What reads the signal, a force on a joint included, does not notice.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from robodyn.base.errors import nearest
from robodyn.computation.assembly.contribution import Context, Contribution, declare_memory
from robodyn.computation.assembly.declarations import MemoryInfo


def open_inputs(context: Context, whole: Contribution, inputs: Mapping[str, float]) -> Contribution:
    """All contributions, some outputs of blocks made inputs of the system."""
    possible = _find_possible(context, whole)
    for name, start in inputs.items():
        if name not in possible:
            what = "cannot be an input: it is no output of a block"
            context.flaws.add(f"inputs.{name}", what, nearest(name, possible))
        elif name in whole.definitions:
            whole = _replace(whole, name, start)
        else:
            whole = _hold(whole, name, start)
    return whole


def _find_possible(context: Context, whole: Contribution) -> set[str]:
    """Outputs of blocks; states, their rates and memory of their own left out."""
    blocks = context.scenario.machine.all_blocks
    own = {f"{block.name}.{name}" for block in blocks for name in (*block.state_names, *block.memory_names)}
    own |= {f"{name}_dot" for name in own} | {info.name for info in whole.memory if info.hidden}
    owners = tuple(f"{block.name}." for block in blocks)
    found = (*whole.definitions, *(info.name for info in whole.memory))
    return {name for name in found if name.startswith(owners)} - own


def _hold(whole: Contribution, name: str, start: float) -> Contribution:
    """A sampled block's output: nothing in the system writes it any more."""
    updates, actions = (
        {key: {to: value for to, value in update.items() if to != name} for key, update in columns.items()}
        for columns in (whole.updates, whole.actions)
    )
    memory = tuple(replace(info, start=start, outside=True) if info.name == name else info for info in whole.memory)
    return replace(whole, updates=updates, actions=actions, memory=memory)


def _replace(whole: Contribution, name: str, start: float) -> Contribution:
    """A continuous block's output: memory stands in for what it was defined by."""
    definitions = {other: definition for other, definition in whole.definitions.items() if other != name}
    held = declare_memory(MemoryInfo(name, whole.signals[name].unit, start, outside=True))
    return replace(whole, definitions=definitions) + held
