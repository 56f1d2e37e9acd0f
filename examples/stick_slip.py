"""Why does a slow axis judder? Dragged by a spring whose end moves steadily, a slide sticks, then slips.

With w = sqrt(k / m), D = static - Coulomb friction and tan(phi) = v k / (w D), a cycle lasts

    T = 2 D / (k v) + (pi + 2 phi) / w        sticking, then slipping
"""

import math

import numpy as np

import robodyn as rd
from robodyn.presentation.reporting import plot_signals

MASS, STIFFNESS, COULOMB, STATIC, SPEED = 2.0, 800.0, 10.0, 16.0, 0.05


def describe_slide() -> rd.Scenario:
    """The far end of the spring is a ramp; the spring's force is a formula of both ends."""
    rail = rd.Joint("slide", "prismatic", rd.GROUND, "slide", axis=(1, 0, 0))
    blocks = (
        rd.Block("pull", "ramp_reference", parameters={"rate": SPEED, "start": 0.0, "end": 100.0}, unit="m"),
        rd.Block("friction", "stick_friction", on="slide", parameters={"coulomb": COULOMB, "static": STATIC}),
        rd.Block("drag", "torque_source", on="slide", inputs={"command": "spring"}),
    )
    spring = rd.FormulaSignal(
        "spring", "k * (pull.value - slide.position)", parameters={"k": STIFFNESS}, parameter_units={"k": "N/m"}
    )
    mechanism = rd.Mechanism("slide", (rd.Body("slide", mass=MASS),), (rail,))
    machine = rd.Machine("slide", mechanism, blocks, signals=(spring,))
    return rd.Scenario("stick-slip", machine, 5.0, solver=rd.Solver("dopri5", rtol=1e-9, atol=1e-11))


def expected_period() -> float:
    """One cycle of sticking and slipping [s]."""
    omega, drop = math.sqrt(STIFFNESS / MASS), STATIC - COULOMB
    phase = math.atan2(SPEED * STIFFNESS, omega * drop)
    return 2 * drop / (STIFFNESS * SPEED) + (math.pi + 2 * phase) / omega


def main() -> dict[str, float]:
    """Mean time from one slip to the next [s]."""
    run = rd.simulate(describe_slide())
    slips = [event.time for event in run.events if event.name == "friction.slips"]
    return {"period": float(np.mean(np.diff(slips))), "slips": len(slips)}


def draw(path: str) -> None:
    """It stands, jumps, and stands again."""
    plot_signals(rd.simulate(describe_slide()), ["slide.position", "slide.velocity", "friction.torque"], path)


if __name__ == "__main__":
    print(f"{main()['period']:.6f} s a cycle, by the formula {expected_period():.6f} s")
