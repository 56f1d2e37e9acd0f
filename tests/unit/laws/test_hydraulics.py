"""Do valves, actuators and measuring circuits obey their equations, and are impossible ones refused?"""

import casadi as ca
import numpy as np
import pytest
from tests.support.machines import signals_only

from robodyn import Block, Delay, ModelError, Solver, simulate
from robodyn.description.laws.hydraulics import (
    hydraulic_actuator,
    linearise_cylinder,
    linearise_vane_motor,
    measuring_circuit,
    orifice_flow,
    servovalve,
    valve_controller,
    vane_motor,
)

TABLE = {"openings": (-0.3, -0.2, 0.002, 0.008, 0.2, 0.3), "speeds": (-0.96, -0.95, 0.0, 0.0, 0.73, 0.74)}
ACTUATOR = TABLE | {"oil_compliance": 1e-6, "leakage": 7.46e-5}
CYLINDER = {
    "area": 2e-4,
    "area_ratio": 0.6,
    "volume_1": 4e-5,
    "volume_2": 3e-5,
    "bulk_modulus": 7e8,
    "internal_leakage": 1e-12,
    "flow_coefficient": 2e-7,
    "supply_pressure": 1.4e7,
}
MOTOR = {
    "displacement": 1.5e-5,
    "volume": 4e-5,
    "bulk_modulus": 7e8,
    "internal_leakage": 1e-12,
    "flow_coefficient": 2e-7,
    "supply_pressure": 1.4e7,
}


def test_a_measuring_circuit_shows_zero_at_its_offset():
    assert measuring_circuit(0.26, gain=200.0, offset=0.25)["voltage"] == pytest.approx(2.0)
    assert measuring_circuit(0.25, gain=200.0, offset=0.25)["voltage"] == 0.0


@pytest.mark.parametrize(("error", "current"), [(0.5, 0.1), (10.0, 0.29), (-10.0, -0.29)])
def test_the_coil_s_current_is_proportional_up_to_its_limit(error, current):
    assert valve_controller(error, 0.0, gain=0.2, limit=0.29)["current"] == pytest.approx(current)


def test_a_valve_rings_at_its_damped_frequency_and_overshoots_as_its_damping_says():
    """Second-order step: first peak at pi / (w sqrt(1 - b^2)), overshoot exp(-pi b / sqrt(1 - b^2))."""
    w, b = 1443.0, 0.38
    command = Block("command", "step_reference", parameters={"after": 0.1})
    valve = Block(
        "valve", "servovalve", inputs={"command": "command.value"}, parameters={"natural_frequency": w, "damping": b}
    )
    run = simulate(signals_only(command, valve, duration=0.01), Solver("dopri5", rtol=1e-9, atol=1e-11))
    root = np.sqrt(1 - b**2)
    # Nine digits of the solver leave seven of the interpolated peak.
    assert run["valve.opening"](np.pi / (w * root)) == pytest.approx(0.1 * (1 + np.exp(-np.pi * b / root)), rel=1e-7)
    assert run["valve.opening_rate"](np.pi / (w * root)) == pytest.approx(0.0, abs=1e-4)


def test_a_valve_at_rest_stands_where_its_command_holds_it():
    assert servovalve(0.2, 0.2, 0.0, natural_frequency=1443.0, damping=0.38) == {
        "opening_dot": 0.0,
        "opening_rate_dot": 0.0,
    }


@pytest.mark.parametrize(
    ("opening", "speed"), [(-0.9, -0.96), (-0.25, -0.955), (0.005, 0.0), (0.104, 0.365), (0.25, 0.735), (0.9, 0.74)]
)
def test_the_no_load_speed_is_linear_between_its_points_and_held_beyond_them(opening, speed):
    found = hydraulic_actuator(opening, 0.0, 0.0, **ACTUATOR)
    assert found["no_load_speed"] == pytest.approx(speed)


def test_an_actuator_is_in_balance_where_leakage_takes_what_the_load_does_not():
    speed, force = 0.3, 400.0
    opening = 0.008 + (speed + 7.46e-5 * force) * (0.2 - 0.008) / 0.73
    found = hydraulic_actuator(opening, speed, force, **ACTUATOR)
    assert found["force"] == force
    # Rounding of terms of 0.3 m/s, by a compliance of 1e-6 m/N.
    assert found["oil_force_dot"] == pytest.approx(0.0, abs=1e-9)


