"""Does friction oppose motion, keep its level, and store no energy of its own?"""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import robodyn as rd
from robodyn.description.laws import info_of
from robodyn.description.laws.friction import (
    coulomb_friction,
    gear_loss,
    lugre_friction,
    stribeck_friction,
    stribeck_level,
    thermal_friction,
    two_way_lugre_friction,
    viscous_friction,
    warm_friction,
)

LEVEL = {"coulomb": 2.0, "static": 3.0, "stribeck_velocity": 0.05, "exponent": 2.0}
LUGRE = {**LEVEL, "stiffness": 1e4, "damping": 20.0, "viscous": 0.4}
SPEEDS = np.linspace(-3, 3, 61)


def smooth_laws():
    return {
        "viscous": lambda w: viscous_friction(w, viscous=0.4)["torque"],
        "coulomb": lambda w: coulomb_friction(w, coulomb=2.0, smoothing_velocity=0.01, viscous=0.4)["torque"],
        "stribeck": lambda w: stribeck_friction(w, **LEVEL, smoothing_velocity=0.01, viscous=0.4)["torque"],
    }


@pytest.mark.parametrize("name", ["viscous", "coulomb", "stribeck"])
def test_friction_opposes_motion_alike_in_both_directions(name):
    torque = smooth_laws()[name]
    assert np.all(torque(SPEEDS[SPEEDS > 0.001]) < 0)
    np.testing.assert_array_equal(torque(-SPEEDS), -torque(SPEEDS))
    assert torque(0.0) == 0


def test_coulomb_friction_reaches_its_level_beyond_the_smoothing_speed():
    # tanh(5) = 0.99991: five smoothing speeds are within 1e-4 of the level.
    assert coulomb_friction(0.05, coulomb=2.0, smoothing_velocity=0.01)["torque"] == pytest.approx(-2.0, rel=1e-4)


def test_stribeck_friction_falls_from_static_to_coulomb():
    assert stribeck_level(0.0, 2.0, 3.0, 0.05, 2.0) == 3.0
    assert stribeck_level(0.05, 2.0, 3.0, 0.05, 2.0) == pytest.approx(2.0 + np.exp(-1))
    assert stribeck_level(10.0, 2.0, 3.0, 0.05, 2.0) == 2.0


def slide(speed, time):
    """Bristles after sliding at a constant speed from rest."""

    def rate(_, z):
        return [lugre_friction(speed, z[0], **LUGRE)["bristle_dot"]]

    return solve_ivp(rate, (0, time), [0.0], method="Radau", rtol=1e-9, atol=1e-15).y[0]


@pytest.mark.parametrize("speed", [-1.0, -0.02, 0.003, 0.05, 2.0])
def test_lugre_slides_steadily_on_the_stribeck_curve(speed):
    # 50 relaxation lengths g = level / stiffness of sliding: what is left of the start is exp(-50).
    bristle = slide(speed, 50 * 3.0 / 1e4 / abs(speed))[-1]
    steady = lugre_friction(speed, bristle, **LUGRE)
    level = stribeck_level(speed, **LEVEL)
    assert steady["torque"] == pytest.approx(-np.sign(speed) * level - 0.4 * speed, rel=1e-6)
    assert steady["bristle_dot"] == pytest.approx(0.0, abs=1e-6 * abs(speed))


def test_lugre_bristles_never_bend_further_than_the_static_level_allows():
    for speed in (0.001, 0.03, 1.0):
        assert np.max(np.abs(slide(speed, 0.5))) <= 3.0 / 1e4 * (1 + 1e-9)


def test_lugre_at_rest_is_a_spring_that_neither_creeps_nor_gives_energy():
    at_rest = lugre_friction(0.0, 1e-4, **LUGRE)
    assert at_rest["bristle_dot"] == 0
    assert at_rest["torque"] == pytest.approx(-1e4 * 1e-4)


def test_lugre_takes_more_energy_than_its_bristles_store():
    """Passivity over a motion to and fro: the work of -torque exceeds the energy kept in the bristles."""

    def rate(t, state):
        speed = 0.1 * np.sin(20 * t)
        found = lugre_friction(speed, state[0], **LUGRE)
        return [found["bristle_dot"], -found["torque"] * speed]

    motion = solve_ivp(rate, (0, 1), [0.0, 0.0], method="LSODA", rtol=1e-8, atol=1e-12, max_step=1e-3)
    stored = 0.5 * 1e4 * motion.y[0] ** 2
    # Both start at zero; the integration is good to about 1e-8.
    assert np.all(motion.y[1] >= stored - 1e-6)
    assert motion.y[1][-1] > 0.1


def test_presliding_friction_returns_the_spring_force_of_small_motion():
    """For |z| far below the break-away deflection, torque = -stiffness times the motion."""
    bristle = slide(1e-6, 1.0)[-1]
    assert bristle == pytest.approx(1e-6, rel=0.01)


BOTH_WAYS = {**LUGRE, "coulomb_back": 1.5, "static_back": 2.2}


