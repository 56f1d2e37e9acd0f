"""How are a thousand runs made at once? Arrays in, table out: the swing of pendulums let go at a thousand angles.

At the bottom w = 2 sqrt(g / l) sin(angle / 2), whatever the mass.
"""

import numpy as np

import robodyn as rd
from robodyn.presentation.reporting import COLOURS, panel_figure, write_figure

LENGTH, GRAVITY = 0.7, 9.81
ANGLES = np.linspace(0.01, 3.1, 1000)


def describe_pendulum() -> rd.Scenario:
    """A pendulum whose mass may change from run to run; it is stopped at the bottom."""
    bob = rd.Body("bob", mass=1.0, com=(0, 0, -LENGTH))
    hinge = rd.Joint("hinge", "revolute", rd.GROUND, "bob", axis=(0, 1, 0))
    mechanism = rd.Mechanism("pendulum", (bob,), (hinge,), gravity=(0, 0, -GRAVITY))
    bottom = rd.Event("bottom", lambda angle: angle, {"angle": "hinge.position"}, direction="falling", terminal=True)
    machine = rd.Machine("pendulum", mechanism, tunable=("bob.mass",))
    solver = rd.Solver("dopri5", rtol=1e-9, atol=1e-11)
    return rd.Scenario("pendulum", machine, 10.0, {"hinge.position": 1.0}, events=(bottom,), solver=solver)


def main() -> np.ndarray:
    """Speed at the bottom for each angle [rad/s], the masses at random."""
    masses = np.random.default_rng(1).uniform(0.1, 10.0, len(ANGLES))
    start = {"hinge.position": ANGLES}
    measures = ["final:hinge.velocity"]
    table = rd.simulate_many(rd.assemble(describe_pendulum()), {"bob.mass": masses}, initial=start, measures=measures)
    assert not table.failures
    return -table["final:hinge.velocity"]


def draw(path: str) -> None:
    """A dot a run."""
    figure, (axes,) = panel_figure(1)
    axes.plot(np.degrees(ANGLES), main(), ".", markersize=2, color=COLOURS[0])
    axes.set(xlabel="let go at [deg]", ylabel="speed at the bottom [rad/s]")
    write_figure(figure, path)


if __name__ == "__main__":
    speeds = main()
    print(f"{len(speeds)} pendulums, from {speeds.min():.4f} to {speeds.max():.4f} rad/s")
