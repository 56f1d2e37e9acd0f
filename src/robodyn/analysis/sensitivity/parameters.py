"""Differentiable parameters: by which numbers can a system be differentiated exactly, and why not by the others?"""

from __future__ import annotations

from collections.abc import Sequence

from robodyn.base import FlawList, frozen, nearest
from robodyn.computation.assembly import System
from robodyn.description.model import Scenario

INITIAL = "initial."
REMEDY = "use finite changes instead"


@frozen
class Direction:
    """A number that is changed: its name, unit, value and where the system has it.

    Attributes:
        place: index in p, None where it is no entry of p.
        state: index of the state whose start value it is; memory: indices of the memory whose start value it is.
        delay: index of the delay whose time it is.
    """

    name: str
    unit: str
    value: float
    nominal: float
    place: int | None = None
    state: int | None = None
    memory: tuple[int, ...] = ()
    delay: int | None = None


def find_directions(system: System, names: Sequence[str]) -> tuple[Direction, ...]:
    """The numbers of these names; one that has no exact derivative is a ModelError that says why."""
    flaws = FlawList()
    # Python code has no derivative.
    for task in system.discrete.tasks:
        if task.call is not None:
            flaws.add(f"blocks.{task.name}", "is called in Python, which cannot be differentiated", REMEDY)
    for guard in system.discrete.guards:
        if guard.call is not None:
            what = "has an action called in Python, which cannot be differentiated"
            flaws.add(f"events.{guard.name}", what, REMEDY)
    for name in {name for name in names if list(names).count(name) > 1}:
        flaws.add(name, "is named twice", "name it once")
    directions = [_find(system, name, flaws) for name in names]
    flaws.raise_if_any(f"sensitivities of '{system.scenario.name}'")
    return tuple(direction for direction in directions if direction is not None)


def _find(system: System, name: str, flaws: FlawList) -> Direction | None:
    if name.startswith(INITIAL):
        return _find_initial(system, name, flaws)
    if sets_breaks(system, name):
        what = "sets the time of a jump, across which the motion has no derivative by it"
        flaws.add(name, what, REMEDY)
        return None
    if name in [f"{info.owner}.before" for info in system.delays]:
        flaws.add(
            name, "is the value of a delayed signal before the start, by which there is no derivative here", REMEDY
        )
        return None
    delay = next((k for k, info in enumerate(system.delays) if f"{info.owner}.time" == name), None)
    place = system.places.get(name)
    if place is None:
        if name == "duration":
            flaws.add(name, "is not a quantity of the motion itself", "read the signal's rate at the end")
        elif name in system.numbers:
            what = "is a constant of this system's code"
            flaws.add(name, what, f"name it in the machine's `tunable` if it is one of the mechanism, or {REMEDY}")
        else:
            flaws.add(name, "there is no such number", nearest(name, [*system.numbers, *system.places]))
        return None
    number = system.numbers[name]
    return Direction(name, number.unit, number.value, abs(number.value) or 1.0, place, delay=delay)


def check_quaternions(scenario: Scenario, names: Sequence[str], flaws: FlawList) -> None:
    """Entries of a quaternion cannot be changed one by one."""
    freedoms = scenario.machine.any_mechanism.freedoms
    entries = {f"{INITIAL}{name}" for one in freedoms if not one.is_single for name in one.positions}
    for name in sorted(entries & set(names)):
        what = "is an entry of a quaternion: changed alone, it is no longer a rotation"
        flaws.add(name, what, "change an angular velocity, or compare runs from other orientations")


def _find_initial(system: System, name: str, flaws: FlawList) -> Direction | None:
    state_name = name.removeprefix(INITIAL)
    check_quaternions(system.scenario, [name], flaws)
    if system.scenario.initialisation == "at_rest":
        flaws.add(name, "is only a guess of the equilibrium at which the run starts", "leave it out")
        return None
    for k, state in enumerate(system.states):
        if state.name == state_name:
            return Direction(name, state.unit, state.start, state.nominal, state=k)
    # Samples under way when the run starts hold the same value as the output they will become.
    waiting = [k for k, memory in enumerate(system.memory) if memory.name.startswith(f"{state_name}.pending.")]
    for k, memory in enumerate(system.memory):
        if memory.name == state_name and not memory.hidden:
            return Direction(name, memory.unit, memory.start, abs(memory.start) or 1.0, memory=(*waiting, k))
    names = [f"{INITIAL}{state.name}" for state in system.states]
    names += [f"{INITIAL}{memory.name}" for memory in system.memory if not memory.hidden]
    flaws.add(name, "there is no such state", nearest(name, names))
    return None


def sets_breaks(system: System, name: str) -> bool:
    """Whether the times at which a reference jumps or kinks change with a number."""
    number = system.numbers.get(name)
    if number is None:
        return False
    values = system.number_values
    other_values = values | {name: number.value + 1e-3 * (abs(number.value) or 1.0)}
    rules = [rule for rule in system.discrete.breaks if name in rule.names]
    return any([*map(float, rule.times(values))] != [*map(float, rule.times(other_values))] for rule in rules)
