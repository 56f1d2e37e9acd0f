"""Two runs differ where their signals do, and nowhere else."""

import numpy as np
import pytest

from robodyn.computation.results import SignalInfo, compare, identical


def test_a_run_does_not_differ_from_itself(make_run, run):
    finite = make_run(values=np.nan_to_num(run.values, posinf=1.0))
    comparison = compare(finite, finite)
    assert [d.name for d in comparison] == list(run.names)
    assert all(d.max_abs == 0 and d.rms == 0 for d in comparison)


def test_a_constant_offset_is_the_largest_and_the_mean_difference(make_single):
    time = np.linspace(0.0, 1.0, 11)
    (found,) = compare(make_single(time, time), make_single(time, time + 0.5))
    assert found.max_abs == pytest.approx(0.5, rel=1e-15)
    assert found.rms == pytest.approx(0.5, rel=1e-15)
    assert found.scale == pytest.approx(1.5, rel=1e-15)
    assert found.relative == pytest.approx(1 / 3, rel=1e-15)


def test_the_mean_is_over_time_and_not_over_samples(make_single):
    # The difference is 1 in the first tenth of the time, which has nine tenths of the samples.
    time = np.array([*np.linspace(0.0, 0.1, 91), 0.1, *np.linspace(0.2, 1.0, 10)])
    apart = np.where(np.arange(time.size) < 91, 1.0, 0.0)
    (found,) = compare(make_single(time, apart), make_single(time, np.zeros(time.size)))
    assert found.rms == pytest.approx(np.sqrt(0.1), rel=1e-12)


def test_runs_are_compared_where_both_have_numbers_at_the_samples_of_both(make_single):
    coarse = make_single(np.array([0.0, 2.0]), np.array([0.0, 0.0]))
    spike = make_single(np.array([0.5, 1.0, 1.5, 3.0]), np.array([0.0, 4.0, 0.0, 90.0]))
    comparison = compare(coarse, spike)
    assert comparison.span == (0.5, 2.0)
    assert comparison["x"].at_time == 2.0
    assert comparison["x"].max_abs == pytest.approx(30.0, rel=1e-15)


@pytest.mark.parametrize("kind", ["continuous", "held"])
def test_a_jump_located_to_rounding_is_no_difference(make_single, kind):
    info = SignalInfo("x", "m", kind)
    levels = np.array([0.0, 0.0, 1.0, 1.0])
    first = make_single(np.array([0.0, 0.3, 0.3, 1.0]), levels, info)
    second = make_single(np.array([0.0, 0.1 + 0.2, 0.1 + 0.2, 1.0]), levels, info)
    assert compare(first, second)["x"].max_abs == 0.0


def test_a_jump_at_another_time_is_a_difference(make_single):
    levels = np.array([0.0, 0.0, 1.0, 1.0])
    first = make_single(np.array([0.0, 0.3, 0.3, 1.0]), levels)
    second = make_single(np.array([0.0, 0.4, 0.4, 1.0]), levels)
    found = compare(first, second)["x"]
    assert found.max_abs == 1.0
    assert 0.3 < found.at_time < 0.4


def test_a_value_that_is_no_number_shows(make_single):
    time = np.array([0.0, 1.0, 2.0])
    (found,) = compare(make_single(time, time), make_single(time, np.array([0.0, np.nan, 2.0])))
    assert np.isnan(found.max_abs)


def test_names_only_one_run_has_are_listed(make_single, run):
    other = make_single(np.array([0.0, 2.0]), np.array([0.0, 0.0]), SignalInfo("ball.position", "m"))
    comparison = compare(run, other)
    assert len(comparison) == 1
    assert comparison.only_in_first == ("ball.velocity", "drive.force_cmd", "sensor.reading")
    assert comparison.only_in_second == ()


def test_different_units_are_not_compared(make_single):
    time = np.array([0.0, 1.0])
    with pytest.raises(ValueError, match="'m' and 'mm'"):
        compare(make_single(time, time), make_single(time, time, SignalInfo("x", "mm")))


def test_runs_without_common_time_are_not_compared(make_single):
    with pytest.raises(ValueError, match="do not overlap in time"):
        compare(make_single(np.array([0.0, 1.0]), np.zeros(2)), make_single(np.array([2.0, 3.0]), np.zeros(2)))


def test_identical_runs_may_differ_in_cost_but_not_in_one_bit(make_run, run):
    assert identical(run, make_run(statistics=type(run.statistics)(steps=1)))
    values = run.values.copy()
    values[0, 0] = np.nextafter(values[0, 0], 2.0)
    assert not identical(run, make_run(values=values))
