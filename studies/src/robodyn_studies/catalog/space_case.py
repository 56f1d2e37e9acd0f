"""Space-arm manoeuvre: a payload is brought to a wall and held there; whole, and cut in two at the end effector.

The payload moves to the right, turns by 90 degrees while its corner A reaches the wall, and stays in touch, all in the
plane of the three pitch joints. The shoulder's yaw is locked, so that six joints are left for six directions, and the
arm is singular where its wrist crosses the line of the shoulder's roll axis, here while it turns: it cannot move its
wrist to the side then, out of the plane. In a variant the shoulder rolls at that time, so that it has to.

The study prints the manoeuvre without numbers: distances, times, gains, payload, wall and latch are this project's own
choice. Symbols of the plane: x to the right, z up, elevation of a direction positive upwards.
"""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from robodyn.base.errors import FlawList, nearest
from robodyn.description.laws import law
from robodyn.description.model import (
    GROUND,
    Ball,
    Block,
    Body,
    Contact,
    Interface,
    Joint,
    Machine,
    Mechanism,
    Plane,
    Point,
    Recording,
    Scenario,
    Solver,
)
from robodyn.description.structures import Reduction
from robodyn_studies.catalog.free_bodies import hang_freely
from robodyn_studies.catalog.space_arm import BODIES, BOOM, JOINTS, TIP, space_arm_mechanism

SIDE, MASS = 2.0, 2000.0
"""Of the payload, a homogeneous cube [m, kg]."""
PAYLOAD = Body("payload", MASS, (SIDE / 2, 0.0, 0.0), (MASS * SIDE**2 / 6,) * 3)
CORNER = (SIDE, SIDE / 2, SIDE / 2)
"""Point A in the payload's frame, which is the effector's moved to its tip [m]."""
GRIP = tuple(c - t for c, t in zip(BODIES[-1].com, TIP, strict=True))
"""The effector's centre of mass in the payload's frame [m]."""

WALL, HEIGHT, AWAY, PRESS = 15.0, 0.7, 4.0, 0.05
"""Place of the wall and height of point A, its distance at first, and how far it would go into the wall [m]."""
SINGULAR_HEIGHT = CORNER[2]
"""Of point A where the wrist, with the payload turned to the wall, is on the line of the shoulder's roll [m]."""
WAYS = ((0.0, 12.0), (8.0, 32.0))
"""Begin and end of the move to the wall and of the quarter turn [s]; the last part of the way is made while turning."""
ROLL_WAY = (22.0, 32.0)
"""Begin and end of the shoulder's roll, where there is one [s]."""
APPROACH = 1.0
"""What is left of the way when the turn begins to count [m]."""
DURATION, KNOTS = 36.0, 33
CONTACT = {"stiffness": 2.0e5, "damping": 2.0e3}
"""5 % of critical for the payload's mass."""
LATCH = ((1e6,) * 6, (2e3,) * 6)
"""Stiffness and damping between effector and payload where signals are exchanged [N/m, N m/rad; N s/m, N m s/rad]."""
GAINS = {
    "shoulder_roll": (3.0e4, 3.0e4),
    "shoulder_pitch": (7.0e5, 6.0e5),
    "elbow_pitch": (3.0e5, 2.5e5),
    "wrist_pitch": (1.2e5, 5.0e4),
    "wrist_yaw": (1.2e5, 5.0e4),
    "wrist_roll": (1.2e4, 5.6e3),
}
"""Of position and speed [N m/rad, N m s/rad]."""
LOCKED = "shoulder_yaw"
FEW_MODES = Reduction(modes=0, highest=30.0)
COUPLINGS = {
    "signals": ("force", "motion"),
    "displacements": ("motion", "motion"),
    "model-force": ("force", "model"),
    "model-model": ("model", "model"),
}
"""What the arm and the payload take from each other, by the name of the coupling."""
PORT = "port"
SOLVER = Solver("rodas4", rtol=1e-5, atol=1e-6)


@law(
    target="{x}",
    target_rate="{x}/s",
    position="{x}",
    velocity="{x}/s",
    torque="{F}",
    proportional="{F}/{x}",
    derivative="{F} s/{x}",
)
def follow(target, target_rate, position, velocity, *, proportional, derivative):
    """Joint torque `P (q_ref - q) + D (v_ref - v)`."""
    return {"torque": proportional * (target - position) + derivative * (target_rate - velocity)}


def _ease(time: np.ndarray, begin: float, end: float) -> np.ndarray:
    """0 to 1 between two times, at rest at both: 10 s^3 - 15 s^4 + 6 s^5."""
    s = np.clip((time - begin) / (end - begin), 0.0, 1.0)
    return s**3 * (10 - 15 * s + 6 * s**2)


