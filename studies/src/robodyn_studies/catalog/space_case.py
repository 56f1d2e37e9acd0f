"""Space-arm manoeuvre: a payload is brought to a wall and held there; whole, and cut in two at the end effector.

The payload moves to the right, turns by 90 degrees while its point A reaches the wall, and stays in touch. The
shoulder's yaw is locked, so that six joints are left for six directions: there are postures in which the arm lacks one.

- `YAW`, the study's manoeuvre: the wrist's yaw turns the payload to a wall beside the arm. At 90 degrees the wrist's
  roll axis is parallel to the three pitch axes, the arm cannot move its effector along them, and that is the normal of
  the wall: it holds the payload there in an exactly singular posture.
- `PITCH`, a variant: the pitch joints turn it to a wall ahead of the arm, all in one plane. The arm is singular where
  its wrist crosses the line of the shoulder's roll axis, which it only passes; what it lacks there, a motion out of the
  plane, nothing asks for. Another variant rolls the shoulder at that time, so that something does.

The study prints the manoeuvre without numbers: postures, distances, times, gains, payload, wall and latch are this
project's own choice, and fields of a `Manoeuvre`, which a file can change: see `read_manoeuvre`.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np

from robodyn.base.errors import FlawList, nearest
from robodyn.description.files import TomlTable, load_toml, read_numbers
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

Floats = tuple[float, ...]
GRIP = tuple(c - t for c, t in zip(BODIES[-1].com, TIP, strict=True))
"""The effector's centre of mass in the payload's frame, which is the effector's moved to its tip [m]."""
NAMES = tuple(name for name, _, _ in JOINTS)
CONTACT = {"stiffness": 2.0e5, "damping": 2.0e3}
"""5 % of critical for the payload's mass."""
LATCH = ((1e6,) * 6, (2e3,) * 6)
"""Stiffness and damping between effector and payload where signals are exchanged [N/m, N m/rad; N s/m, N m s/rad]."""
GAINS = {
    "shoulder_roll": (3.0e4, 3.0e4),
    "shoulder_yaw": (7.0e5, 6.0e5),
    "shoulder_pitch": (7.0e5, 6.0e5),
    "elbow_pitch": (3.0e5, 2.5e5),
    "wrist_pitch": (1.2e5, 5.0e4),
    "wrist_yaw": (1.2e5, 5.0e4),
    "wrist_roll": (1.2e4, 5.6e3),
}
"""Of position and speed [N m/rad, N m s/rad]."""
FEW_MODES = Reduction(modes=0, highest=30.0)
COUPLINGS = {
    "signals": ("force", "motion"),
    "displacements": ("motion", "motion"),
    "model-force": ("force", "model"),
    "model-model": ("model", "model"),
    "mobility-mobility": ("model", "model"),
}
"""What the arm and the payload take from each other, by the name of the coupling."""
LATCHED = ("signals", "displacements", "mobility-mobility")
"""Couplings that act through the latch; models behind it are integrated by their mobility."""
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


