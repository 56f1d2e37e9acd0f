"""Are logs read as they are: any separator, comma decimals, units, mappings, bags, and is what is wrong said by row?"""

import numpy as np
import pytest

from robodyn.analysis.measurement.data_sheet import assess_clock
from robodyn.base.errors import ModelError
from robodyn.description.files.samples import read_clocks, read_mapping, read_samples
from robodyn.description.files.samples.reading import even_times


def write(tmp_path, text, name="log.csv", encoding="utf-8"):
    path = tmp_path / name
    path.write_text(text, encoding=encoding)
    return path


def read(tmp_path, text, mapping=""):
    return read_samples(write(tmp_path, text), read_mapping(write(tmp_path, mapping, "map.toml")))


def refuse(tmp_path, text, mapping=""):
    with pytest.raises(ModelError) as caught:
        read(tmp_path, text, mapping)
    return str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "Zeit (ms);q [°];mode\n0;90,5;AUTO\n1;;AUTO\n",
        "t [ms]\tq\tmode\nms\tdeg\t\n0\t90.5\tx\n1\t\ty\n",
        "time [ms],q [deg],mode\n0,90.5,a\n1,nan,b\n",
        '"time [ms]","q [deg]","mode"\n"0","90.5","a,b"\n"1","","c"\n',
    ],
)
def test_tables_of_many_countries_are_the_same_numbers(tmp_path, text):
    data = read_samples(write(tmp_path, text))
    np.testing.assert_allclose(data.time, [0.0, 1e-3])
    np.testing.assert_allclose(data.values, [[np.radians(90.5)], [np.nan]])
    assert (data.names, data.units) == (("q",), ("rad",))
    assert any("mode" in note for note in data.notes)


def test_windows_text_and_tables_without_headings_are_read(tmp_path):
    path = write(tmp_path, "time,q [°]\n0,180\n", encoding="cp1252")
    assert read_samples(path).values[0, 0] == pytest.approx(np.pi)
    mapping = '[time]\nrate = "2 kHz"\n[signals.u]\ncolumn = 2\nunit = "mm"'
    data = read(tmp_path, " 1.0   2.0\n 3.0   4.0\n", mapping)
    np.testing.assert_allclose(data.time, [0.0, 5e-4])
    np.testing.assert_allclose(data.values[:, 0], [2e-3, 4e-3])


MAPPING = """
[time]
from_first = true
[signals."elbow.position"]
column = "counts"
unit = "deg"
sign = -1
offset = 10
gear = 2
[signals."elbow.torque"]
column = "current"
unit = "A"
factor = "0.5 N m/A"
gear = 2
delay = "1 s"
limit = "9 A"
"""


def test_a_mapping_applies_unit_sign_offset_gear_factor_delay_and_limit(tmp_path):
    data = read(tmp_path, "time,counts,current\n5,10,1\n6,28,3\n7,10,9.5\n", MAPPING)
    np.testing.assert_allclose(data.time, [0, 1, 2])
    np.testing.assert_allclose(data.values[:, 0], np.radians([0, -9, 0]), atol=1e-15)
    np.testing.assert_allclose(data.values[:, 1], [3.0, np.nan, np.nan])
    assert data.units == ("rad", "N m")


@pytest.mark.parametrize(
    ("mapping", "parts"),
    [
        ('[signals.a]\ncolumn = "q2"', ["signals.a.column", "known: q1, time"]),
        ('[signals.a]\ncolumn = "q1"\nsgin = -1', ["signals.a.sgin", "did you mean 'sign'"]),
        ('[signals.a]\ncolumn = "q1"\nsign = 3\ngear = -2', ["signals.a.sign", "signals.a.gear"]),
        ('[signals.a]\ncolumn = "q1"\nunit = "A"\ngear = 2', ["signals.a.gear", "no effect"]),
        ('[time]\nunit = "m"', ["time.unit", "unit of time"]),
        ('[file]\nbad_rows = "skip"', ["file.bad_rows", "'refuse' or 'drop'"]),
    ],
)
def test_a_mapping_that_cannot_be_meant_is_refused(tmp_path, mapping, parts):
    message = refuse(tmp_path, "time,q1\n0,1\n1,2\n", mapping)
    assert all(part in message for part in parts), message


