"""Base parameters: which combinations of a machine's parameters show in its joint forces at all?

Symbols: Y the regressor at many random motions, K how the columns left out follow from those that are kept.

    Y_left = Y_kept K,   beta = theta_kept + K theta_left

Y is exact, so that a column either follows from those before it to rounding or differs by its whole size: the rank is
that of the machine, whatever motion is measured (Gautier 1991).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from robodyn.analysis.identification.closure import own_parts
from robodyn.analysis.identification.regressor import Regressor
from robodyn.computation.results.signal import Floats

DEPENDENT = 1e-8
"""Part of a column that others do not give, by its length, that is rounding."""
NONE = 1e-10
"""Factor that is rounding."""


@dataclass(frozen=True, eq=False)
class BaseParameters:
    """beta = G theta.

    Attributes:
        kept: places of the columns of Y that are kept, one for each base parameter; G: (n_base, n_theta).
        names: of the base parameters, as sums; silent: names of parameters without any effect.
        gap: smallest part of a kept column that is its own, over the largest of one left out: the rank is beyond doubt.
    """

    kept: tuple[int, ...]
    G: Floats
    names: tuple[str, ...]
    silent: tuple[str, ...]
    gap: float


def find_base_parameters(regressor: Regressor, seed: int = 0) -> BaseParameters:
    """The base parameters of a machine; those of laws come first and stay by themselves, offsets of efforts last."""
    n, count = len(regressor.joints), len(regressor.parameters)
    rng = np.random.default_rng(seed)
    samples = 3 * count // n + 20
    # Slow rows too, where friction of laws differs most.
    speeds = 10.0 ** rng.uniform(-3, 0.5, (samples, 1))
    q, a = regressor.draw_positions(rng, samples), rng.normal(0, 3, (samples, n))
    Y = regressor(q, speeds * rng.normal(0, 1, (samples, n)), a)[0].reshape(-1, count)
    sizes = np.linalg.norm(Y, axis=0)
    offsets = count - len(regressor.offsets)
    order = sorted(range(count), key=lambda k: (k >= offsets, bool(regressor.parameters[k].body)))
    parts = own_parts(Y, order, NONE, DEPENDENT)
    kept = sorted(k for k, part in parts.items() if part > DEPENDENT)
    left = [k for k in parts if k not in kept]
    own, rest = min(parts[k] for k in kept), max((parts[k] for k in left), default=0.0)
    G = np.zeros((len(kept), count))
    G[range(len(kept)), kept] = 1.0
    if left:
        # Shares of columns scaled to length 1 are without unit: what is rounding among them is left out.
        shares = np.linalg.lstsq(Y[:, kept] / sizes[kept], Y[:, left] / sizes[left])[0]
        shares[np.abs(shares) < NONE] = 0.0
        G[:, left] = shares * sizes[left] / sizes[kept, None]
    names = tuple(_describe(row, k, regressor.names) for row, k in zip(G, kept, strict=True))
    silent = tuple(regressor.names[k] for k in range(count) if sizes[k] <= NONE * sizes.max())
    return BaseParameters(tuple(kept), G, names, silent, own / max(rest, 1e-300))


def _describe(row: Floats, own: int, names: Sequence[str]) -> str:
    """A sum such as `arm.Lzz + 0.25 tool.mass`."""
    others = [k for k in np.flatnonzero(row).tolist() if k != own]
    parts = [f" {'+' if row[k] > 0 else '-'} {_factor(abs(row[k]))}{names[k]}" for k in others]
    return names[own] + "".join(parts)


def _factor(value: float) -> str:
    return "" if abs(value - 1) < 1e-9 else f"{value:.4g} "
