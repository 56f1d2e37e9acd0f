"""The EPAAS test rig as a user of SciPy would write it: `solve_ivp` with the past kept as dense output.

    M a = F - B v - M g,  c0 F' = Q(x) - v - F/ch,  x'' = w^2 (I(t - te) - x) - 2 b w x',  I = clip(K (U - U_m(t - tm)))

Method of steps: no interval is longer than the shortest delay, so that all that is delayed is known when it begins.
Plain floats: for five states they are several times faster than small arrays.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

from robodyn_studies.catalog import epaas_rig
from robodyn_studies.catalog.epaas_rig import RIG_FLOW

NUMBERS = {name: number.value for name, number in epaas_rig().numbers().items()}
MASS, WEIGHT = NUMBERS["load.mass"], NUMBERS["load.mass"] * -NUMBERS["gravity.z"]
SENSOR, TARGET, STEP_AT = NUMBERS["piston.sensor.gain"], NUMBERS["piston.target.after"], NUMBERS["piston.target.at"]
GAIN, LIMIT = NUMBERS["piston.control.gain"], NUMBERS["piston.control.limit"]
FREQUENCY, DAMPING = NUMBERS["piston.valve.natural_frequency"], NUMBERS["piston.valve.damping"]
COMPLIANCE, LEAKAGE = NUMBERS["piston.actuator.oil_compliance"], NUMBERS["piston.actuator.leakage"]
VISCOUS = NUMBERS["piston.friction.viscous"]
MEASURING_DELAY, VALVE_DELAY = NUMBERS["piston.measured.time"], NUMBERS["piston.late.time"]
OPENINGS, SPEEDS = RIG_FLOW["openings"], RIG_FLOW["speeds"]
SLOPES = [
    (after - before) / (right - left)
    for left, right, before, after in zip(OPENINGS, OPENINGS[1:], SPEEDS, SPEEDS[1:], strict=False)
]
# By themselves, the delays need intervals of the shorter one; joined, the position of 2.3 ms ago is all it takes.
INTERVALS = {"each delay by itself": MEASURING_DELAY, "delays joined": MEASURING_DELAY + VALVE_DELAY}


def no_load_speed(opening: float) -> float:
    """Straight lines through the table, held beyond its ends."""
    if opening <= OPENINGS[0]:
        return SPEEDS[0]
    if opening >= OPENINGS[-1]:
        return SPEEDS[-1]
    k = bisect_right(OPENINGS, opening) - 1
    return SPEEDS[k] + SLOPES[k] * (opening - OPENINGS[k])


class Rig:
    """The rig with its past: one dense solution an interval."""

    def __init__(self, start: np.ndarray, interval: float) -> None:
        self.start, self.interval = start, interval
        self.ends: list[float] = []
        self.solutions: list[Any] = []

    def position(self, t: float) -> float:
        """Position at a time that is past, the start's before it."""
        if t <= 0.0:
            return float(self.start[0])
        return float(self.solutions[min(bisect_right(self.ends, t), len(self.ends) - 1)](t)[0])

    def current(self, t: float) -> float:
        """Current of the controller at a time that is past or present."""
        wanted = TARGET if t >= STEP_AT else 0.0
        return min(max(GAIN * SENSOR * (wanted - self.position(t - MEASURING_DELAY)), -LIMIT), LIMIT)

    def rates(self, t: float, x: np.ndarray) -> tuple[float, ...]:
        """x_dot of x = [position, velocity, opening, opening rate, oil force]."""
        _, v, opening, rate, force = x.tolist()
        a = (force - VISCOUS * v - WEIGHT) / MASS
        valve = FREQUENCY * (FREQUENCY * (self.current(t - VALVE_DELAY) - opening) - 2 * DAMPING * rate)
        return v, a, rate, valve, (no_load_speed(opening) - v - LEAKAGE * force) / COMPLIANCE

    def run(self, duration: float, **settings: Any) -> None:
        """Integrate from 0 to the duration [s]; settings are solve_ivp's."""
        t, x = 0.0, self.start
        # The delayed step is a jump of the right-hand side: an interval ends there.
        jump = STEP_AT + VALVE_DELAY
        while t < duration:
            end = min(t + self.interval, duration, jump if t < jump else duration)
            found = solve_ivp(self.rates, (t, end), x, dense_output=True, **settings)
            self.ends.append(end)
            self.solutions.append(found.sol)
            t, x = end, found.y[:, -1]

    def positions(self, times: np.ndarray) -> np.ndarray:
        """Positions at times of the run [m]."""
        return np.array([self.position(t) for t in times.tolist()])


def simulate(start: np.ndarray, duration: float, interval: float, **settings: Any) -> Rig:
    """The rig from a start at rest."""
    rig = Rig(start, interval)
    rig.run(duration, **settings)
    return rig
