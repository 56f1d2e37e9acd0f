"""Bodies that touch: a bouncing ball and a box on a slope, the simplest contacts with known solutions.

Their numbers are this project's own choice.
"""

from __future__ import annotations

import math

from robodyn.model import (
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
)

ALONG, ACROSS = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)
FLOOR = Point("floor", GROUND)


def bouncing_ball(restitution: float = 0.8, height: float = 1.0, duration: float = 5.0) -> Scenario:
    """A ball of 1 kg and 0.1 m that falls on a rigid floor: bounces at `t1 (1 + 2 r + 2 r^2 + ...)`, then rests."""
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
        solver={"method": "dopri5", "rtol": 1e-8, "atol": 1e-10},
        title="A ball bounces on a rigid floor until it rests",
    )


def box_on_slope(slope: float = math.atan(0.4), coefficient: float = 0.5, duration: float = 1.0) -> Scenario:
    """A box of 2 kg put on a slope [rad]: dry friction holds it below the angle `atan(coefficient)`."""
    size, mass = (0.4, 0.3, 0.2), 2.0
    squares = [length**2 for length in size]
    box = Body("box", mass, inertia=tuple(mass / 12 * (sum(squares) - own) for own in squares))
    joints = (
        Joint("along", "prismatic", GROUND, "along_frame", axis=ALONG),
        Joint("up", "prismatic", "along_frame", "up_frame"),
        Joint("turn", "revolute", "up_frame", "box", axis=ACROSS),
    )
    # The slope stays level and gravity is turned: `along` points down it.
    gravity = (9.81 * math.sin(slope), 0.0, -9.81 * math.cos(slope))
    bodies = (Body("along_frame"), Body("up_frame"), box)
    mechanism = Mechanism("box", bodies, joints, (Point("middle", "box"), FLOOR), gravity)
    contact = Contact(
        "slope",
        Box("middle", size),
        Plane("floor"),
        "kelvin_voigt",
        {"stiffness": 1e5, "damping": 300.0},
        "bristle_friction",
        {"coefficient": coefficient, "stiffness": 1e5, "damping": 300.0},
    )
    return Scenario(
        "box-on-slope",
        Machine("box", mechanism, contacts=(contact,)),
        duration,
        {"up.position": size[2] / 2},
        solver={"method": "rodas4", "rtol": 1e-6, "atol": 1e-9},
        title="A box on a slope of 22 degrees, held by dry friction",
    )
