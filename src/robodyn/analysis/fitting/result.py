"""Fit, as a result: values with their intervals, how well signals are met, what every start led to; text and file."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from robodyn.analysis.fitting.scaling import OF_RECORDING
from robodyn.analysis.identification.result import IntervalEstimate
from robodyn.analysis.measurement.measured import SignalError
from robodyn.base.atomic import write_file
from robodyn.base.errors import Flaw, ModelError
from robodyn.base.lazy import Displayed
from robodyn.base.plain import to_plain
from robodyn.computation.results import Run
from robodyn.computation.results.signal import Floats


@dataclass(frozen=True)
class FittedParameter(IntervalEstimate):
    """One parameter, and whether it lies at a bound.

    Attributes:
        spread: largest relative difference of the estimate among the starts that found the best fit.
    """

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


@dataclass(frozen=True)
class HeldOutError:
    """The error of a signal of one recording."""

    JSON = """
    *error
    recording
    """
    error: SignalError
    recording: str


@dataclass(frozen=True, eq=False)
class Fit(Displayed):
    """The best fit of all starts.

    Attributes:
        cost: half the sum of squared residuals by the noise; best: the start it came from; agreeing: how many found it.
        correlation: of the estimates, (n, n); jacobian: "exact", or why it was taken by differences.
        doubt: why the intervals are no 95 % ones, empty where nothing speaks against them.
    """

    JSON = """
    parameters
    correlation
    signals
    held_out
    starts
    cost
    best_start = best
    agreeing_starts = agreeing
    jacobian
    doubt: why the intervals are no 95 % ones, or empty
    warnings
    """
    parameters: tuple[FittedParameter, ...]
    correlation: Floats
    signals: tuple[FittedSignal, ...]
    starts: tuple[FitStart, ...]
    cost: float
    best: int
    agreeing: int
    jacobian: str
    doubt: str
    warnings: tuple[str, ...]
    recordings: tuple[FittedRecording, ...]

    def __repr__(self) -> str:
        found = ", ".join(f"{p.name} = {p.value:.6g} ± {p.deviation:.2g}" for p in self.parameters)
        return f"<Fit: {found}; {self.agreeing} of {len(self.starts)} starts agree>"

    @property
    def values(self) -> dict[str, float]:
        """Estimates by name."""
        return {parameter.name: parameter.value for parameter in self.parameters}

    @property
    def common_values(self) -> dict[str, float]:
        """Estimates that are not of single recordings, as `Scenario.with_numbers` takes them."""
        return {name: value for name, value in self.values.items() if OF_RECORDING not in name}

    @property
    def held_out(self) -> tuple[HeldOutError, ...]:
        """Errors at samples that took no part in the fit, of all recordings."""
        return tuple(HeldOutError(error, r.label) for r in self.recordings for error in r.held_out)


ENDINGS = (".toml", ".json")


def write_fit(fit: Fit, path: str | Path) -> Path:
    """Everything that was found, in a JSON file."""
    path = Path(path)
    if path.suffix != ".json":
        raise ModelError([Flaw(str(path), "must end in .json", "`robodyn fit --out` writes a scenario as TOML")])
    write_file(path, json.dumps(to_plain(fit), indent=2) + "\n")
    return path


def describe_numbers(fit: Fit) -> str:
    """The fitted numbers and their intervals as comments of a TOML file."""
    lines = [f"# fitted to {', '.join(recording.label for recording in fit.recordings)}"]
    for p in fit.parameters:
        level = "by noise alone" if fit.doubt else "95 %"
        interval = "at its bound" if p.at_bound else f"{level}: {p.lower:.6g} .. {p.upper:.6g}"
        lines.append(f"# {p.name} = {p.value:.9g} {p.unit}".rstrip() + f", {interval}")
    return "\n".join(lines) + "\n"
