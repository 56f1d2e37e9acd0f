"""Blocks: what computes signals from signals? A law with its connections, parameters and sample rate."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import combinations
from typing import Any, Self

from robodyn.base import FlawList
from robodyn.description.laws import Argument, LawInfo, arguments_of, info_of

from .control_model import ControlModel
from .description import Description
from .fields import (
    EMPTY,
    child,
    flag,
    law_or_name,
    numbers,
    part_name,
    quantity,
    reference,
    reference_map,
    text,
)
from .kinds import NumberMap
from .numbers import FrozenDict, Number, as_floats
from .rules import check_law, check_parameters, find_law

SHORTEST_TIME, LONGEST_TIME = 1e-9, 1e9
"""Periods, offsets and delays of sampled blocks [s]: they are counted in whole numbers of a base period."""
MOST_WAITING = 10_000
"""Samples on their way to take effect."""
FORCE_NAMES = ("torque", "force")
ON_INPUTS = ("position", "velocity", "acceleration")
MAPPINGS = ("inputs", "parameters", "states", "memory", "acts", "hold")


class Block(Description):
    """A law applied in a machine, with its inputs, parameters and outputs.

    The joint or coordinate that a block is on gives it `position`, `velocity` and takes its output `torque` (`force`).
    A law that is not native is called in Python at each sample: any callable, whose outputs `hold` names.
    """

    NOUN = "block"

    name: str = part_name()
    law: Callable[..., Any] | str = law_or_name(
        doc='name of a [law](laws.md), a function of a file beside this one: `"my_laws.py:function"`, '
        '[`"file_reference"`](#references-from-files) or [`"network"`](#trained-networks)'
    )
    on: str | None = reference("joint or coordinate", default=None, doc="joint or coordinate it acts on", absent="none")
    inputs: Mapping[str, Any] = reference_map(
        "signal", several=True, default=EMPTY, doc="argument = signal, or a list of signals"
    )
    parameters: Mapping[str, Any] = numbers(
        "law",
        under="",
        lists=True,
        infinite=True,
        default=EMPTY,
        doc="argument = number, or a list of numbers",
        absent="the law's defaults",
    )
    states: Mapping[str, float] = numbers(
        "law", default=EMPTY, doc="start values of the law's continuous states", absent="0"
    )
    memory: Mapping[str, float] = numbers(
        "law", default=EMPTY, doc="start values of the law's discrete memory", absent="the law's own"
    )
    acts: Mapping[str, Any] = reference_map(
        "joint or coordinate",
        several=True,
        default=EMPTY,
        doc="output = joint or coordinate it acts on, or a list of them for an output of several values",
        absent="`torque` or `force` acts on `on`",
    )
    period: float | None = quantity(
        "s", positive=True, default=None, doc="sample time; makes the block sampled", absent="continuous"
    )
    offset: float = quantity("s", non_negative=True, named=False, default=0.0, doc="time of the first sample")
    delay: float = quantity(
        "s", non_negative=True, named=False, default=0.0, doc="from a sample until its outputs take effect"
    )
    hold: Mapping[str, float] = numbers("law", default=EMPTY, doc="outputs before the first takes effect", absent="0")
    native: bool = flag(default=True, doc="`false` calls the law in Python at each sample")
    model: ControlModel | None = child(
        ControlModel,
        default=None,
        numbered=False,
        doc="what a [law made from the model](model-based-control.md) knows of the machine",
        absent="all of it",
    )
    unit: str | None = text(
        default=None,
        absent='that of `on` or the inputs, else `"rad"` or none',
        doc='of its signals, where `on` or the inputs do not say it: `"m"` for a reference, `"V"` for a command',
    )

    def check(self, flaws: FlawList) -> None:
        if check_law(flaws, "law", self.law) is None or not all(
            isinstance(getattr(self, group), Mapping) for group in MAPPINGS
        ):
            return
        # Fill in defaults: a parameter has one name and one value wherever it is looked up.
        values = dict(self.parameters)
        for argument in arguments_of(self.function):
            taken = argument.name in (*self.state_names, *self.memory_names, *self.inputs, *values)
            if argument.name == "period" and self.sampled and not taken:
                values["period"] = self.period
            elif argument.has_default and not taken:
                values[argument.name] = argument.default
        self.set_fields(parameters=FrozenDict({key: as_floats(value) for key, value in values.items()}))
        arguments = arguments_of(self.function)
        names = {argument.name for argument in arguments}
        for argument in arguments:
            if self.source_of(argument) is None:
                group = "parameters" if argument.keyword_only else "inputs"
                flaws.add(f"{group}.{argument.name}", "is missing", f"the law '{self.law_name}' needs it")
        for group in ("inputs", "parameters", "states", "memory"):
            flaws.add_unknown(getattr(self, group), names, f"is not an argument of '{self.law_name}'", group)
        # A value that comes from one place cannot be given in another as well.
        sources = (
            ("states", set(self.state_names)),
            ("memory", set(self.memory_names)),
            ("inputs", set(self.inputs)),
            ("parameters", set(self.parameters)),
        )
        for (group, keys), (later, others) in combinations(sources, 2):
            for key in sorted(keys & others):
                flaws.add(f"{later}.{key}", f"has no effect beside {group}.{key}", "give it once")
        check_parameters(flaws, "parameters", self.info, self.parameters)
        self._check_connections(flaws)
        if self.period is None:
            self._check_continuous(flaws)
        else:
            self._check_sampled(flaws)

    @property
    def function(self) -> Callable[..., Any]:
        """The law itself."""
        function = find_law(self.law)
        assert function is not None  # checked when the block was made
        return function

    @property
    def info(self) -> LawInfo:
        """The declarations of the law: units, states, memory, limits."""
        return info_of(self.function)

    @property
    def sampled(self) -> bool:
        """Whether it is sampled rather than continuous."""
        return self.period is not None

    @property
    def state_names(self) -> tuple[str, ...]:
        """The names of its continuous states."""
        return tuple(dict.fromkeys((*self.info.states, *self.states)))

    @property
    def memory_names(self) -> tuple[str, ...]:
        """The names of its discrete memory, with the modes of what sticks or switches."""
        modes = (*(("direction",) if self.info.sticks else ()), *self.info.located.values())
        return tuple(dict.fromkeys((*self.info.memory, *self.memory, *modes)))

    def source_of(self, argument: Argument) -> str | None:
        """Where a value comes from: state, memory, input, parameter, time, model, axes, on; None if nowhere."""
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
        if name == "model":
            return "model"
        if name in ON_INPUTS and self.takes_model and not self.on:
            return "axes"
        return "on" if self.on and name in ON_INPUTS else None

    @property
    def takes_model(self) -> bool:
        """Whether its law is made from a model of the machine."""
        names = [argument.name for argument in arguments_of(self.function)]
        return "model" in names and "model" not in (*self.inputs, *self.parameters)

    @property
    def axes(self) -> tuple[str, ...]:
        """Joints and coordinates whose forces a law with a model gives; none where they are all joints."""
        if self.model and self.model.axes:
            return self.model.axes
        return tuple(self.targets.values()) or ((self.on,) if self.on else ())

    @property
    def targets(self) -> dict[str, Any]:
        """Output -> joint or coordinate that it acts on, several values one by one: `torque.0`, `torque.1`."""
        actions: dict[str, Any] = {}
        for output, on in self.acts.items():
            actions |= {f"{output}.{k}": one for k, one in enumerate(on)} if isinstance(on, tuple) else {output: on}
        return actions

    @property
    def law_name(self) -> str:
        """The name of its law."""
        return self.law if isinstance(self.law, str) else getattr(self.law, "__name__", repr(self.law))

    def _check_connections(self, flaws: FlawList) -> None:
        """Check that connections fit the law: one that holds by friction, or locates something, knows its own place."""
        if self.unit is not None and not flaws.concern("unit"):
            self._check_unit(flaws)
        # What it acts on are names; a model is for a law that takes one, in compiled code.
        for output, on in self.targets.items():
            if not isinstance(on, str):
                flaws.add(f"acts.{output}", f"must be a name, is {on!r}")
        if self.model and not self.takes_model:
            flaws.add("model", f"has no effect: '{self.law_name}' takes no argument 'model'", "leave it out")
        if self.takes_model and not self.native:
            flaws.add("native", "false leaves the law without its model", "leave it out: the model is compiled")
        if self.info.sticks:
            if not self.on:
                flaws.add("on", "is missing", f"'{self.law_name}' must know which joint or coordinate it holds")
            if self.acts:
                flaws.add("acts", f"has no effect on '{self.law_name}'", "its force acts on what it holds: on")
            if "velocity" in self.inputs:
                what = f"has no meaning for '{self.law_name}'"
                flaws.add("inputs.velocity", what, "it is that of what it holds: on")
            if "direction" in self.memory:
                flaws.add("memory.direction", "is found from the speed at the start", "leave it out")
        for side in self.info.located.values():
            if side in self.memory:
                flaws.add(f"memory.{side}", "is found at the start", "leave it out")

    def _check_unit(self, flaws: FlawList) -> None:
        """A unit says what {u} stands for in the law's units, or {x} where no joint or coordinate says it."""
        if any("{u}" in unit for unit in self.info.units.values()):
            return
        if self.on:
            flaws.add("unit", "has no effect", f"'{self.on}' says the units")
        elif self.unit not in ("rad", "m"):
            flaws.add("unit", f"must be 'rad' or 'm', is {self.unit!r}", "the law works on an angle or a length")

    def _check_continuous(self, flaws: FlawList) -> None:
        for key in self.stated("offset", "delay", "hold", "native"):
            flaws.add(key, "has no effect on a continuous block", "give a period, or use a Delay")
        # Memory given with the block itself may be changed by events; a law that declares memory updates it by samples.
        if self.info.memory:
            flaws.add("period", "is missing", f"the law remembers {', '.join(self.info.memory)}: it is sampled")

    def _check_sampled(self, flaws: FlawList) -> None:
        period: Any = self.period
        for key in ("period", "offset", "delay"):
            value = getattr(self, key)
            if value and not flaws.concern(key) and not SHORTEST_TIME <= value <= LONGEST_TIME:
                bounds = f"{SHORTEST_TIME:g} to {LONGEST_TIME:g} s"
                flaws.add(key, f"must be {'' if key == 'period' else '0 or '}{bounds}, is {value:g} s")
        if not flaws.found and self.delay > MOST_WAITING * period:
            what = f"{self.delay:g} s are {self.delay / period:.4g} periods, at most {MOST_WAITING} samples can wait"
            flaws.add("delay", what, "delay what the block reads or gives by a delay of its own")
        if self.info.sticks:
            flaws.add("period", f"has no meaning for '{self.law_name}'", "a force that holds is continuous")
        if self.info.located:
            flaws.add("period", f"has no meaning for '{self.law_name}'", "what it locates is continuous")
        if self.state_names:
            what = f"the law integrates {', '.join(self.state_names)}"
            flaws.add("period", what, "a sampled law has memory instead")
        parameter = self.parameters.get("period")
        if parameter is not None and parameter != period:
            what = f"is {parameter!r} s, but the block runs every {period!r} s"
            flaws.add("parameters.period", what, "leave it out: it is the block's own period")
        if not (self.native or self.hold or self.memory_names):
            flaws.add("hold", "is missing", "a law called in Python names its outputs there, each with a start value")

    def map_numbers(self, change: NumberMap, prefix: str | None = None) -> Self:
        """The period is one number, be it a parameter of the law too."""
        values: dict[str, float] = {}

        def change_once(number: Number) -> float:
            if number.name not in values:
                values[number.name] = change(number)
            return values[number.name]

        return super().map_numbers(change_once, prefix)


