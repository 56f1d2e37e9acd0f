"""Reference motions: where should a joint be, as a function of time?"""

import numpy as np

from robodyn.base import symbolic as sym
from robodyn.description.laws.definition import law

MOTION = {"time": "s", "position": "{x}", "velocity": "{x}/s", "acceleration": "{x}/s^2"}
JERKING = MOTION | {"jerk": "{x}/s^3"}


@law(value="{u}", time="s", at="s", before="{u}", after="{u}", breaks=lambda p: [p["at"]])
def step_reference(time, *, after, before=0.0, at=0.0):
    """Jumps from one value to another at a time (right-continuous)."""
    return {"value": sym.where(time < at, before, after)}


@law(
    value="{u}",
    time="s",
    rate="{u}/s",
    start="{u}",
    begin="s",
    end="s",
    checks={"end": "above begin"},
    breaks=lambda p: [p["begin"], p["end"]],
)
def ramp_reference(time, *, rate, start=0.0, begin=0.0, end=np.inf):
    """Rises at a constant rate between two times."""
    return {"value": start + rate * (sym.clip(time, begin, end) - begin)}


def trapezoid_times(distance, speed, acceleration):
    """Durations (ramp, cruise) of a rest-to-rest move; a short one is a triangle that never cruises.

    ramp = min(speed / acceleration, sqrt(distance / acceleration)), cruise = distance / peak - ramp
    """
    ramp = sym.minimum(speed / acceleration, sym.sqrt(distance / acceleration))
    peak = acceleration * ramp
    cruise = sym.maximum(sym.where(peak > 0, distance / sym.where(peak > 0, peak, 1.0), 0.0) - ramp, 0.0)
    return ramp, cruise


def trapezoid_breaks(begin, ramp, cruise):
    """Times at which the acceleration jumps."""
    return [begin, begin + ramp, begin + ramp + cruise, begin + 2 * ramp + cruise]


def _breaks_of_move(p):
    ramp, cruise = trapezoid_times(abs(p["target"] - p["start"]), p["speed"], p["top_acceleration"])
    return trapezoid_breaks(p["begin"], ramp, cruise)


@law(
    units=MOTION,
    start="{x}",
    target="{x}",
    speed="{x}/s",
    top_acceleration="{x}/s^2",
    begin="s",
    checks={"speed": "positive", "top_acceleration": "positive"},
    breaks=_breaks_of_move,
)
def trapezoid_reference(time, *, target, speed, top_acceleration, start=0.0, begin=0.0):
    """Rest-to-rest move with a trapezoidal speed profile: position, velocity and acceleration."""
    distance = sym.absolute(target - start)
    direction = sym.sign(target - start)
    ramp, cruise = trapezoid_times(distance, speed, top_acceleration)
    elapsed = time - begin
    rising = sym.clip(elapsed, 0.0, ramp)
    steady = sym.clip(elapsed - ramp, 0.0, cruise)
    falling = sym.clip(elapsed - ramp - cruise, 0.0, ramp)
    peak = top_acceleration * ramp
    travelled = 0.5 * top_acceleration * (rising**2 - falling**2) + peak * (steady + falling)
    # Compared with the very numbers the solver stops at: the acceleration is right-continuous there.
    rise, steady_from, fall, end = trapezoid_breaks(begin, ramp, cruise)
    in_rise = sym.logical_and(time >= rise, time < steady_from)
    in_fall = sym.logical_and(time >= fall, time < end)
    slope = sym.where(in_rise, 1.0, 0.0) - sym.where(in_fall, 1.0, 0.0)
    return {
        "position": start + direction * travelled,
        "velocity": direction * top_acceleration * (rising - falling),
        "acceleration": direction * top_acceleration * slope,
    }


def spline_coefficients(times, points, ends="clamped"):
    """Cubic pieces through points, continuous to the second derivative.

    Returns (4, n-1): position on piece k is `c0 + c1 s + c2 s^2 + c3 s^3`, `s = t - t_k`.

    Args:
        ends: "clamped" has zero velocity at both ends, "natural" zero acceleration.
    """
    from scipy.linalg import solve_banded

    t, y = np.asarray(times, float), np.asarray(points, float)
    h = np.diff(t)
    slope = np.diff(y) / h
    # h_k m_{k-1} + 2 (h_{k-1} + h_k) m_k + h_{k-1} m_{k+1} = 3 (h_k slope_{k-1} + h_{k-1} slope_k) within; at the ends
    # m = 0, or 2 m_0 + m_1 = 3 slope_0 and its mirror image.
    above, middle, below, right = (np.zeros(t.size) for _ in range(4))
    above[2:], middle[1:-1], below[:-2] = h[:-1], 2 * (h[:-1] + h[1:]), h[1:]
    right[1:-1] = 3 * (h[1:] * slope[:-1] + h[:-1] * slope[1:])
    middle[[0, -1]] = 1.0
    if ends == "natural":
        middle[[0, -1]], above[1], below[-2] = 2.0, 1.0, 1.0
        right[[0, -1]] = 3 * slope[[0, -1]]
    m = solve_banded((1, 1), np.array([above, middle, below]), right)
    c2 = (3 * slope - 2 * m[:-1] - m[1:]) / h
    c3 = (m[:-1] + m[1:] - 2 * slope) / h**2
    return np.array([y[:-1], m[:-1], c2, c3])


