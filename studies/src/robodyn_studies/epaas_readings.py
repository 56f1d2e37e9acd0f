"""EPAAS study, readings: which height and level of its steps, with or without weight, suit all of its tables?

The study prints neither the height of its steps, nor their sign, nor the level that overshoots refer to; it has the
weight in its equations and says that initial conditions are calculated "partially". Heights of both signs and every
reading are tried: the misfit of the rig is the root mean square of 22 overshoots (its four tables of steps and 18
varied runs of section 8.1), that of the robot the mean square of 12 peaks, oscillation times and overshoots, each by
what the study printed it to.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from robodyn.analysis import measure_step
from robodyn.computation.assembly import assemble
from robodyn.computation.results import Signal
from robodyn.computation.simulation import simulate_many
from robodyn.description.model import Recording, Scenario
from robodyn.presentation.studies import PublishedValue, below
from robodyn_studies import epaas_published as published
from robodyn_studies.catalog import epaas_hold, epaas_rig
from robodyn_studies.catalog.epaas import STEP_VOLTS, find_circuit
from robodyn_studies.catalog.epaas_rig import RIG_CIRCUIT, STEP_AT
from robodyn_studies.catalog.epaas_rig import STEP_VOLTS as RIG_STEP
from robodyn_studies.epaas_runs import REST, read_step

LEVELS = ("wanted", "after 60 ms", "at rest")
RIG_HEIGHTS = (0.2, 0.25, 0.3, 0.35, RIG_STEP, 0.45, 0.5, 0.6)
ROBOT_HEIGHTS = (0.22, 0.3, 0.4, STEP_VOLTS["l3"], 0.7)
PRINTED_TO = {"peak_time": 1.0, "oscillation_time": 1.0, "overshoot": 2.0}
"""Of the robot: every millisecond, and overshoots that repeat within 2 %."""
OWN = "this project's own"
MISSED = 10.0
"""Greatest misfit, such as that of a piston that sticks before a second peak."""
Numbers = Mapping[str, float]


@dataclass(frozen=True)
class Reading:
    """One of the ways to read the tables: whether the weight acts, and which level counts as 100 %."""

    weight: bool
    level: str

    @property
    def label(self) -> str:
        return f"{'with' if self.weight else 'without'} weight, level {self.level}"


def run_steps(scenario: Scenario, rows: Sequence[Numbers], signal: str) -> list[Signal]:
    """A signal of each run."""
    system = assemble(scenario)
    start = {number.name: number.value for number in system.parameters}
    names = sorted({name for row in rows for name in row})
    columns = {name: np.array([row.get(name, start[name]) for row in rows]) for name in names}
    table = simulate_many(system, columns, record=Recording(rate=20_000.0, signals=(signal,)))
    if table.curves is None:
        raise ValueError("curves were asked for")
    unit = table.curves.units[signal]
    return [Signal(signal, unit, table.curves.places, values) for values in table.curves.values[signal]]


def _level(signal: Signal, volts: float, level: str) -> float:
    begin = float(signal(STEP_AT))
    if level == "wanted":
        return begin + volts
    return float(signal(STEP_AT + 0.06)) if level == "after 60 ms" else float(signal.final)


def _rig_rows(height: float) -> list[tuple[Numbers, float, float]]:
    """Numbers, height and printed overshoot of the 22 runs."""
    numbers = epaas_rig().numbers()
    rows = []
    for (direction, mass), (simulated, _) in published.RIG_STEPS.items():
        volts = height if direction == "extend" else -height
        rows.append(({"load.mass": mass}, volts, simulated.overshoot))
    for name, varied in published.VARIATIONS.items():
        for side, overshoot in zip((-1, 1), varied.overshoot, strict=True):
            rows.append(({name: numbers[name].value * (1 + side * varied.change)}, height, overshoot))
    return [
        ({"piston.target.after": RIG_CIRCUIT.position_at(volts), **row}, volts, printed) for row, volts, printed in rows
    ]


@cache
def rig_misfits() -> dict[Reading, np.ndarray]:
    """Root mean square of the 22 overshoots' deviations [%] by reading, for each height."""
    rows = [row for height in RIG_HEIGHTS for row in _rig_rows(height)]
    found = {}
    for weight in (True, False):
        scenario = epaas_rig(duration=STEP_AT + REST, weight=weight)
        signals = run_steps(scenario, [numbers for numbers, _, _ in rows], "piston.measured.output")
        for level in LEVELS:
            off = [
                100 * measure_step(signal, STEP_AT, final=_level(signal, volts, level)).overshoot - printed
                for signal, (_, volts, printed) in zip(signals, rows, strict=True)
            ]
            found[Reading(weight, level)] = np.sqrt(np.mean(np.square(off).reshape(len(RIG_HEIGHTS), -1), axis=1))
    return found


