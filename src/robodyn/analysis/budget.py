"""Error budget: which cause makes how much of a deviation?"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

import casadi as ca
import numpy as np

from robodyn.base import (
    Array,
    Displayed,
    FlawList,
    find_unmatched,
    fits,
    frozen,
    nearest,
    refuse,
    refuse_unknown,
    report_progress,
    update_line,
)
from robodyn.base.symbolic import to_column
from robodyn.computation.assembly import System, assemble
from robodyn.computation.assembly.motion import LinearMechanics
from robodyn.computation.perturbation import Perturbed
from robodyn.computation.perturbation.nominal import POINTS
from robodyn.computation.perturbation.table import fill_rows, trace_linear
from robodyn.computation.results import Run, SignalInfo
from robodyn.computation.simulation import CompiledSystem, compile_system, simulate
from robodyn.description.laws import LawInfo, arguments_of
from robodyn.description.model import (
    Block,
    Delay,
    FormulaSignal,
    LinearCombination,
    Machine,
    Recording,
    Scenario,
    Solver,
    combine,
)
from robodyn.description.model.block import name_results

# --------------------------------------------------------------------------------------------------
# Error budget of a motion, as a result: parts over time, and a table that adds up.


TIME = "time"
REST = "dynamics not fed forward"
SUM, REMAINDER, TOTAL = "sum of parts", "remainder", "total"


@frozen
class BudgetPart:
    """One part of the deviations.

    Attributes:
        name: of the block that causes it, of the property of the loop, or of a group; what: of the block it is.
        kind: "cause" acts at one place, "loop" is a property of the whole loop, "rest" is what the loop leaves of the
            nominal motion's own torques, "group" are several of them.
    """

    name: str
    what: str
    kind: str


@frozen
class BudgetRow:
    """A line of the table, in the signal's unit.

    Attributes:
        at_worst: value where the total is largest; share: of the total there.
    """

    name: str
    what: str
    largest: float
    rms: float
    at_worst: float
    share: float


@frozen
class SignalBudget:
    """The table of one signal, in its unit."""

    unit: str
    rows: tuple[BudgetRow, ...]


@frozen(eq=False)
class Budget(Displayed):
    """Deviations of a motion and their parts: `total = sum of parts + remainder` at every time.

    Attributes:
        run: the non-linear motion; signals: what is split, k of them.
        along: signal that pictures are drawn against, or "time".
        parts: m of them; values: (k, m, n_times).
        perturbed: the same deviations of the motion near the nominal one, (k, n_times).
        by_differences: why parts are differences of non-linear motions; empty where there is a linear twin.
    """

    JSON = """
    scenario
    signals = tables
    remainder_share
    interaction_share
    by_differences
    """
    run: Run
    signals: tuple[str, ...]
    along: str
    parts: tuple[BudgetPart, ...]
    values: Array
    perturbed: Array
    by_differences: str = ""

    def __repr__(self) -> str:
        return f"<Budget of {', '.join(self.signals)}: {len(self.parts)} parts, remainder {self.remainder_share:.2g}>"

    @property
    def scenario(self) -> str:
        """Its name."""
        return self.run.provenance.scenario

    @property
    def tables(self) -> dict[str, SignalBudget]:
        """The table of each signal."""
        return {name: SignalBudget(self.run[name].unit, self.table(name)) for name in self.signals}

    @property
    def total(self) -> Array:
        """Deviations of the non-linear motion, (k, n_times)."""
        return np.array([self.run[name].values for name in self.signals])

    @property
    def sum(self) -> Array:
        """The sum of all parts, (k, n_times)."""
        return self.values.sum(axis=1)

    @property
    def remainder(self) -> Array:
        """The non-linear motion less all parts, (k, n_times)."""
        return self.total - self.sum

    @property
    def interaction(self) -> Array:
        """The motion near the nominal one less all parts; the rest of the remainder is of second order."""
        return self.perturbed - self.sum

    @property
    def remainder_share(self) -> float:
        """Largest remainder relative to the largest total, of the worst signal."""
        return self._share(self.remainder)

    @property
    def interaction_share(self) -> float:
        """Largest interaction relative to the largest total, of the worst signal."""
        return self._share(self.interaction)

    def _share(self, missed: Array) -> float:
        largest = np.max(np.abs(self.total), axis=1)
        return float(np.max(np.max(np.abs(missed), axis=1) / np.where(largest > 0, largest, np.inf)))

    @property
    def places(self) -> Array:
        """The abscissa of pictures, (n_times,)."""
        return self.run.time if self.along == TIME else self.run[self.along].values

    def part(self, name: str, signal: str) -> Array:
        """One part of one signal over time, (n_times,)."""
        names = [part.name for part in self.parts]
        return self.values[self.signals.index(signal), names.index(name)]

    def table(self, signal: str) -> tuple[BudgetRow, ...]:
        """Every part, their sum, the remainder and the total of a signal, in this order."""
        k = self.signals.index(signal)
        lines = [(part.name, part.what, self.values[k, j]) for j, part in enumerate(self.parts)]
        lines += [(SUM, "", self.sum[k]), (REMAINDER, "", self.remainder[k]), (TOTAL, "", self.total[k])]
        worst = int(np.argmax(np.abs(self.total[k])))
        total, rows = float(self.total[k, worst]), []
        for name, what, values in lines:
            largest, rms = float(np.max(np.abs(values))), float(np.sqrt(np.mean(values**2)))
            at_worst = float(values[worst])
            rows.append(BudgetRow(name, what, largest, rms, at_worst, at_worst / total if total else 0.0))
        return tuple(rows)

    def grouped(self, groups: Mapping[str, Sequence[str]]) -> Budget:
        """The same budget with parts that match patterns added up; a part goes to the first group it matches."""
        _check_groups(groups, [part.name for part in self.parts])
        homes = [_home(part.name, groups) for part in self.parts]
        parts, values = list[BudgetPart](), list[Array]()
        for name in groups:
            if count := homes.count(name):
                parts.append(BudgetPart(name, "1 part" if count == 1 else f"{count} parts", "group"))
                values.append(self.values[:, [home == name for home in homes]].sum(axis=1))
        for j, (part, home) in enumerate(zip(self.parts, homes, strict=True)):
            if home is None:
                parts.append(part)
                values.append(self.values[:, j])
        return replace(self, parts=tuple(parts), values=np.stack(values, axis=1))


def _home(part: str, groups: Mapping[str, Sequence[str]]) -> str | None:
    return next((name for name, patterns in groups.items() if fits(part, patterns)), None)


def _check_groups(groups: Mapping[str, Sequence[str]], parts: Sequence[str]) -> None:
    flaws = FlawList()
    for name, patterns in groups.items():
        for pattern in find_unmatched(patterns, parts):
            flaws.add(f"group.{name}", f"'{pattern}' matches no part", nearest(pattern, parts))
    flaws.raise_if_any("budget")
    homes = {part: _home(part, groups) for part in parts}
    for name in groups:
        if name not in homes.values():
            flaws.add(f"group.{name}", "all its parts are in earlier groups", "a part counts once: leave one out")
        if homes.get(name, name) != name:
            flaws.add(f"group.{name}", "is the name of a part that is not in it", "choose another name")
    flaws.raise_if_any("budget")


def as_run(budget: Budget) -> Run:
    """All parts as signals `deviation.vertical: joint1.friction` beside those of the motion, to be kept in a file."""
    infos, columns = list(budget.run.infos), list(budget.run.values.T)
    for k, signal in enumerate(budget.signals):
        unit = budget.run[signal].unit
        named = [(part.name, budget.values[k, j]) for j, part in enumerate(budget.parts)]
        for name, values in [*named, (REMAINDER, budget.remainder[k])]:
            infos.append(SignalInfo(f"{signal}: {name}", unit))
            columns.append(values)
    return replace(budget.run, values=np.column_stack(columns), infos=tuple(infos), probes=None)


# --------------------------------------------------------------------------------------------------
# Causes of an error budget: which blocks add to a deviation what a linear loop would not have?
#
# A law that is a `disturbance` (friction, gear loss) does so with its whole force; a law with `ideal` values (no limit,
# perfect resolution, no compensation) with what its actual values change. Without both, a machine near its nominal
# motion is linear.


Reading = Block | FormulaSignal | Delay


@frozen
class DisturbanceSource:
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
        """The property of the block that is the cause."""
        return ", ".join(self.ideal) or "force"


def find_sources(scenario: Scenario, forces: Iterable[tuple[str, str]] | None = None) -> dict[str, DisturbanceSource]:
    """Causes by the name of their block.

    Args:
        forces: of blocks on joints and coordinates that are kept in full near the nominal motion; all by default.
            Disturbances that became a part of the linear mechanics are none of them: they are dynamics.
    """
    acting = None if forces is None else tuple(forces)
    sources = {}
    for block in scenario.machine.blocks:
        if acting is None:
            own = tuple((target, block.name) for target in (block.on, *block.acts.values()) if target)
        else:
            own = tuple(force for force in acting if force[1].rpartition(".")[0] == block.name)
        # Ideal values that are not the actual ones already.
        arguments = {**block.parameters, **block.inputs}
        ideal = {name: value for name, value in block.info.ideal.items() if arguments.get(name, value) != value}
        if block.info.disturbance and own:
            sources[block.name] = DisturbanceSource(block.name, {}, own)
        elif ideal and not block.info.disturbance:
            sources[block.name] = DisturbanceSource(block.name, ideal)
    _check_readers(scenario.machine, [name for name, cause in sources.items() if cause.forces])
    return sources


def leave_out(scenario: Scenario, causes: Mapping[str, DisturbanceSource]) -> Scenario:
    """The scenario without its causes: what is left is linear near the nominal motion."""
    silent = {name for name, cause in causes.items() if cause.forces}
    machine = scenario.machine
    blocks = []
    for block in machine.blocks:
        if block.name in silent:
            continue
        # Laws get their ideal values.
        ideal = causes[block.name].ideal if block.name in causes else {}
        parameters = {key: ideal.get(key, value) for key, value in block.parameters.items()}
        inputs = {key: ideal.get(key, value) for key, value in block.inputs.items()}
        blocks.append(replace(block, parameters=parameters, inputs=inputs) if ideal else block)
    names = part_names(machine)
    initial = {key: value for key, value in scenario.initial.items() if owner_of(key, names) not in silent}
    return replace(scenario, machine=replace(machine, blocks=tuple(blocks)), initial=initial)


def moving_parts(machine: Machine) -> set[str]:
    """Joints, coordinates and points: their signals are those of the motion."""
    points = machine.any_mechanism.points
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
            return f"'{block.name}' is called in Python: its memory cannot be duplicated"
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


# --------------------------------------------------------------------------------------------------
# Loop variants: what would a loop do with fast sampling, with stiff gears, without an unknown payload?
#
# These are no causes that act at one place, but properties of the whole loop: their parts are differences between the
# motions of loops with and without them, all of them without causes, each on top of the one before.


FASTER, STIFFER = 16, 100.0
"""How many times faster samples and stiffer gears are; this project's own choice."""
PAYLOAD = "payload.mass"
SAMPLING, ELASTICITY = "sampling and delay", "elasticity"


