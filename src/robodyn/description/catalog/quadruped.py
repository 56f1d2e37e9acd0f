"""Quadruped: a legged robot on a floating base with twelve motors, that stands, trots or falls.

x ahead, y to the left, z up; each leg has the joints `abduction` (about x), `hip` and `knee` (about y). The numbers are
this project's own choice, of the size of a robot of 12 kg.
"""

from __future__ import annotations

import math

from robodyn.description.laws.references import walking_leg
from robodyn.description.model import (
    GROUND,
    Ball,
    Block,
    Body,
    BoxLook,
    CapsuleLook,
    Contact,
    CylinderLook,
    HeightField,
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
FOOT, BUMPER = 0.02, 0.03
HEIGHT = 0.29
"""Of the hips over the middles of the feet [m]."""
LEGS = {
    "front_left": (0.19, 0.06),
    "front_right": (0.19, -0.06),
    "rear_left": (-0.19, 0.06),
    "rear_right": (-0.19, -0.06),
}
"""Where the abduction joints are on the trunk [m]."""
DIAGONAL = ("front_left", "rear_right")
OFFSET = 0.08
"""From an abduction joint to the plane of its leg [m]."""
FRICTION = {"coefficient": 0.7}
SOFT, BRISTLES = {"stiffness": 2e4, "damping": 300.0}, {"stiffness": 2e3, "damping": 20.0}
GAINS = {"proportional": 200.0, "derivative": 4.0, "limit": 30.0}
GAIT = {"thigh": THIGH, "shank": SHANK, "height": HEIGHT, "cycle_time": 0.4, "begin": 0.2, "ramp": 1.0}


def quadruped(
    stride: float = 0.1,
    lift: float = 0.06,
    rigid: bool = False,
    powered: bool = True,
    terrain: HeightField | None = None,
    duration: float = 3.0,
) -> Scenario:
    """A quadruped of twelve motors trots: a floating base on feet that stick by dry friction.

    Args:
        stride, lift: of a foot on the ground and over it [m]; with 0 and 0 it stands.
        rigid: whether feet and floor are rigid, else compliant.
        powered: whether motors act; else it falls, on bumpers below its trunk.
        terrain: instead of a level floor, about the point "floor".
    """
    gait = GAIT | {"stride": stride, "lift": lift}
    floor = terrain or Plane("floor")
    touching = {f"{leg}_touch": Ball(f"{leg}_foot", FOOT) for leg in LEGS}
    touching |= {} if powered else {f"{leg}_bump": Ball(f"{leg}_bumper", BUMPER) for leg in LEGS}
    contacts = tuple(_contact(name, ball, floor, rigid) for name, ball in touching.items())
    machine = Machine("quadruped", quadruped_mechanism(), _motors(gait) if powered else (), contacts=contacts)
    stance = walking_leg(0.0, **gait)
    initial = {f"{leg}_{joint}.position": float(stance[f"{joint}_angle"]) for leg in LEGS for joint in ("hip", "knee")}
    solver = Solver("dopri5" if rigid else "auto", rtol=1e-5, atol=1e-7)
    return Scenario(
        "quadruped",
        machine,
        duration,
        initial | {"base.z.position": HEIGHT + FOOT},
        solver=solver,
        title="A quadruped of twelve motors trots",
    )


def quadruped_mechanism() -> Mechanism:
    """Trunk and four legs; the trunk's joint `base` is free."""
    hull = BoxLook(name="hull", size=(0.36, 0.12, 0.1), colour="#4477aa")
    bodies = [Body("trunk", 6.0, inertia=(0.03, 0.09, 0.1), looks=(hull,))]
    joints = [Joint("base", "free", GROUND, "trunk")]
    points = [Point("floor", GROUND)]
    for leg, (x, y) in LEGS.items():
        side = math.copysign(1.0, y)
        motor = CylinderLook(name="motor", radius=0.04, length=0.06, origin=(0.0, side * 0.03, 0.0), rotation=ACROSS)
        bone = CapsuleLook(name="bone", radius=0.018, length=THIGH, origin=(0.0, 0.0, -THIGH / 2), colour="#8793a0")
        toe = SphereLook(name="foot", radius=FOOT, origin=(0.0, 0.0, -SHANK), colour="#333333")
        bodies += [
            Body(f"{leg}_shoulder", 0.6, (0.0, side * 0.02, 0.0), (5e-4, 7e-4, 5e-4), looks=(motor,)),
            Body(f"{leg}_thigh", 0.8, (0.0, side * -0.02, -0.03), (4e-3, 4e-3, 8e-4), looks=(bone,)),
            Body(f"{leg}_shank", 0.15, (0.0, 0.0, -0.1), (6e-4, 6e-4, 3e-5), looks=(bone.replaced(radius=0.012), toe)),
        ]
        joints += [
            _joint(f"{leg}_abduction", "trunk", f"{leg}_shoulder", (x, y, 0.0), (1.0, 0.0, 0.0)),
            _joint(f"{leg}_hip", f"{leg}_shoulder", f"{leg}_thigh", (0.0, side * OFFSET, 0.0), (0.0, 1.0, 0.0)),
            _joint(f"{leg}_knee", f"{leg}_thigh", f"{leg}_shank", (0.0, 0.0, -THIGH), (0.0, 1.0, 0.0)),
        ]
        points += [
            Point(f"{leg}_foot", f"{leg}_shank", (0.0, 0.0, -SHANK)),
            Point(f"{leg}_bumper", "trunk", (x, y, -0.03)),
        ]
    return Mechanism("quadruped", tuple(bodies), tuple(joints), tuple(points))


Triple = tuple[float, float, float]


def _joint(name: str, parent: str, child: str, origin: Triple, axis: Triple) -> Joint:
    return Joint(name, "revolute", parent, child, origin, axis=axis, armature=0.005)


ACROSS = ((1.0, 0.0, 0.0), (0.0, 0.0, -1.0), (0.0, 1.0, 0.0))
"""Turns z to the side."""


def _contact(name: str, ball: Ball, floor: Plane | HeightField, rigid: bool) -> Contact | RigidContact:
    """Rigid with dry friction that sticks, or compliant with bristles."""
    if rigid:
        return RigidContact(name, ball, floor, friction="dry_friction", friction_parameters=FRICTION)
    return Contact(name, ball, floor, "kelvin_voigt", SOFT, "bristle_friction", FRICTION | BRISTLES)


def _motors(gait: dict[str, float]) -> tuple[Block, ...]:
    """Two diagonal pairs of legs, half a round apart; each joint is led by a controller and driven by a motor."""
    blocks = [Block("straight", "constant_reference", parameters={"constant": 0.0}, unit="rad")]
    blocks += [Block(f"gait{k}", "walking_leg", parameters=gait | {"phase": 0.5 * k}) for k in range(2)]
    for leg in LEGS:
        angles = f"gait{int(leg not in DIAGONAL)}"
        targets = {"abduction": "straight.value", "hip": f"{angles}.hip_angle", "knee": f"{angles}.knee_angle"}
        for joint, target in targets.items():
            on = f"{leg}_{joint}"
            loop = Block(f"{on}_loop", "pd_control", on=on, unit="N m", inputs={"target": target}, parameters=GAINS)
            motor = Block(f"{on}_motor", "torque_source", on=on, inputs={"command": f"{on}_loop.command"})
            blocks += [loop, motor]
    return tuple(blocks)
