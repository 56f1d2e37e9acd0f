"""Arrays by name: columns of Parquet, NumPy (.npz, .npy) and MATLAB (.mat) files."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from robodyn.base.units import parse_unit, split_heading
from robodyn.base.untrusted import MEGABYTE, Unreadable, read_archive, read_array, read_bytes
from robodyn.description.files.samples.columns import Columns, Floats

MOST_BYTES = 512 * MEGABYTE
HDF5 = b"\x89HDF\r\n\x1a\n"


def read_parquet(path: Path) -> Columns:
    """Columns of numbers and times; units stand in the fields' metadata or in brackets behind their names."""
    import pyarrow
    import pyarrow.parquet

    file = pyarrow.parquet.ParquetFile(io.BytesIO(read_bytes(path, MOST_BYTES)))
    size = 8 * file.metadata.num_rows * file.metadata.num_columns
    if size > MOST_BYTES:
        raise Unreadable(f"declares {size} bytes of numbers, at most {MOST_BYTES} are read")
    values, units, words = {}, {}, []
    for field in file.schema_arrow:
        name, unit = split_heading(field.name)
        column = file.read([field.name]).column(0)
        if pyarrow.types.is_timestamp(field.type) or pyarrow.types.is_duration(field.type):
            values[name] = column.cast("int64").to_numpy() * parse_unit(field.type.unit).factor
            units[name] = "s"
        elif pyarrow.types.is_integer(field.type) or pyarrow.types.is_floating(field.type):
            values[name] = np.asarray(column.cast("float64").to_numpy(), float)
            units[name] = (field.metadata or {}).get(b"unit", b"").decode("utf-8", "replace") or unit
        else:
            words.append(name)
    notes = (f"columns that are no numbers are left out: {', '.join(words)}",) if words else ()
    return Columns(values, units, notes=notes)


def read_numpy(path: Path) -> Columns:
    """Arrays of an .npz by name, or the columns of an .npy table."""
    data = read_bytes(path, MOST_BYTES)
    if path.suffix == ".npy":
        return _as_columns({"": read_array(data)})
    members = read_archive(data, MOST_BYTES)
    return _as_columns({name.removesuffix(".npy"): read_array(member) for name, member in members.items()})


def read_matlab(path: Path) -> Columns:
    """Numeric arrays of a .mat file, those in structures by `structure.field`; 7.3 files need h5py."""
    data = read_bytes(path, MOST_BYTES)
    if HDF5 in data[:1024]:
        return _as_columns(dict(_read_hdf5(path)))
    from scipy.io import loadmat

    found = loadmat(io.BytesIO(data), squeeze_me=True, struct_as_record=False)
    return _as_columns(dict(_flatten("", {key: value for key, value in found.items() if not key.startswith("__")})))


def _read_hdf5(path: Path) -> Iterator[tuple[str, Any]]:
    import h5py

    found: dict[str, Any] = {}
    with h5py.File(path) as file:
        file.visititems(lambda name, item: found.update({name: item[()]}) if isinstance(item, h5py.Dataset) else None)
    # MATLAB stores columns first.
    yield from (
        (name.replace("/", "."), np.asarray(array).T) for name, array in found.items() if not name.startswith("#")
    )


def _flatten(prefix: str, fields: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, value in fields.items():
        name = f"{prefix}.{key}" if prefix else key
        if hasattr(value, "_fieldnames"):
            yield from _flatten(name, {field: getattr(value, field) for field in value._fieldnames})
        else:
            yield name, np.asarray(value)


def _as_columns(arrays: Mapping[str, Any]) -> Columns:
    """Arrays with as many rows as the longest; a table's columns are `name.1`, `name.2`; others are left out."""
    numeric = {name: np.squeeze(a) for name, a in arrays.items() if np.asarray(a).dtype.kind in "biuf"}
    n = max((a.shape[0] for a in numeric.values() if 1 <= a.ndim <= 2), default=0)
    n = max(n, max((a.shape[1] for a in numeric.values() if a.ndim == 2), default=0))
    values: dict[str, Floats] = {}
    units, left = {}, [name for name in arrays if name not in numeric]
    for heading, array in numeric.items():
        name, unit = split_heading(heading)
        table = array.T if array.ndim == 2 and array.shape[0] != n else array
        if table.ndim not in (1, 2) or table.shape[0] != n or n < 2:
            left.append(name)
            continue
        single = table.ndim == 1
        for k, column in enumerate(table.reshape(n, -1).T):
            full = name if single else f"{name}.{k + 1}" if name else str(k + 1)
            values[full], units[full] = column.astype(float), unit
    notes = (f"are no columns of {n} numbers and left out: {', '.join(left)}",) if left else ()
    return Columns(values, units, notes=notes)
