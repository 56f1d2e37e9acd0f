"""Why does a thrown racket turn over? Rotation about the middle axis of inertia is unstable.

Euler's equations without a torque are solved by Jacobi's elliptic functions. With I1 < I2 < I3, E = sum I w^2 / 2,
L^2 = sum (I w)^2 > 2 E I2 the motion repeats after

    T = 4 K(m) / p,   p^2 = (I3 - I2) (L^2 - 2 E I1) / (I1 I2 I3),
    m = (I2 - I1) (2 E I3 - L^2) / ((I3 - I2) (L^2 - 2 E I1))
"""

import math

import numpy as np
from scipy.special import ellipk

import robodyn as rd
from robodyn.presentation.reporting import plot_signals

INERTIA, SPIN = (0.0015, 0.002, 0.003), (0.02, 8.0, 0.05)


def describe_racket() -> rd.Scenario:
    """A free body that spins about its middle axis, almost."""
    body = rd.Body("racket", mass=0.3, inertia=INERTIA)
    mechanism = rd.Mechanism("racket", (body,), (rd.Joint("free", "free", rd.GROUND, "racket"),), gravity=(0, 0, 0))
    middle = rd.Event("turns_over", lambda w: w, {"w": "free.angular_velocity.y"}, direction="falling")
    solver = rd.Solver("dopri5", rtol=1e-11, atol=1e-13)
    start = {"free.angular_velocity": SPIN}
    return rd.Scenario("tumbling", rd.Machine("racket", mechanism), 15.0, start, events=(middle,), solver=solver)


def expected_period() -> float:
    """Time until the spin is as it was [s]."""
    (I1, I2, I3), w = INERTIA, np.array(SPIN)
    energy, momentum = float(np.dot(INERTIA, w**2)) / 2, float(np.sum((INERTIA * w) ** 2))
    rate = math.sqrt((I3 - I2) * (momentum - 2 * energy * I1) / (I1 * I2 * I3))
    return 4 * ellipk((I2 - I1) * (2 * energy * I3 - momentum) / ((I3 - I2) * (momentum - 2 * energy * I1))) / rate


def main() -> dict[str, float]:
    """Mean time between two turns in the same direction [s], and the relative change of energy."""
    run = rd.simulate(describe_racket())
    times = [event.time for event in run.events]
    return {"period": float(np.mean(np.diff(times))), "energy_error": run.statistics.energy_error}


def draw(path: str) -> None:
    """The spin about all three axes."""
    plot_signals(rd.simulate(describe_racket()), ["free.angular_velocity.*"], path)


if __name__ == "__main__":
    print(f"{main()['period']:.9f} s, by elliptic functions {expected_period():.9f} s")