def loop_variants(scenario: Scenario, without: Mapping[str, float] | None = None) -> Iterator[tuple[str, Scenario]]:
    """Name of each property and the scenario without it and without all before it.

    Args:
        without: numbers, each a part of its own -> values without an effect; the mass of a body `payload` by default.
    """
    numbers = scenario.numbers()
    if without is None:
        without = {PAYLOAD: 0.0} if PAYLOAD in numbers and numbers[PAYLOAD].value else {}
    refuse_unknown(without, numbers, "there is no such number", f"budget of '{scenario.name}'", "without")
    if any(block.sampled for block in scenario.machine.blocks) or scenario.machine.delays:
        scenario = sample_faster(scenario)
        yield SAMPLING, scenario
    if gears_of(scenario):
        scenario = stiffen(scenario)
        yield ELASTICITY, scenario
    for name, value in without.items():
        scenario = scenario.with_numbers({name: value})
        yield name, scenario


def sample_faster(scenario: Scenario, factor: int = FASTER) -> Scenario:
    """All periods and delays of signals divided by a factor, nothing lost with computing."""
    machine = scenario.machine
    delays = tuple(replace(delay, time=delay.time / factor) for delay in machine.delays)
    blocks = []
    for block in machine.blocks:
        if block.period is not None:
            parameters = {key: value for key, value in block.parameters.items() if key != "period"}
            times = {"period": block.period / factor, "offset": block.offset / factor, "delay": 0.0}
            block = block.replaced(parameters=parameters, **times)
        blocks.append(block)
    return replace(scenario, machine=replace(machine, blocks=tuple(blocks), delays=delays))


