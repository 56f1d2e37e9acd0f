"""Which unit has a law's signal or parameter, where the law acts on an angle or on a length?"""

from __future__ import annotations

from collections.abc import Mapping

from robodyn.model import Block

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
