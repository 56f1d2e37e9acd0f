"""What does a controller gain by knowing its robot? By computed torque each joint is a linear oscillator.

tau = M(q) (-2 d w v - w^2 (q - target)) + c(q, v)    =>    e'' + 2 d w e' + w^2 e = 0
"""

import numpy as np

import robodyn as rd
from robodyn.presentation.reporting import plot_signals

FREQUENCY, DURATION = 10.0, 1.0
TARGETS = {"shoulder": 1.2, "elbow": -0.9}


def describe_arm(knows: bool) -> rd.Scenario:
    """A two-link arm in gravity; its controller knows it, or believes that its forearm weighs half as much."""
    bodies = (
        rd.Body("upper", 4.0, (0.25, 0, 0), (0.005, 0.085, 0.085)),
        rd.Body("fore", 2.5, (0.2, 0, 0), (0.002, 0.034, 0.034)),
    )
    joints = (
        rd.Joint("shoulder", "revolute", rd.GROUND, "upper", axis=(0, -1, 0)),
        rd.Joint("elbow", "revolute", "upper", "fore", origin=(0.5, 0, 0), axis=(0, -1, 0)),
    )
    control = rd.Block(
        "control",
        "computed_torque",
        inputs={"target": tuple(TARGETS.values())},
        acts={"torque": tuple(TARGETS)},
        parameters={"stiffness": FREQUENCY**2, "damping": 2 * FREQUENCY},
        model=rd.ControlModel() if knows else rd.ControlModel(scale={"fore.mass": 0.5}),
    )
    machine = rd.Machine("arm", rd.Mechanism("arm", bodies, joints), (control,))
    return rd.Scenario("computed-torque", machine, DURATION, solver=rd.Solver("dopri5", rtol=1e-10, atol=1e-12))


def main() -> dict[str, float]:
    """Largest error against the linear oscillator, in rad: with the right model, and where it sags with a wrong one."""
    times = np.linspace(0, DURATION, 200)
    left = np.exp(-FREQUENCY * times) * (1 + FREQUENCY * times)
    run, wrong = rd.simulate(describe_arm(True)), rd.simulate(describe_arm(False))
    errors = [run[f"{joint}.position"](times) - target * (1 - left) for joint, target in TARGETS.items()]
    return {"error": float(np.max(np.abs(errors))), "sag": TARGETS["shoulder"] - wrong.final["shoulder.position"]}


def draw(path: str) -> None:
    """With the right model, and with a wrong one."""
    runs = [rd.simulate(describe_arm(knows)) for knows in (True, False)]
    plot_signals(runs, ["*.position", "*.torque"], path, labels=["right model", "forearm half as heavy"])


if __name__ == "__main__":
    for name, value in main().items():
        print(f"{name:<6} {value:.3g} rad")
