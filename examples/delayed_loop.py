"""How much delay does a loop bear? An integrator under proportional control with a dead time, x' = -k x(t - tau).

It is stable up to k tau = pi / 2, where it swings for ever with the period 4 tau.
"""

import math

import numpy as np

import robodyn as rd
from robodyn.presentation.reporting import plot_signals

DEAD_TIME = 0.2


@rd.law(seen="m", place="m", gain="1/s", states={"place": 1.0})
def tank(seen, place, *, gain):
    """A level that is filled by what is seen of it."""
    return {"level": place, "place_dot": -gain * seen}


def describe_loop(share: float, duration: float = 8.0) -> rd.Scenario:
    """The loop with a share of the gain that it bears; before the start it was at 1."""
    gain = share * math.pi / 2 / DEAD_TIME
    block = rd.Block("tank", tank, inputs={"seen": "late.output"}, parameters={"gain": gain}, states={"place": 1.0})
    late = rd.Delay("late", "tank.place", DEAD_TIME, before=1.0)
    zero = rd.Event("empty", lambda x: x, {"x": "tank.place"}, direction="falling")
    solver = rd.Solver("dopri5", rtol=1e-9, atol=1e-11)
    machine = rd.Machine("tank", blocks=(block,), delays=(late,))
    return rd.Scenario("delayed-loop", machine, duration, events=(zero,), solver=solver)


def main() -> dict[float, tuple[float, float]]:
    """Period [s] and growth in a period, by the share of the gain that the loop bears."""
    found = {}
    for share in (0.9, 1.0, 1.1):
        run = rd.simulate(describe_loop(share))
        times = np.array([event.time for event in run.events[-2:]])
        slopes = np.abs(run["tank.place_dot"](times))
        found[share] = (float(np.diff(times)[0]), float(slopes[1] / slopes[0]))
    return found


def draw(path: str) -> None:
    """Below, at and beyond the limit."""
    runs = [rd.simulate(describe_loop(share, 4.0)) for share in (0.9, 1.0, 1.1)]
    plot_signals(runs, ["tank.place"], path, labels=["90 %", "100 %", "110 %"])


if __name__ == "__main__":
    for share, (period, growth) in main().items():
        print(f"{100 * share:.0f} % of the gain: period {period:.6f} s, {growth:.4f} times as large after it")
