"""A mass on a vertical rail above a floor: what do tests of contacts let fall?"""

from robodyn import GROUND, Body, Joint, Machine, Mechanism, Point, Scenario, Solver

GRAVITY, MASS = 9.81, 1.0
SHARP = Solver("dopri5", rtol=1e-9, atol=1e-12)


def falling(contact, start, *, duration=0.2, gravity=0.0, points=()):
    """A mass of 1 kg on a rail along z, with its point `middle`, above the point `floor`."""
    joint = Joint("height", "prismatic", GROUND, "mass")
    places = (Point("middle", "mass"), Point("floor", GROUND), *points)
    mechanism = Mechanism("ball", (Body("mass", MASS),), (joint,), places, gravity=(0, 0, -gravity))
    contacts = contact if isinstance(contact, tuple) else (contact,)
    return Scenario("ball", Machine("ball", mechanism, contacts=contacts), duration, start)
