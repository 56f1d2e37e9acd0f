"""Numbers by which a run is judged are those of their formulas: between rows, measures, checks of what was watched."""

from types import SimpleNamespace

import numpy as np
import pytest

from robodyn.computation.engine.slices import CheckForm, CheckTable, RowReading, WatchedCheck, take_measure

UNIT_PART, ROUNDING, SOLVER_PART = 0.02, 1e-9, 4.0
"""Of another output of the same unit that counts as size; of numbers; of a step's error that reading need not beat."""


def read_errors(y, probes, knots=None, units=None, rates=None, degrees=None, share=1.0, time=None, step_errors=None):
    """Errors of outputs (rows, n) between rows where they are known to be something else at probes {t: values}."""
    y = np.asarray(y, float)
    n = y.shape[1]
    time = np.arange(len(y), dtype=float) if time is None else np.asarray(time, float)
    reading = RowReading(units or [1] * n, rates or [-1] * n, degrees or [0] * n)
    values = np.array(list(probes.values()), float)
    steps = np.zeros_like(values) if step_errors is None else np.asarray(step_errors, float)
    return reading.errors(time, y, np.zeros(len(y)) if knots is None else knots, (list(probes), values, steps), share)


def quintic(t):
    return 1.0 + t * (2.0 - t * (0.3 + t * (0.1 - t * (0.02 + 0.001 * t))))


def size_of(y):
    return (1 + UNIT_PART) * np.max(np.abs(y)) + ROUNDING


@pytest.mark.parametrize("place", [0.3, 1.5, 4.9, 7.5, 8.9])
def test_six_rows_make_a_polynomial_of_fifth_degree(place):
    time = np.array([0.0, 1.0, 2.5, 3.0, 4.2, 5.0, 6.0, 7.3, 8.0, 9.0])
    y = quintic(time)[:, None]
    assert read_errors(y, {place: [quintic(place)]}, time=time)[0] < 1e-13
    off = read_errors(y, {place: [quintic(place) + 0.25]}, time=time)[0]
    assert off == pytest.approx(0.25 / size_of(y), rel=1e-9)


def test_of_more_rows_those_around_the_place_count():
    # t^6 is not read exactly: what is missed is the product of the distances to the six rows nearest to the place.
    time = np.arange(12.0)
    y = time[:, None] ** 6
    for place, first in ((5.5, 3), (0.5, 0), (10.5, 6), (2.5, 0), (8.5, 6), (7.5, 5)):
        missed = abs(np.prod(place - time[first : first + 6]))
        assert read_errors(y, {place: [place**6]})[0] == pytest.approx(missed / size_of(y), rel=1e-6)


@pytest.mark.parametrize("ends", ["knot", "jump"])
def test_no_polynomial_reaches_across_a_knot_or_a_jump(ends):
    time = np.array([0.0, 1.0, 2.0, 3.0, 4.0, 4.0 if ends == "jump" else 5.0, 6.0, 7.0, 8.0, 9.0, 10.0])
    before, after = quintic(time[:5]) - 3.0, np.full(6, 2.0)
    knots = np.zeros(11)
    knots[4] = ends == "knot"
    y = np.concatenate([before, after])
    # Five rows on the left: a quartic, off by the fifth degree's product; a constant on the right.
    missed = 0.001 * abs(np.prod(2.5 - time[:5]))
    found = read_errors(y[:, None], {2.5: [quintic(2.5) - 3.0]}, knots, time=time)[0]
    assert found == pytest.approx(missed / size_of(y), rel=1e-6)
    assert read_errors(y[:, None], {8.5: [2.0]}, knots, time=time)[0] == 0.0
    if ends == "knot":
        # Two rows between the knot and the next row, which belongs to the constant: both sides of it are straight.
        y[4] = 1.0
        assert read_errors(y[:, None], {4.5: [1.5]}, [0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0], time=time)[0] < 1e-15


def test_with_few_rows_and_their_rates_it_is_a_cubic():
    def cubic(t):
        return np.array([1.0 + t * (2.0 + t * (3.0 - 0.7 * t)), 2.0 + t * (6.0 - 2.1 * t)])

    time = np.array([0.5, 1.2])
    y = np.array([cubic(t) for t in time])
    # The first output is read by its rate, which is the second and read by a straight line itself.
    for place in (0.6, 0.85, 1.1):
        errors = read_errors(y, {place: cubic(place)}, rates=[1, -1], units=[1, 2], time=time)
        assert errors[0] < 1e-15
        s = (place - 0.5) / 0.7
        straight = abs((1 - s) * y[0, 1] + s * y[1, 1] - cubic(place)[1])
        assert errors[1] == pytest.approx(straight / size_of(y[:, 1]), rel=1e-9)


