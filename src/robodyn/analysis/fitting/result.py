"""Fit, as a result: values with their intervals, how well each signal is met, and what every start led to."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from robodyn.analysis.measurement.prediction import SignalError
from robodyn.lazy import later
from robodyn.results import Run
from robodyn.results.signal import Floats


@dataclass(frozen=True)
class FittedParameter:
    """One parameter: its estimate, standard deviation, 95 % interval, given value, and whether it lies at a bound.

    Attributes:
        spread: largest relative difference of the estimate among the starts that found the best fit.
    """

    name: str
    unit: str
    value: float
    deviation: float
    lower: float
    upper: float
    given: float
    at_bound: bool
    spread: float


@dataclass(frozen=True)
class FittedSignal:
    """How well one signal is met: root mean square of the residual, noise taken, share of the variance explained."""

    name: str
    unit: str
    samples: int
    rms: float
    noise: float
    r_squared: float


@dataclass(frozen=True)
class FitStart:
    """What one start led to: cost is half the sum of squared weighted residuals; None where it failed."""

    begin: tuple[float, ...]
    values: tuple[float, ...]
    cost: float | None
    evaluations: int
    message: str


@dataclass(frozen=True, eq=False)
class FittedRecording:
    """One recording: as measured, as simulated with the estimates at the measured times, and how well it is met.

    Attributes:
        residuals: measured minus simulated, (n_samples, n_signals), NaN where a sample takes no part.
        held_out: errors of the simulation at samples that took no part in the fit.
    """

    label: str
    measured: Run
    run: Run
    residuals: Floats
    held_out: tuple[SignalError, ...] = ()


@dataclass(frozen=True, eq=False)
class Fit:
    """The best fit of all starts.

    Attributes:
        cost: half the sum of squared residuals by the noise; best: the start it came from; agreeing: how many found it.
        correlation: of the estimates, (n, n); jacobian: "exact", or why it was taken by differences.
    """

    parameters: tuple[FittedParameter, ...]
    correlation: Floats
    signals: tuple[FittedSignal, ...]
    starts: tuple[FitStart, ...]
    cost: float
    best: int
    agreeing: int
    jacobian: str
    warnings: tuple[str, ...]
    recordings: tuple[FittedRecording, ...]

    def __repr__(self) -> str:
        found = ", ".join(f"{p.name} = {p.value:.6g} ± {p.deviation:.2g}" for p in self.parameters)
        return f"<Fit: {found}; {self.agreeing} of {len(self.starts)} starts agree>"

    _repr_html_ = later("robodyn.reporting.shown:fit_html")

    @property
    def values(self) -> dict[str, float]:
        """Estimates by name; without those of single recordings `Scenario.with_numbers` takes them."""
        return {parameter.name: parameter.value for parameter in self.parameters}

    def as_plain(self) -> dict[str, Any]:
        """Everything but the runs as dictionaries, lists, texts and numbers."""
        return {
            "parameters": [asdict(parameter) for parameter in self.parameters],
            "correlation": self.correlation.tolist(),
            "signals": [asdict(signal) for signal in self.signals],
            "held_out": [asdict(e) | {"recording": r.label} for r in self.recordings for e in r.held_out],
            "starts": [asdict(start) for start in self.starts],
            "cost": self.cost,
            "best_start": self.best,
            "agreeing_starts": self.agreeing,
            "jacobian": self.jacobian,
            "warnings": list(self.warnings),
        }
