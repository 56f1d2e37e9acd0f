"""How is a mechanism written in a TOML file? Tables bodies, joints, points, or a Denavit-Hartenberg table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from robodyn.errors import FlawList
from robodyn.files.body_tables import ORIGIN, is_flexible, read_body
from robodyn.files.denavit_hartenberg import mechanism_from_dh
from robodyn.files.row_tables import ARMATURE, read_rows
from robodyn.files.section_tables import check_used, read_sections
from robodyn.files.table import FAILED, Table, attempt
from robodyn.model import Body, FlexibleBody, Joint, Mechanism, Point
from robodyn.model.flexible import check_attachments
from robodyn.model.joint import IDENTITY, Z_AXIS
from robodyn.model.mechanism import check_topology
from robodyn.spatial import from_quaternion, from_rpy

TABLES = ("bodies", "joints", "points", "dh", "gravity", "sections")
# Modes that a flexible body is supposed to have as long as its own are not known.
SUPPOSED = 12


@dataclass(frozen=True)
class Declared:
    """The mechanism of a file (None where it has none or where it is flawed), and the names it declares."""

    mechanism: Mechanism | None = None
    joints: tuple[str, ...] = ()
    points: tuple[str, ...] = ()
    modes: tuple[str, ...] = ()
    flexible: tuple[str, ...] = ()

    @property
    def moving(self) -> tuple[str, ...]:
        """Moving joints and modes, which can be used like them."""
        return (*self.joints, *self.modes)


@dataclass(frozen=True)
class JointStub:
    """What the chain needs to know of a joint, be the rest of it flawed."""

    name: str
    parent: str
    child: str


def read_mechanism(root: Table, name: str, folder: Path) -> Declared:
    """The mechanism of a file, with every flaw of its tables noted.

    Args:
        folder: where files with modal data stand.
    """
    if not any(key in root for key in TABLES):
        return Declared()
    before = len(root.flaws.found)
    sections = read_sections(root)
    tables = dict(root.tables("bodies"))
    bodies = {key: read_body(key, table, sections, folder) for key, table in tables.items()}
    check_used(root, sections)
    points = {key: _read_point(key, table, bodies) for key, table in root.tables("points")}
    gravity = root.vector("gravity", "m/s^2", 3, (0.0, 0.0, -9.81))
    good_points = [point for point in points.values() if point is not None]
    good_points += [point for key, body in bodies.items() for point in _node_points(body, tables[key])]
    flexible = tuple(key for key, table in tables.items() if is_flexible(table))
    names = {
        "points": tuple(dict.fromkeys([*points, *(point.name for point in good_points), *_supposed(bodies, tables)])),
        "modes": tuple(mode for key in flexible for mode in _mode_names(key, bodies[key])),
        "flexible": flexible,
    }
    if "dh" in root:
        if "joints" in root:
            root.flaws.add("joints", "cannot stand beside a dh table", "give one of the two")
            root.asked.add("joints")
        rows = read_rows(root.table("dh"), bodies)
        joints = tuple(row.joint for row in rows.found if row.kind != "fixed")
        good = len(root.flaws.found) == before
        make = (mechanism_from_dh, name, rows.found, rows.bodies, rows.convention)
        made = attempt(_top(root), *make, points=good_points, gravity=gravity) if good else None
        return Declared(made, joints, **names)
    read = {key: _read_joint(key, table, bodies) for key, table in root.tables("joints")}
    joints = tuple(key for key in read if _raw(root, key, "kind") != "fixed")
    if len(root.flaws.found) > before:
        _check_chain(root, list(bodies), list(read), good_points)
        _check_carriers(root, bodies, read, good_points)
        return Declared(None, joints, **names)
    made = attempt(_top(root), Mechanism, name, bodies.values(), read.values(), good_points, gravity)
    return Declared(made, joints, **names)


def _node_points(body: Body | None, table: Table) -> tuple[Point, ...]:
    """A point at every node of a flexible body that asks for them."""
    return body.points() if isinstance(body, FlexibleBody) and table.data.get("points") is True else ()


def _supposed(bodies: Mapping[str, Body | None], tables: Mapping[str, Table]) -> list[str]:
    """Points at the named nodes of flexible bodies that could not be read."""
    flawed = [key for key, table in tables.items() if bodies[key] is None and table.data.get("points") is True]
    nodes = {key: list(Table(tables[key].data.get("frame", {}), "", FlawList()).table("nodes").data) for key in flawed}
    return [f"{key}.{node}" for key in flawed for node in (*nodes[key], "root", "tip")]


def _mode_names(name: str, body: Body | None) -> list[str]:
    """Of a flexible body; one that could not be read may have any number, of which some are supposed."""
    if isinstance(body, FlexibleBody):
        return [mode.name for mode in body.modes]
    return [f"{name}.mode{k + 1}" for k in range(SUPPOSED)]


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


def _check_carriers(root: Table, bodies: Mapping[str, Any], joints: Mapping[str, Any], points: list[Point]) -> None:
    """Tell what stands at no node of a flexible body, where both could be read."""
    good = [body for body in bodies.values() if body is not None]
    names = {body.name for body in good}
    hanging = [joint for joint in joints.values() if joint is not None and joint.parent in names]
    carriers = FlawList()
    check_attachments(carriers, good, hanging, [point for point in points if point.body in names])
    root.flaws.extend(carriers.found)


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


def _read_joint(name: str, table: Table, bodies: Mapping[str, Body | None]) -> Joint | None:
    kind, parent, child = table.text("kind"), table.text("parent"), table.text("child")
    place = _read_place(table, parent, bodies)
    rotation = read_rotation(table)
    axis = table.vector("axis", "", 3, Z_AXIS)
    armature = table.number("armature", ARMATURE.get(kind, "{I}"), 0.0)
    table.finish()
    return attempt(table, Joint, name, kind, parent, child, rotation=rotation, axis=axis, armature=armature, **place)


def _read_point(name: str, table: Table, bodies: Mapping[str, Body | None]) -> Point | None:
    body = table.text("body")
    place = _read_place(table, body, bodies)
    table.finish()
    return attempt(table, Point, name, body, **place)


def _read_place(table: Table, on: Any, bodies: Mapping[str, Body | None]) -> dict[str, Any]:
    """Origin and node; what names a node of a flexible body and no origin stands at that node."""
    node = table.text("node") if "node" in table else None
    body = bodies.get(on) if isinstance(on, str) else None
    carrier = body.find_node(ORIGIN, node) if node is not None and isinstance(body, FlexibleBody) else None
    origin = table.vector("origin", "m", 3, carrier.position if carrier else ORIGIN)
    return {"origin": origin} | ({"node": node} if "node" in table else {})