def test_rows_that_cannot_be_read_are_refused_by_line_or_dropped_and_counted(tmp_path):
    text = "time,q\n0,1\n2,x\n1.5,7\n1,2\n3\n4,5\n"
    message = refuse(tmp_path, text)
    assert "line 3, column 2 (q)" in message
    assert "line 6: has 1 cells" in message
    data = read(tmp_path, text, '[file]\nbad_rows = "drop"')
    np.testing.assert_allclose(data.time, [0, 1.5, 4])
    assert any(note.startswith("2 lines") for note in data.notes)
    assert any(note.startswith("1 rows") for note in data.notes)


def test_stamps_in_nanoseconds_are_not_taken_for_seconds(tmp_path):
    text = "timestamp,q\n1700000000000000000,1\n1700000000001000000,2\n"
    assert "cannot be seconds" in refuse(tmp_path, text)
    data = read(tmp_path, text, '[time]\ncolumn = "timestamp"\nunit = "ns"\nfrom_first = true')
    np.testing.assert_allclose(data.time, [0, 1e-3], atol=3e-7)


def test_an_even_clock_takes_jitter_out_and_keeps_gaps():
    rng = np.random.default_rng(0)
    truth = 2.0 + 1e-3 * np.delete(np.arange(5000), [7, 8, 2000])
    found = even_times(truth + rng.normal(0, 1e-5, truth.size))
    # The line through 5000 times is known to some 1e-5 / sqrt(5000).
    np.testing.assert_allclose(found, truth, atol=2e-6)


def stalled(truth, rng):
    """Times of a busy host: up to a millisecond late, now and then by 5 ms, so that rows are stamped together."""
    late = np.abs(rng.normal(0, 4e-4, truth.size)) + 5e-3 * (rng.random(truth.size) < 3e-3)
    return np.round(np.maximum.accumulate(truth + late), 6)


def test_rows_stamped_together_by_a_busy_host_are_samples_of_an_even_clock(tmp_path):
    """Every lost row is counted where it was lost: one too many or too few would shift all that come after."""
    rng = np.random.default_rng(5)
    ticks = np.delete(np.arange(20_000), np.r_[rng.integers(10, 19_000, 60), 7000:7040])
    time = stalled(2e-3 * ticks, rng)
    assert np.sum(np.diff(time) == 0) > 50
    found = even_times(time)
    wrong = np.abs(found - found[0] - 2e-3 * ticks) > 1e-3
    assert wrong.mean() < 1e-3
    # Written, and one row twice: that one alone is left out.
    rows = np.column_stack([1e3 * time, np.sin(ticks / 300)])
    rows = np.insert(rows, 500, rows[500], axis=0)
    np.savetxt(tmp_path / "log.csv", rows, delimiter=",", header="time [ms],q [rad]", comments="", fmt="%.6f")
    (tmp_path / "map.toml").write_text('file.bad_rows = "drop"\ntime.even = true\n[signals.q]\ncolumn = "q"\n')
    data = read_samples(tmp_path / "log.csv", read_mapping(tmp_path / "map.toml"))
    assert data.time.size == ticks.size
    np.testing.assert_allclose(data.time - data.time[0], found - found[0], atol=1e-6)


def behind_stalls(rng, ticks, stalls, long, apart):
    """Times [ticks] of a host that stalls, and then writes the rows that have come since, so far apart."""
    time = ticks + np.abs(rng.normal(0, 0.05, ticks.size))
    for start in np.sort(rng.integers(100, 14_000, stalls)):
        held = (ticks >= ticks[start]) & (ticks < ticks[start] + long)
        time[held] = np.maximum(time[held], ticks[start] + long + apart * np.arange(held.sum()))
    return np.maximum.accumulate(time)


