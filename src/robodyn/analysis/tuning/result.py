"""Tuning, as a result: gains before and after, what is left to each limit, and what each limit costs."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from robodyn.computation.results import Run

STEADY = 0.02
"""Rest of a slope at which a tuning is at its optimum, for all that a person can see."""


@dataclass(frozen=True)
class TunedGain:
    """One gain: before, after, its bounds, and how the objective changes with one percent more of it, all else kept."""

    name: str
    unit: str
    before: float
    after: float
    lower: float
    upper: float
    at_bound: bool
    per_percent: float


@dataclass(frozen=True)
class KeptLimit:
    """One limit: its bound, and what it limits before and after, in the worst case and place.

    Attributes:
        loop: held signal at which the loop is cut, or an empty text.
        active: whether it is what keeps the objective from being better; price: by how much the objective would grow,
            in its unit, with a unit more of the bound (less of an upper one).
    """

    text: str
    loop: str
    unit: str
    bound: float
    before: float
    after: float
    active: bool
    price: float


@dataclass(frozen=True)
class TunedCase:
    """The objective in one case, whose numbers differ by `changes`."""

    changes: dict[str, float]
    before: float
    after: float


@dataclass(frozen=True, eq=False)
class Tuning:
    """The best gains found.

    Attributes:
        objective: `kind:signal`; before, after: of all cases, the worst or the mean of them.
        slopes: "exact", or why they were taken by differences; notes: sentences on how blocks that jump were taken.
        rest: what active limits do not explain of the objective's slope, relative, by the logarithms of the gains:
            0 at an optimum.
        evaluations: how many times all cases were simulated.
        runs: of the worst case before and after.
    """

    objective: str
    unit: str
    over: str
    before: float
    after: float
    gains: tuple[TunedGain, ...]
    limits: tuple[KeptLimit, ...]
    cases: tuple[TunedCase, ...]
    slopes: str
    notes: tuple[str, ...]
    rest: float
    evaluations: int
    runs: tuple[Run, Run]

    @property
    def values(self) -> dict[str, float]:
        """Gains by name, as `Scenario.with_numbers` takes them."""
        return {gain.name: gain.after for gain in self.gains}

    def as_plain(self) -> dict[str, Any]:
        """Everything but the runs as dictionaries, lists, texts and numbers."""
        plain = {key: value for key, value in self.__dict__.items() if key != "runs"}
        parts = {key: [asdict(part) for part in plain[key]] for key in ("gains", "limits", "cases")}
        return plain | parts | {"notes": list(self.notes)}


def describe_tuning(tuning: Tuning) -> str:
    """The tables of a tuning as text."""
    change = f" ({100 * (tuning.after / tuning.before - 1):+.1f} %)" if tuning.before else ""
    of = f", {tuning.over} of {len(tuning.cases)} cases" if len(tuning.cases) > 1 else ""
    lines = [f"{tuning.objective}{of}: {tuning.before:.5g} -> {tuning.after:.5g} {tuning.unit}{change}", ""]
    lines.append(f"{'gain':<40} {'before':>11} {'after':>11} {'per % more':>12}  unit")
    for gain in tuning.gains:
        at = "  at its bound" if gain.at_bound else ""
        numbers = f"{gain.before:>11.5g} {gain.after:>11.5g} {gain.per_percent:>+12.3g}"
        lines.append(f"{gain.name:<40} {numbers}  {gain.unit or '-'}{at}")
    if tuning.limits:
        lines += ["", f"{'limit':<56} {'bound':>9} {'before':>9} {'after':>9} {'price':>10}  unit"]
    for limit in tuning.limits:
        name = f"{limit.text} {limit.loop}".strip()
        price = f"{limit.price:>10.3g}" if limit.active else f"{'-':>10}"
        lines.append(f"{name:<56} {limit.bound:>9.4g} {limit.before:>9.4g} {limit.after:>9.4g} {price}  {limit.unit}")
    if len(tuning.cases) > 1:
        lines += ["", f"{'case':<56} {'before':>12} {'after':>12}  {tuning.unit}"]
        for case in tuning.cases:
            name = ", ".join(f"{key}={value:.4g}" for key, value in case.changes.items())
            lines.append(f"{name:<56} {case.before:>12.5g} {case.after:>12.5g}")
    lines += ["", f"{tuning.evaluations} evaluations of all cases; slopes: {tuning.slopes}; {_describe_rest(tuning)}"]
    return "\n".join(lines + [f"note: {note}" for note in tuning.notes])


def _describe_rest(tuning: Tuning) -> str:
    if tuning.rest < STEADY:
        return "no small change of the gains within the limits makes it better"
    return f"the search stopped where 1 % of the gains still changes it by {tuning.rest:.2g} %"
