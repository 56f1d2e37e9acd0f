"""Method tables by name, and the recording of a run: which instants are kept?"""

from functools import cache

import numpy as np

from robodyn.engine.tableaus import METHODS, Method
from robodyn.records import dataclass

DEFAULT_FIXED_STEP = 1e-3
RECORDING_KINDS = ("steps", "times", "none")


@cache
def method_table(method: str) -> Method:
    """The coefficients of a method, made once."""
    return METHODS[method]()


def method_number(method: str) -> int:
    """The place of a method among all."""
    return list(METHODS).index(method)


@dataclass(frozen=True)
class Recording:
    """Which instants are kept.

    Args:
        kind: "steps" keeps the start, `refine` points of every step (0: of an adaptive step as many as the polynomials
            between them need) and both sides of every jump; "times" keeps exactly `times`, each by its right limit;
            "none" keeps only the first and the last instant.
        keep_end: with "times", whether the instant at which the run ends is kept too.
        watch_steps: with "times", whether the last of what is watched is looked at in every step too.
    """

    kind: str = "steps"
    refine: int = 1
    times: np.ndarray | None = None
    keep_end: bool = False
    watch_steps: bool = False

    def __post_init__(self) -> None:
        if self.kind not in RECORDING_KINDS:
            raise ValueError(f"kind: must be one of {', '.join(RECORDING_KINDS)}, is {self.kind!r}")
        if not (isinstance(self.refine, int | np.integer) and self.refine >= 0):
            raise ValueError(f"refine: must be a whole number of at least 0, is {self.refine!r}")
        if (self.kind == "times") != (self.times is not None):
            raise ValueError('times: must be given with kind="times" and only then')
        if self.keep_end and self.kind != "times":
            raise ValueError('keep_end: has an effect only with kind="times"')
        if self.times is not None:
            self._check_times()

    def _check_times(self) -> None:
        times = np.asarray(self.times, dtype=float)
        if times.ndim != 1 or not np.all(np.isfinite(times)) or np.any(np.diff(times) < 0):
            raise ValueError("times: must be finite, ascending and one-dimensional")
