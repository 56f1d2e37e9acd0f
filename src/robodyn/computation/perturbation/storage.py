"""Files of nominal motions: how is one kept, and how is a foreign or damaged file detected?

A file is a NumPy archive: each array under its own name, the rest as JSON under "about", with the arrays' SHA-256.

Linear time-varying model: what do other programs take along a nominal motion?

    x_dot - x0_dot = A (x - x0) + B (u - u0),    y = y0 + C (x - x0) + D (u - u0)        x = [q, v]
    A = [0, 1; -M0^-1 K0, -M0^-1 C0],   B = [0; M0^-1],   C = [dy/dq, dy/dv],   D = 0

u are the torques and forces of everything but the linear mechanics on the joints: drives, friction, springs on joints.
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
from robodyn.computation.results.store import checked

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
        raise _refuse(path, "cannot be read: not enough memory") from error
    except DAMAGE as error:
        raise _refuse(path, f"is not the file of a nominal motion, or damaged ({error})") from error


def save_linear_model(nominal: Nominal, path: str | Path) -> Path:
    """Write the linear time-varying model along a nominal motion as a MATLAB file, and return its path.

    A, B, C, D: matrices at the times t, which are the last dimension; x0, u0, y0: columns at these times. A time that
    occurs twice is a break: the first entry belongs to the time before. states, inputs, outputs: names of the rows.
    """
    from scipy.io import savemat

    R, n = nominal.velocity.shape
    M = nominal.mass
    A, B = np.zeros((R, 2 * n, 2 * n)), np.zeros((R, 2 * n, n))
    A[:, :n, n:] = np.eye(n)
    A[:, n:] = -np.linalg.solve(M, np.concatenate([nominal.stiffness, nominal.damping], axis=2))
    B[:, n:] = np.linalg.inv(M)
    C = np.concatenate([nominal.outputs_by_position, nominal.outputs_by_velocity], axis=2)
    x0 = np.concatenate([nominal.position, nominal.velocity], axis=1)
    matrices = {"A": A, "B": B, "C": C, "D": np.zeros((R, len(nominal.signals), n))}
    members: dict[str, Any] = {name: matrix.transpose(1, 2, 0) for name, matrix in matrices.items()}
    members |= {"t": nominal.times, "x0": x0.T, "u0": nominal.torque.T, "y0": nominal.outputs.T}
    states = [f"{joint}.{quantity}" for quantity in ("position", "velocity") for joint in nominal.joints]
    inputs = [f"{joint}.torque" for joint in nominal.joints]
    for key, names in (("states", states), ("inputs", inputs), ("outputs", nominal.signals)):
        members[key] = np.array(names, object)
    with replacing(path) as draft, open(draft, "xb") as file:
        savemat(file, members, oned_as="column")
    return Path(path)


def _read(members: dict[str, bytes]) -> Nominal:
    about = parse_json(read_array(members["about"]).tobytes())
    if not isinstance(about, dict):
        raise ValueError("it has no format entry")
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
