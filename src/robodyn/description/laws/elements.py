"""Springs, dampers and end stops: which force do they exert on the coordinate they span?"""

from robodyn.base import symbolic as sym
from robodyn.description.laws.definition import law

UNITS = {
    "position": "{x}",
    "velocity": "{x}/s",
    "force": "{F}",
    "stiffness": "{F}/{x}",
    "damping": "{F} s/{x}",
    "rest": "{x}",
    "preload": "{F}",
}


def spring_energy(position, stiffness, rest, preload):
    """Energy of a spring: `F0 (s - s0) + k (s - s0)^2 / 2`."""
    return (preload + 0.5 * stiffness * (position - rest)) * (position - rest)


@law(units=UNITS, checks={"stiffness": "non-negative", "damping": "non-negative"}, stored=spring_energy)
def spring(position, velocity, *, stiffness, rest=0.0, damping=0.0, preload=0.0):
    """Linear spring with a damper beside it: `F = -F0 - k (s - s0) - d s_dot`.

    Args:
        preload: force at the rest length, positive where it pulls the coordinate towards smaller values.
    """
    return {"force": -preload - stiffness * (position - rest) - damping * velocity}


@law(units=UNITS, checks={"damping": "non-negative"}, passive=True)
def damper(velocity, *, damping):
    """Linear damper: `F = -d s_dot`."""
    return {"force": -damping * velocity}


def stop_energy(position, lower, upper, stiffness):
    """Energy of pressed stops: `k e^2 / 2`."""
    below, above = sym.maximum(lower - position, 0.0), sym.maximum(position - upper, 0.0)
    return 0.5 * stiffness * (below * below + above * above)


@law(
    units=UNITS,
    lower="{x}",
    upper="{x}",
    checks={"upper": "above lower", "stiffness": "positive", "damping": "non-negative"},
    stored=stop_energy,
)
def end_stop(position, velocity, *, lower, upper, stiffness, damping=0.0):
    """Elastic stops at both ends of the travel, pushing back only: `F = k e - d s_dot` outside, 0 inside."""
    below = sym.maximum(lower - position, 0.0)
    above = sym.maximum(position - upper, 0.0)
    at_lower = sym.maximum(stiffness * below - damping * velocity, 0.0)
    at_upper = sym.minimum(-stiffness * above - damping * velocity, 0.0)
    return {"force": sym.where(below > 0, at_lower, 0.0) + sym.where(above > 0, at_upper, 0.0)}


@law(force="{F}", value="{F}")
def constant_force(*, value):
    """A constant force (or torque) on the coordinate."""
    return {"force": value}
