"""Do the laws of real drives (heat, cogging, dead time, presliding, loaded friction) meet their closed forms?"""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import robodyn as rd
from robodyn.description.laws.drives import (
    COPPER,
    REFERENCE,
    cogging_energy,
    cogging_torque,
    dead_time_error,
    inverter,
    motor_heat,
    sagging_supply,
    saturation_loss,
    thermal_protection,
    torque_ripple,
)
from robodyn.description.laws.elements import transmission_error, transmission_reaction
from robodyn.description.laws.friction import (
    elasto_plastic_friction,
    lugre_friction,
    servo_friction,
    servo_friction_level,
    two_way_gear_loss,
    uneven_friction,
)
from robodyn.description.laws.sensors import position_error

HEAT = {
    "resistance": 0.573, "winding_resistance": 6.64, "housing_resistance": 2.55, "winding_time": 43.1,
    "housing_time": 127.0,
}  # fmt: skip
PRESLIDING = {
    "stiffness": 1e4, "damping": 0.0, "viscous": 0.0, "coulomb": 2.0, "static": 2.0, "stribeck_velocity": 0.05,
}  # fmt: skip


def integrate(rate, start, end, **options):
    return solve_ivp(rate, (0.0, end), start, rtol=1e-10, atol=1e-12, method="Radau", **options).y[:, -1]


def warm(end, current, **numbers):
    def rate(_, x):
        found = motor_heat(current, *x, **(HEAT | numbers))
        return [found["winding_dot"], found["housing_dot"]]

    return integrate(rate, [REFERENCE, REFERENCE], end)


def test_a_motor_of_constant_resistance_warms_by_two_exponentials():
    power = HEAT["resistance"] * 9.0
    at = 60.0
    # Linear: x_dot = A x + b, solved by the eigenvalues of A.
    ratio = HEAT["housing_resistance"] / HEAT["winding_resistance"]
    A = np.array([
        [-1 / HEAT["winding_time"], 1 / HEAT["winding_time"]],
        [ratio / HEAT["housing_time"], -(1 + ratio) / HEAT["housing_time"]],
    ])  # fmt: skip
    b = np.array([HEAT["winding_resistance"] * power / HEAT["winding_time"], 0.0])
    values, vectors = np.linalg.eig(A)
    steady = -np.linalg.solve(A, b)
    expected = steady + vectors @ (np.exp(values * at) * np.linalg.solve(vectors, -steady))
    np.testing.assert_allclose(warm(at, 3.0, copper=0.0) - REFERENCE, expected, rtol=1e-8)
    np.testing.assert_allclose(steady, [power * (6.64 + 2.55), power * 2.55], rtol=1e-12)


def test_copper_that_warms_up_ends_where_its_loss_meets_the_cooling():
    loss = HEAT["resistance"] * 3.29**2 * (HEAT["winding_resistance"] + HEAT["housing_resistance"])
    # dT = loss (1 + a dT).
    rise = loss / (1 - COPPER * loss)
    assert warm(2e4, 3.29)[0] - REFERENCE == pytest.approx(rise, rel=1e-8)
    # maxon allows this motor 125 deg C at its nominal current of 3.29 A, iron loss included.
    assert 60.0 < rise < 100.0


def test_heat_that_leaves_is_heat_that_comes_in():
    found = motor_heat(2.0, 350.0, 320.0, 1.5, **HEAT)
    stored = found["winding_dot"] * HEAT["winding_time"] / HEAT["winding_resistance"]
    stored += found["housing_dot"] * HEAT["housing_time"] / HEAT["housing_resistance"]
    assert stored == pytest.approx(found["power"] + 1.5 - (320.0 - REFERENCE) / HEAT["housing_resistance"], rel=1e-12)