@dataclass(frozen=True)
class Manoeuvre:
    """How the arm moves, what it carries, and where the wall is.

    Attributes:
        name: of the manoeuvre, or of its file.
        times: of the knots of all joints' references [s].
        angles: joint -> its angles at the knots [rad], as pairs; joints that are not named stay at 0.
        ways: begin and end of the move to the right and of the turn [s].
        point: A in the payload's frame [m]; side, mass: of the payload, a homogeneous cube [m, kg].
        wall: direction into the wall; press: how far A would go into it in the end [m].
        locked: the joint that is, "" for none.
    """

    name: str
    times: Floats
    angles: tuple[tuple[str, Floats], ...]
    ways: tuple[tuple[float, float], tuple[float, float]]
    point: Floats
    wall: Floats
    press: float
    locked: str = "shoulder_yaw"
    side: float = 2.0
    mass: float = 2000.0
    duration: float = 36.0

    def __repr__(self) -> str:
        return self.name

    @property
    def moving(self) -> dict[str, Floats]:
        """Angles of all joints but the locked one."""
        still = (0.0,) * len(self.times)
        return {name: dict(self.angles).get(name, still) for name in NAMES if name != self.locked}

    @property
    def payload(self) -> Body:
        return Body("payload", self.mass, (self.side / 2, 0.0, 0.0), (self.mass * self.side**2 / 6,) * 3)

    def effector(self, knot: int) -> tuple[np.ndarray, np.ndarray]:
        """Place of the effector's tip [m] and its rotation at a knot of the references."""
        places, R = place_joints({name: values[knot] for name, values in self.moving.items()})
        return places[-1], R

    @property
    def wall_place(self) -> np.ndarray:
        """The place of the wall that A touches, pressed back from where the references end [m]."""
        tip, R = self.effector(-1)
        return tip + R @ np.array(self.point) - self.press * np.array(self.wall)

    @property
    def turns(self) -> str:
        """Order of hinges by which the payload hangs freely: the one whose middle angle stays farthest from 90 deg."""
        rotations = [self.effector(k)[1] for k in range(len(self.times))]
        orders = ["".join(order) for order in permutations("xyz")]
        return min(orders, key=lambda order: max(abs(hinge_angles(R, order)[1]) for R in rotations))


def place_joints(angles: Mapping[str, float]) -> tuple[np.ndarray, np.ndarray]:
    """Places of the rigid arm's base, joints and tip, one after the other, (9, 3) [m], and rotation of its effector."""
    places, R = [np.zeros(3)], np.eye(3)
    for name, axis, origin in JOINTS:
        places.append(places[-1] + R @ np.array(origin))
        x, y, z = axis
        K = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
        angle = angles.get(name, 0.0)
        R = R @ (np.eye(3) + math.sin(angle) * K + (1 - math.cos(angle)) * K @ K)
    return np.array([*places, places[-1] + R @ np.array(TIP)]), R


def hinge_angles(R: np.ndarray, order: str) -> tuple[float, float, float]:
    """Angles about three axes, one after the other, that give a rotation [rad]."""
    a, b, c = ("xyz".index(axis) for axis in order)
    sign = 1.0 if (b - a) % 3 == 1 else -1.0
    middle = math.asin(max(-1.0, min(1.0, sign * R[a, c])))
    return math.atan2(-sign * R[b, c], R[c, c]), middle, math.atan2(-sign * R[a, b], R[a, a])


def _ease(time: np.ndarray, begin: float, end: float) -> np.ndarray:
    """0 to 1 between two times, at rest at both: 10 s^3 - 15 s^4 + 6 s^5."""
    s = np.clip((time - begin) / (end - begin), 0.0, 1.0)
    return s**3 * (10 - 15 * s + 6 * s**2)


KNOTS = 65
"""Of references between postures."""
YAW_START = {
    "shoulder_roll": 0.3,
    "shoulder_pitch": -1.2,
    "elbow_pitch": 1.6,
    "wrist_pitch": -0.4,
    "wrist_yaw": 0.0,
    "wrist_roll": -0.3,
}
YAW_MIDDLE = YAW_START | {"shoulder_roll": 0.06, "wrist_roll": -0.06}
YAW_END = YAW_START | {"shoulder_roll": 0.0, "wrist_roll": 0.0, "wrist_yaw": math.pi / 2}
"""Postures at the start, after the move to the right, and turned to the wall [rad]; parts of it overlap."""
YAW_WAYS = ((0.0, 14.0), (8.0, 32.0))


