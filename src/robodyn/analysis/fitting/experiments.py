"""Experiments of a fit: which recordings, with which numbers of their own, are simulated by which scenario?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from robodyn.analysis.fitting.residuals import RecordingResiduals, Residuals
from robodyn.analysis.fitting.search_space import OF_RECORDING, Bounds, make_scales
from robodyn.analysis.measurement.data_sheet import describe_saturation
from robodyn.analysis.measurement.measured import drive_by_data, last_as_long, match_measured, without
from robodyn.analysis.sensitivity.parameters import INITIAL, check_quaternions
from robodyn.analysis.sensitivity.variation import Variation, assemble_tunable, prepare_variation
from robodyn.base.errors import Flaw, FlawList, ModelError
from robodyn.computation.assembly import System
from robodyn.computation.results import Run
from robodyn.computation.results.signal import Floats
from robodyn.description.model import Number, Solver

Noise = Mapping[str, float] | float | None


@dataclass(frozen=True)
class Experiment:
    """A recording and the numbers of the scenario that it was made with, such as `initial.elbow.position`.

    Attributes:
        label: what it is called in results; the name of its file unless given.
    """

    data: Run
    numbers: Mapping[str, float] = field(default_factory=dict)
    label: str = ""


def list_experiments(data: Run | Experiment | Sequence[Run | Experiment]) -> list[Experiment]:
    """Every recording with a label of its own."""
    several = [data] if isinstance(data, Run | Experiment) else list(data)
    if not several:
        raise ModelError([Flaw("data", "there are none", "give at least one recording")], "fit")
    found = [one if isinstance(one, Experiment) else Experiment(one) for one in several]
    labels = [one.label or str(one.data.provenance.description.get("file", "")) for one in found]
    counts = Counter(labels)
    unique = [name if name and counts[name] == 1 else f"{name or 'recording'} {k + 1}" for k, name in enumerate(labels)]
    return [replace(one, label=label) for one, label in zip(found, unique, strict=True)]


def split_experiments(
    experiments: Sequence[Experiment], inputs: Sequence[str], held_out: float
) -> tuple[list[Run], list[Run]]:
    """What is fitted to, and all of it, inputs aside: the last samples of each recording take no part."""
    if not 0 <= held_out < 1:
        raise ModelError([Flaw("held_out", f"must be at least 0 and below 1, is {held_out:g}")], "fit")
    whole = [without(one.data, inputs) if inputs else one.data for one in experiments]
    return [_first_part(data, held_out) for data in whole], whole


def _first_part(data: Run, held_out: float) -> Run:
    edge = int(round((1 - held_out) * len(data.time)))
    late = np.arange(len(data.time))[:, None] >= edge
    return replace(data, values=np.where(late, np.nan, data.values)) if held_out else data


def check_request(
    system: System,
    experiments: Sequence[Experiment],
    free: Sequence[str],
    each: Sequence[str],
    starts: int,
) -> None:
    """Refuse names that cannot be free, and measured efforts at their limit."""
    flaws, scenario = FlawList(), system.scenario
    if isinstance(free, str) or isinstance(each, str) or not [*free, *each]:
        flaws.add("free", "must name at least one number to fit")
    elif len({*free, *each}) < len(free) + len(each):
        flaws.add("free", "names a number twice")
    if starts < 1:
        flaws.add("starts", f"must be at least 1, is {starts}")
    for name in each:
        if ".inertia." in name:
            flaws.add(name, "cannot differ from recording to recording", "leave it out of each")
    for one in experiments:
        for name in set(one.numbers) & {*free, *each}:
            flaws.add(f"{one.label}: {name}", "is given and free", "leave out one of both")
    check_quaternions(scenario, [*free, *each], flaws)
    if "duration" in [*free, *each]:
        flaws.add("duration", "is that of the data", "leave it out of free")
    flaws.raise_if_any("fit")
    units = {info.name: info.unit for info in system.signals}
    for one in experiments:
        _refuse_saturated(one, units)


def _refuse_saturated(one: Experiment, units: Mapping[str, str]) -> None:
    """Refuse measured currents, voltages and forces that stay at their limit, with rows and remedy."""
    flaws = FlawList()
    kept = one.data.provenance.description.get("saturation_kept", [])
    for info in one.data.infos:
        unit = info.unit or units.get(info.name, "")
        if info.name not in kept and info.kind == "continuous" and unit in EFFORTS:
            describe_saturation(info.name, one.data, flaws)
    flaws.raise_if_any(one.label)


EFFORTS = ("A", "V", "N", "N m")
"""Units of signals that drives limit."""


def check_noise(names: Sequence[str], noise: Noise) -> None:
    """Refuse noise of unknown signals, of some of them only, or that is not positive."""
    flaws = FlawList()
    given = dict(noise) if isinstance(noise, Mapping) else {name: noise for name in names if noise is not None}
    flaws.add_unknown(given, names, "is no signal of the data", "noise")
    flaws.add_unless_positive(**{f"noise.{name}": level for name, level in given.items()})
    for name in names if isinstance(noise, Mapping) else ():
        if name not in given:
            flaws.add(f"noise.{name}", "is missing", "give it for every signal or for none")
    flaws.raise_if_any("fit")


def make_residuals(
    system: System,
    experiments: Sequence[Experiment],
    fitted: Sequence[Run],
    free: Sequence[str],
    each: Sequence[str],
    bounds: Mapping[str, Bounds],
    noise: Noise,
    inputs: Sequence[str],
    solver: Solver | None,
    exact: bool,
) -> Residuals:
    """Residuals of all recordings; numbers of `each` are there once for every one of them."""
    variations = _prepare(system, experiments, fitted, [*free, *each], inputs, solver, exact)
    several = len(experiments) > 1
    numbers = list(variations[0].numbers[: len(free)])
    places = []
    for one, variation in zip(experiments, variations, strict=True):
        places.append([*range(len(free)), *range(len(numbers), len(numbers) + len(each))])
        for number in variation.numbers[len(free) :]:
            numbers.append(replace(number, name=f"{one.label}{OF_RECORDING}{number.name}") if several else number)
    scales = make_scales(numbers, _spread_bounds(bounds, numbers, each))
    level = _first_noise(fitted, noise)
    parts = [
        RecordingResiduals(
            one.label, variation, data, [*free, *each], [scales[k] for k in own], _changed(one, variation),
            np.array([level[name] for name in data.names]),
        )
        for one, variation, data, own in zip(experiments, variations, fitted, places, strict=True)
    ]  # fmt: skip
    return Residuals(tuple(parts), tuple(places), scales)


def _spread_bounds(bounds: Mapping[str, Bounds], numbers: Sequence[Number], each: Sequence[str]) -> dict[str, Bounds]:
    """Bounds of a number that each recording has its own of are those of every one of them."""
    found = {name: pair for name, pair in bounds.items() if name not in each}
    own = {number.name: number.name.rpartition(OF_RECORDING)[2] for number in numbers}
    return {name: bounds[short] for name, short in own.items() if short in bounds and short in each} | found


def _first_noise(runs: Sequence[Run], noise: Noise) -> dict[str, float]:
    """What residuals are divided by: the noise given, else each signal's own spread, so that all count alike."""
    names = dict.fromkeys(name for run in runs for name in run.names)
    check_noise(list(names), noise)
    if noise is not None:
        return {name: float(noise[name] if isinstance(noise, Mapping) else noise) for name in names}
    spread = {name: max(float(np.nanstd(run[name].values)) for run in runs if name in run) for name in names}
    return {name: value if value > 0 else 1.0 for name, value in spread.items()}


