"""CSV, Parquet, MCAP, xarray and netCDF: how do other programs read a run?"""

import csv
import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from robodyn.base import Array, replacing

from .run import Run
from .store import to_record

if TYPE_CHECKING:
    import xarray


def to_csv(run: Run, path: str | Path) -> Path:
    """Write a table with one row a sample and headings 'name [unit]'; numbers keep every bit."""
    with replacing(path) as draft, open(draft, "w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["time [s]", *(f"{info.name} [{info.unit}]" for info in run.infos)])
        table.writerows(np.column_stack([run.time, run.values]).tolist())
    return Path(path)


def to_parquet(run: Run, path: str | Path) -> Path:
    """Write a Parquet table; columns carry their units, the schema the run's description as JSON."""
    import pyarrow
    import pyarrow.parquet

    fields = [pyarrow.field("time", pyarrow.float64(), metadata={"unit": "s"})]
    fields += [pyarrow.field(i.name, pyarrow.float64(), metadata={"unit": i.unit, "kind": i.kind}) for i in run.infos]
    schema = pyarrow.schema(fields, metadata={"robodyn": json.dumps(to_record(run))})
    columns = [pyarrow.array(column) for column in (run.time, *run.values.T)]
    with replacing(path) as draft:
        pyarrow.parquet.write_table(pyarrow.table(columns, schema=schema), draft)
    return Path(path)


def to_xarray(run: Run) -> "xarray.Dataset":
    """A Dataset over time, one variable a signal; its attributes hold the run's description as JSON."""
    import xarray

    variables = {
        info.name: ("time", column, {"units": info.unit, "kind": info.kind})
        for info, column in zip(run.infos, run.values.T, strict=True)
    }
    time = ("time", run.time, {"units": "s"})
    described = {"title": run.provenance.scenario, "robodyn": json.dumps(to_record(run))}
    return xarray.Dataset(variables, {"time": time}, described)


def to_netcdf(run: Run, path: str | Path) -> Path:
    """Write a netCDF 4 file with the contents of `to_xarray`."""
    dataset = to_xarray(run)
    with replacing(path) as draft:
        dataset.to_netcdf(draft, engine="netcdf4")
    return Path(path)


def to_mcap(run: Run, path: str | Path) -> Path:
    """Write an MCAP file: a topic for each owner of signals, messages in JSON, units in the schema, times to 1 ns."""
    from mcap.writer import Writer

    owners: dict[str, list[int]] = {}
    for k, name in enumerate(run.names):
        owners.setdefault(name.rpartition(".")[0] or "run", []).append(k)
    stamps = np.round(run.time * 1e9).astype(np.int64)
    if stamps.size and stamps[0] < 0:
        raise ValueError("MCAP has no times before 0")
    with replacing(path) as draft, open(draft, "wb") as stream:
        writer: Any = Writer(stream)
        writer.start(library="robodyn")
        writer.add_metadata("robodyn", {"run": json.dumps(to_record(run))})
        for owner, columns in owners.items():
            fields = [run.names[k].rpartition(".")[2] for k in columns]
            units = {field: run.infos[k].unit for field, k in zip(fields, columns, strict=True)}
            _add_topic(writer, owner, units, stamps, run.values[:, columns])
        writer.finish()
    return Path(path)


def _add_topic(writer: Any, owner: str, units: dict[str, str], stamps: Array, values: Array) -> None:
    """All rows of a topic; what is no number has no field."""
    properties = {field: {"type": "number", "unit": unit} for field, unit in units.items()}
    described = json.dumps({"type": "object", "properties": properties}).encode()
    schema = writer.register_schema(owner, "jsonschema", described)
    channel = writer.register_channel(owner, "json", schema)
    for k, (stamp, row) in enumerate(zip(stamps.tolist(), values.tolist(), strict=True)):
        there = {field: value for field, value in zip(units, row, strict=True) if math.isfinite(value)}
        writer.add_message(channel, stamp, json.dumps(there).encode(), stamp, k)
