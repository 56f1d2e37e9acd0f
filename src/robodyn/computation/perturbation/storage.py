"""Files of nominal motions: how is one kept, and how is a foreign or damaged file detected?

A file is an archive of arrays (`results/archive.py`), which NumPy reads too.

Linear time-varying model: what do other programs take along a nominal motion?

    x_dot - x0_dot = A (x - x0) + B (u - u0),    y = y0 + C (x - x0) + D (u - u0)        x = [q, v]
    A = [0, 1; -M0^-1 K0, -M0^-1 C0],   B = [0; M0^-1],   C = [dy/dq, dy/dv],   D = 0

u are the torques and forces of everything but the linear mechanics on the joints: drives, friction, springs on joints.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from robodyn.base import Array, refuse, replacing
from robodyn.computation.results.archive import ArchiveError, ArchiveKind, read_arrays, write_arrays
from robodyn.computation.results.store import read_record

from .nominal import ARRAYS, Nominal

NOMINAL_FILE = ArchiveKind("nominal", "the file of a nominal motion", version=2)
NAMES, OTHERS = ("joints", "signals", "curved"), ("points", "parameters", "digest")
"""Entries that describe the arrays: tuples of names, and the rest."""
REMEDY = "compute the nominal motion and save it again"


def save_nominal(nominal: Nominal, path: str | Path) -> Path:
    """Write a nominal motion to one file, all or nothing, and return its path."""
    about = {name: getattr(nominal, name) for name in (*NAMES, *OTHERS)}
    return write_arrays(path, NOMINAL_FILE, about, {name: getattr(nominal, name) for name in ARRAYS})


def load_nominal(path: str | Path) -> Nominal:
    """Read a nominal motion; a ModelError says what is wrong with a file that cannot be used."""
    try:
        return read_arrays(path, NOMINAL_FILE, _from_record)
    except OSError as error:
        what = f"cannot be read: {error.strerror or error}"
        refuse(str(path), what, REMEDY)
    except ArchiveError as error:
        refuse(str(path), f"is {error}", REMEDY)


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


def _from_record(about: dict[str, Any], **arrays: Array) -> Nominal:
    nominal = read_record(Nominal, {name: about[name] for name in (*NAMES, *OTHERS)} | arrays)
    # All arrays have a row for each time, and columns for all joints and signals.
    R, n, k = len(nominal.times), len(nominal.joints), len(nominal.signals)
    shapes: dict[str, tuple[int, ...]] = {"times": (R,), "curvature": (R, n, n * len(nominal.curved))}
    shapes |= dict.fromkeys(("position", "velocity", "acceleration", "torque", "torque_rate"), (R, n))
    shapes |= {"outputs": (R, k), "outputs_by_position": (R, k, n), "outputs_by_velocity": (R, k, n)}
    for name in ARRAYS:
        if getattr(nominal, name).shape != shapes.get(name, (R, n, n)):
            raise ValueError(f"{name} has the shape {getattr(nominal, name).shape}")
    return nominal
