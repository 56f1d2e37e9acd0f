"""Does a cylinder of chambers and orifices move as Walters' relations say, and near a motion as its linear form?

Walters (1967) gives the flow of a cylinder with unequal areas from its load pressure; Merritt (1967) that of a
symmetric motor. The simulations know only the two edges of the valve and the continuity of each chamber.
"""

import math

import numpy as np
import pytest

from robodyn import Block, Body, Joint, Machine, Mechanism, Scenario, Solver, simulate
from robodyn.description.laws.hydraulics import linearise_cylinder, linearise_vane_motor
from robodyn.description.model import GROUND
from robodyn_studies.catalog.epaas_rig import PHYSICAL_CYLINDER, make_cylinder

SOLVER = Solver("dopri5", rtol=1e-9, atol=1e-11)
MASS = 5.1
STEP_AT, UNTIL = 0.15, 0.2
# Both chambers 10,000 times as large and stiff: the same oil springs, and the piston's travel changes no volume.
RIGID = PHYSICAL_CYLINDER | {
    "internal_leakage": 0.0,
    "volume_1": PHYSICAL_CYLINDER["volume_1"] * 1e4,
    "volume_2": PHYSICAL_CYLINDER["volume_1"] / PHYSICAL_CYLINDER["area_ratio"] * 1e4,
    "bulk_modulus": PHYSICAL_CYLINDER["bulk_modulus"] * 1e4,
}
MOTOR = {
    "displacement": 1.5e-5,
    "volume": 4e-5,
    "bulk_modulus": 7e8,
    "internal_leakage": 1e-12,
    "flow_coefficient": 8e-8,
    "supply_pressure": 1.4e7,
}


def opening_step(before, change):
    return Block("opening", "step_reference", parameters={"before": before, "after": before + change, "at": STEP_AT})


def pushed(parts, before, change, kind="prismatic", speed=0.0, pressures=()):
    """A mass, or a wheel, pushed by an actuator whose valve opens a little more."""
    body = Body("load", MASS, inertia=(0.3, 0.3, 0.3))
    mechanism = Mechanism("pushed", (body,), (Joint("piston", kind, GROUND, "load"),), gravity=(0, 0, 0))
    machine = Machine("pushed", mechanism, (opening_step(before, change), *parts))
    start = {"piston.velocity": speed}
    start |= {f"piston.chamber_{k}.pressure": value for k, value in enumerate(pressures, start=1)}
    return simulate(Scenario("pushed", machine, UNTIL, start), SOLVER)


def walters_pressures(opening, area_ratio, supply, load_pressure=0.0):
    """Pressures of both chambers in steady motion, from the orifices' drops alone."""
    a = area_ratio
    if opening > 0:
        drop = (supply - load_pressure) / (1 + a**3)
        return supply - drop, a**2 * drop
    drop = (supply + load_pressure / a) / (1 + a**-3)
    return drop / a**2, supply - drop


def cylinder_run(opening, change, parameters):
    """The physical cylinder in steady motion, then opened more; at the step it is near its middle."""
    speed = linearise_cylinder(opening, **parameters).gain * opening
    pressures = walters_pressures(opening, parameters["area_ratio"], parameters["supply_pressure"])
    middle = speed * STEP_AT
    parts = make_cylinder("piston", "opening.value", parameters, middle)
    return pushed(parts, opening, change, speed=speed, pressures=pressures)


def linear_run(linear, change, kind="prismatic"):
    """The linear actuator from rest, opened by the change alone."""
    parameters = {
        "openings": (-1.0, 1.0),
        "speeds": (-linear.gain, linear.gain),
        "oil_compliance": linear.oil_compliance,
        "leakage": linear.leakage,
    }
    actuator = Block("oil", "hydraulic_actuator", "piston", {"opening": "opening.value"}, parameters)
    return pushed((actuator,), 0.0, change, kind=kind)


def largest_difference(physical, linear, change, gain):
    """Between two runs' changes of speed after the step, by the change of the no-load speed."""
    times = np.linspace(STEP_AT, UNTIL, 400)
    moved = physical["piston.velocity"](times) - physical["piston.velocity"](STEP_AT)
    return np.max(np.abs(moved - linear["piston.velocity"](times))) / abs(gain * change)


@pytest.mark.parametrize("opening", [0.05, -0.05])
def test_steady_motion_without_load_has_walters_speed_and_pressures(opening):
    parameters = RIGID
    run = cylinder_run(opening, 0.0, parameters)
    expected = linearise_cylinder(opening, **parameters).gain * opening
    # The orifice's laminar transition takes 3e-7 of the flow.
    assert run["piston.velocity"].final == pytest.approx(expected, rel=1e-6)
    pressures = walters_pressures(opening, parameters["area_ratio"], parameters["supply_pressure"])
    assert tuple(run[f"piston.chamber_{k}.pressure"].final for k in (1, 2)) == pytest.approx(pressures, rel=1e-6)


