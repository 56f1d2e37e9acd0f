"""Uncertainty of a sweep's robots: the share that keeps a limit, and the numbers that cause the spread."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from robodyn.base import Array, FlawList, frozen, nearest, refuse
from robodyn.computation.assembly import System
from robodyn.computation.results.table import RunTable
from robodyn.computation.simulation import CompiledSystem
from robodyn.computation.simulation.many import simulate_many

from .table import SweepTable
from .variation import Distribution, make_draws

# --------------------------------------------------------------------------------------------------
# Yield: which share of the robots stays within a limit, how sure is that, and which numbers break it?
#
# The interval is that of Clopper and Pearson (1934), for independent draws: it holds the true share with at least the
# stated confidence. For draws that fill the space evenly it is usually wider than need be.


CONFIDENCE = 0.95
SIGNIFICANCE = 0.01
"""Chance that a number which has no influence is named as one that breaks the limit, of all numbers together."""


@frozen
class Breaking:
    """A number whose values differ between robots that keep the limit and those that do not.

    Attributes:
        distance: of Kolmogorov and Smirnov between the two distributions, 0 (the same) to 1 (apart).
        kept, broken: medians of the two.
    """

    name: str
    unit: str
    distance: float
    kept: float
    broken: float


@frozen
class Yield:
    """Share of the runs whose measure is at most a limit; runs that failed or are suspect do not count as such.

    Attributes:
        lower, upper: between which the true share lies with the stated confidence.
        good: runs within the limit, of `runs`; unusable: failed or suspect ones.
        breaking: numbers that decide, the strongest first.
    """

    JSON = """
    measure
    limit
    unit
    confidence
    runs
    good
    unusable
    lower
    upper
    breaking
    share
    """
    measure: str
    limit: float
    unit: str
    confidence: float
    runs: int
    good: int
    unusable: int
    lower: float
    upper: float
    breaking: tuple[Breaking, ...]

    @property
    def share(self) -> float:
        """Part of the runs that are good, 0 to 1."""
        return self.good / self.runs

    @property
    def sentence(self) -> str:
        """The answer, for its reader."""
        ends = f"{100 * self.lower:.4g} to {100 * self.upper:.4g} % with {100 * self.confidence:g} % confidence"
        said = f"{100 * self.share:.4g} % of {self.runs} runs keep {self.measure} within {self.limit:.5g} {self.unit}"
        said = f"{said.rstrip()} ({ends})"
        return said + (f"; {self.unusable} failed or are suspect" if self.unusable else "")


def find_yield(table: RunTable, measure: str, limit: float, confidence: float = CONFIDENCE) -> Yield:
    """The share of a table's runs that keep a measure within a limit, in the measure's unit.

    Raises:
        ModelError: where the table has no such measure, or the numbers make no sense.
    """
    flaws = FlawList()
    if measure not in table.measures:
        flaws.add("limit", f"there is no measure '{measure}'", nearest(measure, table.measures))
    if isinstance(table, SweepTable):
        check_drawn(flaws, table.drawn, [len(axis.places) for axis in table.axes])
    if not np.isfinite(limit):
        flaws.add("limit", f"must be a number, is {limit}")
    if not 0 < confidence < 1:
        flaws.add("confidence", f"must be between 0 and 1, is {confidence:g}")
    flaws.raise_if_any("yield")
    from scipy.stats import binomtest

    with np.errstate(invalid="ignore"):
        good = table.done & (table[measure] <= limit)
    count, runs = int(good.sum()), len(table)
    interval = binomtest(count, runs).proportion_ci(confidence, method="exact")
    return Yield(
        measure=measure,
        limit=limit,
        unit=table.units[measure],
        confidence=confidence,
        runs=runs,
        good=count,
        unusable=int((~table.done).sum()),
        lower=float(interval.low),
        upper=float(interval.high),
        breaking=find_breaking(table, good),
    )


def find_breaking(table: RunTable, good: Array) -> tuple[Breaking, ...]:
    """Numbers whose values in good and in other runs are not from one distribution, by more than chance."""
    from scipy.stats import ks_2samp

    changing = {name: values for name, values in table.inputs.items() if np.ptp(values) > 0}
    if good.all() or not good.any():
        return ()
    breaking = []
    for name, values in changing.items():
        test = ks_2samp(values[good], values[~good])
        if test.pvalue < SIGNIFICANCE / len(changing):
            medians = float(np.median(values[good])), float(np.median(values[~good]))
            breaking.append(Breaking(name, table.units[name], float(test.statistic), *medians))
    return tuple(sorted(breaking, key=lambda one: -one.distance))


def check_drawn(flaws: FlawList, drawn: Sequence[str], places: Sequence[int]) -> None:
    """Only draws, at one place of a grid, stand for robots."""
    if not drawn or any(count > 1 for count in places):
        what = "a share of grid points is not a share of robots"
        flaws.add("limit", what, "draw the uncertain parameters at random, at a single point of the grid")


# --------------------------------------------------------------------------------------------------
# Variance-based indices (Sobol, 2001): which part of the spread of a measure does each uncertain number cause?
#
# Sample of Saltelli et al. (2010) and estimates with bootstrapped intervals by SALib; runs by `simulate_many`.


POINTS, SEED = 512, 1


@frozen
class Index:
    """The share of a measure's variance that one number causes, or several that are drawn together.

    Attributes:
        first: by itself; total: with all that it does together with others; each with half of its interval.
    """

    name: str
    first: float
    first_interval: float
    total: float
    total_interval: float


def find_indices(
    what: System | CompiledSystem,
    random: Mapping[str, Distribution],
    measures: Sequence[str],
    *,
    points: int = POINTS,
) -> tuple[Mapping[str, tuple[Index, ...]], RunTable]:
    """Indices of each measure, the largest total first, and the table of all runs: points x (numbers + 2) of them.

    Args:
        random: tunable number, list or pattern -> distribution, as in `plan_sweep`.
        points: a power of 2.

    Raises:
        ModelError: with every problem, or where a run failed or is suspect: the sums need them all.
    """
    sampler, analyser = (_load(name) for name in ("SALib.sample.sobol", "SALib.analyze.sobol"))
    system = what.system if isinstance(what, CompiledSystem) else what
    flaws = FlawList()
    draws = make_draws(flaws, random, {number.name: number for number in system.parameters})
    if not random:
        flaws.add("random", "nothing is drawn", "name numbers and their distributions")
    if points < 2 or points & (points - 1):
        flaws.add("points", f"must be a power of 2, is {points}")
    flaws.raise_if_any(f"indices of '{system.scenario.name}'")
    names = [draw.label for draw in draws]
    problem = {"num_vars": len(names), "names": names, "bounds": [[0.0, 1.0]] * len(names)}
    shares = np.clip(sampler.sample(problem, points, calc_second_order=False, seed=SEED), 1e-12, 1 - 1e-12)
    values: dict[str, Array] = {}
    for k, draw in enumerate(draws):
        values |= dict(zip(draw.names, draw.place(shares[:, k]).T, strict=True))
    table = simulate_many(what, values, measures=measures)
    if table.failures:
        first = int(np.argmin(table.done))
        count = sum(table.failures.values())
        failed = f"{count} of {len(table)} runs cannot be used, the first is {first}: {table.sentences[first]}"
        refuse("random", failed, "narrow the distributions to what the machine can do", "indices")
    settings = {"calc_second_order": False, "conf_level": CONFIDENCE, "seed": SEED}
    found = {}
    for name, y in table.measures.items():
        indices = analyser.analyze(problem, y, **settings)
        columns = (indices[key].tolist() for key in ("S1", "S1_conf", "ST", "ST_conf"))
        found[name] = tuple(sorted(map(Index, names, *columns), key=lambda index: -index.total))
    return found, table


def _load(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ImportError("variance-based indices need SALib: pip install 'robodyn[indices]'", name="SALib") from error
