"""Reading and writing many variables of an FMU: one call for each type, arrays as a whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from robodyn.base.errors import Flaw, ModelError, nearest
from robodyn.exchange.fmi.fmpy_adapter import Instance
from robodyn.exchange.fmi.unit_variables import Signal, UnitVariable, Value

WIDE = ("Int64", "UInt64")
"""Types with whole numbers that are no floats."""


class Group(NamedTuple):
    """Variables of one type in one call.

    Attributes:
        picks: place among the names that are asked for, and among all elements of the group.
    """

    kind: str
    references: list[int]
    size: int
    picks: list[tuple[int, int]]


class Access:
    """Signals of a unit by name.

    Attributes:
        rounded: whole numbers that were read and are no floats, as signals are.
    """

    def __init__(self, signals: Mapping[str, Signal], unit: str) -> None:
        self.signals, self.unit = signals, unit
        self.rounded: dict[str, int] = {}
        self._groups: dict[tuple[str, ...], list[Group]] = {}

    def find(self, names: Sequence[str]) -> list[Signal]:
        """The signals of these names; all unknown ones are reported."""
        unknown = [name for name in names if name not in self.signals]
        if unknown:
            flaws = [Flaw(name, "is no variable of the unit", nearest(name, self.signals)) for name in unknown]
            raise ModelError(flaws, f"unit '{self.unit}'")
        return [self.signals[name] for name in names]

    def get(self, instance: Instance, names: Sequence[str]) -> list[float]:
        """Values, as signals are: as floats."""
        key = tuple(names)
        if key not in self._groups:
            self._groups[key] = group_signals(self.find(names))
        found = [0.0] * len(key)
        for group in self._groups[key]:
            values = instance.get(group.kind, group.references, group.size)
            for k, place in group.picks:
                found[k] = float(values[place])
            if group.kind in WIDE:
                lost = ((k, values[place]) for k, place in group.picks if int(found[k]) != values[place])
                self.rounded |= {key[k]: value for k, value in lost if key[k] not in self.rounded}
        return found

    def set(self, instance: Instance, values: Mapping[str, Value], opened: bool) -> None:
        """Values by name, already checked.

        Args:
            opened: whether the unit can be read: the elements of an array that are not given stay as they are, before
                that as the unit starts them.
        """
        whole: dict[str, list[Value]] = {}
        variables: dict[str, UnitVariable] = {}
        for name, value in values.items():
            variable, place = self.signals[name]
            if variable.name not in whole:
                variables[variable.name] = variable
                whole[variable.name] = self._present(instance, variable, values, opened)
            whole[variable.name][place] = value
        for kind in dict.fromkeys(variable.kind for variable in variables.values()):
            chosen = [variable for variable in variables.values() if variable.kind == kind]
            flat = [value for variable in chosen for value in whole[variable.name]]
            instance.set(kind, [variable.reference for variable in chosen], flat)

    def _present(
        self, instance: Instance, variable: UnitVariable, given: Mapping[str, Value], opened: bool
    ) -> list[Value]:
        missing = [name for name in variable.elements if name not in given] if variable.shape else []
        if not missing:
            return [0] * variable.size
        if opened:
            return list(instance.get(variable.kind, [variable.reference], variable.size))
        if not variable.start:
            what = f"has {variable.size} elements now and no start values for them"
            remedy = f"set all of them, also {', '.join(missing[:3])}"
            raise ModelError([Flaw(variable.name, what, remedy)], f"unit '{self.unit}'")
        return list(variable.start)


def group_signals(signals: Sequence[Signal]) -> list[Group]:
    """Calls that read all of them; an array is read once, whatever is wanted of it."""
    found = []
    for kind in dict.fromkeys(signal.variable.kind for signal in signals):
        begin: dict[int, int] = {}
        size = 0
        for variable, _ in signals:
            if variable.kind == kind and variable.reference not in begin:
                begin[variable.reference] = size
                size += variable.size
        picks = [
            (k, begin[variable.reference] + place)
            for k, (variable, place) in enumerate(signals)
            if variable.kind == kind
        ]
        found.append(Group(kind, list(begin), size, picks))
    return found
