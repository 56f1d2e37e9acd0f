"""Contact laws and tyres: which force do two surfaces exert where they touch, along the normal and across it?

Symbols: depth e [m] of the overlap and its rate e_dot; normal force N; slip w1, w2 [m/s] of the touching body along two
directions perpendicular to the normal and to each other. Normal forces push the bodies apart; friction acts on the
touching body, with the opposite sign on the other.
"""

from robodyn.base import symbolic as sym
from robodyn.description.laws.definition import law
from robodyn.description.laws.elements import side_of

UNITS = {"depth": "m", "rate": "m/s", "side": "", "force": "N", "touch": "m"}


def pressed_energy(depth, stiffness):
    """Energy of a pressed spring: `k e^2 / 2`."""
    return 0.5 * stiffness * sym.maximum(depth, 0.0) * sym.maximum(depth, 0.0)


def hertz_energy(depth, stiffness, exponent):
    """Energy of a pressed surface: `k e^(n + 1) / (n + 1)`."""
    return stiffness * sym.power(sym.maximum(depth, 0.0), exponent + 1.0) / (exponent + 1.0)


@law(
    units=UNITS,
    stiffness="N/m",
    damping="N s/m",
    checks={"stiffness": "positive", "damping": "non-negative"},
    located={"touch": "side"},
    stored=pressed_energy,
)
def kelvin_voigt(depth, rate, side, *, stiffness, damping=0.0):
    """Spring and damper side by side that push and never pull: `N = k e + d e_dot` while that is positive.

    Its force jumps to `d e_dot` at touch-down, and is gone while the surfaces still overlap. Both instants, the zeros
    of `touch = e + min(0, d e_dot / k)`, are located.

    Args:
        side: 1 in touch, -1 apart, found where it changes.
    """
    touch = depth + sym.minimum(damping / stiffness * rate, 0.0)
    force = sym.where(side_of(touch, side) > 0, stiffness * depth + damping * rate, 0.0)
    return {"force": force, "touch": touch}


@law(
    units=UNITS,
    stiffness="N/m^n",
    dissipation="s/m",
    exponent="",
    checks={"stiffness": "positive", "dissipation": "non-negative", "exponent": "positive"},
    folded=("exponent",),
    located={"touch": "side"},
    stored=hertz_energy,
)
def hunt_crossley(depth, rate, side, *, stiffness, dissipation=0.0, exponent=1.5):
    """Contact whose damping grows with its depth, so that its force begins and ends at zero.

        N = k e^n (1 + c e_dot) while e > 0, never negative

    A body that hits with speed v leaves with r v, `c v (1 + r) = ln((1 + c v) / (1 - c v r))`, whatever k, n and its
    mass; for slow impacts `r = 1 - 2/3 c v`. Hunt and Crossley (1975); Marhefka and Orin (1999).

    Args:
        side: 1 in touch, -1 apart, found where it changes.
        exponent: n, 1.5 for a ball on a plane (Hertz).
    """
    elastic = stiffness * sym.power(sym.maximum(depth, 0.0), exponent)
    force = sym.where(side_of(depth, side) > 0, elastic * sym.maximum(1.0 + dissipation * rate, 0.0), 0.0)
    return {"force": force, "touch": depth}


SLIP_UNITS = {
    "slip1": "m/s",
    "slip2": "m/s",
    "normal": "N",
    "force1": "N",
    "force2": "N",
    "coefficient": "",
    "smoothing_velocity": "m/s",
}


@law(
    units=SLIP_UNITS,
    checks={"coefficient": "non-negative", "smoothing_velocity": "positive"},
    disturbance=True,
    passive=True,
)
def sliding_friction(slip1, slip2, normal, *, coefficient, smoothing_velocity):
    """Coulomb's friction smoothed over a small speed: `F = -mu N w / sqrt(w^2 + w0^2)`.

    A loaded contact creeps at a speed of the order of w0: it does not stick.
    """
    share = coefficient * normal / sym.sqrt(slip1 * slip1 + slip2 * slip2 + smoothing_velocity * smoothing_velocity)
    return {"force1": -share * slip1, "force2": -share * slip2}


@law(units=SLIP_UNITS, direction="", checks={"coefficient": "non-negative"}, sticks=True, disturbance=True)
def dry_friction(slip1, slip2, normal, direction, *, coefficient):
    """Dry friction of rigid contacts that truly sticks: at rest whatever holds up to mu N, sliding `-mu N w / |w|`.

    Args:
        direction: 1 where it slides, 0 where it sticks; both instants are located.
    """
    share = direction * coefficient * normal / length_of(slip1 * slip1 + slip2 * slip2)
    return {"force1": -share * slip1, "force2": -share * slip2}