def move_by_postures(
    start: Mapping[str, float] = YAW_START,
    middle: Mapping[str, float] = YAW_MIDDLE,
    end: Mapping[str, float] = YAW_END,
    *,
    ways: tuple[tuple[float, float], tuple[float, float]] = YAW_WAYS,
    point: Floats = (2.0, 0.0, 0.0),
    wall: Floats = (0.0, 1.0, 0.0),
    press: float = 0.005,
    duration: float = 60.0,
    name: str = "yaw",
    **further: Any,
) -> Manoeuvre:
    """Joints that go from a posture to the next, and to the last, `q = q0 + (q1 - q0) s1(t) + (q2 - q1) s2(t)`.

    Args:
        start, middle, end: angles by joint [rad]; ways: when the middle one, and when the last one is gone to [s].
        further: other fields of a `Manoeuvre`.
    """
    time = np.linspace(ways[0][0], max(ways[0][1], ways[1][1]), KNOTS)
    move, turn = (_ease(time, *way) for way in ways)
    angles = []
    for joint in NAMES:
        first, second, last = (posture.get(joint, 0.0) for posture in (start, middle, end))
        angles.append((joint, tuple((first + (second - first) * move + (last - second) * turn).tolist())))
    return Manoeuvre(name, tuple(time.tolist()), tuple(angles), ways, point, wall, press, duration=duration, **further)


WALL, HEIGHT, AWAY, PRESS = 15.0, 0.7, 4.0, 0.05
"""Of the variant in a plane: place of the wall and height of point A, its distance at first, and how far it would go
into the wall [m]."""
CORNER = (2.0, 1.0, 1.0)
"""Its point A [m]."""
SINGULAR_HEIGHT = CORNER[2]
"""Of point A where the wrist, with the payload turned to the wall, is on the line of the shoulder's roll [m]."""
WAYS = ((0.0, 12.0), (8.0, 32.0))
"""Begin and end of the move to the wall and of the quarter turn [s]; the last part of the way is made while turning."""
ROLL_WAY = (22.0, 32.0)
"""Begin and end of the shoulder's roll, where there is one [s]."""
APPROACH = 1.0
"""What is left of the way when the turn begins to count [m]."""
PLANE_KNOTS = 33


@cache
def move_in_plane(roll: float = 0.0, height: float = HEIGHT) -> Manoeuvre:
    """The variant in the plane of the pitch joints, by closed form: x to the right, z up.

    Args:
        roll: of the shoulder, about the direction to the wall [rad]; the distances to the wall stay as they are.
        height: of point A [m]; at `SINGULAR_HEIGHT` the arm holds the payload at the wall where it is singular.
    """
    (begin, end), (turn_begin, turn_end) = WAYS
    time = np.linspace(begin, turn_end, PLANE_KNOTS)
    far = AWAY - (AWAY - APPROACH) * _ease(time, begin, end) - (APPROACH + PRESS) * _ease(time, turn_begin, turn_end)
    elevation = -math.pi / 2 * (1 - _ease(time, turn_begin, turn_end))
    angles = solve_plane(WALL - far, np.full(PLANE_KNOTS, height), elevation)
    angles |= {"shoulder_roll": roll * _ease(time, *ROLL_WAY)}
    pairs = tuple((name, tuple(values.tolist())) for name, values in angles.items())
    return Manoeuvre("pitch", tuple(time.tolist()), pairs, WAYS, CORNER, (1.0, 0.0, 0.0), PRESS)


def solve_plane(x: np.ndarray, z: np.ndarray, elevation: np.ndarray) -> dict[str, np.ndarray]:
    """Joint angles with point A at (x, z) [m] and the effector at an elevation [rad], elbow up."""
    along, up = np.array([np.cos(elevation), np.sin(elevation)]), np.array([-np.sin(elevation), np.cos(elevation)])
    rise = -JOINTS[6][2][2]
    wrist = np.array([x, z]) - (TIP[0] + CORNER[0]) * along - (CORNER[2] - rise) * up
    dx, dz = wrist[0] - JOINTS[0][2][0], wrist[1] - JOINTS[1][2][2]
    half = np.arccos(np.hypot(dx, dz) / (2 * BOOM))
    upper, lower = np.arctan2(dz, dx) + half, np.arctan2(dz, dx) - half
    return {"shoulder_pitch": -upper, "elbow_pitch": upper - lower, "wrist_pitch": lower - elevation}


