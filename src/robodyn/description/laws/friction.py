"""Friction (viscous, Coulomb, Stribeck, LuGre, Dahl, elasto-plastic), gear losses, brakes, clutches: which torque?

Symbols: velocity w [rad/s or m/s]; every torque acts on the joint, so it opposes w.
"""

import math

from robodyn.base import symbolic as sym
from robodyn.description.laws.definition import law

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
SMOOTH_CHECKS = {"coulomb": "non-negative", "viscous": "non-negative", "smoothing_velocity": "positive"}


@law(units=UNITS, checks={"viscous": "non-negative"}, disturbance=True, passive=True)
def viscous_friction(velocity, *, viscous):
    """Torque proportional to speed: `tau = -B w`."""
    return {"torque": -viscous * velocity}


@law(
    units=UNITS,
    checks=SMOOTH_CHECKS,
    disturbance=True,
    passive=True,
)
def coulomb_friction(velocity, *, coulomb, smoothing_velocity, viscous=0.0):
    """Dry friction smoothed over a small speed: `tau = -Tc tanh(w / w0) - B w`.

    A loaded joint creeps at a speed of the order of w0: it does not stick.
    """
    return {"torque": -coulomb * sym.tanh(velocity / smoothing_velocity) - viscous * velocity}


@law(
    units=UNITS,
    sticks=True,
    checks={"coulomb": "non-negative", "static": "non-negative", "viscous": "non-negative"},
    disturbance=True,
    passive=True,
)
def stick_friction(velocity, direction, *, coulomb, static=0.0, viscous=0.0):
    """Dry friction that truly sticks: sliding `tau = -Tc sign(w) - B w`, at rest whatever holds up to the static level.

    A loaded joint below the static level does not move at all; beyond it, it slides from that instant on.

    Args:
        direction: of sliding, -1 or 1.
        static: largest torque that holds at rest; never less than coulomb.
    """
    return {"torque": -coulomb * direction - viscous * velocity, "holding_limit": sym.maximum(static, coulomb)}


@law(
    units=UNITS | {"coulomb_back": "{F}", "static_back": "{F}"},
    sticks=True,
    checks=dict.fromkeys(("coulomb", "static", "coulomb_back", "static_back", "viscous"), "non-negative"),
    disturbance=True,
    passive=True,
)
def two_way_stick_friction(velocity, direction, *, coulomb, coulomb_back, static=0.0, static_back=0.0, viscous=0.0):
    """Dry friction that truly sticks, as `stick_friction`, whose levels differ with the direction.

    Args:
        direction: of sliding, -1 or 1.
        coulomb, static: levels of sliding forth and of holding against it; coulomb_back, static_back: the same back.
    """
    forth = direction > 0
    level = sym.where(forth, coulomb, coulomb_back)
    limit = sym.where(forth, sym.maximum(static, coulomb), sym.maximum(static_back, coulomb_back))
    return {"torque": -level * direction - viscous * velocity, "holding_limit": limit}


def stribeck_level(velocity, coulomb, static, stribeck_velocity, exponent):
    """Friction level of steady sliding: `Tc + (Ts - Tc) exp(-(|w| / ws)^d)`."""
    return coulomb + (static - coulomb) * stribeck_share(velocity, stribeck_velocity, exponent)


def stribeck_share(velocity, stribeck_velocity, exponent):
    """How much of the static level is left at a speed, 1 to 0: `exp(-(|w| / ws)^d)`."""
    # What holds parameters alone is computed once a run: a product is cheaper than a quotient.
    ratio = sym.absolute(velocity) * (1.0 / stribeck_velocity)
    if sym.is_expression(exponent) or exponent < 1.0:
        # A power below 1 is infinitely steep at rest, and nothing times that is no number: rest is a branch of its own.
        moves = ratio > 0
        return sym.where(moves, sym.exp(-sym.power(sym.where(moves, ratio, 1.0), exponent)), 1.0)
    return sym.exp(-sym.power(ratio, exponent))


@law(
    units=UNITS,
    checks=SMOOTH_CHECKS | {"static": "non-negative", "stribeck_velocity": "positive", "exponent": "positive"},
    # A constant exponent of 2 is one multiplication instead of a power.
    folded=("exponent",),
    at_least={"static": "coulomb"},
    disturbance=True,
    passive=True,
)
def stribeck_friction(velocity, *, coulomb, static, stribeck_velocity, smoothing_velocity, viscous=0.0, exponent=2.0):
    """Smoothed dry friction with a Stribeck bump: `tau = -level(w) tanh(w / w0) - B w`."""
    level = stribeck_level(velocity, coulomb, static, stribeck_velocity, exponent)
    return {"torque": -level * sym.tanh(velocity / smoothing_velocity) - viscous * velocity}


