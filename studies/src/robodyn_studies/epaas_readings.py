"""EPAAS study, readings: which height and level of its steps, with or without weight, suit all of its tables?

The study prints neither the height of its steps, nor their sign, nor the level that overshoots refer to; it has the
weight in its equations and says that initial conditions are calculated "partially". Heights of both signs and every
reading are tried, and counted is what the study printed: of the rig the 57 values of section 8.1 and the 12 of tables
7.1.2, of the robot 12 peaks, oscillation times and overshoots, each met if it is within what it was printed to.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache

import numpy as np

from robodyn.analysis import measure_step
from robodyn.computation.assembly import assemble
from robodyn.computation.results import Signal
from robodyn.computation.simulation import simulate_many
from robodyn.description.model import Recording, Scenario
from robodyn.presentation.studies import PublishedValue, above
from robodyn_studies import epaas_published as published
from robodyn_studies.catalog import epaas_hold, epaas_rig
from robodyn_studies.catalog.epaas import find_circuit
from robodyn_studies.catalog.epaas_rig import RIG_CIRCUIT, STEP_AT
from robodyn_studies.catalog.epaas_rig import STEP_VOLTS as RIG_STEP
from robodyn_studies.epaas_runs import BALANCED, LOADED, Reading, read_step

LEVELS = ("wanted", "after 60 ms", "at rest")
RIG_HEIGHTS = (0.15, 0.18, 0.2, RIG_STEP, 0.25, 0.3, 0.35, BALANCED.rig, 0.5)
ROBOT_HEIGHTS = (0.15, 0.18, 0.2, 0.22, 0.25, 0.265, 0.3, 0.35, 0.4, 0.45, 0.53, 0.6, 0.7)
QUANTITIES = ("peak_time", "oscillation_time", "overshoot")
RIG_PRINTED_TO, ROBOT_PRINTED_TO = np.array([0.5, 0.5, 2.0]), np.array([1.0, 1.0, 2.0])
"""Times [ms] as they were printed, and overshoots [%] as the study repeats its own."""
NUMBERS_8_1 = 57
"""Of section 8.1: the estimated numbers and less and more of each of nine, three quantities each."""
OWN = "this project's own"
Numbers = Mapping[str, float]


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


def read_signal(signal: Signal, volts: float, level: str) -> np.ndarray:
    """Peak and oscillation time [ms] and overshoot [%] against a level; nan where there is no peak."""
    begin = float(signal(STEP_AT))
    final = {"wanted": begin + volts, "after 60 ms": float(signal(STEP_AT + 0.06)), "at rest": float(signal.final)}
    response = measure_step(signal, STEP_AT, final=final[level])
    if not response.peaks:
        return np.full(3, np.nan)
    return np.array(list(read_step(response).values()))


def rig_rows() -> list[tuple[Numbers, int, tuple[float, ...]]]:
    """Numbers, direction and printed quantities of 23 runs: 19 of section 8.1, then the four of tables 7.1.2."""
    numbers = epaas_rig().numbers()
    rows: list[tuple[Numbers, int, tuple[float, ...]]] = [({}, 1, published.ESTIMATED)]
    for name, varied in published.VARIATIONS.items():
        for side in (0, 1):
            value = numbers[name].value * (1 + (-1, 1)[side] * varied.change)
            rows.append(({name: value}, 1, tuple(getattr(varied, quantity)[side] for quantity in QUANTITIES)))
    for (direction, mass), (simulated, _) in published.RIG_STEPS.items():
        rows.append(({"load.mass": mass}, 1 if direction == "extend" else -1, tuple(simulated)))
    return rows


@cache
def rig_values(weight: bool, height: float, level: str = "at rest") -> np.ndarray:
    """The three quantities of each of `rig_rows`, (23, 3)."""
    return np.array([read_signal(signal, volts, level) for signal, volts in _rig_signals(weight, height)])


@cache
def _rig_signals(weight: bool, height: float) -> list[tuple[Signal, float]]:
    volts = [sign * height for _, sign, _ in rig_rows()]
    steps = [
        {"piston.target.after": RIG_CIRCUIT.position_at(step), **numbers}
        for step, (numbers, _, _) in zip(volts, rig_rows(), strict=True)
    ]
    return list(zip(run_steps(epaas_rig(weight=weight), steps, "piston.measured.output"), volts, strict=True))


@cache
def rig_met(weight: bool, height: float, level: str) -> tuple[int, int]:
    """How many values of section 8.1 and of tables 7.1.2 are met."""
    printed = np.array([values for _, _, values in rig_rows()], float)
    met = np.abs(rig_values(weight, height, level) - printed) <= RIG_PRINTED_TO
    return int(met[:-4].sum()), int(met[-4:].sum())


@cache
def robot_met(weight: bool) -> dict[str, np.ndarray]:
    """Axis -> how many of its three quantities are met at heights of both signs, (2, n_heights): extending first."""
    heights = np.array([*ROBOT_HEIGHTS, *(-height for height in ROBOT_HEIGHTS)])
    met = {}
    for axis, (simulated, _) in published.ROBOT_STEPS.items():
        circuit = find_circuit(axis)
        rows = [{f"{axis}.target.after": circuit.position_at(h), f"{axis}.target.at": STEP_AT} for h in heights]
        signals = run_steps(epaas_hold(0.11, weight=weight), rows, f"{axis}.measured.output")
        values = np.array([read_signal(*pair, "wanted") for pair in zip(signals, heights, strict=True)])
        counts = (np.abs(values - np.array(simulated)) <= ROBOT_PRINTED_TO).sum(axis=1)
        met[axis] = counts.reshape(2, -1)
    return met


def reading_figures() -> Iterator[PublishedValue]:
    """Values met by each reading of the rig, and of the robot with a height for each axis and with one for all."""
    for reading in (LOADED, BALANCED):
        mark = "loaded" if reading.weight else "balanced"
        for level in LEVELS:
            counts = [sum(rig_met(reading.weight, height, level)) for height in RIG_HEIGHTS]
            best = RIG_HEIGHTS[int(np.argmax(counts))]
            name = f"rig_met_{mark}_{level.replace(' ', '_')}"
            reason = f"of 69 values of the rig, {reading.label}, level {level}: at {best:g} V, best of {len(counts)}"
            yield PublishedValue(name, None, max(counts), "values", None, reason, OWN)
    ours, other = (rig_met(reading.weight, reading.rig, "at rest") for reading in (LOADED, BALANCED))
    reason = f"of the {NUMBERS_8_1} values of section 8.1, {_rig_text(LOADED)}; {_rig_text(BALANCED)} {other[0]}"
    yield above("rig_met_8.1", ours[0], other[0], "values", reason, OWN)
    reason = f"of the 12 values of tables 7.1.2, {_rig_text(LOADED)}; {_rig_text(BALANCED)} {other[1]}"
    yield PublishedValue("rig_met_7.1.2", None, ours[1], "values", None, reason, OWN)
    for weight in (True, False):
        met = np.array(list(robot_met(weight).values()))
        label = "with the weight" if weight else "without weight"
        each, one = int(met.max(axis=(1, 2)).sum()), int(met.max(axis=1).sum(axis=0).max())
        mark = "loaded" if weight else "balanced"
        for name, value, what in (("each", each, "a height for each"), ("one", one, "one height for all")):
            reason = f"of 12 values of the cylinders of the robot, {label}, {what}, each in its better direction"
            yield PublishedValue(f"robot_met_{mark}_{name}_height", None, value, "values", None, reason, OWN)


def _rig_text(reading: Reading) -> str:
    return f"{reading.label}, {reading.rig:g} V, level at rest"
