"""References (motions, orientations, legs) and excitation: where should a joint be, as a function of time?"""

import math

import numpy as np

from robodyn.base import symbolic as sym
from robodyn.base.spatial import conjugate, multiply, quaternion_about, rotation_vector
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


def number_motions(positions, velocities, accelerations):
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
    return number_motions(positions, still, still) | {"s": 0.0}


@law(units=MANY_MOTIONS, positions="{x}", velocities="{x}/s", accelerations="{x}/s^2")
def sampled_set_points(positions, velocities, accelerations):
    """Several joints' references as a controller gets them, at its samples: position1, velocity1, acceleration1 ..."""
    return number_motions(positions, velocities, accelerations)


# --------------------------------------------------------------------------------------------------
# Excitation (chirp, multisine, noise): with which signals is a machine tried out, the same in every run?


MODULUS, FACTOR = 2**31 - 1, 16807
"""Of Park and Miller's generator (1988): products stay below 2^46, exact in floating point on every machine."""


@law(
    time="s",
    value="{u}",
    rate="{u}/s",
    acceleration="{u}/s^2",
    amplitude="{u}",
    begin="s",
    duration="s",
    start_frequency="Hz",
    end_frequency="Hz",
    offset="{u}",
    checks={"duration": "positive", "start_frequency": "positive", "end_frequency": "positive"},
    breaks=lambda p: [p["begin"], p["begin"] + p["duration"]],
)
def chirp_reference(time, *, amplitude, start_frequency, end_frequency, duration, begin=0.0, offset=0.0):
    """A sine whose frequency rises exponentially, with its rates; still before and after.

    phi = 2 pi f0 D / ln(r) (r^(t/D) - 1),   r = f1 / f0
    """
    ratio = sym.log(end_frequency / start_frequency)
    # ln(r) = 0 is a steady sine: (r^x - 1) / ln(r) -> x.
    steady = sym.absolute(ratio) < 1e-9
    safe = sym.where(steady, 1.0, ratio)
    share = (time - begin) / duration
    grown = sym.where(steady, share, sym.expm1(safe * share) / safe)
    frequency = start_frequency * sym.where(steady, 1.0, sym.exp(safe * share))
    phase, omega = 2 * math.pi * start_frequency * duration * grown, 2 * math.pi * frequency
    omega_dot = omega * sym.where(steady, 0.0, ratio) / duration
    on = sym.logical_and(time >= begin, time < begin + duration)
    return {
        "value": offset + sym.where(on, amplitude * sym.sin(phase), 0.0),
        "rate": sym.where(on, amplitude * omega * sym.cos(phase), 0.0),
        "acceleration": sym.where(on, amplitude * (omega_dot * sym.cos(phase) - omega * omega * sym.sin(phase)), 0.0),
    }


@law(
    time="s",
    value="{u}",
    rate="{u}/s",
    acceleration="{u}/s^2",
    sines="{u}",
    cosines="{u}",
    frequency="Hz",
    offset="{u}",
    folded=("sines", "cosines"),
    checks={"frequency": "positive", "cosines": "as many as sines"},
)
def multisine_reference(time, *, sines, cosines, frequency, offset=0.0):
    """A Fourier series with its rates: `value = offset + sum_k a_k sin(k w t) + b_k cos(k w t)`, w = 2 pi frequency.

    Args:
        sines, cosines: a_k and b_k for k = 1, 2, ...
    """
    parts = [
        (2 * math.pi * (k + 1) * frequency, sine, cosine)
        for k, (sine, cosine) in enumerate(zip(sines, cosines, strict=True))
    ]
    waves = [(omega, a * sym.sin(omega * time) + b * sym.cos(omega * time)) for omega, a, b in parts]
    return {
        "value": offset + sum(wave for _, wave in waves),
        "rate": sum(omega * (a * sym.cos(omega * time) - b * sym.sin(omega * time)) for omega, a, b in parts),
        "acceleration": sum(-omega * omega * wave for omega, wave in waves),
    }


@law(
    value="{u}",
    mean="{u}",
    deviation="{u}",
    seed="",
    drawn="",
    memory={"drawn": 0.0},
    checks={"deviation": "non-negative", "seed": "positive, whole, below 2^31 - 1"},
    ideal={"deviation": 0.0, "mean": 0.0},
)
def noise(drawn, *, deviation, mean=0.0, seed=1.0):
    """Independent normal samples, the same for the same seed: Park and Miller's generator, Box and Muller's transform.

    Args:
        deviation: standard deviation; the density of the spectrum is 2 T deviation^2 up to half the sample rate.
        seed: whole number from 1 to 2^31 - 2.
    """
    begun = sym.where(drawn == 0, sym.fmod(seed * 48271.0, MODULUS), drawn)
    first = sym.fmod(FACTOR * sym.absolute(begun), MODULUS)
    second = sym.fmod(FACTOR * first, MODULUS)
    radius = sym.sqrt(-2.0 * sym.log(first / MODULUS))
    return {"value": mean + deviation * radius * sym.cos(2 * math.pi * second / MODULUS), "drawn_next": second}


