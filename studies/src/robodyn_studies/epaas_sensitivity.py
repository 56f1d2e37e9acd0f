"""EPAAS study: which parameters of the rig matter? (section 8.1, tables 1 to 9)

The step's height is not printed. At 0.22 V, against the wanted level, the 18 varied overshoots of the study come out
within 1.3 % in the mean square; so its tables are redone with that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache

from robodyn.analysis import SensitivityTable, measure_step, rank_parameters
from robodyn.results import Run
from robodyn.studies import Kind, PublishedValue, below
from robodyn_studies import epaas_published as published
from robodyn_studies.catalog import epaas_rig
from robodyn_studies.catalog.epaas_rig import STEP_AT
from robodyn_studies.epaas_runs import read_step, unexplained

VOLTS = 0.22
QUANTITIES = {"peak_time": "ms", "oscillation_time": "ms", "overshoot": "%"}
SHORT = {
    "piston.control.gain": "gain",
    "piston.measured.time": "measuring_delay",
    "piston.late.time": "valve_delay",
    "piston.valve.natural_frequency": "valve_frequency",
    "piston.valve.damping": "valve_damping",
    "piston.friction.viscous": "viscous_friction",
    "piston.actuator.leakage": "leakage",
    "piston.actuator.oil_compliance": "oil_compliance",
    "load.mass": "mass",
}
SMALL = 1e-3
UNRESOLVED = (
    "the study's two times differ by no more than the 0.5 ms it printed them to: only that little changes is shown"
)
DOMINANT = {"gain", "oil_compliance", "mass"}
SENSITIVITY_GAPS = {
    "peak_time_valve_damping": "printed are the very times of the table of the valve delay: perhaps a slip",
    "overshoot_valve_damping": "printed are the very overshoots of the table of the measuring delay: perhaps a slip",
    "overshoot_oil_compliance": "with 25 % more ours overshoots 50 %, the study's 48 %: its final level is not printed",
    "overshoot_mass": "with 25 % more ours overshoots 53 %, the study's 50 %: its final level is not printed",
}


def _reader(quantity: str) -> Callable[[Run], float]:
    def read(run: Run) -> float:
        signal = run["piston.measured.output"]
        return read_step(measure_step(signal, STEP_AT, final=signal(STEP_AT) + VOLTS))[quantity]

    return read


@cache
def sensitivities(small: bool = False) -> SensitivityTable:
    """Exact slopes and finite changes, as large as the study's or a thousandth."""
    changes = {name: SMALL if small else varied.change for name, varied in published.VARIATIONS.items()}
    measures = {quantity: _reader(quantity) for quantity in QUANTITIES}
    return rank_parameters(epaas_rig(VOLTS), measures, list(published.VARIATIONS), change=changes)


def sensitivity_figures() -> Iterator[PublishedValue]:
    """Change of each quantity per percent of each parameter, by the study's finite changes."""
    found = {(row.measure, row.parameter): row.finite_per_percent for row in sensitivities().rows}
    for table, (parameter, varied) in enumerate(published.VARIATIONS.items(), start=1):
        for quantity, unit in QUANTITIES.items():
            less, more = getattr(varied, quantity)
            percent = 200 * varied.change
            value = found[quantity, parameter]
            if value is None:
                raise ValueError(f"{parameter}: no finite change was made")
            name = f"{quantity}_{SHORT[parameter]}"
            where = (f"{unit} per %", f"table 8.1 {table}")
            yield _figure(name, (more - less) / percent, value, *where, percent)
    yield from _local_figures()


def _figure(name: str, printed: float, value: float, unit: str, source: str, percent: float) -> PublishedValue:
    """The study's own two runs over the change: times at 0.5 ms, overshoots repeated within 2 %."""
    full = f"sensitivity_{name}"
    if name in SENSITIVITY_GAPS:
        return unexplained(full, printed, value, unit, SENSITIVITY_GAPS[name], source)
    slack = (2.0 if name.startswith("overshoot") else 0.5) / percent
    reason = f"ours at {VOLTS:g} V, chosen as the nearest; expected is from the study's own two runs, "
    reason += "whose overshoots repeat within 2 %" if name.startswith("overshoot") else "printed every 0.5 ms"
    if name == "overshoot_gain":
        reason += "; it prints 0.54, having divided by 50 % what changed over 20 %"
    fitted = f"height of the step, {VOLTS:g} V" if name == "overshoot_gain" else ""
    wide = UNRESOLVED if slack >= abs(printed) and not fitted else ""
    kind = Kind.INPUT if fitted else Kind.RESULT
    return PublishedValue(full, printed, value, unit, slack, reason, source, kind, wide=wide, fitted=fitted)


def _local_figures() -> Iterator[PublishedValue]:
    """Exact derivatives against changes of a thousandth, and the study's conclusion."""
    rows = sensitivities(small=True).rows
    sizes = {quantity: max(row.weight for row in rows if row.measure == quantity) for quantity in QUANTITIES}
    apart = max(
        abs(row.per_percent - row.finite_per_percent) / sizes[row.measure]
        for row in rows
        if row.per_percent is not None and row.finite_per_percent is not None
    )
    count = sum(row.per_percent is not None for row in rows)
    reason = f"{count} exact slopes against changes by 0.1 %, by the largest of each quantity; runs at tolerance 1e-6"
    yield below("sensitivity_exact_against_small_changes", apart, 0.02, "relative", reason, "own")
    leading = [SHORT[row.parameter] for row in sensitivities().of("overshoot")[:3]]
    reason = f"largest exact slopes of the overshoot: {', '.join(leading)}"
    same = set(leading) == DOMINANT
    yield PublishedValue(
        "sensitivity_dominant_parameters",
        None,
        None,
        "",
        None,
        reason,
        "section 8.1, conclusion",
        Kind.RESULT,
        holds=same,
    )
