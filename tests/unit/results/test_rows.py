"""Rows in a run file are as exact as was asked for and read signal by signal; damage is found when they are read."""

import struct
import zipfile
import zlib

import numpy as np
import pytest

from robodyn.computation.results import Probes, Run, RunFileError, SignalInfo, archive, identical, load, rows, save

TOLERANCE = 1e-6


@pytest.fixture
def long_run(make_run):
    """Several blocks of what is hard to predict: steps of any length, jumps, noise, counters, values that are none."""
    rng = np.random.default_rng(5)
    n = 1500
    time = np.cumsum(rng.exponential(1e-3, n) * (rng.random(n) > 0.1))
    signals = {
        "smooth": 1e3 * np.sin(40.0 * time),
        "jumps": np.cumsum(rng.random(n) > 0.99) * np.cos(3.0 * time),
        "noise": 1e-9 * rng.standard_normal(n),
        "grows": np.exp(20.0 * time),
        "counter": np.arange(n) // 7 - 100.0,
        "nothing": np.zeros(n),
        "none": np.where(time > time[-1] / 2, np.nan, 1.0 / 3.0),
        "tiny": np.full(n, 5e-324),
        "again": 1e3 * np.sin(40.0 * time),
    }
    values = np.column_stack(list(signals.values()))
    probes = Probes(time[3::50] + 1e-5, values[3::50] * 1.01, np.abs(values[3::50]) * 1e-6)
    infos = tuple(SignalInfo(name, "m") for name in signals)
    return make_run(time=time, values=values, infos=infos, knots=rng.random(n) > 0.7, probes=probes)


@pytest.fixture(autouse=True)
def short_blocks(monkeypatch):
    monkeypatch.setattr(rows, "LARGEST_BLOCK", 400)


@pytest.fixture
def stored(long_run, tmp_path):
    return save(long_run, tmp_path / "long.run", TOLERANCE)


def test_signals_are_off_by_no_more_than_the_tolerance_of_their_size(long_run, stored):
    read = load(stored)
    assert read.time.tobytes() == long_run.time.tobytes()
    assert np.array_equal(read.knots, long_run.knots)
    for name in long_run:
        exact, values = long_run[name].values, read[name].values
        assert np.array_equal(np.isnan(exact), np.isnan(values))
        # A quarter is left to reading between the rows.
        limit = TOLERANCE / 4.0 * np.nanmax(np.abs(exact))
        assert np.nanmax(np.abs(values - exact)) <= limit, name
        assert read.final[name] == values[-1] or np.isnan(values[-1])
    assert np.array_equal(read["counter"].values, long_run["counter"].values)
    assert identical(load(save(long_run, stored)), long_run)


def test_the_certificate_of_the_file_says_how_far_it_is_off(long_run, stored):
    (check,) = load(stored).certificate.checks[len(long_run.certificate.checks) :]
    assert check.ok
    assert TOLERANCE / 2.0 < check.value <= check.limit == TOLERANCE


def test_errors_are_those_of_the_first_rows_too_where_a_signal_grows(make_single):
    time = np.linspace(0.0, 1.0, 1000)
    # Rounded by what the signal was so far, not by what it will be: 1e-30 at the beginning is kept with its digits.
    run = make_single(time, 10.0 ** np.linspace(-30.0, 0.0, 1000))
    encoder = rows.Encoder(1, TOLERANCE)
    block = encoder.encode(run.time[:400], run.values[:400], np.zeros(400, bool))
    assert encoder.largest[0] == run.values[399, 0]
    assert rows.RowBlock(lambda place, length: block[place : place + length], 0, len(block)).table["quantum"][2] < 1e-22


def test_probes_are_kept_beside_the_rows(long_run, stored):
    probes, read = long_run.probes, load(stored).probes
    assert np.array_equal(read.time, probes.time)
    off, sizes = np.abs(read.values - probes.values), np.abs(probes.values)
    assert np.all(np.nanmax(off, axis=0) <= TOLERANCE * np.nanmax(sizes, axis=0))
    exact = load(save(long_run, stored)).probes
    assert exact.values.tobytes() == probes.values.tobytes()
    assert exact.errors.tobytes() == probes.errors.tobytes()


