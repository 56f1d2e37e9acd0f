"""SCARA point-to-point motion: end times computed independently with the same data (project's reference table).

| h [s] | end time | q1 settled | q2 settled | q3 settled |     explicit Euler, current clipped after each step
| 5e-5  | 2.8124   | 2.7793     | 2.5675     | 2.8124     |     (stands for the converged solution)
| 4e-4  | 2.8116   | 2.7784     | 2.5664     | 2.8116     |
| 1e-3  | 2.8110   | 2.777      | 2.576      | 2.811      |
| 2e-3  | 3.004    | 2.820      | 3.004      | 3.002      |
"""

import pytest

from robodyn import Solver, simulate
from robodyn.catalog import scara_ptp


def settled(run) -> dict[str, float]:
    """Last time each event happened."""
    return {event.name: event.time for event in run.events}


@pytest.mark.parametrize(
    "solver", [Solver("dopri5", rtol=1e-8, atol=1e-10), Solver("rodas4", rtol=1e-7, atol=1e-9)], ids=lambda s: s.method
)
def test_the_converged_motion_ends_when_the_reference_does(solver):
    run = simulate(scara_ptp(), solver)
    times = settled(run)
    # The reference's own step of 5e-5 s leaves an error of that size.
    assert times["arrived"] == pytest.approx(2.8124, abs=2e-4)
    assert times["shoulder_settled"] == pytest.approx(2.7793, abs=2e-4)
    assert times["elbow_settled"] == pytest.approx(2.5675, abs=3e-4)
    assert times["elbow_settled"] < times["shoulder_settled"] < times["lift_settled"]


def test_euler_at_0_4_ms_matches_the_reference_table():
    times = settled(simulate(scara_ptp(), Solver("euler", step=4e-4)))
    # The table gives step ends, ours are located within the step.
    assert times["arrived"] == pytest.approx(2.8116, abs=4e-4)
    assert times["shoulder_settled"] == pytest.approx(2.7784, abs=4e-4)
    assert times["elbow_settled"] == pytest.approx(2.5664, abs=4e-4)


def test_euler_at_1_ms_still_agrees():
    run = simulate(scara_ptp(), Solver("euler", step=1e-3))
    assert run.outcome.time == pytest.approx(2.811, abs=1e-3)


def test_euler_at_2_ms_is_wrong_as_published():
    """Beyond its stability limit the method chatters: the last digits decide when the elbow happens to arrive.

    A plain loop with the same data ends anywhere from 3.00 to 3.19 s when the start is moved by 1e-13 to 1e-8 rad.
    """
    run = simulate(scara_ptp(), Solver("euler", step=2e-3))
    assert run.outcome.time > 2.9
    assert run["elbow.position"].max > 2.001


def test_currents_and_voltages_stay_within_their_limits():
    run = simulate(scara_ptp(), Solver("dopri5", rtol=1e-8, atol=1e-10))
    for joint, current, voltage in (("shoulder", 8.0, 50.0), ("elbow", 6.0, 40.0), ("lift", 5.0, 13.0)):
        # Points between steps are interpolated, with the error of a step.
        assert abs(run[f"{joint}.motor.current"].values).max() <= current * (1 + 1e-6)
        assert abs(run[f"{joint}.control.command"].values).max() <= voltage
    assert run["shoulder.motor.current"].max == pytest.approx(8.0, rel=1e-6)
