"""Inputs of a system: which signals of a scenario come from outside?

A block's output that is declared an input is no longer computed: it is held in memory, which whoever runs the system
writes at communication points. What reads the signal, a force on a joint included, does not notice.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from robodyn.assembly.builder import Builder
from robodyn.assembly.declarations import MemoryInfo
from robodyn.errors import nearest


def open_inputs(builder: Builder, inputs: Mapping[str, float]) -> None:
    """Make outputs of blocks inputs of the system."""
    possible = _find_possible(builder)
    for name, start in inputs.items():
        if name not in possible:
            what = "cannot be an input: it is no output of a block"
            builder.flaws.add(f"inputs.{name}", what, nearest(name, possible))
        elif name in builder.memory_symbols:
            _hold(builder, name, start)
        else:
            _replace(builder, name, start)


def _find_possible(builder: Builder) -> set[str]:
    """Outputs of blocks; states, their rates and memory of their own left out."""
    blocks = builder.scenario.machine.all_blocks
    own = {f"{block.name}.{name}" for block in blocks for name in (*block.state_names, *block.memory_names)}
    own |= {f"{name}_dot" for name in own} | {info.name for info in builder.memory if info.hidden}
    owners = tuple(f"{block.name}." for block in blocks)
    return {name for name in (*builder.network.definitions, *builder.memory_symbols) if name.startswith(owners)} - own


def _hold(builder: Builder, name: str, start: float) -> None:
    """A sampled block's output: nothing in the system writes it any more."""
    for update in (*builder.updates.values(), *builder.actions.values()):
        update.pop(name, None)
    place = next(k for k, info in enumerate(builder.memory) if info.name == name)
    builder.memory[place] = replace(builder.memory[place], start=start)


def _replace(builder: Builder, name: str, start: float) -> None:
    """A continuous block's output: memory stands in for what it was defined by."""
    builder.network.definitions.pop(name)
    builder.add_memory(MemoryInfo(name, builder.network.infos[name].unit, start))