@pytest.mark.parametrize("opening", [0.05, -0.05])
@pytest.mark.parametrize("load", [500.0, -500.0])
def test_steady_motion_under_load_has_walters_speed(opening, load):
    """A constant force on the piston: Q1 = k x sqrt((ps - pL)/(1 + a^3)), Q2 = k x sqrt((ps + pL/a)/(1 + a^-3))."""
    parts = make_cylinder("piston", "opening.value", RIGID)
    weight = Block("weight", "constant_force", "piston", parameters={"value": -load})
    damper = Block("damper", "damper", "piston", parameters={"damping": 2000.0})
    a, supply, area = RIGID["area_ratio"], RIGID["supply_pressure"], RIGID["area"]
    run = pushed((*parts, weight, damper), opening, 0.0, pressures=walters_pressures(opening, a, supply))
    force = sum(run[f"piston.chamber_{k}.force"].final for k in (1, 2))
    pressure = force / area
    drop = (supply - pressure) / (1 + a**3) if opening > 0 else (supply + pressure / a) / (1 + a**-3)
    speed = RIGID["flow_coefficient"] * opening * math.sqrt(drop) / (area if opening > 0 else a * area)
    # What is left after 0.2 s of the slowest motion, the exchange of oil between the chambers (16 ms).
    assert run["piston.velocity"].final == pytest.approx(speed, rel=1e-4)
    assert force == pytest.approx(load + 2000.0 * run["piston.velocity"].final, rel=1e-3)


@pytest.mark.parametrize("opening", [0.05, -0.05])
def test_the_linear_cylinder_is_the_limit_of_small_steps(opening):
    """Where the linearisation is exact (V2 = V1/a, no leakage), the difference falls with the step."""
    linear = linearise_cylinder(opening, **RIGID)
    changes = opening * np.array([0.2, 0.1, 0.05])
    differences = [
        largest_difference(cylinder_run(opening, change, RIGID), linear_run(linear, change), change, linear.gain)
        for change in changes
    ]
    rates = np.log2(np.array(differences[:-1]) / differences[1:])
    assert rates == pytest.approx([1.0, 1.0], abs=0.1)


@pytest.mark.parametrize(("opening", "agreement"), [(0.05, 0.04), (-0.05, 0.06)])
def test_the_linear_cylinder_is_near_the_physical_one(opening, agreement):
    """With leakage and volumes that change, one state stands for two chambers: 2.8 and 4.1 % were measured."""
    parameters = PHYSICAL_CYLINDER
    linear, change = linearise_cylinder(opening, **parameters), 0.05 * opening
    physical = cylinder_run(opening, change, parameters)
    assert largest_difference(physical, linear_run(linear, change), change, linear.gain) < agreement


@pytest.mark.parametrize("opening", [0.05, -0.05])
def test_pressures_stay_above_the_tank(opening):
    run = cylinder_run(opening, opening, PHYSICAL_CYLINDER)
    for chamber in ("piston.chamber_1.pressure", "piston.chamber_2.pressure"):
        assert 0 < run[chamber].min < run[chamber].max < PHYSICAL_CYLINDER["supply_pressure"]


@pytest.mark.parametrize("opening", [0.05, -0.05])
def test_the_linear_vane_motor_is_the_limit_of_small_steps(opening):
    linear = linearise_vane_motor(opening, **MOTOR)
    actuator = Block("oil", "vane_motor", "piston", {"opening": "opening.value"}, MOTOR)
    differences = []
    for change in (0.2 * opening, 0.1 * opening, 0.05 * opening):
        physical = pushed((actuator,), opening, change, kind="revolute", speed=linear.gain * opening)
        differences.append(largest_difference(physical, linear_run(linear, change, "revolute"), change, linear.gain))
    rates = np.log2(np.array(differences[:-1]) / differences[1:])
    assert rates == pytest.approx([1.0, 1.0], abs=0.1)


def test_the_rig_s_physical_cylinder_has_the_study_s_values():
    """Compliance, leakage and both gains of the published study of the EPAAS robot, to the digits it prints."""
    out, back = (linearise_cylinder(opening, **PHYSICAL_CYLINDER) for opening in (0.03, -0.03))
    assert out.oil_compliance == back.oil_compliance == pytest.approx(1.0e-6, rel=1e-3)
    assert out.leakage == pytest.approx(7.46e-5, rel=1e-2)
    # Slopes of the measured no-load speed.
    assert out.gain == pytest.approx((0.71 - 0.009) / (0.194 - 0.0017), rel=1e-3)
    assert back.gain == pytest.approx((0.61 - 0.009) / (0.23 - 0.0179), rel=1e-3)
