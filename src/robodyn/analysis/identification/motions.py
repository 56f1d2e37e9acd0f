"""Motions of an experiment: Fourier series and splines, linear in their coefficients c, that begin and end at rest.

    q(t) = B(t) c,   q(0) = q(T),   q'(0) = q'(T) = 0,   q''(0) = q''(T) = 0

The conditions at the ends are linear in c too: c = Z y keeps them for every y.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from robodyn.computation.results.signal import Floats

MOTIONS = ("fourier", "spline")


@dataclass(frozen=True)
class AxisSeries:
    """The series of one joint, as `multisine_reference` takes it."""

    joint: str
    sines: tuple[float, ...]
    cosines: tuple[float, ...]
    offset: float


@dataclass(frozen=True)
class AxisSpline:
    """The cubic spline of one joint, as `spline_reference` takes it."""

    joint: str
    times: tuple[float, ...]
    points: tuple[float, ...]


@dataclass(frozen=True)
class MotionFamily:
    """All motions of a kind: series of a frequency [Hz], or splines over its period with as many free numbers."""

    kind: str
    frequency: float
    harmonics: int

    def basis(self, time: Floats) -> tuple[Floats, Floats, Floats]:
        """B and its first and second derivatives at times [s]."""
        return self._splines(time) if self.kind == "spline" else self._waves(time)

    def _waves(self, time: Floats) -> tuple[Floats, Floats, Floats]:
        """Columns 1, sin k w t, cos k w t."""
        w = 2 * np.pi * self.frequency * np.arange(1, self.harmonics + 1)
        s, c = np.sin(np.outer(time, w)), np.cos(np.outer(time, w))
        one, none = np.ones((len(time), 1)), np.zeros((len(time), 1))
        return np.hstack([one, s, c]), np.hstack([none, w * c, -w * s]), np.hstack([none, -w * w * s, -w * w * c])

    def _splines(self, time: Floats) -> tuple[Floats, Floats, Floats]:
        """Columns: cubic splines that are 1 at one of the knots and 0 at the others."""
        from scipy.interpolate import CubicSpline

        spline = CubicSpline(self.knots, np.eye(len(self.knots)), bc_type="clamped")
        return spline(time), spline(time, 1), spline(time, 2)

    @property
    def knots(self) -> Floats:
        """Times of a spline's points [s]: three more than its free numbers, which the ends take."""
        return np.linspace(0, 1 / self.frequency, 2 * self.harmonics + 2)

    @cached_property
    def free(self) -> Floats:
        """Z, orthonormal."""
        from scipy.linalg import null_space

        B, rate, acceleration = self.basis(np.array([0.0, 1 / self.frequency]))
        ends = np.vstack([B[1] - B[0], rate / self.frequency, acceleration / self.frequency**2])
        return np.asarray(null_space(ends, rcond=1e-9))

    @cached_property
    def still(self) -> Floats:
        """y of the motion that stays at 1."""
        constant = np.ones(len(self.free)) if self.kind == "spline" else np.eye(len(self.free))[0]
        return np.asarray(self.free.T @ constant)

    def draw(self, rng: np.random.Generator, joints: int) -> Floats:
        """y of random motions about 0, (free numbers, joints), of a mean square of 1, slow parts larger."""
        k = np.arange(1, self.harmonics + 1)
        wide = rng.normal(0, 1, (2 * self.harmonics, joints)) / np.concatenate([k, k])[:, None]
        if self.kind == "spline":
            waves = MotionFamily("fourier", self.frequency, self.harmonics).basis(self.knots)[0]
            y = self.free.T @ (waves[:, 1:] @ wide)
        else:
            y = self.free[1:].T @ wide
        shape = self.basis(np.linspace(0, 1 / self.frequency, 200))[0] @ self.free @ y
        return np.asarray(y / np.sqrt(np.mean(shape**2, axis=0)))

    def axes(self, joints: tuple[str, ...], c: Floats) -> tuple[AxisSeries, ...] | tuple[AxisSpline, ...]:
        """Coefficients (coefficients, joints) as the laws of references take them."""
        columns, h = c.T.tolist(), self.harmonics
        if self.kind == "spline":
            times = tuple(self.knots.tolist())
            return tuple(AxisSpline(joint, times, tuple(own)) for joint, own in zip(joints, columns, strict=True))
        return tuple(
            AxisSeries(joint, tuple(own[1 : h + 1]), tuple(own[h + 1 :]), own[0])
            for joint, own in zip(joints, columns, strict=True)
        )
