"""SCARA point-to-point motion against a plain loop of NumPy with the same data, and its published critical step.

M(q2) a = b with the mass matrix of two homogeneous rods and a slide inverted by hand, explicit Euler, currents clipped
after each step: the equations of the ARGESIM comparison C11 as they are printed.
"""

import numpy as np
import pytest

from robodyn import Solver, simulate
from robodyn.computation.results import compare
from robodyn.description.catalog import scara_ptp
from robodyn.description.catalog.scara import AXES

GEAR, CONSTANT, R, L, LIMIT, VOLTS, P, D, TARGET = (
    np.array([getattr(axis, key) for axis in AXES])
    for key in (
        *("gear", "torque_constant", "resistance", "inductance", "current_limit", "voltage_limit"),
        *("proportional", "derivative", "target"),
    )
)
# (m1/3 + m2 + m3) L1^2, (m2/2 + m3) L1 L2, (m2/3 + m3) L2^2 of rods of 8 and 6 kg, 0.4 and 0.3 m, and 3 kg at the end.
THETA = np.array([(8 / 3 + 6 + 3) * 0.16, (6 / 2 + 3) * 0.12, (6 / 3 + 3) * 0.09])
LIFTED, ROTOR = 0.5, 9.1e-6


def plain_euler(step, steps):
    q, v, current = np.zeros((3, 3))
    rows = [q]
    for _ in range(steps):
        c, s = np.cos(q[1]), THETA[1] * np.sin(q[1])
        torque = GEAR * np.sqrt(0.75) * CONSTANT * current
        b = torque + [s * (2 * v[0] * v[1] + v[1] ** 2), -s * v[0] ** 2, -LIFTED * 9.81]
        m12 = THETA[1] * c + THETA[2]
        a = np.linalg.solve([[THETA[0] + 2 * THETA[1] * c + THETA[2], m12], [m12, THETA[2]]], b[:2])
        a = np.append(a, b[2] / (LIFTED + ROTOR * GEAR[2] ** 2))
        voltage = np.clip(P * (TARGET - q) - D * v, -VOLTS, VOLTS)
        rate = (voltage - CONSTANT * GEAR * v - R * current) / L
        q, v, current = q + step * v, v + step * a, np.clip(current + step * rate, -LIMIT, LIMIT)
        rows.append(q)
    return np.array(rows)


@pytest.fixture(scope="module")
def converged():
    return simulate(scara_ptp(), Solver("dopri5", rtol=1e-8, atol=1e-10))


def test_euler_steps_are_those_of_a_plain_loop():
    run, rows = simulate(scara_ptp(), Solver("euler", step=1e-3)), plain_euler(1e-3, 2500)
    for k, axis in enumerate(AXES):
        # Rounding of 2500 steps of a stable method.
        np.testing.assert_allclose(run[f"{axis.joint}.position"](1e-3 * np.arange(2501)), rows[:, k], atol=1e-11)


def test_the_motion_lasts_as_long_as_published_and_the_lift_arrives_last(converged):
    times = {event.name: event.time for event in converged.events}
    # 7000 rows of 0.4 ms, printed in thousands.
    assert times["arrived"] == pytest.approx(2.8, abs=0.2)
    assert times["elbow_settled"] < times["shoulder_settled"] < times["lift_settled"]
    stiff = simulate(scara_ptp(), Solver("rodas4", rtol=1e-7, atol=1e-9))
    assert stiff.outcome.time == pytest.approx(times["arrived"], abs=1e-5)


@pytest.mark.parametrize("method", ["euler", "heun"])
def test_a_step_of_1_ms_is_critical_as_published(method, converged):
    errors = [
        compare(simulate(scara_ptp(), Solver(method, step=step)), converged)["elbow.position"].max_abs
        for step in (1e-3, 2e-3)
    ]
    # Half a percent of the motion of 2 rad, and half of it.
    assert errors[0] < 0.01
    assert errors[1] > 1.0


def test_currents_and_voltages_stay_within_their_limits(converged):
    for axis in AXES:
        # Points between steps are interpolated, with the error of a step.
        assert abs(converged[f"{axis.joint}.motor.current"].values).max() <= axis.current_limit * (1 + 1e-6)
        assert abs(converged[f"{axis.joint}.control.command"].values).max() <= axis.voltage_limit
    assert converged["shoulder.motor.current"].max == pytest.approx(AXES[0].current_limit, rel=1e-6)
