"""What does co-simulation cost in accuracy? Two masses between three springs, cut in the middle.

Each half has its own solver, and they meet every macro step. By reduced models of each other they stay stable, and the
error falls with the step; the exact motion is exp(F t) of the whole.
"""

import numpy as np
from scipy.linalg import expm

import robodyn as rd
from robodyn.presentation.reporting import COLOURS, panel_figure, write_figure

MASSES, SPRINGS, SPEEDS, DURATION = (1.0, 2.0), (100.0, 300.0, 200.0), (1.0, -0.5), 1.0


def describe_half(side: int) -> rd.Scenario:
    """A mass with its outer spring, and an interface where the middle spring holds it."""
    slide = rd.Joint("slide", "prismatic", rd.GROUND, "mass", axis=(1, 0, 0))
    spring = rd.Block("spring", "spring", on="slide", parameters={"stiffness": SPRINGS[2 * side]})
    port = rd.Interface("port", "model", on="slide", stiffness=SPRINGS[1])
    mechanism = rd.Mechanism("half", (rd.Body("mass", MASSES[side]),), (slide,), gravity=(0, 0, 0))
    machine = rd.Machine("half", mechanism, (spring,), interfaces=(port,))
    solver = rd.Solver("dopri5", rtol=1e-10, atol=1e-12)
    return rd.Scenario(f"half-{side}", machine, DURATION, {"slide.velocity": SPEEDS[side]}, solver=solver)


def solve_whole() -> float:
    """Place of the first mass at the end, without any cut [m]."""
    (m1, m2), (k1, k, k2) = MASSES, SPRINGS
    F = [[0, 1, 0, 0], [-(k1 + k) / m1, 0, k / m1, 0], [0, 0, 0, 1], [k / m2, 0, -(k2 + k) / m2, 0]]
    return float((expm(np.array(F) * DURATION) @ [0, SPEEDS[0], 0, SPEEDS[1]])[0])


def main(steps: tuple[float, ...] = (0.02, 0.01, 0.005)) -> dict[float, float]:
    """Error of the first mass at the end [m], by the macro step [s]."""
    errors = {}
    for step in steps:
        units = [rd.ScenarioUnit(describe_half(side), name=name) for side, name in enumerate(("first", "second"))]
        joined = [rd.Connection("first.port", "second.port", order=1)]
        run = rd.cosimulate(units, joined, settings=rd.CosimSettings(step=step), duration=DURATION)
        errors[step] = abs(run["first"]["slide.position"].final - solve_whole())
    return errors


def draw(path: str) -> None:
    """Error over macro step: a straight line in double-logarithmic axes has the order as its slope."""
    errors = main((0.04, 0.02, 0.01, 0.005, 0.0025))
    figure, (axes,) = panel_figure(1)
    axes.loglog(list(errors), list(errors.values()), "o-", color=COLOURS[0])
    axes.set(xlabel="macro step [s]", ylabel="error [m]")
    write_figure(figure, path)


if __name__ == "__main__":
    for step, error in main().items():
        print(f"macro step {1e3 * step:4.1f} ms: error {error:.2e} m")