def test_a_drive_derates_trips_and_starts_again_below_its_reset():
    limits = {"derate": 350.0, "trip": 370.0, "reset": 330.0}
    shares, tripped = [], 0.0
    for temperature in (340.0, 360.0, 371.0, 340.0, 329.0):
        found = thermal_protection(temperature, tripped, **limits)
        tripped = found["tripped_next"]
        shares.append(found["share"])
    assert shares == [1.0, 0.5, 0.0, 0.0, 1.0]


def test_cogging_is_the_slope_of_its_energy_and_ripple_of_nothing_is_nothing():
    numbers = {"amplitude": 0.3, "order": 24.0, "phase": 0.7}
    at, h = np.linspace(-3, 3, 41), 1e-6
    slope = (cogging_energy(at + h, **numbers) - cogging_energy(at - h, **numbers)) / (2 * h)
    np.testing.assert_allclose(cogging_torque(at, **numbers)["torque"], -slope, atol=1e-8)
    assert torque_ripple(0.3, 0.0, share=0.1, order=6.0)["torque"] == 0.0


def test_saturation_takes_little_below_its_level_and_never_lets_it_pass():
    total = 1e6 + saturation_loss(1e6, level=5.0)["torque"]
    assert total == pytest.approx(5.0, rel=1e-9)
    assert saturation_loss(0.5, level=5.0)["torque"] == pytest.approx(0.5 / np.sqrt(1.01) - 0.5, rel=1e-12)


def test_a_dead_time_kicks_by_voltage_over_inductance_and_the_current_loop_removes_it():
    numbers = {
        "voltage": 48.0, "dead_time": 1e-6, "frequency": 2e4, "resistance": 0.5, "inductance": 3e-4,
        "torque_constant": 2.0, "time_constant": 5e-4, "smoothing_current": 1e-6,
    }  # fmt: skip

    def rate(_, x):
        found = dead_time_error(1.0, *x, **numbers)
        return [found["lagged_dot"], found["settled_dot"]]

    def error(at):
        return dead_time_error(1.0, *integrate(rate, [0.0, 0.0], at), **numbers)["torque"] / 2.0

    at, lost = 3e-4, -48.0 * 1e-6 * 2e4
    # e = V / L (exp(-R t / L) - exp(-t / T)) / (1 / T - R / L): poles of the loop whose zero meets the winding's.
    fast, slow = 1 / 5e-4, 0.5 / 3e-4
    expected = lost / 3e-4 * (np.exp(-slow * at) - np.exp(-fast * at)) / (fast - slow)
    assert error(at) == pytest.approx(expected, rel=1e-6)
    assert abs(error(0.05)) < 1e-6


def test_an_inverter_gives_the_torque_speed_line_and_a_supply_sags_to_its_root():
    found = inverter(100.0, 5.0, 24.0, resistance=0.5, torque_constant=2.0)
    assert found["output"] == (24.0 - 10.0) / 0.5
    assert found["power"] == 24.0 * found["output"]
    rate = lambda _, x: [sagging_supply(500.0, x[0], source_voltage=48.0, resistance=0.2, capacitance=1e-3)["voltage_dot"]]  # noqa: E501, E731
    steady = 0.5 * (48.0 + np.sqrt(48.0**2 - 4 * 0.2 * 500.0))
    assert integrate(rate, [48.0], 0.05)[0] == pytest.approx(steady, rel=1e-9)


def push_bristles(law, way, **numbers):
    """Torque after a slow way from rest."""

    def rate(_, z):
        return [law(1e-3, z[0], **numbers)["bristle_dot"]]

    z = integrate(rate, [0.0], way / 1e-3)
    return law(1e-3, float(z[0]), **numbers)["torque"]


def test_lugre_with_one_level_and_no_damping_is_dahls_friction():
    # F(s) = -Tc (1 - exp(-k s / Tc)).
    for way in (1e-5, 1e-4, 5e-4):
        expected = -2.0 * (1 - np.exp(-1e4 * way / 2.0))
        assert push_bristles(lugre_friction, way, **PRESLIDING) == pytest.approx(expected, rel=1e-7)


