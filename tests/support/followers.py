"""Machines that follow a reference under a continuous controller, with a nominal motion."""

from dataclasses import replace
from math import pi

from robodyn import Solver
from robodyn.base.symbolic import sin
from robodyn.description.catalog.six_axis import six_axis_mechanism
from robodyn.description.catalog.two_link import two_link_mechanism
from robodyn.description.laws import law
from robodyn.description.model import (
    GROUND,
    Block,
    Body,
    Distance,
    Joint,
    Load,
    Machine,
    Mechanism,
    Point,
    Recording,
    Scenario,
)

TIGHT = Solver("dopri5", rtol=1e-10, atol=1e-12)


@law(torque="N m", position="rad", velocity="rad/s", target="rad", target_rate="rad/s")
def follow(position, velocity, target, target_rate, *, stiffness, damping, push=0.0):
    """A controller with a constant disturbance: `tau = k (target - q) + d (target_rate - v) + push`."""
    return {"torque": stiffness * (target - position) + damping * (target_rate - velocity) + push}


@law(force="N", pull="N", states={"pull": 1.0})
def lagging_pull(pull, *, level, time_constant):
    """A force that rises to its level: it has a state of its own."""
    return {"force": -pull, "pull_dot": (level - pull) / time_constant}


def follower_blocks(joint, points, times=(0.1, 0.6, 1.0), push=0.0, stiffness=4e3, damping=3e2):
    """Reference and controller of a joint."""
    return (
        Block(f"{joint}.reference", "spline_reference", parameters={"times": times, "points": points}),
        Block(
            f"{joint}.control",
            follow,
            on=joint,
            inputs={"target": f"{joint}.reference.position", "target_rate": f"{joint}.reference.velocity"},
            parameters={"stiffness": stiffness, "damping": damping, "push": push},
        ),
    )


@law(torque="N m", angle="rad", acceleration="rad/s^2")
def pendulum_torque(angle, acceleration, *, inertia, weight):
    """What a pendulum needs along a reference: `I a + m g l sin(q)`."""
    return {"torque": inertia * acceleration + weight * sin(angle)}


def pendulum(push, frequency=1.3):
    """A pendulum that swings as wanted, by the very torque it needs, but for a push."""
    mechanism = Mechanism(
        "pendulum",
        (Body("bob", 2.0, (0.0, 0.0, -0.5)),),
        (Joint("hinge", "revolute", GROUND, "bob", axis=(0, 1, 0)),),
        (Point("tip", "bob", (0.0, 0.0, -1.0)),),
    )
    target = {"target": "hinge.reference.value", "target_rate": "hinge.reference.rate"}
    swing, swing_rate = {"amplitude": 1.1, "frequency": frequency}, {"frequency": frequency}
    blocks = (
        Block("hinge.reference", "sine_reference", parameters=swing),
        Block("hinge.swing", sine_acceleration, inputs={"value": "hinge.reference.value"}, parameters=swing_rate),
        Block(
            "hinge.needed",
            pendulum_torque,
            on="hinge",
            inputs={"angle": "hinge.reference.value", "acceleration": "hinge.swing.acceleration"},
            parameters={"inertia": 2.0 * 0.5**2, "weight": 2.0 * 9.81 * 0.5},
        ),
        Block(
            "hinge.control",
            follow,
            on="hinge",
            inputs=target,
            parameters={"stiffness": 60.0, "damping": 6.0, "push": push},
        ),
    )
    start = {"hinge.velocity": 1.1 * 2 * pi * frequency}
    fields = {"solver": TIGHT, "recording": Recording(rate=200), "nominal": {"hinge": "hinge.reference.value"}}
    return Scenario("pendulum", Machine("pendulum", mechanism, blocks), 1.5, start, **fields)


@law(acceleration="rad/s^2", value="rad", frequency="Hz")
def sine_acceleration(value, *, frequency):
    """Second derivative of a sine without offset: `-(2 pi f)^2 x`."""
    return {"acceleration": -((2 * pi * frequency) ** 2) * value}


