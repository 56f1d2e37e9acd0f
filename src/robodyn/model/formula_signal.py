"""Signals by formula: a signal that is computed from others by an expression in text."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from robodyn.errors import FlawList
from robodyn.model.formula import FUNCTIONS, FormulaError, Node, names_in, parse_formula, rename_signals
from robodyn.model.formula_units import infer_unit
from robodyn.model.frozen import freeze_mappings
from robodyn.model.numbers import Number, check_finite, check_name
from robodyn.units import UnitError, parse_unit


@dataclass(frozen=True)
class FormulaSignal:
    """A signal computed by a formula, such as `hypot(x.position, y.position) - radius`.

    Its name is the signal's: blocks, events, delays and measures read it like any other. It is continuous; a formula of
    sampled signals is held as they are.

    Attributes:
        unit: SI unit of the result, checked against the one that follows from the formula; None takes that one.
        parameters: numbers by name, tunable as `<signal>.<parameter>`; parameter_units: their SI units.
    """

    name: str
    formula: str
    unit: str | None = None
    parameters: Mapping[str, float] = field(default_factory=dict)
    parameter_units: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        flaws = FlawList()
        check_name(flaws, self.name)
        freeze_mappings(flaws, self, "parameters", "parameter_units")
        flaws.raise_if_any(f"signal '{self.name}'")
        names = self._check_formula(flaws)
        for key, value in self.parameters.items():
            check_finite(flaws, f"parameters.{key}", value)
            if names and key not in names:
                flaws.add(f"parameters.{key}", "is not used in the formula", "leave it out")
            if key in FUNCTIONS or key in ("pi", "time"):
                flaws.add(f"parameters.{key}", "is the name of a function or constant", "choose another name")
        for key, unit in self.parameter_units.items():
            self._check_unit(flaws, f"parameter_units.{key}", unit)
            if key not in self.parameters:
                flaws.add(f"parameter_units.{key}", "there is no such parameter")
        if self.unit is not None:
            self._check_unit(flaws, "unit", self.unit)
        flaws.raise_if_any(f"signal '{self.name}'")

    def _check_formula(self, flaws: FlawList) -> set[str]:
        formula: Any = self.formula
        if not isinstance(formula, str):
            flaws.add("formula", f"must be text, is {formula!r}")
            return set()
        try:
            names = {name.name for name in names_in(parse_formula(self.formula))}
        except FormulaError as error:
            flaws.add("formula", error.tell(self.formula), error.remedy)
            return set()
        if not names - set(self.parameters):
            flaws.add("formula", "reads no signal", "a constant is the law constant_reference of a block")
        return names

    def _check_unit(self, flaws: FlawList, path: str, unit: Any) -> None:
        try:
            known = parse_unit(unit) if isinstance(unit, str) else None
        except UnitError as error:
            flaws.add(path, str(error))
            return
        if known is None:
            flaws.add(path, f"must be text, is {unit!r}")
        elif known.factor != 1:
            flaws.add(path, f"'{unit}' is not of SI, as all signals are", f"say '{known.name}'")

    @cached_property
    def tree(self) -> Node:
        """The formula, parsed."""
        return parse_formula(self.formula)

    @property
    def signals(self) -> tuple[str, ...]:
        """Names of the signals it reads."""
        names = dict.fromkeys(name.name for name in names_in(self.tree))
        return tuple(name for name in names if name not in self.parameters)

    def find_unit(self, units: Mapping[str, str]) -> str:
        """The unit that is said, or the one that follows from those of signals; empty where that is not known."""
        if self.unit is not None:
            return self.unit
        with suppress(FormulaError):
            found = infer_unit(self.tree, {**units, **self.parameter_units})
            return found.name or "1" if found else ""
        return ""

    def renamed(self, name: str, rename: Callable[[str], str]) -> FormulaSignal:
        """The same of signals with other names."""
        formula = rename_signals(self.formula, lambda word: word if word in self.parameters else rename(word))
        return dataclasses.replace(self, name=name, formula=formula)

    def numbers(self) -> Iterator[Number]:
        for key, value in self.parameters.items():
            yield Number(f"{self.name}.{key}", value, self.parameter_units.get(key, ""))

    def with_numbers(self, changes: Mapping[str, float]) -> FormulaSignal:
        values = {key: changes.get(f"{self.name}.{key}", value) for key, value in self.parameters.items()}
        return dataclasses.replace(self, parameters=values)
