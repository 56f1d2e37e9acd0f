"""Arrays by name: columns of Parquet, NumPy (.npz, .npy) and MATLAB (.mat) files."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from robodyn.base import Array, parse_unit, split_heading
from robodyn.base.untrusted import MEGABYTE, Unreadable, read_archive, read_array, read_bytes

from .text_tables import FileColumns

MOST_BYTES = 512 * MEGABYTE
HDF5 = b"\x89HDF\r\n\x1a\n"


def read_parquet(path: Path) -> FileColumns:
    """Columns of numbers and times; units stand in the fields' metadata or in brackets behind their names."""
    import pyarrow
    import pyarrow.parquet

    file = pyarrow.parquet.ParquetFile(io.BytesIO(read_bytes(path, MOST_BYTES)))
    size = 8 * file.metadata.num_rows * file.metadata.num_columns
    if size > MOST_BYTES:
        raise Unreadable(f"declares {size} bytes of numbers, at most {MOST_BYTES} are read")
    values, units, words = {}, {}, []
    for column_field in file.schema_arrow:
        name, unit = split_heading(column_field.name)
        column = file.read([column_field.name]).column(0)
        if pyarrow.types.is_timestamp(column_field.type) or pyarrow.types.is_duration(column_field.type):
            values[name] = column.cast("int64").to_numpy() * parse_unit(column_field.type.unit).factor
            units[name] = "s"
        elif pyarrow.types.is_integer(column_field.type) or pyarrow.types.is_floating(column_field.type):
            values[name] = np.asarray(column.cast("float64").to_numpy(), float)
            units[name] = (column_field.metadata or {}).get(b"unit", b"").decode("utf-8", "replace") or unit
        else:
            words.append(name)
    notes = (f"columns without numbers are left out: {', '.join(words)}",) if words else ()
    return FileColumns(values, units, notes=notes)


def read_numpy(path: Path) -> FileColumns:
    """Arrays of an .npz by name, or the columns of an .npy table."""
    data = read_bytes(path, MOST_BYTES)
    if path.suffix == ".npy":
        return _as_columns({"": read_array(data)})
    members = read_archive(data, MOST_BYTES)
    return _as_columns({name.removesuffix(".npy"): read_array(member) for name, member in members.items()})


def read_matlab(path: Path) -> FileColumns:
    """Numeric arrays of a .mat file, those in structures by `structure.field`; 7.3 files need h5py."""
    data = read_bytes(path, MOST_BYTES)
    if HDF5 in data[:1024]:
        return _as_columns(dict(_read_hdf5(path)))
    from scipy.io import loadmat

    variables = loadmat(io.BytesIO(data), squeeze_me=True, struct_as_record=False)
    return _as_columns(dict(_flatten("", {key: value for key, value in variables.items() if not key.startswith("__")})))


def _read_hdf5(path: Path) -> Iterator[tuple[str, Any]]:
    import h5py

    datasets: dict[str, Any] = {}
    with h5py.File(path) as file:

        def visit(name: str, item: Any) -> None:
            if isinstance(item, h5py.Dataset):
                datasets[name] = item[()]

        file.visititems(visit)
    # MATLAB stores columns first.
    yield from (
        (name.replace("/", "."), np.asarray(array).T) for name, array in datasets.items() if not name.startswith("#")
    )


