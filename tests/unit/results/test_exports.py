"""Other programs read the same numbers with their units, and measurements become runs."""

import json

import numpy as np
import pytest

from robodyn.results import from_csv, to_csv, to_netcdf, to_parquet, to_xarray


def test_a_table_read_back_has_the_same_bits_names_and_units(run, tmp_path):
    back = from_csv(
        to_csv(run, tmp_path / "run.csv"), held={"drive.force_cmd"}, rates={"ball.position": "ball.velocity"}
    )
    assert back.time.tobytes() == run.time.tobytes()
    assert back.values.tobytes() == run.values.tobytes()
    assert back.infos == run.infos
    assert back.outcome.ok
    assert back.provenance.scenario == "measured"


def test_the_head_of_a_table_names_units(run, tmp_path):
    head = to_csv(run, tmp_path / "run.csv").read_text().splitlines()[0]
    assert head == "time [s],ball.position [m],ball.velocity [m/s],drive.force_cmd [N],sensor.reading []"


def test_a_measurement_with_gaps_and_bare_names_is_read(tmp_path):
    path = tmp_path / "measured.csv"
    path.write_text("time [s],elbow.current [A],flag\n0,1.5,1\n0.1,,0\n")
    measured = from_csv(path)
    assert [(i.name, i.unit) for i in measured.infos] == [("elbow.current", "A"), ("flag", "")]
    assert np.isnan(measured["elbow.current"].final)
    assert measured.statistics.simulated_time == 0.1


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "first column"),
        ("time [ms],x [m]\n0,1\n", "first column must be 'time \\[s\\]'"),
        ("time [s],x [m]\n0,1\n1\n", "line 3: 1 cells for 2"),
        ("time [s],x [m]\n0,one\n", "line 2: .*one"),
        ("time [s],x [m]\n1,0\n0,0\n", "never decrease, row 1"),
        ("time [s],x [m],x [m]\n1,0,0\n", "twice: x"),
    ],
)
def test_a_table_that_cannot_be_used_is_refused_with_its_name_and_place(tmp_path, text, sentence):
    path = tmp_path / "bad.csv"
    path.write_text(text)
    with pytest.raises(ValueError, match=rf"bad\.csv.*{sentence}"):
        from_csv(path)


def test_a_held_column_that_does_not_exist_is_refused(run, tmp_path):
    with pytest.raises(ValueError, match=r"no column drive\.force"):
        from_csv(to_csv(run, tmp_path / "run.csv"), held={"drive.force"})


def test_a_parquet_file_holds_numbers_units_and_provenance(run, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    table = parquet.read_table(to_parquet(run, tmp_path / "run.parquet"))
    assert table.column_names == ["time", *run.names]
    assert table.schema.field("ball.velocity").metadata[b"unit"] == b"m/s"
    record = json.loads(table.schema.metadata[b"robodyn"])
    assert record["provenance"]["scenario"] == "bounce"
    for name in run.names:
        assert table[name].to_numpy().tobytes() == run[name].values.tobytes()


def test_a_dataset_has_a_variable_for_every_signal(run):
    pytest.importorskip("xarray")
    dataset = to_xarray(run)
    assert list(dataset.data_vars) == list(run.names)
    assert dataset["ball.velocity"].attrs == {"units": "m/s", "kind": "continuous"}
    assert dataset["ball.velocity"].dims == ("time",)


def test_a_netcdf_file_holds_the_dataset(run, tmp_path):
    xarray = pytest.importorskip("xarray")
    pytest.importorskip("netCDF4")
    with xarray.open_dataset(to_netcdf(run, tmp_path / "run.nc")) as dataset:
        assert dataset["ball.velocity"].attrs["units"] == "m/s"
        assert dataset["time"].values.tobytes() == run.time.tobytes()
        for name in run.names:
            assert dataset[name].values.tobytes() == run[name].values.tobytes()
        assert json.loads(dataset.attrs["robodyn"])["outcome"]["kind"] == "STOPPED"


@pytest.mark.parametrize("export", [to_csv, to_parquet, to_netcdf])
def test_an_export_leaves_no_draft_behind(run, tmp_path, export):
    path = export(run, tmp_path / "file")
    assert list(tmp_path.iterdir()) == [path]
