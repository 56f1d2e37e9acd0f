"""Mechanisms of TOML files: tables bodies, joints, points, or a Denavit-Hartenberg table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from robodyn.base import FlawList, frozen, nearest, refuse, refuse_word
from robodyn.base.spatial import Pose, about_axis
from robodyn.description.model import GROUND, Body, Description, FlexibleBody, Freedom, Joint, Mechanism, Point
from robodyn.description.model.body import check_attachments
from robodyn.description.model.fields import X_AXIS, Z_AXIS, choice, declare_as, part_name, quantity, reference
from robodyn.description.model.joint import KINDS, POSITION, name_axes
from robodyn.description.model.mechanism import check_topology

from .flexible_forms import FLEXIBLE, read_sections
from .reading import FORMS, TableReader
from .table import FAILED, TomlTable, attempt

# --------------------------------------------------------------------------------------------------
# Denavit-Hartenberg tables: how does one become a mechanism?
#
#     standard: A_i = Rz(theta) Tz(d) Tx(a) Rx(alpha)      (frame i at the far end of link i)
#     modified: A_i = Rx(alpha) Tx(a) Rz(theta) Tz(d)      (Craig, Khalil: frame i on joint i's axis)
#
# The joint variable adds to theta (revolute) or to d (prismatic). Bodies are given in the frame i of their row.


CONVENTIONS = ("standard", "modified")


class DHRow(Description):
    """One row of the table: its joint with two lengths and two angles."""

    NOUN = "row"

    joint: str = part_name(key="joint", doc="name of the joint")
    a: float = quantity("m", default=0.0, doc="length along x")
    alpha: float = quantity("rad", default=0.0, doc="angle about x")
    d: float = quantity("m", default=0.0, doc="length along z")
    theta: float = quantity("rad", default=0.0, doc="angle about z")
    kind: str = choice(KINDS, default="revolute", doc="of the joint")
    armature: float = declare_as(Joint, "armature")
    lower_limit: float | None = declare_as(Joint, "lower_limit")
    upper_limit: float | None = declare_as(Joint, "upper_limit")
    speed_limit: float | None = declare_as(Joint, "speed_limit")
    acceleration_limit: float | None = declare_as(Joint, "acceleration_limit")
    effort_limit: float | None = declare_as(Joint, "effort_limit")
    damping: float | None = declare_as(Joint, "damping")
    friction: float | None = declare_as(Joint, "friction")
    stop_stiffness: float | None = declare_as(Joint, "stop_stiffness")
    stop_damping: float | None = declare_as(Joint, "stop_damping")
    stop_restitution: float | None = declare_as(Joint, "stop_restitution")


def mechanism_from_dh(
    name: str,
    rows: Sequence[DHRow],
    bodies: Sequence[Body],
    convention: str = "standard",
    *,
    base: Pose | None = None,
    points: Sequence[Point] = (),
    gravity: Sequence[float] = (0.0, 0.0, -9.81),
) -> Mechanism:
    """Build an open chain from a table, one body for each row.

    Args:
        base: pose of frame 0 in the world.
    """
    refuse_word("convention", convention, CONVENTIONS)
    if len(rows) != len(bodies):
        what = f"there are {len(bodies)} for {len(rows)} rows"
        refuse("bodies", what, "one body for each row")
    parts: list[Body] = []
    joints: list[Joint] = []
    parent, before = GROUND, base or Pose.identity()
    for row, body in zip(rows, bodies, strict=True):
        spin = Pose(about_axis(Z_AXIS, row.theta), (0.0, 0.0, row.d))
        twist = Pose(about_axis(X_AXIS, row.alpha), (row.a, 0.0, 0.0))
        if convention == "modified":
            joints.append(_moving_joint(row, parent, body.name, before @ twist @ spin))
        else:
            # The joint rotates about the previous z axis: a massless hub carries the constant rest of A_i.
            hub = Body(f"{row.joint}_hub")
            parts.append(hub)
            joints.append(_moving_joint(row, parent, hub.name, before))
            rest = spin @ twist
            joints.append(Joint(f"{row.joint}_frame", "fixed", hub.name, body.name, rest.p, rest.R))
        parts.append(body)
        parent, before = body.name, Pose.identity()
    return Mechanism(name, tuple(parts), tuple(joints), tuple(points), tuple(gravity))


def _moving_joint(row: DHRow, parent: str, child: str, pose: Pose) -> Joint:
    own = {field: getattr(row, field) for field in row.KINDS if field in Joint.KINDS and field != "kind"}
    return Joint(row.joint, row.kind, parent, child, pose.p, pose.R, Z_AXIS, **own)


# --------------------------------------------------------------------------------------------------
# Mechanisms of TOML files: tables bodies, joints, points, or a Denavit-Hartenberg table.


class BodyForm(Body):
    """A rigid body, whose inertia may be about the origin of its frame."""

    about: str = choice(("com", "origin"), default="com", doc="what `inertia` is about")

    def check(self, flaws: FlawList) -> None:
        """Whether it is possible, the body itself says."""

    def made(self) -> Body:
        make = Body if self.about == "com" else Body.about_origin
        return make(self.name, self.mass, self.com, self.inertia, self.physical, self.looks)


class RowForm(DHRow):
    """A row of a Denavit-Hartenberg table, with the body it carries."""

    body: str = reference("body", default="", doc="the body of the row, in its frame i", absent="required")


BODIES = FORMS[Body] = (BodyForm, *FLEXIBLE, FlexibleBody)
TABLES = ("bodies", "joints", "points", "dh", "gravity", "sections")
# Modes that a flexible body is supposed to have as long as its own are not known.
SUPPOSED = 12


@frozen
class Declared:
    """The mechanism of a file (None where it has none or where it is flawed), and the names it declares.

    Attributes:
        joints: axes of joints; chained: joints that have several motions, or none.
    """

    mechanism: Mechanism | None = None
    joints: tuple[str, ...] = ()
    chained: tuple[str, ...] = ()
    points: tuple[str, ...] = ()
    modes: tuple[str, ...] = ()
    bodies: tuple[str, ...] = ()

    @property
    def freedoms(self) -> tuple[Freedom, ...]:
        """The motions of its joints, and its modes, where the mechanism could be made."""
        return self.mechanism.freedoms if self.mechanism else ()

    @property
    def moving(self) -> tuple[str, ...]:
        """Axes of joints, and modes, which can be used like them."""
        return (*self.joints, *self.modes)


@frozen
class JointStub:
    """The part of a joint that the chain needs to know, be the rest of it flawed."""

    name: str
    parent: str
    child: str


def read_mechanism(root: TomlTable, name: str, reader: TableReader) -> Declared:
    """The mechanism of a file, with every flaw of its tables noted."""
    name = root.text("mechanism", name)
    if not [key for key in TABLES if key in root]:
        return Declared()
    before = len(root.flaws.found)
    sections = read_sections(root, reader)
    tables = dict(root.tables("bodies"))
    bodies = {key: reader.read(table, BODIES, key) for key, table in tables.items()}
    sections.check_used(root)
    points = {key: _read_placed(Point, "body", key, table, bodies, reader) for key, table in root.tables("points")}
    gravity = root.vector("gravity", "m/s^2", 3, (0.0, 0.0, -9.81))
    good_points = [point for point in points.values() if point is not None]
    # A point at every node of a flexible body that asks for them.
    for key, body in bodies.items():
        if isinstance(body, FlexibleBody) and tables[key].data.get("points") is True:
            good_points += body.points()
    flexible = tuple(key for key, table in tables.items() if is_flexible(table))
    names = {
        "points": tuple(dict.fromkeys([*points, *(point.name for point in good_points), *_supposed(bodies, tables)])),
        "modes": tuple(mode for key in flexible for mode in _mode_names(key, bodies[key])),
        "bodies": tuple(bodies),
    }
    top = TomlTable({}, "", root.flaws)
    if "dh" in root:
        if "joints" in root:
            root.flaws.add("joints", "cannot be combined with a dh table", "give one of the two")
            root.asked.add("joints")
        rows, carried, convention = _read_rows(root.table("dh"), bodies, reader)
        moving = tuple(row.joint for row in rows if row.kind != "fixed")
        good = len(root.flaws.found) == before
        make = (mechanism_from_dh, name, rows, carried, convention)
        return Declared(attempt(top, *make, points=good_points, gravity=gravity) if good else None, moving, (), **names)
    joints = {key: _read_placed(Joint, "parent", key, table, bodies, reader) for key, table in root.tables("joints")}
    motions = {key: name_axes(key, str(_raw(root, key, "kind"))) for key in joints}
    moving = tuple(axis for axes in motions.values() for axis in axes)
    chained = tuple(key for key in joints if key not in moving)
    if len(root.flaws.found) > before:
        # Report problems of the chain together with those of its parts, where its ends are known.
        stubs = [JointStub(key, _raw(root, key, "parent"), _raw(root, key, "child")) for key in list(joints)]
        if all(isinstance(end, str) for stub in stubs for end in (stub.parent, stub.child)):
            topology = FlawList()
            check_topology(topology, list(bodies), stubs, good_points)
            root.flaws.extend(topology.found)
        _check_carriers(root, bodies, joints, good_points)
        return Declared(None, moving, chained, **names)
    made = attempt(top, Mechanism, name, tuple(bodies.values()), tuple(joints.values()), tuple(good_points), gravity)
    return Declared(made, moving, chained, **names)


def is_flexible(table: TomlTable) -> bool:
    """Whether a table describes a body that deforms."""
    return bool([mark for cls in BODIES for mark in cls.MARKS if mark in table])


def _read_placed(
    cls: type[Description], on: str, name: str, table: TomlTable, bodies: Mapping[str, Body | None], reader: TableReader
) -> Any:
    """A joint or a point; what names a node of a flexible body and no origin stands at that node."""
    values = reader.values(table, cls)
    # Whether a mimic's offset is an angle or a length, its joint alone knows.
    mimic, unit = table.data.get("mimic"), POSITION.get(str(table.data.get("kind")))
    if unit and isinstance(mimic, Mapping) and isinstance(mimic.get("offset"), str):
        table.table("mimic").number("offset", unit)
    table.finish()
    body, node = bodies.get(str(values.get(on))), values.get("node")
    carrier = body.find_node((0.0, 0.0, 0.0), node) if node is not None and isinstance(body, FlexibleBody) else None
    origin = {"origin": carrier.position} if carrier and "origin" not in values else {}
    return reader.make(table, cls, values | origin | {"name": name})


def _read_rows(
    table: TomlTable, bodies: Mapping[str, Any], reader: TableReader
) -> tuple[list[RowForm], list[Any], str]:
    """Good rows, the bodies they carry, the convention; each body of the file must be carried by one row."""
    convention = table.text("convention", "standard")
    rows = table.rows("rows")
    table.finish()
    if convention not in (None, *CONVENTIONS):
        table.note("convention", f"'{convention}' is unknown", nearest(convention, CONVENTIONS))
    if not rows:
        return [], [], convention
    carried = [row.text("body") for row in rows]
    forms = [reader.read(row, (RowForm,)) for row in rows]
    for row, body in zip(rows, carried, strict=True):
        if body is not None and body not in bodies:
            row.note("body", f"there is no body '{body}'", nearest(body, bodies))
    if all(body in bodies for body in carried):
        for name in bodies.keys() - set(carried):
            table.flaws.add(f"bodies.{name}", "is not connected to the ground", "no row of the table carries it")
    return [row for row in forms if row is not FAILED], [bodies.get(body) for body in carried], convention


def _supposed(bodies: Mapping[str, Body | None], tables: Mapping[str, TomlTable]) -> list[str]:
    """Points at the named nodes of flexible bodies that could not be read."""
    flawed = [key for key, table in tables.items() if bodies[key] is None and table.data.get("points") is True]
    nodes = {
        key: list(TomlTable(tables[key].data.get("frame", {}), "", FlawList()).table("nodes").data) for key in flawed
    }
    return [f"{key}.{node}" for key in flawed for node in (*nodes[key], "root", "tip")]


def _mode_names(name: str, body: Body | None) -> list[str]:
    """The modes of a flexible body; one that could not be read may have any number, of which some are supposed."""
    if isinstance(body, FlexibleBody):
        return [mode.name for mode in body.modes]
    return [f"{name}.mode{k + 1}" for k in range(SUPPOSED)]


def _raw(root: TomlTable, joint: str, key: str) -> Any:
    table = root.data["joints"][joint]
    return table.get(key) if isinstance(table, Mapping) else None


def _check_carriers(root: TomlTable, bodies: Mapping[str, Any], joints: Mapping[str, Any], points: list[Point]) -> None:
    """Report what stands at no node of a flexible body, where both could be read."""
    good = [body for body in bodies.values() if body is not None]
    names = {body.name for body in good}
    hanging = [joint for joint in joints.values() if joint is not None and joint.parent in names]
    carriers = FlawList()
    check_attachments(carriers, good, hanging, [point for point in points if point.body in names])
    root.flaws.extend(carriers.found)
