"""Parameters: which numbers are inputs of the native code, which are folded into it?"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import casadi as ca

from robodyn.base import fits, frozen
from robodyn.description.model import Block, Number, Scenario
from robodyn.description.model.block import JointBlock


@frozen
class Values:
    """Every named number of a scenario: a symbol where tunable, the plain value otherwise."""

    tunable: tuple[Number, ...]
    symbols: tuple[ca.SX, ...]
    table: Mapping[str, Any]

    def __getitem__(self, name: str) -> Any:
        return self.table[name]

    def vector(self, prefix: str, suffixes: tuple[str, ...]) -> list[Any]:
        return [self.table[f"{prefix}.{suffix}"] for suffix in suffixes]

    def parameter(self, block: Block | Any, key: str) -> Any:
        """A block's parameter: a scalar, or a tuple for a vector-valued one."""
        value = block.parameters[key]
        if isinstance(value, tuple):
            return tuple(self.table[f"{block.name}.{key}.{k}"] for k in range(len(value)))
        if isinstance(block, JointBlock):
            return self.table.get(block.sources.get(key, ""), value)
        return self.table[f"{block.name}.{key}"]


def collect_values(scenario: Scenario) -> Values:
    """Name the numbers of a scenario and decide which of them stay symbols."""
    folded = _folded_names(scenario)
    numbers = [*scenario.machine.numbers(), *(n for event in scenario.events for n in event.numbers())]
    numbers += scenario.constraint_method.numbers("constraint_method")
    # An infinite number, such as a limit that is none, is folded: it would only spoil derivatives.
    tunable = tuple(n for n in numbers if n.name not in folded and math.isfinite(n.value))
    symbols = tuple(ca.SX.sym(number.name) for number in tunable)
    table: dict[str, Any] = {number.name: number.value for number in numbers}
    table.update({number.name: symbol for number, symbol in zip(tunable, symbols, strict=True)})
    return Values(tunable, symbols, table)


def _folded_names(scenario: Scenario) -> set[str]:
    """Mechanism numbers not declared tunable and parameters laws want as constants."""
    machine = scenario.machine
    parts = [*machine.coordinates, *([machine.mechanism] if machine.mechanism else [])]
    geometry = {number.name for part in parts for number in part.numbers()}
    # Numbers of the mechanism make the largest expressions: they are constants unless they are asked for.
    for joint in machine.any_mechanism.joints:
        geometry -= joint.tunable
    folded = {name for name in geometry if not fits(name, machine.tunable)}
    for contact in machine.contacts:
        folded |= contact.folded()
    for block in machine.blocks:
        constants = block.info.folded | ({"period"} if block.sampled else set())
        of_blocks = {f"{block.name}.{key}" for key in constants}
        folded |= {n.name for n in block.numbers() if n.name in of_blocks or n.name.rpartition(".")[0] in of_blocks}
    return folded
