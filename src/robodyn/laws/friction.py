"""Which torque does friction exert on a joint, as a function of its velocity (and bristle state)?

Symbols: velocity w [rad/s or m/s]; every torque acts on the joint, so it opposes w.
"""

from robodyn import symbolic as sym
from robodyn.laws.definition import law

UNITS = {
    "velocity": "{x}/s",
    "torque": "{F}",
    "coulomb": "{F}",
    "static": "{F}",
    "viscous": "{F} s/{x}",
    "smoothing_velocity": "{x}/s",
    "stribeck_velocity": "{x}/s",
    "exponent": "",
    "direction": "",
    "holding_limit": "{F}",
}


@law(units=UNITS, checks={"viscous": "non-negative"})
def viscous_friction(velocity, *, viscous):
    """Torque proportional to speed: `tau = -B w`."""
    return {"torque": -viscous * velocity}


@law(units=UNITS, checks={"coulomb": "non-negative", "viscous": "non-negative", "smoothing_velocity": "positive"})
def coulomb_friction(velocity, *, coulomb, smoothing_velocity, viscous=0.0):
    """Dry friction smoothed over a small speed: `tau = -Tc tanh(w / w0) - B w`.

    A loaded joint creeps at a speed of the order of w0: it does not stick.
    """
    return {"torque": -coulomb * sym.tanh(velocity / smoothing_velocity) - viscous * velocity}


@law(units=UNITS, sticks=True, checks={"coulomb": "non-negative", "static": "non-negative", "viscous": "non-negative"})
def stick_friction(velocity, direction, *, coulomb, static=0.0, viscous=0.0):
    """Dry friction that truly sticks: sliding `tau = -Tc sign(w) - B w`, at rest whatever holds up to the static level.

    A loaded joint below the static level does not move at all; beyond it, it slides from that instant on.

    Args:
        direction: of sliding, -1 or 1.
        static: largest torque that holds at rest; never less than coulomb.
    """
    return {"torque": -coulomb * direction - viscous * velocity, "holding_limit": sym.maximum(static, coulomb)}


def stribeck_level(velocity, coulomb, static, stribeck_velocity, exponent):
    """Friction level of steady sliding: `Tc + (Ts - Tc) exp(-(|w| / ws)^d)`."""
    ratio = sym.absolute(velocity) / stribeck_velocity
    return coulomb + (static - coulomb) * sym.exp(-sym.power(ratio, exponent))


@law(
    units=UNITS,
    checks={
        "coulomb": "non-negative",
        "static": "non-negative",
        "viscous": "non-negative",
        "stribeck_velocity": "positive",
        "smoothing_velocity": "positive",
        "exponent": "positive",
    },
    # A constant exponent of 2 is one multiplication instead of a power.
    folded=("exponent",),
)
def stribeck_friction(velocity, *, coulomb, static, stribeck_velocity, smoothing_velocity, viscous=0.0, exponent=2.0):
    """Smoothed dry friction with a Stribeck bump: `tau = -level(w) tanh(w / w0) - B w`."""
    level = stribeck_level(velocity, coulomb, static, stribeck_velocity, exponent)
    return {"torque": -level * sym.tanh(velocity / smoothing_velocity) - viscous * velocity}


@law(
    units=UNITS,
    stiffness="{F}/{x}",
    damping="{F} s/{x}",
    bristle="{x}",
    states={"bristle": 1e-5},
    checks={
        "stiffness": "positive",
        "damping": "non-negative",
        "viscous": "non-negative",
        "coulomb": "positive",
        "static": "positive",
        "stribeck_velocity": "positive",
        "exponent": "positive",
    },
    # A constant exponent of 2 is one multiplication instead of a power.
    folded=("exponent",),
)
def lugre_friction(velocity, bristle, *, stiffness, damping, viscous, coulomb, static, stribeck_velocity, exponent=2.0):
    """LuGre friction: bristles of deflection z that bend and slip.

        z_dot = w - |w| z / g(w),   c0 g(w) = Tc + (Ts - Tc) exp(-(|w| / ws)^d)
        tau = -(c0 z + c1 z_dot + c2 w)

    Canudas de Wit, Olsson, Astrom and Lischinsky (1995).
    """
    level = stribeck_level(velocity, coulomb, static, stribeck_velocity, exponent)
    bristle_dot = velocity - stiffness * sym.absolute(velocity) * bristle / level
    return {
        "torque": -(stiffness * bristle + damping * bristle_dot + viscous * velocity),
        "bristle_dot": bristle_dot,
    }
