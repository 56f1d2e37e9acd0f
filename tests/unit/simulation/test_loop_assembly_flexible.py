"""A loop with a flexible link is closed by its joints; the link bends only where it must."""

import numpy as np
import pytest

from robodyn import GROUND, Body, Joint, LoopJoint, Machine, Mechanism, Point, Scenario, assemble
from robodyn.computation.simulation import close_constraints
from robodyn.description.structures import Reduction, Section, beam

SECTION = Section(7.0e10, 2.7e10, 2700.0, 2.0e-4, 2.0e-9, 2.0e-9, 3.0e-9)
GUESS = {"crank.position": 1.0, "knee.position": -0.5, "rocker.position": 1.8, "crank.velocity": 4.0}
CRANK = ("crank.position", "crank.velocity")


@pytest.fixture(scope="module")
def loop():
    """A four-bar linkage in a plane whose coupler bends."""
    coupler = beam("coupler", 1.2, SECTION, Reduction(modes=0, directions=("y", "rz")), elements=4)
    bodies = (Body("short", 1.0, (0.2, 0, 0), (0.03,) * 3), coupler, Body("long", 1.0, (0.5, 0, 0), (0.1,) * 3))
    joints = (
        Joint("crank", "revolute", GROUND, "short"),
        Joint("knee", "revolute", "short", "coupler", (0.4, 0, 0)),
        Joint("rocker", "revolute", GROUND, "long", (1.0, 0, 0)),
    )
    points = (Point("tip", "coupler", (1.2, 0, 0)), Point("end", "long", (1.0, 0, 0)))
    machine = Machine("loop", Mechanism("loop", bodies, joints, points), constraints=(LoopJoint("pin", "tip", "end"),))
    return assemble(Scenario("loop", machine, 1.0))


def modes_of(system, found):
    return [found.x[k] for k, state in enumerate(system.states) if "coupler.mode" in state.name]


def test_the_joints_close_the_loop_and_the_link_keeps_its_shape(loop):
    found = close_constraints(loop, guess=GUESS, keep=CRANK).require()
    assert not np.any(modes_of(loop, found))
    x = dict(zip([state.name for state in loop.states], found.x, strict=True))
    # The pin's speed on both links, by hand.
    upper, lower, other = x["crank.position"], x["crank.position"] + x["knee.position"], x["rocker.position"]
    first = x["crank.velocity"] * 0.4 * np.array([-np.sin(upper), np.cos(upper)])
    first += (x["crank.velocity"] + x["knee.velocity"]) * 1.2 * np.array([-np.sin(lower), np.cos(lower)])
    second = x["rocker.velocity"] * np.array([-np.sin(other), np.cos(other)])
    np.testing.assert_allclose(first, second, atol=1e-9)


def test_the_link_bends_where_no_joint_may_move(loop):
    closed = dict(close_constraints(loop, guess=GUESS, keep=CRANK).require().positions)
    moved = closed | {"knee.position": closed["knee.position"] + 1e-3}
    found = close_constraints(loop, guess=moved, keep=(*CRANK, "knee.position")).require()
    # The tip of the link goes back across it by about the angle times its length; the rocker takes the rest.
    tip = loop.scenario.machine.mechanism.body("coupler").node("tip")
    assert np.array(tip.shift)[:, 1] @ modes_of(loop, found)[:2] == pytest.approx(-1e-3 * 1.2, rel=0.2)
