"""Do the estimates recover what made the data, and what the published study of the EPAAS robot found in its own?"""

import numpy as np
import pytest

from robodyn.base.errors import ModelError
from robodyn_studies.hydraulic_estimation import (
    estimate_cylinder,
    estimate_delay,
    estimate_flow_table,
    estimate_resonator,
    predict_resonance,
    refine_cylinder,
)

# The study, section 6.1.4.2: mass [kg], resonance [Hz], relative damping.
MASSES = np.array([2.7, 4.1, 5.1, 7.5, 9.0])
RESONANCES = np.array([79.9, 70.0, 63.0, 53.3, 50.9])
DAMPINGS = np.array([0.238, 0.198, 0.187, 0.196, 0.201])
TRUTH = {"compliance": 1.2e-6, "leakage": 7e-5, "friction": 450.0}
# Section 6.1.4.1: current [A], no-load speed [m/s].
KNOTS = np.array([-0.3, -0.23, -0.0179, -0.0111, -0.0085, 0.0017, 0.194, 0.3])
FLOWS = np.array([-0.62, -0.61, -0.009, 0.0, 0.0, 0.009, 0.71, 0.72])


def values_of(estimate):
    return {name: getattr(estimate, name).value for name in TRUTH}


@pytest.mark.parametrize("mass", [2.7, 9.0])
def test_the_predicted_resonance_is_the_pole_pair_of_oil_mass_and_friction(mass):
    """States speed and force: M v' = F - B v, c F' = -v - k F."""
    c, k, b = TRUTH.values()
    pole = np.linalg.eigvals([[-b / mass, 1 / mass], [-1 / c, -k / c]])[0]
    frequency, damping = predict_resonance(mass, **TRUTH)
    assert frequency == pytest.approx(abs(pole) / (2 * np.pi), rel=1e-12)
    assert damping == pytest.approx(-pole.real / abs(pole), rel=1e-12)


def test_the_compliance_of_the_study_is_the_mean_over_its_masses():
    # Printed with three digits.
    assert estimate_cylinder(MASSES, RESONANCES, DAMPINGS).compliance.value == pytest.approx(1.25e-6, abs=0.005e-6)


def test_leakage_and_friction_of_the_study_follow_from_its_dampings():
    """Least squares of its equations gives both 1.4 % beside its 7.46e-5 and 501, but their product to its digits."""
    found = estimate_cylinder(MASSES, RESONANCES, DAMPINGS)
    assert found.leakage.value == pytest.approx(7.46e-5, rel=0.015)
    assert found.friction.value == pytest.approx(501, rel=0.015)
    # Half a unit of the last digits is 0.07 % of one and 0.1 % of the other.
    assert found.leakage.value * found.friction.value == pytest.approx(7.46e-5 * 501, rel=0.0017)


def test_the_vane_motor_of_the_study_follows_from_one_load():
    found = estimate_cylinder(0.338, 33.0, 0.4, leakage=0.0)
    # Printed with two digits.
    assert found.compliance.value == pytest.approx(69e-6, abs=0.5e-6)
    assert found.friction.value == pytest.approx(56, abs=0.5)
    assert np.isnan(found.friction.error)


def test_the_simple_estimate_is_off_by_the_neglected_product_alone():
    found = estimate_cylinder(MASSES, *predict_resonance(MASSES, **TRUTH))
    grown = 1 + TRUTH["leakage"] * TRUTH["friction"]
    # w^2 grows with 1 + k B, so c shrinks with it; k sqrt(1/c) and B sqrt(c) shrink with its root.
    assert found.compliance.value == pytest.approx(TRUTH["compliance"] / grown, rel=1e-12)
    assert found.leakage.value == pytest.approx(TRUTH["leakage"] / grown, rel=1e-12)
    assert found.friction.value == pytest.approx(TRUTH["friction"], rel=1e-12)
    np.testing.assert_allclose(found.frequency_residuals, 0.0, atol=1e-12 * RESONANCES.max())
    np.testing.assert_allclose(found.damping_residuals, 0.0, atol=1e-12)


