"""Do valves, actuators and measuring circuits obey their equations, and are impossible ones refused?"""

import math

import casadi as ca
import numpy as np
import pytest
from scipy.optimize import brentq
from tests.support.machines import signals_only

from robodyn import Block, Body, Delay, Joint, Machine, Mechanism, ModelError, Scenario, Solver, assemble, simulate
from robodyn.analysis import linearise
from robodyn.description.laws.hydraulics import (
    ATMOSPHERE,
    effective_bulk_modulus,
    four_way_valve,
    hydraulic_actuator,
    hydraulic_line,
    hydraulic_pump,
    linearise_cylinder,
    linearise_vane_motor,
    measuring_circuit,
    orifice_flow,
    piston_chamber,
    relief_valve,
    servovalve,
    specific_volume,
    valve_controller,
    valve_edge,
    vane_motor,
)
from robodyn.description.model import GROUND

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
            "parameters.speeds[3]: must not decrease, but falls from 0",
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


# --------------------------------------------------------------------------------------------------
# Do chambers, valves, lines, pump, accumulator and relief valve obey their closed forms, alone and connected?


SOLVER = Solver("rodas4", rtol=1e-9, atol=1e-11)
OIL = {"bulk_modulus": 1.4e9, "air": 0.01}


@pytest.mark.parametrize("pressure", [-9e4, 0.0, 1e6, 2e7])
def test_the_bulk_modulus_is_that_of_the_specific_volume(pressure):
    step = 1e-4 * (pressure + ATMOSPHERE)
    less, more = (specific_volume(pressure + d, **OIL) for d in (-step, step))
    slope = -specific_volume(pressure, **OIL) * 2 * step / (more - less)
    # Central differences of 1e-4 of the absolute pressure.
    assert effective_bulk_modulus(pressure, **OIL) == pytest.approx(slope, rel=1e-6)


def test_oil_without_air_has_its_own_stiffness_and_air_takes_it_away_at_low_pressure():
    assert effective_bulk_modulus(1e7, bulk_modulus=1.4e9) == pytest.approx(1.4e9, rel=1e-12)
    assert effective_bulk_modulus(0.0, **OIL) < 0.011 * 1.4e9 < effective_bulk_modulus(1e7, **OIL)


def pulled(**oil):
    """A closed chamber whose piston a spring pulls out to three times the volume."""
    piston = Mechanism("m", (Body("rod", 2.0),), (Joint("slide", "prismatic", GROUND, "rod", axis=(1, 0, 0)),))
    chamber = Block("oil", "piston_chamber", "slide", {"flow_1": 0.0}, {"area": 1e-3, "volume": 1e-4} | oil)
    pull = Block("pull", "spring", "slide", parameters={"stiffness": 1e5, "rest": 0.2, "damping": 2e3})
    return simulate(Scenario("pulled", Machine("m", piston, (chamber, pull)), 0.3), SOLVER)


def test_a_closed_chamber_that_is_pulled_open_cavitates_to_the_pressure_that_its_air_has_there():
    run = pulled(**OIL)
    room = 1e-4 + 1e-3 * run["slide.position"].final
    assert room > 2.9e-4
    left = brentq(lambda p: specific_volume(p, **OIL) - room / 1e-4, -ATMOSPHERE * (1 - 1e-9), 0.0)
    # 1e-9 of a pressure of 1e6 Pa is what the solver keeps, over some thousand steps.
    assert run["oil.absolute_pressure"].final == pytest.approx(left + ATMOSPHERE, rel=1e-4)
    assert run["oil.gas_volume"].final == pytest.approx(room - 0.99e-4 * math.exp(-left / 1.4e9), rel=1e-4)


def test_oil_without_air_is_not_torn_silently():
    run = pulled(bulk_modulus=1.4e9)
    assert not run.outcome.ok
    assert "check valve from the tank" in run.outcome.sentence


def test_two_chambers_of_one_joint_push_against_each_other_and_keep_power():
    """p (Q - A v) is what compresses: p V / E p'."""
    found = piston_chamber(2e-4, 0.01, 0.3, 5e6, 1e-4, area=-6e-4, volume=1e-4, bulk_modulus=1e9)
    assert found["force"] == pytest.approx(-3000.0)
    room = 1e-4 - 6e-6
    assert found["pressure_dot"] == pytest.approx(1e9 / room * (3e-4 + 6e-4 * 0.3))


def test_an_edge_opens_beyond_its_overlap():
    flows = [valve_edge(x, 1e7, 4e6, flow_coefficient=1e-6, overlap=0.02)["flow_out"] for x in (-0.5, 0.0, 0.1)]
    assert flows == pytest.approx([0.0, 0.0, 1e-6 * 0.08 * orifice_flow(6e6)])
    assert valve_edge(0.0, 1e7, flow_coefficient=1e-6, leakage=1e-12)["flow_in"] == pytest.approx(-1e-5)


