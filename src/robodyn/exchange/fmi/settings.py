"""Start values of an FMU: what may be set before it starts? Parameters, start values and inputs, each checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from robodyn.base.errors import FlawList, nearest
from robodyn.exchange.fmi.description import ValueRefused, read_value
from robodyn.exchange.fmi.unit_variables import Signal, UnitVariable, Value


def check_settings(
    signals: Mapping[str, Signal], all_variables: Sequence[Any], given: Mapping[str, Any], unit: str
) -> dict[str, Value]:
    """Values as the interface wants them; all that cannot be set is reported at once."""
    known = [name for name, signal in signals.items() if _can_set(signal)]
    others = {variable.name: variable for variable in all_variables if variable.name not in signals}
    flaws = FlawList()
    found: dict[str, Value] = {}
    for name, value in given.items():
        path = f"parameters.{name}"
        if name in known:
            try:
                found[name] = read_value(signals[name].variable, value)
            except ValueRefused as error:
                flaws.add(path, str(error))
        elif name in others and others[name].dimensions:
            flaws.add(path, "is an array", f"set its elements, '{name}[1]' or '{name}[1,1]' and so on")
        elif name in others:
            flaws.add(path, f"is a {others[name].type}", "only numbers, booleans and enumerations can be set")
        elif name in signals:
            flaws.add(path, "is computed by the unit", nearest(name, known))
        else:
            flaws.add(path, "is no parameter of the unit", nearest(name, known))
    flaws.raise_if_any(f"unit '{unit}'")
    return found


def _can_set(signal: Signal) -> bool:
    return signal.variable.settable or signal.variable.causality in ("parameter", "structuralParameter")


def find_sizes(variables: Sequence[UnitVariable], given: Mapping[str, Any], unit: str) -> dict[str, int]:
    """Structural parameters that are set, since sizes of arrays depend on them."""
    chosen = [v for v in variables if v.causality == "structuralParameter" and v.name in given]
    signals = {variable.name: Signal(variable, 0) for variable in chosen}
    found = check_settings(signals, (), {name: given[name] for name in signals}, unit)
    return {name: int(value) for name, value in found.items()}
