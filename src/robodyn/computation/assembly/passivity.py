"""Passivity: does an element that only stores or loses energy ever give more than it holds?

    P + dE/dt <= 0

P is the power of its force on the mechanism, E the energy that the element stores. Both are exact at every instant, so
that an element that pulls where it should push, slides the wrong way or was changed at the wrong time is reported by
name.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import casadi as ca

from robodyn.base.symbolic import absolute
from robodyn.computation.assembly.contribution import Contribution, watch
from robodyn.computation.assembly.invariants import Invariant
from robodyn.computation.assembly.tracing import Bindings
from robodyn.description.laws import LawInfo, arguments_of
from robodyn.description.model import Block
from robodyn.description.model.block import FORCE_NAMES


def watch_passive(
    name: str, info: LawInfo, power: Any, arguments: Mapping[str, Any], rates: Mapping[str, Any], bindings: Bindings
) -> Contribution:
    """Watch an element whose law is passive; its power and what it gains or loses of its store are the sizes.

    Args:
        power: of its force on the mechanism [W].
        arguments: what its law was traced with; rates: of those that its store depends on and that change.
    """
    if not info.passive:
        return Contribution()
    power, growth = ca.SX(power), ca.SX(0)
    if info.stored is not None:
        # dE/dt = sum dE/ds s_dot over what the store depends on, by fresh symbols for just these.
        moving = {key: ca.SX.sym(key) for key in rates}
        known = {**arguments, **moving}
        stored = ca.SX(info.stored(**{argument.name: known[argument.name] for argument in arguments_of(info.stored)}))
        growth = sum((ca.jacobian(stored, moving[key]) * rate for key, rate in rates.items()), ca.SX(0))
        growth = ca.substitute([growth], list(moving.values()), [ca.SX(arguments[key]) for key in moving])[0]
    return watch(Invariant.PASSIVE, name, "W", [power + growth, absolute(power)], bindings)


def watch_block(
    block: Block, arguments: Mapping[str, Any], results: Mapping[str, Any], bindings: Bindings
) -> Contribution:
    """Watch a passive block on a joint or coordinate whose motion it takes from there itself."""
    forces = [name for name in FORCE_NAMES if name in results]
    sources = {a.name: block.source_of(a) for a in arguments_of(block.function) if a.name in ("position", "velocity")}
    # Only then is its force times that speed its power.
    taken = "velocity" in sources and set(sources.values()) == {"on"}
    if block.on is None or block.acts or len(forces) != 1 or not taken:
        return Contribution()
    rates = {name: results[f"{name}_dot"] for name in block.state_names}
    if "position" in sources:
        rates["position"] = arguments["velocity"]
    power = results[forces[0]] * arguments["velocity"]
    return watch_passive(block.name, block.info, power, arguments, rates, bindings)
