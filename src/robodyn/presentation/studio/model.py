"""Model of a session: which native code answers for a scenario, and which numbers need other code?

Tunable numbers are changed run by run. Others are constants of the code: it is made anew where one is changed for the
first time, of the mechanism's with that number as an input from then on, of others for each value. Codes are kept.
"""

from __future__ import annotations

import math
import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from robodyn.analysis.checked_run import find_loop_warnings
from robodyn.analysis.sensitivity.parameters import INITIAL
from robodyn.analysis.sensitivity.variation import make_tunable, with_starts
from robodyn.base import Flaw, ModelError, frozen, known_unit, nearest
from robodyn.computation.results import Run
from robodyn.computation.simulation import compile_system, simulate
from robodyn.computation.simulation.compiled import CompiledSystem
from robodyn.computation.simulation.many import split_starts
from robodyn.computation.simulation.reference_paths import find_start_warnings
from robodyn.computation.simulation.starting import find_start, make_ready
from robodyn.description.files.patching import edit_text
from robodyn.description.model import Scenario, ScenarioSequence
from robodyn.description.model.rules import find_law
from robodyn.presentation.pages.meshes import MeshStore

from .source import Source, Stamp, stamp_files

# Model of a session: which native code answers for a scenario, and which numbers need other code?
#
# Tunable numbers are changed run by run. Others are constants of the code: it is made anew where one is changed for the
# first time, of the mechanism's with that number as an input from then on, of others for each value. Codes are kept.

MOST_KEPT = 6
Say = Callable[[str], None]


@dataclass
class Model:
    """A scenario ready to run; a sequence is compiled phase by phase while it runs.

    Attributes:
        warnings: what `check` says of it.
        stamp: of the files that it was read from.
        meshes: of its looks, read once.
    """

    what: Scenario | ScenarioSequence
    compiled: CompiledSystem | None
    warnings: tuple[str, ...]
    stamp: Stamp = ()
    meshes: MeshStore = field(default_factory=MeshStore)

    @property
    def tunable(self) -> frozenset[str]:
        """Numbers that need no other code: inputs of it, and start values."""
        return frozenset((*self.compiled.system.places, *start_numbers(self.what))) if self.compiled else frozenset()

    @property
    def is_current(self) -> bool:
        """Whether all files that it was read from are as they were."""
        return stamp_files(file for file, *_ in self.stamp) == self.stamp

    def simulate(self, values: Mapping[str, float], progress: Any) -> Run:
        """A run with some tunable numbers changed."""
        others, starts = split_starts(values)
        if self.compiled is None:
            return simulate(self.what, parameters=others, progress=progress)
        compiled = with_starts(self.compiled, starts) if starts else self.compiled
        run = simulate(compiled, parameters=others, progress=progress)
        if others and not run.outcome.ok:
            # Loops are judged with the file's numbers when it is built, and with those of the sliders where a run
            # fails: for every move of a slider it would take too long.
            unstable = find_loop_warnings([compiled.system], parameters=others)
            run = replace(run, warnings=(*run.warnings, *unstable))
        if compiled.system.scenario.initialisation != "given":
            return run
        # A slider may leave a start behind that fitted the number before it.
        numbers = compiled.system.parameter_values(others)
        unfit = find_start_warnings(compiled, find_start(compiled, numbers), numbers)
        return replace(run, warnings=(*run.warnings, *unfit))


@frozen
class Found:
    """The models and numbers that a run needs.

    Attributes:
        base: the scenario as a text describes it; model: with other constants in its code.
        changes: what is tuned in the model.
        text, values: the text of the base, and the numbers that differ from it. A text in which only numbers are other
            ones than in a text that has its model already needs none of its own.
    """

    base: Model
    model: Model
    changes: dict[str, float]
    text: str | None
    values: dict[str, float]


