"""How is a tool's path written in a TOML file? A line, an arc or way-points with a speed: a reference block."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from robodyn.errors import nearest
from robodyn.files.reading import read_rotation
from robodyn.files.table import FAILED, Table, attempt
from robodyn.model import Block, Mechanism
from robodyn.paths import (
    CartesianPath,
    JointLimits,
    JointPath,
    arc_about,
    arc_through,
    path_block,
    plan_path,
    point_tool,
    straight_line,
    way_points,
)

Shape = tuple[Callable[..., CartesianPath], tuple[Any, ...]]


def read_path(name: str, table: Table, mechanism: Mechanism | None) -> Block | None:
    """The reference block of a path: its shape read, planned for the mechanism, with every flaw noted.

    Args:
        mechanism: None where there is none or it is flawed; the path's table is then checked by itself.
    """
    before = len(table.flaws.found)
    point = table.text("point")
    shape = _read_shape(table)
    turns = (_read_orientation(table, "orientation"), _read_orientation(table, "end_orientation"))
    profile = _read_profile(table)
    choice = _read_choice(table)
    timing = {key: table.number(key, "s") for key in ("begin", "period", "delay") if key in table}
    table.finish()
    if len(table.flaws.found) > before or shape is None:
        return FAILED
    make, places = shape
    path = attempt(table, make, *places, *(turn for turn in turns if turn is not None))
    if mechanism is None and not table.flaws.found:
        table.flaws.add(table.at("point"), "there is no mechanism that could follow the path", "give bodies and joints")
    if path is FAILED or mechanism is None:
        return FAILED
    plan: JointPath | None = attempt(table, plan_path, mechanism, point, path, **choice, **profile)
    return FAILED if plan is None else attempt(table, path_block, name, plan, **profile, **timing)


def _read_shape(table: Table) -> Shape | None:
    """What makes the path, and from which places."""
    kind = table.text("kind")
    known = {"line": _read_line, "arc": _read_arc, "points": _read_points}
    if kind is None:
        return None
    if kind not in known:
        table.flaws.add(table.at("kind"), f"'{kind}' is unknown", nearest(kind, known))
        return None
    shape = known[kind](table)
    return None if any(place is None for place in shape[1]) else shape


def _read_line(table: Table) -> Shape:
    return straight_line, (table.vector("start", "m", 3), table.vector("end", "m", 3))


def _read_arc(table: Table) -> Shape:
    """Through start, middle and end; or from start about center and normal by an angle."""
    start = table.vector("start", "m", 3)
    if "center" in table:
        about = (table.vector("center", "m", 3), table.vector("normal", "", 3), start, table.number("angle", "rad"))
        return arc_about, about
    return arc_through, (start, table.vector("middle", "m", 3), table.vector("end", "m", 3))


def _read_points(table: Table) -> Shape:
    points = table.matrix("points", "m")
    radius = table.raw("radius")
    if radius is not None:
        radius = table.vector("radius", "m") if isinstance(radius, list) else table.number("radius", "m")
    return way_points, (points, radius)


def _read_orientation(table: Table, key: str) -> Any:
    """R_world_tool: where the tool's axis points and its spin, or rpy, quaternion or rotation; None where not given."""
    if key not in table and key == "end_orientation":
        return None
    entries = table.table(key)
    if not entries.data:
        table.flaws.add(table.at(key), "is missing", "say where the tool points: { pointing = [0, 0, -1] }")
        return None
    if "pointing" not in entries:
        found = read_rotation(entries)
        entries.finish()
        return found
    direction = entries.vector("pointing", "", 3)
    axis = entries.vector("axis", "", 3, (0.0, 0.0, 1.0))
    spin = entries.number("spin", "rad", 0.0)
    entries.finish()
    for word, vector in (("pointing", direction), ("axis", axis)):
        if vector is not None and not np.linalg.norm(vector) > 0:
            entries.flaws.add(entries.at(word), "must not be zero")
            return None
    return None if None in (direction, axis, spin) else point_tool(direction, spin, axis)


def _read_profile(table: Table) -> dict[str, Any]:
    units = {"speed": "m/s", "acceleration": "m/s^2"}
    profile = {key: table.number(key, unit) for key, unit in units.items()}
    return profile | ({"jerk": table.number("jerk", "m/s^3")} if "jerk" in table else {})


def _read_choice(table: Table) -> dict[str, Any]:
    """Branch, limits and settings of the plan."""
    choice: dict[str, Any] = {}
    if "near" in table:
        choice["near"] = table.vector("near", "rad", 6)
    if "branch" in table:
        choice["branch"] = table.integer("branch")
    if "spacing" in table:
        choice["spacing"] = table.number("spacing", "m")
    if "singular" in table:
        choice["singular"] = table.number("singular")
    if "limits" in table:
        choice["limits"] = {joint: _read_limits(entry) for joint, entry in table.tables("limits")}
    return choice


def _read_limits(table: Table) -> JointLimits | None:
    units = {"lower": "rad", "upper": "rad", "speed": "rad/s", "acceleration": "rad/s^2"}
    given = {key: table.number(key, unit) for key, unit in units.items() if key in table}
    table.finish()
    return FAILED if None in given.values() else attempt(table, JointLimits, **given)
