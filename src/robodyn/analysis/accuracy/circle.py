"""Circular test (ISO 230-4): how round is a circle that a machine has followed, and how high are its quadrant peaks?

    F(angle) = |p - centre| - R          radial deviation from the nominal circle
    G = max r - min r                    circular deviation, about the centre of the least-squares circle
    H = max |r_forwards - r_backwards|   circular hysteresis of two runs in opposite directions

A quadrant peak is how far F rises or falls where an axis turns back: from the straight line between both ends of a
window around the reversal.
"""

from __future__ import annotations

import numpy as np

from robodyn.base import Array, frozen, refuse, refuse_unknown
from robodyn.computation.results import Run

WINDOW = np.radians(30.0)
"""Half of the window around a reversal."""
POINTS = 3601
TURN = 2 * np.pi
REST = 1e-4
"""Part of a turn that may be left at its end: what follows is standing still, which has no speed along the circle."""


@frozen
class QuadrantPeak:
    """A peak [m], with its sign, near the angle [rad] at which an axis turns back, and the angle at which it is."""

    reversal: float
    angle: float
    height: float


@frozen(eq=False)
class CircleTest:
    """The last whole turn of a run.

    Attributes:
        radius, centre: of the nominal circle [m]; fitted: radius and centre of the least-squares circle.
        angles: even, from 0 to 2 pi; deviation: F there [m]; speed: along the circle [m/s], the mean.
        highest, lowest: of F; circular: G.
        clockwise: seen from the third axis.
        machine: scenario of the run; payload: mass of the body of that name [kg]; checks: what its certificate says.
    """

    JSON = """
    name
    radius
    centre
    fitted
    speed
    highest
    lowest
    circular
    peaks
    clockwise
    """
    name: str
    radius: float
    centre: tuple[float, float]
    fitted: tuple[float, float, float]
    angles: Array
    deviation: Array
    speed: float
    highest: float
    lowest: float
    circular: float
    peaks: tuple[QuadrantPeak, ...]
    clockwise: bool
    machine: str = ""
    payload: float | None = None
    checks: str = ""


@frozen(eq=False)
class CircleTests:
    """Tests of one circle; hysteresis: H [m], of two in opposite directions."""

    JSON = """
    standard
    tests
    hysteresis
    """
    tests: tuple[CircleTest, ...]
    hysteresis: float | None = None
    standard: str = "ISO 230-4"


def measure_circle(
    run: Run,
    x: str,
    y: str,
    *,
    radius: float | None = None,
    centre: tuple[float, float] | None = None,
    name: str = "",
) -> CircleTest:
    """The figures of a run's last whole turn.

    Args:
        x, y: signals of the attained position.
        radius, centre: of the nominal circle; those of the turn's least-squares circle by default, radius to 1 um.

    Raises:
        ModelError: signals that are not there, or a motion that makes no whole turn.
    """
    refuse_unknown([x, y], run.names, "there is no such signal", "circle")
    time = np.linspace(float(run.time[0]), float(run.time[-1]), 20 * POINTS)
    p = np.column_stack([run[x](time), run[y](time)])
    part, sign = _last_turn(p - (centre if centre is not None else fit_circle(p)[1:]))
    # Fitted to the turn alone: how a tool comes to its circle is no part of it.
    fitted = fit_circle(p[part])
    middle = np.array(centre if centre is not None else fitted[1:])
    size = radius if radius is not None else round(fitted[0], 6)
    # Angles that increase from 0 to 2 pi, and radii.
    x_y = p[part] - middle
    angle = np.arctan2(x_y[:, 1], x_y[:, 0]) % TURN
    order = np.argsort(angle, kind="stable")
    angle, r = angle[order], np.linalg.norm(x_y, axis=1)[order]
    grid = np.linspace(0, TURN, POINTS)
    deviation = np.interp(grid, angle, r, period=TURN) - size
    about = np.linalg.norm(p[part] - fitted[1:], axis=1)
    span, count = time[part], len(run.certificate)
    speed = float(np.linalg.norm(np.diff(p[part], axis=0), axis=1).sum() / (span[-1] - span[0]))
    return CircleTest(
        name or run.provenance.scenario,
        size,
        (float(middle[0]), float(middle[1])),
        fitted,
        grid,
        deviation,
        speed,
        float(deviation.max()),
        float(deviation.min()),
        float(np.ptp(about)),
        tuple(_peak(grid, deviation, quarter * TURN / 4) for quarter in range(4)),
        sign < 0,
        run.provenance.scenario,
        run.provenance.parameters.get("payload.mass", {}).get("value"),
        f"{count - len(run.certificate.violated)} of {count} checks passed" if count else "",
    )


def fit_circle(p: Array) -> tuple[float, float, float]:
    """Radius and centre of the least-squares circle: algebraic start, then Gauss-Newton on the distances."""
    A = np.column_stack([2 * p, np.ones(len(p))])
    a, b, c = np.linalg.lstsq(A, (p**2).sum(axis=1), rcond=None)[0]
    circle = np.array([np.sqrt(max(c + a * a + b * b, 0.0)), a, b])
    for _ in range(10):
        apart = p - circle[1:]
        r = np.linalg.norm(apart, axis=1)
        J = np.column_stack([np.ones(len(p)), apart / np.maximum(r, 1e-300)[:, None]])
        circle = circle + np.linalg.lstsq(J, r - circle[0], rcond=None)[0]
    return float(circle[0]), float(circle[1]), float(circle[2])


def measure_hysteresis(one: CircleTest, other: CircleTest) -> float:
    """H [m] of two tests of the same circle in opposite directions."""
    if one.clockwise == other.clockwise:
        what = "both runs go round in the same direction"
        refuse("circle", what, "give one run in each", "circle")
    return float(np.max(np.abs((one.deviation + one.radius) - (other.deviation + other.radius))))


def _last_turn(p: Array) -> tuple[slice, float]:
    """The rows of the last whole turn, and 1 where it is anticlockwise, -1 where not."""
    angle = np.unwrap(np.arctan2(p[:, 1], p[:, 0]))
    turned = angle[-1] - angle[0]
    if abs(turned) < TURN * (1 - 1e-6):
        what = f"the motion goes {np.degrees(abs(turned)):.4g} deg round, not once"
        refuse("circle", what, "simulate longer, or give the centre", "circle")
    sign = 1.0 if turned > 0 else -1.0
    remaining_angle = sign * (angle[-1] - angle)
    begin = int(np.flatnonzero(remaining_angle >= TURN * (1 - 1e-6))[-1])
    end = begin + int(np.argmax(remaining_angle[begin:] <= TURN * REST))
    return slice(begin, end + 1), sign


def _peak(grid: Array, deviation: Array, reversal: float) -> QuadrantPeak:
    """The largest distance from the chord of a window around a reversal."""
    at = reversal + np.linspace(-WINDOW, WINDOW, 601)
    values = np.interp(at, grid, deviation, period=TURN)
    chord = np.interp(at, at[[0, -1]], values[[0, -1]])
    k = int(np.argmax(np.abs(values - chord)))
    return QuadrantPeak(reversal, float(at[k] % TURN), float(values[k] - chord[k]))
