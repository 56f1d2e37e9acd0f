"""Random machines with all that a scenario may hold, the same for the same seed."""

from __future__ import annotations

from typing import Any

import numpy as np
from support.random_machines.mechanisms import SIZE, Frame, finish, random_constraints, random_frame
from support.random_machines.parameters import DURATION, draw_parameters
from support.random_machines.wiring import Law, Wiring

from robodyn.base.symbolic import sin
from robodyn.computation.assembly.units import BlockUnits
from robodyn.description.model import (
    GROUND,
    Ball,
    Block,
    Box,
    Contact,
    Coordinate,
    Distance,
    Event,
    FunctionCoordinate,
    LinearCombination,
    Load,
    Machine,
    Plane,
    Point,
    PointCoordinate,
    PrescribedMotion,
    RigidContact,
    Scenario,
    TriangleLength,
)
from robodyn.description.model.constraint import Constraint


def random_scenario(seed: int, largest: int = 6, without: tuple[str, ...] = ()) -> Scenario:
    """A machine with drives, friction, sensors and controllers, and what happens to it.

    Args:
        largest: number of bodies, from 3 on; rigid contacts, whose code is long, have half of them.
        without: laws that came later than this seed's machine.

    Every fourth machine has joints of all kinds, the others revolute, prismatic and fixed ones.
    """
    rng = np.random.default_rng(seed)
    looped, touching = rng.random() < 0.4, rng.random() < 0.2
    most = (largest + 1) // 2 if touching else largest
    number = int(rng.integers(min(3, most), most + 1) if looped else rng.integers(1, most + 1))
    frame = random_frame(rng, number, plain=seed % 4 != 2)
    constraints = random_constraints(frame, frame.n_v) if looped and frame.n_v > 1 else []
    coordinates = [_random_coordinate(frame, f"s{k}") for k in range(int(rng.integers(0, 3)))]
    wiring = Wiring(rng, frame.units | {c.name: _unit(c, frame.units) for c in coordinates}, without)
    _add_blocks(rng, wiring, seed, largest)
    if rng.random() < 0.15 and frame.n_v > 1 and not constraints:
        constraints.append(_prescribe(frame, wiring))
    contacts = _random_contacts(frame, wiring) if touching else ()
    loads = [_random_load(frame, wiring)] if rng.random() < (0.15 if frame.plain else 0.5) else []
    tunable = ("*.mass",) if rng.random() < 0.2 else ()
    parts: dict[str, Any] = {"delays": wiring.delays, "constraints": constraints, "contacts": contacts}
    machine = Machine("m", finish(frame), wiring.blocks, coordinates, loads=loads, tunable=tunable, **parts)
    # What the constraints do not allow is changed: all start values are guesses.
    start: dict[str, Any] = {"initialisation": "assembled", "keep": ()} if constraints else {}
    events = _random_events(frame, constraints)
    return Scenario(f"s{seed}", machine, DURATION, _random_start(frame, bool(constraints)), events, **start)