def test_a_four_way_valve_is_four_edges():
    generator = np.random.default_rng(5)
    laps = {"overlap_s1": 0.02, "overlap_1t": -0.03, "overlap_s2": 0.04, "overlap_2t": 0.01}
    for x in (-0.9, -0.035, 0.0, 0.025, 0.9):
        ps, p1, p2, pt = generator.uniform(0, 1e7, 4)
        found = four_way_valve(x, ps, p1, p2, pt, flow_coefficient=1e-6, leakage=1e-13, stroke=0.5, **laps)
        ports = {"s1": (ps, p1, 1.0), "1t": (p1, pt, -1.0), "s2": (ps, p2, -1.0), "2t": (p2, pt, 1.0)}
        edges = {
            key: valve_edge(
                sense * np.clip(x, -0.5, 0.5), above, below,
                flow_coefficient=1e-6, overlap=laps[f"overlap_{key}"], leakage=1e-13,
            )
            for key, (above, below, sense) in ports.items()
        }  # fmt: skip
        assert found["flow_1"] == pytest.approx(edges["s1"]["flow_out"] + edges["1t"]["flow_in"])
        assert found["flow_2"] == pytest.approx(edges["s2"]["flow_out"] + edges["2t"]["flow_in"])
        assert found["supply_flow"] == pytest.approx(edges["s1"]["flow_in"] + edges["s2"]["flow_in"])
        assert sum(found[k] for k in ("flow_1", "flow_2", "supply_flow", "tank_flow")) == pytest.approx(0, abs=1e-18)
        power = -sum(p * found[k] for p, k in ((p1, "flow_1"), (p2, "flow_2"), (ps, "supply_flow"), (pt, "tank_flow")))
        assert found["lost_power"] == pytest.approx(power, rel=1e-9)
        assert power >= 0


def test_equal_overlaps_are_a_dead_band_and_unequal_ones_move_it():
    """The no-load flow of a dead band from -o to o, or from a - o to a + o."""

    def flow(x, **laps):
        return four_way_valve(x, 1e7, 5e6, 5e6, flow_coefficient=1e-6, **laps)["flow_1"]

    band = {"overlap_s1": 0.02, "overlap_1t": 0.02}
    assert flow(0.019, **band) == flow(-0.019, **band) == 0.0
    moved = {"overlap_s1": 0.05, "overlap_1t": -0.01}
    assert flow(0.05, **moved) == 0.0
    assert flow(0.03, **moved) == flow(0.01, **moved) == 0.0
    assert flow(0.0, **moved) < 0 < flow(0.06, **moved)


def test_a_relief_valve_is_shut_below_its_cracking_pressure_and_full_above():
    size = {"cracking_pressure": 1e7, "override": 2e6, "flow_coefficient": 1e-7}
    assert relief_valve(1.1e7, 2e6, **size)["flow_out"] == 0.0
    half = relief_valve(1.3e7, 2e6, **size)
    assert half["opening"] == pytest.approx(0.5)
    assert half["flow_out"] == pytest.approx(0.5e-7 * math.sqrt(1.1e7), rel=1e-6)
    assert relief_valve(3e7, **size)["opening"] == 1.0
    with pytest.raises(ModelError, match="override: must be positive"):
        Block("r", "relief_valve", inputs={"pressure_in": 0.0}, parameters=size | {"override": 0.0})


def test_a_pump_takes_from_its_shaft_what_it_gives_the_oil_and_loses():
    found = hydraulic_pump(150.0, 1e7, 2e5, displacement=1.6e-6, leakage=1e-12, drag=0.01)
    given = 1e7 * found["flow_out"] + 2e5 * found["flow_in"]
    assert -found["torque"] * 150.0 == pytest.approx(given + found["lost_power"])


def test_oil_in_a_line_comes_into_motion_with_its_time_constant():
    """Q = dp/R (1 - exp(-t R/L)), L = rho l/A, R = 128 mu l/(pi d^4): tau = rho d^2 / (32 mu)."""
    size = {"length": 4.0, "diameter": 0.006, "viscosity": 0.04}
    line = Block("line", "hydraulic_line", inputs={"pressure_in": 1e5}, parameters=size)
    run = simulate(signals_only(line, duration=0.05), SOLVER)
    tau, final = 870 * 0.006**2 / (32 * 0.04), 1e5 * math.pi * 0.006**4 / (128 * 0.04 * 4.0)
    times = np.array([0.01, 0.03, 0.05])
    np.testing.assert_allclose(run["line.flow"](times), final * (1 - np.exp(-times / tau)), rtol=1e-7)


