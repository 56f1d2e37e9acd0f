"""Sweep table: what came out of a sweep, one row a run?"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from robodyn.analysis.sweeps.parts import Finished
from robodyn.analysis.sweeps.plan import SweepPlan
from robodyn.results.atomic import replacing
from robodyn.results.signal import Floats
from robodyn.results.table import Curves, RunTable


@dataclass(frozen=True, eq=False)
class Varied:
    """One axis of the grid: its label and unit, its places (n,), and the index of each run's place (n_runs,)."""

    label: str
    unit: str
    places: Floats
    index: np.ndarray


@dataclass(frozen=True, eq=False, kw_only=True)
class SweepTable(RunTable):
    """A row a run, in the order of the plan.

    Attributes:
        axes: of the grid; drawn: names of the numbers drawn at random.
        wall_time: time each run took [s].
        simulated: time simulated by the call that made this table [s], elapsed: how long that took [s].
    """

    axes: tuple[Varied, ...]
    drawn: tuple[str, ...]
    wall_time: Floats
    simulated: float
    elapsed: float

    @property
    def rate(self) -> float:
        """Robots times seconds simulated a second by the call that made this table, nan where it ran nothing."""
        return self.simulated / self.elapsed if self.simulated > 0 else float("nan")


def make_table(plan: SweepPlan, rows: Mapping[int, Finished], simulated: float, elapsed: float) -> SweepTable:
    """The table of a plan of which every run is finished."""
    ordered = [rows[run] for run in range(plan.n_runs)]
    axes = [Varied(axis.label, axis.unit, np.array(axis.places), plan.points[:, k]) for k, axis in enumerate(plan.axes)]
    taken = np.array([row.measures for row in ordered]).reshape(len(ordered), len(plan.measures))
    return SweepTable(
        scenario=plan.scenario.name,
        axes=tuple(axes),
        drawn=tuple(name for draw in plan.draws for name in draw.names),
        inputs={name: plan.inputs[:, k] for k, name in enumerate(plan.names)},
        measures={measure.name: taken[:, k] for k, measure in enumerate(plan.measures)},
        units={name: plan.units[name] for name in plan.names} | {m.name: m.unit for m in plan.measures},
        outcomes=tuple(row.outcome for row in ordered),
        sentences=tuple(row.sentence for row in ordered),
        end_time=np.array([row.time for row in ordered]),
        wall_time=np.array([row.wall_time for row in ordered]),
        curves=_collect_curves(plan, ordered) if plan.keep else None,
        simulated=simulated,
        elapsed=elapsed,
    )


def _collect_curves(plan: SweepPlan, rows: list[Finished]) -> Curves:
    return Curves(
        along=plan.along or "time",
        unit=plan.units[plan.along] if plan.along else "s",
        places=np.array(plan.places),
        values={name: np.array([row.curves[name] for row in rows]) for name in plan.keep},
        units={name: plan.units[name] for name in plan.keep},
    )


def write_table(table: SweepTable, folder: Path) -> None:
    """Write `table.parquet`, and `curves.parquet` (a row a run, a list of values a signal) where curves were kept."""
    columns: dict[str, tuple[Any, str]] = {"run": (np.arange(len(table)), "")}
    columns |= {name: (values, table.units[name]) for name, values in table.inputs.items()}
    columns |= {"outcome": (list(table.outcomes), ""), "sentence": (list(table.sentences), "")}
    columns |= {"end_time": (table.end_time, "s"), "wall_time": (table.wall_time, "s")}
    columns |= {name: (values, table.units[name]) for name, values in table.measures.items()}
    _write(folder / "table.parquet", columns, {"scenario": table.scenario})
    if table.curves is not None:
        curves = table.curves
        rows = {name: (list(values), curves.units[name]) for name, values in curves.values.items()}
        about = {"along": curves.along, "unit": curves.unit, "places": curves.places.tolist()}
        _write(folder / "curves.parquet", {"run": (np.arange(len(table)), ""), **rows}, about)


def _write(path: Path, columns: Mapping[str, tuple[Any, str]], about: Mapping[str, Any]) -> None:
    """A Parquet file whose columns carry their units, and its schema what else is to be known."""
    import pyarrow
    import pyarrow.parquet

    arrays = [pyarrow.array(values) for values, _ in columns.values()]
    fields = [
        pyarrow.field(name, array.type, metadata={"unit": unit})
        for (name, (_, unit)), array in zip(columns.items(), arrays, strict=True)
    ]
    schema = pyarrow.schema(fields, metadata={"robodyn": json.dumps(about)})
    with replacing(path) as draft:
        pyarrow.parquet.write_table(pyarrow.table(arrays, schema=schema), draft)
