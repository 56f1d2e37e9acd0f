"""Are peak, oscillation and overshoot those of the closed form, and is what is not there refused?"""

import numpy as np
import pytest

from robodyn import ModelError
from robodyn.analysis.step_response import measure_step
from robodyn.computation.results.signal import Signal

W, B = 300.0, 0.2
ROOT = np.sqrt(1 - B**2)
PERIOD = 2 * np.pi / (W * ROOT)
OVERSHOOT = np.exp(-np.pi * B / ROOT)


def second_order(t):
    """Step response of `y'' = w^2 (1 - y) - 2 b w y'` and its rate; 0 before."""
    t = np.maximum(t, 0.0)
    angle, fade = W * ROOT * t, np.exp(-B * W * t)
    return 1 - fade * (np.cos(angle) + B / ROOT * np.sin(angle)), W / ROOT * fade * np.sin(angle)


def response(n, height=1.0, level=0.0, at=0.0, rates=True, until=0.08):
    """A sampled step response from one level to another."""
    time = np.linspace(0.0, until, n)
    share, rate = second_order(time - at)
    return Signal("y", "V", time, level + height * share, rate_values=height * rate if rates else None)


@pytest.mark.parametrize(("height", "level"), [(1.0, 0.0), (-0.3, 0.2), (5.0, -7.0)])
def test_the_figures_are_those_of_the_closed_form(height, level):
    found = measure_step(response(2001, height, level), start=level, final=level + height)
    # Samples 40 us apart, of an oscillation of 21 ms: the error of cubic pieces is below (h w)^4 / 384 = 5e-11.
    assert found.first_peak == pytest.approx(PERIOD / 2, rel=1e-8)
    assert found.oscillation_time == pytest.approx(PERIOD, rel=1e-8)
    assert found.overshoot == pytest.approx(OVERSHOOT, rel=1e-8)
    assert found.share([0.0, 0.01]) == pytest.approx(second_order(np.array([0.0, 0.01]))[0], abs=1e-9)


def test_times_count_from_the_step():
    found = measure_step(response(2001, at=0.02), at=0.02, final=1.0)
    assert found.first_peak == pytest.approx(PERIOD / 2, rel=1e-6)
    assert found.share(0.01) == pytest.approx(second_order(0.01)[0], abs=1e-6)


def test_peaks_of_cubics_converge_faster_than_peaks_of_parabolas():
    """Errors of a peak's time: third order with rates, second order with samples alone."""
    counts = np.array([61, 121, 241, 481])
    orders = {}
    for rates in (True, False):
        # Averaged over the peak's place between samples.
        errors = [
            np.mean([abs(measure_step(response(n, until=until, rates=rates), final=1.0).first_peak - PERIOD / 2)
                     for until in np.linspace(0.07, 0.09, 41)])
            for n in counts
        ]  # fmt: skip
        orders[rates] = np.log2(np.array(errors[:-1]) / errors[1:])
    assert np.all(orders[True] > 2.8)
    assert np.all(orders[False] > 1.8)


def test_the_last_value_is_the_final_level_unless_another_is_given():
    signal = response(2001)
    assert measure_step(signal).final == signal.final
    assert measure_step(signal, final=2.0).overshoot == pytest.approx((1 + OVERSHOOT) / 2 - 1)


def test_the_highest_peak_tells_the_overshoot_though_it_be_a_later_one():
    time = np.linspace(0, 3, 3001)
    growing = Signal("y", "V", time, 1 - np.exp(0.3 * time) * np.cos(2 * np.pi * time) * 0.5)
    found = measure_step(growing, start=0.0, final=1.0)
    assert found.peaks[1].share > found.peaks[0].share
    assert found.overshoot == found.peaks[-1].share - 1


def test_a_plateau_is_one_peak():
    """A piston that sticks at its highest point, with noise of the last digits, then falls."""
    time = np.linspace(0, 1, 1001)
    noise = 1e-9 * np.random.default_rng(2).standard_normal(1001)
    flat = np.interp(time, [0, 0.2, 0.5, 0.7, 0.9, 1.0], [0, 1.5, 1.5, 0.8, 1.1, 1.0]) + noise
    found = measure_step(Signal("y", "V", time, flat), final=1.0)
    assert len(found.peaks) == 2
    # The earliest of equal ones, within a sample of the plateau's begin.
    assert found.first_peak == pytest.approx(0.2, abs=2e-3)


def test_a_creeping_rise_has_no_peak_and_says_so():
    time = np.linspace(0, 1, 101)
    found = measure_step(Signal("y", "V", time, 1 - np.exp(-3 * time)))
    assert found.share(1.0) == 1.0
    for figure in ("first_peak", "oscillation_time", "overshoot"):
        with pytest.raises(ModelError, match="y: has no peak after the step at 0 s"):
            getattr(found, figure)


def test_one_peak_has_no_oscillation_time():
    found = measure_step(response(501, until=0.9 * PERIOD), final=1.0)
    assert found.overshoot > 0
    with pytest.raises(ModelError, match="one peak alone"):
        _ = found.oscillation_time


def test_equal_levels_are_no_step():
    with pytest.raises(ModelError, match="a step needs two different levels"):
        measure_step(Signal("y", "V", [0.0, 1.0], [2.0, 2.0]))


def test_what_happens_before_the_step_is_left_out():
    time = np.linspace(0, 0.1, 4001)
    values = np.where(time < 0.02, np.sin(1000 * time) * (0.02 - time) * 100, second_order(time - 0.02)[0])
    found = measure_step(Signal("y", "V", time, values), at=0.02, start=0.0, final=1.0)
    assert found.first_peak == pytest.approx(PERIOD / 2, rel=1e-4)


def test_the_value_at_a_jump_is_its_right_limit():
    signal = Signal("y", "V", [0.0, 0.1, 0.1, 0.2, 0.3], [0.0, 5.0, 0.9, 1.2, 1.0])
    found = measure_step(signal, start=0.0, final=1.0)
    assert found.overshoot == pytest.approx(0.2, abs=0.01)


def test_a_step_outside_the_record_is_refused():
    signal = Signal("y", "V", np.array([0.0, 1.0]), np.array([0.0, 1.0]))
    with pytest.raises(ModelError, match="recorded from 0 to 1 s"):
        measure_step(signal, 5.0)