def test_oil_in_a_line_turns_turbulent():
    """dp = f l/d rho v^2/2: f = 64/Re to 2300 (Hagen-Poiseuille), 0.3164/Re^0.25 from 4000 on (Blasius)."""
    size = {"length": 3.0, "diameter": 0.01, "density": 870.0, "viscosity": 0.03}
    section = math.pi / 4 * size["diameter"] ** 2

    def drop(reynolds, sign=1.0, **changes):
        """Pressure at which the flow of a Reynolds number neither grows nor falls."""
        numbers = size | changes
        speed = reynolds * size["viscosity"] / (size["density"] * size["diameter"])
        rate = hydraulic_line(0.0, sign * speed * section, **numbers)["flow_dot"]
        factor = -rate * size["density"] * size["length"] / section
        return factor / (sign * size["length"] / size["diameter"] * 0.5 * size["density"] * speed**2)

    for reynolds in (1.0, 500.0, 2299.0):
        assert drop(reynolds) == pytest.approx(64 / reynolds, rel=1e-12)
    for reynolds in (4001.0, 3e4):
        assert drop(reynolds) == pytest.approx(0.3164 * reynolds**-0.25, rel=1e-12)
        assert drop(reynolds, -1.0) == pytest.approx(drop(reynolds), rel=1e-12)
    between = [drop(reynolds) for reynolds in (2300.0, 3000.0, 3999.0)]
    assert between == sorted(between)
    assert between[-1] == pytest.approx(0.3164 * 4000**-0.25, rel=1e-3)
    assert drop(3e4, viscosity=0.0) == 0.0


def test_a_long_line_under_pressure_comes_to_the_flow_of_blasius():
    """0.3164 (mu/(rho v d))^0.25 l/d rho v^2/2 = dp: v^1.75 at 20 bar, Reynolds number 6.4e3."""
    length, d, rho, mu = 10.0, 0.012, 870.0, 0.02
    block = {"length": length, "diameter": d, "density": rho, "viscosity": mu}
    line = Block("line", "hydraulic_line", inputs={"pressure_in": 2e6}, parameters=block)
    run = simulate(signals_only(line, duration=1.0), SOLVER)
    speed = (2e6 / (0.3164 / 2 * length / d**1.25 * rho**0.75 * mu**0.25)) ** (1 / 1.75)
    assert run["line.flow"].final == pytest.approx(math.pi / 4 * d**2 * speed, rel=1e-6)
    assert run["line.turbulence"].final == 1.0


def test_a_row_of_lines_carries_sound():
    """n pieces closed at one end: w_k = 2 n c/l sin((2k - 1) pi / (4n + 2)), the organ pipe's where n is large."""
    n, length, diameter, bulk, density = 8, 10.0, 0.01, 1.4e9, 870.0
    piece = length / n
    volume = math.pi / 4 * diameter**2 * piece
    blocks = []
    for k in range(n):
        ends = {"pressure_in": f"v{k - 1}.pressure" if k else 0.0, "pressure_out": f"v{k}.pressure"}
        size = {"length": piece, "diameter": diameter, "density": density, "viscosity": 0.0}
        blocks.append(Block(f"l{k}", "hydraulic_line", inputs=ends, parameters=size))
        flows = {"flow_1": f"l{k}.flow_out"} | ({"flow_2": f"l{k + 1}.flow_in"} if k < n - 1 else {})
        blocks.append(Block(f"v{k}", "oil_volume", inputs=flows, parameters={"volume": volume, "bulk_modulus": bulk}))
    model = linearise(assemble(signals_only(*blocks, duration=0.1)))
    found = np.sort(np.abs(np.linalg.eigvals(model.A).imag))[::2]
    sound = math.sqrt(bulk / density)
    k = np.arange(1, n + 1)
    np.testing.assert_allclose(found, 2 * n * sound / length * np.sin((2 * k - 1) * np.pi / (4 * n + 2)), rtol=1e-6)
    assert found[0] == pytest.approx(math.pi * sound / (2 * length), rel=0.07)


def accumulator(pressure, oil, duration=2.0):
    size = {"gas_volume": 1e-3, "precharge": 9e6, "flow_coefficient": 1e-6}
    block = Block("bladder", "gas_accumulator", inputs={"pressure": pressure}, parameters=size)
    machine = signals_only(block, duration=duration).machine
    return simulate(Scenario("bladder", machine, duration, {"bladder.oil": oil}), SOLVER)


def test_an_accumulator_takes_oil_until_its_gas_stands_at_the_pressure():
    run = accumulator(1.5e7, 0.0)
    exact = 1e-3 * (1 - ((9e6 + ATMOSPHERE) / (1.5e7 + ATMOSPHERE)) ** (1 / 1.2))
    assert run["bladder.oil"].final == pytest.approx(exact, rel=1e-7)


def test_an_accumulator_empties_and_no_further():
    run = accumulator(2e6, 2e-4)
    # The poppet lets the last 2 % out ever slower.
    assert abs(run["bladder.oil"].final) < 1e-9
    assert run["bladder.oil"].min >= -1e-12
    assert run["bladder.flow"].final == pytest.approx(0.0, abs=1e-8)
