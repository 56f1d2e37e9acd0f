"""Identifiability: can these data determine these parameters? Those without effect, those not distinguished.

Symbols: J the slopes of the weighted residuals by the scaled parameters z, c its columns' lengths.

The singular values of J diag(1/c) decide: a tiny one is a combination of parameters, its singular vector, along which
the data do not change.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from robodyn.base.errors import Flaw
from robodyn.computation.results.signal import Floats

NO_EFFECT = 1e-7
"""Effect on a signal, in parts of its spread (or noise), of doubling a parameter, that is none."""
NOT_TOLD_APART = 1e-6
"""Smallest singular value, by the largest, of parameters that can be distinguished; far above rounding."""
STRONG = 0.99
"""Correlation of two estimates beyond which they are hard to tell apart."""
NAMED = 0.05
"""Share of the largest in a combination below which a parameter is no part of it."""


def find_idle(J: Floats) -> list[int]:
    """Columns of parameters without effect."""
    idle = np.linalg.norm(J, axis=0) <= NO_EFFECT * np.sqrt(max(J.shape[0], 1))
    return [int(k) for k in np.flatnonzero(idle)]


def find_unidentifiable(J: Floats, names: Sequence[str]) -> list[Flaw]:
    """A flaw for each parameter without effect and each combination along which nothing changes."""
    idle, lengths = find_idle(J), np.linalg.norm(J, axis=0)
    flaws = [Flaw(names[k], "has no effect on the data", "leave it out of free") for k in idle]
    used = np.setdiff1d(np.arange(J.shape[1]), idle)
    if used.size < 2:
        return flaws
    _, values, rows = np.linalg.svd(J[:, used] / lengths[used], full_matrices=False)
    for k in np.flatnonzero(values < NOT_TOLD_APART * values[0]):
        flaws.append(_describe_combination(rows[k] / lengths[used], [names[i] for i in used.tolist()]))
    if J.shape[0] < J.shape[1]:
        flaws.append(Flaw("", f"{J.shape[0]} samples cannot determine {J.shape[1]} parameters", "measure more"))
    return flaws


def _describe_combination(way: Floats, names: Sequence[str]) -> Flaw:
    """A direction in scaled parameters as changes in percent, the largest of them 1 %."""
    way = way / way[np.argmax(np.abs(way))]
    parts = [(name, share) for name, share in zip(names, way, strict=True) if abs(share) > NAMED]
    changes = ", ".join(f"{name} {share:+.3g} %" for name, share in parts)
    what = f"cannot be told apart: the data do not change with {changes} together"
    return Flaw(", ".join(name for name, _ in parts), what, "keep one of them fixed, or measure something else too")


def describe_correlations(correlation: Floats, names: Sequence[str]) -> list[str]:
    """A sentence for each pair of parameters whose estimates are nearly one."""
    return [
        f"{names[i]} and {names[j]} are hard to tell apart: their correlation is {correlation[i, j]:+.4f}"
        for i, j in combinations(range(len(names)), 2)
        if abs(correlation[i, j]) > STRONG
    ]
