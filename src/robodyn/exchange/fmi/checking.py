"""Verification of a co-simulation FMU: does it compute what the simulation does, at the same communication points?"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np

from robodyn.computation.simulation.compiled import CompiledSystem
from robodyn.exchange.codegen.comparison import Agreement, choose_times, compare_points, simulate_points
from robodyn.exchange.codegen.model import Model
from robodyn.exchange.fmi.unit import FmuUnit


def compare_unit(path: str | Path, model: Model, compiled: CompiledSystem) -> Agreement:
    """Run a unit and the simulation it was made from over the scenario's duration."""
    times = choose_times(model.system)
    with FmuUnit(path, stop=times[-1]) as unit:
        found, ended = _run_unit(unit, times)
    return compare_points(simulate_points(model, compiled, times), found, list(unit.outputs), times, ended)


def _run_unit(unit: FmuUnit, times: np.ndarray) -> tuple[np.ndarray, bool]:
    """Outputs at the communication points, and whether the unit ended before the last."""
    unit.start(float(times[0]))
    rows = [list(unit.read().values())]
    for before, after in pairwise(times.tolist()):
        if unit.advance(before, _step_between(before, after)) is not None:
            return np.array(rows), True
        rows.append(list(unit.read().values()))
    return np.array(rows), False


def _step_between(before: float, after: float) -> float:
    """The step with which `before + step` is `after` to the last digit."""
    step = after - before
    near = (step, np.nextafter(step, np.inf), np.nextafter(step, -np.inf))
    return next((float(h) for h in near if before + h == after), step)