@law(
    units=JERKING,
    times="s",
    points="{x}",
    folded=("times", "points"),
    checks={"times": "increasing", "points": "as many as times"},
    breaks=lambda p: list(p["times"]),
)
def spline_reference(time, *, times, points):
    """Cubic spline through (times, points), at rest before the first and after the last, with all its rates."""
    c = spline_coefficients(times, points)
    inside = sym.clip(time, times[0], times[-1])
    c0, c1, c2, c3 = (sym.hold_table(inside, times, np.append(row, row[-1])) for row in c)
    knots = np.asarray(times, float)
    s = inside - sym.hold_table(inside, knots, np.append(knots[:-1], knots[-2]))
    moving = sym.logical_and(time >= times[0], time < times[-1])
    return {
        "position": c0 + s * (c1 + s * (c2 + s * c3)),
        "velocity": sym.where(moving, c1 + s * (2 * c2 + s * 3 * c3), 0.0),
        "acceleration": sym.where(moving, 2 * c2 + 6 * c3 * s, 0.0),
        "jerk": sym.where(moving, 6 * c3, 0.0),
    }


@law(
    value="{u}",
    time="s",
    times="s",
    points="{u}",
    folded=("times", "points"),
    checks={"times": "increasing", "points": "as many as times"},
    breaks=lambda p: list(p["times"]),
)
def table_reference(time, *, times, points):
    """Piecewise-linear in time through (times, points), constant beyond the ends."""
    return {"value": sym.table(time, times, points)}


@law(
    value="{u}",
    rate="{u}/s",
    acceleration="{u}/s^2",
    jerk="{u}/s^3",
    time="s",
    amplitude="{u}",
    frequency="Hz",
    phase="rad",
    offset="{u}",
)
def sine_reference(time, *, amplitude, frequency, phase=0.0, offset=0.0):
    """`offset + amplitude sin(2 pi f t + phase)`, with its rates."""
    omega = 2 * np.pi * frequency
    swing, rate = amplitude * sym.sin(omega * time + phase), amplitude * omega * sym.cos(omega * time + phase)
    return {
        "value": offset + swing,
        "rate": rate,
        "acceleration": -omega * omega * swing,
        "jerk": -omega * omega * rate,
    }


@law(value="{u}", constant="{u}")
def constant_reference(*, constant):
    """Always the same value."""
    return {"value": constant}


MANY_MOTIONS = {
    f"{quantity}{k}": MOTION[quantity] for k in range(1, 13) for quantity in ("position", "velocity", "acceleration")
}


def _number_motions(positions, velocities, accelerations):
    """Outputs position1, velocity1, acceleration1, position2 ... of several joints."""
    if not isinstance(positions, (tuple, list)):
        positions, velocities, accelerations = (positions,), (velocities,), (accelerations,)
    motions: dict[str, object] = {}
    for k, motion in enumerate(zip(positions, velocities, accelerations, strict=True), start=1):
        motions |= dict(zip((f"position{k}", f"velocity{k}", f"acceleration{k}"), motion, strict=True))
    return motions


@law(units=MANY_MOTIONS, positions="{x}", s="m")
def standing_reference(*, positions):
    """Several joints standing still: position1, velocity1, acceleration1, position2 ... and no way `s` made."""
    still = (0.0,) * len(positions) if isinstance(positions, (tuple, list)) else 0.0
    return _number_motions(positions, still, still) | {"s": 0.0}


@law(units=MANY_MOTIONS, positions="{x}", velocities="{x}/s", accelerations="{x}/s^2")
def sampled_set_points(positions, velocities, accelerations):
    """Several joints' references as a controller gets them, at its samples: position1, velocity1, acceleration1 ..."""
    return _number_motions(positions, velocities, accelerations)