def gears_of(scenario: Scenario) -> dict[str, tuple[str, str]]:
    """Elastic gears: block -> joint and drive, of springs on the difference of two positions."""
    twists = {}
    for coordinate in scenario.machine.coordinates:
        if isinstance(coordinate, LinearCombination) and sorted(coordinate.of.values()) == [-1.0, 1.0]:
            joint, drive = sorted(coordinate.of, key=lambda name: -coordinate.of[name])
            twists[coordinate.name] = (joint, drive)
    return {
        block.name: twists[str(block.on)]
        for block in scenario.machine.blocks
        if block.on in twists and "stiffness" in block.parameters and not block.info.disturbance
    }


def stiffen(scenario: Scenario) -> Scenario:
    """Gears `STIFFER` times as stiff, their damping ratios kept; at the start they exert what they did."""
    numbers: dict[str, float] = {}
    initial: dict[str, Any] = dict(scenario.initial)
    parameters = {block.name: block.parameters for block in scenario.machine.blocks}
    for name, (joint, drive) in gears_of(scenario).items():
        numbers[f"{name}.stiffness"] = STIFFER * parameters[name]["stiffness"]
        if "damping" in parameters[name]:
            numbers[f"{name}.damping"] = math.sqrt(STIFFER) * parameters[name]["damping"]
        start, stop = (initial.get(f"{part}.position", 0.0) for part in (drive, joint))
        initial[f"{joint}.position"] = start + (stop - start) / STIFFER
    return replace(scenario.with_numbers(numbers), initial=initial)


