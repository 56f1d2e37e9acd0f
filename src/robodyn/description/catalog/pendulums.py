"""Pendulums: the simplest motions with known solutions."""

from robodyn.description.model import GROUND, Body, Joint, Machine, Mechanism, Point, Scenario, Solver

ACROSS = (0.0, 1.0, 0.0)


def pendulum(mass: float = 1.0, length: float = 1.0, angle: float = 2.0, duration: float = 10.0) -> Scenario:
    """A point mass on a massless rod, let go at an angle from hanging; exact solution by elliptic functions."""
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
    """Two equal rods (1 kg, 1 m) hinged to each other, let go horizontally: chaotic, energy kept."""
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
