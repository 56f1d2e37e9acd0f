"""Identification, as a result: base parameters with intervals, possible bodies, and predictions of each joint."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from robodyn.results.signal import Floats


@dataclass(frozen=True)
class BaseEstimate:
    """One base parameter: estimate, standard deviation, 95 % interval, its value by the scenario, and whether the data
    tell it."""

    name: str
    unit: str
    value: float
    deviation: float
    lower: float
    upper: float
    given: float
    told: bool


@dataclass(frozen=True)
class JointPrediction:
    """Predicted against measured force of a joint: root mean square of the difference, also by that of the force.

    Attributes:
        percent: of the force's own root mean square about its mean; held_out: whether the rows took no part in the fit.
    """

    joint: str
    unit: str
    rows: int
    rms: float
    percent: float
    held_out: bool


@dataclass(frozen=True, eq=False)
class Identification:
    """What measured motions and efforts say of a machine.

    Attributes:
        numbers: new values of the scenario's numbers, every body a possible one; parameters: the same as theta.
        correlation: of the base estimates.
        cutoff: of the low-pass [Hz]; rate: of the rows [Hz]; whiteness: correlation of what is left from row to row.
        lost: how much the sum of squares by the noise grew by making bodies possible; gap: how clear the rank is.
        time, measured, predicted, fitted: forces of all joints (n, joints) at the rows, nan where one is not used, and
            which rows took part in the fit.
    """

    joints: tuple[str, ...]
    base: tuple[BaseEstimate, ...]
    correlation: Floats
    numbers: dict[str, float]
    parameters: dict[str, float]
    predictions: tuple[JointPrediction, ...]
    noise: dict[str, float]
    cutoff: float
    rate: float
    lost: float
    gap: float
    silent: tuple[str, ...]
    warnings: tuple[str, ...]
    time: Floats
    measured: Floats
    predicted: Floats
    fitted: Floats

    def as_plain(self) -> dict[str, Any]:
        """Everything but the rows as dictionaries, lists, texts and numbers."""
        return {
            "base_parameters": [asdict(estimate) for estimate in self.base],
            "correlation": self.correlation.tolist(),
            "numbers": self.numbers,
            "parameters": self.parameters,
            "predictions": [asdict(prediction) for prediction in self.predictions],
            "noise": self.noise,
            "cutoff": self.cutoff,
            "rate": self.rate,
            "lost": self.lost,
            "rank_gap": self.gap,
            "without_effect": list(self.silent),
            "warnings": list(self.warnings),
        }


def describe_identification(found: Identification) -> str:
    """Base parameters, predictions and warnings as text."""
    lines = [f"{'base parameter':<44} {'value':>12} {'95 % interval':>27} {'given':>12}  unit"]
    for p in found.base:
        interval = f"{p.lower:.5g} .. {p.upper:.5g}" if p.told else "not told by these data"
        lines.append(f"{_shorten(p.name):<44} {p.value:>12.6g} {interval:>27} {p.given:>12.6g}  {p.unit}".rstrip())
    lines += ["", f"{'joint':<20} {'fitted rms':>12} {'%':>8} {'held-out rms':>14} {'%':>8}  unit"]
    for joint in found.joints:
        rows = {p.held_out: p for p in found.predictions if p.joint == joint}
        if False not in rows:
            continue
        own, other = rows[False], rows.get(True)
        held = f"{other.rms:>14.5g} {other.percent:>8.2f}" if other else f"{'-':>14} {'-':>8}"
        lines.append(f"{joint:<20} {own.rms:>12.5g} {own.percent:>8.2f} {held}  {own.unit}")
    lines += ["", f"low-pass {found.cutoff:.4g} Hz without phase, rows at {found.rate:.4g} Hz"]
    lines.append(f"{len(found.base)} base parameters; possible bodies lose {found.lost:.3g} in the sum of squares")
    return "\n".join([*lines, *(f"warning: {warning}" for warning in found.warnings)])


def _shorten(name: str, most: int = 44) -> str:
    return name if len(name) <= most else f"{name[: most - 4]} ..."
