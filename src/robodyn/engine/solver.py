"""Solver settings: how is a run to be integrated, with which step size, and what is to be recorded?"""

import math
from dataclasses import dataclass, fields
from functools import cache

import numpy as np

from robodyn.engine.tableaus import ESDIRK, FUSED_STEP, IMPLICIT_STEP, METHODS, PAIRS, ROSENBROCK, Method

DEFAULT_FIXED_STEP = 1e-3
RECORDING_KINDS = ("steps", "times", "none")
ADAPTIVE_ONLY = ("rtol", "atol", "max_step", "min_step")


@dataclass(frozen=True)
class Solver:
    """Settings of the integration.

    Args:
        method: one of `Solver.names()`.
        step: step of a fixed-step method [s], None is 1e-3; first step of an adaptive one, None chooses it.
        rtol, atol: an adaptive step's error in state i stays below atol * scale_i + rtol * |x_i| (root mean
            square).
        max_step: longest adaptive step [s]. min_step: shortest adaptive step [s], None is the resolution of
            time.
        max_steps: accepted and rejected steps before the run stops, None or 0 is no limit.
        max_wall_time: computing time before the run stops [s], None is no limit.
        spectral_radius: of generalised_alpha, what is left after a step of motions too fast for it: 0 damps them at
            once, near 1 hardly; 0.8 is this project's own choice.
    """

    method: str = "auto"
    step: float | None = None
    rtol: float = 1e-6
    atol: float = 1e-8
    max_step: float = math.inf
    min_step: float | None = None
    max_steps: int | None = 10_000_000
    max_wall_time: float | None = None
    spectral_radius: float = 0.8

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise ValueError(f"method: must be one of {', '.join(METHODS)}, is {self.method!r}")
        for name in ("step", "min_step", "max_wall_time"):
            _require_positive(name, getattr(self, name), may_be_none=True)
        for name in ("rtol", "atol"):
            _require_positive(name, getattr(self, name))
        if not isinstance(self.max_step, int | float) or not self.max_step > 0:
            raise ValueError(f"max_step: must be positive, is {self.max_step!r}")
        if self.min_step is not None and self.min_step > self.max_step:
            raise ValueError(f"min_step: must not be above max_step = {self.max_step:g}, is {self.min_step:g}")
        whole = isinstance(self.max_steps, int | np.integer) and not isinstance(self.max_steps, bool)
        if self.max_steps is not None and not (whole and self.max_steps >= 0):
            raise ValueError(f"max_steps: must be None or a whole number, 0 for no limit, is {self.max_steps!r}")
        radius = self.spectral_radius
        if not (isinstance(radius, int | float) and not isinstance(radius, bool) and 0 <= radius < 1):
            raise ValueError(f"spectral_radius: must be at least 0 and below 1, is {radius!r}")
        self._check_effects()

    def _check_effects(self) -> None:
        """Settings of the step control are refused where there is none; so is the damping of another method."""
        if self.spectral_radius != Solver.spectral_radius and self.method != "generalised_alpha":
            raise ValueError(f"spectral_radius: has no effect on the method {self.method}; leave it out")
        if self.adaptive:
            return
        for field in fields(self):
            if field.name in ADAPTIVE_ONLY and getattr(self, field.name) != field.default:
                raise ValueError(f"{field.name}: has no effect on the fixed-step method {self.method}; leave it out")

    @staticmethod
    def names() -> tuple[str, ...]:
        """All methods."""
        return tuple(METHODS)

    @property
    def table(self) -> Method:
        """The coefficients of the method."""
        return method_table(self.method)

    @property
    def adaptive(self) -> bool:
        """Whether the method chooses its steps by their error."""
        return bool(self.table.adaptive)

    @property
    def order(self) -> int:
        """Power of the step to which the error at a fixed time is proportional."""
        return self.table.order

    @property
    def pair(self) -> tuple[str, str] | None:
        """The explicit and the stiff method between which a run chooses, or None."""
        return PAIRS.get(self.method)

    @property
    def stiff(self) -> bool:
        """Whether the method is implicit and needs the Jacobian."""
        return self.table.family in (ROSENBROCK, ESDIRK)

    @property
    def implicit_step(self) -> bool:
        """Whether the model itself gives the equations of a step."""
        return self.table.family == IMPLICIT_STEP

    @property
    def fused_step(self) -> bool:
        """Whether the model takes the step itself."""
        return self.table.family == FUSED_STEP


@cache
def method_table(method: str) -> Method:
    """The coefficients of a method, made once."""
    return METHODS[method]()


def is_adaptive(method: str) -> bool:
    """Whether a method of this name chooses its steps by their error; False where there is none of this name."""
    return method in METHODS and bool(method_table(method).adaptive)


def _require_positive(name: str, value: float | None, may_be_none: bool = False) -> None:
    if value is None and may_be_none:
        return
    number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    if value is None or not (number and value > 0 and math.isfinite(value)):
        raise ValueError(f"{name}: must be a positive finite number, is {value!r}")


@dataclass(frozen=True)
class Recording:
    """Which instants are kept.

    Args:
        kind: "steps" keeps the start, `refine` points of every step (0: of an adaptive step as many as the polynomials
            between them need) and both sides of every jump; "times" keeps exactly `times`, each by its right limit;
            "none" keeps only the first and the last instant.
        keep_end: with "times", whether the instant at which the run ends is kept too.
    """

    kind: str = "steps"
    refine: int = 1
    times: np.ndarray | None = None
    keep_end: bool = False

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