def test_elasto_plastic_bristles_are_a_spring_up_to_breakaway_and_slide_at_their_level():
    numbers = PRESLIDING | {"breakaway": 0.7}
    assert push_bristles(elasto_plastic_friction, 1.3e-4, **numbers) == pytest.approx(-1.3, rel=1e-9)
    assert push_bristles(elasto_plastic_friction, 5e-3, **numbers) == pytest.approx(-2.0, rel=1e-4)


def drift(law, numbers):
    """Way that a mass on bristles creeps under a push that swings below the level of friction."""

    def rate(t, x):
        push = 1.0 + 0.3 * np.sin(200.0 * t)
        found = law(x[1], x[2], **numbers)
        return [x[1], push + found["torque"], found["bristle_dot"]]

    settled, end = (solve_ivp(rate, (0, at), [0.0, 0.0, 0.0], rtol=1e-8, atol=1e-13, method="Radau").y[0, -1]
                    for at in (0.5, 2.5))  # fmt: skip
    return end - settled


def test_elasto_plastic_friction_holds_where_lugre_creeps():
    numbers = PRESLIDING | {"damping": 200.0, "viscous": 1.0}
    creep = drift(lugre_friction, numbers)
    assert creep > 1e-5
    assert abs(drift(elasto_plastic_friction, numbers)) < 0.02 * creep


def test_elasto_plastic_friction_gives_no_energy():
    rng = np.random.default_rng(1)
    for w, z in rng.uniform([-2, -2e-4], [2, 2e-4], (200, 2)):
        found = elasto_plastic_friction(w, z, **PRESLIDING)
        assert found["torque"] * w + 1e4 * z * found["bristle_dot"] <= 1e-12


def test_uneven_friction_and_gear_loss_never_drive():
    rng = np.random.default_rng(2)
    for q, w, load in rng.uniform(-3, 3, (200, 3)):
        assert uneven_friction(q, w, amplitude=0.5, order=3.0, smoothing_velocity=0.01)["torque"] * w <= 0
        loss = two_way_gear_loss(w, load, load_loss=0.25, load_loss_back=0.4, smoothing_velocity=1e-6)["torque"]
        # Efficiency 1 / (1 + mu) of what goes through while driving.
        assert loss == pytest.approx(-np.sign(w) * (0.25 if load * w > 0 else 0.4) * abs(load), rel=1e-9)


def test_transmission_error_moves_the_zero_of_the_spring_and_keeps_its_energy():
    k, d, e = 800.0, 0.5, {"amplitude": 3e-4, "order": 200.0, "phase": 0.3}
    rng = np.random.default_rng(3)
    for joint, motor, w_joint, w_motor in rng.uniform(-1, 1, (50, 4)) * (1e-2, 1e-2, 1, 1):
        gear = -k * (joint - motor) - d * (w_joint - w_motor)
        extra = transmission_error(motor, w_motor, stiffness=k, damping=d, **e)["force"]
        back = transmission_reaction(motor, gear, extra, **e)["torque"]
        error = e["amplitude"] * np.sin(e["order"] * motor + e["phase"])
        rate = e["amplitude"] * e["order"] * np.cos(e["order"] * motor + e["phase"]) * w_motor
        twist, speed = joint - motor - error, w_joint - w_motor - rate
        power = (gear + extra) * (w_joint - w_motor) + back * w_motor
        assert power == pytest.approx(-k * twist * speed - d * speed * speed, rel=1e-9, abs=1e-9)


def test_a_scale_is_off_by_its_harmonic_and_its_slope():
    found = position_error(0.2, amplitude=1e-3, order=2.0, phase=0.1, slope=1e-4)["output"]
    assert found == pytest.approx(0.2 + 1e-3 * np.sin(0.5) + 2e-5, rel=1e-15)


