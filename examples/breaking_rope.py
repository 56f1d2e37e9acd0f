"""What happens when a part breaks in motion? A pendulum's rope tears at a given tension; the weight flies on.

Let go horizontally, the tension at depth h below the start is 3 m g h / l. It reaches F at h = F l / (3 m g), where the
weight has v = sqrt(2 g h); from then on it flies along a parabola.
"""

import math

import robodyn as rd
from robodyn.presentation.reporting import plot_phase

LENGTH, MASS, GRAVITY, STRENGTH = 1.0, 1.0, 9.81, 20.0


def describe_pendulum() -> rd.Scenario:
    """A weight in Cartesian joints, held by a rod that an event switches off."""
    joints = (
        rd.Joint("x", "prismatic", rd.GROUND, "carrier", axis=(1, 0, 0)),
        rd.Joint("z", "prismatic", "carrier", "weight", axis=(0, 0, 1)),
    )
    points = (rd.Point("hook", rd.GROUND), rd.Point("weight", "weight"))
    bodies = (rd.Body("carrier"), rd.Body("weight", MASS))
    mechanism = rd.Mechanism("pendulum", bodies, joints, points, gravity=(0, 0, -GRAVITY))
    rope = rd.Rod("rope", "hook", "weight", LENGTH)
    tears = rd.Event(
        "tears", lambda pull: pull - STRENGTH, {"pull": "rope.tension"}, action=lambda: {"rope.active": 0.0}
    )
    machine = rd.Machine("pendulum", mechanism, constraints=(rope,))
    solver = rd.Solver("dopri5", rtol=1e-10, atol=1e-12)
    return rd.Scenario("breaking-rope", machine, 0.8, {"x.position": LENGTH}, events=(tears,), solver=solver)


def main() -> dict[str, float]:
    """Depth and speed where the rope tears [m, m/s], and the height a quarter of a second later [m]."""
    run = rd.simulate(describe_pendulum())
    time = run.events[0].time
    x, z = run["x.velocity"](time), run["z.velocity"](time)
    return {
        "depth": -run["z.position"](time),
        "speed": math.hypot(x, z),
        "rise": z,
        "later": run["z.position"](time + 0.25),
    }


def draw(path: str) -> None:
    """A circle, then a parabola."""
    plot_phase(rd.simulate(describe_pendulum()), "x.position", ["z.position"], path)


if __name__ == "__main__":
    for name, value in main().items():
        print(f"{name:<8} {value:.6f}")