@law(
    units=UNITS | {"softening": "W", "warmth": "W", "time_constant": "s"},
    states={"warmth": 1.0},
    checks=SMOOTH_CHECKS | {"softening": "positive", "time_constant": "positive"},
    disturbance=True,
    passive=True,
)
def warm_friction(velocity, warmth, *, coulomb, viscous, smoothing_velocity, softening, time_constant):
    """Friction whose lubricant gets thinner as its own losses warm it: warmth p is what was lost of late.

        tau = -Tc tanh(w / w0) - B exp(-p / ps) w,   p_dot = (-tau w - p) / T

    Temperature above the surroundings is p by the thermal conductance, which only scales ps; the exponential law of
    viscosity is Reynolds' (1886).

    Args:
        softening: ps, loss at which the viscous part has fallen to 1/e in the end.
        time_constant: T of the housing's warming and cooling.
    """
    thinned = viscous * sym.exp(-warmth / softening)
    torque = -coulomb * sym.tanh(velocity / smoothing_velocity) - thinned * velocity
    return {"torque": torque, "warmth_dot": (-torque * velocity - warmth) / time_constant}


@law(
    units=UNITS
    | {
        "temperature": "K",
        "reference": "K",
        "coulomb_slope": "{F}/K",
        "viscous_slope": "{F} s/{x}/K",
    },
    checks=SMOOTH_CHECKS,
    disturbance=True,
    passive=True,
    gives="no step is to blame: friction is negative at this temperature, lower the slopes or keep to their range",
)
def thermal_friction(
    velocity, temperature, *, coulomb, viscous, coulomb_slope, viscous_slope, reference, smoothing_velocity
):
    """Friction at a temperature that something else gives, such as a sensor in the motor or the motor's heat.

        tau = -(Tc + c (T - T0)) tanh(w / w0) - (B + b (T - T0)) w

    Args:
        reference: T0, at which the levels are coulomb and viscous; coulomb_slope, viscous_slope: c, b.
    """
    warmer = temperature - reference
    dry, wet = coulomb + coulomb_slope * warmer, viscous + viscous_slope * warmer
    return {"torque": -dry * sym.tanh(velocity / smoothing_velocity) - wet * velocity}


BRISTLE_UNITS = UNITS | {
    "stiffness": "{F}/{x}",
    "damping": "{F} s/{x}",
    "bristle": "{x}",
    "coulomb_back": "{F}",
    "static_back": "{F}",
    "load": "{F}",
    "load_loss": "",
}
BRISTLE_CHECKS = {
    "stiffness": "positive",
    "damping": "non-negative",
    "viscous": "non-negative",
    "coulomb": "positive",
    "static": "positive",
    "stribeck_velocity": "positive",
    "exponent": "positive",
}


BRISTLES_GIVE = (
    "no step is to blame: bristles give energy where their damping times speed is above 4 times the level of friction, "
    "lower that damping"
)


def bristle_energy(bristle, stiffness):
    """Energy of bent bristles: `c0 z^2 / 2`."""
    return 0.5 * stiffness * bristle * bristle


def bend_bristles(velocity, bristle, level, stiffness, damping, viscous):
    """Torque and bristle rate of LuGre friction whose steady level is c0 g(w) [{F}].

    With r = z / g(w) along w, `P + dE/dt = -|w| (c0 g r^2 + c1 |w| (1 - r)) - c2 w^2`: where bristles are bent beyond
    the level of the present speed, r > 1, they give energy unless c1 |w| <= 4 c0 g.
    """
    bristle_dot = velocity - stiffness * sym.absolute(velocity) * bristle / level
    return {
        "torque": -(stiffness * bristle + damping * bristle_dot + viscous * velocity),
        "bristle_dot": bristle_dot,
    }


