"""Does every scenario of the catalogue run and keep its physics, is it data, can it be changed and drawn?"""

import numpy as np
import pytest
from support.catalogue import assert_is_data, assert_is_drawn, assert_numbers_change_alone, assert_usable_and_runs

from robodyn import Solver, simulate
from robodyn.description.catalog import SCENARIOS, double_pendulum, pendulum, swinging_arm, two_link_loop


@pytest.mark.parametrize("name", SCENARIOS)
def test_every_scenario_is_usable_by_the_command_line_and_runs_to_its_end(name, monkeypatch):
    assert_usable_and_runs(name, SCENARIOS[name](), monkeypatch)


@pytest.mark.parametrize("name", SCENARIOS)
def test_every_scenario_is_data(name):
    assert_is_data(SCENARIOS[name])


@pytest.mark.parametrize("name", SCENARIOS)
def test_changing_one_number_changes_that_number_alone(name):
    assert_numbers_change_alone(SCENARIOS[name]())


@pytest.mark.parametrize("name", SCENARIOS)
def test_every_machine_can_be_drawn(name):
    assert_is_drawn(SCENARIOS[name]())


@pytest.mark.parametrize("make", [double_pendulum, swinging_arm])
def test_a_free_arm_keeps_its_energy_better_with_smaller_tolerances(make):
    errors = [
        simulate(make(duration=5.0), Solver("dopri5", rtol=rtol, atol=rtol * 1e-2)).statistics.energy_error
        for rtol in (1e-5, 1e-9)
    ]
    assert errors[1] < 1e-7
    assert errors[1] < 1e-2 * errors[0]


def test_symplectic_euler_keeps_the_energy_bounded():
    """Its energy error oscillates with the swing and does not grow; explicit Euler's grows steadily."""

    def error(method, until):
        balance = simulate(pendulum(duration=until), Solver(method, step=1e-3))["energy.balance"].values
        return np.max(np.abs(balance - balance[0]))

    assert error("symplectic_euler", 100.0) < 1.05 * error("symplectic_euler", 10.0)
    assert error("euler", 50.0) > 2 * error("euler", 10.0)


def test_the_two_link_loop_converges_to_one_motion():
    def final(method, rtol):
        run = simulate(two_link_loop(), Solver(method, rtol=rtol, atol=rtol * 1e-2))
        return np.array([run[f"{joint}.position"](np.linspace(0.1, 2, 50)) for joint in ("shoulder", "elbow")])

    reference = final("rodas4", 1e-8)
    # Tolerance 1e-5 of a move of 0.8 rad.
    assert np.max(np.abs(final("rodas4", 1e-5) - reference)) < 1e-5
    assert np.max(np.abs(final("trbdf2", 1e-6) - reference)) < 1e-5


def test_the_loop_follows_its_reference_and_sticks_at_the_end():
    run = simulate(two_link_loop())
    for joint, target in (("shoulder", 0.3), ("elbow", -0.4)):
        assert run[f"{joint}.position"].final == pytest.approx(target, abs=2e-4)
        assert abs(run[f"{joint}.velocity"].final) < 1e-3
        bristles = run[f"{joint}.friction.bristle"].values
        # Deflection never exceeds static torque over stiffness.
        assert np.max(np.abs(bristles)) < {"shoulder": 9.5 / 1e5, "elbow": 4.7 / 5e4}[joint] * 1.001


def test_equal_inputs_give_bit_equal_results():
    first, second = (simulate(two_link_loop(duration=0.3)) for _ in range(2))
    assert np.array_equal(first.values, second.values)
