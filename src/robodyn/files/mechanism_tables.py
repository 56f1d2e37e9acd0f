"""How is a mechanism written in a TOML file? Tables bodies, joints, points, or a Denavit-Hartenberg table."""

from __future__ import annotations

from typing import Any

import numpy as np

from robodyn.errors import FlawList, ModelError, nearest
from robodyn.files.denavit_hartenberg import CONVENTIONS, DHRow, mechanism_from_dh
from robodyn.files.table import Table
from robodyn.model import Body, Joint, Mechanism, Point
from robodyn.model.body import TENSOR
from robodyn.model.joint import IDENTITY
from robodyn.model.mechanism import check_topology
from robodyn.spatial import from_quaternion, from_rpy

FAILED: Any = None


def attempt(table: Table, make: Any, *arguments: Any, **named: Any) -> Any:
    """Make a description; its flaws are noted under the table's path."""
    if any(argument is FAILED for argument in (*arguments, *named.values())):
        return FAILED
    try:
        return make(*arguments, **named)
    except ModelError as error:
        table.flaws.extend(error.flaws, under=table.path)
        return FAILED


def read_mechanism(root: Table, name: str) -> Mechanism | None:
    """The mechanism of a file, None where it has none or where it is flawed."""
    if not any(key in root for key in ("bodies", "joints", "points", "dh", "gravity")):
        return None
    before = len(root.flaws.found)
    bodies = [(key, _read_body(key, table)) for key, table in root.tables("bodies")]
    points = [(key, _read_point(key, table)) for key, table in root.tables("points")]
    gravity = root.vector("gravity", "m/s^2", 3, (0.0, 0.0, -9.81))
    good_bodies = [body for _, body in bodies if body is not FAILED]
    good_points = [point for _, point in points if point is not FAILED]
    if "dh" in root:
        rows = root.table("dh")
        if "joints" in root:
            root.flaws.add("joints", "cannot stand beside a dh table", "give one of the two")
        return _read_dh(rows, name, bodies, good_points, gravity, len(root.flaws.found) == before)
    joints = [joint for key, table in root.tables("joints") if (joint := _read_joint(key, table)) is not FAILED]
    if len(root.flaws.found) > before:
        # The chain is checked all the same, so that its problems are told together with the others.
        topology = FlawList()
        check_topology(topology, [key for key, _ in bodies], joints, good_points)
        broken = {key for key, _ in bodies} | {"joints"}
        root.flaws.extend(flaw for flaw in topology.found if "joints" not in root or flaw.path not in broken)
        return None
    return attempt(Table({}, "", root.flaws), Mechanism, name, good_bodies, joints, good_points, gravity)


def _read_body(name: str, table: Table) -> Body | None:
    mass = table.number("mass", "kg", 0.0)
    com = table.vector("com", "m", 3, (0.0, 0.0, 0.0))
    inertia = _read_inertia(table)
    about = table.text("about", "com")
    physical = table.flag("physical", True)
    table.finish()
    if about not in ("com", "origin"):
        table.flaws.add(table.at("about"), f"must be 'com' or 'origin', is {about!r}")
        return FAILED
    make = Body if about == "com" else Body.about_origin
    return attempt(table, make, name, mass, com, inertia, physical)


def _read_inertia(table: Table) -> Any:
    value = table.raw("inertia", (0.0,) * 6)
    if isinstance(value, dict):
        entries = table.table("inertia")
        found = tuple(entries.number(key, "kg m^2", 0.0) for key in TENSOR)
        entries.finish()
        return FAILED if None in found else found
    if isinstance(value, list) and value and isinstance(value[0], list):
        rows = [[table.quantity(table.at("inertia"), entry, "kg m^2") for entry in row] for row in value]
        return FAILED if any(None in row for row in rows) else rows
    return table.vector("inertia", "kg m^2", None, (0.0,) * 6)


def _read_rotation(table: Table) -> Any:
    """Exactly one of rpy (fixed-axis roll, pitch, yaw), quaternion (w, x, y, z), rotation (3x3)."""
    given = [key for key in ("rpy", "quaternion", "rotation") if key in table]
    if len(given) > 1:
        table.flaws.add(table.path, f"gives {' and '.join(given)}", "give one of rpy, quaternion, rotation")
    rpy = table.vector("rpy", "rad", 3, (0.0, 0.0, 0.0))
    quaternion = table.vector("quaternion", "", 4, (1.0, 0.0, 0.0, 0.0))
    rotation = table.raw("rotation", IDENTITY)
    if rpy is None or quaternion is None:
        return FAILED
    if "quaternion" in table:
        if not np.linalg.norm(quaternion) > 0:
            table.flaws.add(table.at("quaternion"), "must not be zero")
            return FAILED
        return from_quaternion(*(np.asarray(quaternion) / np.linalg.norm(quaternion)))
    return from_rpy(*rpy) if "rpy" in table else rotation


def _read_joint(name: str, table: Table) -> Joint | None:
    kind, parent, child = table.text("kind"), table.text("parent"), table.text("child")
    origin = table.vector("origin", "m", 3, (0.0, 0.0, 0.0))
    rotation = _read_rotation(table)
    axis = table.vector("axis", "", 3, (0.0, 0.0, 1.0))
    armature = table.number("armature", "", 0.0)
    table.finish()
    return attempt(table, Joint, name, kind, parent, child, origin, rotation, axis, armature)


def _read_point(name: str, table: Table) -> Point | None:
    body = table.text("body")
    origin = table.vector("origin", "m", 3, (0.0, 0.0, 0.0))
    rotation = _read_rotation(table)
    table.finish()
    return attempt(table, Point, name, body, origin, rotation)


def _read_dh(table: Table, name: str, bodies: Any, points: Any, gravity: Any, complete: bool) -> Mechanism | None:
    convention = table.text("convention", "standard")
    entries = table.raw("rows")
    table.finish()
    if convention not in CONVENTIONS:
        table.flaws.add(table.at("convention"), f"'{convention}' is unknown", nearest(str(convention), CONVENTIONS))
    by_name = dict(bodies)
    rows, carried = [], []
    for k, entry in enumerate(entries if isinstance(entries, list) else []):
        row = Table(entry, f"{table.at('rows')}[{k}]", table.flaws)
        body = row.text("body")
        carried.append(by_name.get(body))
        if body is not None and body not in by_name:
            table.flaws.add(row.at("body"), f"there is no body '{body}'", nearest(body, by_name))
        joint, kind = row.text("joint"), row.text("kind", "revolute")
        lengths = [row.number(key, "m", 0.0) for key in ("a", "d")]
        angles = [row.number(key, "rad", 0.0) for key in ("alpha", "theta")]
        armature = row.number("armature", "", 0.0)
        row.finish()
        rows.append(DHRow(joint, lengths[0], angles[0], lengths[1], angles[1], kind, armature))
    if not complete or table.flaws.found:
        return FAILED
    return attempt(table, mechanism_from_dh, name, rows, carried, convention, points=points, gravity=gravity)
