"""Table of runs: what came out of many runs that differ in some numbers, one row a run?"""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from robodyn.base import Array, frozen, nearest

DONE = ("finished", "stopped")
"""Outcomes of runs that are what was asked for."""
SUSPECT = "suspect"
UNSTABLE = ("not_a_number", "overflow", "diverged")
"""Outcomes of runs whose values grew beyond all bounds."""
PERCENTILES = (5.0, 25.0, 50.0, 75.0, 95.0)


@frozen(eq=False)
class Curves:
    """Signals of all runs at common places.

    Attributes:
        along: "time" or the signal the places are values of; unit: of the places.
        places: (n_points,).
        values: signal -> (n_runs, n_points), nan where a run has no value.
        units: signal -> unit.
    """

    along: str
    unit: str
    places: Array
    values: Mapping[str, Array]
    units: Mapping[str, str]

    def band(self, signal: str, percentiles: Sequence[float] = PERCENTILES) -> Array:
        """Percentiles of a signal over the runs at each place, (n_percentiles, n_points); nan where no run has one."""
        values = self.values[signal]
        band = np.full((len(percentiles), len(self.places)), np.nan)
        there = np.any(np.isfinite(values), axis=0)
        if there.any():
            band[:, there] = np.nanpercentile(values[:, there], percentiles, axis=0)
        return band


@frozen(eq=False, kw_only=True)
class RunTable:
    """A row a run.

    Attributes:
        inputs: number or start value -> its values (n_runs,).
        measures: name -> (n_runs,), nan where a run was not carried through.
        units: of inputs and measures by name.
        outcomes: kinds in lower case; sentences: why; end_time [s].
        curves: whole signals, where they were asked for.
        violated: check of the runs' certificates -> how many runs violate it; None where nobody counted.
    """

    scenario: str
    inputs: Mapping[str, Array]
    measures: Mapping[str, Array]
    units: Mapping[str, str]
    outcomes: tuple[str, ...]
    sentences: tuple[str, ...]
    end_time: Array
    curves: Curves | None = None
    violated: Mapping[str, int] | None = None

    def __repr__(self) -> str:
        failed = int((~(self.done | self.suspect)).sum())
        counts = f"{len(self)} runs, {failed} not carried through"
        return f"<{type(self).__name__} of {self.scenario}: {counts}, measures {', '.join(self.measures)}>"

    def __len__(self) -> int:
        return len(self.outcomes)

    def __getitem__(self, name: str) -> Array:
        """A column by the name of an input or a measure."""
        columns = {**self.inputs, **self.measures}
        if name not in columns:
            raise KeyError(f"there is no column '{name}' ({nearest(name, columns)})")
        return columns[name]

    @property
    def done(self) -> Array:
        """Which runs are what was asked for, (n_runs,)."""
        return np.isin(np.array(self.outcomes), DONE)

    @property
    def suspect(self) -> Array:
        """Which runs were carried through, but violate a check of their own, (n_runs,)."""
        return np.array(self.outcomes) == SUSPECT

    @property
    def unstable(self) -> Array:
        """Which runs ended since their values grew beyond all bounds, (n_runs,); limited oscillations are not seen."""
        return np.isin(np.array(self.outcomes), UNSTABLE)

    @property
    def failures(self) -> Counter[str]:
        """Kind of outcome -> how many runs ended so, of those that are not what was asked for."""
        return Counter(outcome for outcome in self.outcomes if outcome not in DONE)

    def percentiles(self, measure: str, percents: tuple[float, ...] = (0.0, 5.0, 50.0, 95.0, 100.0)) -> Array:
        """Percentiles of a measure over the runs that were carried through."""
        values = self[measure][np.isfinite(self[measure])]
        return np.percentile(values, percents) if values.size else np.full(len(percents), np.nan)

    def to_pandas(self) -> Any:
        """The table as a pandas.DataFrame with a row a run; `frame.attrs["units"]` has the units of its columns."""
        try:
            pandas = importlib.import_module("pandas")
        except ImportError as error:
            raise ImportError("to_pandas needs pandas: pip install 'robodyn[export]'", name="pandas") from error
        columns: dict[str, Any] = {**self.inputs, **self.measures, "outcome": self.outcomes, "sentence": self.sentences}
        frame = pandas.DataFrame({**columns, "end_time": self.end_time}, index=pandas.RangeIndex(len(self), name="run"))
        frame.attrs["units"] = {**self.units, "end_time": "s"}
        return frame
