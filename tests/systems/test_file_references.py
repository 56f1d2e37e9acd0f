"""Do references from files go through their samples, with exact rates, as scipy's splines do?"""

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

import robodyn as rd
from robodyn.description.laws.recorded import RecordedReference

TIMES = np.array([0.2, 0.5, 0.6, 1.0, 1.7, 2.0])
POINTS = np.array([0.1, 0.3, -0.2, 0.0, 0.4, 0.35])
SLIDE = """
duration = "2.2 s"
[bodies.car]
mass = 2
[joints.x]
kind = "prismatic"
parent = "ground"
child = "car"
axis = [1, 0, 0]
[blocks.track]
law = "file_reference"
file = "{file}"
column = "car"
interpolation = "{interpolation}"
{more}
"""
FOLLOWED = """
[constraints.follow]
prescribed = "x"
position = "track.value"
velocity = "track.rate"
acceleration = "track.acceleration"
[initial]
x.position = "100 mm"
"""


def write_csv(folder, unit=" [mm]", factor=1e3):
    lines = [f"{t!r};{factor * p!r};1" for t, p in zip(TIMES.tolist(), POINTS.tolist(), strict=True)]
    (folder / "track.csv").write_text("\n".join(["# measured", f"time [s];car{unit};other", *lines]), encoding="utf-8")


def read(folder, interpolation="linear", more="", rest="", file="track.csv"):
    path = folder / "slide.toml"
    path.write_text(SLIDE.format(interpolation=interpolation, more=more, file=file) + rest, encoding="utf-8")
    return rd.read_scenario(path)


@pytest.mark.parametrize(("ends", "condition"), [("natural", "natural"), ("clamped", "clamped")])
def test_a_cubic_reference_is_the_spline_of_scipy(ends, condition):
    law = RecordedReference(tuple(TIMES), tuple(POINTS), "cubic", ends)
    spline = CubicSpline(TIMES, POINTS, bc_type=condition)
    t = np.linspace(TIMES[0], TIMES[-1], 1001)[:-1]
    found = law(t)
    for order, key in enumerate(("value", "rate", "acceleration")):
        np.testing.assert_allclose(found[key], spline(t, order), rtol=1e-12, atol=1e-12)


def test_many_samples_are_the_spline_of_scipy():
    rng = np.random.default_rng(3)
    times, points = np.cumsum(rng.uniform(0.01, 0.1, 5000)), rng.normal(size=5000)
    law = RecordedReference(tuple(times), tuple(points), "cubic")
    t = np.sort(rng.uniform(times[0], times[-1], 2000))
    np.testing.assert_allclose(law(t)["value"], CubicSpline(times, points, bc_type="natural")(t), rtol=1e-9, atol=1e-9)


def test_held_and_linear_references_and_what_is_beyond_the_ends():
    t = np.array([0.0, 0.2, 0.5, 0.55, 2.0, 3.0])
    held, linear = (RecordedReference(tuple(TIMES), tuple(POINTS), kind)(t) for kind in ("held", "linear"))
    np.testing.assert_array_equal(held["value"], [0.1, 0.1, 0.3, 0.3, 0.35, 0.35])
    np.testing.assert_array_equal(held["rate"], 0)
    np.testing.assert_allclose(linear["value"], [0.1, 0.1, 0.3, 0.05, 0.35, 0.35], rtol=1e-14)
    np.testing.assert_allclose(linear["rate"], [0, 0.2 / 0.3, -5.0, -5.0, 0, 0], rtol=1e-12)


@pytest.mark.parametrize("interpolation", ["held", "linear", "cubic"])
def test_a_run_goes_through_the_samples_and_stops_at_each(tmp_path, interpolation):
    write_csv(tmp_path)
    run = rd.simulate(read(tmp_path, interpolation), rd.Solver("dopri5", rtol=1e-3))
    assert {info.name: info.unit for info in run.infos}["track.acceleration"] == "m/s^2"
    np.testing.assert_allclose(run["track.value"](TIMES), POINTS, rtol=1e-12, atol=1e-15)
    assert set(TIMES) <= set(run.time)