def read_without_robodyn(data, n_signals):
    """The signals of a block as docs/results.md describes them, with nothing but NumPy and zlib."""
    n, n_columns = struct.unpack_from("<2q", data, 8)
    fields = [("quantum", "<f8"), ("width", "<i8"), ("offset", "<i8"), ("length", "<i8")]
    table = np.frombuffer(data, fields, n_columns, 40)
    base = 40 + 32 * n_columns

    def numbers(k):
        _, width, offset, length = table[k].tolist()
        unpacked = zlib.decompress(data[base + offset : base + offset + length])
        planes = np.frombuffer(unpacked, np.uint8).reshape(width, n)
        return sum((planes[b].astype(np.uint64) << np.uint64(8 * b) for b in range(width)), np.zeros(n, np.uint64))

    def signed(folded):
        return [value // 2 if value % 2 == 0 else -(value + 1) // 2 for value in folded.tolist()]

    knots = numbers(1) > 0
    rest, bits = signed(numbers(0)), [0] * n
    ends = [k for k in range(n) if knots[k]]
    inner = {a + j: (a, j) for a, b in zip(ends, ends[1:], strict=False) if b - a == 4 for j in (1, 2, 3)}
    before = [0, 0]
    for k in range(n):
        if k not in inner:
            bits[k] = rest[k] + 2 * before[1] - before[0]
            before = [before[1], bits[k]]
    time = np.array(bits, np.int64).view(float)
    points = {1: 0.14644660940672624, 2: 0.5, 3: 0.85355339059327376}
    for k, (a, j) in inner.items():
        bits[k] = rest[k] + int((time[a] + points[j] * (time[a + 4] - time[a])).view(np.int64))
    time = np.array(bits, np.int64).view(float)

    columns = []
    for k in range(2, 2 + n_signals):
        folded, quantum = numbers(k), table["quantum"][k]
        if quantum == 0.0:
            columns.append(folded.view(float))
            continue
        left, y, h = iter(signed(folded)), np.zeros(n), 1
        y[0] = next(left)
        while 2 * h < n:
            h *= 2
        while h:
            for i in range(h, n, 2 * h):
                y[i] = np.rint(predict(time, y, i, h)) + next(left)
            h //= 2
        columns.append(y * quantum)
    return time, np.column_stack(columns)


def predict(t, y, i, h):
    a, b = i - h, i + h
    if b >= len(t) or t[b] == t[a]:
        return y[a]
    nodes = [a - 2 * h, a, b, b + 2 * h]
    if nodes[0] >= 0 and nodes[3] < len(t) and t[nodes[0]] < t[a] and t[b] < t[nodes[3]]:
        w = [np.prod([(t[i] - t[k]) / (t[j] - t[k]) for k in nodes if k != j]) for j in nodes]
        if np.sum(np.abs(w)) <= 4.0:
            return (w[1] * y[a] + w[2] * y[b]) + (w[0] * y[nodes[0]] + w[3] * y[nodes[3]])
    share = (t[i] - t[a]) / (t[b] - t[a])
    return (1.0 - share) * y[a] + share * y[b]


def test_a_file_is_read_alike_without_this_library(stored):
    read = load(stored)
    with zipfile.ZipFile(stored) as file:
        parts = [read_without_robodyn(file.read(f"rows/{k:06}"), len(read)) for k in range(4)]
    assert np.concatenate([time for time, _ in parts]).tobytes() == read.time.tobytes()
    assert np.array_equal(np.concatenate([values for _, values in parts]), read.values, equal_nan=True)


def test_only_signals_that_are_asked_for_are_read(stored, monkeypatch):
    read, asked = load(stored), []
    planes = rows.RowBlock.planes
    monkeypatch.setattr(rows.RowBlock, "planes", lambda self, k: asked.append(k) or planes(self, k))
    assert repr(read).startswith("<Run of bounce: 1500 rows of 9 signals")
    assert not asked
    assert np.isfinite(read["noise"](read.time[700]))
    # Times, knots and the third signal.
    assert set(asked) == {0, 1, 4}


def test_damage_to_a_signal_is_found_when_it_is_read(stored):
    data = stored.read_bytes()
    with zipfile.ZipFile(stored) as file:
        place = file.getinfo("rows/000001").header_offset + 900
    stored.write_bytes(data[:place] + bytes([data[place] ^ 0x55]) + data[place + 1 :])
    read = load(stored)
    with pytest.raises(RunFileError, match=r"long\.run: a column is damaged"):
        _ = read.values


def test_a_large_file_is_not_read_as_a_whole_and_must_stay(stored, long_run, monkeypatch):
    monkeypatch.setattr("robodyn.computation.results.store.IN_MEMORY", 0)
    read = load(stored)
    assert isinstance(read, Run)
    assert np.array_equal(read["counter"].values, long_run["counter"].values)
    save(long_run, stored)
    with pytest.raises(RunFileError, match="has been replaced"):
        _ = read["smooth"]


@pytest.mark.parametrize("tolerance", [-1e-6, 0.1, float("nan")])
def test_what_is_no_tolerance_is_refused(run, tmp_path, tolerance):
    with pytest.raises(ValueError, match="tolerance: must be from 0"):
        save(run, tmp_path / "x.run", tolerance)


def test_archives_beyond_four_gigabytes_have_places_for_it(long_run, stored, monkeypatch):
    monkeypatch.setattr(archive, "LARGE", 100)
    assert identical(load(save(long_run, stored)), long_run)
    with zipfile.ZipFile(stored) as file:
        assert file.testzip() is None


def test_a_file_of_the_format_before_is_refused_by_its_number(tmp_path):
    with zipfile.ZipFile(tmp_path / "old.run", "w") as file:
        file.writestr("run.json", '{"format": "robodyn-run", "version": 2}')
    with pytest.raises(RunFileError, match="of run format 2, this version of robodyn reads 3"):
        load(tmp_path / "old.run")
