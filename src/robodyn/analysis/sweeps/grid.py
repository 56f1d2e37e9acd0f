"""Grid of a sweep: which values do varied numbers take? Axes of which every combination is run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from robodyn.analysis.sweeps.numbers import match_numbers
from robodyn.base.errors import FlawList
from robodyn.description.model import Number


@dataclass(frozen=True)
class Factors:
    """Values of an axis as multiples of what each number is in the scenario."""

    values: tuple[float, ...]


@dataclass(frozen=True)
class Axis:
    """One direction of a grid: numbers that change together.

    Attributes:
        label: what is drawn along it; unit: of `places`.
        places: the values given, or the factors, (n,).
        values: of each number at each place, (n, n_names).
    """

    label: str
    unit: str
    names: tuple[str, ...]
    places: tuple[float, ...]
    values: tuple[tuple[float, ...], ...]


def make_axes(
    flaws: FlawList, vary: Mapping[str, Sequence[float] | Factors], known: Mapping[str, Number]
) -> list[Axis]:
    """The axes that keys and their values stand for; all problems are collected."""
    axes = []
    for key, given in vary.items():
        places = _read_places(flaws, key, given)
        numbers = match_numbers(flaws, key, known)
        if isinstance(given, Factors):
            numbers = scalable(flaws, key, numbers)
        if not places or not numbers:
            continue
        bases = [number.value if isinstance(given, Factors) else 1.0 for number in numbers]
        values = tuple(tuple(place * base for base in bases) for place in places)
        units = {number.unit for number in numbers}
        unit = units.pop() if len(units) == 1 and not isinstance(given, Factors) else ""
        label = f"factor of {key}" if isinstance(given, Factors) else key
        axes.append(Axis(label, unit, tuple(number.name for number in numbers), places, values))
    return axes


def _read_places(flaws: FlawList, key: str, given: Sequence[float] | Factors) -> tuple[float, ...]:
    entries = given.values if isinstance(given, Factors) else given
    try:
        places = tuple(float(entry) for entry in entries)
    except (TypeError, ValueError):
        flaws.add(key, f"must take numbers, is {entries!r}")
        return ()
    if not places:
        flaws.add(key, "takes no value", "give at least one")
    elif any(place != place for place in places):
        flaws.add(key, "must take numbers, one is nan")
    elif len(set(places)) < len(places):
        flaws.add(key, "takes a value twice", "give each once")
    else:
        return places
    return ()


def scalable(flaws: FlawList, key: str, numbers: Sequence[Number]) -> list[Number]:
    """Those numbers that a factor changes: not 0 and not infinite."""
    changed = [number for number in numbers if number.value != 0 and np.isfinite(number.value)]
    if numbers and not changed:
        flaws.add(key, "a factor changes nothing of a number that is 0 or infinite", "give values instead")
    return changed


def combine_axes(axes: Sequence[Axis]) -> np.ndarray:
    """Every combination of places as indices, the last axis fastest, (n_points, n_axes)."""
    shape = [len(axis.places) for axis in axes]
    return np.indices(shape).reshape(len(axes), -1).T if axes else np.zeros((1, 0), int)
