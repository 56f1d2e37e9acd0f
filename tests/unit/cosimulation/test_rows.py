"""Can a planar machine be coupled at a point in its plane alone?"""

import dataclasses

import numpy as np
import pytest

import robodyn as rd
from robodyn import Connection, CosimSettings, Interface, ModelError, ScenarioUnit, cosimulate, simulate

LENGTH = 0.5
ANGLE = 0.4
NORMAL = {"xz": (0, -1, 0), "xy": (0, 0, 1)}
DOWN = {"xz": (0, 0, -9.81), "xy": (0, -9.81, 0)}
SECOND = {"xz": (0, 0, 1), "xy": (0, 1, 0)}


def arm(plane, *, load=None, port=None):
    """A sprung pendulum in a plane, with a load fixed to its tip or cut from it."""
    bodies = [rd.Body("link", 3.0, (LENGTH / 2, 0, 0), (0.06, 0.06, 0.06))]
    joints = [rd.Joint("swing", "revolute", rd.GROUND, "link", axis=NORMAL[plane])]
    if load is not None:
        bodies.append(rd.Body("load", load))
        joints.append(rd.Joint("grip", "fixed", "link", "load", (LENGTH, 0, 0)))
    points = (rd.Point("tip", "link", (LENGTH, 0, 0)),)
    mechanism = rd.Mechanism("arm", tuple(bodies), tuple(joints), points, gravity=DOWN[plane])
    blocks = (rd.Block("spring", "spring", on="swing", parameters={"stiffness": 60.0, "damping": 3.0}),)
    machine = rd.Machine("arm", mechanism, blocks, interfaces=() if port is None else (port,))
    return rd.Scenario("arm", machine, 1.0, {"swing.position": ANGLE}, recording=rd.Recording(rate=100.0))


def sled(plane, mass, port):
    """A mass that slides along both axes of the plane."""
    bodies = (rd.Body("sled"), rd.Body("load", mass))
    joints = (
        rd.Joint("along", "prismatic", rd.GROUND, "sled", axis=(1, 0, 0)),
        rd.Joint("across", "prismatic", "sled", "load", axis=SECOND[plane]),
    )
    mechanism = rd.Mechanism("sled", bodies, joints, (rd.Point("middle", "load"),), gravity=DOWN[plane])
    start = {"along.position": LENGTH * np.cos(ANGLE), "across.position": LENGTH * np.sin(ANGLE)}
    machine = rd.Machine("sled", mechanism, interfaces=(port,))
    return rd.Scenario("sled", machine, 1.0, start, recording=rd.Recording(rate=100.0))


def error(plane, step, rows, order=0, **port):
    """Largest error of the pendulum against the whole machine."""
    whole = simulate(arm(plane, load=1.5))
    first = ScenarioUnit(arm(plane, port=Interface("port", "model", point="tip", rows=rows, **port)), name="first")
    side = Interface("port", "model", point="middle", rows=rows[::-1], **port)
    second = ScenarioUnit(sled(plane, 1.5, side), name="second")
    link = Connection("first.port", "second.port", order)
    run = cosimulate([first, second], [link], settings=CosimSettings(step), duration=1.0)
    assert run.outcome.carried_through
    pendulum = run["first"]
    return np.abs(pendulum["swing.position"].values - whole["swing.position"](pendulum.time)).max()


@pytest.mark.parametrize("plane", ["xz", "xy"])
def test_a_pendulum_and_its_load_are_joined_in_their_plane(plane):
    """One direction of the pendulum's own two is stiff: an elastic part takes it."""
    elastic = {"stiffness": 1e5, "damping": 400.0}
    errors = [error(plane, step, tuple(plane), order=1, **elastic) for step in (0.004, 0.002)]
    assert errors[1] < 2e-3
    assert errors[1] < errors[0]


