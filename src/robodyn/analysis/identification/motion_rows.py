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
from robodyn.analysis.measurement.data_sheet import assess_clock
from robodyn.analysis.measurement.filtering import ANTI_ALIAS, LowPass, differentiate, resample
from robodyn.analysis.measurement.signal_quality import assess_signal, estimate_noise
from robodyn.errors import FlawList, nearest
from robodyn.results import Run
from robodyn.results.signal import Floats

ABOVE_NOISE = 10.0
"""Power of a position, by that of its noise, that is motion."""
BEYOND = 2.0
"""Cutoff, by the highest frequency of the motion."""
PER_CUTOFF = 5.0
"""Rows that are kept, by the cutoff: twice what it takes, to see whether what is left is white."""
OVERSAMPLED = 10.0
"""Rows at which regressors are computed, by the cutoff."""
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
        stretches = assess_signal(data[name].values).saturated
        if stretches:
            worst = max(stretches, key=lambda stretch: stretch.count)
            what = f"is saturated at {worst.value:.5g}: rows {worst.start + 1} to {worst.end + 1}"
            remedy = 'limit = ... in a mapping leaves such rows out, saturation = "keep" takes them as they are'
            flaws.add(name, f"{what} and {sum(s.count for s in stretches) - worst.count} more", remedy)
    flaws.raise_if_any("measured data")


def choose_cutoff(data: Run, joints: tuple[str, ...]) -> float:
    """A frequency [Hz] well above that of the motion: where positions rise out of their noise."""
    from scipy.signal import welch

    rate = assess_clock(data.time).rate
    highest = 0.0
    for joint in joints:
        q = data[f"{joint}.position"].values
        q = q[np.isfinite(q)]
        f, power = welch(np.diff(q), rate, nperseg=min(2048, q.size // 2), detrend="linear")
        # Of differences noise rises with frequency; its floor is that of the upper half, brought down.
        shape = np.maximum(np.sin(np.pi * f / rate) ** 2, 1e-12)
        floor = float(np.median((power / shape)[f > rate / 4]))
        moving = f[(power / shape > ABOVE_NOISE * floor) & (f > 0)]
        highest = max(highest, float(moving.max(initial=0.0)))
    return float(np.clip(BEYOND * highest, 4 * rate / len(data.time), rate / 6))


def make_rows(
    regressor: Regressor, kept: Sequence[int], efforts: Sequence[Effort], jacobians: Floats, data: Run, cutoff: float | None
) -> Rows:
    """Filtered rows of one recording.

    Args:
        kept: columns of the regressor.
        jacobians: how each effort acts on the joints, (n_efforts, n_joints).
        cutoff: of the low-pass [Hz], None to find one.
    """
    check_data(regressor, efforts, data)
    rate = assess_clock(data.time).rate
    even = resample(data, rate, filtered=False)
    chosen = choose_cutoff(data, regressor.joints) if cutoff is None else cutoff
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
    Y = np.full((len(q), len(regressor.joints), len(kept)), np.nan)
    forces = np.full(q.shape, np.nan)
    whole, fixed = regressor(q[present], v[present], a[present])
    Y[present], forces[present] = whole[:, :, kept], tau[present] - fixed
    smooth = LowPass(chosen)
    Y, forces = smooth(Y.reshape(len(q), -1), slow).reshape(Y.shape), smooth(forces, slow)
    used = _moving(v) & np.isfinite(forces) & _away_from_ends(present, slow, chosen)[:, None]
    thin = slice(None, None, max(int(slow / (PER_CUTOFF * chosen)), 1))
    return Rows(
        time[thin], np.nan_to_num(Y)[thin], np.nan_to_num(forces)[thin], used[thin], slow / (thin.step or 1), chosen
    )


def _moving(v: Floats) -> np.ndarray:
    fastest = np.nanmax(np.abs(v), axis=0)
    noise = np.array([estimate_noise(column[np.isfinite(column)])[0] for column in v.T])
    return np.abs(np.nan_to_num(v)) > np.maximum(STILL * fastest, 5 * np.nan_to_num(noise))


def _away_from_ends(present: np.ndarray, rate: float, cutoff: float) -> np.ndarray:
    """Rows that no filter has begun or ended near to."""
    edge = int(np.ceil(rate / cutoff))
    gone = np.concatenate([np.ones(edge), ~present, np.ones(edge)])
    return np.convolve(gone, np.ones(2 * edge + 1), "valid") < 0.5