def plan_joints(roll: float = 0.0, height: float = HEIGHT) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Times of the knots, and the angles of the moving joints at them, by closed form [s, rad].

    Args:
        roll: of the shoulder, about the direction to the wall [rad]; the distances to the wall stay as they are.
        height: of point A [m].
    """
    (begin, end), (turn_begin, turn_end) = WAYS
    time = np.linspace(begin, turn_end, KNOTS)
    far = AWAY - (AWAY - APPROACH) * _ease(time, begin, end) - (APPROACH + PRESS) * _ease(time, turn_begin, turn_end)
    elevation = -math.pi / 2 * (1 - _ease(time, turn_begin, turn_end))
    angles = solve_plane(WALL - far, np.full(KNOTS, height), elevation)
    return time, angles | {"shoulder_roll": roll * _ease(time, *ROLL_WAY)}


def solve_plane(x: np.ndarray, z: np.ndarray, elevation: np.ndarray) -> dict[str, np.ndarray]:
    """Joint angles with point A at (x, z) [m] and the effector at an elevation [rad], elbow up."""
    along, up = np.array([np.cos(elevation), np.sin(elevation)]), np.array([-np.sin(elevation), np.cos(elevation)])
    rise = -JOINTS[6][2][2]
    wrist = np.array([x, z]) - (TIP[0] + CORNER[0]) * along - (CORNER[2] - rise) * up
    dx, dz = wrist[0] - JOINTS[0][2][0], wrist[1] - JOINTS[1][2][2]
    half = np.arccos(np.hypot(dx, dz) / (2 * BOOM))
    upper, lower = np.arctan2(dz, dx) + half, np.arctan2(dz, dx) - half
    still = np.zeros_like(half)
    angles = {"shoulder_pitch": -upper, "elbow_pitch": upper - lower, "wrist_pitch": lower - elevation}
    return {name: angles.get(name, still) for name in GAINS}


def wrist_height(elevation: np.ndarray, z: float = HEIGHT) -> np.ndarray:
    """Of the wrist's roll joint over the shoulder's roll axis [m]: where it is zero the rigid arm is singular."""
    return z - (TIP[0] + CORNER[0]) * np.sin(elevation) - CORNER[2] * np.cos(elevation)


def _arm(flexible: bool) -> Mechanism:
    """The arm with its shoulder's yaw locked."""
    arm = space_arm_mechanism(flexible, FEW_MODES)
    joints = tuple(
        Joint(joint.name, "fixed", joint.parent, joint.child, joint.origin) if joint.name == LOCKED else joint
        for joint in arm.joints
    )
    return dataclasses.replace(arm, joints=joints)


def _servos(roll: float, height: float) -> tuple[Block, ...]:
    """A reference and a controller for each joint that moves."""
    time, angles = plan_joints(roll, height)
    blocks = []
    for name, (proportional, derivative) in GAINS.items():
        numbers = {"times": tuple(time.tolist()), "points": tuple(angles[name].tolist())}
        inputs = {"target": f"{name}.reference.position", "target_rate": f"{name}.reference.velocity"}
        gains = {"proportional": proportional, "derivative": derivative}
        blocks += [
            Block(f"{name}.reference", "spline_reference", parameters=numbers, unit="rad"),
            Block(f"{name}.servo", follow, on=name, inputs=inputs, parameters=gains),
        ]
    return tuple(blocks)


def _start(arm: bool, payload: bool, height: float) -> dict[str, float]:
    _, angles = plan_joints(height=height)
    start = {f"{name}.position": float(values[0]) for name, values in angles.items()} if arm else {}
    if payload:
        # The effector points down: the payload's frame is rotated by 90 degrees about y.
        x, z = WALL - AWAY - CORNER[2], height + CORNER[0]
        y = sum(origin[1] for _, _, origin in JOINTS)
        start |= {"payload.x.position": x, "payload.y.position": y, "payload.z.position": z}
        start |= {"payload.turn_y.position": math.pi / 2}
    return start


def _touching(shift: tuple[float, ...] = (0.0, 0.0, 0.0)) -> tuple[tuple[Point, ...], tuple[Contact, ...]]:
    """Point A and the wall; shift: of the payload's frame [m]."""
    points = (Point("A", "payload", _less(CORNER, shift)), Point("wall", GROUND, (WALL, 0.0, 0.0)))
    return points, (Contact("touch", Ball("A", 0.0), Plane("wall", (-1.0, 0.0, 0.0)), "kelvin_voigt", CONTACT),)


def _less(point: tuple[float, ...], shift: tuple[float, ...]) -> tuple[float, ...]:
    return tuple(p - s for p, s in zip(point, shift, strict=True))


