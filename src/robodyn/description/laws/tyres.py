"""Tyres: which force does a rolling wheel exert along and across its way, by how much it slips?

Symbols: slip velocities w1 along and w2 across the way of the wheel, of its tread against the ground; V speed of its
middle along that way; N normal force; mu1, mu2 coefficients of friction, c1, c2 slip stiffnesses per normal force.
"""

from robodyn.base import symbolic as sym
from robodyn.description.laws.contact import SLIP_UNITS, length_of
from robodyn.description.laws.definition import law


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
