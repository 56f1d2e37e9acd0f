"""Check of derivatives by finite differences: where blocks may jump, both are compared before derivatives are used.

Symbols: y the signals, p the parameters, e their changes, all at once and each with about the same effect.

    dy/dp e   against   (y(p + e) - y(p - e)) / 2

Quantisers count as ideal on both sides, if their laws say how: their steps would hide what is compared.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from robodyn.analysis.sensitivity.tangent import sensitivity_name
from robodyn.computation.results import Run
from robodyn.computation.results.signal import Floats
from robodyn.description.model import Recording

if TYPE_CHECKING:
    from robodyn.analysis.sensitivity.variation import Variation

SAMPLES = 401
CHANGES = (1e-3, 1e-2)
"""Relative changes of parameters: the smaller one may lie between two jumps, the larger one reaches across some."""
MOST = 10.0
"""By how much more a parameter with a small effect is changed, at most."""
AGREES = 0.05
"""Share of a signal's change up to which both agree."""
SPIKES = 0.05
"""Share of the samples that do not count: at an event that moves, a signal that jumps there has no slope."""
LEAST = 1e-7
"""Share of a signal's own changes in time below which its change by parameters is rounding."""


def find_disagreement(variation: Variation, ideal: Mapping[str, float], duration: float) -> float:
    """Largest share of a signal's change by which slopes and changes differ; infinite where a run fails."""
    recording = Recording(times=tuple(np.linspace(0.0, duration, SAMPLES).tolist()))
    base = variation.run(ideal, recording)
    slopes = {number.name: _slopes(variation, base, number.name) for number in variation.numbers}
    found = 0.0
    for change in CHANGES:
        steps = _choose_steps(variation, base, slopes, change)
        ends = [
            variation.run(dict(ideal) | {n.name: n.value + sign * steps[n.name] for n in variation.numbers}, recording)
            for sign in (1, -1)
        ]
        if any(run.time.size != base.time.size for run in ends):
            return np.inf
        expected = sum((slopes[name] * step for name, step in steps.items()), np.zeros((base.time.size, 1)))
        found = max(
            found, _compare(expected, (_values(variation, ends[0]) - _values(variation, ends[1])) / 2, base, variation)
        )
    return found


def _values(variation: Variation, run: Run) -> Floats:
    return np.column_stack([run[name].values for name in variation.signals])


def _slopes(variation: Variation, base: Run, name: str) -> Floats:
    return np.column_stack([base[sensitivity_name(signal, name)].values for signal in variation.signals])


def _choose_steps(variation: Variation, base: Run, slopes: Mapping[str, Floats], change: float) -> dict[str, float]:
    """A change of each parameter: more of those that do little."""
    spread = np.maximum(np.std(_values(variation, base), axis=0), 1e-300)
    plain = {number.name: change * (abs(number.value) or 1.0) for number in variation.numbers}
    effects = {name: float(np.max(np.std(slopes[name], axis=0) / spread)) * step for name, step in plain.items()}
    largest = max(effects.values())
    return {name: step * min(MOST, largest / max(effects[name], 1e-300)) for name, step in plain.items()}


def _compare(expected: Floats, found: Floats, base: Run, variation: Variation) -> float:
    shares = []
    spread = np.std(_values(variation, base), axis=0)
    for k in range(found.shape[1]):
        size = max(_size(expected[:, k]), _size(found[:, k]))
        if size > LEAST * spread[k]:
            shares.append(_size(expected[:, k] - found[:, k]) / size)
    return max(shares, default=0.0)


def _size(column: Floats) -> float:
    """Root mean square without the largest values."""
    kept = np.sort(np.abs(column))[: int(len(column) * (1 - SPIKES))]
    return float(np.sqrt(np.mean(kept**2)))