# --------------------------------------------------------------------------------------------------
# Blocks of joints: what is a joint's damping, friction or end stop to a machine? A law, with numbers of the joint.


class JointBlock(Block):
    """A block that a property of a joint stands for; files do not give it."""

    sources: Mapping[str, str] = reference_map(
        "number", default=EMPTY, doc="parameter = number of the joint that it is"
    )

    def map_numbers(self, change: NumberMap, prefix: str | None = None) -> Self:
        """None of its own: they are the joint's."""
        return self


# --------------------------------------------------------------------------------------------------
# Outputs of laws: under which name does a block give what its law returns?


def name_results(block: Block, returned: Any) -> dict[str, Any]:
    """Results that a law returned, by name."""
    return dict(returned) if isinstance(returned, Mapping) else {single_output(block): returned}


def single_output(block: Block) -> str:
    """Name of a value that is returned without one.

    The one that the law gives a unit, that `acts` or `hold` names; else `force` of a block that is on something, and
    `value` of any other.
    """
    arguments = {argument.name for argument in arguments_of(block.function)}
    declared = [name for name in block.info.units if name not in arguments and not name.endswith(("_dot", "_next"))]
    if block.on and not block.acts:
        declared = [name for name in declared if name in FORCE_NAMES]
    names = next((names for names in (declared, list(block.acts), list(block.hold)) if len(names) == 1), None)
    return names[0] if names else ("force" if block.on else "value")
