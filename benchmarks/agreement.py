"""Do two contenders compute the same thing?"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np


class Disagreement(Exception):
    """Two contenders do not compute the same thing, so that their times must not be compared."""


def largest_difference(pairs: Iterable[tuple[np.ndarray, np.ndarray]]) -> float:
    """Largest |a - b| over the pairs, relative to the largest |b| of each pair."""
    return max(float(np.max(np.abs(a - b)) / np.max(np.abs(b))) for a, b in pairs)


def require_agreement(what: str, difference: float, tolerance: float) -> str:
    """A sentence on the agreement, or Disagreement."""
    if not difference <= tolerance:
        raise Disagreement(f"{what} differ by {difference:.2g}, allowed are {tolerance:.0e}")
    return f"{what} agree to {difference:.1e} (relative; {tolerance:.0e} required)"