def wrist_height(elevation: np.ndarray, z: float = HEIGHT) -> np.ndarray:
    """Of the wrist's roll joint over the shoulder's roll axis [m]: where it is zero the rigid arm is singular."""
    return z - (TIP[0] + CORNER[0]) * np.sin(elevation) - CORNER[2] * np.cos(elevation)


YAW, PITCH = move_by_postures(), move_in_plane()


def read_manoeuvre(path: str | Path) -> Manoeuvre:
    """A manoeuvre between postures from a TOML file: what it leaves out is as in `YAW`.

    Keys: `locked`, `duration`, `move` and `turn` (begin and end), `press`, `wall` (direction into it), `[payload]` with
    `mass`, `side` and `point` (A), and postures `[start]`, `[middle]` and `[end]` with angles by joint.

    Raises:
        ModelError: with every problem of the file.
    """
    flaws = FlawList()
    root = TomlTable(load_toml(Path(path)), "", flaws)
    locked = root.text("locked", "shoulder_yaw")
    if locked and locked not in NAMES:
        flaws.add("locked", f"there is no joint '{locked}'", nearest(locked, NAMES))
    postures: dict[str, Any] = {}
    for key, default in (("start", YAW_START), ("middle", YAW_MIDDLE), ("end", YAW_END)):
        table = root.table(key)
        for name in table.data:
            if name not in NAMES:
                flaws.add(f"{key}.{name}", "there is no such joint", nearest(name, NAMES))
            elif name == locked:
                flaws.add(f"{key}.{name}", "is locked", "leave it out, or lock another joint")
        postures[key] = default | read_numbers(table, dict.fromkeys(NAMES, "rad"))
    move, turn = (root.vector(key, "s", 2, way) for key, way in zip(("move", "turn"), YAW_WAYS, strict=True))
    for key, way in (("move", move), ("turn", turn)):
        if way is not None and not way[0] < way[1]:
            flaws.add(key, f"must be a begin and a later end, is {list(way)}")
    wall = root.vector("wall", "", 3, (0.0, 1.0, 0.0))
    if wall is not None and abs(math.hypot(*wall) - 1.0) > 1e-9:
        flaws.add("wall", "must have the length 1: it is the direction into the wall")
    payload = root.table("payload")
    words: dict[str, Any] = {
        "point": payload.vector("point", "m", 3, (2.0, 0.0, 0.0)),
        "mass": payload.number("mass", "kg", 2000.0),
        "side": payload.number("side", "m", 2.0),
        "press": root.number("press", "m", 0.005),
        "duration": root.number("duration", "s", 60.0),
        "name": Path(path).stem,
    }
    for key in ("mass", "side", "duration"):
        if words[key] is not None and not words[key] > 0:
            flaws.add(key if key == "duration" else f"payload.{key}", f"must be positive, is {words[key]:g}")
    payload.finish()
    root.finish()
    flaws.raise_if_any(str(path))
    return move_by_postures(**postures, ways=(tuple(move), tuple(turn)), wall=tuple(wall), locked=locked, **words)


def _as_manoeuvre(what: Manoeuvre | str | Path) -> Manoeuvre:
    """A manoeuvre as it is, or of a file."""
    return what if isinstance(what, Manoeuvre) else read_manoeuvre(what)


def _arm(flexible: bool, locked: str) -> Mechanism:
    """The arm with a joint locked."""
    arm = space_arm_mechanism(flexible, FEW_MODES)
    joints = tuple(
        Joint(joint.name, "fixed", joint.parent, joint.child, joint.origin) if joint.name == locked else joint
        for joint in arm.joints
    )
    return dataclasses.replace(arm, joints=joints)


