"""Meshes of a page: which are on it, each once, and how do they fit into it?"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

import numpy as np

from robodyn.base.untrusted import MEGABYTE

from .decimation import fit_budget
from .meshes import FINEST, Mesh, read_meshes

Plain = dict[str, Any]
BUDGET = 2.0
"""Megabytes of a page that meshes may take."""
MOST_BUDGET = 500.0


def check_budget(budget: float) -> None:
    if not 0 < budget <= MOST_BUDGET:
        raise ValueError(f"the budget of meshes is above 0, at most {MOST_BUDGET:g} MB, not {budget:g}")


class MeshStore:
    """Collects the meshes of a page by file and scale."""

    def __init__(self) -> None:
        self.meshes: list[Mesh] = []
        self._numbers: dict[tuple[str, tuple[float, ...]], list[int]] = {}

    def find(self, path: str, scale: Sequence[float]) -> list[int]:
        """Numbers of a file's meshes.

        Raises:
            OSError, ValueError: for a file that cannot be read.
        """
        key = path, tuple(scale)
        if key not in self._numbers:
            found = read_meshes(path, scale)
            self._numbers[key] = list(range(len(self.meshes), len(self.meshes) + len(found)))
            self.meshes += found
        return self._numbers[key]

    def encode(self, budget: float) -> Plain:
        """The meshes as JSON-able values in so many megabytes, and a sentence on what was left out for that."""
        if not self.meshes:
            return {"meshes": [], "mesh_note": ""}
        fitted, cell = fit_budget(self.meshes, int(budget * MEGABYTE))
        before, after = (sum(len(mesh.faces) for mesh in meshes) for meshes in (self.meshes, fitted))
        note = (
            f"Meshes are drawn with {after:,} of {before:,} triangles, without details of about {1e3 * cell:.2g} mm, "
            f"to fit into {budget:g} MB: a larger budget of meshes shows more"
        )
        return {"meshes": [_encode(mesh) for mesh in fitted], "mesh_note": note if cell else ""}


def _encode(mesh: Mesh) -> Plain:
    """Corners as steps from the low end of the box around them, and triangles, each as base64."""
    low = mesh.corners.min(axis=0) if len(mesh.corners) else np.zeros(3)
    step = (np.ptp(mesh.corners, axis=0) if len(mesh.corners) else np.zeros(3)) / FINEST
    steps = np.round((mesh.corners - low) / np.where(step > 0, step, 1.0))
    kind = "<u2" if len(mesh.corners) <= 1 << 16 else "<u4"
    return {
        "low": low.tolist(),
        "step": step.tolist(),
        "corners": _text(steps, "<u2"),
        "faces": _text(mesh.faces, kind),
        "wide": kind == "<u4",
        "colour": mesh.colour,
    }


def _text(values: np.ndarray, kind: str) -> str:
    return base64.b64encode(np.ascontiguousarray(values).astype(kind).tobytes()).decode("ascii")
