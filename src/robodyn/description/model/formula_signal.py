"""Signals by formula: a signal that is computed from others by an expression in text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cached_property
from typing import Self

from robodyn.base.errors import FlawList
from robodyn.base.units import UnitError, parse_unit
from robodyn.description.model.description import Description
from robodyn.description.model.fields import EMPTY, numbers, part_name, text, text_map
from robodyn.description.model.formula import FUNCTIONS, FormulaError, Node, names_in, parse_formula, rename_signals
from robodyn.description.model.formula_units import infer_unit
from robodyn.description.model.kinds import Rename
from robodyn.description.model.numbers import Number


class FormulaSignal(Description):
    """A signal computed by a formula, such as `hypot(x.position, y.position) - radius`.

    Its name is the signal's: blocks, events, delays and measures read it like any other. It is continuous; a formula of
    sampled signals is held as they are. Its parameters are tunable as `<signal>.<parameter>`.
    """

    NOUN = "signal"

    name: str = part_name()
    formula: str = text(doc='of signals, parameters, `time` and `pi`: `"hypot(x.position, y.position) - radius"`')
    unit: str | None = text(
        default=None,
        doc="SI unit of the result, checked against the one that follows from the formula",
        absent="the one that follows",
    )
    parameters: Mapping[str, float] = numbers(under="", default=EMPTY, doc="name = number, with its unit if it has one")
    parameter_units: Mapping[str, str] = text_map(default=EMPTY, doc="SI units of parameters written as plain numbers")

    def check(self, flaws: FlawList) -> None:
        if flaws.found:
            return
        names = self._check_formula(flaws)
        for key in self.parameters:
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

    def _check_formula(self, flaws: FlawList) -> set[str]:
        try:
            names = {name.name for name in names_in(parse_formula(self.formula))}
        except FormulaError as error:
            flaws.add("formula", error.tell(self.formula), error.remedy)
            return set()
        if not names - set(self.parameters):
            flaws.add("formula", "reads no signal", "a constant is the law constant_reference of a block")
        return names

    def _check_unit(self, flaws: FlawList, path: str, unit: str) -> None:
        try:
            known = parse_unit(unit)
        except UnitError as error:
            flaws.add(path, str(error))
            return
        if known.factor != 1:
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

    def references(self, path: str = "") -> Iterator[tuple[str, str, str]]:
        for signal in self.signals:
            yield f"{path}.formula" if path else "formula", "signal", signal

    def renamed(self, rename: Rename) -> Self:
        def replace(word: str) -> str:
            return word if word in self.parameters else rename("signal", word)

        return self.replaced(name=rename("part", self.name), formula=rename_signals(self.formula, replace))

    def numbers(self, prefix: str | None = None) -> Iterator[Number]:
        for key, value in self.parameters.items():
            yield Number(f"{prefix or self.name}.{key}", value, self.parameter_units.get(key, ""))