@law(
    units=BRISTLE_UNITS,
    states={"bristle": 1e-5},
    checks=BRISTLE_CHECKS,
    # A constant exponent of 2 is one multiplication instead of a power.
    folded=("exponent",),
    at_least={"static": "coulomb"},
    disturbance=True,
    stored=bristle_energy,
    gives=BRISTLES_GIVE,
)
def lugre_friction(velocity, bristle, *, stiffness, damping, viscous, coulomb, static, stribeck_velocity, exponent=2.0):
    """LuGre friction: bristles of deflection z that bend and slip.

        z_dot = w - |w| z / g(w),   c0 g(w) = Tc + (Ts - Tc) exp(-(|w| / ws)^d)
        tau = -(c0 z + c1 z_dot + c2 w)

    Canudas de Wit, Olsson, Astrom and Lischinsky (1995).
    """
    level = stribeck_level(velocity, coulomb, static, stribeck_velocity, exponent)
    return bend_bristles(velocity, bristle, level, stiffness, damping, viscous)


@law(
    units=BRISTLE_UNITS | {"breakaway": ""},
    states={"bristle": 1e-5},
    checks=BRISTLE_CHECKS | {"breakaway": "non-negative, below one"},
    folded=("exponent",),
    at_least={"static": "coulomb"},
    disturbance=True,
    stored=bristle_energy,
    gives=BRISTLES_GIVE,
)
def elasto_plastic_friction(
    velocity, bristle, *, stiffness, damping, viscous, coulomb, static, stribeck_velocity, breakaway=0.7, exponent=2.0
):
    """Bristles that bend without slipping up to a breakaway deflection: LuGre friction that does not drift at rest.

        z_dot = w (1 - alpha(z, w) z / z_ss(w)),   tau = -(c0 z + c1 z_dot + c2 w),   z_ss = level(w) / c0

    alpha is 0 up to z_ba and where z points against w, 1 from z_ss on, a sine between them: Dupont, Hayward, Armstrong
    and Altpeter (2002). Dahl's friction (1968) is `lugre_friction` with static = coulomb, damping and viscous 0.

    Args:
        breakaway: z_ba, as a share of Tc / c0.
    """
    slipping = stribeck_level(velocity, coulomb, static, stribeck_velocity, exponent) / stiffness
    elastic = breakaway * coulomb / stiffness
    # Deflection along the motion: negative while bristles straighten up, which is elastic.
    along = sym.where(velocity < 0, -bristle, bristle)
    rising = 0.5 + 0.5 * sym.sin(math.pi * (along - 0.5 * (slipping + elastic)) / (slipping - elastic))
    plastic = sym.where(along <= elastic, 0.0, sym.where(along >= slipping, 1.0, rising))
    bristle_dot = velocity * (1.0 - plastic * along / slipping)
    return {
        "torque": -(stiffness * bristle + damping * bristle_dot + viscous * velocity),
        "bristle_dot": bristle_dot,
    }


@law(
    units=BRISTLE_UNITS,
    states={"bristle": 1e-5},
    checks=BRISTLE_CHECKS | {"coulomb_back": "positive", "static_back": "positive", "load_loss": "non-negative"},
    folded=("exponent",),
    at_least={"static": "coulomb", "static_back": "coulomb_back"},
    disturbance=True,
    stored=bristle_energy,
    gives=BRISTLES_GIVE,
)
def two_way_lugre_friction(
    velocity,
    bristle,
    load=0.0,
    *,
    stiffness,
    damping,
    viscous,
    coulomb,
    static,
    coulomb_back,
    static_back,
    stribeck_velocity,
    exponent=2.0,
    load_loss=0.0,
):
    """LuGre friction whose levels differ with the direction and grow with the torque a gear transmits.

        c0 g(w) = Tc + (Ts - Tc) exp(-(|w| / ws)^d) + mu |load|,   Tc, Ts for w >= 0 or for w < 0

    z_dot and tau as in `lugre_friction`. At w = 0 the rate does not depend on g: the levels change without a jump.

    Args:
        coulomb, static: levels for w >= 0; coulomb_back, static_back: for w < 0.
        load: transmitted torque; load_loss: mu, share of it that is lost (times the gear ratio for a motor's torque).
    """
    backwards = velocity < 0
    sliding = sym.where(backwards, coulomb_back, coulomb)
    surplus = sym.where(backwards, static_back - coulomb_back, static - coulomb)
    lost = load_loss * sym.absolute(load)
    level = sliding + surplus * stribeck_share(velocity, stribeck_velocity, exponent) + lost
    return bend_bristles(velocity, bristle, level, stiffness, damping, viscous)


