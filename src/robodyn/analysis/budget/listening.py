"""Inputs of the linear twin: how does each of its blocks receive what a cause does in the original?

disturbance: F' = w F,     ideal values: y' = f_ideal(x') + w [f(x) - f_ideal(x)]
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Iterator
from typing import Any

from robodyn.analysis.budget.causes import Cause
from robodyn.description.laws import LawInfo, arguments_of
from robodyn.description.model import Block
from robodyn.description.model.outputs import name_results

WEIGHT = "weight"


def pass_on(cause: Cause, prefix: str) -> Block:
    """A block that exerts the forces of a disturbance on the twin."""
    acts = {f"force{k}": f"{prefix}.{target}" for k, (target, _) in enumerate(cause.forces)}
    inputs = {"forces": tuple(signal for _, signal in cause.forces)}
    return Block(f"{prefix}.{cause.block}", weigh_forces, inputs=inputs, parameters={WEIGHT: 0.0}, acts=acts)


def weigh_forces(forces: Any, *, weight: Any) -> dict[str, Any]:
    """`F' = w F` of several forces."""
    return {f"force{k}": weight * force for k, force in enumerate(forces)}


def add_difference(block: Block, twin: Block, cause: Cause) -> Block:
    """A block of the twin with ideal values, plus what the actual ones change in the original."""
    seen = {f"actual_{name}": signal for name, signal in _seen_by(block)}
    limited = {f"actual_{name}_dot": f"{block.name}.{name}_dot" for name in block.info.limits}
    # Sides of what is located change at events of the original; the ideal law does not switch.
    sides = {name: f"{block.name}.{name}" for name in block.info.located.values()}
    return dataclasses.replace(
        twin,
        law=_make_law(block, dict(cause.ideal), tuple(seen), tuple(limited)),
        inputs=dict(twin.inputs) | seen | limited | sides,
        parameters=dict(twin.parameters) | {WEIGHT: 0.0},
    )


def _seen_by(block: Block) -> Iterator[tuple[str, Any]]:
    """What a block sees that changes: argument -> signal of the original."""
    for argument in arguments_of(block.function):
        source = block.source_of(argument)
        if source in ("state", "memory"):
            yield argument.name, f"{block.name}.{argument.name}"
        elif source == "input":
            yield argument.name, block.inputs[argument.name]
        elif source == "on":
            yield argument.name, f"{block.on}.{argument.name}"
        elif source == "axes":
            yield argument.name, tuple(f"{axis}.{argument.name}" for axis in block.axes)


def _make_law(
    block: Block, ideal: dict[str, float], seen: tuple[str, ...], limited: tuple[str, ...]
) -> Callable[..., dict[str, Any]]:
    """The law `f_ideal(x') + w [f(x) - f_ideal(x)]` with x as `actual_` arguments.

    Args:
        limited: arguments that are rates of the original's states as their limits stop them.
    """
    function = block.function
    names = [argument.name for argument in arguments_of(function)]

    def law(**given: Any) -> dict[str, Any]:
        here = {name: given[name] for name in names}
        there = here | {name.removeprefix("actual_"): given[name] for name in seen}
        exact = name_results(block, function(**there)) | {name.removeprefix("actual_"): given[name] for name in limited}
        without, linear = (name_results(block, function(**arguments)) for arguments in (there | ideal, here | ideal))
        return {key: _add(linear[key], given[WEIGHT], exact[key], without[key]) for key in linear}

    law.__name__ = f"{function.__name__ if inspect.isroutine(function) else 'law'}_of_the_twin"
    law.__signature__ = _signature(block, (*seen, *limited))  # type: ignore[attr-defined]
    law.law_info = _info(block.info, seen)  # type: ignore[attr-defined]
    return law


def _signature(block: Block, more: tuple[str, ...]) -> inspect.Signature:
    """The law's own arguments and some more, and the weight."""
    arguments = arguments_of(block.function)
    signals = [argument.name for argument in arguments if not argument.keyword_only]
    numbers = [argument.name for argument in arguments if argument.keyword_only]
    parameters = [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in (*signals, *more)]
    parameters += [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY) for name in (*numbers, WEIGHT)]
    return inspect.Signature(parameters)


def _info(info: LawInfo, seen: tuple[str, ...]) -> LawInfo:
    """States and memory as the law has them; limits and what it locates are the original's."""
    bare = {name: name.removeprefix("actual_") for name in seen}
    units = dict(info.units) | {name: info.units[key] for name, key in bare.items() if key in info.units}
    return LawInfo(units, info.states, info.memory, folded=info.folded)


def _add(linear: Any, weight: Any, exact: Any, without: Any) -> Any:
    if isinstance(linear, (tuple, list)):
        return tuple(_add(a, weight, b, c) for a, b, c in zip(linear, exact, without, strict=True))
    return linear + weight * (exact - without)