# --------------------------------------------------------------------------------------------------
# Inputs of the linear twin: how does each of its blocks receive what a cause does in the original?
#
# disturbance: F' = w F,     ideal values: y' = f_ideal(x') + w [f(x) - f_ideal(x)]


WEIGHT = "weight"


def pass_on(cause: DisturbanceSource, prefix: str) -> Block:
    """A block that exerts the forces of a disturbance on the twin."""
    acts = {f"force{k}": f"{prefix}.{target}" for k, (target, _) in enumerate(cause.forces)}
    inputs = {"forces": tuple(signal for _, signal in cause.forces)}
    return Block(f"{prefix}.{cause.block}", weigh_forces, inputs=inputs, parameters={WEIGHT: 0.0}, acts=acts)


def weigh_forces(forces: Any, *, weight: Any) -> dict[str, Any]:
    """`F' = w F` of several forces."""
    return {f"force{k}": weight * force for k, force in enumerate(forces)}


def add_difference(block: Block, twin: Block, cause: DisturbanceSource) -> Block:
    """A block of the twin with ideal values, plus what the actual ones change in the original."""
    seen = {f"actual_{name}": signal for name, signal in _seen_by(block)}
    limited = {f"actual_{name}_dot": f"{block.name}.{name}_dot" for name in block.info.limits}
    # Sides of what is located change at events of the original; the ideal law does not switch.
    sides = {name: f"{block.name}.{name}" for name in block.info.located.values()}
    return replace(
        twin,
        law=_make_law(block, dict(cause.ideal), tuple(seen), tuple(limited)),
        inputs=dict(twin.inputs) | seen | limited | sides,
        parameters=dict(twin.parameters) | {WEIGHT: 0.0},
    )