@law(
    units=BRISTLE_UNITS,
    checks={"load_loss": "non-negative", "smoothing_velocity": "positive"},
    disturbance=True,
    passive=True,
)
def gear_loss(velocity, load, *, load_loss, smoothing_velocity):
    """Loss of a gear, proportional to what it transmits: `tau = -mu |load| tanh(w / w0)`.

    Args:
        load: transmitted torque; load_loss: mu, share of it that is lost (times the gear ratio for a motor's torque).
    """
    return {"torque": -load_loss * sym.absolute(load) * sym.tanh(velocity / smoothing_velocity)}


@law(
    units=BRISTLE_UNITS | {"load_loss_back": ""},
    checks={"load_loss": "non-negative", "load_loss_back": "non-negative", "smoothing_velocity": "positive"},
    disturbance=True,
    passive=True,
)
def two_way_gear_loss(velocity, load, *, load_loss, load_loss_back, smoothing_velocity):
    """Loss of a gear, as `gear_loss`, whose share differs where the load drives the motor: `load w < 0`.

    A gear of efficiencies e (driving) and b (back-driving) has mu = 1 / e - 1 and 1 - b of the torque at its output.

    Args:
        load: torque on the joint; load_loss, load_loss_back: share of it that is lost while driving, back-driving.
    """
    share = sym.where(load * velocity < 0, load_loss_back, load_loss)
    return {"torque": -share * sym.absolute(load) * sym.tanh(velocity / smoothing_velocity)}


@law(
    units=UNITS | {"position": "{x}", "amplitude": "{F}", "order": "rad/{x}", "phase": "rad"},
    checks={"amplitude": "non-negative", "smoothing_velocity": "positive"},
    disturbance=True,
    passive=True,
)
def uneven_friction(position, velocity, *, amplitude, order, smoothing_velocity, phase=0.0):
    """Dry friction that comes and goes with the position: `tau = -A (1 + sin(n s + phi)) tanh(w / w0)`, 0 to 2 A.

    What a shaft out of true or an uneven tooth adds to friction; it never drives.

    Args:
        order: n, periods in 2 pi of the coordinate.
    """
    level = amplitude * (1.0 + sym.sin(order * position + phase))
    return {"torque": -level * sym.tanh(velocity / smoothing_velocity)}


# --------------------------------------------------------------------------------------------------
# Friction of servos with load, as identified on pendulums: how much does a gear hold that its motor turns, or its load?


SERVO_LEVELS = {
    "coulomb": "{F}", "stribeck": "{F}", "motor_loss": "", "load_loss": "", "motor_stribeck": "",
    "load_stribeck": "", "motor_square": "1/{F}", "load_square": "1/{F}",
}  # fmt: skip


def servo_friction_level(
    velocity,
    motor,
    external,
    *,
    coulomb,
    stribeck=0.0,
    motor_loss=0.0,
    load_loss=0.0,
    motor_stribeck=0.0,
    load_stribeck=0.0,
    motor_square=0.0,
    load_square=0.0,
    stribeck_velocity=1.0,
    exponent=1.0,
):
    """Largest dry friction of a loaded servo [{F}], with s = exp(-(|w| / ws)^a):

        Tc + |l e - m u| + s (Ts + |ls e - ms u| + Q),   u motor's and e external torque,   where e u < 0:
        Q = lq e^2 if |e| < |u|, mq u^2 if |e| > |u|

    Models M1 to M6 of Duclusaud, Passault, Padois and Ly, "Extended Friction Models for the Physics Simulation of Servo
    Actuators" (2024): M1 Tc; M2 + Ts; M3 Tc + l = m; M4 + ls = ms; M5 l, m, ls, ms; M6 + lq, mq.
    """
    share = stribeck_share(velocity, stribeck_velocity, exponent)
    base = coulomb + sym.absolute(load_loss * external - motor_loss * motor)
    rising = stribeck + sym.absolute(load_stribeck * external - motor_stribeck * motor)
    strong, weak = sym.absolute(motor), sym.absolute(external)
    squares = sym.where(weak < strong, load_square * weak * weak, 0.0)
    squares = squares + sym.where(weak > strong, motor_square * strong * strong, 0.0)
    # Of one sign both turn the gear the same way; where one of them is zero, the signs differ.
    alike = sym.logical_or(motor * external > 0, sym.logical_and(motor == 0, external == 0))
    return base + share * (rising + sym.where(alike, 0.0, squares))


