"""Validation: how well does a scenario predict data it has not seen? Errors by signal, in units and per cent.

By simulation: the scenario runs as long as the data, driven by measured inputs where asked, and its signals are
compared with the measured ones. By inverse dynamics: the measured motion says which efforts the model would need, and
these are compared with the measured ones; that asks nothing of start values and controllers and does not drift.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from robodyn.analysis.identification.identify import JointPrediction, plan_identification, predict_joints
from robodyn.analysis.measurement.measured import (
    SignalError,
    at_ticks,
    compare_signals,
    describe_rates,
    drive_by_data,
    last_as_long,
    match_measured,
    without,
)
from robodyn.base.errors import ModelError, refuse
from robodyn.computation.assembly import System, assemble
from robodyn.computation.results import Run
from robodyn.computation.simulation import simulate
from robodyn.description.model import Recording, Scenario


@dataclass(frozen=True, eq=False)
class Validation:
    """Errors of simulated signals, and of efforts by inverse dynamics; what was not done, and why, is in the notes."""

    JSON = """
    signals
    efforts
    notes
    """
    signals: tuple[SignalError, ...]
    efforts: tuple[JointPrediction, ...]
    notes: tuple[str, ...]
    run: Run | None


def validate(
    scenario: Scenario, data: Run, inputs: Sequence[str] = (), *, method: str = "both", cutoff: float | None = None
) -> Validation:
    """Compare a scenario with data.

    Args:
        inputs: measured signals that take the place of computed ones: see `drive_by_data`.
        method: "simulation", "inverse" for inverse dynamics, or "both": whichever can be done.
        cutoff: of the low-pass of inverse dynamics [Hz].
    """
    if method not in ("simulation", "inverse", "both"):
        refuse("method", f"must be 'simulation', 'inverse' or 'both', is {method!r}", source="validation")
    signals: tuple[SignalError, ...] = ()
    efforts: tuple[JointPrediction, ...] = ()
    run, notes, done = None, [], 0
    system = assemble(scenario)
    data = at_ticks(system, data)
    if method != "inverse":
        try:
            run = _simulate(system, data, inputs)
            signals, done = compare_signals(run, without(data, inputs)), done + 1
            notes += describe_rates(scenario, data)
            if not run.outcome.ok:
                notes.append(f"the simulation: {run.outcome.sentence}")
        except ModelError as error:
            if method == "simulation" or inputs:
                raise
            notes.append(f"not simulated: {'; '.join(map(str, error.flaws))}")
    if method != "simulation":
        try:
            plan = plan_identification(system, data, offsets=False)
            truth = plan.base.G @ plan.regressor.given
            efforts = tuple(predict_joints(plan.regressor, [plan.rows(data, cutoff)], truth, held_out=True))
            notes, done = [*notes, *plan.notes], done + 1
        except ModelError as error:
            if method == "inverse" or not done:
                raise
            notes.append(f"no inverse dynamics: {'; '.join(map(str, error.flaws))}")
    return Validation(signals, efforts, tuple(notes), run)


def _simulate(system: System, data: Run, inputs: Sequence[str]) -> Run:
    driven = assemble(drive_by_data(system.scenario, data, inputs)) if inputs else system
    units = {info.name: info.unit for info in driven.signals}
    compared = without(data, [name for name in data.names if name in inputs or name not in units])
    if not compared.names:
        refuse("signals", "none of the data is a signal of the model", source="validation")
    match_measured(compared, units)
    recording = Recording(times=tuple(data.time.tolist()), signals=compared.names)
    return simulate(driven.lasting(last_as_long(driven.scenario, data)), recording=recording)