def _seen_by(block: Block) -> Iterator[tuple[str, Any]]:
    """Arguments of a block that change, each with its signal of the original."""
    for argument in arguments_of(block.function):
        source = block.source_of(argument)
        if source in ("state", "memory"):
            yield argument.name, f"{block.name}.{argument.name}"
        elif source == "input":
            yield argument.name, block.inputs[argument.name]
        elif source == "on":
            yield argument.name, f"{block.on}.{argument.name}"
        elif source == "axes":
            yield argument.name, tuple(f"{axis}.{argument.name}" for axis in block.axes)


def _make_law(
    block: Block, ideal: dict[str, float], seen: tuple[str, ...], limited: tuple[str, ...]
) -> Callable[..., dict[str, Any]]:
    """The law `f_ideal(x') + w [f(x) - f_ideal(x)]` with x as `actual_` arguments.

    Args:
        limited: arguments that are rates of the original's states as their limits stop them.
    """
    function = block.function
    names = [argument.name for argument in arguments_of(function)]

    def law(**given: Any) -> dict[str, Any]:
        here = {name: given[name] for name in names}
        there = here | {name.removeprefix("actual_"): given[name] for name in seen}
        exact = name_results(block, function(**there)) | {name.removeprefix("actual_"): given[name] for name in limited}
        without, linear = (name_results(block, function(**arguments)) for arguments in (there | ideal, here | ideal))
        return {key: _add(linear[key], given[WEIGHT], exact[key], without[key]) for key in linear}

    law.__name__ = f"{function.__name__ if inspect.isroutine(function) else 'law'}_of_the_twin"
    # The law's own arguments and some more, and the weight.
    arguments = arguments_of(block.function)
    signals = [argument.name for argument in arguments if not argument.keyword_only]
    numbers = [argument.name for argument in arguments if argument.keyword_only]
    parameters = [
        inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in (*signals, *seen, *limited)
    ]
    parameters += [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY) for name in (*numbers, WEIGHT)]
    law.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    # States and memory as the law has them; limits and what it locates are the original's.
    bare = {name: name.removeprefix("actual_") for name in seen}
    units = dict(block.info.units) | {
        name: block.info.units[key] for name, key in bare.items() if key in block.info.units
    }
    law.law_info = LawInfo(units, block.info.states, block.info.memory, folded=block.info.folded)  # type: ignore[attr-defined]
    return law


def _add(linear: Any, weight: Any, exact: Any, without: Any) -> Any:
    if isinstance(linear, (tuple, list)):
        return tuple(_add(a, weight, b, c) for a, b, c in zip(linear, exact, without, strict=True))
    return linear + weight * (exact - without)


# --------------------------------------------------------------------------------------------------
# Linear twin of a scenario: how do the parts of a deviation come about side by side?
#
# The twin, its parts under the prefix `linear.`, has the same mechanism and blocks without any cause. Each cause is
# given to it as it acts in the original at that very instant, times a weight:
#
#     disturbance: F' = w F,     ideal values: y' = f_ideal(x') + w [f(x) - f_ideal(x)]
#
# with x what the original block sees and x' what the twin's sees. The same holds for rates of states and for what
# sampled blocks remember. With all weights 1 the twin moves as the original does; as it is linear, its deviation is the
# sum of those with one weight at a time.


PREFIX = "linear"


@frozen
class LinearTwin:
    """A scenario with its linear twin.

    Attributes:
        own: parts of the original that the twin has too; names: all parts of the original.
    """

    scenario: Scenario
    causes: Mapping[str, DisturbanceSource]
    own: Collection[str]
    names: Collection[str]

    def has(self, signal: str) -> bool:
        """Whether the twin has a signal of its own."""
        return owner_of(signal, self.names) in self.own


