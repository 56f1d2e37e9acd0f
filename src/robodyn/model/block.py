"""What computes signals from signals? Blocks: a law with its connections, parameters and sample rate."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np

from robodyn.errors import FlawList, nearest
from robodyn.laws import Argument, LawInfo, arguments_of, info_of, known_laws
from robodyn.model.frozen import FrozenDict, freeze_mappings
from robodyn.model.numbers import Number, as_floats, check_finite, check_flag, check_name, check_text, keep_floats
from robodyn.model.rules import check_rule

FORCE_NAMES = ("torque", "force")
ON_INPUTS = ("position", "velocity", "acceleration")
MAPPINGS = ("inputs", "parameters", "states", "memory", "acts", "hold")
MOST_UNDER_WAY = 10_000
"""Samples of a block that may wait for their delay at once: each is memory of its own in the code."""


def find_law(law: Any) -> Callable[..., Any] | None:
    """The function a law's name stands for, or the function itself."""
    return law if callable(law) else known_laws().get(str(law))


@dataclass(frozen=True)
class Block:
    """A law in its place.

    Attributes:
        law: a plain function, or the name of one in `robodyn.laws`.
        on: joint or coordinate it acts on: gives `position`, `velocity`, takes the output `torque` (`force`).
        inputs: argument -> signal name (or a tuple of them: the law then gets a tuple).
        parameters: argument -> number (or a tuple of numbers).
        states: start values of continuous states (default 0); memory: of discrete ones.
        acts: output -> joint or coordinate, for a block that acts on several or under another output name.
        period: sample time [s], None for a continuous block; offset: of the first sample [s];
        delay: time from a sample to its outputs' taking effect [s]; hold: outputs before that (default 0).
        native: False calls the law in Python at each sample (any callable; `hold` names its outputs), True
            traces it to native code.
        unit: of its signals where it cannot be told from the connections: "m" for a reference of a slide, "V" for a
            controller's command.
    """

    name: str
    law: Callable[..., Any] | str
    on: str | None = None
    inputs: Mapping[str, Any] = field(default_factory=dict)
    parameters: Mapping[str, Any] = field(default_factory=dict)
    states: Mapping[str, float] = field(default_factory=dict)
    memory: Mapping[str, float] = field(default_factory=dict)
    acts: Mapping[str, str] = field(default_factory=dict)
    period: float | None = None
    offset: float = 0.0
    delay: float = 0.0
    hold: Mapping[str, float] = field(default_factory=dict)
    native: bool = True
    unit: str | None = None

    def __post_init__(self) -> None:
        flaws = FlawList()
        check_name(flaws, self.name)
        freeze_mappings(flaws, self, *MAPPINGS)
        self._check_law(flaws)
        flaws.raise_if_any(f"block '{self.name}'")
        self._set_parameters()
        self._check_arguments(flaws)
        self._check_parameters(flaws)
        self._check_connections(flaws)
        self._check_timing(flaws)
        flaws.raise_if_any(f"block '{self.name}'")
        keep_floats(self, "period", "offset", "delay")

    def _check_law(self, flaws: FlawList) -> None:
        function = find_law(self.law)
        if function is None:
            flaws.add("law", f"'{self.law}' is unknown", nearest(str(self.law), known_laws()))
            return
        try:
            arguments_of(function)
        except (TypeError, ValueError) as error:
            flaws.add("law", str(error), "write the law as a plain function with named arguments")

    @property
    def function(self) -> Callable[..., Any]:
        function = find_law(self.law)
        assert function is not None  # checked when the block was made
        return function

    @property
    def info(self) -> LawInfo:
        return info_of(self.function)

    @property
    def sampled(self) -> bool:
        return self.period is not None

    @property
    def state_names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self.info.states, *self.states)))

    @property
    def memory_names(self) -> tuple[str, ...]:
        modes = (*(("direction",) if self.info.sticks else ()), *self.info.located.values())
        return tuple(dict.fromkeys((*self.info.memory, *self.memory, *modes)))

    def source_of(self, argument: Argument) -> str | None:
        """Where a value comes from: state, memory, input, parameter, time, on; None if nowhere."""
        name = argument.name
        if name in self.state_names:
            return "state"
        if name in self.memory_names:
            return "memory"
        if name in self.inputs:
            return "input"
        if name in self.parameters:
            return "parameter"
        if name == "time":
            return "time"
        return "on" if self.on and name in ON_INPUTS else None

    def _set_parameters(self) -> None:
        """Fill in defaults: a parameter has one name and one value wherever it is looked up."""
        values = dict(self.parameters)
        for argument in arguments_of(self.function):
            taken = argument.name in (*self.state_names, *self.memory_names, *self.inputs, *values)
            if argument.name == "period" and self.sampled and not taken:
                values["period"] = self.period
            elif argument.has_default and not taken:
                values[argument.name] = argument.default
        floats = FrozenDict({key: as_floats(value) for key, value in values.items()})
        object.__setattr__(self, "parameters", floats)

    def _check_arguments(self, flaws: FlawList) -> None:
        arguments = arguments_of(self.function)
        names = {argument.name for argument in arguments}
        for argument in arguments:
            if self.source_of(argument) is None:
                group = "parameters" if argument.keyword_only else "inputs"
                flaws.add(f"{group}.{argument.name}", "is missing", f"the law '{self._law_name}' needs it")
        for group in ("inputs", "parameters", "states", "memory"):
            for key in getattr(self, group):
                if key not in names:
                    what = f"is not an argument of '{self._law_name}'"
                    flaws.add(f"{group}.{key}", what, nearest(key, names))
        self._check_sources(flaws)

    def _check_sources(self, flaws: FlawList) -> None:
        """A value that comes from one place cannot be given in another as well."""
        sources = (
            ("states", set(self.state_names)),
            ("memory", set(self.memory_names)),
            ("inputs", set(self.inputs)),
            ("parameters", set(self.parameters)),
        )
        for (group, keys), (later, others) in combinations(sources, 2):
            for key in sorted(keys & others):
                flaws.add(f"{later}.{key}", f"has no effect beside {group}.{key}", "give it once")

    @property
    def _law_name(self) -> str:
        return self.law if isinstance(self.law, str) else getattr(self.law, "__name__", repr(self.law))

    def _check_parameters(self, flaws: FlawList) -> None:
        usable = {}
        for key, value in self.parameters.items():
            entries = value if isinstance(value, tuple) else (value,)
            finite = [check_finite(flaws, f"parameters.{key}", entry, infinite=True) for entry in entries]
            if all(finite):
                usable[key] = np.asarray(entries)
        for key, rule in self.info.checks.items():
            if key in usable:
                check_rule(flaws, f"parameters.{key}", rule, usable[key], usable)
        for group in ("states", "memory", "hold"):
            for key, value in getattr(self, group).items():
                check_finite(flaws, f"{group}.{key}", value)

    def _check_connections(self, flaws: FlawList) -> None:
        if self.on is not None:
            check_text(flaws, "on", self.on)
        for output, target in self.acts.items():
            check_text(flaws, f"acts.{output}", target)
        for key, value in self.inputs.items():
            for signal in value if isinstance(value, (tuple, list)) else (value,):
                if not isinstance(signal, str):
                    check_finite(flaws, f"inputs.{key}", signal, infinite=True)
        if self.unit is not None and find_law(self.law):
            self._check_unit(flaws)
        if find_law(self.law) and self.info.sticks and not self.on:
            flaws.add("on", "is missing", f"'{self._law_name}' must know which joint or coordinate it holds")
        if find_law(self.law) and self.info.sticks and self.acts:
            flaws.add("acts", f"has no effect on '{self._law_name}'", "its force acts on what it holds: on")
        if find_law(self.law) and self.info.sticks and "velocity" in self.inputs:
            flaws.add("inputs.velocity", f"has no meaning for '{self._law_name}'", "it is that of what it holds: on")
        if find_law(self.law) and self.info.sticks and "direction" in self.memory:
            flaws.add("memory.direction", "is found from the speed at the start", "leave it out")
        for side in self.info.located.values() if find_law(self.law) else ():
            if side in self.memory:
                flaws.add(f"memory.{side}", "is found at the start", "leave it out")
        check_flag(flaws, "native", self.native)

    def _check_unit(self, flaws: FlawList) -> None:
        """A unit says what {u} stands for in the law's units, or {x} where no joint or coordinate tells it."""
        check_text(flaws, "unit", self.unit)
        if any("{u}" in unit for unit in self.info.units.values()):
            return
        if self.on:
            flaws.add("unit", "has no effect", f"'{self.on}' tells the units")
        elif self.unit not in ("rad", "m"):
            flaws.add("unit", f"must be 'rad' or 'm', is {self.unit!r}", "the law works on an angle or a length")

    def _check_timing(self, flaws: FlawList) -> None:
        if self.period is None:
            self._check_continuous(flaws)
        else:
            self._check_sampled(flaws)

    def _check_continuous(self, flaws: FlawList) -> None:
        for key, idle in (("offset", 0.0), ("delay", 0.0), ("hold", {}), ("native", True)):
            if getattr(self, key) != idle:
                flaws.add(key, "has no effect on a continuous block", "give a period, or use a Delay")
        # Memory given with the block itself may be changed by events; a law that declares memory updates it by samples.
        declared = self.info.memory if find_law(self.law) else ()
        if declared:
            flaws.add("period", "is missing", f"the law remembers {', '.join(declared)}: it is sampled")

    def _check_sampled(self, flaws: FlawList) -> None:
        period: Any = self.period
        times = {"period": period, "offset": self.offset, "delay": self.delay}
        known = [key for key, value in times.items() if check_finite(flaws, key, value)]
        if "period" in known and period <= 0:
            flaws.add("period", f"must be positive, is {period:g} s")
        for key in ("offset", "delay"):
            if key in known and times[key] < 0:
                flaws.add(key, f"must not be negative, is {times[key]:g} s")
        if {"period", "delay"} <= set(known) and 0 < MOST_UNDER_WAY * period < self.delay:
            what = f"{self.delay / period:.3g} samples would be under way at once, at most {MOST_UNDER_WAY} may"
            flaws.add("delay", what, "shorten it, lengthen the period, or delay the continuous signal by a Delay")
        if self.info.sticks:
            flaws.add("period", f"has no meaning for '{self._law_name}'", "a force that holds is continuous")
        if self.info.located:
            flaws.add("period", f"has no meaning for '{self._law_name}'", "what it locates is continuous")
        if self.state_names:
            what = f"the law integrates {', '.join(self.state_names)}"
            flaws.add("period", what, "a sampled law has memory instead")
        given = self.parameters.get("period")
        if given is not None and given != period:
            what = f"is {given!r} s, but the block runs every {period!r} s"
            flaws.add("parameters.period", what, "leave it out: it is the block's own period")
        if not (self.native or self.hold or self.memory_names):
            flaws.add("hold", "is missing", "a law called in Python names its outputs there, each with a start value")

    def numbers(self) -> Iterator[Number]:
        if self.period is not None and "period" not in self.parameters:
            yield Number(f"{self.name}.period", self.period, "s")
        for key, value in self.parameters.items():
            unit = self.info.units.get(key, "")
            if isinstance(value, tuple):
                for k, entry in enumerate(value):
                    yield Number(f"{self.name}.{key}.{k}", entry, unit)
            elif isinstance(value, (int, float)):
                yield Number(f"{self.name}.{key}", value, unit)

    def with_numbers(self, changes: Mapping[str, float]) -> Block:
        values = {}
        period = None if self.period is None else changes.get(f"{self.name}.period", self.period)
        for key, value in self.parameters.items():
            path = f"{self.name}.{key}"
            if isinstance(value, tuple):
                values[key] = tuple(changes.get(f"{path}.{k}", entry) for k, entry in enumerate(value))
            else:
                values[key] = changes.get(path, value)
        return dataclasses.replace(self, parameters=values, period=period)
