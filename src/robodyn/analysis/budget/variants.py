"""Loop variants: what would a loop do with fast sampling, with stiff gears, without an unknown payload?

These are no causes that act at one place, but properties of the whole loop: their parts are differences between the
motions of loops with and without them, all of them without causes, each on top of the one before.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping
from typing import Any

from robodyn.base.errors import refuse_unknown
from robodyn.description.model import Block, LinearCombination, Scenario

FASTER, STIFFER = 16, 100.0
"""How many times faster samples and stiffer gears are; this project's own choice."""
PAYLOAD = "payload.mass"
SAMPLING, ELASTICITY = "sampling and delay", "elasticity"


def vary(scenario: Scenario, without: Mapping[str, float] | None = None) -> Iterator[tuple[str, Scenario]]:
    """Name of each property and the scenario without it and without all before it.

    Args:
        without: numbers, each a part of its own -> values without an effect; the mass of a body `payload` by default.
    """
    without = _payload(scenario) if without is None else without
    refuse_unknown(without, scenario.numbers(), "there is no such number", f"budget of '{scenario.name}'", "without")
    if any(block.sampled for block in scenario.machine.blocks) or scenario.machine.delays:
        scenario = sample_faster(scenario)
        yield SAMPLING, scenario
    if gears_of(scenario):
        scenario = stiffen(scenario)
        yield ELASTICITY, scenario
    for name, value in without.items():
        scenario = scenario.with_numbers({name: value})
        yield name, scenario


def _payload(scenario: Scenario) -> dict[str, float]:
    number = scenario.numbers().get(PAYLOAD)
    return {PAYLOAD: 0.0} if number and number.value else {}


def sample_faster(scenario: Scenario, factor: int = FASTER) -> Scenario:
    """All periods and delays of signals divided by a factor, nothing lost with computing."""
    machine = scenario.machine
    delays = tuple(dataclasses.replace(delay, time=delay.time / factor) for delay in machine.delays)
    blocks = tuple(_sample_faster(block, factor) if block.sampled else block for block in machine.blocks)
    return dataclasses.replace(scenario, machine=dataclasses.replace(machine, blocks=blocks, delays=delays))


def _sample_faster(block: Block, factor: int) -> Block:
    assert block.period is not None
    parameters = {key: value for key, value in block.parameters.items() if key != "period"}
    fields = {"period": block.period / factor, "offset": block.offset / factor, "delay": 0.0}
    return dataclasses.replace(block, parameters=parameters, **fields)  # type: ignore[arg-type]


def gears_of(scenario: Scenario) -> dict[str, tuple[str, str]]:
    """Elastic gears: block -> joint and drive, of springs on the difference of two positions."""
    twists = {}
    for coordinate in scenario.machine.coordinates:
        if isinstance(coordinate, LinearCombination) and sorted(coordinate.of.values()) == [-1.0, 1.0]:
            joint, drive = sorted(coordinate.of, key=lambda name: -coordinate.of[name])
            twists[coordinate.name] = (joint, drive)
    return {
        block.name: twists[str(block.on)]
        for block in scenario.machine.blocks
        if block.on in twists and "stiffness" in block.parameters and not block.info.disturbance
    }


def stiffen(scenario: Scenario, factor: float = STIFFER) -> Scenario:
    """Gears stiffer by a factor, their damping ratios kept; at the start they exert what they did."""
    numbers: dict[str, float] = {}
    initial: dict[str, Any] = dict(scenario.initial)
    parameters = {block.name: block.parameters for block in scenario.machine.blocks}
    for name, (joint, drive) in gears_of(scenario).items():
        numbers[f"{name}.stiffness"] = factor * parameters[name]["stiffness"]
        if "damping" in parameters[name]:
            numbers[f"{name}.damping"] = math.sqrt(factor) * parameters[name]["damping"]
        start, stop = (initial.get(f"{part}.position", 0.0) for part in (drive, joint))
        initial[f"{joint}.position"] = start + (stop - start) / factor
    return dataclasses.replace(scenario.with_numbers(numbers), initial=initial)
