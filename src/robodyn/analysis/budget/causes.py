"""Causes of an error budget: which blocks add to a deviation what a linear loop would not have?

A law that is a `disturbance` (friction, gear loss) does so with its whole force; a law with `ideal` values (no limit,
perfect resolution, no compensation) with what its actual values change. Without both, a machine near its nominal motion
is linear.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from robodyn.base.errors import FlawList
from robodyn.description.model import Block, Delay, FormulaSignal, Machine, Scenario

Reading = Block | FormulaSignal | Delay


@dataclass(frozen=True)
class Cause:
    """A block that adds to the deviation.

    Attributes:
        ideal: arguments of its law -> values without an effect; empty for a disturbance.
        forces: what a disturbance exerts: (joint or coordinate, signal).
    """

    block: str
    ideal: Mapping[str, float]
    forces: tuple[tuple[str, str], ...] = ()

    @property
    def what(self) -> str:
        """What of the block it is."""
        return ", ".join(self.ideal) or "force"


def find_causes(scenario: Scenario, forces: Iterable[tuple[str, str]] | None = None) -> dict[str, Cause]:
    """Causes by the name of their block.

    Args:
        forces: of blocks on joints and coordinates that are kept in full near the nominal motion; all by default.
            Disturbances that became a part of the linear mechanics are none of them: they are dynamics.
    """
    acting = None if forces is None else tuple(forces)
    found = {}
    for block in scenario.machine.blocks:
        if acting is None:
            own = tuple((target, block.name) for target in (block.on, *block.acts.values()) if target)
        else:
            own = tuple(force for force in acting if force[1].rpartition(".")[0] == block.name)
        ideal = _effective(block)
        if block.info.disturbance and own:
            found[block.name] = Cause(block.name, {}, own)
        elif ideal and not block.info.disturbance:
            found[block.name] = Cause(block.name, ideal)
    _check_readers(scenario.machine, [name for name, cause in found.items() if cause.forces])
    return found


def _effective(block: Block) -> dict[str, float]:
    """Ideal values that are not the actual ones already."""
    given = {**block.parameters, **block.inputs}
    return {name: value for name, value in block.info.ideal.items() if given.get(name, value) != value}


def leave_out(scenario: Scenario, causes: Mapping[str, Cause]) -> Scenario:
    """The scenario without its causes: what is left is linear near the nominal motion."""
    silent = {name for name, cause in causes.items() if cause.forces}
    machine = scenario.machine
    blocks = tuple(
        idealise(block, causes[block.name]) if block.name in causes else block
        for block in machine.blocks
        if block.name not in silent
    )
    names = part_names(machine)
    initial = {key: value for key, value in scenario.initial.items() if owner_of(key, names) not in silent}
    return dataclasses.replace(scenario, machine=dataclasses.replace(machine, blocks=blocks), initial=initial)


def idealise(block: Block, cause: Cause) -> Block:
    """A block with the ideal values of its law."""
    parameters = {key: cause.ideal.get(key, value) for key, value in block.parameters.items()}
    inputs = {key: cause.ideal.get(key, value) for key, value in block.inputs.items()}
    return dataclasses.replace(block, parameters=parameters, inputs=inputs)


def moving_parts(machine: Machine) -> set[str]:
    """Joints, coordinates and points: their signals are those of the motion."""
    points = machine.mechanism.points if machine.mechanism else ()
    return {*machine.actuated, *(point.name for point in points)}


def part_names(machine: Machine) -> set[str]:
    """Every part that has signals."""
    return moving_parts(machine) | {part.name for part in readers_of(machine)}


def readers_of(machine: Machine) -> tuple[Reading, ...]:
    """Parts that make signals of signals."""
    return (*machine.blocks, *machine.signals, *machine.delays)


def owner_of(signal: str, names: Collection[str]) -> str | None:
    """The part of a machine that a signal belongs to: the longest of all names it begins with; a formula is its own."""
    while signal and signal not in names:
        signal = signal.rpartition(".")[0]
    return signal or None


def signals_read(part: Reading) -> Iterator[str]:
    """Every signal that a part reads."""
    return (name for _, to, name in part.references() if to == "signal")


def why_no_twin(scenario: Scenario) -> str:
    """Why a scenario has no linear twin, in a few words; empty where it has one."""
    for block in scenario.machine.blocks:
        if block.info.sticks:
            return f"'{block.name}' sticks: its force depends on all others at once"
        if not block.native:
            return f"'{block.name}' is called in Python: what it remembers cannot be doubled"
    acting = next((event.name for event in scenario.events if event.action is not None), "")
    return f"the event '{acting}' changes the motion by an action" if acting else ""


def _check_readers(machine: Machine, silent: list[str]) -> None:
    flaws = FlawList()
    names = part_names(machine)
    for part in readers_of(machine):
        for signal in signals_read(part) if part.name not in silent else ():
            owner = owner_of(signal, names)
            if owner in silent:
                what = f"reads '{signal}' of the disturbance '{owner}'"
                flaws.add(f"{part.NOUN}s.{part.name}", what, "a linear loop has no such signal")
    flaws.raise_if_any(f"budget of '{machine.name}'")
