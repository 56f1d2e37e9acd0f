"""Fit, as a result: values with their intervals, how well signals are met, what every start led to; text and file."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from robodyn.analysis.fitting.scaling import OF_RECORDING
from robodyn.analysis.identification.result import IntervalEstimate, interval_heading
from robodyn.analysis.measurement.measured import SignalError
from robodyn.base.atomic import write_file
from robodyn.base.errors import Flaw, ModelError
from robodyn.base.lazy import later
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


@dataclass(frozen=True, eq=False)
class Fit:
    """The best fit of all starts.

    Attributes:
        cost: half the sum of squared residuals by the noise; best: the start it came from; agreeing: how many found it.
        correlation: of the estimates, (n, n); jacobian: "exact", or why it was taken by differences.
        doubt: why the intervals are no 95 % ones, empty where nothing speaks against them.
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

    _repr_html_ = later("robodyn.presentation.reporting.shown:fit_html")

    @property
    def values(self) -> dict[str, float]:
        """Estimates by name."""
        return {parameter.name: parameter.value for parameter in self.parameters}

    @property
    def common_values(self) -> dict[str, float]:
        """Estimates that are not of single recordings, as `Scenario.with_numbers` takes them."""
        return {name: value for name, value in self.values.items() if OF_RECORDING not in name}

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
            "doubt": self.doubt,
            "warnings": list(self.warnings),
        }


ENDINGS = (".toml", ".json")


def describe_fit(fit: Fit) -> str:
    """Values, intervals, correlations, signals, starts and warnings as text."""
    heading = interval_heading(fit.doubt)
    lines = [f"{'parameter':<36} {'value':>12} {heading:>27} {'given':>12}  unit"]
    for p in fit.parameters:
        interval = f"{p.lower:.5g} .. {p.upper:.5g}" if not p.at_bound else "at its bound"
        lines.append(f"{p.name:<36} {p.value:>12.6g} {interval:>27} {p.given:>12.6g}  {p.unit}".rstrip())
    if len(fit.parameters) > 1:
        lines += ["", "correlation", *_correlation_lines(fit)]
    lines += ["", f"{'signal':<36} {'rms':>12} {'noise':>12} {'R^2':>12} {'samples':>8}  unit"]
    for s in fit.signals:
        numbers = f"{s.rms:>12.5g} {s.noise:>12.5g} {s.r_squared:>12.8f} {s.samples:>8}"
        lines.append(f"{s.name:<36} {numbers}  {s.unit}".rstrip())
    lines += _proof_lines(fit)
    lines += ["", _starts_line(fit), f"slopes: {fit.jacobian}"]
    lines += [f"warning: {warning}" for warning in fit.warnings]
    return "\n".join(lines)


def _proof_lines(fit: Fit) -> list[str]:
    """Errors at held-out samples, with the recording's name where there are several."""
    several = len(fit.recordings) > 1
    rows = [(f"{r.label}: {e.name}" if several else e.name, e) for r in fit.recordings for e in r.held_out]
    if not rows:
        return []
    head = ["", f"{'held-out samples of':<36} {'rms':>12} {'%':>8} {'samples':>8}  unit"]
    return head + [f"{name:<36} {e.rms:>12.5g} {e.percent:>8.2f} {e.rows:>8}  {e.unit}".rstrip() for name, e in rows]


def _correlation_lines(fit: Fit) -> list[str]:
    return [
        f"{p.name:<36} " + " ".join(f"{fit.correlation[i, j]:>+7.3f}" for j in range(i + 1))
        for i, p in enumerate(fit.parameters)
    ]


def _starts_line(fit: Fit) -> str:
    count, evaluations = len(fit.starts), sum(start.evaluations for start in fit.starts)
    runs = f"{evaluations} simulations"
    if count == 1:
        return f"one start, {runs}"
    return f"{fit.agreeing} of {count} starts found this fit, {runs}"


def write_fit(fit: Fit, path: str | Path) -> Path:
    """Everything that was found, in a JSON file."""
    path = Path(path)
    if path.suffix != ".json":
        raise ModelError([Flaw(str(path), "must end in .json", "`robodyn fit --out` writes a scenario as TOML")])
    write_file(path, json.dumps(fit.as_plain(), indent=2) + "\n")
    return path


def describe_numbers(fit: Fit) -> str:
    """The fitted numbers and their intervals as comments of a TOML file."""
    lines = [f"# fitted to {', '.join(recording.label for recording in fit.recordings)}"]
    for p in fit.parameters:
        level = "by noise alone" if fit.doubt else "95 %"
        interval = "at its bound" if p.at_bound else f"{level}: {p.lower:.6g} .. {p.upper:.6g}"
        lines.append(f"# {p.name} = {p.value:.9g} {p.unit}".rstrip() + f", {interval}")
    return "\n".join(lines) + "\n"
