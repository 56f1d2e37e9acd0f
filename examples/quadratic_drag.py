"""How is a law of one's own written? Air drag on a falling body, in ten lines, against its closed form.

m v_dot = -m g - c |v| v,   v(t) = -u tanh(g t / u),   u = sqrt(m g / c)
"""

import math

import robodyn as rd
from robodyn import symbolic as sym
from robodyn.presentation.reporting import plot_signals

MASS, DRAG, GRAVITY, DURATION = 80.0, 0.25, 9.81, 10.0


@rd.law(velocity="{x}/s", force="{F}", coefficient="{F} s^2/{x}^2", checks={"coefficient": "non-negative"})
def quadratic_drag(velocity, *, coefficient):
    """Drag that grows with the square of the speed: `F = -c |v| v`."""
    return {"force": -coefficient * sym.absolute(velocity) * velocity}


def describe_fall() -> rd.Scenario:
    """A body on a vertical slide, released from rest in air."""
    body = rd.Body("body", mass=MASS)
    height = rd.Joint("height", "prismatic", rd.GROUND, "body", axis=(0.0, 0.0, 1.0))
    mechanism = rd.Mechanism("fall", (body,), (height,), gravity=(0.0, 0.0, -GRAVITY))
    drag = rd.Block("drag", quadratic_drag, on="height", parameters={"coefficient": DRAG})
    return rd.Scenario(
        "quadratic-drag",
        rd.Machine("fall", mechanism, (drag,)),
        DURATION,
        solver=rd.Solver("dopri5", rtol=1e-9, atol=1e-9),
    )


def main() -> dict[str, float]:
    """Speeds after half and after all of the fall [m/s], and the speed it tends to."""
    run = rd.simulate(describe_fall())
    velocity = run["height.velocity"]
    return {
        "speed_half_way": -velocity(DURATION / 2),
        "speed_at_end": -velocity(DURATION),
        "terminal_speed": math.sqrt(MASS * GRAVITY / DRAG),
    }


def draw(path: str) -> None:
    """The speed nears its limit."""
    plot_signals(rd.simulate(describe_fall()), ["height.velocity", "drag.force"], path)


if __name__ == "__main__":
    for name, value in main().items():
        print(f"{name:<16} {value:.9g} m/s")