def _add_blocks(rng: np.random.Generator, wiring: Wiring, seed: int, largest: int) -> None:
    """Some laws, one of them in turn; what moves nothing by itself drives something."""
    usable = [law for law in wiring.laws if not (law.touches or law.rubs or law.rolls)]
    for number in (seed, *rng.integers(len(usable), size=rng.integers(0, largest // 2 + 1))):
        law = usable[number % len(usable)]
        block = wiring.add(law)
        if block is not None and not law.acts:
            wiring.use(block, law)
    if rng.random() < 0.3:
        wiring.add_own()


def _random_coordinate(frame: Frame, name: str) -> Coordinate:
    rng = frame.rng
    joints = [str(j) for j in rng.choice(list(frame.q), min(2, len(frame.q)), replace=False)]
    turning = [name for name, unit in frame.units.items() if unit == "rad"]
    kind = rng.integers(5)
    weights = {joint: float(rng.uniform(-2.0, 2.0)) for joint in joints}
    if kind == 0:
        return LinearCombination(name, weights, inertia=float(rng.choice([0.0, 0.01])))
    if kind == 1:
        return PointCoordinate(name, _tip(frame).name, tuple(rng.normal(size=3)))
    if kind == 2:
        return Distance(name, "base", _tip(frame).name)
    if kind == 3 and turning:
        offset = 1.5 - frame.q[turning[0]]
        return TriangleLength(name, {turning[0]: 1.0}, (0.2, 0.35), offset)
    gain = float(rng.uniform(0.1, 1.0))
    return FunctionCoordinate(name, tuple(joints), lambda *q: sum(0.3 * value + 0.1 * sin(gain * value) for value in q))


def _tip(frame: Frame) -> Point:
    """A point of the last body that moves; the first one does."""
    carried: list[str] = []
    for joint in frame.joints:
        if joint.kind != "fixed" or joint.parent in carried:
            carried.append(joint.child)
    return next(point for point in frame.points if point.body == carried[-1])


def _unit(coordinate: Coordinate, joints: dict[str, str]) -> str:
    return joints[next(iter(coordinate.of))] if isinstance(coordinate, LinearCombination) else "m"


def _prescribe(frame: Frame, wiring: Wiring) -> PrescribedMotion:
    """A joint that follows a spline from where it stands."""
    rng, joint = frame.rng, list(frame.q)[-1]
    times = tuple(np.linspace(0.0, DURATION, 4))
    points = frame.q[joint] + 0.3 * SIZE * rng.uniform(-1.0, 1.0, 4) * [0, 1, 1, 1]
    unit = wiring.places[joint]
    values = {"times": times, "points": tuple(points)}
    wiring.blocks.append(Block("told", "spline_reference", parameters=values, unit=unit))
    return PrescribedMotion("follow", joint, "told.position", "told.velocity", "told.acceleration")


def _random_load(frame: Frame, wiring: Wiring) -> Load:
    """A force on the last body; where joints are of all kinds, in either frame, with a torque, and times a signal."""
    rng, force = frame.rng, tuple(frame.rng.normal(size=3) * 5.0)
    if frame.plain:
        return Load("load", _tip(frame).name, force)
    times = wiring.source("rad/s") if rng.random() < 0.5 else None
    axes = str(rng.choice(["world", "body"]))
    return Load("load", _tip(frame).name, force, tuple(rng.normal(size=3)), axes, times)


def _random_contacts(frame: Frame, wiring: Wiring) -> list[Contact | RigidContact]:
    """A ball or a box above a sloping floor, by a law of the package or rigid, with friction or without."""
    rng, point = frame.rng, _tip(frame)
    below = frame.place(point) - [0.0, 0.0, rng.uniform(0.05, 0.15)]
    frame.points.append(Point("floor", GROUND, tuple(below)))
    floor = Plane("floor", (*rng.uniform(-0.2, 0.2, 2), 1.0))
    ball, box = Ball(point.name, float(rng.choice([0.0, 0.02]))), Box(point.name, (0.02, 0.02, 0.02))
    shape = ball if rng.random() < 0.85 else box
    rubbing = [law for law in wiring.laws if law.rubs and not law.info.sticks]
    friction = _draw_law(rng, rubbing) if rng.random() < 0.6 else None
    rub = {"friction": friction[0], "friction_parameters": friction[1]} if friction else {}
    if rng.random() < 0.5:
        if friction and rng.random() < 0.7:
            rub = {"friction": "dry_friction", "friction_parameters": {"coefficient": friction[1]["coefficient"]}}
        return [RigidContact("touch", shape, floor, float(rng.choice([0.0, 0.3, 0.8])), **rub)]
    law, values = _draw_law(rng, [law for law in wiring.laws if law.touches])
    return [Contact("touch", shape, floor, law, values | {"stiffness": float(rng.uniform(1e3, 1e5))}, **rub)]


def _draw_law(rng: np.random.Generator, laws: list[Law]) -> tuple[str, dict[str, Any]]:
    law = laws[int(rng.integers(len(laws)))]
    return law.name, draw_parameters(rng, law.parameters, law.info, BlockUnits("m", ""))


def _random_start(frame: Frame, assembled: bool) -> dict[str, float]:
    """The pose, a little off where it is assembled before the run, and speeds."""
    rng, start = frame.rng, {}
    for joint, q in frame.q.items():
        start[f"{joint}.position"] = q + (0.02 * float(rng.uniform(-1, 1)) if assembled else 0.0)
        if rng.random() < 0.5:
            start[f"{joint}.velocity"] = float(rng.normal()) * (1.5 if frame.q else 0.0)
    for ball, quaternion in frame.orientations.items():
        near = quaternion + (0.02 * rng.uniform(-1, 1, 4) if assembled else 0.0)
        start |= _components(f"{ball}.orientation", "wxyz", near / np.linalg.norm(near))
        if rng.random() < 0.5:
            start |= _components(f"{ball}.angular_velocity", "xyz", 1.5 * rng.normal(size=3))
    return start


def _components(quantity: str, axes: str, values: np.ndarray) -> dict[str, float]:
    return {f"{quantity}.{axis}": float(value) for axis, value in zip(axes, values, strict=True)}


def _random_events(frame: Frame, constraints: list[Constraint]) -> list[Event]:
    """A joint that passes a place: watched only, reversed there or set free of a constraint, or the end of the run."""
    rng = frame.rng
    if rng.random() < 0.65:
        return []
    joint = str(rng.choice(list(frame.q)))
    inputs = {"position": f"{joint}.position"}
    values = {"level": frame.q[joint] + float(rng.normal()) * 0.1}
    fields: dict[str, Any] = {"direction": str(rng.choice(["rising", "falling", "both"]))}
    kind = rng.integers(3)
    if kind == 1 and constraints:
        fields["action"] = lambda: {f"{constraints[0].name}.active": 0.0}
    elif kind == 1:
        inputs["speed"], values["bounce"] = f"{joint}.velocity", float(rng.uniform(0.3, 1.0))
        fields["action"] = lambda speed, bounce: {f"{joint}.velocity": -bounce * speed}
        fields["native"] = bool(rng.random() < 0.7)
    elif kind == 2:
        fields["terminal"] = True
    return [Event("passes", lambda position, level: position - level, inputs, values, **fields)]
