"""How does another simulator get a model? As a unit of the Functional Mock-up Interface, without Python.

The file holds the equations and the solver as native code. FMPy, another implementation, runs it beside our own run.
"""

import tempfile
from pathlib import Path

import numpy as np

import robodyn as rd
from robodyn.exchange.fmi import write_fmu
from robodyn.presentation.reporting import COLOURS, panel_figure, write_figure

DURATION, STEP = 2.0, 0.01


def describe_pendulum() -> rd.Scenario:
    """A damped pendulum that is let go horizontally."""
    bob = rd.Body("bob", mass=1.0, com=(0, 0, -0.5))
    hinge = rd.Joint("hinge", "revolute", rd.GROUND, "bob", axis=(0, 1, 0), damping=0.05)
    machine = rd.Machine("pendulum", rd.Mechanism("pendulum", (bob,), (hinge,)))
    solver = rd.Solver("rk4", step=STEP)
    return rd.Scenario("pendulum", machine, DURATION, {"hinge.position": np.pi / 2}, solver=solver)


def run_elsewhere() -> np.ndarray:
    """Times and angles as FMPy computes them from the file [s, rad]."""
    from fmpy import simulate_fmu

    with tempfile.TemporaryDirectory() as folder:
        unit = Path(folder) / "pendulum.fmu"
        write_fmu(describe_pendulum(), unit)
        settings = {"stop_time": DURATION, "output_interval": STEP, "output": ["hinge.position"]}
        found = simulate_fmu(str(unit), **settings)
    return np.array([found["time"], found["hinge.position"]])


def main() -> dict[str, float]:
    """Largest difference of the angle between FMPy's run of the unit and ours [rad]."""
    times, angles = run_elsewhere()
    ours = rd.simulate(describe_pendulum())["hinge.position"](times)
    return {"difference": float(np.max(np.abs(angles - ours))), "final": float(angles[-1])}


def draw(path: str) -> None:
    """Ours as a line, FMPy's as dots."""
    times, angles = run_elsewhere()
    run = rd.simulate(describe_pendulum())
    figure, (axes,) = panel_figure(1)
    axes.plot(run.time, run["hinge.position"].values, color=COLOURS[0], label="robodyn")
    axes.plot(times[::10], angles[::10], "o", color=COLOURS[1], label="FMPy")
    axes.set(xlabel="time [s]", ylabel="angle [rad]")
    axes.legend()
    write_figure(figure, path)


if __name__ == "__main__":
    print(f"largest difference between FMPy and robodyn: {main()['difference']:.1e} rad")
