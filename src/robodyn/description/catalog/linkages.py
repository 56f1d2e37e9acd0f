"""Linkages and pendulums: which mechanisms have known solutions? Pendulums, one on a rod, and four-bars.

Library of computational benchmark problems of IFToMM, A01 and A02.
"""

from __future__ import annotations

from math import pi

from robodyn.description.model import (
    GROUND,
    Body,
    ConstraintMethod,
    Event,
    Joint,
    LoopJoint,
    Machine,
    Mechanism,
    Point,
    Rod,
    Scenario,
    Solver,
)

FORTH = (0.0, -1.0, 0.0)
"""Axis about which x rotates to z: angles count from the horizontal upwards."""


def _pendulum_machine(mass: float, length: float) -> Machine:
    """A point mass that slides freely in x and z, and a rod that holds it."""
    bodies = (Body("slide"), Body("bob", mass))
    joints = (
        Joint("x", "prismatic", GROUND, "slide", axis=(1, 0, 0)),
        Joint("z", "prismatic", "slide", "bob", axis=(0, 0, 1)),
    )
    mechanism = Mechanism("cartesian-pendulum", bodies, joints, (Point("pivot", GROUND), Point("tip", "bob")))
    return Machine("cartesian-pendulum", mechanism, constraints=(Rod("rod", "pivot", "tip", length),))


def cartesian_pendulum(
    mass: float = 1.0, length: float = 1.0, duration: float = 10.0, constraint_method: ConstraintMethod | None = None
) -> Scenario:
    """A pendulum in Cartesian coordinates is let go horizontally; the exact solution is known by elliptic functions."""
    return Scenario(
        "cartesian-pendulum",
        _pendulum_machine(mass, length),
        duration,
        {"x.position": -length},
        solver=Solver("dopri5", rtol=1e-9, atol=1e-11),
        title="Point mass held by a rod, swinging from the horizontal",
        constraint_method=constraint_method or ConstraintMethod(),
    )


def _beyond(tension: float, limit: float) -> float:
    return tension - limit


def _let_go() -> dict[str, float]:
    return {"rod.active": 0.0}


def breaking_pendulum(strength: float = 20.0, duration: float = 1.0) -> Scenario:
    """A pendulum swings on a rod that breaks at a tension [N]; then the mass flies freely."""
    fracture = Event("fracture", _beyond, {"tension": "rod.tension"}, {"limit": strength}, "rising", _let_go)
    return Scenario(
        "breaking-pendulum",
        _pendulum_machine(1.0, 1.0),
        duration,
        {"x.position": -1.0},
        (fracture,),
        solver=Solver("dopri5", rtol=1e-9, atol=1e-11),
        title="Pendulum whose rod breaks under its tension",
    )


def _thin_rod(name: str) -> Body:
    return Body(name, 1.0, (0.5, 0.0, 0.0), (0.0, 1 / 12, 1 / 12))


def four_bars(count: int = 1, duration: float = 10.0, constraint_method: ConstraintMethod | None = None) -> Scenario:
    """A row of four-bar linkages of equal rods (1 kg, 1 m) falls over from upright, through singular positions.

    Each time it lies flat all of its rods are in line: a singular position of all loops at once.
    """
    uprights = [_thin_rod(f"upright{k}") for k in range(count + 1)]
    beams = [_thin_rod(f"beam{k}") for k in range(count)]
    feet = [
        Joint(f"foot{k}", "revolute", GROUND, f"upright{k}", (float(k), 0.0, 0.0), axis=FORTH) for k in range(count + 1)
    ]
    knees = [
        Joint(f"knee{k}", "revolute", f"upright{k}", f"beam{k}", (1.0, 0.0, 0.0), axis=FORTH) for k in range(count)
    ]
    tops = [Point(f"top{k}", f"upright{k}", (1.0, 0.0, 0.0)) for k in range(count + 1)]
    ends = [Point(f"end{k}", f"beam{k}", (1.0, 0.0, 0.0)) for k in range(count)]
    loop_joints = tuple(LoopJoint(f"loop{k}", f"end{k}", f"top{k + 1}") for k in range(count))
    name = "four-bar" if count == 1 else f"four-bars-{count}"
    mechanism = Mechanism(name, (*uprights, *beams), (*feet, *knees), (*tops, *ends))
    initial = {f"{joint.name}.position": pi / 2 for joint in feet} | {f"{j.name}.position": -pi / 2 for j in knees}
    initial |= {f"{joint.name}.velocity": -1.0 for joint in feet} | {f"{j.name}.velocity": 1.0 for j in knees}
    return Scenario(
        name,
        Machine(name, mechanism, constraints=loop_joints),
        duration,
        initial,
        solver=Solver("dopri5", rtol=1e-9, atol=1e-11),
        title=f"{count} four-bars in a row, falling through their singular positions",
        constraint_method=constraint_method or ConstraintMethod("projection"),
    )


# --------------------------------------------------------------------------------------------------
# Pendulums: the simplest motions with known solutions.


ACROSS = (0.0, 1.0, 0.0)


def pendulum(mass: float = 1.0, length: float = 1.0, angle: float = 2.0, duration: float = 10.0) -> Scenario:
    """A point mass swings on a massless rod; the exact solution is known by elliptic functions."""
    bob = Body("bob", mass, (0.0, 0.0, -length))
    hinge = Joint("hinge", "revolute", GROUND, "bob", axis=ACROSS)
    tip = Point("tip", "bob", (0.0, 0.0, -length))
    machine = Machine("pendulum", Mechanism("pendulum", (bob,), (hinge,), (tip,)), tunable=("bob.mass", "gravity.*"))
    return Scenario(
        "pendulum",
        machine,
        duration,
        {"hinge.position": angle},
        solver=Solver("dopri5", rtol=1e-8, atol=1e-10),
        title="Point mass on a rod, swinging freely from 2 rad",
    )


def double_pendulum(duration: float = 10.0) -> Scenario:
    """Two equal rods (1 kg, 1 m) hinged to each other fall from horizontal: chaotic, energy conserved."""
    rods = [Body(name, 1.0, (0.0, 0.0, -0.5), (1 / 12, 1 / 12, 0.0)) for name in ("upper", "lower")]
    joints = (
        Joint("shoulder", "revolute", GROUND, "upper", axis=ACROSS),
        Joint("elbow", "revolute", "upper", "lower", (0.0, 0.0, -1.0), axis=ACROSS),
    )
    tip = Point("tip", "lower", (0.0, 0.0, -1.0))
    machine = Machine("double-pendulum", Mechanism("double-pendulum", tuple(rods), joints, (tip,)))
    return Scenario(
        "double-pendulum",
        machine,
        duration,
        {"shoulder.position": 1.5707963267948966},
        solver=Solver("dopri5", rtol=1e-9, atol=1e-11),
        title="Two rods falling from the horizontal",
    )