@cache
def robot_misfits(weight: bool) -> dict[str, np.ndarray]:
    """Axis -> mean square of its three figures' deviations, by what they are printed to, for heights of both signs."""
    heights = np.array([*(-h for h in reversed(ROBOT_HEIGHTS)), *ROBOT_HEIGHTS])
    found = {}
    for axis, (simulated, _) in published.ROBOT_STEPS.items():
        circuit = find_circuit(axis)
        rows = [{f"{axis}.target.after": circuit.position_at(h), f"{axis}.target.at": STEP_AT} for h in heights]
        signals = run_steps(epaas_hold(0.11, weight=weight), rows, f"{axis}.measured.output")
        found[axis] = np.array([_misfit(*pair, simulated) for pair in zip(signals, heights, strict=True)])
    return found


def _misfit(signal: Signal, volts: float, printed: published.Step) -> float:
    response = measure_step(signal, STEP_AT, final=_level(signal, volts, "wanted"))
    if len(response.peaks) < 2:
        return MISSED**2
    read = read_step(response)
    off = np.array([(read[name] - getattr(printed, name)) / unit for name, unit in PRINTED_TO.items()])
    return float(np.mean(np.minimum(off**2, MISSED**2)))


def one_height(weight: bool) -> np.ndarray:
    """Misfit of all cylinders with a step of one height, each in its better direction, for each of the heights."""
    best = [np.minimum(m[: len(ROBOT_HEIGHTS)][::-1], m[len(ROBOT_HEIGHTS) :]) for m in robot_misfits(weight).values()]
    return np.sqrt(np.mean(best, axis=0))


def reading_figures() -> Iterator[PublishedValue]:
    """One reading for all tables of the rig, one height for all cylinders of the robot."""
    misfits = rig_misfits()
    for reading, row in misfits.items():
        k = int(np.argmin(row))
        name = f"rig_misfit_{'weight' if reading.weight else 'balanced'}_{reading.level.replace(' ', '_')}"
        reason = f"22 overshoots, {reading.label}; best of heights {RIG_HEIGHTS[0]:g} to {RIG_HEIGHTS[-1]:g} V: "
        yield PublishedValue(name, None, float(row[k]), "%", None, f"{reason}{RIG_HEIGHTS[k]:g} V", OWN)
    chosen = misfits[Reading(False, "at rest")][RIG_HEIGHTS.index(RIG_STEP)]
    others = min(row.min() for reading, row in misfits.items() if reading.weight)
    reason = (
        f"at {RIG_STEP:g} V; with the weight at best {others:.1f} %. What is left is one overshoot, 2.7 kg retracting"
    )
    yield below("rig_misfit_of_the_reading", float(chosen), min(2.0, float(others)), "%", reason, OWN)
    for weight in (True, False):
        row = one_height(weight)
        k = int(np.argmin(row))
        reason = f"12 figures, in units of what they are printed to, one height for all: {ROBOT_HEIGHTS[k]:g} V"
        name = f"robot_misfit_{'weight' if weight else 'balanced'}_one_height"
        yield PublishedValue(name, None, float(row[k]), "", None, reason, OWN)
    reason = "without weight one height suits all cylinders; L3 and L4 extend, L1 and L2 retract"
    balanced, loaded = one_height(False)[ROBOT_HEIGHTS.index(STEP_VOLTS["l3"])], one_height(True).min()
    yield below("robot_misfit_of_the_reading", float(balanced), float(loaded), "", reason, OWN)
