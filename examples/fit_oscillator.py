"""Which spring and which friction made these data? A fit to noisy samples, with what is known of its result.

m s_dot_dot = -k (s - s0) - B s_dot,   measured: s with noise
"""

import dataclasses

import numpy as np

import robodyn as rd
from robodyn.analysis.fitting.fit import fit_parameters
from robodyn.analysis.fitting.result import Fit
from robodyn.presentation.reporting import plot_fit

TRUE = {"spring.stiffness": 100.0, "drag.viscous": 3.0}
GUESS = {"spring.stiffness": 60.0, "drag.viscous": 8.0}
NOISE = 1e-3


def describe_oscillator() -> rd.Scenario:
    """A cart that a spring pulls to 0.1 m."""
    rail = rd.Joint("rail", "prismatic", rd.GROUND, "cart", axis=(1.0, 0.0, 0.0))
    blocks = (
        rd.Block("spring", "spring", on="rail", parameters={"stiffness": 100.0, "rest": 0.1}),
        rd.Block("drag", "viscous_friction", on="rail", parameters={"viscous": 3.0}),
    )
    mechanism = rd.Mechanism("oscillator", (rd.Body("cart", mass=2.0),), (rail,))
    return rd.Scenario("oscillator", rd.Machine("oscillator", mechanism, blocks), duration=2.0)


def measure(scenario: rd.Scenario) -> rd.Run:
    """A run sampled at 50 Hz, with noise; `read_measured` would read such samples from a file."""
    times = tuple(np.arange(101) / 50)
    run = rd.simulate(scenario, recording=rd.Recording(times=times, signals=("rail.position",)))
    noise = NOISE * np.random.default_rng(1).standard_normal(run.values.shape)
    return dataclasses.replace(run, values=run.values + noise)


def main() -> Fit:
    """The fit, from three starts."""
    scenario = describe_oscillator()
    return fit_parameters(scenario.with_numbers(GUESS), measure(scenario), tuple(TRUE), starts=3)


def draw(path: str) -> None:
    """What was measured, and the fit."""
    plot_fit(main(), path)


if __name__ == "__main__":
    fit = main()
    for p in fit.parameters:
        print(f"{p.name:<18} {p.value:8.3f} {p.unit:<6} between {p.lower:.3f} and {p.upper:.3f}")
    print(f"correlation {fit.correlation[0, 1]:+.3f}, noise {fit.signals[0].noise * 1e3:.3f} mm")
