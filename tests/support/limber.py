"""A small flexible arm: a bent frame on a hinge, a slide and a beam on it, so that every way of hanging on is there."""

from functools import cache

from robodyn import Body, Joint, Machine, Mechanism, Point, Scenario, assemble
from robodyn.analysis.linear.modes import find_modes
from robodyn.base.spatial import from_rpy
from robodyn.description.model import Block
from robodyn.description.structures import Element, Reduction, Section, beam, frame

STIFF = {"stiffness": 200.0, "damping": 0.0}


def limber_scenario():
    tube = Section.tube(0.01, 0.001, 7e10, 2.7e10, 2700.0)
    corners = {"root": (0.0, 0.0, 0.0), "knee": (0.4, 0.0, 0.1), "end": (0.5, 0.3, 0.1)}
    parts = [Element("root", "knee", tube, 2), Element("knee", "end", tube, 2)]
    how = {"modes": 0, "highest": 2000.0, "stiffening": True}
    crook = frame("crook", corners, parts, Reduction(interfaces=("end",), **how))
    lash = beam("lash", 0.3, tube, Reduction(**how), elements=2)
    slider = Body("slider", 0.5, (0.0, 0.0, 0.02), (1e-3,) * 3)
    joints = (
        Joint("hinge", "revolute", "ground", "crook", (0.0, 0.0, 0.2), axis=(0.0, 1.0, 0.0)),
        # By a bracket on a node, and turned.
        Joint("slide", "prismatic", "crook", "slider", (0.5, 0.35, 0.1), from_rpy(0.2, -0.3, 0.5), node="end"),
        Joint("weld", "fixed", "slider", "lash", (0.0, 0.0, 0.1), from_rpy(0.0, 0.4, 0.0)),
    )
    points = (*crook.points(), Point("tip", "lash", (0.3, 0.0, 0.0)), Point("knob", "lash", (0.3, 0.05, 0.0), "tip"))
    mechanism = Mechanism("limber", (crook, slider, lash), joints, points, gravity=(0.0, 0.0, 0.0))
    springs = tuple(Block(f"{name}_spring", "spring", on=name, parameters=STIFF) for name in ("hinge", "slide"))
    return Scenario("limber", Machine("limber", mechanism, springs), 1.0)


@cache
def limber_modes():
    """Its modes and its system."""
    system = assemble(limber_scenario())
    return find_modes(system, at="start"), system
