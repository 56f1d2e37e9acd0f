"""Limits of joints: which quantity does each bound, and how far is a value beyond it?"""

from __future__ import annotations

from typing import Any

from robodyn.base.symbolic import absolute

BOUNDED = {
    "lower_limit": ("position", -1.0),
    "upper_limit": ("position", 1.0),
    "speed_limit": ("velocity", None),
    "acceleration_limit": ("acceleration", None),
    "effort_limit": ("effort", None),
}
"""Quantity of the joint, and the side on which it is bounded; None for both."""
SLACK, LEAST_SLACK = 1e-6, 1e-9
"""Part of a limit, and least amount [rad, m ...], by which a value may be beyond it: rounding passes no limit."""


def excess(field: str, value: Any, limit: Any) -> Any:
    """How far a value is beyond a limit, positive where it passes it; numbers, arrays or symbols."""
    side = BOUNDED[field][1]
    return (absolute(value) - limit if side is None else side * (value - limit)) - slack(limit)


def slack(limit: Any) -> Any:
    """By how much a value may be beyond a limit."""
    return SLACK * absolute(limit) + LEAST_SLACK


def value_beyond(field: str, excess: float, limit: float) -> float:
    """The value that is that far beyond a limit; where both directions are bounded, its magnitude."""
    return limit + (BOUNDED[field][1] or 1.0) * (excess + float(slack(limit)))
