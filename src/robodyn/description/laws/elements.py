"""Springs, dampers, end stops, gears with backlash, rotors and drag: which force do they exert on a coordinate?"""

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


# --------------------------------------------------------------------------------------------------
# Gears with backlash: which torque do they transmit? An elastic gear without it is a `spring` on the same coordinate.
#
# The coordinate is the twist s between both sides, joint minus motor (a `LinearCombination`).


GEAR_UNITS = UNITS | {"gap": "{x}", "upper": "{x}", "lower": "{x}", "upper_side": "", "lower_side": ""}


def side_of(value, side):
    """On which side of zero a located value is: as noted where it passed, as it is itself where nothing was noted."""
    return sym.where(side == 0, value, side)


def teeth_energy(position, stiffness, gap):
    """Energy of pressed teeth: `k e^2 / 2`, e the overlap beyond the play."""
    return stop_energy(position, -0.5 * gap, 0.5 * gap, stiffness)


@law(
    units=GEAR_UNITS,
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


TRANSMISSION_UNITS = GEAR_UNITS | {
    "gear_force": "{F}",
    "error_force": "{F}",
    "motor": "{x}",
    "motor_velocity": "{x}/s",
    "torque": "{F}",
    "amplitude": "{x}",
    "order": "rad/{x}",
    "phase": "rad",
}


@law(
    units=TRANSMISSION_UNITS,
    checks={"stiffness": "positive", "damping": "non-negative", "amplitude": "non-negative"},
    disturbance=True,
)
def transmission_error(motor, motor_velocity, *, stiffness, amplitude, order, damping=0.0, phase=0.0):
    """Force by which an elastic gear's twist is not `s` but `s - e`: `F = k e + d e_dot`, `e = A sin(n q_m + phi)`.

    It stands on the twist, beside the gear's spring. The motor feels that e changes with its angle: with
    `transmission_reaction` on it, `P = -d/dt k (s - e)^2 / 2 - d (s_dot - e_dot)^2`. Strain-wave gears have order 2 per
    turn of the motor and its multiples: Tuttle and Seering (1996).

    Args:
        motor: angle of the motor's side, in joint units; order: n, 2 times the ratio.
    """
    angle = order * motor + phase
    return {"force": amplitude * (stiffness * sym.sin(angle) + damping * order * motor_velocity * sym.cos(angle))}


@law(units=TRANSMISSION_UNITS, checks={"amplitude": "non-negative"}, disturbance=True)
def transmission_reaction(position, gear_force, error_force, *, amplitude, order, phase=0.0):
    """Torque on the motor of a gear with a transmission error: `tau = -(F + F_e) de/dq_m`, both forces on the twist."""
    slope = amplitude * order * sym.cos(order * position + phase)
    return {"torque": -(gear_force + error_force) * slope}


# --------------------------------------------------------------------------------------------------
# Rotors and drag: which forces does the air exert on a propeller, and on what moves through it?


@law(
    speed="rad/s",
    thrust="N",
    drag_torque="N m",
    thrust_factor="N s^2/rad^2",
    drag_factor="N m s^2/rad^2",
    checks={"drag_factor": "non-negative"},
)
def rotor(speed, *, thrust_factor, drag_factor=0.0):
    """A propeller in still air: thrust `T = k w |w|` along its axis and drag torque `Q = -c w |w|` about it.

    Both act on the body that carries it; two `Load` with `times` put them there. They change sign with the speed.

    Args:
        speed: about the axis, right-handed.
        thrust_factor: k, negative for a propeller that thrusts along its axis when it spins left-handed.
    """
    square = speed * sym.absolute(speed)
    return {"thrust": thrust_factor * square, "drag_torque": -drag_factor * square}


@law(velocity="{x}/s", force="{F}", factor="{F} s^2/{x}^2", checks={"factor": "non-negative"}, passive=True)
def drag(velocity, *, factor):
    """Quadratic drag along a joint or coordinate: `F = -c s_dot |s_dot|`."""
    return {"force": -factor * velocity * sym.absolute(velocity)}
