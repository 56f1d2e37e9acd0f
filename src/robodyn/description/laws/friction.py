"""Friction (viscous, Coulomb, Stribeck, LuGre), brakes and clutches: which torque on a joint, by its velocity?

Symbols: velocity w [rad/s or m/s]; every torque acts on the joint, so it opposes w.
"""

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


@law(units=UNITS, checks={"viscous": "non-negative"}, disturbance=True, passive=True)
def viscous_friction(velocity, *, viscous):
    """Torque proportional to speed: `tau = -B w`."""
    return {"torque": -viscous * velocity}


@law(
    units=UNITS,
    checks={"coulomb": "non-negative", "viscous": "non-negative", "smoothing_velocity": "positive"},
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
    return sym.exp(-sym.power(ratio, exponent))


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
    checks={
        "coulomb": "non-negative",
        "viscous": "non-negative",
        "smoothing_velocity": "positive",
        "softening": "positive",
        "time_constant": "positive",
    },
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


# --------------------------------------------------------------------------------------------------
# Brakes and clutches: which torque do surfaces exert that are pressed together, on a joint or between two?
#
# A clutch acts on the slip between its shafts, output minus input (a `LinearCombination`). All of these stick: at rest
# they hold with whatever force it takes, up to their limit.


BRAKE_UNITS = UNITS | {"normal": "N", "friction": "", "static": "", "arm": "{F}/N", "radius": "m", "faces": ""}
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


@law(units=BRAKE_UNITS, sticks=True, passive=True, checks=BRAKE_CHECKS | {"radius": "positive", "faces": "positive"})
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
