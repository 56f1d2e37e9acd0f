"""S-curve and trapezoidal speed profiles: how far along its path has a rest-to-rest motion come at a time?

A profile is a list of phases of constant jerk. With a jerk limit there are seven of them (jerk j, 0, -j, 0, -j, 0, j),
without one three (acceleration a, 0, -a). Durations shrink so that short moves never reach the top acceleration or
the top speed; a phase may last no time at all.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from robodyn.base import symbolic as sym
from robodyn.base.numerics import bisect
from robodyn.description.laws.definition import law
from robodyn.description.laws.references import JERKING, trapezoid_breaks, trapezoid_times

SHORTEST = 1e-30
"""Length in place of none, which leaves every phase without duration instead of 0 / 0."""


class Phase(NamedTuple):
    """A time of constant jerk: when it begins, and what position, speed, acceleration and jerk are then."""

    begin: Any
    position: Any
    speed: Any
    acceleration: Any
    jerk: Any


def plan_phases(length: float, speed: Any, acceleration: Any, jerk: Any, begin: Any) -> tuple[Phase, ...]:
    """Phases of a motion over a length; the last one is the rest at its end.

    Args:
        jerk: largest [m/s^3], a number or a symbol; the number inf gives a trapezoidal speed.
    """
    if not sym.is_symbolic(jerk) and math.isinf(jerk):
        return _trapezoid_phases(length, speed, acceleration, begin)
    return _s_curve_phases(length, speed, acceleration, jerk, begin)


def plan_legs(
    ends: Sequence[float], speed: Any, acceleration: Any, jerk: Any, begin: Any, pause: Any = 0.0
) -> tuple[Phase, ...]:
    """Phases of a motion from rest to rest at each of several ways, from 0 on, with a pause at those between."""
    phases: list[Phase] = []
    for start, end in pairwise(ends):
        leg = plan_phases(end - start, speed, acceleration, jerk, begin)
        phases += [phase._replace(position=phase.position + start) for phase in leg[:-1]]
        phases.append(leg[-1]._replace(position=end))
        begin = leg[-1].begin + pause
    return tuple(phases)


def _trapezoid_phases(length: float, speed: Any, acceleration: Any, begin: Any) -> tuple[Phase, ...]:
    ramp, cruise = trapezoid_times(length, speed, acceleration)
    begins = trapezoid_breaks(begin, ramp, cruise)
    return _chain(length, begins, (ramp, cruise, ramp), (acceleration, 0.0, -acceleration), (0.0, 0.0, 0.0))


def _s_curve_phases(length: float, speed: Any, acceleration: Any, jerk: Any, begin: Any) -> tuple[Phase, ...]:
    t_jerk, t_even, t_cruise = s_curve_times(length, speed, acceleration, jerk)
    durations = (t_jerk, t_even, t_jerk, t_cruise, t_jerk, t_even, t_jerk)
    begins = [begin]
    for duration in durations:
        begins.append(begins[-1] + duration)
    top = jerk * t_jerk
    starts = (0.0, top, top, 0.0, 0.0, -top, -top)
    return _chain(length, begins, durations, starts, (jerk, 0.0, -jerk, 0.0, -jerk, 0.0, jerk))


def _chain(
    length: float, begins: Sequence[Any], durations: Sequence[Any], starts: Sequence[Any], jerks: Sequence[Any]
) -> tuple[Phase, ...]:
    """Each phase begins with the position and speed that the one before ends with."""
    phases = []
    s, v = 0.0, 0.0
    for begin, t, a, j in zip(begins[:-1], durations, starts, jerks, strict=True):
        phases.append(Phase(begin, s, v, a, j))
        s = s + t * (v + t * (a / 2 + t * j / 6))
        v = v + t * (a + t * j / 2)
    return (*phases, Phase(begins[-1], length, 0.0, 0.0, 0.0))


def s_curve_times(length: Any, speed: Any, acceleration: Any, jerk: Any) -> tuple[Any, Any, Any]:
    """Durations of a jerk phase, of an even acceleration and of the cruise.

        t_jerk = min(a / j, sqrt(v / j), (L / (2 j))^(1/3)),   A = j t_jerk
        t_even = min(v / A - t_jerk, sqrt(t_jerk^2 / 4 + L / A) - 3 t_jerk / 2)
        t_cruise = L / (A (t_jerk + t_even)) - 2 t_jerk - t_even

    P. Lambrechts, M. Boerlage, M. Steinbuch, "Trajectory planning and feedforward design for electromechanical
    motion systems", Control Engineering Practice 13 (2005), has the same three limits.
    """
    shortest = sym.power(length / (2 * jerk), 1.0 / 3.0)
    t_jerk = sym.minimum(sym.minimum(acceleration / jerk, sym.sqrt(speed / jerk)), shortest)
    top = jerk * t_jerk
    to_speed = speed / top - t_jerk
    to_length = sym.sqrt(0.25 * t_jerk * t_jerk + length / top) - 1.5 * t_jerk
    t_even = sym.maximum(sym.minimum(to_speed, to_length), 0.0)
    t_cruise = sym.maximum(length / (top * (t_jerk + t_even)) - 2 * t_jerk - t_even, 0.0)
    return t_jerk, t_even, t_cruise


def travel(time: Any, phases: Sequence[Phase]) -> tuple[Any, Any, Any, Any]:
    """Way s [m], speed, acceleration and jerk [m/s^3] along the path at a time, right-continuous."""
    begin, s, v, a, j = Phase(phases[0].begin, 0.0, 0.0, 0.0, 0.0)
    for phase in phases:
        since = time >= phase.begin
        begin, s, v, a, j = (sym.where(since, new, old) for new, old in zip(phase, (begin, s, v, a, j), strict=True))
    t = time - begin
    return s + t * (v + t * (a / 2 + t * j / 6)), v + t * (a + t * j / 2), a + t * j, j


def time_at(way: float, phases: Sequence[Phase]) -> float:
    """First time at which a way [m] has been gone, by bisection: the speed is positive in between."""
    _, after = bisect(lambda time: travel(time, phases)[0] >= way, float(phases[0].begin), float(phases[-1].begin))
    return float(np.nextafter(after, math.inf))


def _phases_of_move(target: Any, start: Any, speed: Any, top_acceleration: Any, top_jerk: Any, begin: Any) -> Any:
    length = sym.maximum(sym.absolute(target - start), SHORTEST)
    return plan_phases(length, speed, top_acceleration, top_jerk, begin)


@law(
    units=JERKING,
    start="{x}",
    target="{x}",
    speed="{x}/s",
    top_acceleration="{x}/s^2",
    top_jerk="{x}/s^3",
    begin="s",
    checks={"speed": "positive", "top_acceleration": "positive", "top_jerk": "positive"},
    breaks=lambda p: [float(phase.begin) for phase in _phases_of_move(**p)],
)
def s_curve_reference(time, *, target, speed, top_acceleration, top_jerk, start=0.0, begin=0.0):
    """Rest-to-rest move with limited jerk: position, velocity, acceleration and jerk.

    Speed, acceleration and jerk are never exceeded; a short move reaches less than the top speed or acceleration.
    """
    way, *rates = travel(time, _phases_of_move(target, start, speed, top_acceleration, top_jerk, begin))
    direction = sym.sign(target - start)
    named = zip(("velocity", "acceleration", "jerk"), rates, strict=True)
    return {"position": start + direction * way} | {name: direction * rate for name, rate in named}
