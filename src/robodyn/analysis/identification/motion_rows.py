"""Rows of the regression: from noisy positions and efforts to filtered regressors and forces, without phase.

    q -> low-pass -> q, v, a by central differences -> Y, tau_0 -> low-pass -> every n-th row
    tau                                                        -> low-pass -> every n-th row

Both sides pass the same filter, so that it changes nothing but the noise (Gautier 1997). Rows in which a joint hardly
moves are left out: dry friction has no direction there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from robodyn.analysis.identification.efforts import Effort
from robodyn.analysis.identification.regressor import Regressor
from robodyn.analysis.measurement.data_sheet import (
    GAP,
    assess_clock,
    assess_signal,
    describe_saturation,
    estimate_noise,
)
from robodyn.analysis.measurement.measured import without
from robodyn.analysis.measurement.responses import ANTI_ALIAS, LowPass, differentiate, resample
from robodyn.base.errors import Flaw, FlawList, ModelError, nearest
from robodyn.computation.results import Run
from robodyn.computation.results.signal import Floats

NOISY = 1e-4
"""Power of the noise in an acceleration, by that of the acceleration: by so much it makes inertias too small."""
PER_CUTOFF = 5.0
"""Rows that are kept, by the cutoff: twice what it takes, to see whether what is left is white."""
OVERSAMPLED = 10.0
"""Rows at which regressors are computed, by the cutoff."""
HELD = 3.0
"""Deviation of a position, by its noise, below which the joint is held."""
NEAR = 0.5
"""Periods of the cutoff over which the filter mixes rows."""
STILL = 0.01
"""Speed, by a joint's greatest, below which it hardly moves; more where the noise of the speed is more."""


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of one recording: time (n,), Y (n, joints, parameters), tau (n, joints), used (n, joints).

    Attributes:
        rate: of the rows [Hz]; cutoff: of the low-pass [Hz].
    """

    time: Floats
    Y: Floats
    tau: Floats
    used: np.ndarray
    rate: float
    cutoff: float

    def part(self, kept: np.ndarray) -> Rows:
        return Rows(self.time[kept], self.Y[kept], self.tau[kept], self.used[kept], self.rate, self.cutoff)


def check_data(regressor: Regressor, efforts: Sequence[Effort], data: Run) -> None:
    """Refuse data without positions, and saturated efforts."""
    flaws = FlawList()
    for joint in regressor.joints:
        if f"{joint}.position" not in data:
            remedy = nearest(f"{joint}.position", data.names)
            flaws.add(f"{joint}.position", "is not in the data", f"{remedy}; a mapping names it")
    kept = data.provenance.description.get("saturation_kept", [])
    for name in (name for effort in efforts for name in effort.signals if name not in kept):
        describe_saturation(name, data, flaws)
    flaws.raise_if_any("measured data")


def choose_cutoff(data: Run, joints: Sequence[str]) -> float:
    """The highest frequency [Hz] up to which noise of positions spoils no acceleration; of joints that are moved.

    White noise of deviation s at a rate r has, low-passed and differentiated twice, the power

        s^2 (2 / r) (2 pi)^4 f^5 / 5
    """
    rate = assess_clock(data.time).rate
    lowest, highest = 4 * rate / len(data.time), rate / 6
    found = highest
    for joint in joints:
        only = without(data, [name for name in data.names if name != f"{joint}.position"])
        q = _even(only, rate, highest).values[:, 0]
        quality = assess_signal(q)
        noise = max(np.nan_to_num(quality.noise), quality.quantum / 12**0.5, 1e-300)
        own = highest
        if np.nanstd(q) <= HELD * noise:
            continue
        for _ in range(4):
            q = _even(only, rate, own).values[:, 0]
            a = differentiate(differentiate(LowPass(own)(q, rate), rate), rate)
            allowed = NOISY * float(np.nanvar(a)) * 5 * rate / (2 * (2 * np.pi) ** 4 * noise**2)
            own = float(np.clip(allowed**0.2, lowest, own))
        found = min(found, own)
    return found


def make_rows(
    regressor: Regressor,
    efforts: Sequence[Effort],
    jacobians: Floats,
    data: Run,
    cutoff: float | None = None,
) -> Rows:
    """Filtered rows of one recording.

    Args:
        regressor: of the base parameters.
        jacobians: how each effort acts on the joints, (n_efforts, n_joints).
        cutoff: of the low-pass [Hz], None to find one.
    """
    check_data(regressor, efforts, data)
    rate = assess_clock(data.time).rate
    chosen = choose_cutoff(data, regressor.joints) if cutoff is None else cutoff
    even = _even(data, rate, chosen)
    q = LowPass(chosen)(np.column_stack([even[f"{joint}.position"].values for joint in regressor.joints]), rate)
    v = differentiate(q, rate)
    a = differentiate(v, rate)
    tau = np.column_stack([effort.of(even) for effort in efforts]) @ jacobians
    # Ten rows for each period of the cutoff are enough for what follows.
    every = max(int(rate / (OVERSAMPLED * chosen)), 1)
    slow = rate / every
    if every > 1:
        tau = LowPass(ANTI_ALIAS * slow)(tau, rate)
    q, v, a, tau, time = (part[::every] for part in (q, v, a, tau, even.time))
    present = np.isfinite(np.hstack([q, v, a, tau])).all(axis=1)
    Y = np.full((len(q), len(regressor.joints), len(regressor.parameters)), np.nan)
    forces = np.full(q.shape, np.nan)
    Y[present], fixed = regressor(q[present], v[present], a[present])
    forces[present] = tau[present] - fixed
    smooth = LowPass(chosen)
    Y, forces = smooth(Y.reshape(len(q), -1), slow).reshape(Y.shape), smooth(forces, slow)
    used = (
        np.isfinite(forces)
        & _away_from(np.logical_not(present), slow, chosen)[:, None]
        & _sliding(regressor, q, v, slow, chosen)
    )
    if not used.any():
        gaps = len(assess_clock(data.time).gaps)
        what = f"no rows are left: a low-pass of {chosen:.3g} Hz mixes rows over {NEAR / chosen:.3g} s"
        remedy = "log longer without them, move faster, or give a higher cutoff"
        raise ModelError([Flaw("rows", f"{what}, and there are {gaps} gaps and joints that stand still", remedy)],
                         "measured data")  # fmt: skip
    thin = slice(None, None, max(int(slow / (PER_CUTOFF * chosen)), 1))
    return Rows(
        time[thin], np.nan_to_num(Y)[thin], np.nan_to_num(forces)[thin], used[thin], slow / (thin.step or 1), chosen
    )


def _even(data: Run, rate: float, cutoff: float) -> Run:
    """Even rows; gaps too short for what a low-pass leaves, such as stumbles of a clock, are interpolated.

    Parts on both sides of a longer gap are filtered by themselves, and the rows near it are lost.
    """
    return resample(data, rate, filtered=False, widest_gap=max(GAP / rate, 1 / (OVERSAMPLED * cutoff)))


def _sliding(regressor: Regressor, q: Floats, v: Floats, rate: float, cutoff: float) -> np.ndarray:
    """Rows of each joint in which all friction on it has a direction, (n, joints)."""
    speeds = regressor.speeds(q, v)
    used = np.ones(v.shape, bool)
    for speed, gradient in zip(speeds.T, regressor.rubbing, strict=True):
        known = speed[np.isfinite(speed)]
        least = max(STILL * float(np.abs(known).max()), 5 * float(np.nan_to_num(estimate_noise(known)[0])))
        slides = _away_from(~(np.abs(np.nan_to_num(speed)) > least), rate, cutoff)
        used[:, gradient != 0] &= slides[:, None]
    return used


def _away_from(gone: np.ndarray, rate: float, cutoff: float) -> np.ndarray:
    """Rows that no filter has begun or ended near to, and that the filter has not mixed with rows left out."""
    edge = int(np.ceil(NEAR * rate / cutoff))
    padded = np.concatenate([np.ones(edge), gone, np.ones(edge)])
    return np.convolve(padded, np.ones(2 * edge + 1), "valid") < 0.5
