"""Base period: of which time are all sample times of a scenario whole multiples? Ticks are counted, never compared."""

from __future__ import annotations

import math
from fractions import Fraction

from robodyn.base.errors import FlawList
from robodyn.description.model import Scenario

SMALLEST_BASE = Fraction(1, 10**9)


def as_fraction(seconds: float) -> Fraction:
    """The simple fraction a decimal time stands for (0.00025 is 1/4000)."""
    return Fraction(seconds).limit_denominator(10**9)


def find_base_period(scenario: Scenario, flaws: FlawList) -> Fraction | None:
    """The longest time of which all periods, offsets and delays of sampled blocks are multiples."""
    times = [
        as_fraction(time)
        for block in scenario.machine.blocks
        if block.period is not None
        for time in (block.period, block.offset, block.delay)
        if time > 0
    ]
    if not times:
        return None
    if min(times) == 0:
        flaws.add("blocks", "a sample time is below 1 ns", "leave the delay or offset out")
        return None
    # gcd(a/b, c/d) = gcd(a d, c b) / (b d): exact, ticks are whole numbers.
    base = times[0]
    for time in times[1:]:
        base = Fraction(
            math.gcd(base.numerator * time.denominator, time.numerator * base.denominator),
            base.denominator * time.denominator,
        )
    if base < SMALLEST_BASE:
        shown = ", ".join(sorted({f"{float(time):g} s" for time in times}))
        flaws.add("blocks", f"sample times {shown} have no common base period above 1 ns", "round them to multiples")
        return None
    return base
