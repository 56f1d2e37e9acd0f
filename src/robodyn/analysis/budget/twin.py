"""Linear twin of a scenario: how do the parts of a deviation come about side by side?

The twin, its parts under the prefix `linear.`, has the same mechanism and blocks without any cause. Each cause is given
to it as it acts in the original at that very instant, times a weight:

    disturbance: F' = w F,     ideal values: y' = f_ideal(x') + w [f(x) - f_ideal(x)]

with x what the original block sees and x' what the twin's sees. The same holds for rates of states and for what sampled
blocks remember. With all weights 1 the twin moves as the original does; as it is linear, its deviation is the sum of
those with one weight at a time.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from robodyn.analysis.budget.causes import Cause, moving_parts, owner_of, part_names, readers_of, signals_read
from robodyn.analysis.budget.listening import add_difference, pass_on
from robodyn.description.model import Block, Machine, Scenario, combine
from robodyn.description.model.kinds import Rename

PREFIX = "linear"


@dataclass(frozen=True)
class Twin:
    """A scenario with its linear twin.

    Attributes:
        own: parts of the original that the twin has too; names: all parts of the original.
    """

    scenario: Scenario
    causes: Mapping[str, Cause]
    own: Collection[str]
    names: Collection[str]

    def has(self, signal: str) -> bool:
        """Whether the twin has a signal of its own."""
        return owner_of(signal, self.names) in self.own

    def weights(self, *active: str) -> dict[str, float]:
        """Numbers of a run in which some causes act on the twin, and no others."""
        return {f"{PREFIX}.{name}.weight": float(name in active) for name in self.causes}


def build_twin(scenario: Scenario, causes: Mapping[str, Cause]) -> Twin:
    """A scenario and its twin in one machine; each block of the twin is sampled just before its original."""
    machine, names = scenario.machine, part_names(scenario.machine)
    copied = find_copied(machine, causes)
    own = copied - {name for name, cause in causes.items() if cause.forces}
    prefixed = combine(PREFIX, {PREFIX: _keep(machine, own)})
    connect = _reconnect(own, names)
    twins = {block.name: block.renamed(connect) for block in prefixed.blocks}
    blocks: list[Block] = []
    for block in machine.blocks:
        copy = twins.get(f"{PREFIX}.{block.name}")
        if block.name in causes:
            cause = causes[block.name]
            blocks.append(add_difference(block, copy, cause) if copy else pass_on(cause, PREFIX))
        elif copy:
            blocks.append(copy)
        blocks.append(block)
    both = dataclasses.replace(
        _join(machine, prefixed),
        blocks=tuple(blocks),
        delays=(*machine.delays, *(delay.renamed(connect) for delay in prefixed.delays)),
        signals=(*machine.signals, *(signal.renamed(connect) for signal in prefixed.signals)),
    )
    initial = {f"{PREFIX}.{key}": x for key, x in scenario.initial.items() if owner_of(key, names) in own}
    nominal = {f"{PREFIX}.{joint}": signal for joint, signal in scenario.nominal.items()}
    whole = dataclasses.replace(
        scenario,
        machine=both,
        initial=dict(scenario.initial) | initial,
        nominal=dict(scenario.nominal) | nominal,
    )
    return Twin(whole, causes, frozenset(own), frozenset(names))


def find_copied(machine: Machine, causes: Mapping[str, Cause]) -> set[str]:
    """Parts that the twin has itself: those that see the motion, causes, and what these feed. Others it shares."""
    names = part_names(machine)
    found = moving_parts(machine)
    found |= {block.name for block in machine.blocks if block.on or block.acts or block.name in causes}
    reads = {part.name: tuple(signals_read(part)) for part in readers_of(machine)}
    before = 0
    while len(found) > before:
        before = len(found)
        found |= {part for part, signals in reads.items() if any(owner_of(s, names) in found for s in signals)}
    return found


def _keep(machine: Machine, kept: set[str]) -> Machine:
    """The machine with some of its parts; leaving a range ends the run of the original alone."""
    return dataclasses.replace(
        machine,
        blocks=tuple(block for block in machine.blocks if block.name in kept),
        delays=tuple(delay for delay in machine.delays if delay.name in kept),
        signals=tuple(signal for signal in machine.signals if signal.name in kept),
        coordinates=tuple(dataclasses.replace(coordinate, range=None) for coordinate in machine.coordinates),
        tunable=(),
    )


def _join(machine: Machine, twin: Machine) -> Machine:
    """Both mechanisms as one, the original's joints first."""
    mechanism, other = machine.mechanism, twin.mechanism
    assert mechanism is not None
    assert other is not None
    together = dataclasses.replace(
        mechanism,
        bodies=(*mechanism.bodies, *other.bodies),
        joints=(*mechanism.joints, *other.joints),
        points=(*mechanism.points, *other.points),
    )
    return dataclasses.replace(
        machine,
        mechanism=together,
        coordinates=(*machine.coordinates, *twin.coordinates),
        loads=(*machine.loads, *twin.loads),
    )


def _reconnect(own: set[str], names: set[str]) -> Rename:
    """Parts of the twin read what it shares with the original from there."""

    def rename(to: str, name: str) -> str:
        bare = name.removeprefix(f"{PREFIX}.")
        return bare if to == "signal" and owner_of(bare, names) not in own else name

    return rename
