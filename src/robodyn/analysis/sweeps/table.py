"""Sweep table: what came out of a sweep, one row a run, and what is that in words?"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from robodyn.base import Array, Displayed, frozen, refuse, replacing
from robodyn.computation.results.table import Curves, RunTable
from robodyn.computation.simulation.many import PART_OF_MEMORY, memory_size

from .folder import SweepRow
from .plan import SweepPlan

PIECE = 10_000
"""Rows that are written at once."""


@frozen(eq=False)
class Varied:
    """One axis of the grid: its label and unit, its places (n,), and the index of each run's place (n_runs,)."""

    label: str
    unit: str
    places: Array
    index: Array


@frozen(eq=False, kw_only=True)
class SweepTable(RunTable, Displayed):
    """A row a run, in the order of the plan.

    Attributes:
        axes: of the grid; drawn: names of the numbers drawn at random.
        wall_time: time each run took [s].
        simulated: time simulated by the call that made this table [s], elapsed: how long that took [s].
    """

    JSON = """
    scenario
    runs = count
    carried_through
    failures: runs by outcome
    percentiles = spreads
    simulated: [s]
    elapsed: [s]
    robots_seconds_per_second = rate
    """
    axes: tuple[Varied, ...]
    drawn: tuple[str, ...]
    wall_time: Array
    simulated: float
    elapsed: float

    @classmethod
    def of(cls, runs: RunTable) -> SweepTable:
        """Any table of runs as one of a sweep: over the grid of its inputs, or of draws where they form none."""
        if isinstance(runs, cls):
            return runs
        changing = {name: values for name, values in runs.inputs.items() if np.ptp(values) > 0}
        axes = []
        for name, values in changing.items():
            places, index = np.unique(values, return_inverse=True)
            axes.append(Varied(name, runs.units[name], places, index))
        grid = len(axes) == 1 or math.prod(len(axis.places) for axis in axes) == len(runs)
        return cls(
            **vars(runs),
            axes=tuple(axes) if grid else (),
            drawn=() if grid else tuple(changing),
            wall_time=np.full(len(runs), np.nan),
            simulated=0.0,
            elapsed=0.0,
        )

    @property
    def count(self) -> int:
        """How many runs there are."""
        return len(self)

    @property
    def carried_through(self) -> int:
        """How many of them have a result, believed or not."""
        return int((self.done | self.suspect).sum())

    @property
    def spreads(self) -> dict[str, dict[str, float | str]]:
        """Percentiles of every measure, and its unit."""
        percents = (0.0, 5.0, 50.0, 95.0, 100.0)
        spreads: dict[str, dict[str, float | str]] = {}
        for name in self.measures:
            values = self.percentiles(name, percents).tolist()
            spreads[name] = {**dict(zip(map(str, percents), values, strict=True)), "unit": self.units[name]}
        return spreads

    @property
    def rate(self) -> float:
        """Robots times seconds simulated a second by the call that made this table, nan where it ran nothing."""
        return self.simulated / self.elapsed if self.simulated > 0 else float("nan")


class SweepRows:
    """Results of the runs so far, as columns: all the memory that a sweep needs, taken before its first run.

    Attributes:
        outcomes: of each run, None where it has not been carried out.
    """

    def __init__(self, plan: SweepPlan) -> None:
        count, n_places = plan.n_runs, len(plan.keep) * len(plan.places)
        size = 8.0 * count * n_places
        most = PART_OF_MEMORY * memory_size()
        if size > most:
            what = f"curves of {len(plan.keep)} signals at {len(plan.places)} places of {plan.n_runs} runs take "
            remedy = f"at most {most / 2**30:.3g} GB are kept here: name fewer signals or points, or use measures"
            refuse("keep", f"{what}{size / 2**30:.3g} GB", remedy, f"sweep of '{plan.scenario.name}'")
        self.plan = plan
        self.outcomes: list[str | None] = [None] * count
        self.sentences = [""] * count
        self.end_time, self.wall_time = np.zeros(count), np.zeros(count)
        self.measures = np.full((count, len(plan.measures)), np.nan)
        self.curves = {name: np.full((count, len(plan.places)), np.nan) for name in plan.keep}

    def add(self, row: SweepRow) -> None:
        """Put a run into its row."""
        k = row.run
        self.outcomes[k], self.sentences[k] = sys.intern(row.outcome), sys.intern(row.sentence)
        self.end_time[k], self.wall_time[k], self.measures[k] = row.time, row.wall_time, row.measures
        for name, values in row.curves.items():
            self.curves[name][k] = values

    @property
    def missing(self) -> list[int]:
        """Runs that have not been carried out."""
        return [k for k, outcome in enumerate(self.outcomes) if outcome is None]


