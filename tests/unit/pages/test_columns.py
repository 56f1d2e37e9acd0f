"""Do the numbers in a page stand for those of the run?"""

import base64

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robodyn.computation.results import Outcome, OutcomeKind, Provenance, Run, SignalInfo
from robodyn.presentation.pages.contents import MOST_ROWS, encode_columns, thin_rows


def decode(column, n):
    if column["type"] == "constant":
        return np.full(n, column["data"])
    return np.frombuffer(base64.b64decode(column["data"]), "<" + column["type"]).astype(float)


def encode(*columns):
    """A run of the given columns as the page gets it."""
    n = len(columns[0])
    infos = [SignalInfo(f"x{k}", "m") for k in range(len(columns))]
    outcome = Outcome(OutcomeKind.FINISHED, "done", 1.0)
    return encode_columns(Run(np.arange(n) / n, np.column_stack(columns), infos, outcome, Provenance("numbers")))


def test_a_short_run_keeps_every_row():
    time, values = np.arange(100.0), np.random.default_rng(1).normal(size=(100, 2))
    thin_time, thin_values = thin_rows(time, values)
    assert thin_time is time
    assert thin_values is values


@given(n=st.integers(50, 400), most=st.integers(10, 49), seed=st.integers(0, 2**16))
def test_thinned_rows_keep_ends_extremes_and_order(n, most, seed):
    random = np.random.default_rng(seed)
    time, values = np.sort(random.uniform(size=n)), random.normal(size=(n, 3))
    thin_time, thin_values = thin_rows(time, values, most)
    assert thin_time.size <= most
    assert np.all(np.diff(thin_time) >= 0)
    assert np.array_equal(thin_values[[0, -1]], values[[0, -1]])
    assert np.array_equal(thin_values.min(axis=0), values.min(axis=0))
    assert np.array_equal(thin_values.max(axis=0), values.max(axis=0))
    assert np.isin(thin_values, values).all()


def test_a_rising_signal_is_thinned_without_any_error():
    time = np.linspace(0.0, 1.0, 1000)
    thin_time, thin_values = thin_rows(time, np.column_stack([time**3, -time]), 100)
    assert np.array_equal(thin_values, np.column_stack([thin_time**3, -thin_time]))


def test_an_extreme_moves_by_less_than_a_group():
    time = np.linspace(0.0, 1.0, 1001)
    values = np.zeros((1001, 1))
    values[437] = 1.0
    thin_time, thin_values = thin_rows(time, values, 102)
    # 50 groups of 20 rows a millisecond apart.
    assert abs(thin_time[np.argmax(thin_values)] - time[437]) < 0.021


def test_values_that_are_no_numbers_do_not_hide_extremes():
    values = np.sin(np.linspace(0.0, 20.0, 500))[:, None]
    highest = values.max()
    values[100:200] = np.nan
    _, thin = thin_rows(np.arange(500.0), values, 60)
    assert np.nanmax(thin) == np.nanmax(values) <= highest
    assert np.isnan(thin).any()


def test_a_long_run_says_how_many_rows_were_left_out():
    message = encode(np.sin(np.arange(3.0 * MOST_ROWS)))
    assert message["rows"] == 3 * MOST_ROWS
    assert message["kept"] <= MOST_ROWS
    assert decode(message["signals"][0], 0).size == message["kept"]


def test_a_constant_is_one_number():
    (column,) = encode(np.full(50, 0.1))["signals"]
    assert (column["type"], column["data"]) == ("constant", 0.1)


@pytest.mark.parametrize("offset", [0.0, 1e3, 1e6, 1e9])
def test_a_small_change_on_a_large_value_is_not_blurred(offset):
    values = offset + 1e-3 * np.sin(np.arange(100.0))
    (column,) = encode(values)["signals"]
    # A millionth of the range is what the encoding promises.
    assert np.abs(decode(column, 100) - values).max() <= 1e-6 * np.ptp(values)


def test_numbers_too_large_for_single_precision_stay_finite():
    (column,) = encode(np.array([1e300, -1e300, 0.0]))["signals"]
    assert decode(column, 3).tolist() == [1e300, -1e300, 0.0]


def test_what_is_no_number_stays_none():
    (column,) = encode(np.array([np.nan, np.inf, -np.inf, 1.0]))["signals"]
    assert np.array_equal(decode(column, 4), [np.nan, np.inf, -np.inf, 1.0], equal_nan=True)
