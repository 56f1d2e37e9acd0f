"""Is measured data read in SI units, and is every flaw of a file reported by line and column?"""

import math

import numpy as np
import pytest

from robodyn.analysis.measurement.measured import match_measured, read_measured
from robodyn.base.errors import ModelError

GOOD = """# rig 3, Tuesday
time [ms], rail.position [mm], rail.velocity
0, 1.5, 0.1
10, , 0.2

20, 2.5, nan
"""


def write(tmp_path, text):
    path = tmp_path / "data.csv"
    path.write_text(text)
    return path


def flaws_of(tmp_path, text):
    with pytest.raises(ModelError) as caught:
        read_measured(write(tmp_path, text))
    assert "data.csv" in str(caught.value)
    return [str(flaw) for flaw in caught.value.flaws]


def test_values_are_in_si_and_missing_ones_are_not_numbers(tmp_path):
    data = read_measured(write(tmp_path, GOOD))
    np.testing.assert_allclose(data.time, [0.0, 0.01, 0.02])
    np.testing.assert_allclose(data["rail.position"].values, [1.5e-3, math.nan, 2.5e-3])
    np.testing.assert_allclose(data["rail.velocity"].values, [0.1, 0.2, math.nan])
    assert [info.unit for info in data.infos] == ["m", ""]


@pytest.mark.parametrize("part", [";", "\t"])
def test_semicolons_and_tabs_part_cells_too(tmp_path, part):
    data = read_measured(write(tmp_path, GOOD.replace(",", part)))
    assert data.names == ("rail.position", "rail.velocity")


def test_all_bad_cells_are_told_with_line_and_column(tmp_path):
    found = flaws_of(tmp_path, "time,a\n0,one\n1,2\n2,two\n3\n")
    assert found[0].startswith("line 2, column 2 (a): 'one' is not a finite number")
    assert found[1].startswith("line 4, column 2 (a): 'two'")
    assert found[2].startswith("line 5: has 1 cells, the headings 2")


def test_times_must_rise_and_be_there(tmp_path):
    found = flaws_of(tmp_path, "time,a\n0,1\n2,1\n1,1\n,1\n")
    assert any(flaw.startswith("line 4, column 'time': 1 s comes after 2 s") for flaw in found)
    assert any(flaw.startswith("line 5, column 'time': is missing") for flaw in found)
    assert all("bad_rows" in flaw for flaw in found)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no samples"),
        ("time,a\n", "no samples"),
        ("clock,a\n0,1\n", "there is no column 'time'"),
        ("time [m],a\n0,1\n", "must be in a unit of time"),
        ("time\n0\n", "names no signal"),
        ("time,a,a\n0,1,2\n", "twice"),
        ("time,,b\n0,1,2\n", "no name"),
    ],
)
def test_bad_headings_are_refused(tmp_path, text, message):
    assert any(message in flaw for flaw in flaws_of(tmp_path, text))


def test_a_file_of_another_kind_is_not_told_cell_by_cell(tmp_path):
    lines = "\n".join("x,y" for _ in range(1000))
    assert len(flaws_of(tmp_path, f"time,a\n{lines}\n")) <= 40


def test_a_missing_file_is_told(tmp_path):
    with pytest.raises(ModelError, match="cannot be read"):
        read_measured(tmp_path / "none.csv")


def test_data_that_no_signal_matches_are_refused_all_at_once(tmp_path):
    data = read_measured(write(tmp_path, "time,rail.positon,rail.velocity [rad/s],c\n-1,1,2,\n0,1,2,\n"))
    with pytest.raises(ModelError) as caught:
        match_measured(data, {"rail.position": "m", "rail.velocity": "m/s", "c": ""})
    message = str(caught.value)
    assert all(part in message for part in ("did you mean 'rail.position'", "rad/s", "c: has no sample", "before"))
