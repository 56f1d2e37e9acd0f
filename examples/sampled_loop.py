"""What does a digital PI controller with computing delay do to a motor's speed? Exact at every sample.

The motor is an inertia J with viscous friction B, its torque held over each sample, one sample late:

    w_{k+1} = A w_k + (1 - A) / B tau_{k-1},   A = exp(-B T / J)
    tau_k = P e_k + I s_k,   s_{k+1} = s_k + T e_k
"""

import numpy as np

import robodyn as rd
from robodyn.presentation.reporting import plot_signals

INERTIA, VISCOUS, SPEED = 0.02, 0.05, 10.0
PERIOD, PROPORTIONAL, INTEGRAL = 0.01, 0.4, 4.0
N_SAMPLES = 100


def describe_motor() -> rd.Scenario:
    """Rotor, friction, wanted speed, sampled loop and drive."""
    rotor = rd.Body("rotor", inertia=(INERTIA, INERTIA, INERTIA))
    shaft = rd.Joint("shaft", "revolute", rd.GROUND, "rotor")
    blocks = (
        rd.Block("friction", "viscous_friction", on="shaft", parameters={"viscous": VISCOUS}),
        rd.Block("wanted", "constant_reference", parameters={"constant": SPEED}),
        rd.Block(
            "loop",
            "sampled_velocity_loop",
            on="shaft",
            inputs={"velocity_command": "wanted.value"},
            parameters={"proportional": PROPORTIONAL, "integral": INTEGRAL},
            period=PERIOD,
            delay=PERIOD,
        ),
        rd.Block("drive", "torque_source", on="shaft", inputs={"command": "loop.torque_command"}),
    )
    machine = rd.Machine("motor", rd.Mechanism("motor", (rotor,), (shaft,)), blocks)
    return rd.Scenario("sampled-loop", machine, N_SAMPLES * PERIOD, solver=rd.Solver(rtol=1e-9, atol=1e-9))


def main() -> dict[str, np.ndarray | float]:
    """Speed at every sample [rad/s] and its overshoot."""
    run = rd.simulate(describe_motor())
    speeds = run["shaft.velocity"](np.linspace(0.0, N_SAMPLES * PERIOD, N_SAMPLES + 1))
    return {"speeds": speeds, "overshoot": speeds.max() / SPEED - 1, "final_speed": float(speeds[-1])}


def draw(path: str) -> None:
    """Speed, and the torque that is held between samples."""
    plot_signals(rd.simulate(describe_motor()), ["shaft.velocity", "loop.torque_command"], path)


if __name__ == "__main__":
    found = main()
    print(f"overshoot {100 * found['overshoot']:.2f} %, speed after 1 s {found['final_speed']:.4f} rad/s")
