"""Error budget of a motion, as a result: parts over time, and a table that adds up."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

import numpy as np

from robodyn.base.errors import FlawList, nearest
from robodyn.base.lazy import Displayed
from robodyn.computation.results import Run, SignalInfo

TIME = "time"
REST = "dynamics not fed forward"
SUM, REMAINDER, TOTAL = "sum of parts", "remainder", "total"


@dataclass(frozen=True)
class Part:
    """One part of the deviations.

    Attributes:
        name: of the block that causes it, of the property of the loop, or of a group; what: of the block it is.
        kind: "cause" acts at one place, "loop" is a property of the whole loop, "rest" is what the loop leaves of the
            nominal motion's own torques, "group" are several of them.
    """

    name: str
    what: str
    kind: str


@dataclass(frozen=True)
class Row:
    """A line of the table, in the signal's unit.

    Attributes:
        at_worst: value where the total is largest; share: of the total there.
    """

    name: str
    what: str
    largest: float
    rms: float
    at_worst: float
    share: float


@dataclass(frozen=True)
class SignalBudget:
    """The table of one signal, in its unit."""

    unit: str
    rows: tuple[Row, ...]


@dataclass(frozen=True, eq=False)
class Budget(Displayed):
    """Deviations of a motion and their parts: `total = sum of parts + remainder` at every time.

    Attributes:
        run: the non-linear motion; signals: what is split, k of them.
        along: signal that pictures are drawn against, or "time".
        parts: m of them; values: (k, m, n_times).
        perturbed: the same deviations of the motion near the nominal one, (k, n_times).
        by_differences: why parts are differences of non-linear motions; empty where there is a linear twin.
    """

    JSON = """
    scenario
    signals = tables
    remainder_share
    interaction_share
    by_differences
    """
    run: Run
    signals: tuple[str, ...]
    along: str
    parts: tuple[Part, ...]
    values: np.ndarray
    perturbed: np.ndarray
    by_differences: str = ""

    def __repr__(self) -> str:
        return f"<Budget of {', '.join(self.signals)}: {len(self.parts)} parts, remainder {self.remainder_share:.2g}>"

    @property
    def scenario(self) -> str:
        """Its name."""
        return self.run.provenance.scenario

    @property
    def tables(self) -> dict[str, SignalBudget]:
        """The table of each signal."""
        return {name: SignalBudget(self.run[name].unit, self.table(name)) for name in self.signals}

    @property
    def total(self) -> np.ndarray:
        """Deviations of the non-linear motion, (k, n_times)."""
        return np.array([self.run[name].values for name in self.signals])

    @property
    def sum(self) -> np.ndarray:
        """Of all parts, (k, n_times)."""
        return self.values.sum(axis=1)

    @property
    def remainder(self) -> np.ndarray:
        """What the parts miss of the non-linear motion, (k, n_times)."""
        return self.total - self.sum

    @property
    def interaction(self) -> np.ndarray:
        """What they miss of the motion near the nominal one; the rest of the remainder is of second order."""
        return self.perturbed - self.sum

    @property
    def remainder_share(self) -> float:
        """Largest remainder relative to the largest total, of the worst signal."""
        return self._share(self.remainder)

    @property
    def interaction_share(self) -> float:
        """The same of the interaction."""
        return self._share(self.interaction)

    def _share(self, missed: np.ndarray) -> float:
        largest = np.max(np.abs(self.total), axis=1)
        return float(np.max(np.max(np.abs(missed), axis=1) / np.where(largest > 0, largest, np.inf)))

    @property
    def places(self) -> np.ndarray:
        """The abscissa of pictures, (n_times,)."""
        return self.run.time if self.along == TIME else self.run[self.along].values

    def part(self, name: str, signal: str) -> np.ndarray:
        """One part of one signal over time, (n_times,)."""
        names = [part.name for part in self.parts]
        return self.values[self.signals.index(signal), names.index(name)]

    def table(self, signal: str) -> tuple[Row, ...]:
        """Every part, their sum, the remainder and the total of a signal, in this order."""
        k = self.signals.index(signal)
        lines = [(part.name, part.what, self.values[k, j]) for j, part in enumerate(self.parts)]
        lines += [(SUM, "", self.sum[k]), (REMAINDER, "", self.remainder[k]), (TOTAL, "", self.total[k])]
        worst = int(np.argmax(np.abs(self.total[k])))
        return tuple(_row(name, what, values, worst, float(self.total[k, worst])) for name, what, values in lines)

    def grouped(self, groups: Mapping[str, Sequence[str]]) -> Budget:
        """The same budget with parts that match patterns added up; a part goes to the first group it matches."""
        _check_groups(groups, [part.name for part in self.parts])
        homes = [_home(part.name, groups) for part in self.parts]
        used = [name for name in groups if name in homes]
        parts = [Part(name, _count(homes.count(name)), "group") for name in used]
        values = [self.values[:, [home == name for home in homes]].sum(axis=1) for name in used]
        for j, (part, home) in enumerate(zip(self.parts, homes, strict=True)):
            if home is None:
                parts.append(part)
                values.append(self.values[:, j])
        return dataclasses.replace(self, parts=tuple(parts), values=np.stack(values, axis=1))


def _row(name: str, what: str, values: np.ndarray, worst: int, total: float) -> Row:
    at_worst = float(values[worst])
    share = at_worst / total if total else 0.0
    return Row(name, what, float(np.max(np.abs(values))), float(np.sqrt(np.mean(values**2))), at_worst, share)


def _count(parts: int) -> str:
    return "1 part" if parts == 1 else f"{parts} parts"


def _home(part: str, groups: Mapping[str, Sequence[str]]) -> str | None:
    fits = (name for name, patterns in groups.items() if any(fnmatchcase(part, pattern) for pattern in patterns))
    return next(fits, None)


def _check_groups(groups: Mapping[str, Sequence[str]], parts: Sequence[str]) -> None:
    flaws = FlawList()
    for name, patterns in groups.items():
        for pattern in patterns:
            if not any(fnmatchcase(part, pattern) for part in parts):
                flaws.add(f"group.{name}", f"'{pattern}' matches no part", nearest(pattern, parts))
    flaws.raise_if_any("budget")
    homes = {part: _home(part, groups) for part in parts}
    for name in groups:
        if name not in homes.values():
            flaws.add(f"group.{name}", "all its parts are in groups before it", "a part counts once: leave one out")
        if homes.get(name, name) != name:
            flaws.add(f"group.{name}", "is the name of a part that is not in it", "take another name")
    flaws.raise_if_any("budget")


def as_run(budget: Budget) -> Run:
    """All parts as signals `deviation.vertical: joint1.friction` beside those of the motion, to be kept in a file."""
    infos, columns = list(budget.run.infos), list(budget.run.values.T)
    for k, signal in enumerate(budget.signals):
        unit = budget.run[signal].unit
        named = [(part.name, budget.values[k, j]) for j, part in enumerate(budget.parts)]
        for name, values in [*named, (REMAINDER, budget.remainder[k])]:
            infos.append(SignalInfo(f"{signal}: {name}", unit))
            columns.append(values)
    return dataclasses.replace(budget.run, values=np.column_stack(columns), infos=tuple(infos), probes=None)
