"""Controller gains: which numbers of a block are its gains?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from robodyn.analysis.model_stand_in import stand_in
from robodyn.description.laws import arguments_of
from robodyn.description.model import Block
from robodyn.description.model.outputs import name_results

STRAIGHT = 1e-9
"""Part of the change of an output by which three points on a line may miss it: rounding."""


def find_gains(block: Block) -> tuple[str, ...]:
    """Numbers of a law in which its outputs or its sums are straight lines, limits apart: found by trying.

    The law is called with inputs drawn at random and the number at 0, 1 and 2 times its value.
    """
    ideal = block.info.ideal
    numbers = [key for key, value in block.parameters.items() if isinstance(value, float) and value]
    return tuple(name for name in numbers if name not in ideal and name != "period" and _is_gain(block, name))


def _is_gain(block: Block, name: str) -> bool:
    arguments, value = _draw_arguments(block), np.float64(block.parameters[name])
    with np.errstate(all="ignore"):
        zero, one, two = (_results(block, arguments | {name: factor * value}) for factor in (0.0, 1.0, 2.0))
    if not (np.isfinite(zero).all() and np.isfinite(two).all()):
        return False
    size = np.abs(one - zero).max(initial=0.0)
    return bool(size > 0 and np.abs(two - 2 * one + zero).max() <= STRAIGHT * size)


def _draw_arguments(block: Block) -> dict[str, Any]:
    """Parameters as given, limits ideal, and anything for what is read."""
    generator = np.random.default_rng(0)
    known = {**block.parameters, **block.info.ideal}
    drawn: dict[str, Any] = {}
    for argument in arguments_of(block.function):
        source = block.inputs.get(argument.name)
        if block.source_of(argument) == "model":
            drawn[argument.name] = stand_in(block)
        elif block.source_of(argument) == "axes":
            drawn[argument.name] = tuple(generator.normal(size=len(stand_in(block).axes)))
        elif argument.name in known:
            drawn[argument.name] = _as_numbers(known[argument.name])
        elif isinstance(source, (tuple, list)):
            drawn[argument.name] = tuple(generator.normal(size=len(source)))
        else:
            drawn[argument.name] = np.float64(generator.normal())
    return drawn


def _as_numbers(value: Any) -> Any:
    """Numbers that divide by zero without an error."""
    return tuple(map(np.float64, value)) if isinstance(value, tuple) else np.float64(value)


def _results(block: Block, arguments: dict[str, Any]) -> np.ndarray:
    """Outputs, and the next values of memory that sums up: they follow it one to one."""
    results, memory = _call(block, arguments), set(block.memory_names)
    for name in memory:
        moved = _call(block, arguments | {name: arguments[name] + 1.0})[f"{name}_next"]
        if abs(moved - results[f"{name}_next"] - 1) > STRAIGHT:
            del results[f"{name}_next"]
    return np.hstack([np.zeros(0), *(np.ravel(np.asarray(value, float)) for value in results.values())])


def _call(block: Block, arguments: Mapping[str, Any]) -> dict[str, Any]:
    return name_results(block, block.function(**arguments))
