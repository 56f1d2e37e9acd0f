"""Variation of numbers: which does a name or a pattern mean, which values do they take, on a grid or drawn at random?

Of the axes of a grid every combination is run. Random draws have one stream for each number, or fill the space evenly:
Latin hypercubes and Sobol sequences of `scipy.stats.qmc`, brought to the distributions by their quantiles. In the shell
`1:2:5`, `1,2,5` and `scale:0.8:1.2` say so.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase

import numpy as np

from robodyn.analysis.sensitivity.parameters import INITIAL
from robodyn.base import Array, FlawList, UnitError, frozen, nearest
from robodyn.computation.assembly import System
from robodyn.computation.assembly.declarations import MemoryInfo, StateInfo
from robodyn.description.files.units import read_quantity
from robodyn.description.model import Number, Scenario


@frozen
class Factors:
    """Values of an axis as multiples of what each number is in the scenario."""

    values: tuple[float, ...]


@frozen
class GridAxis:
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
) -> list[GridAxis]:
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
        axes.append(GridAxis(label, unit, tuple(number.name for number in numbers), places, values))
    return axes


def _read_places(flaws: FlawList, key: str, values: Sequence[float] | Factors) -> tuple[float, ...]:
    entries = values.values if isinstance(values, Factors) else values
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
        flaws.add(key, "has a value twice", "give each once")
    else:
        return places
    return ()


def scalable(flaws: FlawList, key: str, numbers: Sequence[Number]) -> list[Number]:
    """Those numbers that a factor changes: not 0 and not infinite."""
    changed = [number for number in numbers if number.value != 0 and np.isfinite(number.value)]
    if numbers and not changed:
        flaws.add(key, "a factor does not change a number that is 0 or infinite", "give values instead")
    return changed


def combine_axes(axes: Sequence[GridAxis]) -> Array:
    """Every combination of places as indices, the last axis fastest, (n_points, n_axes)."""
    shape = [len(axis.places) for axis in axes]
    return np.indices(shape).reshape(len(axes), -1).T if axes else np.zeros((1, 0), int)


Generator = np.random.Generator
RANDOM, LATIN, SOBOL = SAMPLINGS = ("random", "latin-hypercube", "sobol")
LEAST_SHARE, MOST_SOBOL = 2.0**-40, 21201


@frozen
class DistributionFamily:
    """A family of distributions: names of its arguments, how it is drawn, its quantiles, whether as a factor of the
    number itself."""

    arguments: tuple[str, ...]
    draw: Callable[[Generator, int, tuple[float, ...]], Array]
    quantile: Callable[[Array, tuple[float, ...]], Array]
    relative: bool = False


def _spread(shares: Array, a: tuple[float, ...]) -> Array:
    return a[0] + (a[1] - a[0]) * shares


def _bell(shares: Array) -> Array:
    from scipy.special import ndtri

    return ndtri(shares)


KINDS: Mapping[str, DistributionFamily] = {
    "normal": DistributionFamily(
        ("mean", "deviation"), lambda random, n, a: random.normal(a[0], a[1], n), lambda u, a: a[0] + a[1] * _bell(u)
    ),
    "uniform": DistributionFamily(("lower", "upper"), lambda random, n, a: random.uniform(a[0], a[1], n), _spread),
    "scale": DistributionFamily(
        ("lower", "upper"), lambda random, n, a: random.uniform(a[0], a[1], n), _spread, relative=True
    ),
    "lognormal": DistributionFamily(
        ("deviation",),
        lambda random, n, a: np.exp(random.normal(0.0, a[0], n)),
        lambda u, a: np.exp(a[0] * _bell(u)),
        relative=True,
    ),
}


@frozen
class Distribution:
    """Where a number is drawn from.

    Attributes:
        kind: "normal" (mean, deviation) and "uniform" (lower, upper) in the number's unit; "scale" (lower, upper) a
            uniform factor of the number's own value, "lognormal" (deviation) the factor exp(deviation N(0, 1)).
    """

    kind: str
    arguments: tuple[float, ...]

    @property
    def relative(self) -> bool:
        """Whether its numbers are factors of the nominal value."""
        return KINDS[self.kind].relative

    def check(self, flaws: FlawList, path: str) -> bool:
        """Whether it can be drawn from; says why not otherwise."""
        before = len(flaws.found)
        if self.kind not in KINDS:
            flaws.add(path, f"the distribution '{self.kind}' is unknown", nearest(self.kind, KINDS))
            return False
        arguments = KINDS[self.kind].arguments
        if len(self.arguments) != len(arguments):
            flaws.add(path, f"{self.kind} takes {' and '.join(arguments)}, not {len(self.arguments)} numbers")
        elif not np.all(np.isfinite(self.arguments)):
            flaws.add(path, f"{self.kind} takes finite numbers")
        elif arguments[-1] == "deviation" and self.arguments[-1] <= 0:
            flaws.add(path, f"the deviation must be positive, is {self.arguments[-1]:g}")
        elif arguments[-1] == "upper" and self.arguments[0] >= self.arguments[1]:
            flaws.add(path, f"must rise from lower to upper, is {self.arguments[0]:g} to {self.arguments[1]:g}")
        return len(flaws.found) == before


@frozen
class Draw:
    """Numbers that share one random value a run.

    Attributes:
        bases: what the value of a relative distribution is multiplied with, 1 elsewhere.
    """

    label: str
    names: tuple[str, ...]
    bases: tuple[float, ...]
    distribution: Distribution

    def sample(self, count: int, seed: int) -> Array:
        """Values of the first draws, (count, n_names): more draws begin with the same ones."""
        random = np.random.default_rng([seed, zlib.crc32(self.label.encode())])
        factors = KINDS[self.distribution.kind].draw(random, count, self.distribution.arguments)
        return np.outer(factors, self.bases)

    def place(self, shares: Array) -> Array:
        """Values below which these shares of all draws lie, (count, n_names)."""
        return np.outer(KINDS[self.distribution.kind].quantile(shares, self.distribution.arguments), self.bases)


def sample_draws(draws: Sequence[Draw], count: int, seed: int, sampling: str) -> list[Array]:
    """Values of all draws, (count, n_names) each."""
    if sampling == RANDOM:
        return [draw.sample(count, seed) for draw in draws]
    from scipy.stats import qmc

    random = np.random.default_rng(seed)
    engine = (qmc.Sobol if sampling == SOBOL else qmc.LatinHypercube)(len(draws), seed=random)
    # A share of 0 would be an infinite value.
    shares = np.clip(engine.random(count), LEAST_SHARE, 1.0 - LEAST_SHARE)
    return [draw.place(shares[:, k]) for k, draw in enumerate(draws)]


def check_sampling(flaws: FlawList, sampling: str, runs: int, n_draws: int) -> None:
    """A sampling that there is, for as many runs and numbers as it can be."""
    if sampling not in SAMPLINGS:
        flaws.add("sampling", f"'{sampling}' is unknown", nearest(sampling, SAMPLINGS))
    elif sampling == SOBOL and runs & (runs - 1):
        less = 1 << (runs.bit_length() - 1)
        flaws.add("runs", f"a Sobol sequence is balanced for powers of 2, not for {runs}", f"take {less} or {2 * less}")
    elif sampling == SOBOL and n_draws > MOST_SOBOL:
        flaws.add("sampling", f"a Sobol sequence has at most {MOST_SOBOL} numbers, not {n_draws}", LATIN)


def make_draws(flaws: FlawList, distributions: Mapping[str, Distribution], known: Mapping[str, Number]) -> list[Draw]:
    """A draw for each number a pattern matches, one for all names of a list with commas; problems are collected."""
    draws = []
    for key, distribution in distributions.items():
        usable = distribution.check(flaws, key)
        numbers = match_numbers(flaws, key, known)
        if not usable or not numbers:
            continue
        if distribution.relative:
            numbers = scalable(flaws, key, numbers)
        together = [numbers] if len(split_key(key)) > 1 else [[number] for number in numbers]
        for group in together if numbers else ():
            names = tuple(number.name for number in group)
            bases = tuple(number.value if distribution.relative else 1.0 for number in group)
            draws.append(Draw(key if len(names) > 1 else names[0], names, bases, distribution))
    return draws


WILDCARDS = "*?["


def find_numbers(system: System) -> dict[str, Number]:
    """Every number that can be varied: those of the scenario, and the start value of each state and sampled output."""
    # Those of the system know the units of their places, a description leaves them open: {F} is N m or N.
    described = {name: number for name, number in system.scenario.numbers().items() if not name.startswith(INITIAL)}
    numbers = {name: system.numbers.get(name, number) for name, number in described.items()}
    infos: list[StateInfo | MemoryInfo] = [*system.states, *(info for info in system.memory if not info.hidden)]
    starts = [Number(f"{INITIAL}{info.name}", info.start, info.unit) for info in infos]
    return numbers | {number.name: number for number in starts}


def names_meant(keys: Iterable[str], scenario: Scenario) -> list[str]:
    """Numbers of a scenario that keys name, as far as it knows them itself; what is wrong is reported later."""
    names = [name for name in scenario.numbers() if not name.startswith(INITIAL)]
    parts = [part for key in keys for part in split_key(key)]
    return [name for name in names if any(name == part or fnmatchcase(name, part) for part in parts)]


def is_pattern(key: str) -> bool:
    return any(letter in key for letter in WILDCARDS)


def split_key(key: str) -> list[str]:
    """The names and patterns of a key, which stand in it with commas between them."""
    return [part.strip() for part in key.split(",") if part.strip()]


def match_numbers(flaws: FlawList, key: str, numbers: Mapping[str, Number]) -> list[Number]:
    """The numbers a key names, each once; a part that names none is a flaw with the nearest name."""
    matches: dict[str, Number] = {}
    for part in split_key(key):
        names = [name for name in numbers if fnmatchcase(name, part)] if is_pattern(part) else [part]
        missing = not names or (names == [part] and part not in numbers)
        if missing:
            flaws.add(part, f"{'matches' if is_pattern(part) else 'there is'} no such number", nearest(part, numbers))
            continue
        matches |= {name: numbers[name] for name in names}
    if not split_key(key):
        flaws.add(key, "names no number")
    return list(matches.values())


def check_once(flaws: FlawList, names: Iterable[str]) -> None:
    """No number may be varied in two ways."""
    for name, count in Counter(names).items():
        if count > 1:
            flaws.add(name, "is varied twice", "vary it in only one way")


SPAN = "must be written as first:last:count, first:last:count:log or scale:first:last:count"
MOST_PLACES = 1_000_000


def read_span(text: str, unit: str = "", written: str = "") -> Sequence[float] | Factors:
    """Equally spaced values `first:last:count`, by factors with `:log`, as multiples of the number with `scale:`.

    Args:
        unit: of the number in SI; first and last may have other units of the same kind.
        written: unit of the number in its file, as of `read_quantity`.
    """
    parts = [part.strip() for part in text.split(":")]
    relative = parts[0] == "scale"
    parts = parts[1:] if relative else parts
    spaced = parts[3:] != ["log"]
    if len(parts) != (3 if spaced else 4):
        raise UnitError(SPAN)
    units = ("", "") if relative else (unit, written)
    first, last = (read_quantity(part, *units, bare=True) for part in parts[:2])
    count = _read_count(parts[2])
    if not spaced and not (first > 0 and last > 0):
        raise UnitError("values spaced by factors must be positive")
    places = np.linspace(first, last, count) if spaced else np.geomspace(first, last, count)
    return Factors(tuple(places.tolist())) if relative else places.tolist()


def _read_count(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= MOST_PLACES:
        raise UnitError(f"the count must be a whole number from 1 to {MOST_PLACES}, is '{text}'")
    return int(text)


def read_list(text: str, unit: str = "", written: str = "") -> list[float]:
    """Values with commas between them, each with a unit where wished."""
    return [read_quantity(part.strip(), unit, written, bare=True) for part in text.split(",")]


def read_distribution(text: str, unit: str = "", written: str = "") -> Distribution:
    """`normal:mean:deviation`, `uniform:lower:upper`, `scale:lower:upper` or `lognormal:deviation`."""
    kind, *arguments = (part.strip() for part in text.split(":"))
    if kind not in KINDS:
        raise UnitError(f"the distribution '{kind}' is unknown ({nearest(kind, KINDS)})")
    n_arguments = KINDS[kind].arguments
    if len(arguments) != len(n_arguments):
        raise UnitError(f"must be written as {':'.join((kind, *n_arguments))}")
    units = ("", "") if KINDS[kind].relative else (unit, written)
    return Distribution(kind, tuple(read_quantity(argument, *units, bare=True) for argument in arguments))