def test_size_is_that_of_the_output_and_a_part_of_the_largest_of_its_unit():
    y = np.array([[1.0, -20.0, 3.0, 0.5]] * 3)
    errors = read_errors(y, {0.5: [1.1, -20.1, 3.1, 0.6]}, units=[1, 1, 2, 0])
    expected = 0.1 / (np.array([1.0 + 0.4, 20.4, 3.06, 0.5 + 0.02]) + ROUNDING)
    # Numbers without a unit are about 1.
    np.testing.assert_allclose(errors, expected, rtol=1e-9)
    assert read_errors(y, {0.5: [5.0] * 4}, units=[-1] * 4).tolist() == [0.0] * 4, "what is held is not read between"


def test_the_error_of_the_step_is_no_error_of_reading():
    y = np.full((3, 1), 2.0)
    size = size_of(y)
    found = [read_errors(y, {0.5: [2.5]}, step_errors=[[error]])[0] for error in (0.0, 0.1, 0.125, 1.0)]
    assert found == pytest.approx([0.5 / size, 0.1 / size, 0.0, 0.0], abs=1e-15)


def test_a_share_of_the_probes_may_be_further_off():
    y, off = np.full((12, 1), 2.0), {k + 0.5: [2.0 + (k + 1) / 100] for k in range(11)}
    worst = [read_errors(y, off, share=share)[0] * size_of(y) * 100 for share in (1.0, 0.95, 0.5, 0.0)]
    assert worst == pytest.approx([11.0, 10.0, 6.0, 1.0])
    # Outside of the record, and between rows that close in on a jump, there is nothing to read.
    time = [0.0, 1.0, 1.0 + 1e-7, 2.0]
    outside = {-0.1: [9.0], 2.0: [9.0], 1.0 + 5e-8: [9.0], 0.5: [2.0]}
    assert read_errors(y[:4], outside, time=time)[0] == 0.0


def test_rounding_of_a_rate_grows_as_the_run_is_short():
    y, time = np.zeros((3, 1)), np.array([0.0, 0.005, 0.01])
    for degree, rounding in ((0, 1e-9), (1, 1e-7), (2, 1e-5)):
        found = read_errors(y, {0.0025: [1e-8]}, time=time, degrees=[degree])[0]
        assert found == pytest.approx(1e-8 / rounding, rel=1e-9)
    # Shorter than 1 ms counts as that, longer than 1 s as 1 s.
    for end, rounding in ((1e-5, 1e-6), (50.0, 1e-9)):
        found = read_errors(y, {end / 4: [1e-8]}, time=[0.0, end / 2, end], degrees=[1])[0]
        assert found == pytest.approx(1e-8 / rounding, rel=1e-9)


def test_measures_are_those_of_values_joined_by_straight_lines():
    time, y = np.array([1.0, 2.0, 2.0, 4.0]), np.array([0.0, 3.0, -5.0, 1.0])
    # Mean: 3/2, then -2 over 2 s; mean square: 3, then (25 - 5 + 1) / 3 over 2 s.
    expected = {
        "peak": 5.0, "rms": np.sqrt((3.0 + 14.0) / 3.0), "mean": (1.5 - 4.0) / 3.0, "final": 1.0, "max": 3.0,
        "min": -5.0, "time_of_peak": 2.0,
    }  # fmt: skip
    assert {kind: take_measure(kind, time, y) for kind in expected} == pytest.approx(expected, rel=1e-15)
    one = {kind: take_measure(kind, np.array([3.0]), np.array([-2.0])) for kind in expected}
    assert one == {
        "peak": 2.0, "rms": 2.0, "mean": -2.0, "final": -2.0, "max": -2.0, "min": -2.0, "time_of_peak": 3.0,
    }  # fmt: skip
    # The first of equal ones; what is not a number comes before all.
    assert take_measure("time_of_peak", np.arange(3.0), np.array([1.0, -2.0, 2.0])) == 1.0
    gap = np.array([1.0, np.nan, 5.0])
    assert [take_measure(kind, np.arange(3.0), gap) for kind in ("max", "min", "peak")] == pytest.approx(
        [np.nan] * 3, nan_ok=True
    )


FIRST, SMALLEST, SMALLEST_AT, LARGEST, LARGEST_AT = range(5)


def judge(checks, rows, duration=2.0, atol=1e-6, longest=0.1):
    """Value, limit and time of checks; rows: {name: (first, smallest, at, largest, at)} in their order."""
    extremes = np.array([[*row, np.nan] for row in rows], float)
    seen = SimpleNamespace(extremes=extremes, counters=SimpleNamespace(largest_step=longest))
    return CheckTable(checks).values(seen, duration, atol)


STILL = (0.0, 0.0, 0.0, 0.0, 0.0)
BALANCE = WatchedCheck(CheckForm.BALANCE, 0, 0, True, 0.01)


