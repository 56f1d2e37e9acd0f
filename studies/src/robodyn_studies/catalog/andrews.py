"""Andrews' squeezing mechanism: where are its seven bodies after 0.03 s?

Test set for initial value problem solvers, University of Bari (Mazzia and Magherini), problem II-10; in x and y.
"""

from __future__ import annotations

from collections.abc import Mapping

from robodyn.description.model import (
    GROUND,
    Block,
    Body,
    ConstraintMethod,
    Distance,
    Joint,
    LoopJoint,
    Machine,
    Mechanism,
    Point,
    Scenario,
    Solver,
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


def andrews(constraint_method: ConstraintMethod | None = None) -> Scenario:
    """Andrews' squeezing mechanism, seven bodies in three loops with a spring, is driven by a constant torque."""
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
        constraints=tuple(LoopJoint(f"loop_{angle}", "P", f"P_{angle}") for angle in ("gamma", "phi", "omega")),
    )
    return Scenario(
        "andrews",
        machine,
        0.03,
        {f"{angle}.position": value for angle, value in ANDREWS_START.items()},
        solver=Solver("dopri5", rtol=1e-9, atol=1e-11),
        title="Andrews' squeezing mechanism, published end values after 0.03 s",
        constraint_method=constraint_method or ConstraintMethod(),
    )


def andrews_max_error(final: Mapping[str, float]) -> float:
    """Largest difference from the published end angles [rad], of a run's final values by signal name."""
    return max(abs(final[f"{angle}.position"] - value) for angle, value in ANDREWS_END.items())