@pytest.mark.parametrize(("stalls", "long", "apart"), [(40, 20, 0.02), (10, 100, 0.5)])
def test_rows_of_a_host_that_stalls_are_samples_of_an_even_clock(stalls, long, apart):
    """None of the rows in a burst is missing; sixty others are, and each is counted where it is."""
    rng = np.random.default_rng(3)
    ticks = np.delete(np.arange(20_000), np.r_[15_000:19_000:200, 19_500:19_540])
    time = 1e-3 * behind_stalls(rng, ticks, stalls, long, apart)
    found = even_times(time)
    np.testing.assert_allclose(found - found[0], 1e-3 * ticks, atol=1e-5)
    clock = assess_clock(time)
    assert clock.rate == pytest.approx(1000, rel=0.01)
    assert sum(gap.missing for gap in clock.gaps) == 60


@pytest.mark.parametrize("rate", [400, 300, 120, 60])
def test_times_rounded_to_milliseconds_are_those_of_an_even_clock(rate):
    """Steps of 2 and 3 ms are none with rows missing."""
    ticks = np.delete(np.arange(20_000), np.r_[np.arange(300, 15_000, 700), 7000:7040])
    found = even_times(np.round(ticks / rate, 3))
    np.testing.assert_allclose(found - found[0], ticks / rate, atol=0.1 / rate)


def test_arrays_of_numpy_and_matlab_are_columns(tmp_path):
    from scipy.io import savemat

    time, q = np.arange(4) * 0.1, np.arange(8.0).reshape(4, 2)
    np.savez(tmp_path / "log.npz", time=time, q=q, version=3)
    savemat(tmp_path / "log.mat", {"log": {"time": time, "q": q}})
    for name, columns in (("log.npz", ("q.1", "q.2")), ("log.mat", ("log.q.1", "log.q.2"))):
        data = read_samples(tmp_path / name)
        assert data.names == columns
        np.testing.assert_array_equal(data.values, q)


def test_topics_of_a_ros_bag_have_clocks_of_their_own(tmp_path):
    rosbag2 = pytest.importorskip("rosbags.rosbag2")
    typesys = pytest.importorskip("rosbags.typesys")
    store = typesys.get_typestore(typesys.Stores.ROS2_HUMBLE)
    types = [store.types[name] for name in ("sensor_msgs/msg/JointState", "std_msgs/msg/Float64")]
    state, number = types
    header, stamp = store.types["std_msgs/msg/Header"], store.types["builtin_interfaces/msg/Time"]
    start, none = 1_700_000_000, np.zeros(0)
    with rosbag2.Writer(tmp_path / "bag", version=9, storage_plugin=rosbag2.StoragePlugin.MCAP) as bag:
        topics = [
            bag.add_connection(topic, kind.__msgtype__, typestore=store)
            for topic, kind in zip(("/joints", "/load"), types, strict=True)
        ]
        for k in range(4):
            own = state(header(stamp(start, 1000 * k), ""), ["a", "b"], np.array([k, 7.0]), none, none)
            bag.write(topics[0], start * 10**9 + k + 10**6, store.serialize_cdr(own, state.__msgtype__))
        bag.write(topics[1], start * 10**9 + 10**9, store.serialize_cdr(number(3.0), number.__msgtype__))
    for path in (tmp_path / "bag", tmp_path / "bag" / "bag.mcap"):
        joints, load = read_clocks(path)
        assert joints.names == ("joints.position.a", "joints.position.b")
        np.testing.assert_allclose(joints.time, np.arange(4) * 1e-6, rtol=1e-12)
        np.testing.assert_allclose([load.time[0], load.values[0, 0]], [1.0, 3.0])
