"""How does one stop a load from swinging? The command is shaped so that its own ringing cancels.

A cart moves a load on a spring by a step of its wanted place. A shaper sends half of the step at once and half a period
later the other half, so that both swings are opposite; with damping the halves differ (Singer and Seering, 1990).
Unshaped, the load overshoots by exp(-pi z / sqrt(1 - z^2)).
"""

import math

import numpy as np

import robodyn as rd
from robodyn.presentation.reporting import plot_signals

MASS, FREQUENCY, DAMPING, STEP = 2.0, 3.0, 0.03, 0.1
OMEGA = 2 * math.pi * FREQUENCY
HALF_PERIOD = 0.5 / (FREQUENCY * math.sqrt(1 - DAMPING**2))


def describe_crane(shaped: bool) -> rd.Scenario:
    """A load on a spring and a damper, pulled to where the command says."""
    rail = rd.Joint("load", "prismatic", rd.GROUND, "load", axis=(1, 0, 0))
    late, later = (rd.Delay(name, "step.value", k * HALF_PERIOD) for k, name in ((1, "late"), (2, "later")))
    waits = {"late": "late.output", "later": "later.output"}
    inputs = {"target": "shaper.output" if shaped else "step.value"}
    gains = {"proportional": MASS * OMEGA**2, "derivative": 2 * DAMPING * OMEGA * MASS}
    blocks = (
        rd.Block("step", "step_reference", parameters={"after": STEP, "at": 0.1}, unit="m"),
        rd.Block("shaper", "zvd_shaper", inputs={"value": "step.value", **waits}, parameters={"damping": DAMPING}),
        rd.Block("spring", "pd_control", inputs=inputs, on="load", parameters=gains),
        rd.Block("pull", "torque_source", on="load", inputs={"command": "spring.command"}),
    )
    mechanism = rd.Mechanism("crane", (rd.Body("load", MASS),), (rail,), gravity=(0, 0, 0))
    solver = rd.Solver("dopri5", rtol=1e-9, atol=1e-11)
    return rd.Scenario("crane", rd.Machine("crane", mechanism, blocks, delays=(late, later)), 2.0, solver=solver)


def main() -> dict[str, float]:
    """How far the load swings beyond its target, as parts of the step."""
    found = {}
    for name, shaped in (("step", False), ("shaped", True)):
        place = rd.simulate(describe_crane(shaped))["load.position"]
        found[name] = float(np.max(place(np.linspace(0.1, 2.0, 20000))) / STEP - 1)
    return found


def draw(path: str) -> None:
    """The load with and without the shaper."""
    runs = [rd.simulate(describe_crane(shaped)) for shaped in (False, True)]
    plot_signals(runs, ["load.position", "load.velocity"], path, labels=["step", "shaped"])


if __name__ == "__main__":
    for name, share in main().items():
        print(f"{name:<8} overshoots by {100 * share:.6f} %")