def build_twin(scenario: Scenario, causes: Mapping[str, DisturbanceSource]) -> LinearTwin:
    """A scenario and its twin in one machine; each block of the twin is sampled just before its original."""
    machine, names = scenario.machine, part_names(scenario.machine)
    copied = find_copied(machine, causes)
    own = copied - {name for name, cause in causes.items() if cause.forces}
    # Leaving a range ends the run of the original alone.
    copy_of_machine = replace(
        machine,
        blocks=tuple(block for block in machine.blocks if block.name in own),
        delays=tuple(delay for delay in machine.delays if delay.name in own),
        signals=tuple(signal for signal in machine.signals if signal.name in own),
        coordinates=tuple(replace(coordinate, range=None) for coordinate in machine.coordinates),
        tunable=(),
    )
    prefixed = combine(PREFIX, {PREFIX: copy_of_machine})

    # Parts of the twin read what it shares with the original from there.
    def connect(to: str, name: str) -> str:
        bare = name.removeprefix(f"{PREFIX}.")
        return bare if to == "signal" and owner_of(bare, names) not in own else name

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
    # Both mechanisms as one, the original's joints first.
    mechanism, other = machine.any_mechanism, prefixed.any_mechanism
    assert other is not None
    together = replace(
        mechanism,
        bodies=(*mechanism.bodies, *other.bodies),
        joints=(*mechanism.joints, *other.joints),
        points=(*mechanism.points, *other.points),
    )
    both = replace(
        machine,
        mechanism=together,
        coordinates=(*machine.coordinates, *prefixed.coordinates),
        loads=(*machine.loads, *prefixed.loads),
        blocks=tuple(blocks),
        delays=(*machine.delays, *(delay.renamed(connect) for delay in prefixed.delays)),
        signals=(*machine.signals, *(signal.renamed(connect) for signal in prefixed.signals)),
    )
    initial = {f"{PREFIX}.{key}": x for key, x in scenario.initial.items() if owner_of(key, names) in own}
    nominal = {f"{PREFIX}.{joint}": signal for joint, signal in scenario.nominal.items()}
    whole = replace(
        scenario,
        machine=both,
        initial=dict(scenario.initial) | initial,
        nominal=dict(scenario.nominal) | nominal,
    )
    return LinearTwin(whole, causes, frozenset(own), frozenset(names))


def find_copied(machine: Machine, causes: Mapping[str, DisturbanceSource]) -> set[str]:
    """Parts that the twin has itself: those that see the motion, causes, and what these feed. Others it shares."""
    names = part_names(machine)
    copied = moving_parts(machine)
    copied |= {block.name for block in machine.blocks if block.on or block.acts or block.name in causes}
    reads = {part.name: tuple(signals_read(part)) for part in readers_of(machine)}
    before = 0
    while len(copied) > before:
        before = len(copied)
        copied |= {part for part, signals in reads.items() if any(owner_of(s, names) in copied for s in signals)}
    return copied


# --------------------------------------------------------------------------------------------------
# Replay near the nominal motion: how is a scenario simulated there together with its linear twin?


def find_twin(near: Perturbed) -> LinearTwin:
    """A scenario with its twin; forces that its nominal motion has made a part of the mechanics are no causes."""
    scope = near.equations.scope
    forces = [force for force in scope.system.motion.forces if force not in scope.folded]
    return build_twin(near.scenario, find_sources(near.scenario, forces))


