"""Idealised loops: what of a machine counts when they are judged? Friction in or out, limits and quantisers ideal.

Limits and resolutions (`LawInfo.ideal`) are taken at the values at which they do nothing: inside its limits a loop is
as if it had none, and the slope of a staircase is zero or infinite but its mean is one. Friction
(`LawInfo.disturbance`) is left out unless it is wanted: without what it damps a loop is judged on the safe side.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping
from typing import Any

from robodyn.model import Block, Scenario
from robodyn.model.block import FORCE_NAMES
from robodyn.model.outputs import name_results

FRICTION = ("none", "stuck", "sliding")


def leave_out_friction(scenario: Scenario) -> Scenario:
    """The scenario with all friction exerting nothing; its states and signals stay, by the same names."""
    machine = scenario.machine
    if not any(block.info.disturbance for block in machine.all_blocks):
        return scenario
    blocks = (_without_force(block) if block.info.disturbance else block for block in machine.all_blocks)
    return dataclasses.replace(scenario, machine=machine.with_all_blocks(blocks))


def _without_force(block: Block) -> Block:
    forces = (*FORCE_NAMES, *block.acts)
    return dataclasses.replace(block, law=_silence(block, forces))


def _silence(block: Block, forces: tuple[str, ...]) -> Callable[..., Any]:
    """A law of the same arguments, states and outputs whose forces are zero."""

    function = block.function

    @functools.wraps(function)
    def silent(*arguments: Any, **named: Any) -> Mapping[str, Any]:
        results = name_results(block, function(*arguments, **named))
        return {name: 0.0 if name in forces else value for name, value in results.items()}

    return silent


def ideal_numbers(scenario: Scenario) -> dict[str, float]:
    """Numbers at which limits and quantisers do nothing: `axis1.encoder.resolution` -> 0."""
    return {
        f"{block.name}.{parameter}": value
        for block in scenario.machine.all_blocks
        for parameter, value in block.info.ideal.items()
        if parameter in block.parameters
    }


def friction_states(scenario: Scenario) -> frozenset[str]:
    """Names of the states of all friction: bristles."""
    found = [block for block in scenario.machine.all_blocks if block.info.disturbance]
    return frozenset(f"{block.name}.{state}" for block in found for state in block.state_names)
