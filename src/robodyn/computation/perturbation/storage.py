"""Files of nominal motions: how is one kept, and how is a foreign or damaged file detected?

A file is a NumPy archive: each array under its own name, the rest as JSON under "about", with the arrays' SHA-256.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np

from robodyn.base.atomic import replacing
from robodyn.base.errors import Flaw, ModelError
from robodyn.base.untrusted import DAMAGE, parse_json, read_archive, read_array, read_bytes
from robodyn.computation.perturbation.nominal import ARRAYS, Nominal
from robodyn.computation.results.types import checked

FORMAT = "robodyn-nominal"
VERSION = 1
_ABOUT = ("points", "joints", "signals", "curved", "parameters", "digest")


def save_nominal(nominal: Nominal, path: str | Path) -> Path:
    """Write a nominal motion to one file, all or nothing, and return its path."""
    arrays = {name: getattr(nominal, name) for name in ARRAYS}
    about = {"format": FORMAT, "version": VERSION, "checksum": _checksum(arrays)}
    about |= {name: getattr(nominal, name) for name in _ABOUT}
    text = np.frombuffer(json.dumps(about).encode(), np.uint8)
    with replacing(path) as draft, open(draft, "xb") as file:
        np.savez(file, about=text, **arrays)
    return Path(path)


def load_nominal(path: str | Path) -> Nominal:
    """Read a nominal motion; a ModelError says what is wrong with a file that cannot be used."""
    path = Path(path)
    try:
        data = read_bytes(path)
        # Nothing in it is compressed: members are together no larger than the file.
        return _read({name.removesuffix(".npy"): entry for name, entry in read_archive(data, len(data)).items()})
    except OSError as error:
        raise _refuse(path, f"cannot be read: {error.strerror or error}") from error
    except MemoryError as error:
        raise _refuse(path, "cannot be read: there is not enough memory") from error
    except DAMAGE as error:
        raise _refuse(path, f"is not the file of a nominal motion, or damaged ({error})") from error


def _read(members: dict[str, bytes]) -> Nominal:
    about = parse_json(read_array(members["about"]).tobytes())
    if not isinstance(about, dict):
        raise ValueError("it does not say what it is")
    if about.get("format") != FORMAT or about.get("version") != VERSION:
        raise ValueError(f"it is of format {about.get('format')} {about.get('version')}, not {FORMAT} {VERSION}")
    arrays: dict[str, Any] = {name: read_array(members[name]) for name in ARRAYS}
    if _checksum(arrays) != about["checksum"]:
        raise ValueError("its contents do not match their checksum")
    kept: dict[str, Any] = {name: about[name] for name in ("points", "parameters", "digest")}
    kept |= {name: tuple(about[name]) for name in ("joints", "signals", "curved")}
    nominal = checked(Nominal(**kept, **arrays))
    _check_shapes(nominal)
    return nominal


def _check_shapes(nominal: Nominal) -> None:
    """All arrays have a row for each time, and columns for all joints and signals."""
    R, n, k = len(nominal.times), len(nominal.joints), len(nominal.signals)
    shapes: dict[str, tuple[int, ...]] = {"times": (R,), "curvature": (R, n, n * len(nominal.curved))}
    shapes |= dict.fromkeys(("position", "velocity", "acceleration", "torque", "torque_rate"), (R, n))
    shapes |= {"outputs": (R, k), "outputs_by_position": (R, k, n), "outputs_by_velocity": (R, k, n)}
    for name in ARRAYS:
        if getattr(nominal, name).shape != shapes.get(name, (R, n, n)):
            raise ValueError(f"{name} has the shape {getattr(nominal, name).shape}")


def _checksum(arrays: dict[str, np.ndarray]) -> str:
    total = hashlib.sha256()
    for name, values in arrays.items():
        total.update(f"{name}{values.shape}".encode() + np.ascontiguousarray(values).tobytes())
    return total.hexdigest()


def _refuse(path: Path, what: str) -> ModelError:
    return ModelError([Flaw(str(path), what, "compute the nominal motion and save it again")])