@pytest.mark.parametrize("added", [0.0, 0.8])
def test_the_whole_model_recovers_what_made_the_data(added):
    data = predict_resonance(MASSES + added, **TRUTH)
    known = refine_cylinder(MASSES, *data, added_mass=added)
    free = refine_cylinder(MASSES, *data)
    # An added mass of zero is a bound, to which the search comes near to the root of its tolerance, 1e-14.
    for found in (known, free):
        assert values_of(found) == pytest.approx(TRUTH, rel=1e-6)
        assert found.added_mass.value == pytest.approx(added, abs=1e-6)


def test_standard_errors_tell_the_scatter_of_repeated_measurements():
    random = np.random.default_rng(7)
    frequency, damping = predict_resonance(MASSES, **TRUTH)
    found = [
        refine_cylinder(
            MASSES,
            frequency * np.exp(0.02 * random.standard_normal(5)),
            damping * np.exp(0.02 * random.standard_normal(5)),
            added_mass=0.0,
        )
        for _ in range(200)
    ]
    for name in TRUTH:
        estimates = [getattr(one, name) for one in found]
        message = np.sqrt(np.mean([estimate.error**2 for estimate in estimates]))
        # Of 200 draws the scatter itself is known to 5 %; four of these.
        assert np.std([estimate.value for estimate in estimates]) == pytest.approx(message, rel=0.2)


def test_an_added_mass_brings_the_compliance_of_the_study_near_the_one_it_simulates_with():
    """The study had to lower its 1.25e-6 to 1.0e-6 by trial; its frequencies fall slower than with the root of mass."""
    found = refine_cylinder(MASSES, RESONANCES, DAMPINGS)
    assert abs(found.compliance.value - 1.0e-6) < found.compliance.error < abs(found.compliance.value - 1.25e-6)
    simple = estimate_cylinder(MASSES, RESONANCES, DAMPINGS)
    assert np.sum(found.frequency_residuals**2) < 0.1 * np.sum(simple.frequency_residuals**2)


def test_a_resonator_is_found_from_the_peak_of_its_computed_response():
    frequency, damping = 240.0, 0.38
    f = np.linspace(150.0, 250.0, 200_001)
    response = np.abs(1 / (1 - (f / frequency) ** 2 + 2j * damping * f / frequency))
    top = int(np.argmax(response))
    found = estimate_resonator(f[top], response[top])
    # The samples are 0.5 mHz apart; around its top the response is flat.
    assert found.frequency == pytest.approx(frequency, abs=1e-3)
    assert found.damping == pytest.approx(damping, rel=1e-8)


def test_the_valve_of_the_study_has_its_damping_but_a_lower_frequency():
    found = estimate_resonator(169.0, 10 ** (3 / 20))
    assert found.damping == pytest.approx(0.38, abs=0.005)
    assert found.frequency == pytest.approx(201.1, abs=0.05)
    # Its 240 Hz (two digits) come out if the root of 1 - 2 beta^2 is forgotten.
    assert 169.0 / (1 - 2 * found.damping**2) == pytest.approx(240, abs=5)


def test_the_delay_of_the_study_follows_from_one_phase():
    found = estimate_delay(193.0, np.deg2rad(-45.7)).delay
    assert found.value == pytest.approx(0.658e-3, abs=0.0005e-3)
    assert np.isnan(found.error)


def test_a_delay_is_the_line_through_many_phases():
    f = np.linspace(10.0, 300.0, 30)
    noise = 0.01 * np.random.default_rng(3).standard_normal(30)
    found = estimate_delay(f, -2 * np.pi * f * 1.5e-3 + noise)
    assert abs(found.delay.value - 1.5e-3) < 3 * found.delay.error < 1e-5
    # Least squares leave residuals at right angles to the column, to rounding.
    assert found.residuals @ f == pytest.approx(0.0, abs=1e-10 * np.linalg.norm(f))


