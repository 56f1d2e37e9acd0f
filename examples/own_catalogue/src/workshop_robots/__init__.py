"""A crane's load on its rope: one scenario, and one study that holds its period against the formula."""

import math

import robodyn as rd
from robodyn.presentation.studies import Kind, PublishedValue, Study

LENGTH = 4.0


def crane_load() -> rd.Scenario:
    """A point mass on a rope of 4 m, let go 1 degree off."""
    load = rd.Body("load", mass=500.0, com=(0.0, 0.0, -LENGTH))
    rope = rd.Joint("rope", "revolute", rd.GROUND, "load", axis=(0.0, 1.0, 0.0))
    lowest = rd.Event("lowest", lambda angle: angle, {"angle": "rope.position"})
    return rd.Scenario(
        "crane-load",
        rd.Machine("crane", rd.Mechanism("crane", (load,), (rope,))),
        10.0,
        {"rope.position": math.radians(1.0)},
        events=(lowest,),
        title="The load of a crane swings on its rope",
    )


def period_figures():
    """The period of small swings, 2 pi sqrt(l/g)."""
    first, second = (event.time for event in rd.simulate(crane_load()).events[:2])
    exact = 2 * math.pi * math.sqrt(LENGTH / 9.81)
    # A swing of amplitude 1 degree lasts 2e-5 longer than a small one.
    reason = "an amplitude of 1 degree"
    yield PublishedValue("period", exact, 2 * (second - first), "s", 1e-4 * exact, reason, "any textbook", Kind.RESULT)


SCENARIOS = {"crane-load": crane_load}
STUDIES = {
    "crane": Study(
        name="crane",
        title="Swings of a crane's load",
        about="A load on a rope swings as a pendulum does.",
        source="any textbook of mechanics",
        scenarios=("crane-load",),
        parts=lambda: {"Period": period_figures},
        pictures=tuple,
    )
}
