"""Brakes and clutches: which torque do surfaces exert that are pressed together, on a joint or between two?

A clutch acts on the slip between its shafts, output minus input (a `LinearCombination`). All of these stick: at rest
they hold with whatever force it takes, up to their limit.
"""

from robodyn.base import symbolic as sym
from robodyn.description.laws import friction as rubbing
from robodyn.description.laws.definition import law

UNITS = rubbing.UNITS | {"normal": "N", "friction": "", "static": "", "arm": "{F}/N", "radius": "m", "faces": ""}
CHECKS = {"friction": "non-negative", "static": "non-negative"}


def rub(direction, pressed, friction, static):
    """Dry friction of surfaces pressed together: `-mu N` while they slide, at rest up to `max(mu0, mu) N`."""
    return {"torque": -friction * pressed * direction, "holding_limit": sym.maximum(static, friction) * pressed}


@law(units=UNITS, sticks=True, passive=True, checks=CHECKS | {"arm": "positive"})
def brake(direction, normal, *, friction, static=0.0, arm=1.0):
    """Brake that a force N presses: sliding `tau = -mu a N sign(w)`, at rest whatever holds up to `max(mu0, mu) a N`.

    Args:
        direction: of sliding, -1 or 1.
        normal: force that presses the surfaces together; a negative one counts as zero.
        friction: mu, coefficient of sliding; static: mu0, at rest, never less than that.
        arm: a, torque per force at the surface: the mean radius times the number of surfaces; 1 on a slide.
    """
    return rub(direction, arm * sym.maximum(normal, 0.0), friction, static)


@law(units=UNITS, sticks=True, passive=True, checks=CHECKS | {"radius": "positive", "faces": "positive"})
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
    units=UNITS,
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