def _flatten(prefix: str, fields: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, value in fields.items():
        name = f"{prefix}.{key}" if prefix else key
        if hasattr(value, "_fieldnames"):
            yield from _flatten(name, {field: getattr(value, field) for field in value._fieldnames})
        else:
            yield name, np.asarray(value)


def _as_columns(arrays: Mapping[str, Any]) -> FileColumns:
    """Arrays with as many rows as the longest; a table's columns are `name.1`, `name.2`; others are left out."""
    numeric = {name: np.squeeze(a) for name, a in arrays.items() if np.asarray(a).dtype.kind in "biuf"}
    n = max((a.shape[0] for a in numeric.values() if 1 <= a.ndim <= 2), default=0)
    n = max(n, max((a.shape[1] for a in numeric.values() if a.ndim == 2), default=0))
    values: dict[str, Array] = {}
    units, remaining = {}, [name for name in arrays if name not in numeric]
    for heading, array in numeric.items():
        name, unit = split_heading(heading)
        table = array.T if array.ndim == 2 and array.shape[0] != n else array
        if table.ndim not in (1, 2) or table.shape[0] != n or n < 2:
            remaining.append(name)
            continue
        single = table.ndim == 1
        for k, column in enumerate(table.reshape(n, -1).T):
            full = name if single else f"{name}.{k + 1}" if name else str(k + 1)
            values[full], units[full] = column.astype(float), unit
    notes = (f"are not columns of {n} numbers and are left out: {', '.join(remaining)}",) if remaining else ()
    return FileColumns(values, units, notes=notes)


# --------------------------------------------------------------------------------------------------
# MCAP files and ROS bags: the numbers of every message, a clock for each topic.
#
# A message becomes the columns `<topic>.<field>`, entries of arrays `<topic>.<field>.<k>` counted from 1, or
# `<topic>.position.<joint>` where the message has a list `name` (sensor_msgs/JointState). Times are those of the
# message's header, else those of its recording.


Decode = Callable[[bytes], Any]
NANO = 1e-9
LATEST = 10**15
"""Nanoseconds beyond which a time is counted from 1970: twelve days."""
MOST_ENTRIES = 64
"""Of an array in a message; longer ones are pictures and clouds, not signals."""


@dataclass
class _Topic:
    """Rows of one topic as they are read."""

    name: str
    units: Mapping[str, str] = field(default_factory=dict)
    rows: list[dict[str, float]] = field(default_factory=list)
    stamps: list[int] = field(default_factory=list)
    logged: list[int] = field(default_factory=list)

    def add(self, message: Any, logged: int) -> None:
        plain = message if isinstance(message, dict) else _as_dict(message)
        stamp = _stamp(plain)
        row: dict[str, float] = {}
        _flatten_message("", plain, row)
        self.rows.append(row)
        self.logged.append(logged)
        self.stamps.append(stamp)

    @property
    def headed(self) -> bool:
        """Whether every message has a time of its own."""
        return all(self.stamps)

    @property
    def times(self) -> list[int]:
        return self.stamps if self.headed else self.logged

    def columns(self, origin: int) -> FileColumns:
        """The rows as columns, times counted from an origin [ns] that all topics share."""
        names = list(dict.fromkeys(name for row in self.rows for name in row))
        table = np.array([[row.get(name, np.nan) for name in names] for row in self.rows]).reshape(-1, len(names))
        stamps = np.array([time - origin for time in self.times], float) * NANO
        notes = [f"{self.name}: times are those of the {'headers' if self.headed else 'recording'}"]
        if origin:
            notes.append(f"time 0 is {origin // 10**9} s since 1970")
        prefix = self.name.strip("/")
        values = {f"{prefix}.{name}": column for name, column in zip(names, table.T, strict=True)}
        units = {f"{prefix}.{name}": unit for name, unit in self.units.items()}
        return FileColumns(values, units, stamps=stamps, word="message", topic=self.name, notes=tuple(notes))


def read_mcap(path: Path) -> list[FileColumns]:
    """Topics of an MCAP file with messages in JSON or, from ROS 2, in CDR."""
    from mcap.reader import make_reader

    topics: dict[int, tuple[_Topic, Decode]] = {}
    with path.open("rb") as stream:
        for schema, channel, message in make_reader(stream).iter_messages():
            if channel.id not in topics:
                topics[channel.id] = _Topic(channel.topic, _json_units(schema)), _decoder(schema, channel)
            topic, decode = topics[channel.id]
            topic.add(decode(message.data), message.log_time)
    return _finish(topic for topic, _ in topics.values())


def _decoder(schema: Any, channel: Any) -> Decode:
    if channel.message_encoding == "json":
        return json.loads
    if channel.message_encoding == "cdr" and schema is not None and schema.encoding == "ros2msg":
        from rosbags.typesys import Stores, get_types_from_msg, get_typestore

        store = get_typestore(Stores.ROS2_HUMBLE)
        parts = schema.name.split("/")
        name = schema.name if len(parts) == 3 else f"{parts[0]}/msg/{parts[-1]}"
        types = get_types_from_msg(schema.data.decode(), name)
        store.register({key: kind for key, kind in types.items() if key not in store.fielddefs})
        return lambda data: store.deserialize_cdr(data, name)
    # Other encodings (protobuf, flatbuffers) are left out, and said so by having no column.
    return lambda data: {}


def _json_units(schema: Any) -> dict[str, str]:
    """Units that a JSON schema gives its properties, as `to_mcap` writes them."""
    if schema is None or schema.encoding != "jsonschema":
        return {}
    properties = json.loads(schema.data or b"{}").get("properties", {})
    return {name: str(kind["unit"]) for name, kind in properties.items() if isinstance(kind, dict) and "unit" in kind}


def read_bag(path: Path) -> list[FileColumns]:
    """Topics of a ROS 1 bag file, or of a ROS 2 bag: its folder or its .db3 file."""
    from rosbags.highlevel import AnyReader
    from rosbags.typesys import Stores, get_typestore

    target = path.parent if path.suffix == ".db3" else path
    topics: dict[str, _Topic] = {}
    with AnyReader([target], default_typestore=get_typestore(Stores.ROS2_HUMBLE)) as reader:
        for connection, logged, raw in reader.messages():
            topic = topics.setdefault(connection.topic, _Topic(connection.topic))
            topic.add(reader.deserialize(raw, connection.msgtype), logged)
    return _finish(topics.values())


def _finish(topics: Iterable[_Topic]) -> list[FileColumns]:
    """Columns of the topics that have numbers, all counted from one second."""
    full = [topic for topic in topics if any(topic.rows)]
    first = min((time for topic in full for time in topic.times), default=0)
    # Whole nanoseconds since 1970 need more digits than a float has.
    origin = first // 10**9 * 10**9 if first > LATEST else 0
    return [topic.columns(origin) for topic in full]


def _as_dict(message: Any) -> dict[str, Any]:
    return {name: value for name, value in vars(message).items() if not name.startswith("_")}


def _stamp(message: dict[str, Any]) -> int:
    """Nanoseconds of the message's header; 0 where there is none."""
    header = message.get("header")
    stamp: Any = header.get("stamp") if isinstance(header, dict) else getattr(header, "stamp", None)
    if stamp is None:
        return 0
    parts: dict[str, Any] = stamp if isinstance(stamp, dict) else vars(stamp)
    return int(parts.get("sec", 0)) * 10**9 + int(parts.get("nanosec", parts.get("nsec", 0)))


def _flatten_message(prefix: str, message: dict[str, Any], row: dict[str, float]) -> None:
    names = message.get("name")
    labels = list(names) if isinstance(names, (list, tuple)) and all(isinstance(n, str) for n in names) else []
    for key, value in message.items():
        name = f"{prefix}{key}"
        if key == "header" or isinstance(value, (str, bytes)):
            continue
        if isinstance(value, (bool, int, float, np.number)):
            row[name] = float(value)
        elif isinstance(value, (list, tuple, np.ndarray)):
            row.update(_entries(name, value, labels))
        elif isinstance(value, dict) or hasattr(value, "__dataclass_fields__"):
            _flatten_message(f"{name}.", value if isinstance(value, dict) else _as_dict(value), row)


def _entries(name: str, value: Any, labels: list[str]) -> Iterator[tuple[str, float]]:
    if len(value) > MOST_ENTRIES:
        return
    for k, entry in enumerate(value):
        label = labels[k] if len(labels) == len(value) else str(k + 1)
        if isinstance(entry, (bool, int, float, np.number)):
            yield f"{name}.{label}", float(entry)
        elif isinstance(entry, dict) or hasattr(entry, "__dataclass_fields__"):
            inner: dict[str, float] = {}
            _flatten_message(f"{name}.{label}.", entry if isinstance(entry, dict) else _as_dict(entry), inner)
            yield from inner.items()