def two_links(port=None, load=None):
    """A two-link arm in the plane x-z."""
    bodies = [rd.Body("upper", 3.0, (0.25, 0, 0), (0.06, 0.06, 0.06)), rd.Body("lower", 2.0, (0.2, 0, 0), (0.03,) * 3)]
    joints = [
        rd.Joint("shoulder", "revolute", rd.GROUND, "upper", axis=(0, -1, 0)),
        rd.Joint("elbow", "revolute", "upper", "lower", (0.5, 0, 0), axis=(0, -1, 0)),
    ]
    if load is not None:
        bodies.append(rd.Body("load", load))
        joints.append(rd.Joint("grip", "fixed", "lower", "load", (0.4, 0, 0)))
    points = (rd.Point("tool", "lower", (0.4, 0, 0)),)
    mechanism = rd.Mechanism("arm", tuple(bodies), tuple(joints), points)
    blocks = tuple(
        rd.Block(f"{name}.spring", "spring", on=name, parameters={"stiffness": stiffness, "damping": damping})
        for name, stiffness, damping in (("shoulder", 500.0, 20.0), ("elbow", 300.0, 10.0))
    )
    machine = rd.Machine("arm", mechanism, blocks, interfaces=() if port is None else (port,))
    start = {"shoulder.position": 0.3, "elbow.position": 0.8}
    return rd.Scenario("arm", machine, 1.0, start, recording=rd.Recording(rate=100.0))


def test_two_links_and_a_load_are_joined_rigidly_by_two_rows():
    whole = simulate(two_links(load=1.5))
    rows = ("x", "z")
    first = ScenarioUnit(two_links(Interface("port", "model", point="tool", rows=rows)), name="first")
    load = sled("xz", 1.5, Interface("port", "model", point="middle", rows=rows))
    tool = simulate(two_links())["tool.position.x"](0.0), simulate(two_links())["tool.position.z"](0.0)
    load = dataclasses.replace(load, initial={"along.position": tool[0], "across.position": tool[1]})
    second = ScenarioUnit(load, name="second")
    errors = []
    for step in (0.004, 0.002):
        run = cosimulate(
            [first.renew(), second.renew()],
            [Connection("first.port", "second.port")],
            settings=CosimSettings(step),
            duration=1.0,
        )
        assert run.certificate["joined sides coincide at the start"].ok
        arm = run["first"]
        errors.append(np.abs(arm["elbow.position"].values - whole["elbow.position"](arm.time)).max())
    # Held models are of first order.
    assert errors[0] / errors[1] == pytest.approx(2.0, rel=0.3)
    assert errors[1] < 0.01


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ({"point": "tip", "rows": ("x", "w")}, "rows: 'w' is unknown"),
        ({"point": "tip", "rows": ("x", "x")}, "rows: 'x' appears twice"),
        ({"point": "tip", "rows": ()}, "rows: must name at least one row"),
        ({"point": "tip", "rows": ("x",), "rotates": True}, "rows: cannot be chosen where the rotation"),
        ({"on": "swing", "rows": ("x",)}, "rows: has no effect on a joint"),
        ({"point": "tip", "rows": ("x", "z"), "stiffness": (1.0, 2.0, 3.0)}, "must be 2 numbers, has 3"),
    ],
)
def test_rows_that_cannot_be_are_refused(words, problem):
    with pytest.raises(ModelError) as error:
        Interface("port", "model", **words)
    assert problem in str(error.value)


def test_sides_of_different_rows_are_refused():
    first = ScenarioUnit(arm("xz", port=Interface("port", "model", point="tip", rows=("x", "z"))), name="first")
    second = ScenarioUnit(sled("xy", 1.0, Interface("port", "model", point="middle", rows=("x", "y"))), name="second")
    with pytest.raises(ModelError, match="couples rows x, z with x, y"):
        cosimulate([first, second], [Connection("first.port", "second.port")], settings=CosimSettings(0.01))


def test_the_force_of_a_row_is_borne_as_a_load_is():
    recording = rd.Recording(signals=("*", "*.reaction.*"), rate=50.0)
    port = Interface("port", "force", point="tip", rows=("z",), given={"force.z": 5.0})
    cut = dataclasses.replace(arm("xz", port=port), recording=recording)
    loaded = dataclasses.replace(arm("xz"), recording=recording)
    load = rd.Load("load", "tip", (0.0, 0.0, 5.0))
    loaded = dataclasses.replace(loaded, machine=dataclasses.replace(loaded.machine, loads=(load,)))
    one, other = simulate(cut), simulate(loaded)
    for name in ("swing.position", "swing.reaction.force.x", "swing.reaction.force.z", "swing.reaction.torque.y"):
        np.testing.assert_allclose(one[name].values, other[name].values, rtol=1e-5, atol=1e-5)
