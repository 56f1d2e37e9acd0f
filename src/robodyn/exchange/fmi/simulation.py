"""Simulation of a single FMU: from communication point to communication point, into a run like any other."""

from __future__ import annotations

import hashlib
import math
import time as clock
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from robodyn.base import FlawList, find_unmatched, fits, frozen, nearest, refuse
from robodyn.computation.cosimulation.record import UnitRecord
from robodyn.computation.results import Outcome, OutcomeKind, Provenance, Run, Statistics

from .archive import read_description
from .unit import SAME, FmuUnit

Progress = Callable[[float, float, int], None]
STEPS = 500
"""Communication steps of a run where neither the unit nor its user says how long they are."""


MOST_STEPS = 10**7
"""Communication steps of a run: each is a row."""


@frozen
class FmuExperiment:
    """Begin, duration and communication step [s]."""

    begin: float
    duration: float
    step: float

    @property
    def steps(self) -> int:
        """How many; the last one may be shorter."""
        return max(1, math.ceil(self.duration / self.step * (1 - SAME)))

    def instant(self, k: int) -> float:
        """The k-th communication point [s]."""
        return self.begin + (self.duration if k == self.steps else k * self.step)


def simulate_fmu(
    path: str | Path,
    *,
    parameters: Mapping[str, Any] | None = None,
    duration: float | None = None,
    step: float | None = None,
    tolerance: float | None = None,
    signals: Sequence[str] | None = None,
    progress: Progress | None = None,
) -> Run:
    """Run one unit by itself.

    Args:
        parameters: as of `FmuUnit`; inputs among them are held over the run.
        duration, step: simulated time and communication step [s]; by default those of the unit's own experiment.
        tolerance: relative; by default that of the experiment.
        signals: patterns of the names to record; all outputs by default, all variables where there are none.
        progress: called with (time, step, steps).

    Returns:
        What happened, also where the unit could not go on: see its outcome.

    Raises:
        ModelError: for a unit that cannot be run here, and for values that it does not take.
    """
    experiment, suggested = plan_experiment(path, duration, step)
    end = experiment.instant(experiment.steps)
    name = Path(path).stem
    accuracy = suggested if tolerance is None else tolerance
    with FmuUnit(path, name, parameters=parameters, begin=experiment.begin, stop=end, tolerance=accuracy) as unit:
        last = experiment.duration - (experiment.steps - 1) * experiment.step
        if not unit.variable_step and abs(last - experiment.step) > SAME * experiment.step:
            what = f"{experiment.duration:g} s is not a whole number of steps of {experiment.step:g} s"
            refuse("duration", what, "the unit takes steps of one length only", unit.name)
        unit.outputs = _choose(unit, signals)
        return _run(unit, experiment, Path(path), progress)


def plan_experiment(path: str | Path, duration: float | None, step: float | None) -> tuple[FmuExperiment, float | None]:
    """The experiment that is asked for, with the unit's own for what is not; and the tolerance of that."""
    description, _ = read_description(path)
    suggested = description.defaultExperiment
    flaws = FlawList()
    begin, stop, stride, tolerance = (
        _own_number(flaws, suggested, key) for key in ("startTime", "stopTime", "stepSize", "tolerance")
    )
    begin = begin or 0.0
    if duration is None and stop is None:
        flaws.add("duration", "is missing", "the unit names no end of its own")
    for key, value in (("duration", duration), ("step", step)):
        if value is not None and not (value > 0 and math.isfinite(value)):
            flaws.add(key, f"must be a positive number, is {value!r}")
    flaws.raise_if_any(str(path))
    length = duration if duration is not None else (stop or 0.0) - begin
    if not length > 0:
        flaws.add("stopTime", f"must be after the start at {begin:g} s, is {stop:g}", "give a duration")
    inner = _own_number(flaws, description.coSimulation, "fixedInternalStepSize") or 0.0
    chosen = step or stride or length / STEPS
    if not step and not stride and inner:
        chosen = max(1, round(chosen / inner)) * inner
    if not (chosen > 0 and length <= MOST_STEPS * chosen):
        what = f"{chosen:g} s is not a valid step for {length:g} s"
        flaws.add("step" if step else "stepSize", what, f"at most {MOST_STEPS} steps are taken")
    flaws.raise_if_any(str(path))
    return FmuExperiment(begin, length, min(chosen, length)), tolerance