def space_case(
    flexible: bool = True,
    duration: float = DURATION,
    *,
    roll: float = 0.0,
    height: float = HEIGHT,
    latched: bool = False,
) -> Scenario:
    """Arm, payload and wall in one: the monolithic reference.

    Args:
        roll: of the shoulder while the payload turns [rad].
        height: of point A [m]; at `SINGULAR_HEIGHT` the arm holds the payload at the wall where it is singular.
        latched: whether the payload hangs on the latch through which signals act, instead of being fixed.
    """
    arm = _arm(flexible)
    if latched:
        whole, latch, (points, contacts) = _latch(arm), _latch_springs(), _touching(GRIP)
    else:
        whole, latch, (points, contacts) = arm.with_payload(PAYLOAD, "effector", TIP), (), _touching()
    mechanism = dataclasses.replace(whole, points=(*whole.points, *points))
    kind = "flexible" if flexible else "rigid"
    machine = Machine(f"space-case-{kind}", mechanism, (*_servos(roll, height), *latch), contacts=contacts)
    return _scenario(machine, duration, _start(True, False, height), f"A {kind} space arm brings a payload to a wall")


def _latch(arm: Mechanism) -> Mechanism:
    """The arm with the payload hung at the effector's centre of mass, free in six directions."""
    body = dataclasses.replace(PAYLOAD, com=_less(PAYLOAD.com, GRIP))
    bodies, joints = hang_freely(body)
    joints[0] = dataclasses.replace(joints[0], parent="effector", origin=BODIES[-1].com)
    return dataclasses.replace(arm, bodies=(*arm.bodies, *bodies), joints=(*arm.joints, *joints))


def _latch_springs() -> tuple[Block, ...]:
    _, joints = hang_freely(PAYLOAD)
    return tuple(
        Block(f"{joint.name}.latch", "spring", on=joint.name, parameters={"stiffness": stiffness, "damping": damping})
        for joint, stiffness, damping in zip(joints, *LATCH, strict=True)
    )


def space_case_arm(
    takes: str | None = None,
    flexible: bool = True,
    duration: float = DURATION,
    *,
    elastic: bool = False,
    roll: float = 0.0,
    height: float = HEIGHT,
) -> Scenario:
    """The arm without its payload.

    Args:
        takes: what its interface `port` takes, None leaves it out; elastic: whether that has the latch's stiffness.
        roll: of the shoulder while the payload turns [rad]; height: of point A [m].
    """
    kind = "flexible" if flexible else "rigid"
    machine = Machine(
        f"space-case-arm-{kind}",
        _arm(flexible),
        _servos(roll, height),
        interfaces=_interfaces(takes, "centre", elastic),
    )
    return _scenario(
        machine, duration, _start(True, False, height), f"The {kind} arm of the case, cut from its payload"
    )


def space_case_payload(
    takes: str | None = None, elastic: bool = False, duration: float = DURATION, *, height: float = HEIGHT
) -> Scenario:
    """The payload and the wall; elastic: whether its interface has the latch's stiffness."""
    bodies, joints = hang_freely(PAYLOAD, "yzx")
    points, contacts = _touching()
    mechanism = Mechanism(
        "payload", tuple(bodies), tuple(joints), (*points, Point("grip", "payload", GRIP)), gravity=(0.0, 0.0, 0.0)
    )
    interfaces = _interfaces(takes, "grip", elastic)
    machine = Machine("space-case-payload", mechanism, contacts=contacts, interfaces=interfaces)
    return _scenario(machine, duration, _start(False, True, height), "The payload of the case, cut from the arm")


def _interfaces(takes: str | None, point: str, elastic: bool) -> tuple[Interface, ...]:
    if takes is None:
        return ()
    stiffness, damping = LATCH if elastic else (None, None)
    return (Interface(PORT, takes, point=point, rotates=True, stiffness=stiffness, damping=damping),)


def space_case_sides(
    coupling: str, flexible: bool = True, duration: float = DURATION, *, roll: float = 0.0, height: float = HEIGHT
) -> tuple[Scenario, Scenario]:
    """Arm and payload, ready to be coupled in one of the ways of `COUPLINGS`; motions act through the latch."""
    if coupling not in COUPLINGS:
        flaws = FlawList()
        flaws.add("coupling", f"'{coupling}' is unknown", nearest(coupling, COUPLINGS))
        flaws.raise_if_any("space case")
    arm, payload = COUPLINGS[coupling]
    return (
        space_case_arm(arm, flexible, duration, elastic=arm == "motion", roll=roll, height=height),
        space_case_payload(payload, payload == "motion", duration, height=height),
    )


def _scenario(machine: Machine, duration: float, initial: dict[str, float], title: str) -> Scenario:
    return Scenario(
        machine.name, machine, duration, initial, recording=Recording(rate=50.0), solver=SOLVER, title=title
    )