class TwinRuns:
    """A scenario near its nominal motion and its linear twin, made ready for many runs with other weights."""

    def __init__(self, near: Perturbed, twin: LinearTwin, recording: Recording) -> None:
        """Say what is recorded: signals of the original, which the twin has too; others are kept beside them."""
        twins = tuple(f"{PREFIX}.{name}" for name in recording.signals if twin.has(name))
        self.near, self.twin, self.recording = near, twin, recording
        self.both = replace(recording, signals=(*recording.signals, *twins))

    @cached_property
    def system(self) -> System:
        return assemble(self.twin.scenario, self._linearise)

    @cached_property
    def compiled(self) -> CompiledSystem:
        compiled = compile_system(self.system, self.near.solver, signals=self.both.signals)
        # By the solver's own steps: these are linear on linear equations, so that the parts add up to rounding.
        return compiled.without_propagators()

    def simulate(self, *active: str) -> Run:
        """A run in which some causes, by their blocks, act on the twin."""
        weights = {f"{PREFIX}.{name}.{WEIGHT}": float(name in active) for name in self.twin.causes}
        return simulate(self.compiled, self.near.solver, parameters=weights, recording=self.both)

    def simulate_alone(self, loop: Scenario) -> Run:
        """A run of another loop near its own nominal motion."""
        near, signals = self.near, self.recording.signals
        other = Perturbed(loop, points=near.points, solver=near.solver, signals=signals, propagators=False)
        return other.simulate(recording=self.recording)

    def _linearise(self, time: ca.SX, q: ca.SX, v: ca.SX, p: ca.SX) -> LinearMechanics:
        """The linear mechanics twice, side by side, from one table."""
        layout, n = self.near.layout, q.numel() // 2
        numbers = {symbol.name(): symbol for symbol in ca.vertsplit(p)}
        own = [numbers[number.name] for number in layout.equations.scope.system.parameters]
        data = fill_rows(layout, self.near.nominal)
        first, second = (
            trace_linear(layout, data, time, q[part], v[part], to_column(own))
            for part in (slice(0, n), slice(n, 2 * n))
        )
        folded = {(f"{PREFIX}.{target}", f"{PREFIX}.{signal}") for target, signal in second.folded}
        signals = {f"{PREFIX}.{name}": expression for name, expression in second.signals.items()}
        return LinearMechanics(
            ca.diagcat(first.mass_matrix, second.mass_matrix),
            ca.vertcat(first.bias, second.bias),
            ca.vertcat(first.carried, second.carried),
            {**first.signals, **signals},
            first.folded | folded,
            data,
        )


# --------------------------------------------------------------------------------------------------
# Splitting a deviation: linear twins with one cause at a time, or differences of motions, and loops without their
# properties.


DEVIATIONS = ("deviation.*",)
ROWS = 2000
"""Times at which the parts are taken where the scenario has no rate of recording."""

Move = Callable[[str, Callable[[], Run]], Run]
PartShare = tuple[BudgetPart, Array]


@report_progress("splitting the deviation of")
def split_deviation(
    what: Scenario | System,
    signals: Sequence[str] = DEVIATIONS,
    *,
    along: str = TIME,
    without: Mapping[str, float] | None = None,
    points: int = POINTS,
    solver: Solver | None = None,
    progress: Callable[[str], None] | None = None,
) -> Budget:
    """The error budget of a scenario with a nominal motion.

        total = sum of causes + sum of properties of the loop + dynamics not fed forward + remainder

    The causes' parts are those in the loop as it is; its properties and the rest are those of the loop without causes.
    A scenario that has no linear twin, since friction sticks, is split by differences of non-linear motions.

    Args:
        signals: patterns of what is split; along: signal that pictures are drawn against.
        without: numbers that are parts of their own -> values without an effect; an unknown payload 0 by default.
        progress: called with what is simulated next.
    """
    scenario = what.scenario if isinstance(what, System) else what
    machine = scenario.machine
    # Damping and friction of joints are causes like those of blocks.
    if machine.all_blocks != machine.blocks:
        what = scenario = scenario.replaced(machine=machine.with_all_blocks(machine.all_blocks))

    def move(name: str, start: Callable[[], Run]) -> Run:
        (progress or update_line)(name)
        run = start()
        if not run.outcome.ok:
            refuse(name, f"cannot be simulated: {run.outcome.sentence}", source="budget")
        return run

    # Motions near the nominal one, with a linear twin beside them; where it has none, non-linear ones.
    why = why_no_twin(scenario)
    if why:
        system, twin, causes = assemble(scenario), None, find_sources(scenario)
    else:
        near = Perturbed(what, points=points, solver=solver)
        scenario, solver, system = near.scenario, near.solver, near.equations.scope.system
        twin = find_twin(near)
        causes = dict(twin.causes)
    chosen = choose_signals(system, signals, twin)
    if along != TIME and along not in system.signal_names:
        refuse("along", f"there is no signal '{along}'", nearest(along, system.signal_names))
    recording = choose_recording(scenario, chosen if along == TIME else (*chosen, along))
    bare = leave_out(scenario, causes)
    full: Callable[[Scenario | System], Run] = partial(simulate, solver=solver, recording=recording)
    if twin is None:
        alone: Callable[[Scenario], Run] = full
        run = move("all causes", partial(full, system))
        motions = [_values(move("no cause", partial(full, bare)), chosen)]
        perturbed = _values(run, chosen)
        parts = list(_split_by_differences(scenario, causes, (perturbed, motions[0]), chosen, full, move))
    else:
        replay = TwinRuns(near, twin, recording)
        alone = replay.simulate_alone
        base = move("twin without causes", replay.simulate)
        perturbed = _values(base, chosen)
        # What each cause does to the twin.
        parts, twins = list[PartShare](), [f"{PREFIX}.{name}" for name in chosen]
        for name, cause in causes.items():
            run = move(name, partial(replay.simulate, name))
            parts.append((BudgetPart(name, cause.what, "cause"), _values(run, twins) - _values(base, twins)))
        motions = [_values(move("linear motion", partial(alone, bare)), chosen)]
    # Loops without their properties, one after the other; what the last one leaves is not fed forward.
    for name, loop in loop_variants(bare, without):
        motions.append(_values(move(name, partial(alone, loop)), chosen))
        parts.append((BudgetPart(name, "", "loop"), motions[-2] - motions[-1]))
    parts.append((BudgetPart(REST, "", "rest"), motions[-1]))
    if twin is not None:
        run = move("non-linear motion", partial(full, system))
    if any(values.shape[1] != run.time.size for _, values in parts):
        ends = f"ends at {run.time[-1]:g} s, motions near it elsewhere"
        refuse("non-linear motion", ends, "leave out the event that ends it", "budget")
    values = np.stack([values for _, values in parts], axis=1)
    return Budget(run, chosen, along, tuple(part for part, _ in parts), values, perturbed, why)