def sliding_torque(velocity, **changes):
    """Torque of steady sliding: the bristles where their rate is zero."""
    numbers = BOTH_WAYS | changes
    bristle = 0.0
    for _ in range(50):
        # One Newton step solves z_dot = 0, which is linear in z.
        rate = two_way_lugre_friction(velocity, bristle, **numbers)["bristle_dot"]
        slope = two_way_lugre_friction(velocity, bristle + 1.0, **numbers)["bristle_dot"] - rate
        bristle -= rate / slope
    return two_way_lugre_friction(velocity, bristle, **numbers)["torque"]


def test_two_way_friction_with_equal_levels_is_lugre_friction():
    alike = {**LUGRE, "coulomb_back": LUGRE["coulomb"], "static_back": LUGRE["static"]}
    for velocity in SPEEDS:
        assert two_way_lugre_friction(velocity, 1e-5, **alike) == lugre_friction(velocity, 1e-5, **LUGRE)


@pytest.mark.parametrize(("velocity", "coulomb", "static"), [(0.03, 2.0, 3.0), (-0.03, 1.5, 2.2)])
def test_two_way_friction_slides_at_the_level_of_its_direction(velocity, coulomb, static):
    level = stribeck_level(velocity, coulomb, static, 0.05, 2.0)
    assert sliding_torque(velocity) == pytest.approx(-np.sign(velocity) * level - 0.4 * velocity)


def test_the_level_grows_with_the_load_whatever_its_sign():
    grown = [sliding_torque(1.0, load=load, load_loss=0.05) - sliding_torque(1.0) for load in (-40.0, 40.0)]
    assert grown == pytest.approx([-2.0, -2.0])


def test_the_rate_of_the_bristles_does_not_jump_where_the_direction_changes():
    sides = [two_way_lugre_friction(w, 1e-4, **BOTH_WAYS)["bristle_dot"] for w in (-1e-12, 1e-12)]
    # |w| z / g: the difference of levels counts with |w|.
    assert sides[0] == pytest.approx(sides[1], abs=1e-11)


def test_gear_loss_takes_its_share_of_the_load():
    assert gear_loss(1.0, -30.0, load_loss=0.1, smoothing_velocity=0.01)["torque"] == pytest.approx(-3.0)
    assert gear_loss(-1.0, -30.0, load_loss=0.1, smoothing_velocity=0.01)["torque"] == pytest.approx(3.0)


def test_warm_friction_settles_where_its_losses_keep_it_warm():
    """At a constant speed p = Tc |w| + B exp(-p / ps) w^2, whichever the way, after many time constants."""
    numbers = {"coulomb": 2.0, "viscous": 5.0, "smoothing_velocity": 1e-3, "softening": 8.0, "time_constant": 0.5}
    for speed in (-1.5, 1.5):

        def warm(_, p, speed=speed):
            return [warm_friction(speed, p[0], **numbers)["warmth_dot"]]

        warming = solve_ivp(warm, (0, 15), [0.0], rtol=1e-9)
        p = warming.y[0, -1]
        # 30 time constants: exp(-30) is rounding, rtol is 1e-9.
        assert p == pytest.approx(2.0 * 1.5 + 5.0 * np.exp(-p / 8.0) * 1.5**2, rel=1e-7)
        assert warm_friction(speed, p, **numbers)["torque"] * speed == pytest.approx(-p, rel=1e-7)
    assert warm_friction(0.0, 4.0, **numbers) == {"torque": 0.0, "warmth_dot": -8.0}


def test_friction_at_a_temperature_is_its_levels_along_straight_lines():
    levels = {"coulomb": 2.0, "viscous": 5.0, "coulomb_slope": -0.01, "viscous_slope": -0.1}
    numbers = levels | {"reference": 293.0, "smoothing_velocity": 1e-3}
    for speed in (-1.5, 1.5):
        cold = thermal_friction(speed, 293.0, **numbers)["torque"]
        assert cold == pytest.approx(-(2.0 * np.sign(speed) + 5.0 * speed), rel=1e-12)
        warm = thermal_friction(speed, 313.0, **numbers)["torque"]
        assert warm == pytest.approx(-(1.8 * np.sign(speed) + 3.0 * speed), rel=1e-12)


def test_friction_that_is_negative_at_its_temperature_is_suspect_for_that_reason():
    """No shorter step helps a law that pushes: 2 N - 0.2 N/K 20 K."""
    slide = rd.Joint("slide", "prismatic", "ground", "cart", axis=(1, 0, 0))
    mechanism = rd.Mechanism("m", [rd.Body("cart", 1.0)], [slide])
    numbers = {"coulomb": 2.0, "coulomb_slope": -0.2, "reference": 293.0, "smoothing_velocity": 1e-2}
    numbers |= {"viscous": 0.0, "viscous_slope": 0.0}
    warm = rd.Block("warm", "constant_reference", parameters={"constant": 313.0}, unit="K")
    friction = rd.Block("rub", "thermal_friction", on="slide", inputs={"temperature": "warm.value"}, parameters=numbers)
    scenario = rd.Scenario("s", rd.Machine("m", mechanism, [warm, friction]), 0.1, {"slide.velocity": 1.0})
    run = rd.simulate(scenario)
    assert run["slide.velocity"].values[-1] == pytest.approx(1.2, rel=1e-6)
    assert run.outcome.kind.name == "SUSPECT"
    (violated,) = run.certificate.violated
    assert violated.remedy == info_of(thermal_friction).gives