def _own_number(flaws: FlawList, own: Any, key: str) -> float | None:
    """A number that the unit itself gives, of its experiment or its steps; None where it gives none."""
    text = getattr(own, key, None)
    try:
        value = None if text is None else float(text)
    except ValueError:
        value = math.nan
    if value is not None and not math.isfinite(value):
        flaws.add(key, f"must be a finite number, is {text!r}", "export the unit again")
    return value


def _choose(unit: FmuUnit, patterns: Sequence[str] | None) -> dict[str, str]:
    """Names and units of measure of what is recorded."""
    moving = {
        name: variable.unit
        for name, variable in unit.variables.items()
        if variable.causality in ("output", "local", "input") and variable.variability in ("continuous", "discrete")
    }
    if not patterns:
        return dict(unit.outputs) or moving
    flaws = FlawList()
    # Brackets are of arrays here, no pattern of characters.
    plain = {pattern.replace("[", "[[]"): pattern for pattern in patterns}
    for pattern in find_unmatched(plain, moving):
        flaws.add(
            f"signal {plain[pattern]}", "is not a variable of the unit that moves", nearest(plain[pattern], moving)
        )
    flaws.raise_if_any(unit.name)
    return {name: measure for name, measure in moving.items() if fits(name, plain)}


def _run(unit: FmuUnit, experiment: FmuExperiment, path: Path, progress: Progress | None) -> Run:
    record, start_time = UnitRecord(unit), clock.perf_counter()
    # What parameters are is read before the start; after it, a unit may have ended.
    causalities = ("parameter", "structuralParameter", "input")
    names = [name for name, variable in unit.variables.items() if variable.causality in causalities]
    values = unit.look(names)
    parameters = {name: {"value": values[name], "unit": unit.variables[name].unit} for name in names}
    unit.start(experiment.begin)
    record.add(experiment.begin, unit.read())
    outcome, k = None, 0
    try:
        while outcome is None:
            outcome = _step(unit, experiment, k, record)
            k += outcome is None
            if progress:
                progress(unit.time - experiment.begin, experiment.step, k)
    except KeyboardInterrupt:
        sentence = f"interrupted at {unit.time:.6g} s of simulated time; the run so far is kept"
        outcome = Outcome(OutcomeKind.INTERRUPTED, sentence, unit.time)
    spent = clock.perf_counter() - start_time
    counts = Statistics(
        steps=k, events=len(record.events), wall_time=spent, simulated_time=outcome.time - experiment.begin
    )
    about = unit.description
    description = {
        "unit": about.modelName,
        "file": path.name,
        "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        "fmi": str(about.fmiVersion),
        "made_by": about.generationTool or "",
        "set": dict(unit.parameters),
    }
    kind = "co-simulation unit" if about.coSimulation else "model exchange unit, Radau"
    solver = {"method": kind, "step": experiment.step}
    return record.run(
        outcome,
        (
            Provenance(
                path.stem,
                description,
                parameters,
                solver,
                versions={name: version(name) for name in ("robodyn", "fmpy")},
            )
        ),
        counts,
    )


def _step(unit: FmuUnit, experiment: FmuExperiment, k: int, record: UnitRecord) -> Outcome | None:
    """One communication step into the record."""
    if k == experiment.steps:
        return Outcome(OutcomeKind.FINISHED, f"reached the end time {unit.time:.6g} s", unit.time)
    begin, end = experiment.instant(k), experiment.instant(k + 1)
    outcome = unit.advance(begin, end - begin)
    record.add_events(unit.take_events())
    if outcome is None:
        record.add(end, unit.read())
    return outcome
