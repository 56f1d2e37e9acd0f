"""Other programs read the same numbers with their units."""

import json
from dataclasses import replace

import numpy as np
import pytest

from robodyn.analysis import read_measured
from robodyn.computation.results import to_csv, to_mcap, to_netcdf, to_parquet, to_xarray


@pytest.mark.parametrize("export", [to_csv, to_parquet, to_mcap])
def test_a_file_read_back_has_the_same_numbers_names_and_units(run, tmp_path, export):
    run = replace(run, values=np.where(np.isinf(run.values), np.nan, run.values))
    back = read_measured(export(run, tmp_path / f"run.{export.__name__[3:]}"))
    # MCAP counts whole nanoseconds.
    np.testing.assert_allclose(back.time, run.time, rtol=0, atol=1e-9 if export is to_mcap else 0)
    assert {info.name: info.unit for info in back.infos} == {info.name: info.unit for info in run.infos}
    for name in run.names:
        np.testing.assert_array_equal(back[name].values, run[name].values)
    assert back.provenance.scenario == "measured"


def test_the_head_of_a_table_names_units(run, tmp_path):
    head = to_csv(run, tmp_path / "run.csv").read_text().splitlines()[0]
    assert head == "time [s],ball.position [m],ball.velocity [m/s],drive.force_cmd [N],sensor.reading []"


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


@pytest.mark.parametrize("export", [to_csv, to_parquet, to_netcdf, to_mcap])
def test_an_export_leaves_no_draft_behind(run, tmp_path, export):
    path = export(run, tmp_path / "file")
    assert list(tmp_path.iterdir()) == [path]