def test_a_blocked_actuator_gains_force_by_its_compliance():
    assert hydraulic_actuator(0.3, 0.0, 0.0, **ACTUATOR)["oil_force_dot"] == pytest.approx(0.74 / 1e-6)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"speeds": (-0.96, -0.95, 0.0, -0.1, 0.73, 0.74)},
            "parameters.speeds[3]: must never decrease, but falls from 0",
        ),
        ({"speeds": (0.0, 1.0)}, "parameters.speeds: must be as many as openings (6), are 2"),
        ({"openings": (-0.3, -0.2, 0.008, 0.002, 0.2, 0.3)}, "parameters.openings: must have at least two values"),
        ({"oil_compliance": 0.0}, "parameters.oil_compliance: must be positive"),
        ({"leakage": -1e-5}, "parameters.leakage: must not be negative"),
    ],
)
def test_an_impossible_actuator_is_refused(changes, message):
    with pytest.raises(ModelError) as refusal:
        Block("oil", "hydraulic_actuator", "piston", {"opening": 0.1}, ACTUATOR | changes)
    assert message in str(refusal.value)


def test_a_flow_table_that_falls_is_called_not_monotonic():
    with pytest.raises(ModelError, match="not monotonic"):
        Block("oil", "hydraulic_actuator", "p", {"opening": 0.1}, ACTUATOR | {"speeds": (0, 2, 1, 3, 4, 5)})


def test_all_flaws_of_a_flow_table_are_told_at_once():
    with pytest.raises(ModelError) as refusal:
        Block("oil", "hydraulic_actuator", "p", {"opening": 0.1}, ACTUATOR | {"speeds": (1, 0), "leakage": -1.0})
    assert len(refusal.value.flaws) == 3


def test_a_delay_of_less_than_nothing_is_refused():
    with pytest.raises(ModelError, match="must be positive, is -0.001 s"):
        Delay("late", "control.current", -1e-3)


def test_an_orifice_is_odd_smooth_and_a_root_far_from_zero():
    drops = np.array([1e6, 1e7])
    # Next to the root by (p0/dp)^2 / 4 with p0 = 1 kPa.
    np.testing.assert_allclose(orifice_flow(drops), np.sqrt(drops), rtol=3e-7)
    np.testing.assert_array_equal(orifice_flow(-drops), -orifice_flow(drops))
    drop = ca.SX.sym("drop")
    slope = ca.Function("slope", [drop], [ca.jacobian(orifice_flow(drop), drop)])
    assert np.isfinite(float(slope(0.0)))
    assert np.isfinite(float(slope(-1e6)))


def test_a_closed_motor_holds_by_its_oil_and_leaks_by_its_gaps():
    found = vane_motor(0.0, 0.2, 1e6, **MOTOR)
    assert found["torque"] == pytest.approx(15.0)
    assert found["load_pressure_dot"] == pytest.approx(-4 * 7e8 / 4e-5 * (1.5e-5 * 0.2 + 1e-12 * 1e6))


def test_a_motor_is_the_same_both_ways():
    forth, back = vane_motor(0.1, 1.0, 2e6, **MOTOR), vane_motor(-0.1, -1.0, -2e6, **MOTOR)
    for key in forth:
        assert back[key] == pytest.approx(-forth[key])


def test_equal_areas_give_the_compliance_and_the_leakage_of_a_symmetric_cylinder():
    """c0 = V / (2 beta A^2), 1/ch = (Kc/2 + C) / A^2 with Kc = k x / (2 sqrt(ps / 2)) of one edge."""
    parameters = CYLINDER | {"area_ratio": 1.0, "volume_2": CYLINDER["volume_1"]}
    out, back = (linearise_cylinder(opening, **parameters) for opening in (0.05, -0.05))
    assert out == back
    assert out.oil_compliance == pytest.approx(4e-5 / (2 * 7e8 * 4e-8))
    edge = 2e-7 * 0.05 / (2 * np.sqrt(7e6))
    assert out.leakage == pytest.approx((edge / 2 + 1e-12) / 4e-8)


def test_unequal_areas_retract_slower_by_the_root_of_their_ratio():
    out, back = (linearise_cylinder(opening, **CYLINDER) for opening in (0.05, -0.05))
    assert back.gain / out.gain == pytest.approx(np.sqrt(0.6))


def test_the_load_that_a_supply_cannot_move_is_refused():
    with pytest.raises(ModelError, match="load: leaves the valve a pressure drop of -"):
        linearise_cylinder(0.05, **CYLINDER, load=1.4e7 * 2e-4 * 1.1)
    with pytest.raises(ModelError, match="load"):
        linearise_vane_motor(-0.05, **MOTOR, load=-1.4e7 * 1.5e-5 * 1.1)


def test_every_impossible_size_of_a_cylinder_is_told():
    with pytest.raises(ModelError) as refusal:
        linearise_cylinder(0.05, **CYLINDER | {"area": 0.0, "volume_1": -1.0})
    assert [flaw.path for flaw in refusal.value.flaws] == ["area", "volume_1"]