class ModelStore:
    """Models by text and by the numbers that are constants of their code; the last ones are kept for all sessions."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.kept: OrderedDict[Any, Model] = OrderedDict()
        self.opened: dict[str | None, frozenset[str]] = {}
        self.stuck: frozenset[str] = frozenset()
        self.proven: dict[str, set[str]] = {}
        self.lock, self.building = threading.Lock(), threading.Lock()

    def find(
        self, text: str | None, values: Mapping[str, float], say: Say, on_read: Callable[[Any], None] | None = None
    ) -> Found:
        """The model that these numbers need, and those that it is run with.

        Args:
            on_read: called with a scenario that was just read, before it is compiled.

        Raises:
            ModelError: with every problem of the scenario or the numbers.
        """
        text, values = self._anchor(text, values)
        base = self._get(text, {}, say, on_read=on_read)
        names = {*base.what.numbers(), *start_numbers(base.what)}
        flaws = [Flaw(name, "there is no such number", nearest(name, names)) for name in values if name not in names]
        if flaws:
            raise ModelError(flaws)
        constant = [name for name in values if name not in base.tunable]
        inputs = self.opened.get(text, frozenset()) | find_inputs(base.what, constant)
        opened = self.opened[text] = inputs - self.stuck
        fixed = {name: values[name] for name in constant if name not in opened}
        model = self._get(text, fixed, say, opened) if fixed or opened else base
        if stuck := opened - model.tunable:
            # What the mechanism's equations took as given all the same is a constant.
            self.stuck |= stuck
            return self.find(text, values, say)
        changes = {name: value for name, value in values.items() if name not in fixed}
        return Found(base, model, changes, text, dict(values))

    def take_over(self, other: ModelStore) -> None:
        """Have the models of the same texts, from before they were saved under another name."""
        with self.lock, other.lock:
            self.kept.update(other.kept)
        self.opened |= other.opened
        self.proven |= other.proven

    def _anchor(self, text: str | None, values: Mapping[str, float]) -> tuple[str | None, Mapping[str, float]]:
        """A text with a model, and the numbers by which the wanted one differs from it; else the text itself."""
        with self.lock:
            candidates = [(key[0], model) for key, model in self.kept.items() if not key[1] and not key[2]]
        if text is None or text in (other for other, _ in candidates):
            return text, values
        read = self.source.read(text)
        for other, model in reversed(candidates):
            changes = number_changes(model.what, read) if other is not None and model.is_current else None
            if changes is not None:
                return other, changes | dict(values)
        return text, values

    def edit(self, found: Found) -> str | None:
        """The text with the numbers of a run in it; None where there is no text.

        Raises:
            ModelError: for numbers that cannot be written there.
        """
        if found.text is None or not isinstance(found.base.what, Scenario):
            return None
        # A number that was written once will be the next time.
        proven = self.proven.setdefault(found.text, set())
        text = edit_text(found.base.what, found.text, found.values, check=not found.values.keys() <= proven)
        proven.update(found.values)
        return text

    def _get(
        self,
        text: str | None,
        fixed: dict[str, float],
        say: Say,
        opened: frozenset[str] = frozenset(),
        on_read: Callable[[Any], None] | None = None,
    ) -> Model:
        key = text, frozenset(fixed.items()), opened
        # Who needs the same model waits for it; who has one goes on.
        with self.lock:
            if key in self.kept and self.kept[key].is_current:
                self.kept.move_to_end(key)
                return self.kept[key]
        with self.building:
            if key not in self.kept or not self.kept[key].is_current:
                say("reading")
                read = self.source.read(text)
                if on_read:
                    on_read(read)
                made = build_model(read, fixed, opened, say)
                made.stamp = self.source.stamp(read, text)
                with self.lock:
                    self.kept[key] = made
                    while len(self.kept) > MOST_KEPT:
                        self.kept.popitem(last=False)
            return self.kept[key]


def build_model(
    what: Scenario | ScenarioSequence, fixed: Mapping[str, float], opened: Collection[str], say: Say
) -> Model:
    """Check as `check` does, and compile.

    Args:
        opened: numbers of the mechanism that become inputs of the code.
    """
    changed = what.with_numbers(fixed) if fixed else what
    say("assembling")
    if isinstance(changed, ScenarioSequence):
        return Model(changed, None, ())
    system, _ = make_ready(make_tunable(changed, sorted(opened)))
    say("compiling")
    warnings = (*system.warnings, *find_loop_warnings([system]))
    return Model(changed, compile_system(system, on_compile=say), warnings)


def number_changes(old: Scenario | ScenarioSequence, new: Scenario | ScenarioSequence) -> dict[str, float] | None:
    """The numbers of a scenario that make it another one; None where it differs in more than numbers."""
    if not isinstance(old, Scenario) or not isinstance(new, Scenario):
        return None
    before, after = old.numbers(), new.numbers()
    if before.keys() != after.keys():
        return None
    changes = {name: after[name].value for name in before if before[name].value != after[name].value}
    try:
        return changes if old.with_numbers(changes) == new else None
    except ModelError:
        return None


def find_inputs(what: Scenario | ScenarioSequence, names: Collection[str]) -> frozenset[str]:
    """Those of some constants of the code that can be inputs of it."""
    if isinstance(what, ScenarioSequence) or what.machine.all_constraints:
        return frozenset()
    return frozenset(make_tunable(what, sorted(names)).machine.tunable) & frozenset(names)


def start_numbers(what: Scenario | ScenarioSequence) -> dict[str, tuple[float, str]]:
    """Start values as numbers: value and unit by `initial.STATE`."""
    if isinstance(what, ScenarioSequence):
        return {}
    starts = what.start_values
    return {f"{INITIAL}{name}": (starts.get(name, 0.0), unit) for name, unit in what.state_units().items()}


# Numbers of a model: what can be moved, in which unit, and how far does its slider go?

REACHES = {"rad": (-math.pi, math.pi), "m": (-0.1, 0.1), "kg": (0.0, 1.0), "s": (0.0, 0.1)}
"""Of a slider whose number is 0, by unit."""
GROUPS = ("mechanism", "drives", "control", "start", "solver")
DRIVES = ("drives", "hydraulics", "hydraulic_flows", "hydraulic_oil", "hydraulic_volumes", "gears", "clutches")
PHYSICS = ("friction", "elements", "contact", "tyres", "aerodynamics")
OF_SOLVER = ("duration", "solver", "recording")


def describe_numbers(model: Model, units: Mapping[str, str]) -> dict[str, Any]:
    """Every number: name, value, unit, group, range of its slider, and whether it can be moved without other code.

    Args:
        units: in which numbers are written in the scenario's file, where that is not in SI.
    """
    what, tunable = model.what, model.tunable
    # Units that follow from the joints that blocks act on are known once it is assembled.
    numbers = model.compiled.system.numbers if model.compiled else what.numbers()
    rows = [(name, number.value, number.unit) for name, number in numbers.items()]
    rows += [(name, *entry) for name, entry in start_numbers(what).items() if name not in numbers]
    groups = block_groups(what)
    entries = []
    for name, value, unit in rows:
        written = units.get(name, unit)
        unit_there = known_unit(written)
        shown = {"unit": written, "factor": unit_there.factor if unit_there and name in units else 1.0}
        entry = {"name": name, "value": value, "range": slider_range(value, unit), "tunable": name in tunable}
        entries.append(entry | shown | {"group": number_group(name, groups)})
    return {"name": what.name, "title": what.title, "duration": what.duration, "numbers": entries}


def block_groups(what: Scenario | ScenarioSequence) -> dict[str, str]:
    """Name of a block -> the group of its numbers, by the module of its law."""
    if isinstance(what, ScenarioSequence):
        return {}
    groups = {}
    for block in what.machine.all_blocks:
        law = block.law if callable(block.law) else find_law(block.law)
        module = law.__module__.rpartition(".")[2]
        physical = "motor" if "motor" in block.law_name else module
        is_drive = physical in (*DRIVES, "motor")
        groups[block.name] = "drives" if is_drive else "mechanism" if module in PHYSICS else "control"
    return groups | {controller.name: "control" for controller in what.machine.controllers}


def number_group(name: str, blocks: Mapping[str, str]) -> str:
    """The group that a number stands in: of its block, else by its first word."""
    if name.startswith(INITIAL):
        return "start"
    if name.partition(".")[0] in OF_SOLVER:
        return "solver"
    owner = name
    while owner := owner.rpartition(".")[0]:
        if owner in blocks:
            return blocks[owner]
    return "mechanism"


def slider_range(value: float, unit: str) -> list[float]:
    """From nothing to twice the value; about zero as far as numbers of its unit are moved."""
    if not math.isfinite(value):
        return [0.0, 1.0]
    if value == 0:
        return list(REACHES.get(unit, (-1.0, 1.0)))
    return [min(0.0, 2 * value), max(0.0, 2 * value)]
