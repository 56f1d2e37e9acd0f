"""Monte Carlo sampling: how are values drawn? One random stream for each number, or points that fill the space evenly.

Latin hypercubes and Sobol sequences are those of `scipy.stats.qmc`, brought to the distributions by their quantiles.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from robodyn.analysis.sweeps.grid import scalable
from robodyn.analysis.sweeps.numbers import match_numbers, split_key
from robodyn.base.errors import FlawList, nearest
from robodyn.computation.results.signal import Floats
from robodyn.description.model import Number

Generator = np.random.Generator
RANDOM, LATIN, SOBOL = SAMPLINGS = ("random", "latin-hypercube", "sobol")
LEAST_SHARE, MOST_SOBOL = 2.0**-40, 21201


@dataclass(frozen=True)
class Kind:
    """A family of distributions: names of its arguments, how it is drawn, its quantiles, whether as a factor of the
    number itself."""

    arguments: tuple[str, ...]
    draw: Callable[[Generator, int, tuple[float, ...]], Floats]
    quantile: Callable[[Floats, tuple[float, ...]], Floats]
    relative: bool = False


def _spread(shares: Floats, a: tuple[float, ...]) -> Floats:
    return a[0] + (a[1] - a[0]) * shares


def _bell(shares: Floats) -> Floats:
    from scipy.special import ndtri

    return ndtri(shares)


KINDS: Mapping[str, Kind] = {
    "normal": Kind(
        ("mean", "deviation"), lambda random, n, a: random.normal(a[0], a[1], n), lambda u, a: a[0] + a[1] * _bell(u)
    ),
    "uniform": Kind(("lower", "upper"), lambda random, n, a: random.uniform(a[0], a[1], n), _spread),
    "scale": Kind(("lower", "upper"), lambda random, n, a: random.uniform(a[0], a[1], n), _spread, relative=True),
    "lognormal": Kind(
        ("deviation",),
        lambda random, n, a: np.exp(random.normal(0.0, a[0], n)),
        lambda u, a: np.exp(a[0] * _bell(u)),
        relative=True,
    ),
}


@dataclass(frozen=True)
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
        wanted = KINDS[self.kind].arguments
        if len(self.arguments) != len(wanted):
            flaws.add(path, f"{self.kind} takes {' and '.join(wanted)}, not {len(self.arguments)} numbers")
        elif not np.all(np.isfinite(self.arguments)):
            flaws.add(path, f"{self.kind} takes finite numbers")
        elif wanted[-1] == "deviation" and self.arguments[-1] <= 0:
            flaws.add(path, f"the deviation must be positive, is {self.arguments[-1]:g}")
        elif wanted[-1] == "upper" and self.arguments[0] >= self.arguments[1]:
            flaws.add(path, f"must rise from lower to upper, is {self.arguments[0]:g} to {self.arguments[1]:g}")
        return len(flaws.found) == before


@dataclass(frozen=True)
class Draw:
    """Numbers that share one random value a run.

    Attributes:
        bases: what the value of a relative distribution is multiplied with, 1 elsewhere.
    """

    label: str
    names: tuple[str, ...]
    bases: tuple[float, ...]
    distribution: Distribution

    def sample(self, count: int, seed: int) -> Floats:
        """Values of the first draws, (count, n_names): more draws begin with the same ones."""
        random = np.random.default_rng([seed, zlib.crc32(self.label.encode())])
        factors = KINDS[self.distribution.kind].draw(random, count, self.distribution.arguments)
        return np.outer(factors, self.bases)

    def place(self, shares: Floats) -> Floats:
        """Values below which these shares of all draws lie, (count, n_names)."""
        return np.outer(KINDS[self.distribution.kind].quantile(shares, self.distribution.arguments), self.bases)


def sample_draws(draws: Sequence[Draw], count: int, seed: int, sampling: str) -> list[Floats]:
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
        flaws.add("runs", f"a Sobol sequence is even for powers of 2, not for {runs}", f"take {less} or {2 * less}")
    elif sampling == SOBOL and n_draws > MOST_SOBOL:
        flaws.add("sampling", f"a Sobol sequence has at most {MOST_SOBOL} numbers, not {n_draws}", LATIN)


def make_draws(flaws: FlawList, given: Mapping[str, Distribution], known: Mapping[str, Number]) -> list[Draw]:
    """A draw for each number a pattern matches, one for all names of a list with commas; problems are collected."""
    draws = []
    for key, distribution in given.items():
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
