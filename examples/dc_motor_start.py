"""How does a motor start? A DC motor with its circuit is switched on: current first, speed later, both in closed form.

L i' = U - R i - k w,   J w' = k i - B w        a linear system: x(t) = A^-1 (exp(A t) - 1) b
"""

import numpy as np
from scipy.linalg import expm

import robodyn as rd
from robodyn.presentation.reporting import plot_signals

VOLTAGE, RESISTANCE, INDUCTANCE, CONSTANT, INERTIA, VISCOUS, DURATION = 24.0, 0.6, 2e-3, 0.05, 1e-4, 2e-5, 0.15


def describe_motor() -> rd.Scenario:
    """A rotor with its own friction, and a voltage from the start."""
    shaft = rd.Joint("shaft", "revolute", rd.GROUND, "rotor", damping=VISCOUS)
    motor = {"resistance": RESISTANCE, "inductance": INDUCTANCE, "torque_constant": CONSTANT}
    blocks = (
        rd.Block("supply", "constant_reference", parameters={"constant": VOLTAGE}, unit="V"),
        rd.Block("motor", "dc_motor", on="shaft", inputs={"voltage": "supply.value"}, parameters=motor),
    )
    mechanism = rd.Mechanism("motor", (rd.Body("rotor", inertia=(INERTIA,) * 3),), (shaft,))
    solver = rd.Solver("rodas4", rtol=1e-9, atol=1e-11)
    return rd.Scenario("dc-motor-start", rd.Machine("motor", mechanism, blocks), DURATION, solver=solver)


def solve_exactly(times: np.ndarray) -> np.ndarray:
    """Current and speed at given times [A, rad/s], (n, 2)."""
    A = np.array([[-RESISTANCE / INDUCTANCE, -CONSTANT / INDUCTANCE], [CONSTANT / INERTIA, -VISCOUS / INERTIA]])
    b = np.array([VOLTAGE / INDUCTANCE, 0.0])
    return np.array([np.linalg.solve(A, (expm(A * time) - np.eye(2)) @ b) for time in times])


def main() -> dict[str, float]:
    """Largest errors of current and speed, as parts of their largest values; the peak of the current [A]."""
    run = rd.simulate(describe_motor())
    times = np.linspace(0, DURATION, 400)
    ours = np.array([run["motor.current"](times), run["shaft.velocity"](times)]).T
    exact = solve_exactly(times)
    current, speed = np.max(np.abs(ours - exact), axis=0) / np.max(np.abs(exact), axis=0)
    return {"current_error": float(current), "speed_error": float(speed), "peak": float(exact[:, 0].max())}


def draw(path: str) -> None:
    """Current, torque and speed."""
    plot_signals(rd.simulate(describe_motor()), ["motor.current", "shaft.velocity"], path)


if __name__ == "__main__":
    for name, value in main().items():
        print(f"{name:<14} {value:.3g}")
