"""Do the numbers in a page stand for those of the run?"""

import base64
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robodyn.computation.results import Outcome, OutcomeKind, Provenance, Run, SignalInfo
from robodyn.presentation.pages.contents import MOST_ROWS, ColumnStore, encode_columns, thin_rows


def decode(column, n, packed):
    """What the page's script does."""
    if column["type"] == "constant":
        return np.full(n, column["data"])
    width = 8 if column["type"] == "f8" else column["width"]
    planes = np.frombuffer(packed, "u1", width * n, column["data"]).reshape(width, n)
    numbers = np.zeros((n, 8), "u1")
    numbers[:, :width] = planes.T
    folded = numbers.view("<u8").ravel()
    if column["type"] == "f8":
        return np.bitwise_xor.accumulate(folded).view("<f8")
    steps = (folded >> 1).astype(np.int64) ^ -(folded & 1).astype(np.int64)
    for _ in range(column["order"]):
        steps = np.cumsum(steps)
    return steps * column["step"]


def encode(*columns):
    """A run of the given columns as the page gets it, and a function that reads one of them."""
    n = len(columns[0])
    infos = [SignalInfo(f"x{k}", "m") for k in range(len(columns))]
    outcome = Outcome(OutcomeKind.FINISHED, "done", 1.0)
    store = ColumnStore()
    run = Run(np.arange(n) / n, np.column_stack(columns), infos, outcome, Provenance("numbers"))
    message = encode_columns(run, store)
    packed = zlib.decompress(base64.b64decode(store.encode()))
    return message, lambda column: decode(column, message["kept"], packed)


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
    message, read = encode(np.sin(np.arange(3.0 * MOST_ROWS)))
    assert message["rows"] == 3 * MOST_ROWS
    assert message["kept"] <= MOST_ROWS
    assert np.ptp(read(message["signals"][0])) == pytest.approx(2.0, rel=2e-6)


def test_a_constant_is_one_number():
    (column,) = encode(np.full(50, 0.1))[0]["signals"]
    assert (column["type"], column["data"]) == ("constant", 0.1)


@pytest.mark.parametrize("offset", [0.0, 1e3, 1e6, 1e9])
def test_a_small_change_on_a_large_value_is_not_blurred(offset):
    values = offset + 1e-3 * np.sin(np.arange(100.0))
    message, read = encode(values)
    # A millionth of the range is what the page promises, and the last bit of large numbers.
    error = np.abs(read(message["signals"][0]) - values).max()
    assert error <= 1e-6 * np.ptp(values) + np.spacing(offset)


def test_a_peak_does_not_blur_the_rest():
    values = np.sin(np.arange(1000.0))
    values[500] = 1e6
    message, read = encode(values)
    assert np.abs(read(message["signals"][0]) - values).max() <= 1e-6 * 2


def test_times_and_odd_numbers_are_kept_to_the_last_bit():
    values = np.array([1e300, -1e300, 0.0, 1.0, np.nan, np.inf])
    message, read = encode(values)
    assert np.array_equal(read(message["signals"][0]), values, equal_nan=True)
    assert np.array_equal(read(message["time"]), np.arange(6) / 6)


def test_a_smooth_signal_takes_a_quarter_of_its_bytes():
    store = ColumnStore()
    store.put(np.sin(np.linspace(0, 20, 10_000)))
    assert len(store.encode()) < 2 * 10_000


def test_a_signal_that_mostly_rests_keeps_its_steps():
    values = np.zeros(1000)
    values[10:20] = 0.3
    message, read = encode(values)
    assert np.array_equal(read(message["signals"][0]), values)


def test_columns_that_differ_by_their_scale_are_stored_once():
    values = np.sin(np.arange(1000.0))
    store = ColumnStore()
    current, torque = store.put(values), store.put(-0.05 * values)
    assert (torque["data"], torque["step"]) == (current["data"], pytest.approx(-0.05 * current["step"]))
