"""Elevator cable: the travelling cable as a chain of thin links between the car and the wall of its hoistway.

The study that this follows prints no numbers. Those here are this project's own choice: a light compensating cable as
makers list it, 60 m of it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from robodyn.base.errors import FlawList
from robodyn.description.model import (
    GROUND,
    Block,
    Body,
    ConstraintMethod,
    Coordinate,
    Joint,
    LinearConstraint,
    Machine,
    Mechanism,
    Point,
    PointCoordinate,
    PrescribedMotion,
    Recording,
    Scenario,
    Solver,
    check_finite,
)

FORWARD, UP = (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)
# A positive angle turns a link that hangs towards the wall.
HINGE = (0.0, -1.0, 0.0)
Motion = tuple[str | float, str | float, str | float]
REST: Motion = (0.0, 0.0, 0.0)
SOLVER = Solver("dopri5", rtol=1e-6, atol=1e-8)
TREATMENT = ConstraintMethod(pole=5.0)
RATE = 10.0
KEPT = ("bend*.position", "sway.*", "lift.*", "wall_*.force", "constraints.*", "energy.*")


@dataclass(frozen=True)
class Cable:
    """A cable between car and wall.

    Attributes:
        links: how many it is divided into; bend: how many of them are in the bend, the others in the legs, alike each;
            all are alike where it is 0.
        reach: of the links of the bend to both sides of the lowest point, along the cable [m].
        length: [m]; density: [kg/m]; stiffness: of bending, EI [N m^2].
        relaxation: damping of bending as a time, damper / spring [s].
        drag: of the air [N s/m per m].
        across, drop: place of the wall's end, beside and below the car's [m].
    """

    links: int = 100
    bend: int = 0
    reach: float = 2.0
    length: float = 60.0
    density: float = 1.1
    stiffness: float = 0.10
    relaxation: float = 1.0
    drag: float = 0.02
    across: float = 0.54
    drop: float = 10.0

    def __post_init__(self) -> None:
        flaws = FlawList()
        if not isinstance(self.links, int) or self.links < 2:
            flaws.add("links", f"must be a whole number of at least 2, is {self.links!r}")
        elif not isinstance(self.bend, int) or not (self.bend == 0 or 1 <= self.bend <= self.links - 2):
            flaws.add("bend", f"must be 0 or a whole number up to {self.links - 2}, is {self.bend!r}")
        for field in ("reach", "length", "density", "stiffness", "across", "relaxation", "drag", "drop"):
            value = getattr(self, field)
            least = "positive" if field in ("reach", "length", "density", "stiffness", "across") else "at least 0"
            if check_finite(flaws, field, value) and (value < 0 or (value == 0 and least == "positive")):
                flaws.add(field, f"must be {least}, is {value:g}")
        if not flaws.found and not self.length > np.hypot(self.across, self.drop) + np.pi * self.across / 2:
            flaws.add("length", f"{self.length:g} m is too short to hang in a loop", "bring its ends nearer together")
        flaws.raise_if_any("cable")

    @property
    def lowest(self) -> float:
        """Where the lowest point is, along the cable from the car [m]."""
        return (self.length + self.drop) / 2

    @property
    def pitches(self) -> np.ndarray:
        """Lengths of the links from the car to the wall [m], (links,)."""
        if not self.bend:
            return np.full(self.links, self.length / self.links)
        legs = np.array([self.lowest - self.reach, self.length - self.lowest - self.reach])
        first = int(np.clip(round((self.links - self.bend) * legs[0] / legs.sum()), 1, self.links - self.bend - 1))
        counts = (first, self.bend, self.links - self.bend - first)
        spans = (legs[0], 2 * self.reach, legs[1])
        return np.concatenate([np.full(n, span / n) for n, span in zip(counts, spans, strict=True)])

    def link_at(self, share: float) -> int:
        """Number, from 1 on, of the link whose middle is nearest to a part of the length from the car."""
        middles = np.cumsum(self.pitches) - self.pitches / 2
        return 1 + int(np.argmin(np.abs(middles - share * self.length)))

    @property
    def joints(self) -> tuple[str, ...]:
        """Names of all joints, the first at the car."""
        return tuple(f"bend{k}" for k in range(1, self.links + 1))

    def hanging_angles(self) -> dict[str, float]:
        """Joint angles of a cable that hangs in two straight legs and a round loop [rad]: a guess of its rest.

        tan(slope / 2) = exp(pi s / across), s along the cable from the lowest point: such a loop is `across` wide.
        """
        along = np.cumsum(self.pitches) - self.pitches / 2 - self.lowest
        slope = 2 * np.arctan(np.exp(np.clip(np.pi * along / self.across, -700, 700)))
        turns = np.diff(slope, prepend=0.0).tolist()
        return {f"{joint}.position": turn for joint, turn in zip(self.joints, turns, strict=True)}


STANDARD = Cable(links=50, bend=12, reach=1.5)
"""Links of 0.25 m where it bends, whose loop is 0.54 m wide, and of 1.5 m in the legs; see the study's mesh study."""


def divide(cable: Cable, links: int | None) -> Cable:
    """The cable in another number of links, the same share of them in the bend; as it is without a number."""
    return cable if links is None else replace(cable, links=links, bend=round(links * cable.bend / cable.links))


