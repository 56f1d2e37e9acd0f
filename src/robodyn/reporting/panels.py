"""Which signals share a panel, and how are panel and lines named?"""

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from robodyn.results import Run

MOST_PANELS = 4
_FIRST_CHOICES = ("position", "velocity")


@dataclass(frozen=True)
class Panel:
    """Signals of one unit that are drawn in the same axes."""

    unit: str
    names: tuple[str, ...]

    @property
    def label(self) -> str:
        """The axis label: the only signal's name or the quantity all share, and the unit."""
        quantities = {quantity(name) for name in self.names}
        shared = quantities.pop() if len(quantities) == 1 else "value"
        what = self.names[0] if len(self.names) == 1 else shared
        text = what.replace("_", " ").replace(".", " ")
        return f"{text} [{self.unit}]" if self.unit else text

    def legend(self, name: str) -> str:
        """A line's name: only its owner where the axis already names the quantity."""
        same = len({quantity(other) for other in self.names}) == 1
        return owner(name) if same and len(self.names) > 1 else name


def quantity(name: str) -> str:
    """The last part of a signal's name: 'velocity' of 'elbow.velocity'."""
    return name.rpartition(".")[2]


def owner(name: str) -> str:
    """What comes before the quantity in a signal's name, or the whole name if nothing does."""
    return name.rpartition(".")[0] or name


def arrange(runs: Sequence[Run], names: Sequence[str] | None) -> tuple[Panel, ...]:
    """Panels for the named signals, or for a first look at a run if no names are given.

    Args:
        names: signal names or shell patterns such as '*.velocity'; each must fit a signal of some run.
    """
    units = {info.name: info.unit for run in runs for info in run.infos}
    chosen = default_names(units) if names is None else match_names(runs, names, units)
    panels = tuple(Panel(unit, tuple(n for n in chosen if units[n] == unit)) for unit in _units_of(chosen, units))
    if not panels:
        raise ValueError("there is no signal to draw")
    return panels


def colour_numbers(panel: Panel, panels: Sequence[Panel]) -> list[int]:
    """A number for each signal: the same joint has the same in every panel that shows it once."""
    owners = list(dict.fromkeys(owner(name) for p in panels for name in p.names))
    own = [owners.index(owner(name)) for name in panel.names]
    return own if len(set(own)) == len(own) else list(range(len(own)))


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
    kept = _units_of(chosen, units)[:MOST_PANELS]
    return [name for name in chosen if units[name] in kept]


def _units_of(names: Sequence[str], units: dict[str, str]) -> list[str]:
    """The different units of the names, in their order."""
    return list(dict.fromkeys(units[name] for name in names))
