"""Idealised loops: what of a machine counts when they are judged? Friction in or out, limits and quantisers ideal.

Limits and resolutions (`LawInfo.ideal`) are taken at the values at which they do nothing: inside its limits a loop is
as if it had none, and the slope of a staircase is zero or infinite but its mean is one. Friction
(`LawInfo.disturbance`) is left out (`System.without_friction`) unless it is wanted: without what it damps a loop is
judged on the safe side.
"""

from __future__ import annotations

from robodyn.description.model import Scenario

FRICTION = ("none", "stuck", "sliding")


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
