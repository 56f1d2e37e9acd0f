"""Sensitivity ranking: which parameters does a measure of a run depend on most?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace

import numpy as np

from robodyn.analysis.step_response import measure_step
from robodyn.base import FlawList, ModelError, frozen, refuse, refuse_word, report_progress
from robodyn.computation.assembly import assemble
from robodyn.computation.engine.slices import take_measure
from robodyn.computation.results import Run
from robodyn.computation.results.signal import Signal
from robodyn.computation.simulation import simulate
from robodyn.computation.simulation.many import default_measures, find_measures
from robodyn.description.model import Scenario, Solver

from .parameters import INITIAL
from .system import sensitivity_name
from .variation import Variation, assemble_tunable, prepare_variation

# --------------------------------------------------------------------------------------------------
# Sensitivity ranking: which parameters does a result depend on most? Exact derivatives and finite changes.
#
# Symbols: y the signals, Q(y) a measure of a run (an overshoot, a peak's time, a final value), p a parameter.
#
#     dQ/dp = d/de Q(y + e dy/dp) at e = 0
#
# The signals' sensitivities dy/dp are exact, so no second simulation is needed. Finite changes run the scenario again
# with p (1 + c) and p (1 - c).


Measure = Callable[[Run], float]

SCREENING = 0.01
"""Change of each number, relative, by which the strongest of all are found."""
ROUNDING = 1e-6
"""Part of the strongest effect that counts as none: runs of usual tolerances differ by that."""
NUDGE = 1e-4
"""Change of a parameter, relative, over which a measure is taken as straight; its signals change by their slopes."""


@frozen
class Sensitivity:
    """How one measure depends on one parameter.

    Attributes:
        value: of the measure; parameter_value: of the parameter [unit].
        slope: exact dQ/dp, None where there is none.
        change: relative change of the finite runs, 0 for none; lower, upper: the measure with p (1 - c) and p (1 + c).
    """

    JSON = """
    measure
    parameter
    unit
    value
    parameter_value
    slope: exact
    change
    lower
    upper
    per_percent
    finite_per_percent
    """
    measure: str
    parameter: str
    unit: str
    value: float
    parameter_value: float
    slope: float | None
    change: float
    lower: float | None
    upper: float | None

    @property
    def per_percent(self) -> float | None:
        """Exact change of the measure for one percent more of the parameter."""
        return None if self.slope is None else self.slope * self.parameter_value / 100

    @property
    def finite_per_percent(self) -> float | None:
        """The effect of one per cent by finite changes: `(Q(p (1 + c)) - Q(p (1 - c))) / (2 c 100)`."""
        if self.lower is None or self.upper is None:
            return None
        return (self.upper - self.lower) / (200 * self.change)

    @property
    def weight(self) -> float:
        """The size of the effect, by which rows are ranked."""
        effect = self.per_percent if self.per_percent is not None else self.finite_per_percent
        return abs(effect) if effect is not None and np.isfinite(effect) else 0.0


@frozen
class SensitivityTable:
    """All measures by all parameters, of each measure the strongest first.

    Attributes:
        reason: why there are no exact derivatives, or an empty text.
        notes: sentences on how blocks that jump were taken.
        run: with the scenario's own numbers and, if exact, the sensitivities as signals.
    """

    rows: tuple[Sensitivity, ...]
    reason: str
    run: Run
    notes: tuple[str, ...] = ()

    def of(self, measure: str) -> tuple[Sensitivity, ...]:
        """The rows of one measure."""
        return tuple(row for row in self.rows if row.measure == measure)


@frozen
class Ranking:
    """The rows of one measure of a signal; unit: of the measure; reason, notes: as in `SensitivityTable`."""

    JSON = """
    measure
    of
    reason: why slopes are not exact, if they are not
    notes
    rows
    """
    measure: str
    of: str
    unit: str
    rows: tuple[Sensitivity, ...]
    reason: str = ""
    notes: tuple[str, ...] = ()


@report_progress("ranking parameters of")
def rank_parameters(
    scenario: Scenario,
    measures: Mapping[str, Measure],
    parameters: Sequence[str],
    *,
    change: float | Mapping[str, float] = 0.1,
    solver: Solver | None = None,
) -> SensitivityTable:
    """How much each measure of a run changes with each parameter.

    Args:
        measures: name -> function of a run that reads signals by name; smooth in their values.
        parameters: numbers of the scenario.
        change: relative, for all or by name; 0 leaves the finite changes out.

    Raises:
        ModelError: for unknown names, a parameter that is 0 (it has no percent), or a run that could not go on.
    """
    changes = _changes(change, parameters)
    system = assemble_tunable(scenario, parameters)
    base = simulate(system, solver)
    _require(base, "the scenario as it is")
    variation = prepare_variation(system, parameters, _signals_read(base, measures), solver)
    flaws = FlawList()
    for number in variation.numbers:
        if number.value == 0:
            flaws.add(number.name, "is 0, so a percentage does not change it", "choose another parameter")
        if not 0 <= changes[number.name] < 1:
            flaws.add(f"change.{number.name}", f"must be from 0 to below 1, is {changes[number.name]:g}")
    flaws.raise_if_any("sensitivities")
    run = variation.run({})
    rows = []
    for number in variation.numbers:
        # dQ/dp of each measure, by signals moved along their sensitivities.
        slopes, nudge = dict[str, float](), NUDGE * abs(number.value)
        if variation.exact:
            more, less = (move_signals(run, number.name, sign * nudge) for sign in (1, -1))
            slopes = {name: (float(take(more)) - float(take(less))) / (2 * nudge) for name, take in measures.items()}
        ends = _finite_ends(variation, number.name, number.value, changes[number.name], measures)
        for name, measure in measures.items():
            lower, upper = ends.get(name, (None, None))
            value, slope = float(measure(run)), slopes.get(name)
            at = number.name, number.unit, value, number.value
            rows.append(Sensitivity(name, *at, slope, changes[number.name], lower, upper))
    order = {name: k for k, name in enumerate(measures)}
    rows.sort(key=lambda row: (order[row.measure], -row.weight))
    return SensitivityTable(tuple(rows), variation.reason, run, variation.notes)


def choose_measure(scenario: Scenario, kind: str | None = None) -> tuple[str, str]:
    """The kind and the signal of a measure where none is named: the rms of the largest deviation or error, or, where
    there is none, the end of the joint that ends furthest from zero; another kind takes the same signal."""
    system = assemble(scenario)
    run = simulate(system)
    smooth = [text for text in default_measures(system) if not text.startswith("peak:")]
    usual = find_measures(FlawList(), smooth, system)
    if not usual:
        refuse("", "has no moving signal whose sensitivity could be meant", "name a signal", "sensitivities")
    sizes = [abs(measure.take(run.time, run[measure.signal].values)) for measure in usual]
    chosen = usual[int(np.argmax(sizes))]
    return kind or chosen.kind, chosen.signal


@report_progress("trying all numbers of")
def find_strongest(scenario: Scenario, measure: Measure) -> tuple[list[str], str]:
    """The ten numbers whose change by 1 % changes a measure most, the strongest first, and a sentence on those tried.

    Tried are all that are inputs of the native code or can be made so and are not 0: neither start values nor what is
    folded into the code, such as sample times.
    """
    values = {name: number.value for name, number in scenario.numbers().items() if not name.startswith(INITIAL)}
    candidates = [name for name, value in values.items() if value != 0 and np.isfinite(value)]
    system = assemble_tunable(scenario, candidates)
    names = [name for name in candidates if name in system.places]
    base = simulate(system)
    _require(base, "the scenario as it is")
    variation = prepare_variation(system, names, _signals_read(base, {"": measure}), exact=False)
    effects, failed = {}, []
    for name in names:
        try:
            less, more = _finite_ends(variation, name, values[name], SCREENING, {"": measure})[""]
            effects[name] = abs(more - less)
        except ModelError:
            failed.append(name)
    effective = [name for name in effects if effects[name] > ROUNDING * max(effects.values())]
    strongest = sorted(effective, key=lambda name: -effects[name])[:10]
    note = f"the {len(strongest)} strongest of {len(names)} numbers"
    if failed:
        note += f"; not among them, since 1 % more or less ends the run: {', '.join(failed)}"
    return strongest, note


def _changes(change: float | Mapping[str, float], parameters: Sequence[str]) -> dict[str, float]:
    if not isinstance(change, Mapping):
        return dict.fromkeys(parameters, change)
    flaws = FlawList()
    flaws.add_unknown(change, parameters, "is not among the parameters", "change")
    for name in set(parameters) - set(change):
        flaws.add(f"change.{name}", "is missing", "give it for every parameter, or one number for all")
    flaws.raise_if_any("sensitivities")
    return dict(change)


def _require(run: Run, what: str) -> None:
    if not run.outcome.ok:
        refuse("", f"{what}: {run.outcome.sentence}", source="sensitivities")


class _Reading(Run):
    """A run that notes which signals are asked for."""

    def __getitem__(self, name: str) -> Signal:
        self.end.setdefault(name, 0.0)
        return super().__getitem__(name)


def _signals_read(run: Run, measures: Mapping[str, Measure]) -> tuple[str, ...]:
    """The signals that the measures read, and their rates, which make the interpolation cubic."""
    watched = _Reading(**({field.name: getattr(run, field.name) for field in fields(Run)} | {"end": {}}))
    for measure in measures.values():
        measure(watched)
    read = list(watched.end) or list(run.names)
    rates = [info.rate for info in run.infos if info.name in read and info.rate]
    return tuple(dict.fromkeys([*read, *rates]))


def move_signals(run: Run, parameter: str, change: float) -> Run:
    """The run as it would be, to first order, with another value of a parameter: `y + dy/dp change`."""
    names = [info.name for info in run.infos if sensitivity_name(info.name, parameter) in run]
    columns = [run[name].values + change * run[sensitivity_name(name, parameter)].values for name in names]
    infos = [replace(i, rate=i.rate if i.rate in names else None) for i in run.infos if i.name in names]
    return replace(run, values=np.column_stack(columns), infos=tuple(infos), probes=None)


def _finite_ends(
    variation: Variation, name: str, value: float, change: float, measures: Mapping[str, Measure]
) -> dict[str, tuple[float, float]]:
    if change == 0:
        return {}
    runs = [variation.run({name: value * (1 + sign * change)}) for sign in (-1, 1)]
    for run, sign in zip(runs, "-+", strict=True):
        _require(run, f"{name} {sign}{100 * change:g} %")
    return {key: (float(measure(runs[0])), float(measure(runs[1]))) for key, measure in measures.items()}


# --------------------------------------------------------------------------------------------------
# Measures of a signal: its last value, its extremes, its root mean square, its step response, as one number.


MEASURES: Mapping[str, Callable[[Signal, float], float]] = {
    "final": lambda signal, at: signal.final,
    "max": lambda signal, at: find_extreme(signal, 1.0),
    "min": lambda signal, at: find_extreme(signal, -1.0),
    "rms": lambda signal, at: take_measure("rms", signal.time, signal.values),
    "peak_time": lambda signal, at: measure_step(signal, at).first_peak,
    "oscillation_time": lambda signal, at: measure_step(signal, at).oscillation_time,
    "overshoot": lambda signal, at: measure_step(signal, at).overshoot,
}
"""Name -> number of a signal that answers a step at a time."""
UNITS = {"peak_time": "s", "oscillation_time": "s", "overshoot": ""}


def find_extreme(signal: Signal, sign: float) -> float:
    """The largest (sign 1) or smallest (sign -1) value of a signal as it is interpolated, beside its extreme sample."""
    from scipy.optimize import minimize_scalar

    k = int(np.nanargmax(sign * signal.values))
    best = float(signal.values[k])
    times = signal.time[max(k - 1, 0) : k + 2]
    if signal.kind == "held" or times[-1] == times[0]:
        return best
    width = float(times[-1] - times[0])
    settings = {"bounds": (float(times[0]), float(times[-1])), "method": "bounded", "options": {"xatol": 1e-6 * width}}
    extreme = minimize_scalar(lambda t: -sign * signal(float(t)), **settings)
    return sign * max(sign * best, -float(extreme.fun))


def measure_signal(signal: str, measure: str, at: float = 0.0) -> Measure:
    """A measure of a run: that number of that signal.

    Args:
        at: time of the step [s].
    """
    refuse_word("measure", measure, MEASURES)
    take = MEASURES[measure]

    def read(run: Run) -> float:
        return take(run[signal], at)

    return read


def unit_of_measure(unit: str, measure: str) -> str:
    """Unit of a measure of a signal in a unit."""
    return UNITS.get(measure, unit)
