"""Panels and line styles: which signals share a panel, and how are panel and lines named and coloured?"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from robodyn.computation.results import Run

from .figures import COLOURS, LINE_STYLES, LINE_WIDTH
from .runs import run_style

MOST_UNITS = 4
MOST_COMPARED = 12
_FIRST_CHOICES = ("position", "velocity")


@dataclass(frozen=True)
class Panel:
    """Signals of one unit that are drawn in the same axes."""

    unit: str
    names: tuple[str, ...]

    @property
    def label(self) -> str:
        """The axis label: what is drawn and its unit."""
        return with_unit(self.subject, self.unit)

    @property
    def subject(self) -> str:
        """The parts all names share, as words."""
        head, tail = self._shared()
        parts = self.names[0].split(".")
        shared = parts if len(self.names) == 1 else parts[:head] + parts[len(parts) - tail :]
        return " ".join(shared).replace("_", " ") or "value"

    def legend(self, name: str) -> str:
        """A line's name: only the parts the axis does not name already."""
        head, tail = self._shared()
        parts = name.split(".")
        return ".".join(parts[head : len(parts) - tail])

    def _shared(self) -> tuple[int, int]:
        """How many parts at the end, then at the beginning, all names share; each keeps one of its own."""
        parts = [name.split(".") for name in self.names]
        tail = _common([part[:0:-1] for part in parts])
        head = _common([part[: len(part) - tail - 1] for part in parts])
        return (head, tail) if len(parts) > 1 else (0, 0)


def _common(rows: Sequence[Sequence[str]]) -> int:
    """The number of equal first entries."""
    equal = [len(set(column)) == 1 for column in zip(*rows, strict=False)]
    return equal.index(False) if False in equal else len(equal)


def with_unit(text: str, unit: str) -> str:
    """A label with its unit in brackets; nothing there for numbers without one."""
    return f"{text} [{unit}]" if unit else text


def quantity(name: str) -> str:
    """The last part of a signal's name: 'velocity' of 'elbow.velocity'."""
    return name.rpartition(".")[2]


def owner(name: str) -> str:
    """What comes before the quantity in a signal's name, or the whole name if nothing does."""
    return name.rpartition(".")[0] or name


def arrange(runs: Sequence[Run], names: Sequence[str] | None, *, apart: bool = False) -> tuple[Panel, ...]:
    """Panels for the named signals, or for a first look at a run if no names are given.

    One run: a panel a unit, more where it would hold more lines than there are colours. Several runs, whose lines
    lie close together: a panel a signal.

    Args:
        names: signal names or shell patterns such as '*.velocity'; each must fit a signal of some run.
        apart: a panel a signal for one run, too.
    """
    units = _units(runs)
    apart = apart or len(runs) > 1
    if names is None:
        chosen = default_names(units)[: MOST_COMPARED if apart else None]
    else:
        chosen = match_names(runs, names, units)
    if not chosen:
        raise ValueError("there is no signal to draw")
    if apart:
        return tuple(Panel(units[name], (name,)) for name in chosen)
    groups = ([n for n in chosen if units[n] == unit] for unit in _units_of(chosen, units))
    return tuple(Panel(units[part[0]], tuple(part)) for group in groups for part in _split(group))


def _units(runs: Sequence[Run]) -> dict[str, str]:
    """The unit of each signal, which must be the same in all runs."""
    units: dict[str, str] = {}
    for info in (info for run in runs for info in run.infos):
        if units.setdefault(info.name, info.unit) != info.unit:
            raise ValueError(f"{info.name}: units {units[info.name]!r} and {info.unit!r} cannot share an axis")
    return units


def _split(names: Sequence[str]) -> list[Sequence[str]]:
    """Parts of nearly equal length, none longer than there are colours."""
    count = -(-len(names) // len(COLOURS))
    length = -(-len(names) // count)
    return [names[start : start + length] for start in range(0, len(names), length)]


def line_styles(
    panel: Panel, panels: Sequence[Panel], runs: Sequence[Run]
) -> Iterator[tuple[Run, str, dict[str, Any]]]:
    """Run, signal and properties of each line in a panel: a colour a signal, or a run if there are several."""
    for name, look in zip(panel.names, signal_looks(panel, panels), strict=True):
        for number, run in enumerate(runs):
            if name in run:
                own = run_style(number) if len(runs) > 1 else look | {"label": panel.legend(name)}
                yield run, name, own | {"gid": name}


def signal_looks(panel: Panel, panels: Sequence[Panel]) -> list[dict[str, Any]]:
    """Line properties of each signal of one run.

    A joint has its colour in every panel; a second signal of it, such as its reference, is dashed over the first.
    Where a panel shows more of a joint than these two, all signals have colours of their own.
    """
    roots = [name.partition(".")[0] for name in panel.names]
    known = list(dict.fromkeys(name.partition(".")[0] for p in panels for name in p.names))
    looks = [(known.index(root), roots[:place].count(root)) for place, root in enumerate(roots)]
    if len(set(roots)) == 1 < len(roots) or len(known) > len(COLOURS) or max(rank for _, rank in looks) > 1:
        looks = [(place, 0) for place in range(len(roots))]
    return [_look(colour, rank) for colour, rank in looks]


def _look(colour: int, rank: int) -> dict[str, Any]:
    return {"color": COLOURS[colour], "linestyle": LINE_STYLES[rank], "linewidth": LINE_WIDTH}


def match_names(runs: Sequence[Run], patterns: Sequence[str], units: dict[str, str]) -> list[str]:
    """The signal names that fit the patterns, each once, in the order of the patterns."""
    chosen: dict[str, None] = {}
    for pattern in patterns:
        fitting = [pattern] if pattern in units else [name for name in units if fnmatchcase(name, pattern)]
        if not fitting:
            # Raises the KeyError that suggests the nearest names.
            runs[0][pattern]
        chosen.update(dict.fromkeys(fitting))
    return list(chosen)


def default_names(units: dict[str, str]) -> list[str]:
    """Positions, then velocities, then one more quantity a unit, as far as the panels go."""
    chosen = [name for first in _FIRST_CHOICES for name in units if quantity(name) == first]
    for name, unit in units.items():
        if unit not in _units_of(chosen, units):
            chosen += [n for n, u in units.items() if quantity(n) == quantity(name) and u == unit]
    kept = _units_of(chosen, units)[:MOST_UNITS]
    return [name for name in chosen if units[name] in kept]


def _units_of(names: Sequence[str], units: dict[str, str]) -> list[str]:
    """The different units of the names, in their order."""
    return list(dict.fromkeys(units[name] for name in names))
