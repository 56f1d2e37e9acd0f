"""How long does a pendulum take for one swing? Located events against the complete elliptic integral.

T = 4 sqrt(l / g) K(sin(angle / 2)^2)
"""

import math

import robodyn as rd
from robodyn.presentation.reporting import plot_signals

LENGTH, ANGLE, GRAVITY = 1.0, 2.0, 9.81


def describe_pendulum() -> rd.Scenario:
    """A point mass on a massless rod, let go at an angle from hanging; an event marks each backward swing."""
    bob = rd.Body("bob", mass=1.0, com=(0.0, 0.0, -LENGTH))
    hinge = rd.Joint("hinge", "revolute", rd.GROUND, "bob", axis=(0.0, 1.0, 0.0))
    mechanism = rd.Mechanism("pendulum", (bob,), (hinge,), gravity=(0.0, 0.0, -GRAVITY))
    lowest = rd.Event("lowest", lambda angle: angle, {"angle": "hinge.position"}, direction="falling")
    return rd.Scenario(
        "pendulum-period",
        rd.Machine("pendulum", mechanism),
        duration=10.0,
        initial={"hinge.position": ANGLE},
        events=(lowest,),
        solver=rd.Solver("dopri5", rtol=1e-10, atol=1e-12),
    )


def main() -> dict[str, float]:
    """Mean time between passages through the lowest point in the same direction [s]."""
    run = rd.simulate(describe_pendulum())
    times = [event.time for event in run.events]
    period = (times[-1] - times[0]) / (len(times) - 1)
    return {
        "period": period,
        "small_angle_period": 2 * math.pi * math.sqrt(LENGTH / GRAVITY),
        "energy_error": run.statistics.energy_error,
    }


def draw(path: str) -> None:
    """Angle and speed over ten seconds."""
    plot_signals(rd.simulate(describe_pendulum()), ["hinge.position", "hinge.velocity"], path)


if __name__ == "__main__":
    for name, value in main().items():
        print(f"{name:<20} {value:.9g}")
