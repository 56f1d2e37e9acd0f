"""Contact examples: a bouncing ball, a box on a slope and one that tumbles.

Their numbers are this project's own choice.
"""

from __future__ import annotations

import math

from robodyn.description.model import (
    GROUND,
    Ball,
    Body,
    Box,
    Contact,
    Joint,
    Machine,
    Mechanism,
    Plane,
    Point,
    RigidContact,
    Scenario,
    Solver,
)

ALONG, ACROSS = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)
FLOOR = Point("floor", GROUND)
SIZE = (0.4, 0.3, 0.2)
FRICTION, BRISTLES = "bristle_friction", {"stiffness": 1e5, "damping": 300.0}


def bouncing_ball(restitution: float = 0.8, height: float = 1.0, duration: float = 5.0) -> Scenario:
    """A ball of 1 kg and 0.1 m falls on a rigid floor, bounces ever lower and comes to rest.

    Bounces are at `t1 (1 + 2 r + 2 r^2 + ...)`.
    """
    radius = 0.1
    ball = Body("ball", 1.0)
    mechanism = Mechanism(
        "ball", (ball,), (Joint("height", "prismatic", GROUND, "ball"),), (Point("middle", "ball"), FLOOR)
    )
    contact = RigidContact("bounce", Ball("middle", radius), Plane("floor"), restitution)
    return Scenario(
        "bouncing-ball",
        Machine("ball", mechanism, contacts=(contact,)),
        duration,
        {"height.position": height + radius},
        solver=Solver("dopri5", rtol=1e-8, atol=1e-10),
        title="A ball bounces on a rigid floor until it rests",
    )


def planar_mechanism(body: Body, points: tuple[Point, ...] = (), slope: float = 0.0) -> Mechanism:
    """A body that moves `along` x and `up` z and can `turn` about y, over a floor with the slope [rad].

    The floor stays level and gravity is rotated: `along` points down the slope.
    """
    joints = (
        Joint("along", "prismatic", GROUND, "along_frame", axis=ALONG),
        Joint("up", "prismatic", "along_frame", "up_frame"),
        Joint("turn", "revolute", "up_frame", body.name, axis=ACROSS),
    )
    gravity = (9.81 * math.sin(slope), 0.0, -9.81 * math.cos(slope))
    return Mechanism("planar", (Body("along_frame"), Body("up_frame"), body), joints, (*points, FLOOR), gravity)


def make_box(size: tuple[float, float, float] = SIZE, mass: float = 2.0) -> Body:
    """A homogeneous box: `I_k = m (a_i^2 + a_j^2) / 12`."""
    squares = [length**2 for length in size]
    return Body("box", mass, inertia=tuple(mass / 12 * (sum(squares) - own) for own in squares))


def box_on_slope(slope: float = math.atan(0.4), coefficient: float = 0.5, duration: float = 1.0) -> Scenario:
    """A box of 2 kg lies on a slope: dry friction holds it below the angle `atan(coefficient)`."""
    contact = Contact(
        "slope",
        Box("middle", SIZE),
        Plane("floor"),
        "kelvin_voigt",
        {"stiffness": 1e5, "damping": 300.0},
        FRICTION,
        {"coefficient": coefficient} | BRISTLES,
    )
    mechanism = planar_mechanism(make_box(), (Point("middle", "box"),), slope)
    return Scenario(
        "box-on-slope",
        Machine("box", mechanism, contacts=(contact,)),
        duration,
        {"up.position": SIZE[2] / 2},
        solver=Solver("rodas4", rtol=1e-6, atol=1e-9),
        title="A box on a slope of 22 degrees, held by dry friction",
    )


def tumbling_box(restitution: float = 0.3, coefficient: float = 0.5, duration: float = 3.0) -> Scenario:
    """A box of 2 kg thrown on a rigid floor with friction, along which it tumbles until it lies still."""
    rough = {"coefficient": coefficient} | BRISTLES
    contact = RigidContact("floor_contact", Box("middle", SIZE), Plane("floor"), restitution, 1e-3, FRICTION, rough)
    mechanism = planar_mechanism(make_box(), (Point("middle", "box"),))
    return Scenario(
        "tumbling-box",
        Machine("box", mechanism, contacts=(contact,), tunable=("gravity.*",)),
        duration,
        {"up.position": 0.6, "along.velocity": 2.0, "turn.position": 0.3, "turn.velocity": 8.0},
        solver=Solver("rodas4", rtol=1e-6, atol=1e-9),
        title="A box thrown on a rigid floor tumbles and comes to rest",
    )