def test_a_flow_table_is_found_from_its_own_samples():
    current = np.random.default_rng(1).uniform(-0.3, 0.3, 400)
    found = estimate_flow_table(current, np.interp(current, KNOTS, FLOWS), KNOTS)
    np.testing.assert_allclose(found.values, FLOWS, atol=1e-10)
    np.testing.assert_allclose(found.residuals, 0.0, atol=1e-10)


def test_a_flow_table_never_falls_where_noise_does():
    random = np.random.default_rng(2)
    current = random.uniform(-0.3, 0.3, 80)
    speed = np.interp(current, KNOTS, FLOWS) + 0.05 * random.standard_normal(80)
    knots = np.linspace(-0.3, 0.3, 15)
    free = np.linalg.lstsq(np.array([np.interp(current, knots, e) for e in np.eye(15)]).T, speed, rcond=None)[0]
    found = estimate_flow_table(current, speed, knots)
    assert np.any(np.diff(free) < 0)
    assert np.all(np.diff(found.values) >= 0)
    # Twice the noise of 0.05: the bound costs little.
    assert np.sqrt(np.mean(found.residuals**2)) < 0.1


@pytest.mark.parametrize(
    ("call", "complaint"),
    [
        (lambda: estimate_cylinder([5.1], [63.0], [0.187]), "mass: 1 different masses, at least 2"),
        (lambda: estimate_cylinder([5.1, 5.1], [63.0, 62.0], [0.187, 0.19]), "mass: 1 different masses"),
        (lambda: estimate_cylinder([2.7, 5.1], [79.9], [0.2, 0.2]), "2 of mass, 1 of frequency, 2 of damping"),
        (lambda: estimate_cylinder([2.7, -5.1], [79.9, 63.0], [0.2, np.nan]), "mass[1]: must be positive, is -5.1"),
        (lambda: estimate_cylinder([2.7, -5.1], [79.9, 63.0], [0.2, np.nan]), "damping[1]: must be positive, is nan"),
        (lambda: estimate_cylinder(5.1, 63.0, 0.187, leakage=-1.0), "leakage: must be zero or positive"),
        (lambda: refine_cylinder([2.7, 5.1], [79.9, 63.0], [0.2, 0.2]), "at least 3 are needed"),
        (lambda: refine_cylinder([2.7, 5.1], [79.9, 63.0], [0.2, 0.2], added_mass=np.inf), "added_mass: must be zero"),
        (lambda: estimate_resonator(169.0, 0.9), "peak: must exceed 1, is 0.9"),
        (lambda: estimate_resonator(0.0, 2.0), "frequency: must be positive"),
        (lambda: estimate_delay(193.0, 0.8), "phase: leads"),
        (lambda: estimate_delay([1.0, 2.0], [-0.1]), "2 of frequency, 1 of phase"),
        (lambda: estimate_delay([], []), "0 of frequency"),
        (lambda: estimate_flow_table([0.1, 0.2], [1.0, 2.0], [0.3, 0.0]), "knots: must be two or more rising"),
        (lambda: estimate_flow_table([0.1, 0.4], [1.0, 2.0], [0.0, 0.3]), "knots: must span all currents, 0.1 to 0.4"),
        (lambda: estimate_flow_table([0.1, 0.2], [1.0, 2.0], [0.0, 0.1, 0.3]), "knots: 3 are more than"),
        (lambda: estimate_flow_table([[0.1, 0.2]], [[1.0, 2.0]], [0.0, 0.3]), "must be a row of numbers"),
    ],
)
def test_data_that_cannot_tell_are_refused_with_the_reason(call, complaint):
    with pytest.raises(ModelError) as error:
        call()
    assert complaint in str(error.value)
