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
from robodyn.base.errors import Flaw, ModelError, nearest
from robodyn.computation.results import Run
from robodyn.computation.simulation import compile_system, simulate
from robodyn.computation.simulation.compiled import CompiledSystem
from robodyn.computation.simulation.reference_paths import find_start_warnings
from robodyn.computation.simulation.starting import find_start, make_ready
from robodyn.description.model import Scenario, ScenarioSequence
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
        return frozenset((*self.compiled.places, *start_numbers(self.what))) if self.compiled else frozenset()

    @property
    def is_current(self) -> bool:
        """Whether all files that it was read from are as they were."""
        return stamp_files(file for file, *_ in self.stamp) == self.stamp

    def simulate(self, values: Mapping[str, float], progress: Any) -> Run:
        """A run with some tunable numbers changed."""
        starts = {name: value for name, value in values.items() if name.startswith(INITIAL)}
        others = {name: value for name, value in values.items() if name not in starts}
        if self.compiled is None:
            return simulate(self.what, parameters=others, progress=progress)
        begun = with_starts(self.compiled, starts) if starts else self.compiled
        run = simulate(begun, parameters=others, progress=progress)
        if others and not run.outcome.ok:
            # Loops are judged with the file's numbers when it is built, and with those of the sliders where a run
            # fails: for every move of a slider it would take too long.
            unstable = find_loop_warnings([begun.system], parameters=others)
            run = replace(run, warnings=(*run.warnings, *unstable))
        if begun.system.scenario.initialisation != "given":
            return run
        # A slider may leave a start behind that fitted the number before it.
        numbers = begun.parameter_values(others)
        unfit = find_start_warnings(begun, find_start(begun, numbers), numbers)
        return replace(run, warnings=(*run.warnings, *unfit))


@dataclass(frozen=True)
class Found:
    """What a run needs: the scenario as described, the model with other constants in its code, and what is tuned."""

    base: Model
    model: Model
    changes: dict[str, float]


class ModelStore:
    """Models by text and by the numbers that are constants of their code; the last ones are kept for all sessions."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.kept: OrderedDict[Any, Model] = OrderedDict()
        self.opened: dict[str | None, frozenset[str]] = {}
        self.stuck: frozenset[str] = frozenset()
        self.lock, self.building = threading.Lock(), threading.Lock()

    def find(self, text: str | None, values: Mapping[str, float], say: Say) -> Found:
        """The model that these numbers need, and those that it is run with.

        Raises:
            ModelError: with every problem of the scenario or the numbers.
        """
        base = self._get(text, {}, say)
        known = {*base.what.numbers(), *start_numbers(base.what)}
        flaws = [Flaw(name, "there is no such number", nearest(name, known)) for name in values if name not in known]
        if flaws:
            raise ModelError(flaws)
        constant = [name for name in values if name not in base.tunable]
        wanted = self.opened.get(text, frozenset()) | find_inputs(base.what, constant)
        opened = self.opened[text] = wanted - self.stuck
        fixed = {name: values[name] for name in constant if name not in opened}
        model = self._get(text, fixed, say, opened) if fixed or opened else base
        if stuck := opened - model.tunable:
            # What the mechanism's equations took as given all the same is a constant.
            self.stuck |= stuck
            return self.find(text, values, say)
        return Found(base, model, {name: value for name, value in values.items() if name not in fixed})

    def _get(self, text: str | None, fixed: dict[str, float], say: Say, opened: frozenset[str] = frozenset()) -> Model:
        key = text, frozenset(fixed.items()), opened
        # Who needs the same model waits for it; who has one goes on.
        with self.lock:
            if key in self.kept and self.kept[key].is_current:
                self.kept.move_to_end(key)
                return self.kept[key]
        with self.building:
            if key not in self.kept or not self.kept[key].is_current:
                read = self.source.read(text)
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


def describe_numbers(model: Model) -> dict[str, Any]:
    """Every number: name, value, unit, range of its slider, and whether it can be moved without other code."""
    what, tunable = model.what, model.tunable
    # Units that follow from the joints that blocks act on are known once it is assembled.
    numbers = model.compiled.system.numbers if model.compiled else what.numbers()
    rows = [(name, number.value, number.unit) for name, number in numbers.items()]
    rows += [(name, *entry) for name, entry in start_numbers(what).items()]
    entries = [
        {"name": name, "value": value, "unit": unit, "range": slider_range(value, unit), "tunable": name in tunable}
        for name, value, unit in rows
    ]
    return {"name": what.name, "title": what.title, "duration": what.duration, "numbers": entries}


def slider_range(value: float, unit: str) -> list[float]:
    """From nothing to twice the value; about zero as far as numbers of its unit are moved."""
    if not math.isfinite(value):
        return [0.0, 1.0]
    if value == 0:
        return list(REACHES.get(unit, (-1.0, 1.0)))
    return [min(0.0, 2 * value), max(0.0, 2 * value)]
