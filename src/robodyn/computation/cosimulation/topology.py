"""Topology of a co-simulation: which interfaces meet?

Each meets one other at most, and no reduced model may come back to where it came from.
"""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Mapping, Sequence

from robodyn.base.errors import FlawList
from robodyn.computation.cosimulation.capabilities import GivesModels, KeepsMotion, TakesModels, interfaces_of
from robodyn.computation.cosimulation.connection import InterfacePair
from robodyn.computation.cosimulation.unit import Unit

Place = tuple[str, str]
"""Unit and interface."""


def check_meeting(units: Mapping[str, Unit], pairs: Sequence[InterfacePair], flaws: FlawList) -> None:
    """What connections make of interfaces together."""
    for (unit, interface), count in Counter(place for pair in pairs for place in _places(pair)).items():
        if count > 1:
            flaws.add(f"{unit}.{interface}", f"is in {count} connections", "give each an interface of its own")
    for pair in pairs:
        for sender, receiver in pair.models:
            _check_exchange(units, pair, (sender, receiver), flaws)
    circle = _find_circle(pairs)
    if circle:
        what = f"reduced models go round in a circle: {', '.join('.'.join(place) for place in circle)}"
        flaws.add("connections", what, "attach one of them through a stiffness, or couple it by signals")


def find_idle(units: Mapping[str, Unit], pairs: Sequence[InterfacePair], fed: Sequence[str]) -> list[str]:
    """Interfaces that wait for a motion or a model that nothing gives, as "unit.interface".

    Args:
        fed: "unit.input" of all links.
    """
    met = {place for pair in pairs for place in _places(pair)}
    return [
        f"{name}.{key}"
        for name, unit in units.items()
        for key, part in interfaces_of(unit).items()
        if part.takes != "force" and (name, key) not in met and not part.given
        if not any(f"{name}.{entry}" in fed for entry in part.incoming)
    ]


def _check_exchange(units: Mapping[str, Unit], pair: InterfacePair, way: tuple[int, int], flaws: FlawList) -> None:
    sender, receiver = (units[pair.sides[k].unit] for k in way)
    if not isinstance(sender, GivesModels):
        flaws.add(sender.name, "has no reduced_model", "couple it by signals")
    elif pair.implicit and "step" not in inspect.signature(sender.reduced_model).parameters:
        flaws.add(sender.name, "has no implicit models", "connect it without implicit")
    if not isinstance(receiver, TakesModels):
        flaws.add(receiver.name, "has no attach_model", "couple it by signals")
    elif _sets_motion(pair, way[1]) and isinstance(receiver, KeepsMotion) and receiver.keeps_motion:
        place, what = ".".join(_places(pair)[way[1]]), "takes a model rigidly, which would set its joints"
        remedy = 'let both sides take a model, with join = "none"; or attach it through a stiffness'
        flaws.add(place, what, remedy)
    elif pair.order and "trend" not in inspect.signature(receiver.attach_model).parameters:
        place = ".".join(_places(pair)[way[1]])
        flaws.add(place, f"models of order {pair.order} are more than it takes", "connect it with order 0")


def _sets_motion(pair: InterfacePair, receiver: int) -> bool:
    """Whether a side goes on with another motion than its own after an exchange."""
    apart = pair.merged and pair.join == "none"
    return pair.sides[receiver].interface.rigid and not apart


def _places(pair: InterfacePair) -> list[Place]:
    return [(side.unit, side.interface.name) for side in pair.sides]


def _find_circle(pairs: Sequence[InterfacePair]) -> list[Place]:
    """A model that is part of itself, with all on its way; the model of a unit at one interface holds those that are
    attached rigidly to the unit's others."""
    attached: dict[Place, Place] = {}
    for pair in pairs:
        places = _places(pair)
        attached |= {places[to]: places[of] for of, to in pair.models if pair.sides[to].interface.rigid}
    holds = {
        place: [model for at, model in attached.items() if at[0] == place[0] and at != place]
        for place in attached.values()
    }
    for place in holds:
        found = _follow(holds, [place])
        if found:
            return found
    return []


def _follow(holds: Mapping[Place, list[Place]], way: list[Place]) -> list[Place]:
    for held in holds[way[-1]]:
        if held in way:
            return way[way.index(held) :]
        found = _follow(holds, [*way, held])
        if found:
            return found
    return []
