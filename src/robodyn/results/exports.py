"""CSV, Parquet, xarray and netCDF: how do other programs read a run, and how do measurements become one?"""

import csv
import io
import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from robodyn.units import split_heading
from robodyn.untrusted import MEGABYTE, Unreadable, read_text

from .atomic import replacing
from .outcome import Outcome, OutcomeKind
from .provenance import Provenance
from .record import to_record
from .run import Run, SignalInfo
from .statistics import Statistics

if TYPE_CHECKING:
    import xarray

MOST_BYTES = 256 * MEGABYTE
"""Of a table of text that is read."""


def to_csv(run: Run, path: str | Path) -> Path:
    """Write a table with one row a sample and headings 'name [unit]'; numbers keep every bit."""
    with replacing(path) as draft, open(draft, "w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["time [s]", *(_heading(info) for info in run.infos)])
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


def from_csv(path: str | Path, *, held: Collection[str] = (), rates: Mapping[str, str] | None = None) -> Run:
    """A run of measured data: first column 'time [s]', the others 'name [unit]'; an empty cell is no number.

    Args:
        held: names of signals that keep their value between samples.
        rates: {name: name of its time derivative}, for cubic interpolation.
    """
    path = Path(path)
    try:
        text = read_text(path, MOST_BYTES, "utf-8-sig")
        headings, *rows = list(csv.reader(io.StringIO(text, newline=""))) or [[]]
    except (Unreadable, csv.Error) as error:
        raise ValueError(f"{path}: {error}") from error
    infos = _infos(path, headings, held, rates or {})
    table = np.array([_numbers(path, line, row, headings) for line, row in enumerate(rows, start=2) if row])
    table = table.reshape(-1, len(headings))
    try:
        return _measured(path, table, infos)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


def _measured(path: Path, table: np.ndarray, infos: tuple[SignalInfo, ...]) -> Run:
    time = table[:, 0]
    end = float(time[-1]) if time.size else 0.0
    return Run(
        time,
        table[:, 1:],
        infos,
        outcome=Outcome(OutcomeKind.FINISHED, f"Measured data read from {path.name}.", end),
        provenance=Provenance("measured", {"source": "measured", "file": path.name}),
        statistics=Statistics(simulated_time=float(np.ptp(time)) if time.size else 0.0),
    )


def _infos(path: Path, headings: list[str], held: Collection[str], rates: Mapping[str, str]) -> tuple[SignalInfo, ...]:
    parts = [split_heading(heading) for heading in headings]
    if not parts or parts[0] != ("time", "s"):
        raise ValueError(f"{path}: the first column must be 'time [s]', is {headings[:1]}")
    names = [name for name, _ in parts[1:]]
    unknown = sorted({*held, *rates, *rates.values()} - set(names))
    if unknown:
        raise ValueError(f"{path}: no column {', '.join(unknown)}; the columns are {', '.join(names)}")
    return tuple(SignalInfo(n, u, "held" if n in held else "continuous", rates.get(n)) for n, u in parts[1:])


def _numbers(path: Path, line: int, row: list[str], headings: list[str]) -> list[float]:
    if len(row) != len(headings):
        raise ValueError(f"{path}, line {line}: {len(row)} cells for {len(headings)} columns")
    try:
        return [float(cell) if cell.strip() else np.nan for cell in row]
    except ValueError as error:
        raise ValueError(f"{path}, line {line}: {error}") from error


def _heading(info: SignalInfo) -> str:
    return f"{info.name} [{info.unit}]"