MODELS = {
    "m1": (), "m2": ("stribeck",), "m3": ("load",), "m4": ("stribeck", "load"),
    "m5": ("stribeck", "load", "directional"), "m6": ("stribeck", "load", "directional", "quadratic"),
}  # fmt: skip


def published_level(model, p, motor, external, speed):
    """Friction as the article writes it, one model after the other."""
    parts = MODELS[model]
    share = np.exp(-(np.abs(speed / p["ws"]) ** p["a"]))
    if "load" not in parts:
        return p["b"] + (share * p["s"] if parts else 0.0)
    if "directional" not in parts:
        gear = abs(external - motor)
        level = p["b"] + p["l"] * gear
        return level + share * (p["s"] + p["ls"] * gear) if "stribeck" in parts else level
    level = p["b"] + abs(external * p["le"] - motor * p["lm"])
    level += share * (p["s"] + abs(external * p["les"] - motor * p["lms"]))
    if "quadratic" in parts and np.sign(external) != np.sign(motor):
        if abs(external) < abs(motor):
            level += share * p["qe"] * external**2
        elif abs(external) > abs(motor):
            level += share * p["qm"] * motor**2
    return level


def as_numbers(model, p):
    parts = MODELS[model]
    numbers = {"coulomb": p["b"], "stribeck_velocity": p["ws"], "exponent": p["a"]}
    if "stribeck" in parts:
        numbers["stribeck"] = p["s"]
    if "load" in parts and "directional" not in parts:
        numbers |= {"motor_loss": p["l"], "load_loss": p["l"]}
        numbers |= {"motor_stribeck": p["ls"], "load_stribeck": p["ls"]} if "stribeck" in parts else {}
    if "directional" in parts:
        numbers |= {"motor_loss": p["lm"], "load_loss": p["le"]}
        numbers |= {"motor_stribeck": p["lms"], "load_stribeck": p["les"]}
    if "quadratic" in parts:
        numbers |= {"motor_square": p["qm"], "load_square": p["qe"]}
    return numbers


@pytest.mark.parametrize("model", MODELS)
def test_servo_friction_is_each_of_the_models_m1_to_m6(model):
    rng = np.random.default_rng(4)
    names = ("b", "s", "l", "ls", "lm", "le", "lms", "les", "qm", "qe", "ws", "a")
    for draw in rng.uniform(0.01, 2.0, (40, len(names))):
        p = dict(zip(names, draw, strict=True))
        motor, external, speed = rng.uniform(-5, 5, 3) * rng.integers(0, 2, 3)
        level = servo_friction_level(speed, motor, external, **as_numbers(model, p))
        assert level == pytest.approx(published_level(model, p, motor, external, speed), rel=1e-12, abs=1e-14)
        found = servo_friction(speed, -1.0, motor, -external, viscous=0.3, **as_numbers(model, p))
        assert found["torque"] == pytest.approx(level - 0.3 * speed, rel=1e-12)
        assert found["holding_limit"] == servo_friction_level(0.0, motor, external, **as_numbers(model, p))


def test_a_rotor_in_its_cogging_swings_with_the_frequency_of_its_stiffness():
    body = rd.Body("rotor", inertia=(1e-3, 1e-3, 1e-3), mass=1.0)
    joint = rd.Joint("shaft", "revolute", rd.GROUND, "rotor", axis=(0, 0, 1))
    block = rd.Block("cogging", "cogging_torque", "shaft", parameters={"amplitude": 0.01, "order": 10.0})
    machine = rd.Machine("rotor", rd.Mechanism("rotor", (body,), (joint,)), (block,))
    run = rd.simulate(rd.Scenario("rotor", machine, 1.0, {"shaft.position": 1e-3}))
    # Small swings: w = sqrt(n A / J); what is of second order, (n s)^2 / 16, is 6e-6 of the angle w t.
    at = np.linspace(0, 1, 50)
    np.testing.assert_allclose(run["shaft.position"](at), 1e-3 * np.cos(10.0 * at), atol=2e-7)
