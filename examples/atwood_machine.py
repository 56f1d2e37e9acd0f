"""How is a rope over a pulley written? As a linear constraint between two joints, whose force is the rope's tension.

a = g (m1 - m2) / (m1 + m2 + J / r^2)
"""

import robodyn as rd
from robodyn.presentation.reporting import plot_signals

LEFT, RIGHT, INERTIA, RADIUS, GRAVITY = 3.0, 2.0, 0.02, 0.1, 9.81


def describe_pulley() -> rd.Scenario:
    """Two weights and a wheel; each weight moves as the rim does."""
    bodies = (rd.Body("left", LEFT), rd.Body("right", RIGHT), rd.Body("wheel", 1.0, inertia=(INERTIA,) * 3))
    joints = (
        rd.Joint("left", "prismatic", rd.GROUND, "left", axis=(0, 0, 1)),
        rd.Joint("right", "prismatic", rd.GROUND, "right", axis=(0, 0, 1)),
        rd.Joint("wheel", "revolute", rd.GROUND, "wheel", axis=(0, 1, 0)),
    )
    ropes = (
        rd.LinearConstraint("left_rope", {"left": 1.0, "wheel": RADIUS}),
        rd.LinearConstraint("right_rope", {"right": 1.0, "wheel": -RADIUS}),
    )
    mechanism = rd.Mechanism("pulley", bodies, joints, gravity=(0, 0, -GRAVITY))
    return rd.Scenario("atwood", rd.Machine("pulley", mechanism, constraints=ropes), 1.0)


def main() -> dict[str, float]:
    """Acceleration of the right weight [m/s^2], and the tensions of both ends of the rope [N]."""
    run = rd.simulate(describe_pulley())
    tensions = {f"{side}_tension": run[f"{side}_rope.force"].final for side in ("left", "right")}
    return {"acceleration": run["right.acceleration"].final, **tensions}


def draw(path: str) -> None:
    """Heights of both weights, and the tensions."""
    plot_signals(rd.simulate(describe_pulley()), ["left.position", "right.position", "*_rope.force"], path)


if __name__ == "__main__":
    for name, value in main().items():
        print(f"{name:<16} {value:.6f}")