@law(
    units=SLIP_UNITS,
    bristle1="m",
    bristle2="m",
    stiffness="1/m",
    damping="s/m",
    static_coefficient="",
    stribeck_velocity="m/s",
    elastic="",
    states={"bristle1": 1e-5, "bristle2": 1e-5},
    checks={
        "coefficient": "positive",
        "stiffness": "positive",
        "damping": "non-negative",
        "static_coefficient": "non-negative",
        "stribeck_velocity": "positive",
        "elastic": "non-negative, below one",
    },
    disturbance=True,
)
def bristle_friction(
    slip1,
    slip2,
    normal,
    bristle1,
    bristle2,
    *,
    coefficient,
    stiffness,
    damping=0.0,
    static_coefficient=0.0,
    stribeck_velocity=0.01,
    elastic=0.9,
):
    """Dry friction that sticks: bristles of deflection z bend under a load and slip beyond the friction coefficient.

        z_dot = w - a |w| z s / mu(|w|),   F = -N (s z + d z_dot), |F| <= mu(|w|) N
        mu(|w|) = mu_c + (mu_s - mu_c) exp(-(|w| / ws)^2)

    LuGre friction in two directions, per normal force: Canudas de Wit, Olsson, Astrom and Lischinsky (1995); with the
    factor a of Dupont, Hayward, Armstrong and Altpeter (2002): 0 while the bristles straighten or are bent by less than
    the elastic part of mu / s, from there to mu / s rising to 1. So a load below that part is held without any creep,
    also while it vibrates.

    Args:
        stiffness: s, of the bristles per normal force; damping: d, likewise.
        static_coefficient: mu_s; never less than mu_c, the coefficient of sliding.
        elastic: 0 to below 1; its default is this project's own choice.
    """
    speed_squared = slip1 * slip1 + slip2 * slip2
    surplus = sym.maximum(static_coefficient - coefficient, 0.0)
    level = coefficient + surplus * sym.exp(-speed_squared / (stribeck_velocity * stribeck_velocity))
    bent = stiffness / level * length_of(bristle1 * bristle1 + bristle2 * bristle2)
    share = sym.clip((bent - elastic) / sym.maximum(1.0 - elastic, 1e-9), 0.0, 1.0)
    slipping = sym.where(bristle1 * slip1 + bristle2 * slip2 > 0, share * share * (3.0 - 2.0 * share), 0.0)
    loss = slipping * stiffness * length_of(speed_squared) / level
    bend1, bend2 = slip1 - loss * bristle1, slip2 - loss * bristle2
    pull1, pull2 = stiffness * bristle1 + damping * bend1, stiffness * bristle2 + damping * bend2
    # Damping of bristles that bend fast must not exceed the friction of sliding.
    held = normal * level / sym.maximum(length_of(pull1 * pull1 + pull2 * pull2), level)
    return {
        "force1": -held * pull1,
        "force2": -held * pull2,
        "bristle1_dot": bend1,
        "bristle2_dot": bend2,
    }


def length_of(squared):
    """Square root that has a derivative at zero too."""
    return sym.where(squared > 0, sym.sqrt(sym.where(squared > 0, squared, 1.0)), 0.0)


# --------------------------------------------------------------------------------------------------
# Tyres: which force does a rolling wheel exert along and across its way, by how much it slips?
#
# Symbols: slip velocities w1 along and w2 across the way of the wheel, of its tread against the ground; V speed of its
# middle along that way; N normal force; mu1, mu2 coefficients of friction, c1, c2 slip stiffnesses per normal force.


def magic_formula(slip, shape, curvature):
    """`sin(C atan(b - E (b - atan(b))))`: slope C at 0, at most 1."""
    return sym.sin(shape * sym.atan(slip - curvature * (slip - sym.atan(slip))))


@law(
    units=SLIP_UNITS,
    travel="m/s",
    lateral_coefficient="",
    stiffness="",
    lateral_stiffness="",
    shape="",
    curvature="",
    low_speed="m/s",
    checks={
        "coefficient": "positive",
        "lateral_coefficient": "positive",
        "stiffness": "positive",
        "lateral_stiffness": "positive",
        "shape": "positive, below two",
        "curvature": "below one",
        "low_speed": "positive",
    },
    disturbance=True,
    passive=True,
)
def tyre(
    slip1,
    slip2,
    normal,
    travel,
    *,
    coefficient,
    lateral_coefficient,
    stiffness,
    lateral_stiffness,
    shape=1.9,
    curvature=0.97,
    low_speed=0.1,
):
    """Tyre that slips along and across, by the magic formula of both slips together, within a friction ellipse.

        b1 = c1 (w1 / V) / (C mu1),   b2 = c2 (w2 / V) / (C mu2),   b = sqrt(b1^2 + b2^2)
        F_i = -mu_i N (b_i / b) sin(C atan(b - E (b - atan(b)))),   (F1 / (mu1 N))^2 + (F2 / (mu2 N))^2 <= 1

    Pacejka and Bakker (1992) for one slip alone; both together by their normalised length. Small slips have the forces
    -c1 N w1 / V and -c2 N w2 / V. Below `low_speed` slips count by that speed: a tyre at rest creeps under a load and
    is no brake. Shape and curvature are those that are usual for dry tarmac, with c1 = 19 and mu1 = 1. A shape below 2
    and a curvature below 1 keep the force against the slip.

    Args:
        travel: V; stiffness, lateral_stiffness: c1 per slip, c2 per tangent of the slip angle.
        coefficient, lateral_coefficient: mu1, mu2; shape: C; curvature: E; low_speed: below which V counts as this.
    """
    speed = sym.sqrt(travel * travel + low_speed * low_speed)
    first = stiffness * slip1 / (speed * shape * coefficient)
    second = lateral_stiffness * slip2 / (speed * shape * lateral_coefficient)
    size = length_of(first * first + second * second)
    # f(b) / b, with its limit C at 0.
    share = sym.where(size > 0, magic_formula(size, shape, curvature) / sym.where(size > 0, size, 1.0), shape)
    return {
        "force1": -coefficient * normal * share * first,
        "force2": -lateral_coefficient * normal * share * second,
    }
