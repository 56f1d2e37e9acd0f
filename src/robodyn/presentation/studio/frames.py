"""Frames: how do the samples of a run reach the browser in a few milliseconds? A header, then bare floats.

    4 bytes: length of the header, 4 bytes nothing | header, JSON in UTF-8, filled up to a multiple of 8 | columns

Each column begins at a multiple of 8 bytes and is of single precision where that blurs it by less than a pixel.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from typing import Any

import numpy as np

from robodyn.computation.results import Run
from robodyn.presentation.pages.columns import choose_kind, thin_rows
from robodyn.presentation.pages.contents import make_finite

MOST_ROWS = 8000
"""Of a column: some rows to a pixel of the widest plot."""

Plain = dict[str, Any]


def encode_frame(header: Plain, run: Run, names: Sequence[str]) -> bytes:
    """A message with some signals of a run; what it has not is left out."""
    places = {info.name: k for k, info in enumerate(run.infos)}
    found = [name for name in dict.fromkeys(names) if name in places]
    time, values = thin_rows(run.time, run.values[:, [places[name] for name in found]], MOST_ROWS)
    kept = time.size == run.time.size
    arrays = [np.ascontiguousarray(time, "<f8")]
    columns = []
    for name, column in zip(found, values.T, strict=True):
        info, kind = run.infos[places[name]], choose_kind(column)
        arrays.append(np.ascontiguousarray(column).astype(f"<{kind}"))
        held, rate = info.kind == "held", info.rate if info.rate in found else None
        columns.append({"name": name, "unit": info.unit, "held": held, "rate": rate, "type": kind})
    knots = run.knots is not None and kept
    if knots:
        arrays.append(np.asarray(run.knots).astype("u1"))
    header = header | {"rows": int(run.time.size), "kept": int(time.size), "knots": knots, "columns": columns}
    return _join(json.dumps(make_finite(header), allow_nan=False).encode(), arrays)


def _join(header: bytes, arrays: Sequence[np.ndarray]) -> bytes:
    parts = [struct.pack("<II", len(header), 0), _filled(header)]
    return b"".join([*parts, *(_filled(array.tobytes()) for array in arrays)])


def _filled(data: bytes) -> bytes:
    return data + b"\0" * (-len(data) % 8)
