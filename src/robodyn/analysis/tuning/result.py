"""Tuning, as a result: gains before and after, what is left to each limit, and what each limit costs."""

from __future__ import annotations

from dataclasses import dataclass

from robodyn.computation.results import Run


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

    JSON = """
    objective
    unit
    over
    before
    after
    gains
    limits
    cases
    slopes
    notes
    rest
    evaluations
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
