"""Which unit has a law's signal or parameter, where the law acts on an angle or on a length?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from robodyn.model import Block, Number, Scenario

FORCE = {"rad": "N m", "m": "N"}


def fill_unit(unit: str, coordinate: str) -> str:
    """A law's unit with {x} (the coordinate) and {F} (its force) filled in."""
    return unit.replace("{x}", coordinate).replace("{F}", FORCE[coordinate])


def coordinate_of(block: Block, units: Mapping[str, str]) -> str:
    """Whether a block works on an angle ("rad") or a length ("m"): as said, as its place or as its inputs say."""
    if block.unit:
        return block.unit
    if block.on:
        return units.get(f"{block.on}.position", "rad")
    for argument, signal in block.inputs.items():
        if "{x}" in block.info.units.get(argument, "") and isinstance(signal, str):
            return "m" if units.get(signal, "").startswith("m") else "rad"
    return "rad"


def fill_numbers(scenario: Scenario, units: Mapping[str, str]) -> dict[str, Number]:
    """Every named number of a scenario, the units of blocks' parameters filled in.

    Args:
        units: of all signals.
    """
    found = scenario.numbers()
    for block in scenario.machine.blocks:
        coordinate = coordinate_of(block, units)
        for number in block.numbers():
            found[number.name] = replace(number, unit=fill_unit(number.unit, coordinate))
    for joint in scenario.machine.mechanism.moving_joints if scenario.machine.mechanism else ():
        if not joint.turns:
            found[f"{joint.name}.armature"] = replace(found[f"{joint.name}.armature"], unit="kg")
    return found
