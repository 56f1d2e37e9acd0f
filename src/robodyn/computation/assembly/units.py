"""Units of measure: which has a law's signal or parameter where it stands, and do connected signals agree?

Placeholders in a law's units: {x} the coordinate's unit (rad or m), {F} its force's, {u} the block's own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from robodyn.base import fill_unit, frozen, same_quantity
from robodyn.description.model import Block, Number, Scenario
from robodyn.description.model.interface import UNITS as ROW_UNITS

from .network import SignalInfo

FORCE = {"rad": "N m", "m": "N"}
ON_UNITS = {"position": "{x}", "velocity": "{x}/s", "torque": "{F}", "force": "{F}"}
"""Of what a joint or coordinate gives a law that is on it, and takes from it."""
TURNING = {along: about for along, about in ROW_UNITS.values() if along}
"""Units of an interface's numbers, where it is on something that rotates."""


@frozen
class BlockUnits:
    """The units that the placeholders stand for in one block."""

    coordinate: str
    own: str

    def fill(self, unit: str) -> str:
        """A law's unit with its placeholders filled in."""
        if not self.own:
            # Without a unit of its own a gain such as {u}/{x} is per {x}.
            unit = unit.replace("{u}/", "1/").replace("{u} s/", "s/")
        return fill_unit(unit, {"{x}": self.coordinate, "{F}": FORCE[self.coordinate], "{u}": self.own})


def units_of(block: Block, units: Mapping[str, str]) -> BlockUnits:
    """Whether a block works on an angle or a length, and its own unit: as said, as its place or its inputs say.

    Args:
        units: of the signals known so far.
    """
    inputs = {
        block.info.units.get(argument, ""): units.get(signal, "")
        for argument, signal in block.inputs.items()
        if isinstance(signal, str)
    }
    own = block.unit or inputs.get("{u}", "")
    if block.on:
        # What acts on a joint and has no unit of its own is a force there.
        place = units.get(f"{block.on}.position", "rad")
        return BlockUnits(place, own or FORCE.get(place, ""))
    if block.unit in FORCE:
        return BlockUnits(block.unit, own)
    message = next((unit for law_unit, unit in inputs.items() if "{x}" in law_unit), "rad")
    return BlockUnits("m" if message == "m" or message.startswith("m/") else "rad", own)


def unit_of_output(block: Block, name: str, units: Mapping[str, str]) -> str:
    """Unit of an output; of one of several values, `torque.0`, on the axis that it belongs to."""
    stem, _, place = name.rpartition(".")
    if name in block.info.units or not (place.isdigit() and stem in block.info.units):
        return units_of(block, units).fill(block.info.units.get(name, "{F}" if name == "force" else ""))
    return _axis_units(block, int(place), units).fill(block.info.units[stem])


def _axis_units(block: Block, k: int, units: Mapping[str, str]) -> BlockUnits:
    """The units that placeholders stand for in the k-th of several values."""
    block_units = units_of(block, units)
    axes = block.axes if block.takes_model else ()
    if k >= len(axes):
        return block_units
    return replace(block_units, coordinate=units.get(f"{axes[k]}.position", block_units.coordinate))


def settle_units(scenario: Scenario, infos: Mapping[str, SignalInfo]) -> Mapping[str, SignalInfo]:
    """Fill in units that were not known yet when a block was declared: its inputs may come from later blocks."""
    # A chain of blocks or formulas passes units on one part a round.
    for _ in range(len(scenario.machine.all_blocks) + len(scenario.machine.signals) + 1):
        units = {name: info.unit for name, info in infos.items()}
        fresh = {name: unit for name, unit in _block_units(scenario, units).items() if units[name] != unit}
        if not fresh:
            break
        infos = {**infos, **{name: replace(infos[name], unit=unit) for name, unit in fresh.items()}}
    return infos


def _block_units(scenario: Scenario, units: Mapping[str, str]) -> dict[str, str]:
    """Units of the signals of blocks, formulas and delays, as far as those of their inputs are known."""
    units_by_name = {}
    for block in scenario.machine.all_blocks:
        block_units = units_of(block, units)
        for quantity, unit in block.info.units.items():
            units_by_name[f"{block.name}.{quantity}"] = block_units.fill(unit)
            measure = block_units.fill(unit)
            units_by_name[f"{block.name}.{quantity}_dot"] = f"{measure}/s" if measure else "1/s"
    for signal in scenario.machine.signals:
        units_by_name[signal.name] = signal.find_unit(units)
    for delay in scenario.machine.delays:
        units_by_name[f"{delay.name}.output"] = units.get(delay.signal, "")
    return {name: unit for name, unit in units_by_name.items() if name in units}


def fill_numbers(scenario: Scenario, units: Mapping[str, str]) -> dict[str, Number]:
    """Every named number of a scenario, the units of blocks' parameters filled in.

    Args:
        units: of all signals.
    """
    numbers = scenario.numbers()
    for block in scenario.machine.all_blocks:
        block_units = units_of(block, units)
        for number in block.numbers():
            numbers[number.name] = replace(number, unit=block_units.fill(number.unit))
    for interface in (i for i in scenario.machine.interfaces if units.get(f"{i.on}.position") == "rad"):
        for number in interface.numbers():
            numbers[number.name] = replace(number, unit=TURNING.get(number.unit, number.unit))
    return numbers


def compare_units(scenario: Scenario, units: Mapping[str, str]) -> list[str]:
    """A sentence for each input whose signal has another unit than the law expects; unknown units are let be.

    The same for what a law of angles or of lengths alone finds where it is, and what it gives there.
    """
    sentences = []
    for block in scenario.machine.all_blocks:
        block_units = units_of(block, units)
        for argument, unit in ON_UNITS.items() if block.on else ():
            expected, unit = block.info.units.get(argument, ""), block_units.fill(unit)
            if expected and argument not in block.inputs and not same_quantity(block_units.fill(expected), unit):
                sentences.append(f"blocks.{block.name}: '{block.on}' has its {argument} in {unit}, not {expected}")
        for argument, source in block.inputs.items():
            several = isinstance(source, (tuple, list))
            for k, signal in enumerate(source if several else (source,)):
                place = _axis_units(block, k, units) if several else block_units
                expected = place.fill(block.info.units.get(argument, ""))
                unit = units.get(signal, "") if isinstance(signal, str) else ""
                if expected and unit and not same_quantity(expected, unit):
                    sentences.append(f"blocks.{block.name}.inputs.{argument}: '{signal}' is in {unit}, not {expected}")
    return sentences
