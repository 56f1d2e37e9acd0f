"""How is a mechanism written in a TOML file? Tables bodies, joints, points, or a Denavit-Hartenberg table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from robodyn.errors import FlawList
from robodyn.files.denavit_hartenberg import mechanism_from_dh
from robodyn.files.row_tables import ARMATURE, read_rows
from robodyn.files.table import FAILED, Table, attempt
from robodyn.model import Body, Joint, Mechanism, Point
from robodyn.model.body import TENSOR
from robodyn.model.joint import IDENTITY, Z_AXIS
from robodyn.model.mechanism import check_topology
from robodyn.spatial import from_quaternion, from_rpy

ORIGIN = (0.0, 0.0, 0.0)
TABLES = ("bodies", "joints", "points", "dh", "gravity")


@dataclass(frozen=True)
class Declared:
    """The mechanism of a file (None where it has none or where it is flawed), and the names it declares."""

    mechanism: Mechanism | None = None
    joints: tuple[str, ...] = ()
    points: tuple[str, ...] = ()


@dataclass(frozen=True)
class JointStub:
    """What the chain needs to know of a joint, be the rest of it flawed."""

    name: str
    parent: str
    child: str


def read_mechanism(root: Table, name: str) -> Declared:
    """The mechanism of a file, with every flaw of its tables noted."""
    if not any(key in root for key in TABLES):
        return Declared()
    before = len(root.flaws.found)
    bodies = {key: _read_body(key, table) for key, table in root.tables("bodies")}
    points = {key: _read_point(key, table) for key, table in root.tables("points")}
    gravity = root.vector("gravity", "m/s^2", 3, (0.0, 0.0, -9.81))
    good_points = [point for point in points.values() if point is not None]
    if "dh" in root:
        if "joints" in root:
            root.flaws.add("joints", "cannot stand beside a dh table", "give one of the two")
            root.asked.add("joints")
        rows = read_rows(root.table("dh"), bodies)
        joints = tuple(row.joint for row in rows.found if row.kind != "fixed")
        good = len(root.flaws.found) == before
        make = (mechanism_from_dh, name, rows.found, rows.bodies, rows.convention)
        made = attempt(_top(root), *make, points=good_points, gravity=gravity) if good else None
        return Declared(made, joints, tuple(points))
    read = {key: _read_joint(key, table) for key, table in root.tables("joints")}
    joints = tuple(key for key in read if _raw(root, key, "kind") != "fixed")
    if len(root.flaws.found) > before:
        _check_chain(root, list(bodies), list(read), good_points)
        return Declared(None, joints, tuple(points))
    made = attempt(_top(root), Mechanism, name, bodies.values(), read.values(), good_points, gravity)
    return Declared(made, joints, tuple(points))


def _top(root: Table) -> Table:
    return Table({}, "", root.flaws)


def _raw(root: Table, joint: str, key: str) -> Any:
    table = root.data["joints"][joint]
    return table.get(key) if isinstance(table, Mapping) else None


def _check_chain(root: Table, bodies: list[str], joints: list[str], points: list[Point]) -> None:
    """Tell problems of the chain together with those of its parts, where its ends are known."""
    stubs = [JointStub(key, _raw(root, key, "parent"), _raw(root, key, "child")) for key in joints]
    if all(isinstance(end, str) for stub in stubs for end in (stub.parent, stub.child)):
        topology = FlawList()
        check_topology(topology, bodies, stubs, points)
        root.flaws.extend(topology.found)


def _read_body(name: str, table: Table) -> Body | None:
    mass = table.number("mass", "kg", 0.0)
    com = table.vector("com", "m", 3, ORIGIN)
    inertia = _read_inertia(table)
    about = table.text("about", "com")
    physical = table.flag("physical", True)
    table.finish()
    if about not in (None, "com", "origin"):
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
    if isinstance(value, list) and any(isinstance(row, list) for row in value):
        return table.matrix("inertia", "kg m^2")
    return table.vector("inertia", "kg m^2", None, (0.0,) * 6)


def read_rotation(table: Table) -> Any:
    """Exactly one of rpy (fixed-axis roll, pitch, yaw), quaternion (w, x, y, z), rotation (3x3)."""
    given = [key for key in ("rpy", "quaternion", "rotation") if key in table]
    if len(given) > 1:
        table.flaws.add(table.path, f"gives {' and '.join(given)}", "give one of rpy, quaternion, rotation")
    rpy = table.vector("rpy", "rad", 3, ORIGIN)
    quaternion = table.vector("quaternion", "", 4, (1.0, 0.0, 0.0, 0.0))
    rotation = table.matrix("rotation", "") if "rotation" in table else IDENTITY
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
    origin = table.vector("origin", "m", 3, ORIGIN)
    rotation = read_rotation(table)
    axis = table.vector("axis", "", 3, Z_AXIS)
    armature = table.number("armature", ARMATURE.get(kind, "{I}"), 0.0)
    table.finish()
    return attempt(table, Joint, name, kind, parent, child, origin, rotation, axis, armature)


def _read_point(name: str, table: Table) -> Point | None:
    body = table.text("body")
    origin = table.vector("origin", "m", 3, ORIGIN)
    table.finish()
    return attempt(table, Point, name, body, origin)