def make_table(rows: SweepRows, simulated: float, elapsed: float) -> SweepTable:
    """The table of a plan of which every run is finished."""
    plan = rows.plan
    axes = [Varied(axis.label, axis.unit, np.array(axis.places), plan.points[:, k]) for k, axis in enumerate(plan.axes)]
    return SweepTable(
        scenario=plan.scenario.name,
        axes=tuple(axes),
        drawn=tuple(name for draw in plan.draws for name in draw.names),
        inputs={name: plan.inputs[:, k] for k, name in enumerate(plan.names)},
        measures={measure.name: rows.measures[:, k] for k, measure in enumerate(plan.measures)},
        units={name: plan.units[name] for name in plan.names} | {m.name: m.unit for m in plan.measures},
        outcomes=tuple(outcome for outcome in rows.outcomes if outcome is not None),
        sentences=tuple(rows.sentences),
        end_time=rows.end_time,
        wall_time=rows.wall_time,
        curves=_name_curves(plan, rows.curves) if plan.keep else None,
        simulated=simulated,
        elapsed=elapsed,
    )


def _name_curves(plan: SweepPlan, values: Mapping[str, Array]) -> Curves:
    return Curves(
        along=plan.along or "time",
        unit=plan.units[plan.along] if plan.along else "s",
        places=np.array(plan.places),
        values=values,
        units={name: plan.units[name] for name in plan.keep},
    )


def write_table(table: SweepTable, folder: Path) -> None:
    """Write `table.parquet`, and `curves.parquet` (a row a run, a list of values a signal) where curves were kept."""
    columns: dict[str, tuple[Any, str]] = {"run": (np.arange(len(table)), "")}
    columns |= {name: (values, table.units[name]) for name, values in table.inputs.items()}
    columns |= {"outcome": (table.outcomes, ""), "sentence": (table.sentences, "")}
    columns |= {"end_time": (table.end_time, "s"), "wall_time": (table.wall_time, "s")}
    columns |= {name: (values, table.units[name]) for name, values in table.measures.items()}
    _write(folder / "table.parquet", columns, {"scenario": table.scenario})
    if table.curves is not None:
        curves = table.curves
        rows = {name: (values, curves.units[name]) for name, values in curves.values.items()}
        about = {"along": curves.along, "unit": curves.unit, "places": curves.places.tolist()}
        _write(folder / "curves.parquet", {"run": (np.arange(len(table)), ""), **rows}, about)


def _write(path: Path, columns: Mapping[str, tuple[Any, str]], about: Mapping[str, Any]) -> None:
    """A Parquet file whose columns carry their units, and its schema what else is to be known; piece by piece."""
    import pyarrow
    import pyarrow.parquet

    def piece(begin: int) -> list[Any]:
        cut = [values[begin : begin + PIECE] for values, _ in columns.values()]
        return [pyarrow.array(list(values) if np.ndim(values) == 2 else values) for values in cut]

    fields = [
        pyarrow.field(name, array.type, metadata={"unit": unit})
        for (name, (_, unit)), array in zip(columns.items(), piece(0), strict=True)
    ]
    schema = pyarrow.schema(fields, metadata={"robodyn": json.dumps(about)})
    count = len(columns["run"][0])
    with replacing(path) as draft, pyarrow.parquet.ParquetWriter(draft, schema) as file:
        for begin in range(0, count, PIECE):
            file.write_table(pyarrow.table(piece(begin), schema=schema))