@law(
    units=UNITS | SERVO_LEVELS | {"motor": "{F}", "load": "{F}"},
    sticks=True,
    checks=dict.fromkeys((*SERVO_LEVELS, "viscous"), "non-negative")
    | {"stribeck_velocity": "positive", "exponent": "positive"},
    disturbance=True,
    passive=True,
)
def servo_friction(
    velocity,
    direction,
    motor,
    load,
    *,
    coulomb,
    viscous=0.0,
    stribeck=0.0,
    motor_loss=0.0,
    load_loss=0.0,
    motor_stribeck=0.0,
    load_stribeck=0.0,
    motor_square=0.0,
    load_square=0.0,
    stribeck_velocity=1.0,
    exponent=1.0,
):
    """Friction of a servo that truly sticks and grows with its load: `tau = -level sign(w) - B w`, see M1 to M6 there.

    Level as in `servo_friction_level`, models M1 to M6 of Duclusaud and others (2024).

    Args:
        direction: of sliding, -1 or 1.
        motor: torque of the motor; load: torque that the gear exerts on the joint, the external torque's opposite.
        coulomb, stribeck: friction without load, and what is added at rest; the others by the torque of either side.
    """
    numbers = {
        "coulomb": coulomb, "stribeck": stribeck, "motor_loss": motor_loss, "load_loss": load_loss,
        "motor_stribeck": motor_stribeck, "load_stribeck": load_stribeck, "motor_square": motor_square,
        "load_square": load_square, "stribeck_velocity": stribeck_velocity, "exponent": exponent,
    }  # fmt: skip
    sliding = servo_friction_level(velocity, motor, -load, **numbers)
    return {
        "torque": -sliding * direction - viscous * velocity,
        "holding_limit": servo_friction_level(0.0, motor, -load, **numbers),
    }


# --------------------------------------------------------------------------------------------------
# Brakes and clutches: which torque do surfaces exert that are pressed together, on a joint or between two?
#
# A clutch acts on the slip between its shafts, output minus input (a `LinearCombination`). All of these stick: at rest
# they hold with whatever force it takes, up to their limit.


BRAKE_UNITS = UNITS | {"normal": "N", "friction": "", "static": "", "arm": "{F}/N"}
CLUTCH_UNITS = BRAKE_UNITS | {"velocity": "rad/s", "torque": "N m", "holding_limit": "N m", "radius": "m", "faces": ""}
BRAKE_CHECKS = {"friction": "non-negative", "static": "non-negative"}


def rub(direction, pressed, friction, static):
    """Dry friction of surfaces pressed together: `-mu N` while they slide, at rest up to `max(mu0, mu) N`."""
    return {"torque": -friction * pressed * direction, "holding_limit": sym.maximum(static, friction) * pressed}


@law(units=BRAKE_UNITS, sticks=True, passive=True, checks=BRAKE_CHECKS | {"arm": "positive"})
def brake(direction, normal, *, friction, static=0.0, arm=1.0):
    """Brake that a force N presses: sliding `tau = -mu a N sign(w)`, at rest whatever holds up to `max(mu0, mu) a N`.

    Args:
        direction: of sliding, -1 or 1.
        normal: force that presses the surfaces together; a negative one counts as zero.
        friction: mu, coefficient of sliding; static: mu0, at rest, never less than that.
        arm: a, torque per force at the surface: the mean radius times the number of surfaces; 1 on a slide.
    """
    return rub(direction, arm * sym.maximum(normal, 0.0), friction, static)


@law(units=CLUTCH_UNITS, sticks=True, passive=True, checks=BRAKE_CHECKS | {"radius": "positive", "faces": "positive"})
def clutch(direction, normal, *, friction, radius, static=0.0, faces=2.0):
    """Plates that a force N presses: slipping `tau = -mu r n N sign(w)`, joined up to `max(mu0, mu) r n N`.

    Args:
        direction: of the slip, -1 or 1.
        normal: force that presses the plates together; a negative one counts as zero.
        friction: mu, coefficient while they slip; static: mu0, while they are joined, never less than that.
        radius: r, mean radius of the plates; faces: n, number of surfaces that rub.
    """
    return rub(direction, radius * faces * sym.maximum(normal, 0.0), friction, static)


@law(
    units=BRAKE_UNITS,
    capacity="{F}",
    drag="{F}",
    sticks=True,
    passive=True,
    checks={"capacity": "positive", "drag": "non-negative"},
)
def one_way_clutch(direction, *, capacity, drag=0.0):
    """Freewheel: turns forth against its drag alone, and holds against turning back, up to its capacity."""
    forth = direction > 0
    return {"torque": sym.where(forth, -drag, -capacity * direction), "holding_limit": sym.where(forth, drag, capacity)}