def test_a_prescribed_motion_follows_a_file_exactly(tmp_path):
    write_csv(tmp_path)
    run = rd.simulate(
        read(tmp_path, "cubic", 'ends = "clamped"', FOLLOWED), rd.Solver("dopri5", rtol=1e-10, atol=1e-12)
    )
    t = np.linspace(0.2, 2.0, 50)
    spline = CubicSpline(TIMES, POINTS, bc_type="clamped")
    np.testing.assert_allclose(run["x.position"](t), spline(t), atol=1e-8)
    inside = (run.time > 0.2) & (run.time < 2.0)
    force = run["follow.force"].values[inside]
    np.testing.assert_allclose(force, 2 * spline(run.time[inside], 2), rtol=1e-6, atol=1e-5)


def test_a_column_of_parquet_is_a_reference_too(tmp_path):
    pytest.importorskip("pyarrow")
    from robodyn.computation.results.exports import to_parquet

    write_csv(tmp_path)
    first = rd.simulate(read(tmp_path, "cubic"), recording=rd.Recording(times=tuple(np.linspace(0, 2.2, 23))))
    to_parquet(first, tmp_path / "run.parquet")
    law = rd.read_reference(tmp_path / "run.parquet", "track.value")
    assert law.unit == "m"
    np.testing.assert_array_equal(law.points, first["track.value"].values)
    with pytest.raises(rd.ModelError, match="there is no column 'track.valu'.*did you mean 'track.value'"):
        rd.read_reference(tmp_path / "run.parquet", "track.valu")
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 and nothing else PAR1")
    with pytest.raises(rd.ModelError, match="cannot be read"):
        rd.read_reference(tmp_path / "bad.parquet", "track.value")


@pytest.mark.parametrize(
    ("csv", "settings", "complaint"),
    [
        ("time,car\n0,1\n1,2", {"file": "none.csv"}, "blocks.track.file: cannot be read"),
        ("time,cart\n0,1\n1,2", {}, "there is no column 'car'.*did you mean 'cart'"),
        ("time,car\n0,1\n1,", {}, "car: is missing at 1 s"),
        ("time,car\n0,1\n0,2", {}, "0 s appears twice"),
        ("time,car\n0,1", {}, "2 to 100000"),
        ("time,car\n0,1\n1,x", {}, "line 3, column 2.*not a finite number"),
        ("time,car\n0,1\n1,2", {"interpolation": "cubik"}, "did you mean 'cubic'"),
        ("time,car\n0,1\n1,2", {"more": 'ends = "clamped"'}, "no effect on the interpolation 'linear'"),
        ("time,car [mm]\n0,1\n1,2", {"more": 'unit = "m"'}, "unit: has no effect: the file gives 'car' in m"),
        ("time,car\n0,1\n1,2", {"more": "parameters = { a = 1 }"}, "is not an argument of 'file_reference'"),
    ],
)
def test_what_is_wrong_with_a_file_is_told(tmp_path, csv, settings, complaint):
    (tmp_path / "track.csv").write_text(csv, encoding="utf-8")
    with pytest.raises(rd.ModelError, match=complaint):
        read(tmp_path, **settings)


def test_the_description_tells_the_samples(tmp_path):
    from robodyn.description.model import digest

    write_csv(tmp_path)
    first = read(tmp_path)
    write_csv(tmp_path, factor=2e3)
    assert digest(first) != digest(read(tmp_path))
    assert first == first.with_numbers({"duration": 2.2})


def test_a_scenario_with_a_reference_is_written_with_its_file(tmp_path):
    write_csv(tmp_path)
    scenario = read(tmp_path, "cubic", more='ends = "clamped"', rest=FOLLOWED)
    (tmp_path / "inner").mkdir()
    rd.write_scenario(scenario, tmp_path / "inner" / "slide.toml")
    assert 'file = "../track.csv"' in (tmp_path / "inner" / "slide.toml").read_text()
    assert rd.read_scenario(tmp_path / "inner" / "slide.toml") == scenario
