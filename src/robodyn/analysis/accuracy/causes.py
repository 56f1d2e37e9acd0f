"""Figures of a sheet and their causes: which part of an accuracy has which cause, which number spreads a cloud?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from robodyn.analysis.budget.result import REMAINDER
from robodyn.analysis.budget.split import split_deviation
from robodyn.analysis.sweeps.table import SweepTable
from robodyn.base.errors import ModelError
from robodyn.computation.results.signal import Floats
from robodyn.description.model import Scenario

UNEXPLAINED = "not explained"
Key = tuple[str, str]


@dataclass(frozen=True)
class Cause:
    """One cause and its share of a figure, in the figure's unit; shares of an accuracy add up to it."""

    name: str
    value: float


def split_accuracy(
    scenario: Scenario, signals: Sequence[str], at: Mapping[Key, tuple[float, Floats]], notes: list[str]
) -> dict[Key, tuple[Cause, ...]]:
    """Parts of deviations at times, by the error budget of the scenario, the largest first.

    Args:
        at: symbol and pose -> (time [s], deviation (3,)): parts are projected onto its direction. What the scenario
            itself, without draws, does not explain of it is the remainder.
    """
    try:
        budget = split_deviation(scenario, tuple(signals))
    except ModelError as error:
        notes.append(f"accuracy is not split by cause: {error.flaws[0]}")
        return {}
    order = [budget.signals.index(name) for name in signals]
    found = {}
    for key, (time, offset) in at.items():
        size = float(np.linalg.norm(offset))
        way = offset / size if size > 0 else np.zeros(3)
        parts = [
            Cause(
                part.name,
                float(
                    sum(
                        w * np.interp(time, budget.run.time, budget.values[k, j])
                        for w, k in zip(way, order, strict=True)
                    )
                ),
            )
            for j, part in enumerate(budget.parts)
        ]
        rest = Cause(REMAINDER, size - sum(part.value for part in parts))
        found[key] = tuple(sorted([*parts, rest], key=lambda part: -abs(part.value)))
    return found


def split_spread(table: SweepTable, cloud: Floats, figure: float) -> tuple[Cause, ...]:
    """Shares of a repeatability by each drawn number: its part of the cloud's variance, by linear regression.

    Args:
        cloud: attained positions (n, 3), or angles (n, 1); figure: what the shares are of.
    """
    names = [name for name in table.drawn if np.std(table.inputs[name]) > 0]
    total = float(((cloud - cloud.mean(axis=0)) ** 2).sum())
    if not names or total == 0 or len(names) >= len(cloud) - 2:
        return ()
    drawn = np.column_stack([(table.inputs[n] - table.inputs[n].mean()) / table.inputs[n].std() for n in names])
    slopes = np.linalg.lstsq(drawn, cloud - cloud.mean(axis=0), rcond=None)[0]
    shares = (slopes**2).sum(axis=1) * len(cloud) / total
    left = ((cloud - cloud.mean(axis=0) - drawn @ slopes) ** 2).sum() / total
    parts = [Cause(name, float(figure * share)) for name, share in zip(names, shares, strict=True)]
    return tuple(sorted([*parts, Cause(UNEXPLAINED, float(figure * left))], key=lambda part: -part.value))


@dataclass(frozen=True)
class Figure:
    """One figure: its symbol, name, formula, cycles, value in a unit, causes [same unit], and the pose it is of."""

    symbol: str
    name: str
    formula: str
    cycles: int
    value: float
    unit: str
    causes: tuple[Cause, ...] = ()
    pose: str = ""