def _split_by_differences(
    scenario: Scenario,
    causes: Mapping[str, DisturbanceSource],
    ends: tuple[Array, Array],
    signals: Sequence[str],
    simulate_full: Callable[[Scenario], Run],
    move: Move,
) -> Iterator[PartShare]:
    """The effect of each cause on non-linear motions, with and without the others.

    With y(C) the deviation under the causes C, of all of them A, the part of c is

        (y({c}) - y({}) + y(A) - y(A - {c})) / 2

    which adds up to y(A) - y({}) where causes act together by twos at most: then it is Shapley's value.

    Args:
        ends: y(A) and y({}).
    """
    total, base = ends
    for name, cause in causes.items():
        others = {key: other for key, other in causes.items() if key != name}
        alone = move(f"{name} alone", partial(simulate_full, leave_out(scenario, others)))
        missing = move(f"without {name}", partial(simulate_full, leave_out(scenario, {name: cause})))
        share = 0.5 * (_values(alone, signals) - base + total - _values(missing, signals))
        yield BudgetPart(name, cause.what, "cause"), share


def _values(run: Run, names: Sequence[str]) -> Array:
    """(signals, times)."""
    return np.array([run[name].values for name in names])


def choose_signals(system: System, patterns: Sequence[str], twin: LinearTwin | None = None) -> tuple[str, ...]:
    """Names of the signals to split; each must depend on the motion, where a twin says so.

    A distance is the root of a sum of squares, not a sum of parts: it is split only where it is named itself.
    """
    names, flaws = system.signal_names, FlawList()
    chosen = tuple(
        name for name in names if name in patterns or (not name.endswith(".distance") and fits(name, patterns))
    )
    for pattern in find_unmatched(patterns, names):
        remedy = f"name what is to be split; {nearest(pattern, names)}"
        flaws.add("signals", f"'{pattern}' matches no signal", remedy)
    for name in chosen:
        if twin is not None and not twin.has(name):
            flaws.add(f"signals.{name}", "does not depend on the motion or has no linear part", "choose another")
    flaws.raise_if_any(f"budget of '{system.scenario.name}'")
    return chosen


def choose_recording(scenario: Scenario, signals: tuple[str, ...]) -> Recording:
    """Evenly spaced times, the same for all runs."""
    own = scenario.recording
    if own.rate is None and own.times is None:
        own = Recording(rate=ROWS / scenario.duration)
    return replace(own, signals=signals)
