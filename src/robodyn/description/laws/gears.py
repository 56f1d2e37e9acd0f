"""Gears with backlash: which torque do they transmit? An elastic gear without it is a `spring` on the same coordinate.

The coordinate is the twist s between both sides, joint minus motor (a `LinearCombination`).
"""

from robodyn.base import symbolic as sym
from robodyn.description.laws import elements
from robodyn.description.laws.definition import law

UNITS = elements.UNITS | {"gap": "{x}", "upper": "{x}", "lower": "{x}", "upper_side": "", "lower_side": ""}


def side_of(value, side):
    """On which side of zero a located value is: as noted where it passed, as it is itself where nothing was noted."""
    return sym.where(side == 0, value, side)


def teeth_energy(position, stiffness, gap):
    """Energy of pressed teeth: `k e^2 / 2`, e the overlap beyond the play."""
    return elements.stop_energy(position, -0.5 * gap, 0.5 * gap, stiffness)


@law(
    units=UNITS,
    checks={"stiffness": "positive", "damping": "non-negative", "gap": "non-negative"},
    located={"upper": "upper_side", "lower": "lower_side"},
    ideal={"gap": 0.0},
    stored=teeth_energy,
)
def backlash_gear(position, velocity, upper_side, lower_side, *, stiffness, gap, damping=0.0):
    """Teeth with play: nothing inside the gap, at its flanks a spring and damper that push and never pull.

        F = -(k e + d s_dot) while it pushes,   e = s -+ gap / 2

    A flank pushes while `upper = e + min(0, d s_dot / k) > 0`: from touching, `e = 0`, until its force is gone. Both
    instants are located. Without a gap both flanks stay in touch: `F = -k s - d s_dot`.

    Args:
        upper_side, lower_side: 1 above, -1 below the flank, found where it is passed.
        gap: the whole play, from flank to flank.
    """
    half, retreat = 0.5 * gap, damping / stiffness * velocity
    upper = position - half + sym.minimum(retreat, 0.0)
    lower = position + half + sym.maximum(retreat, 0.0)
    elastic, damped = stiffness * position, damping * velocity
    at_upper = sym.where(side_of(upper, upper_side) > 0, stiffness * half - elastic - damped, 0.0)
    at_lower = sym.where(side_of(lower, lower_side) < 0, -stiffness * half - elastic - damped, 0.0)
    force = sym.where(gap > 0, at_upper + at_lower, -elastic - damped)
    return {"force": force, "upper": upper, "lower": lower}
