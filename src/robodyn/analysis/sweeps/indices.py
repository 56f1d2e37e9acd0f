"""Variance-based indices (Sobol, 2001): which part of the spread of a measure does each uncertain number cause?

Sample of Saltelli et al. (2010) and estimates with bootstrapped intervals by SALib; runs by `simulate_many`.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from robodyn.analysis.sweeps.variation import Distribution, Draw, make_draws
from robodyn.base.errors import Flaw, FlawList, ModelError
from robodyn.computation.assembly import System
from robodyn.computation.results.table import RunTable
from robodyn.computation.simulation import CompiledSystem
from robodyn.computation.simulation.many import simulate_many

POINTS, SEED, CONFIDENCE = 512, 1, 0.95


@dataclass(frozen=True)
class Index:
    """What one number, or several that are drawn together, cause of a measure's variance.

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
    seed: int = SEED,
    threads: int | None = None,
) -> tuple[Mapping[str, tuple[Index, ...]], RunTable]:
    """Indices of each measure, the largest total first, and the table of all runs: points x (numbers + 2) of them.

    Args:
        random: tunable number, list or pattern -> distribution, as in `plan_sweep`.
        points: a power of 2.

    Raises:
        ModelError: with every problem, or where a run failed or is suspect: the sums need them all.
    """
    sampler, analyser = (_load(name) for name in ("SALib.sample.sobol", "SALib.analyze.sobol"))
    draws = _make_draws(what.system if isinstance(what, CompiledSystem) else what, random, points)
    names = [draw.label for draw in draws]
    problem = {"num_vars": len(names), "names": names, "bounds": [[0.0, 1.0]] * len(names)}
    shares = np.clip(sampler.sample(problem, points, calc_second_order=False, seed=seed), 1e-12, 1 - 1e-12)
    values: dict[str, np.ndarray] = {}
    for k, draw in enumerate(draws):
        values |= dict(zip(draw.names, draw.place(shares[:, k]).T, strict=True))
    table = simulate_many(what, values, measures=measures, threads=threads)
    if table.failures:
        first = int(np.argmin(table.done))
        count = sum(table.failures.values())
        failed = f"{count} of {len(table)} runs cannot be used, the first is {first}: {table.sentences[first]}"
        raise ModelError([Flaw("random", failed, "draw within what the machine can do")], "indices")
    settings = {"calc_second_order": False, "conf_level": CONFIDENCE, "seed": seed}
    return {name: _read(analyser.analyze(problem, y, **settings), names) for name, y in table.measures.items()}, table


def _make_draws(system: System, random: Mapping[str, Distribution], points: int) -> list[Draw]:
    flaws = FlawList()
    draws = make_draws(flaws, random, {number.name: number for number in system.parameters})
    if not random:
        flaws.add("random", "nothing is drawn", "name numbers and their distributions")
    if points < 2 or points & (points - 1):
        flaws.add("points", f"must be a power of 2, is {points}")
    flaws.raise_if_any(f"indices of '{system.scenario.name}'")
    return draws


def _load(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ImportError("variance-based indices need SALib: pip install 'robodyn[indices]'", name="SALib") from error


def _read(found: Mapping[str, np.ndarray], names: Sequence[str]) -> tuple[Index, ...]:
    columns = (found[key].tolist() for key in ("S1", "S1_conf", "ST", "ST_conf"))
    indices = [Index(*row) for row in zip(names, *columns, strict=True)]
    return tuple(sorted(indices, key=lambda one: -one.total))