def references(joints):
    return {joint: f"{joint}.reference.position" for joint in joints}


def carts(push=30.0, duration=1.2):
    """Two carts on a rail, coupled by a spring between them: everything is linear."""
    bodies = (Body("front", 2.0), Body("rear", 3.0))
    joints = (
        Joint("first", "prismatic", GROUND, "front", axis=(1, 0, 0)),
        Joint("second", "prismatic", "front", "rear", axis=(1, 0, 0)),
    )
    mechanism = Mechanism("carts", bodies, joints, (Point("nose", "rear"),), (0.4, 0.0, 0.0))
    blocks = (*follower_blocks("first", (0.0, 0.5, 0.2), push=push), *follower_blocks("second", (0.0, -0.3, 0.1)))
    blocks = (*blocks, Block("coupling", "spring", on="second", parameters={"stiffness": 200.0}))
    machine = Machine("carts", mechanism, blocks)
    fields = {"solver": TIGHT, "recording": Recording(rate=200), "nominal": references(("first", "second"))}
    return Scenario("carts", machine, duration, **fields)


def two_link(push=0.0, blocks=(), coordinates=(), points=(), duration=1.2, tunable=(), loads=()):
    """A two-link arm that follows a reference while something pushes its shoulder."""
    mechanism = two_link_mechanism()
    mechanism = replace(mechanism, points=(*mechanism.points, *points))
    own = (
        *follower_blocks("shoulder", (0.0, 0.9, 0.4), push=push),
        *follower_blocks("elbow", (0.0, -1.2, -0.5), push=-push / 2),
    )
    machine = Machine("two-link", mechanism, (*own, *blocks), coordinates, loads=loads, tunable=tunable)
    fields = {"solver": TIGHT, "recording": Recording(rate=200), "nominal": references(("shoulder", "elbow"))}
    return Scenario("two-link", machine, duration, **fields)


def strut_points():
    return (Point("post", GROUND, (-0.1, 0.0, 0.5)), Point("lug", "upper_arm", (0.3, 0.0, 0.05)))


def sprung_six_axis(duration=1.2):
    """A six-axis arm with a spring between two points, a load at the tool, and bristle friction in all joints."""
    mechanism = six_axis_mechanism()
    points = (*mechanism.points, Point("post", GROUND, (0.0, 0.0, 0.6)), Point("lug", "link2", (0.3, 0.0, 0.0)))
    blocks = []
    for k, (start, far) in enumerate(zip((0.3, 0.8, 0.4, 0.2, 0.5, 0.1), (0.9, 0.3, 0.9, -0.5, 0.8, 0.9), strict=True)):
        joint = f"joint{k + 1}"
        blocks += follower_blocks(joint, (start, far, start), stiffness=2e4, damping=6e2)
        levels = {"coulomb": 8.0, "static": 9.0, "viscous": 5.0, "stribeck_velocity": 0.05}
        blocks.append(Block(f"{joint}.friction", "lugre_friction", on=joint, parameters=BRISTLES | levels))
    balance = {"stiffness": 8e3, "rest": 0.2, "damping": 20.0, "preload": 100.0}
    blocks.append(Block("balance", "spring", on="balancer", parameters=balance))
    machine = Machine(
        "six-axis",
        replace(mechanism, points=points),
        tuple(blocks),
        (Distance("balancer", "post", "lug"),),
        loads=(Load("cable", "tool", (5.0, -3.0, -20.0)),),
        tunable=("link6.mass",),
    )
    joints = [f"joint{k + 1}" for k in range(6)]
    starts = (0.3, 0.8, 0.4, 0.2, 0.5, 0.1)
    return Scenario(
        "sprung-six-axis",
        machine,
        duration,
        {f"{joint}.position": start for joint, start in zip(joints, starts, strict=True)},
        solver=Solver("rodas4p", rtol=1e-7, atol=1e-9),
        recording=Recording(rate=200),
        nominal=references(joints),
    )


BRISTLES = {"stiffness": 1e5, "damping": 30.0}
