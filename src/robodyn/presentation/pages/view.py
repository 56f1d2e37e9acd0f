"""View of a machine: how does it look and move before any simulation? A page with a slider for every joint."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from robodyn.base.waiting import told_if_slow

from .closures import read_closures
from .columns import encode_time
from .contents import find_undrawn
from .machine import find_mechanism, read_geometry
from .mesh_store import BUDGET, MeshStore, check_budget
from .page import SCRIPTS, assemble_page, write_page

Plain = dict[str, Any]
_SCRIPTS = (*SCRIPTS[:-1], "closing.js", "view.js")
_QUATERNION = {"w": 1.0, "x": 0.0, "y": 0.0, "z": 0.0}
_REACH = 1.0
"""Of a slide without limits, either way [m]."""
LOOSE = "Not kept while joints are moved here: {}."


def write_view(description: Plain, start: Mapping[str, float], path: str | Path, **options: Any) -> Path:
    """Write the page of a machine to a file, all or nothing; see `make_view`."""
    return write_page(make_view(description, start, **options), path)


@told_if_slow("drawing the page")
def make_view(
    description: Plain, start: Mapping[str, float], *, notes: Sequence[str] = (), mesh_budget: float = BUDGET
) -> str:
    """The page of a scenario's machine as text.

    Args:
        description: the scenario as plain data, as runs have it too.
        start: positions by their names, such as `elbow.position`; others are 0.
        notes: sentences to be shown above it.
        mesh_budget: megabytes that meshes may take; they are decimated until they fit.
    """
    check_budget(mesh_budget)
    meshes = MeshStore()
    machine, problem = read_geometry(description, {}, meshes)
    if machine is None:
        raise ValueError(problem)
    closures, left = read_closures(description, machine)
    said = [*notes, *find_undrawn(machine), *([LOOSE.format(", ".join(left))] if left else [])]
    data = {"runs": [_still(machine, start)], "sliders": _sliders(description, start), "notes": said}
    data["closures"] = closures
    return assemble_page("view.html", _SCRIPTS, str(description.get("name") or ""), data | meshes.encode(mesh_budget))


def _still(machine: Plain, start: Mapping[str, float]) -> Plain:
    """A run of one instant, in which every position stands at its start."""
    positions: dict[str, float] = {}
    for joint in machine["joints"]:
        name = joint["name"]
        if joint["kind"] == "ball":
            positions |= {f"{name}.orientation.{part}": origin for part, origin in _QUATERNION.items()}
        elif joint["kind"] != "fixed":
            positions[f"{name}.position"] = 0.0
    positions |= {mode: 0.0 for body in machine["bodies"] for mode in body.get("shape", {}).get("modes", ())}
    signals = [
        {"name": name, "unit": "", "held": True, "rate": None, "type": "constant", "data": start.get(name, origin)}
        for name, origin in positions.items()
    ]
    columns = {"rows": 1, "kept": 1, "time": encode_time(np.zeros(1)), "knots": None, "signals": signals}
    return {"label": machine["name"], "machine": machine, "machine_note": "", "events": [], **columns}


def _sliders(description: Plain, start: Mapping[str, float]) -> list[Plain]:
    """What can be moved: each motion along or about an axis, with its range, and each ball."""
    mechanism = find_mechanism(description) or {}
    found = []
    for joint in mechanism["joints"]:
        for name, kind, *_ in joint.get("motions") or [[joint["name"], joint["kind"]]]:
            if kind != "fixed":
                found.append(_slider(str(name), str(kind), joint, start))
    return found


def _slider(name: str, kind: str, joint: Plain, start: Mapping[str, float]) -> Plain:
    plain: Plain = {"name": name, "kind": kind, "unit": "m" if kind == "prismatic" else "rad"}
    if kind == "ball":
        return plain
    value = start.get(f"{name}.position", 0.0)
    lower, upper = joint.get("lower_limit"), joint.get("upper_limit")
    reach = _REACH if kind == "prismatic" else math.pi
    low = value - reach if lower is None else min(lower, value)
    high = value + reach if upper is None else max(upper, value)
    plain |= {"limits": [lower, upper], "range": [low, high]}
    if follows := joint.get("mimic"):
        leads = {"ratio": follows.get("ratio", 1.0), "offset": follows.get("offset", 0.0)}
        plain["follows"] = {"joint": str(follows["joint"]), **leads}
    return plain
