"""How are many variants run without compiling again? Stiffness and mass of a damped oscillator.

omega = sqrt(k / m - (d / (2 m))^2),   T = 2 pi / omega
"""

import itertools

import numpy as np

import robodyn as rd
from robodyn.presentation.reporting import plot_signals

STIFFNESSES, MASSES, DAMPING = (50.0, 100.0, 200.0, 400.0), (0.5, 1.0, 2.0), 0.4


def describe_oscillator() -> rd.Scenario:
    """A carriage on a spring; `tunable` keeps its mass an input of the native code."""
    carriage = rd.Body("carriage", mass=1.0)
    slide = rd.Joint("slide", "prismatic", rd.GROUND, "carriage", axis=(1.0, 0.0, 0.0))
    spring = rd.Block("spring", "spring", on="slide", parameters={"stiffness": 100.0, "damping": DAMPING})
    back = rd.Event("back", lambda position: position, {"position": "slide.position"}, direction="rising")
    mechanism = rd.Mechanism("oscillator", (carriage,), (slide,))
    return rd.Scenario(
        "oscillator",
        rd.Machine("oscillator", mechanism, (spring,), tunable=("carriage.mass",)),
        duration=5.0,
        initial={"slide.position": 0.1},
        events=(back,),
        solver=rd.Solver("dopri5", rtol=1e-10, atol=1e-12),
    )


def find_period(run: rd.Run) -> float:
    """Mean time between two passages through rest in the same direction [s]."""
    return float(np.mean(np.diff([event.time for event in run.events])))


def main() -> dict[tuple[float, float], float]:
    """Period [s] by (stiffness [N/m], mass [kg]), all from one compiled system."""
    compiled = rd.compile_system(rd.assemble(describe_oscillator()))
    periods = {}
    for stiffness, mass in itertools.product(STIFFNESSES, MASSES):
        changed = {"spring.stiffness": stiffness, "carriage.mass": mass}
        periods[stiffness, mass] = find_period(rd.simulate(compiled, parameters=changed))
    return periods


def draw(path: str) -> None:
    """The softest and the stiffest spring."""
    runs = [rd.simulate(describe_oscillator().with_numbers({"spring.stiffness": k})) for k in (50.0, 400.0)]
    plot_signals(runs, ["slide.position"], path, labels=["50 N/m", "400 N/m"])


if __name__ == "__main__":
    for (stiffness, mass), period in main().items():
        print(f"k = {stiffness:5.0f} N/m, m = {mass:.1f} kg: T = {period:.6f} s")