# --------------------------------------------------------------------------------------------------
# Reference orientations: how should a body be oriented, and how fast does that change?


ORIENTATION = {f"orientation.{part}": "" for part in "wxyz"}
ORIENTATION |= {f"angular_velocity.{axis}": "rad/s" for axis in "xyz"}
ORIENTATION |= {f"angular_acceleration.{axis}": "rad/s^2" for axis in "xyz"}
ORIENTATION |= {"way": "rad", "rate": "rad/s", "acceleration": "rad/s^2", "start": "", "target": ""}
UNIT_LENGTH = 1e-3
"""Largest error of a quaternion's length that is forgiven."""


def _check_quaternion(name, parts):
    length = sym.sqrt(sum(part * part for part in parts))
    if len(parts) != 4 or not abs(length - 1) < UNIT_LENGTH:
        raise ValueError(f"{name} is not a unit quaternion w, x, y, z: {len(parts)} numbers of length {length:.4g}")


@law(units=ORIENTATION, folded=("start", "target"))
def orientation_reference(way, rate=0.0, acceleration=0.0, *, target, start=(1.0, 0.0, 0.0, 0.0)):
    """The shortest rotation from one orientation to another, gone by a `way` from 0 to 1: `q = start exp(way phi / 2)`.

    Quaternions w, x, y, z, world from body; angular velocity and acceleration in the axes of the orientation itself.

    Args:
        way, rate, acceleration: of a reference such as `s_curve_reference` from 0 to 1.
    """
    _check_quaternion("start", start)
    _check_quaternion("target", target)
    phi = rotation_vector(*multiply(conjugate(start), target))
    angle = sym.sqrt(sum(part * part for part in phi))
    axis = tuple(part / angle if angle > 0 else 0.0 for part in phi)
    quaternion = dict(zip("wxyz", multiply(start, quaternion_about(axis, way * angle)), strict=True))
    return {
        **{f"orientation.{part}": value for part, value in quaternion.items()},
        **{f"angular_velocity.{axis}": part * rate for axis, part in zip("xyz", phi, strict=True)},
        **{f"angular_acceleration.{axis}": part * acceleration for axis, part in zip("xyz", phi, strict=True)},
    }


# --------------------------------------------------------------------------------------------------
# Walking: where should the joints of a leg be while its foot goes its round, on the ground and through the air?


OUT_OF_REACH = "the leg is too short or too folded for this height and stride: change height, stride or lift"


@law(
    time="s",
    hip_angle="rad",
    knee_angle="rad",
    reach="",
    fold="",
    thigh="m",
    shank="m",
    height="m",
    stride="m",
    lift="m",
    cycle_time="s",
    phase="",
    begin="s",
    ramp="s",
    checks={"thigh": "positive", "shank": "positive", "cycle_time": "positive", "ramp": "positive"},
    positive={"reach": OUT_OF_REACH, "fold": OUT_OF_REACH},
)
def walking_leg(time, *, thigh, shank, height, stride, lift, cycle_time, phase=0.0, begin=0.0, ramp=1.0):
    """Angles of hip and knee of a leg in a plane whose foot goes its round below the hip, half of it on the ground.

        ground: x = s (1/2 - u), z = -h;     air: x = -s/2 cos(pi u), z = -h + lift sin^2(pi u),   u from 0 to 1
        cos(knee) = (x^2 + z^2 - a^2 - b^2) / (2 a b)

    The foot is ahead of the hip at positive x; both joints rotate about y, their zero is the stretched leg, and the
    knee bends backward (its angle is negative). Stride and lift grow from zero within `ramp` after `begin`.

    Args:
        thigh, shank: a and b; height: h, of the hip over the ground; stride: s, on the ground.
        cycle_time: of a round; phase: 0 to 1, how far the round is at time 0; it begins in the air.
    """
    cycle = time / cycle_time + phase
    cycle = 2.0 * (cycle - sym.floor(cycle))
    grown = sym.clip((time - begin) / ramp, 0.0, 1.0)
    in_air, u = cycle < 1.0, sym.where(cycle < 1.0, cycle, cycle - 1.0)
    x = grown * stride * sym.where(in_air, -0.5 * sym.cos(math.pi * u), 0.5 - u)
    z = -height + grown * lift * sym.where(in_air, sym.sin(math.pi * u), 0.0) ** 2
    squared = x * x + z * z
    bend = (squared - thigh * thigh - shank * shank) / (2.0 * thigh * shank)
    inside = sym.clip(bend, -1.0, 1.0)
    knee = -sym.acos(inside)
    hip = sym.atan2(-x, -z) - sym.atan2(shank * sym.sin(knee), thigh + shank * inside)
    return {"hip_angle": hip, "knee_angle": knee, "reach": 1.0 - bend, "fold": 1.0 + bend}