def _servos(manoeuvre: Manoeuvre) -> tuple[Block, ...]:
    """A reference and a controller for each joint that moves."""
    blocks = []
    for name, angles in manoeuvre.moving.items():
        proportional, derivative = GAINS[name]
        numbers = {"times": manoeuvre.times, "points": angles}
        inputs = {"target": f"{name}.reference.position", "target_rate": f"{name}.reference.velocity"}
        gains = {"proportional": proportional, "derivative": derivative}
        blocks += [
            Block(f"{name}.reference", "spline_reference", parameters=numbers, unit="rad"),
            Block(f"{name}.servo", follow, on=name, inputs=inputs, parameters=gains),
        ]
    return tuple(blocks)


def _arm_start(manoeuvre: Manoeuvre) -> dict[str, float]:
    return {f"{name}.position": angles[0] for name, angles in manoeuvre.moving.items()}


def _payload_start(manoeuvre: Manoeuvre) -> dict[str, float]:
    tip, R = manoeuvre.effector(0)
    start = {f"payload.{axis}.position": float(x) for axis, x in zip("xyz", tip, strict=True)}
    hinges = zip(manoeuvre.turns, hinge_angles(R, manoeuvre.turns), strict=True)
    return start | {f"payload.turn_{axis}.position": angle for axis, angle in hinges}


def _touching(manoeuvre: Manoeuvre, shift: Floats = (0.0, 0.0, 0.0)) -> tuple[tuple[Point, ...], tuple[Contact, ...]]:
    """Point A and the wall; shift: of the payload's frame [m]."""
    out = tuple(0.0 - x for x in manoeuvre.wall)
    wall = Point("wall", GROUND, tuple(manoeuvre.wall_place.tolist()))
    points = (Point("A", "payload", _less(manoeuvre.point, shift)), wall)
    return points, (Contact("touch", Ball("A", 0.0), Plane("wall", out), "kelvin_voigt", CONTACT),)


def _less(point: Floats, shift: Floats) -> Floats:
    return tuple(p - s for p, s in zip(point, shift, strict=True))


def space_case(
    flexible: bool = True,
    duration: float | None = None,
    *,
    manoeuvre: Manoeuvre | str | Path = YAW,
    latched: bool = False,
) -> Scenario:
    """A space manipulator, its payload and a wall in one model: the monolithic reference of a co-simulation.

    Args:
        manoeuvre: or a file that describes one.
        latched: whether the payload hangs on the latch through which signals act, instead of being fixed.
    """
    manoeuvre = _as_manoeuvre(manoeuvre)
    arm = _arm(flexible, manoeuvre.locked)
    if latched:
        whole, latch = _latch(arm, manoeuvre.payload), _latch_springs(manoeuvre.payload)
        points, contacts = _touching(manoeuvre, GRIP)
    else:
        whole, latch = arm.with_payload(manoeuvre.payload, "effector", TIP), ()
        points, contacts = _touching(manoeuvre)
    mechanism = dataclasses.replace(whole, points=(*whole.points, *points))
    kind = "flexible" if flexible else "rigid"
    machine = Machine(f"space-case-{kind}", mechanism, (*_servos(manoeuvre), *latch), contacts=contacts)
    title = f"A {kind} space arm brings a payload to a wall"
    return _scenario(machine, duration or manoeuvre.duration, _arm_start(manoeuvre), title)


def _latch(arm: Mechanism, payload: Body) -> Mechanism:
    """The arm with the payload hung at the effector's centre of mass, free in six directions."""
    body = dataclasses.replace(payload, com=_less(payload.com, GRIP))
    bodies, joints = hang_freely(body)
    joints[0] = dataclasses.replace(joints[0], parent="effector", origin=BODIES[-1].com)
    return dataclasses.replace(arm, bodies=(*arm.bodies, *bodies), joints=(*arm.joints, *joints))


