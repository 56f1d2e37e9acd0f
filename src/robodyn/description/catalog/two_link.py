"""Two-link planar arm under a cascade of sampled loops, with LuGre friction in both joints (values of our own)."""

from __future__ import annotations

from robodyn.description.model import GROUND, Block, Body, Joint, Machine, Mechanism, Point, Scenario, Solver

POSITION_PERIOD, VELOCITY_PERIOD = 1e-3, 0.25e-3
LENGTHS = {"shoulder": 0.5, "elbow": 0.4}
MASSES = {"shoulder": 10.0, "elbow": 6.0}
ARMATURE = {"shoulder": 1.0, "elbow": 0.4}
TARGETS = {"shoulder": 0.6, "elbow": -0.8}
GAINS = {"shoulder": (700.0, 25e3), "elbow": (180.0, 6e3)}
STRIBECK_VELOCITY = 0.05
FRICTION = {
    "shoulder": {"stiffness": 1e5, "damping": 30.0, "viscous": 8.0, "coulomb": 8.0, "static": 9.5},
    "elbow": {"stiffness": 5e4, "damping": 15.0, "viscous": 3.0, "coulomb": 4.0, "static": 4.7},
}


def two_link_mechanism() -> Mechanism:
    """Two slender arms in a vertical plane, x forward, z up."""
    bodies = []
    for name, joint in (("upper_arm", "shoulder"), ("forearm", "elbow")):
        mass, length = MASSES[joint], LENGTHS[joint]
        moment = mass * length**2 / 12
        bodies.append(Body(name, mass, (length / 2, 0.0, 0.0), (moment / 50, moment, moment)))
    axis, end = (0.0, -1.0, 0.0), (LENGTHS["shoulder"], 0.0, 0.0)
    joints = (
        Joint("shoulder", "revolute", GROUND, "upper_arm", axis=axis, armature=ARMATURE["shoulder"]),
        Joint("elbow", "revolute", "upper_arm", "forearm", end, axis=axis, armature=ARMATURE["elbow"]),
    )
    return Mechanism("two-link", tuple(bodies), joints, (Point("tool", "forearm", (LENGTHS["elbow"], 0.0, 0.0)),))


def axis_blocks(joint: str) -> tuple[Block, ...]:
    """There-and-back reference, 1 kHz position loop, 4 kHz velocity loop, drive and friction of one joint."""
    proportional, integral = GAINS[joint]
    points = (0.0, TARGETS[joint], 0.5 * TARGETS[joint])
    friction = FRICTION[joint] | {"stribeck_velocity": STRIBECK_VELOCITY}
    return (
        Block(f"{joint}.reference", "spline_reference", parameters={"times": (0.1, 0.9, 1.6), "points": points}),
        Block(
            f"{joint}.position_loop",
            "position_loop",
            period=POSITION_PERIOD,
            inputs={
                "target": f"{joint}.reference.position",
                "position": f"{joint}.position",
                "feed_forward": f"{joint}.reference.velocity",
            },
            parameters={"proportional": 40.0},
        ),
        Block(
            f"{joint}.velocity_loop",
            "sampled_velocity_loop",
            on=joint,
            period=VELOCITY_PERIOD,
            inputs={"velocity_command": f"{joint}.position_loop.velocity_command"},
            parameters={"proportional": proportional, "integral": integral, "limit": 300.0},
        ),
        Block(f"{joint}.drive", "torque_source", on=joint, inputs={"command": f"{joint}.velocity_loop.torque_command"}),
        Block(f"{joint}.friction", "lugre_friction", on=joint, parameters=friction),
    )


def two_link_loop(duration: float = 2.0) -> Scenario:
    """An arm of two links moves out and back under sampled control at two rates; its friction sticks at the ends."""
    blocks = tuple(block for joint in LENGTHS for block in axis_blocks(joint))
    return Scenario(
        "two-link-loop",
        Machine("two-link", two_link_mechanism(), blocks),
        duration,
        solver=Solver("rodas4", rtol=1e-5, atol=1e-7),
        nominal={joint: f"{joint}.reference.position" for joint in LENGTHS},
        title="Two-link arm under 1 kHz position and 4 kHz velocity loops, LuGre friction",
    )
