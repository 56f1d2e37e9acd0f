"""Hydraulic parameter estimation: which parameters follow from a few numbers read off measured responses?

A cylinder whose oil has the compliance c and the leakage k, on a mass M with viscous friction B, answers a no-load
flow Q (as a speed) with

    x = Q / (s (s^2/w^2 + 2 beta s/w + 1)),   w^2 = (1 + k B)/(c M),   2 beta w c M = k M + c B

Published modelling study of the EPAAS robot, chapter 6: `estimate_cylinder`, `estimate_resonator` and `estimate_delay`
are its procedures. Vane motors are cylinders that turn: rad for m, N m for N, kg m^2 for kg.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import least_squares, lsq_linear

from robodyn.base.errors import FlawList

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Estimate:
    """A value and its standard error; NaN where the data determine the value but leave nothing over to judge it by."""

    value: float
    error: float


@dataclass(frozen=True)
class CylinderEstimate:
    """Parameters of a cylinder, and what its responses have beyond the model.

    Attributes:
        compliance: c_0 [m/N]; leakage: 1/c_h [m/(N s)]; friction: B [N s/m].
        added_mass: what moves beside the known masses [kg].
        frequency_residuals: measured - model [Hz]; damping_residuals: measured - model.
    """

    compliance: Estimate
    leakage: Estimate
    friction: Estimate
    added_mass: Estimate
    frequency_residuals: Floats
    damping_residuals: Floats


@dataclass(frozen=True)
class ResonatorEstimate:
    """A second-order element: undamped natural frequency [Hz] and relative damping."""

    frequency: float
    damping: float


@dataclass(frozen=True)
class DelayEstimate:
    """A pure delay [s] and the phases it leaves unexplained, measured - model [rad]."""

    delay: Estimate
    residuals: Floats


@dataclass(frozen=True)
class TableEstimate:
    """A piecewise-linear, never falling function: knots, values there, and measured - model at the samples."""

    knots: Floats
    values: Floats
    residuals: Floats


def predict_resonance(mass: ArrayLike, *, compliance: float, leakage: float, friction: float) -> tuple[Floats, Floats]:
    """Natural frequency [Hz] and relative damping of a cylinder on masses [kg]; see the module."""
    m = np.asarray(mass, float)
    grown = 1 + leakage * friction
    damping = (leakage * m + compliance * friction) / (2 * np.sqrt(compliance * m * grown))
    return np.sqrt(grown / (compliance * m)) / (2 * np.pi), damping


def estimate_cylinder(
    mass: ArrayLike, frequency: ArrayLike, damping: ArrayLike, *, leakage: float | None = None
) -> CylinderEstimate:
    """A cylinder from its resonances with different masses, by two linear estimates that take 1 + k B as 1.

        c = mean of 1/(M w^2),   beta = k sqrt(M/c)/2 + B sqrt(c/M)/2   by least squares

    The errors of k and B count that of c. The residuals are those of the same simplified model.

    Args:
        mass: [kg]; frequency: undamped natural frequency [Hz]; damping: relative, (n_masses,) each.
        leakage: k where it is known, such as 0 [m/(N s)]; one mass is then enough.
    """
    m, f, beta = _check_pairs(mass, frequency, damping, least=2 if leakage is None else 1, leakage=leakage)
    (c,) = _regress(np.ones((m.size, 1)), 1 / (m * (2 * np.pi * f) ** 2))
    columns = np.column_stack([np.sqrt(m / c.value), np.sqrt(c.value / m)]) / 2
    if leakage is None:
        k, b = (_widen(estimate, c) for estimate in _regress(columns, beta))
    else:
        k = Estimate(float(leakage), 0.0)
        (b,) = (_widen(estimate, c) for estimate in _regress(columns[:, 1:], beta - leakage * columns[:, 0]))
    beyond = f - 1 / (2 * np.pi * np.sqrt(c.value * m))
    return CylinderEstimate(c, k, b, Estimate(0.0, 0.0), beyond, beta - columns @ [k.value, b.value])


def refine_cylinder(
    mass: ArrayLike, frequency: ArrayLike, damping: ArrayLike, *, added_mass: float | None = None
) -> CylinderEstimate:
    """A cylinder from the same pairs by the whole model, all parameters at once.

        least squares of log(f/f_model) and log(beta/beta_model) over c, k, B and an added mass, none negative

    Args:
        mass, frequency, damping: as for `estimate_cylinder`.
        added_mass: what moves beside the masses [kg]; None estimates it, which needs three masses.
    """
    m, f, beta = _check_pairs(mass, frequency, damping, least=3 if added_mass is None else 2, added_mass=added_mass)
    scales = _scales(m, f, beta)
    fixed = [] if added_mass is None else [added_mass / scales[3]]

    def predict(shares: Floats) -> tuple[Floats, Floats]:
        c, k, b, extra = scales * [*shares, *fixed]
        return predict_resonance(m + extra, compliance=c, leakage=k, friction=b)

    def deviate(shares: Floats) -> Floats:
        f_model, beta_model = predict(shares)
        return np.concatenate([np.log(f / f_model), np.log(beta / beta_model)])

    # Half of the damping from leakage, half from friction; and a tenth of the mean mass beside it.
    start = [1.0, 0.5, 0.5, 0.1][: 4 - len(fixed)]
    best = least_squares(deviate, start, bounds=(0.0, np.inf), xtol=1e-14, ftol=1e-14, gtol=1e-14)
    f_model, beta_model = predict(best.x)
    values, errors = [*best.x, *fixed], [*_errors(best.jac, best.fun), *(0.0 for _ in fixed)]
    c, k, b, extra = _pair(scales * values, scales * errors)
    return CylinderEstimate(c, k, b, extra, f - f_model, beta - beta_model)


def estimate_resonator(frequency: float, peak: float) -> ResonatorEstimate:
    """A second-order element from the peak of its amplitude response.

        peak = 1/(2 beta sqrt(1 - beta^2)),   f_peak = f sqrt(1 - 2 beta^2)

    Args:
        frequency: where the peak is [Hz].
        peak: amplitude there over that at low frequencies (3 dB are 10^(3/20)).
    """
    flaws = FlawList()
    if not (np.isfinite(frequency) and frequency > 0):
        flaws.add("frequency", f"must be positive, is {frequency:g} Hz")
    if not (np.isfinite(peak) and peak > 1):
        flaws.add("peak", f"must exceed 1, is {peak:g}", "an element without a peak is damped by more than 0.707")
    flaws.raise_if_any("peak of a response")
    square = (1 - np.sqrt(1 - peak**-2)) / 2
    return ResonatorEstimate(float(frequency / np.sqrt(1 - 2 * square)), float(np.sqrt(square)))


def estimate_delay(frequency: ArrayLike, phase: ArrayLike) -> DelayEstimate:
    """A pure delay from phases, by the straight line through the origin.

        phase = -2 pi f delay   by least squares

    Args:
        frequency: [Hz]; phase: of the response, without jumps by 2 pi, negative where it lags [rad].
    """
    flaws = FlawList()
    f, phi = _read(flaws, "frequency", frequency), _read(flaws, "phase", phase, positive=False)
    _check_sizes(flaws, frequency=f, phase=phi)
    flaws.raise_if_any("delay from phases")
    omega = 2 * np.pi * f
    (delay,) = _regress(-omega[:, None], phi)
    if delay.value < 0:
        flaws.add("phase", f"leads: the delay would be {delay.value:g} s", "give lags as negative angles")
    flaws.raise_if_any("delay from phases")
    return DelayEstimate(delay, phi + omega * delay.value)


def estimate_flow_table(current: ArrayLike, speed: ArrayLike, knots: ArrayLike) -> TableEstimate:
    """A no-load flow function from steady currents and speeds: straight between knots, nowhere falling.

        least squares of speed - Q(current) over the values of Q at the knots

    Args:
        current, speed: any order, (n_samples,) each.
        knots: currents where Q may bend, rising; they span all samples, which must determine each of them.
    """
    flaws = FlawList()
    x, y = (_read(flaws, name, values, positive=False) for name, values in (("current", current), ("speed", speed)))
    grid = _read(flaws, "knots", knots, positive=False)
    _check_sizes(flaws, current=x, speed=y)
    _check_knots(flaws, grid, x)
    flaws.raise_if_any("flow table")
    hats = np.column_stack([np.interp(x, grid, unit) for unit in np.eye(grid.size)])
    if (rank := np.linalg.matrix_rank(hats)) < grid.size:
        flaws.add(
            "knots", f"{grid.size} are more than the currents determine, {rank}", "leave out knots far from samples"
        )
    flaws.raise_if_any("flow table")
    # Values are sums of the steps between knots: never falling where no step is negative.
    sums = np.tri(grid.size)
    lower = np.concatenate([[-np.inf], np.zeros(grid.size - 1)])
    steps = lsq_linear(hats @ sums, y, bounds=(lower, np.inf), method="bvls").x
    return TableEstimate(grid, sums @ steps, y - hats @ sums @ steps)


def _regress(columns: Floats, values: Floats) -> tuple[Estimate, ...]:
    """Coefficients of the columns by least squares."""
    found = np.linalg.lstsq(columns, values, rcond=None)[0]
    return _pair(found, _errors(columns, values - columns @ found))


def _pair(values: ArrayLike, errors: ArrayLike) -> tuple[Estimate, ...]:
    pairs = np.column_stack([np.asarray(values, float), np.asarray(errors, float)])
    return tuple(Estimate(float(value), float(error)) for value, error in pairs)


def _widen(estimate: Estimate, compliance: Estimate) -> Estimate:
    """The error with that of the compliance, whose root or inverse root is a factor of the estimate."""
    share = compliance.error / (2 * compliance.value)
    return Estimate(estimate.value, float(np.hypot(estimate.error, estimate.value * share)))


def _errors(jacobian: Floats, residuals: Floats) -> Floats:
    """Standard errors sqrt(s^2 diag((J^T J)^-1)), s^2 the mean square of the residuals by degrees of freedom."""
    rows, columns = jacobian.shape
    if rows <= columns:
        return np.full(columns, np.nan)
    inverse = np.linalg.pinv(jacobian)
    return np.sqrt(residuals @ residuals / (rows - columns) * np.sum(inverse**2, axis=1))


def _scales(mass: Floats, frequency: Floats, damping: Floats) -> Floats:
    """Typical compliance, leakage, friction and mass: one of them alone explains the mean frequency or damping."""
    m = float(mass.mean())
    c = 1 / (m * (2 * np.pi * frequency.mean()) ** 2)
    beta = float(damping.mean())
    return np.array([c, 2 * beta * np.sqrt(c / m), 2 * beta * np.sqrt(m / c), m])


def _check_pairs(
    mass: ArrayLike, frequency: ArrayLike, damping: ArrayLike, *, least: int, **known: float | None
) -> tuple[Floats, Floats, Floats]:
    flaws = FlawList()
    given = {"mass": mass, "frequency": frequency, "damping": damping}
    m, f, beta = (_read(flaws, name, values) for name, values in given.items())
    _check_sizes(flaws, mass=m, frequency=f, damping=beta)
    if np.unique(m).size < least:
        flaws.add("mass", f"{np.unique(m).size} different masses, at least {least} are needed")
    for name, value in known.items():
        if value is not None and not (np.isfinite(value) and value >= 0):
            flaws.add(name, f"must be zero or positive, is {value:g}")
    flaws.raise_if_any("resonances of a cylinder")
    return m, f, beta


def _check_knots(flaws: FlawList, knots: Floats, samples: Floats) -> None:
    if knots.size < 2 or np.any(np.diff(knots) <= 0):
        flaws.add("knots", "must be two or more rising currents")
    elif samples.size and not (knots[0] <= samples.min() and samples.max() <= knots[-1]):
        flaws.add("knots", f"must span all currents, {samples.min():g} to {samples.max():g}")


def _check_sizes(flaws: FlawList, **columns: Floats) -> None:
    sizes = {name: column.size for name, column in columns.items()}
    if len(set(sizes.values())) > 1 or not all(sizes.values()):
        message = ", ".join(f"{size} of {name}" for name, size in sizes.items())
        flaws.add("", f"measurements come together, not as {message}")


def _read(flaws: FlawList, name: str, values: ArrayLike, positive: bool = True) -> Floats:
    """Numbers as a row, (n,); wrong ones are flaws."""
    row = np.atleast_1d(np.asarray(values, float))
    wrong = ~np.isfinite(row) | (positive & (row <= 0))
    if row.ndim != 1:
        flaws.add(name, f"must be a row of numbers, has the shape {row.shape}")
    for k in np.flatnonzero(wrong) if row.ndim == 1 else ():
        flaws.add(f"{name}[{k}]", f"must be {'positive' if positive else 'a finite number'}, is {row[k]:g}")
    return row
