"""Friction of a controller's model: which force does each law of friction give, by position and velocity alone?

Dry friction slides in the direction of the velocity and exerts nothing at rest; states of a law, such as bent
bristles, are those of steady sliding.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import casadi as ca

from robodyn.base.symbolic import sign, where
from robodyn.computation.assembly.values import Values
from robodyn.description.laws import arguments_of
from robodyn.description.model import Block
from robodyn.description.model.joint_block import JointBlock
from robodyn.description.model.outputs import name_results

Law = Callable[[Any, Any], Any]


def friction_laws(values: Values, blocks: Sequence[Block], own: Mapping[str, float]) -> dict[str, list[Law]]:
    """Laws by the joint or coordinate that they are on.

    Args:
        own: numbers of the model that are not the machine's.
    """
    found: dict[str, list[Law]] = {}
    for block in blocks:
        parameters = {key: _number(values, block, key, own) for key in block.parameters}
        found.setdefault(str(block.on), []).append(_law(block, parameters))
    return found


def friction_numbers(blocks: Sequence[Block]) -> Iterator[str]:
    """Names of the numbers of friction."""
    for block in blocks:
        yield from block.sources.values() if isinstance(block, JointBlock) else (n.name for n in block.numbers())


def _number(values: Values, block: Block, key: str, own: Mapping[str, float]) -> Any:
    """A parameter of the machine's friction, or the model's own."""
    name = block.sources.get(key, "") if isinstance(block, JointBlock) else f"{block.name}.{key}"
    return own[name] if name in own else values.parameter(block, key)


def _law(block: Block, parameters: Mapping[str, Any]) -> Law:
    names = [argument.name for argument in arguments_of(block.function)]

    def results(given: Mapping[str, Any]) -> dict[str, Any]:
        return name_results(block, block.function(**{name: given[name] for name in names}))

    read = [signal for name, signal in block.inputs.items() if name not in ("position", "velocity")]

    def force(position: Any, velocity: Any) -> Any:
        if read:
            raise ValueError(f"friction '{block.name}' depends on the signal '{read[0]}', which no model knows")
        given = {"position": position, "velocity": velocity, "direction": sign(velocity), **parameters}
        given |= {name: _steady(results, given, name) for name in block.state_names}
        found = results(given)
        return found["torque"] if "torque" in found else found["force"]

    return force


def _steady(results: Callable[[Mapping[str, Any]], dict[str, Any]], given: Mapping[str, Any], state: str) -> Any:
    """A state that does not change, by one Newton step from 0: exact for rates that are linear in it."""
    symbol = ca.SX.sym(state)
    rate = ca.SX(results({**given, state: symbol})[f"{state}_dot"])
    slope, begun = ca.substitute([ca.jacobian(rate, symbol), rate], [symbol], [ca.SX(0)])
    return where(slope != 0, -begun / where(slope != 0, slope, 1.0), 0.0)