def _latch_springs(payload: Body) -> tuple[Block, ...]:
    _, joints = hang_freely(payload)
    return tuple(
        Block(f"{joint.name}.latch", "spring", on=joint.name, parameters={"stiffness": stiffness, "damping": damping})
        for joint, stiffness, damping in zip(joints, *LATCH, strict=True)
    )


def space_case_arm(
    takes: str | None = None,
    flexible: bool = True,
    duration: float | None = None,
    *,
    elastic: bool = False,
    manoeuvre: Manoeuvre | str | Path = YAW,
) -> Scenario:
    """The space manipulator without its payload, for co-simulation.

    Args:
        takes: what its interface `port` takes, None leaves it out; elastic: whether that has the latch's stiffness.
        manoeuvre: or a file that describes one.
    """
    manoeuvre = _as_manoeuvre(manoeuvre)
    kind = "flexible" if flexible else "rigid"
    machine = Machine(
        f"space-case-arm-{kind}",
        _arm(flexible, manoeuvre.locked),
        _servos(manoeuvre),
        interfaces=_interfaces(takes, "centre", elastic),
    )
    title = f"The {kind} arm of the case, cut from its payload"
    return _scenario(machine, duration or manoeuvre.duration, _arm_start(manoeuvre), title)


def space_case_payload(
    takes: str | None = None,
    elastic: bool = False,
    duration: float | None = None,
    *,
    manoeuvre: Manoeuvre | str | Path = YAW,
) -> Scenario:
    """The payload of the space manipulator and the wall, for co-simulation.

    Args:
        elastic: whether its interface has the latch's stiffness.
    """
    manoeuvre = _as_manoeuvre(manoeuvre)
    bodies, joints = hang_freely(manoeuvre.payload, manoeuvre.turns)
    points, contacts = _touching(manoeuvre)
    points = (*points, Point("grip", "payload", GRIP))
    mechanism = Mechanism("payload", tuple(bodies), tuple(joints), points, gravity=(0.0, 0.0, 0.0))
    interfaces = _interfaces(takes, "grip", elastic)
    machine = Machine("space-case-payload", mechanism, contacts=contacts, interfaces=interfaces)
    title = "The payload of the case, cut from the arm"
    return _scenario(machine, duration or manoeuvre.duration, _payload_start(manoeuvre), title)


def _interfaces(takes: str | None, point: str, elastic: bool) -> tuple[Interface, ...]:
    if takes is None:
        return ()
    stiffness, damping = LATCH if elastic else (None, None)
    return (Interface(PORT, takes, point=point, rotates=True, stiffness=stiffness, damping=damping),)


def space_case_sides(
    coupling: str,
    flexible: bool = True,
    duration: float | None = None,
    *,
    manoeuvre: Manoeuvre | str | Path = YAW,
) -> tuple[Scenario, Scenario]:
    """Arm and payload, ready to be coupled in one of the ways of `COUPLINGS`; those of `LATCHED` act through the latch.

    Args:
        manoeuvre: or a file that describes one.
    """
    if coupling not in COUPLINGS:
        flaws = FlawList()
        flaws.add("coupling", f"'{coupling}' is unknown", nearest(coupling, COUPLINGS))
        flaws.raise_if_any("space case")
    arm, payload = COUPLINGS[coupling]
    elastic = [coupling in LATCHED and takes != "force" for takes in (arm, payload)]
    return (
        space_case_arm(arm, flexible, duration, elastic=elastic[0], manoeuvre=manoeuvre),
        space_case_payload(payload, elastic[1], duration, manoeuvre=manoeuvre),
    )


def _scenario(machine: Machine, duration: float, initial: dict[str, float], title: str) -> Scenario:
    return Scenario(
        machine.name, machine, duration, initial, recording=Recording(rate=50.0), solver=SOLVER, title=title
    )