def bend(angles, rates, *, stiffness, relaxation):
    """Springs and dampers in a row of joints: `tau_k = -k_k (q_k + T v_k)`."""
    rows = zip(angles, rates, stiffness, strict=True)
    return {"torque": tuple(-k * (q + relaxation * v) for q, v, k in rows)}


def resist(speeds, *, coefficient):
    """Resistance of the air to many points: `f_k = -c_k u_k`."""
    return {"force": tuple(-c * speed for speed, c in zip(speeds, coefficient, strict=True))}


def cable_mechanism(cable: Cable = STANDARD) -> Mechanism:
    """Hoistway, car and links; the hoistway sways along x, the car moves along z, both without mass.

    The car's end of the cable is at the origin, z up; links hang along -z where all angles are 0.
    """
    bodies = [Body("hoistway"), Body("car")]
    joints = [
        Joint("sway", "prismatic", GROUND, "hoistway", axis=FORWARD),
        Joint("lift", "prismatic", "hoistway", "car", axis=UP),
    ]
    points = [Point("car_end", "car"), Point("wall_end", "hoistway", (cable.across, 0.0, -cable.drop))]
    pitches = cable.pitches.tolist()
    for k, (joint, pitch) in enumerate(zip(cable.joints, pitches, strict=True), start=1):
        mass = cable.density * pitch
        moment = mass * pitch**2 / 12
        bodies.append(Body(f"link{k}", mass, (0.0, 0.0, -pitch / 2), (moment, moment, 0.0)))
        place = (0.0, 0.0, -pitches[k - 2] if k > 1 else 0.0)
        joints.append(Joint(joint, "revolute", "car" if k == 1 else f"link{k - 1}", f"link{k}", place, axis=HINGE))
        points.append(Point(f"middle{k}", f"link{k}", (0.0, 0.0, -pitch / 2)))
    points.append(Point("end", f"link{cable.links}", (0.0, 0.0, -pitches[-1])))
    return Mechanism("travelling-cable", tuple(bodies), tuple(joints), tuple(points))


def cable_blocks(cable: Cable) -> tuple[Block, Block]:
    """Bending in all joints but that at the car, and the drag of the air on every link's middle."""
    bent, pitches = cable.joints[1:], cable.pitches
    springs = 2 * cable.stiffness / (pitches[1:] + pitches[:-1])
    moving = [coordinate.name for coordinate in cable_coordinates(cable)[:-2]]
    return (
        Block(
            "bending",
            bend,
            inputs={
                "angles": tuple(f"{joint}.position" for joint in bent),
                "rates": tuple(f"{joint}.velocity" for joint in bent),
            },
            parameters={"stiffness": tuple(springs.tolist()), "relaxation": cable.relaxation},
            acts={f"torque.{k}": joint for k, joint in enumerate(bent)},
        ),
        Block(
            "air",
            resist,
            inputs={"speeds": tuple(f"{name}.velocity" for name in moving)},
            parameters={"coefficient": tuple(np.repeat(cable.drag * pitches, 2).tolist())},
            acts={f"force.{k}": name for k, name in enumerate(moving)},
        ),
    )


def cable_coordinates(cable: Cable) -> tuple[Coordinate, ...]:
    """Where each link's middle is, along x and z; and the end at the wall."""
    ways = (("x", FORWARD), ("z", UP))
    middles = [
        PointCoordinate(f"link{k}_{axis}", f"middle{k}", way) for k in range(1, cable.links + 1) for axis, way in ways
    ]
    return (*middles, *(PointCoordinate(f"end_{axis}", "end", way) for axis, way in ways))


def cable_machine(
    cable: Cable = STANDARD, sway: Motion = REST, lift: Motion = REST, blocks: tuple[Block, ...] = ()
) -> Machine:
    """The cable hung between car and wall, both moved as given.

    Args:
        sway, lift: position, velocity and acceleration of hoistway and car: signals or numbers.
    """
    constraints = (
        PrescribedMotion("building", "sway", *sway),
        PrescribedMotion("carriage", "lift", *lift),
        LinearConstraint("wall_x", {"end_x": 1.0, "sway": -1.0}, cable.across),
        LinearConstraint("wall_z", {"end_z": 1.0}, -cable.drop),
    )
    return Machine(
        "travelling-cable",
        cable_mechanism(cable),
        (*cable_blocks(cable), *blocks),
        cable_coordinates(cable),
        constraints=constraints,
    )


def hanging_cable(name: str, cable: Cable, machine: Machine, duration: float, title: str) -> Scenario:
    """A cable that starts at rest; shape, energy and the signals of all blocks that move or measure it are kept."""
    others = (block.name for block in machine.blocks if block.law not in (bend, resist))
    return Scenario(
        name,
        machine,
        duration,
        cable.hanging_angles(),
        recording=Recording(rate=RATE, signals=(*KEPT, *(f"{name}.*" for name in others))),
        solver=SOLVER,
        title=title,
        initialisation="at_rest",
        constraint_method=TREATMENT,
    )


def cable_hang(cable: Cable = STANDARD, duration: float = 10.0, links: int | None = None) -> Scenario:
    """An elevator cable hangs at rest.

    Args:
        links: into which it is divided, another number of them.
    """
    cable = divide(cable, links)
    title = f"Travelling cable of an elevator at rest, {cable.links} links"
    return hanging_cable("cable-hang", cable, cable_machine(cable), duration, title)
