"""Walking: where should the joints of a leg be while its foot goes its round, on the ground and through the air?"""

import math

from robodyn.base import symbolic as sym
from robodyn.description.laws.definition import law

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