@pytest.mark.parametrize(("least", "most", "change", "at"), [(9.0, 10.5, 1.0, 0.3), (9.9, 12.0, 2.0, 0.7)])
def test_energy_balance_is_a_part_of_the_energy_that_moved(least, most, change, at):
    """Kinetic up to 4 J, potential 5 J above or 6 J below its first, 30 W passed on for a step of 0.1 s: 13 J."""
    energy = (10.0, least, 0.3, most, 0.7)
    kinetic, passing = (0.0, 0.0, 0.0, 4.0, 1.0), (0.0, 0.0, 0.0, 30.0, 1.0)
    potential, effort = (100.0, 94.0, 0.0, 105.0, 0.0), (0.0, 0.0, 0.0, 2.0, 0.0)
    found = judge([BALANCE], [energy, kinetic, potential, passing, effort])
    assert found == [pytest.approx([change / 13.0, 0.01, at])]
    # 50 N over 1e4 times what the tolerance does not see, 1e-6 m each: 0.5 J; over 1e-3 m: 500 J.
    effort = (0.0, 0.0, 0.0, 50.0, 0.0)
    assert judge([BALANCE], [energy, kinetic, potential, passing, effort])[0][0] == pytest.approx(change / 13.0)
    found = judge([BALANCE], [energy, kinetic, potential, passing, effort], atol=1e-3)
    assert found[0][0] == pytest.approx(change / 500.0)


def test_at_rest_energy_is_measured_by_the_last_digits_of_the_potential_one():
    potential = (-2e6, -2e6, 0.0, -2e6, 0.0)
    energy = (-2e6, -2e6, 0.0, -2e6 + 1e-6, 0.4)
    found = judge([BALANCE], [energy, STILL, potential, STILL, STILL])
    # 1e-9 of 2e6 J; the sum of 2e6 and 1e-6 has ten digits of 1e-6.
    assert found[0][0] == pytest.approx(1e-6 / 2e-3, rel=1e-3)
    nothing = judge([BALANCE], [(1.0, 0.5, 0.1, 1.2, 0.2), *[STILL] * 4])
    assert nothing[0][:1] == pytest.approx([0.5]), "without any energy it is the change itself"


def test_constraints_may_be_off_by_twice_what_they_were_at_the_start():
    def limit(first, size):
        closed = WatchedCheck(CheckForm.CLOSED, 0, 1, False, 1e-3)
        return judge([closed], [(first, 0.0, 0.0, 0.02, 1.5), (0.0, 0.0, 0.0, size, 0.0)])[0]

    assert limit(0.0, 3.0) == pytest.approx([0.02, 3e-3, 1.5])
    assert limit(0.01, 3.0) == pytest.approx([0.02, 0.02, 1.5])


def test_what_creeps_by_less_than_the_tolerance_gives_nothing():
    """All rows show 5 N that hold: at 1e-7 m/s, the tolerance, their 0.5 uW are what is allowed and no more."""
    effort, held = (5.0, 5.0, 0.0, 5.0, 0.0), (0.0, 0.0, 0.0, 1e-9, 0.0)
    passive = WatchedCheck(CheckForm.PASSIVE, 5, 6, True, 1e-6)
    for power, found in ((4.5e-7, 0.9e-6), (5.5e-7, 1.1e-6)):
        rows = [STILL, STILL, STILL, STILL, effort, (0.0, 0.0, 0.0, power, 0.9), held]
        assert judge([BALANCE, passive], rows, atol=1e-7)[1][:2] == pytest.approx([found, 1e-6])


def test_passive_parts_are_judged_by_power_and_other_invariants_by_their_size():
    energy, kinetic = (0.0, 0.0, 0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 8.0, 0.0)
    power, largest = (-1.0, -1.0, 0.0, 0.5, 0.9), (0.0, 0.0, 0.0, 2.0, 0.0)
    rows = [energy, kinetic, STILL, STILL, STILL, power, largest, STILL, (-2.0, -2.0, 0.0, -1.0, 0.9)]
    forms = (CheckForm.PASSIVE, 5, 6, True), (CheckForm.PASSIVE, 5, 7, True), (CheckForm.INVARIANT, 5, 6, True)
    forms += (CheckForm.INVARIANT, 5, 7, True), (CheckForm.INVARIANT, 5, 6, False), (CheckForm.INVARIANT, 8, 6, True)
    checks = [BALANCE, *(WatchedCheck(*form, 1e-6) for form in forms)]
    found = [value for value, *_ in judge(checks, rows)[1:]]
    # Without a power of its own, by a thousandth of 8 J in 2 s; what is below 0 violates nothing.
    assert found == pytest.approx([0.25, 0.5 / 4e-3, 0.25, 0.5, 0.5, 0.0])
    # In no time there is no power to compare with; at the least that of a force and a speed of the tolerance.
    assert judge(checks, rows, duration=0.0)[2][0] == 0.5
    still = [STILL, STILL, STILL, STILL, STILL, power, STILL]
    assert judge([BALANCE, WatchedCheck(CheckForm.PASSIVE, 5, 6, True, 1e-6)], still)[1][0] == pytest.approx(
        0.5 / 1e-12
    )