def _prepare(
    system: System,
    experiments: Sequence[Experiment],
    fitted: Sequence[Run],
    names: Sequence[str],
    inputs: Sequence[str],
    solver: Solver | None,
    exact: bool,
) -> list[Variation]:
    """Native code for each recording: one for all that differ by numbers of the code, states and durations alone."""
    made: dict[tuple[str, ...], Variation] = {}
    found = []
    for one, data in zip(experiments, fitted, strict=True):
        driven = assemble_tunable(drive_by_data(system.scenario, one.data, inputs), names) if inputs else system
        own = _matching(driven, one, data)
        known = made.get(data.names)
        if known is None or inputs or set(_changed(one, known)) != set(one.numbers):
            what = own.scenario.with_numbers(one.numbers) if one.numbers else own
            known = prepare_variation(what, names, data.names, solver, exact=exact)
            if not inputs and not one.numbers:
                made[data.names] = known
        found.append(_lasting(known, own.scenario.duration))
    return found


def _changed(one: Experiment, variation: Variation) -> dict[str, float]:
    """Those of a recording's own numbers that are inputs of the code."""
    known = {number.name for number in variation.compiled.system.parameters}
    return {name: value for name, value in one.numbers.items() if name in known or name.startswith(INITIAL)}


def _lasting(variation: Variation, duration: float) -> Variation:
    """The same code for as long as a recording lasts."""
    system = variation.compiled.system
    lasting = replace(system.scenario, duration=duration)
    compiled = replace(variation.compiled, system=replace(system, scenario=lasting))
    return replace(variation, scenario=replace(variation.scenario, duration=duration), compiled=compiled)


def _matching(system: System, one: Experiment, data: Run) -> System:
    """The system for as long as a recording lasts; data that do not match are refused."""
    try:
        match_measured(data, {info.name: info.unit for info in system.signals})
        return system.lasting(last_as_long(system.scenario, data))
    except ModelError as error:
        raise ModelError(error.flaws, one.label) from error


def spread_noise(residuals: Residuals, z: Floats) -> dict[str, float]:
    """Root mean square of each signal's residual, the degrees of freedom shared among the signals."""
    apart: dict[str, list[Floats]] = {name: [] for name in residuals.names}
    for part, own in residuals.each(z):
        for name, column in zip(part.data.names, part.apart(own).T, strict=True):
            apart[name].append(column[np.isfinite(column)])
    found = {name: np.concatenate(columns) for name, columns in apart.items()}
    total = sum(e.size for e in found.values())
    # Data without noise are met to the accuracy of the simulation, not better.
    rtol = residuals.parts[0].variation.solver.rtol
    least = {n: rtol * max(np.nanstd(p.data[n].values) for p in residuals.parts if n in p.data) for n in found}
    freedom = {name: max(e.size - len(z) * e.size / total, 1.0) for name, e in found.items()}
    return {n: float(max(np.sqrt(np.sum(e**2) / freedom[n]), least[n], 1e-300)) for n, e in found.items()}
