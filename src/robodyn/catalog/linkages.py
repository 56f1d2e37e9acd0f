"""Which mechanisms with constraints have known solutions? A pendulum on a rod, four-bars, Andrews' squeezer.

Four-bars and pendulums: library of computational benchmark problems of IFToMM, A01 and A02. Squeezer: test set for
initial value problem solvers, University of Bari (Mazzia and Magherini), problem II-10; planar, in x and y.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import pi

from robodyn.model import (
    GROUND,
    Block,
    Body,
    Closure,
    Distance,
    Event,
    Joint,
    Machine,
    Mechanism,
    Point,
    Rod,
    Scenario,
    Solver,
    Treatment,
)

FORTH = (0.0, -1.0, 0.0)
"""Axis about which x turns to z: angles count from the horizontal upwards."""


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
    mass: float = 1.0, length: float = 1.0, duration: float = 10.0, treatment: Treatment | None = None
) -> Scenario:
    """A pendulum in Cartesian coordinates, let go horizontally at x = -length; exact solution by elliptic functions."""
    return Scenario(
        "cartesian-pendulum",
        _pendulum_machine(mass, length),
        duration,
        {"x.position": -length},
        solver=Solver("dopri5", rtol=1e-9, atol=1e-11),
        title="Point mass held by a rod, swinging from the horizontal",
        treatment=treatment or Treatment(),
    )


def _beyond(tension: float, limit: float) -> float:
    return tension - limit


def _let_go() -> dict[str, float]:
    return {"rod.active": 0.0}


def breaking_pendulum(strength: float = 20.0, duration: float = 1.0) -> Scenario:
    """The same pendulum on a rod that breaks at a tension [N]; then the mass flies freely."""
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


def four_bars(count: int = 1, duration: float = 10.0, treatment: Treatment | None = None) -> Scenario:
    """A row of four-bars that share their upright rods, all rods 1 m and 1 kg, pushed over from upright with 1 m/s.

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
    closures = tuple(Closure(f"loop{k}", f"end{k}", f"top{k + 1}") for k in range(count))
    name = "four-bar" if count == 1 else f"four-bars-{count}"
    mechanism = Mechanism(name, (*uprights, *beams), (*feet, *knees), (*tops, *ends))
    initial = {f"{joint.name}.position": pi / 2 for joint in feet} | {f"{j.name}.position": -pi / 2 for j in knees}
    initial |= {f"{joint.name}.velocity": -1.0 for joint in feet} | {f"{j.name}.velocity": 1.0 for j in knees}
    return Scenario(
        name,
        Machine(name, mechanism, constraints=closures),
        duration,
        initial,
        solver=Solver("dopri5", rtol=1e-9, atol=1e-11),
        title=f"{count} four-bars in a row, falling through their singular positions",
        treatment=treatment or Treatment("projection"),
    )


ANDREWS_START = {
    "beta": -0.0617138900142764496,
    "theta": 0.0,
    "gamma": 0.455279819163070380,
    "phi": 0.222668390165885885,
    "delta": 0.487364979543842550,
    "omega": -0.222668390165885885,
    "epsilon": 1.23054744454982119,
}
"""Published start angles [rad]."""
ANDREWS_END = {
    "beta": 15.81077119629904,
    "theta": -15.75637105984298,
    "gamma": 0.04082224013073101,
    "phi": -0.5347301163226948,
    "delta": 0.5244099658805304,
    "omega": 0.5347301163226948,
    "epsilon": 1.048080741042263,
}
"""Published angles after 0.03 s [rad]."""
# Angle, body it turns, parent, place of the hinge there [m], mass [kg], centre of mass [m], moment of inertia [kg m^2].
_ANDREWS = (
    ("beta", "K1", GROUND, (0.0, 0.0), 0.04325, (0.00092, 0.0), 2.194e-6),
    ("theta", "K2", "K1", (0.007, 0.0), 0.00365, (-0.0115, 0.0), 4.410e-7),
    ("gamma", "K3", GROUND, (-0.03635, 0.03273), 0.02373, (0.01043, -0.01874), 5.255e-6),
    ("delta", "K5", GROUND, (-0.06934, -0.00227), 0.07050, (0.00916, -0.02308), 1.169e-5),
    ("phi", "K4", "K5", (0.04, 0.0), 0.00706, (0.0, 0.01421 - 0.02), 5.667e-7),
    ("epsilon", "K7", GROUND, (-0.06934, -0.00227), 0.05498, (0.00449, -0.01228), 1.912e-5),
    ("omega", "K6", "K7", (0.0, -0.04), 0.00706, (0.02 - 0.01421, 0.0), 5.667e-7),
)
# The place P where four of the bodies meet, in the frame of each [m]; D and C, between which a spring is.
_ANDREWS_POINTS = (
    ("P", "K2", (-0.028, 0.0)),
    ("P_gamma", "K3", (0.0, -0.035)),
    ("P_phi", "K4", (0.0, -0.02)),
    ("P_omega", "K6", (0.02, 0.0)),
    ("D", "K3", (0.02, -0.018)),
    ("C", GROUND, (0.014, 0.072)),
)


def andrews(treatment: Treatment | None = None) -> Scenario:
    """Andrews' squeezing mechanism: seven bodies, three loops, a spring, driven by a motor's constant torque."""
    bodies = tuple(Body(row[1], row[4], (*row[5], 0.0), (row[6] / 2, row[6] / 2, row[6])) for row in _ANDREWS)
    joints = tuple(Joint(angle, "revolute", on, body, (*at, 0.0)) for angle, body, on, at, *_ in _ANDREWS)
    points = tuple(Point(name, body, (*at, 0.0)) for name, body, at in _ANDREWS_POINTS)
    spring = Block("spring", "spring", on="DC", parameters={"stiffness": 4530.0, "rest": 0.07785})
    motor = Block("motor", "constant_force", on="beta", parameters={"value": 0.033})
    machine = Machine(
        "andrews",
        Mechanism("andrews", bodies, joints, points, gravity=(0, 0, 0)),
        blocks=(spring, motor),
        coordinates=(Distance("DC", "C", "D"),),
        constraints=tuple(Closure(f"loop_{angle}", "P", f"P_{angle}") for angle in ("gamma", "phi", "omega")),
    )
    return Scenario(
        "andrews",
        machine,
        0.03,
        {f"{angle}.position": value for angle, value in ANDREWS_START.items()},
        solver=Solver("dopri5", rtol=1e-9, atol=1e-11),
        title="Andrews' squeezing mechanism, published end values after 0.03 s",
        treatment=treatment or Treatment(),
    )


def andrews_max_error(final: Mapping[str, float]) -> float:
    """Largest difference from the published end angles [rad], of a run's final values by signal name."""
    return max(abs(final[f"{angle}.position"] - value) for angle, value in ANDREWS_END.items())
