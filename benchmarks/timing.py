"""How long does each contender take, on a machine whose speed changes from moment to moment?"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True)
class Timings:
    """Seconds of every contender in every round, (n_rounds,) each."""

    seconds: Mapping[str, tuple[float, ...]]

    def median(self, name: str) -> float:
        """Median time of a contender [s]."""
        return median(self.seconds[name])

    def ratio(self, ours: str, rival: str) -> float:
        """Median over the rounds of ours / rival: a slow moment of the machine hits both."""
        return median(a / b for a, b in zip(self.seconds[ours], self.seconds[rival], strict=True))


def time_interleaved(contenders: Mapping[str, Callable[[], object]], rounds: int) -> Timings:
    """Run all contenders in turn, `rounds` times, in alternating order; a first round does not count."""
    names = list(contenders)
    seconds: dict[str, list[float]] = {name: [] for name in names}
    for k in range(rounds + 1):
        for name in names if k % 2 else reversed(names):
            begun = time.perf_counter()
            contenders[name]()
            elapsed = time.perf_counter() - begun
            if k > 0:
                seconds[name].append(elapsed)
    return Timings({name: tuple(values) for name, values in seconds.items()})
