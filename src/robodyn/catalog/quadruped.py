"""Quadruped: a legged robot on a floating base with twelve motors, that stands, trots and falls.

    x ahead, y to the left, z up; legs front_left ... rear_right, each with joints abduction (about x), hip and knee (about y)

Its numbers are this project's own choice, of the size of a robot of 12 kg.
"""

from __future__ import annotations

import math

from robodyn.model import (
    GROUND,
    Ball,
    Block,
    Body,
    BoxLook,
    CapsuleLook,
    Contact,
    Joint,
    Machine,
    Mechanism,
    Plane,
    Point,
    RigidContact,
    Scenario,
    Solver,
    SphereLook,
)

THIGH = SHANK = 0.2
FOOT = 0.02
HEIGHT = 0.29
"""Of the hips over the middles of the feet."""
LEGS = {
    "front_left": (0.19, 0.06),
    "front_right": (0.19, -0.06),
    "rear_left": (-0.19, 0.06),
    "rear_right": (-0.19, -0.06),
}
"""Where the abduction joints are on the trunk [m]."""
DIAGONAL = ("front_left", "rear_right")
OFFSET = 0.08
"""From the abduction joint to the plane of the leg [m]."""
GAINS = {"proportional": 200.0, "derivative": 4.0}
TORQUE_LIMIT = 30.0
COEFFICIENT = 0.7


def leg_angles(height: float = HEIGHT) -> tuple[float, float]:
    """Angles of hip and knee with the foot that far below the hip."""
    knee = -math.acos((height**2 - THIGH**2 - SHANK**2) / (2 * THIGH * SHANK))
    return -math.atan2(SHANK * math.sin(knee), THIGH + SHANK * math.cos(knee)), knee


def quadruped_mechanism() -> Mechanism:
    """Trunk and four legs; the trunk's joint `base` is free."""
    trunk = Body("trunk", 6.0, inertia=(0.03, 0.09, 0.1), looks=(BoxLook(name="hull", size=(0.36, 0.12, 0.1), colour="#4477aa"),))
    bodies, joints = [trunk], [Joint("base", "free", GROUND, "trunk")]
    points = [Point("floor", GROUND)]
    for leg, (x, y) in LEGS.items():
        side = math.copysign(1.0, y)
        bodies += _leg_bodies(leg, side)
        joints += [
            Joint(f"{leg}_abduction", "revolute", "trunk", f"{leg}_shoulder", (x, y, 0), axis=(1, 0, 0)),
            Joint(f"{leg}_hip", "revolute", f"{leg}_shoulder", f"{leg}_thigh", (0, side * OFFSET, 0), axis=(0, 1, 0)),
            Joint(f"{leg}_knee", "revolute", f"{leg}_thigh", f"{leg}_shank", (0, 0, -THIGH), axis=(0, 1, 0)),
        ]
        joints[-3:] = [joint.replaced(armature=0.005) for joint in joints[-3:]]
        points.append(Point(f"{leg}_foot", f"{leg}_shank", (0, 0, -SHANK)))
    return Mechanism("quadruped", tuple(bodies), tuple(joints), tuple(points))


def _leg_bodies(leg: str, side: float) -> list[Body]:
    down = CapsuleLook(name="bone", radius=0.018, length=THIGH, origin=(0, 0, -THIGH / 2), colour="#8793a0")
    shoulder = Body(f"{leg}_shoulder", 0.6, (0, side * 0.02, 0), (5e-4, 7e-4, 5e-4))
    thigh = Body(f"{leg}_thigh", 0.8, (0, side * -0.02, -0.03), (4e-3, 4e-3, 8e-4), looks=(down,))
    toe = SphereLook(name="foot", radius=FOOT, origin=(0, 0, -SHANK), colour="#333333")
    shank = Body(f"{leg}_shank", 0.15, (0, 0, -0.1), (6e-4, 6e-4, 3e-5), looks=(down.replaced(radius=0.012), toe))
    return [shoulder, thigh, shank]


def foot_contact(leg: str, rigid: bool) -> Contact | RigidContact:
    """A foot on the floor: rigid with dry friction that sticks, or compliant with bristles."""
    shapes = (Ball(f"{leg}_foot", FOOT), Plane("floor"))
    if rigid:
        return RigidContact(leg, *shapes, 0.0, 1e-3, "dry_friction", {"coefficient": COEFFICIENT})
    soft, bristles = {"stiffness": 2e4, "damping": 300.0}, {"stiffness": 2e3, "damping": 20.0}
    return Contact(leg, *shapes, "kelvin_voigt", soft, "bristle_friction", {"coefficient": COEFFICIENT} | bristles)


def quadruped(
    stride: float = 0.1, rigid: bool = True, period: float = 0.4, powered: bool = True, duration: float = 3.0
) -> Scenario:
    """A legged robot trots: a quadruped of twelve motors on feet that stick to the floor by dry friction.

    Args:
        stride: length of a step on the ground [m]; 0 stands; period: of a round of a foot [s].
        rigid: whether feet and floor are rigid; powered: whether motors act, else it falls.
    """
    blocks: list[Block] = []
    if powered:
        gait = {"thigh": THIGH, "shank": SHANK, "height": HEIGHT, "stride": stride, "lift": 0.06 * (stride > 0)}
        gait |= {"period": period, "begin": 0.2, "ramp": 1.0}
        blocks += [Block("gait_first", "walking_leg", parameters=gait)]
        blocks += [Block("gait_second", "walking_leg", parameters=gait | {"phase": 0.5})]
        blocks += [Block("straight", "constant_reference", parameters={"constant": 0.0}, unit="rad")]
        for leg in LEGS:
            blocks += _motors(leg)
    machine = Machine("quadruped", quadruped_mechanism(), tuple(blocks), contacts=tuple(foot_contact(leg, rigid) for leg in LEGS))
    hip, knee = leg_angles()
    initial = {f"{leg}_hip.position": hip for leg in LEGS} | {f"{leg}_knee.position": knee for leg in LEGS}
    return Scenario(
        "quadruped", machine, duration, initial | {"base.z.position": HEIGHT + FOOT}, solver=Solver("dopri5", rtol=1e-4, atol=1e-6)
    )


def _motors(leg: str) -> list[Block]:
    gait = "gait_first" if leg in DIAGONAL else "gait_second"
    targets = {"abduction": "straight.value", "hip": f"{gait}.hip_angle", "knee": f"{gait}.knee_angle"}
    blocks = []
    for joint, target in targets.items():
        name, limits = f"{leg}_{joint}", {"limit": TORQUE_LIMIT}
        loop = Block(f"{name}_loop", "pd_control", on=name, unit="N m", inputs={"target": target}, parameters=GAINS | limits)
        motor = Block(f"{name}_motor", "torque_source", on=name, inputs={"command": f"{name}_loop.command"})
        blocks += [loop, motor]
    return blocks
