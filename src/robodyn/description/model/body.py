"""Bodies: mass and inertia, shapes, looks, flexible modes."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from robodyn.base import Array, FlawList, nearest

from .description import Description
from .fields import (
    IDENTITY,
    Y_AXIS,
    Z_AXIS,
    ZERO,
    array,
    child,
    children,
    file,
    flag,
    part_name,
    place,
    quantity,
    reference,
    rotation_matrix,
    text,
    unit_vector,
    vector,
)
from .joint import Freedom, Point
from .kinds import NameMap, Vector
from .numbers import Floats, Rows, as_floats

# --------------------------------------------------------------------------------------------------
# Shapes of contacts: what can touch, and what can be touched? All hang on named points.


class Ball(Description):
    """A ball about a named point of a body; the point itself where its radius is 0."""

    NOUN, MARKS = "ball", ("ball",)

    point: str = reference("point", key="ball", doc="point in its middle")
    radius: float = quantity("m", non_negative=True, default=0.0, doc="0: the point itself")


class Box(Description):
    """A box whose middle is a named point: its eight corners touch, or its six faces are touched."""

    NOUN, MARKS = "box", ("box",)

    point: str = reference("point", key="box", doc="point in its middle")
    size: Floats = vector("m", positive=True, doc="lengths of its edges")
    rotation: Rows = rotation_matrix(default=IDENTITY, frame="point", doc="in the frame of the point's body")


class Rim(Description):
    """The rim of a wheel about a named point of it: its lowest place touches a plane, along and across its way."""

    NOUN, MARKS = "rim", ("rim",)

    point: str = reference("point", key="rim", doc="point in the middle of the wheel, on its body")
    radius: float = quantity("m", positive=True, doc="of the wheel")
    axis: Floats = unit_vector(default=Y_AXIS, doc="of the wheel, in the frame of its body")


class Plane(Description):
    """A plane through a named point of the ground or of a body; the solid side is behind it."""

    NOUN, MARKS = "plane", ("plane",)

    point: str = reference("point", key="plane", doc="a point of it")
    normal: Floats = unit_vector(
        default=Z_AXIS, frame="point", doc="pointing out of the material, in the frame of the point's body"
    )


class HeightField(Description):
    """Uneven ground: heights over a grid of places about a named point, with a smooth surface through them.

    Between its lines the surface is cubic along x and y, its slopes at each place those of the parabola through it and
    its neighbours: exact for planes and parabolas. Beyond the grid it goes on as it is at the edge.
    """

    NOUN, MARKS = "height field", ("height_field",)

    point: str = reference("point", key="height_field", doc="its origin")
    x: Floats = vector("m", None, doc="places of the rows of `heights`, rising")
    y: Floats = vector("m", None, doc="places of its columns, rising")
    heights: Rows = array("m", doc="a row for each of `x`, with a number for each of `y`; along z")
    rotation: Rows = rotation_matrix(default=IDENTITY, frame="point", doc="in the frame of the point's body")

    def check(self, flaws: FlawList) -> None:
        for key in ("x", "y"):
            places = getattr(self, key)
            if not flaws.concern(key) and (len(places) < 2 or any(b <= a for a, b in pairwise(places))):
                flaws.add(key, "must be two or more increasing numbers", "sort them, and the heights with them")
        if not flaws.found and not _is_grid(self.heights, len(self.x), len(self.y)):
            what = f"must be {len(self.x)} rows of {len(self.y)} finite numbers"
            flaws.add("heights", what, "a row for each of x, a number in it for each of y")


def _is_grid(rows: Any, n_rows: int, n_columns: int) -> bool:
    if not isinstance(rows, tuple) or len(rows) != n_rows:
        return False
    return all(
        isinstance(row, tuple)
        and len(row) == n_columns
        and all(isinstance(height, float) and math.isfinite(height) for height in row)
        for row in rows
    )


Touching = Ball | Box | Rim
Touched = Plane | Box | HeightField


# --------------------------------------------------------------------------------------------------
# Looks of bodies: which boxes, cylinders, spheres, capsules and meshes are drawn for one? They have no effect else.


COLOUR = re.compile(r"#[0-9a-fA-F]{6}")
MESHES = (".stl", ".obj", ".dae", ".gltf", ".glb")
"""Endings of files of meshes; all but the first are read by trimesh."""


class Look(Description, kw_only=True):
    """The fields of all looks: a name, their place on the body, a colour."""

    NOUN = "look"
    kind: ClassVar[str]

    name: str = part_name()
    origin: Floats = place(default=ZERO, suffixes=(), doc="of its middle, of a mesh of its origin, in the body's frame")
    rotation: Rows = rotation_matrix(default=IDENTITY, doc="R_body_look")
    colour: str | None = text(default=None, doc='as `"#rrggbb"`', absent="a mesh's own, else that of links")
    collision: bool = flag(default=False, doc="a collision shape: drawn only on request")

    def check(self, flaws: FlawList) -> None:
        if isinstance(self.colour, str) and not COLOUR.fullmatch(self.colour):
            flaws.add("colour", f"'{self.colour}' is not a colour", 'red, green and blue as "#cc4422"')

    def map_names(self, change: NameMap, path: str = "") -> Self:
        """Nothing refers to looks: they keep their names."""
        return self


class BoxLook(Look, kw_only=True):
    MARKS, kind = ("kind=box",), "box"
    size: Floats = vector("m", suffixes=(), positive=True, doc="lengths of its edges")


class CylinderLook(Look, kw_only=True):
    MARKS, kind = ("kind=cylinder",), "cylinder"
    radius: float = quantity("m", positive=True, named=False)
    length: float = quantity("m", positive=True, named=False, doc="along its z axis")


class CapsuleLook(Look, kw_only=True):
    MARKS, kind = ("kind=capsule",), "capsule"
    radius: float = quantity("m", positive=True, named=False)
    length: float = quantity("m", positive=True, named=False, doc="between the middles of its round ends, along z")


class SphereLook(Look, kw_only=True):
    MARKS, kind = ("kind=sphere",), "sphere"
    radius: float = quantity("m", positive=True, named=False)


class MeshLook(Look, kw_only=True):
    MARKS, kind = ("kind=mesh",), "mesh"
    file: str = file(doc="STL, OBJ, DAE or glTF file, from the folder of the scenario's file; kept by its full path")
    scale: Floats = vector(
        "", suffixes=(), default=(1.0, 1.0, 1.0), doc="factors along its axes: 0.001 for millimetres"
    )

    def check(self, flaws: FlawList) -> None:
        super().check(flaws)
        if not flaws.concern("scale") and 0.0 in self.scale:
            flaws.add("scale", "must not be 0", "1 leaves a length as it is")
        if flaws.concern("file"):
            return
        path = Path(self.file).absolute()
        if path.suffix.lower() not in MESHES:
            flaws.add("file", f"'{path.name}' is not a mesh that can be drawn", f"save it as {' or '.join(MESHES)}")
        elif not path.is_file():
            flaws.add("file", f"there is no file '{path}'", "give its path from the folder of the scenario's file")
        self.set_fields(file=str(path))


LOOKS = (BoxLook, CylinderLook, CapsuleLook, SphereLook, MeshLook)


# --------------------------------------------------------------------------------------------------
# Rigid bodies: what is one? Its mass, centre of mass and inertia, checked to be physically possible.


TENSOR = ("xx", "yy", "zz", "xy", "xz", "yz")
# Rounded catalogue data may miss the triangle inequality by their last digit.
TRIANGLE_TOLERANCE = 1e-6


def tensor_of(entries: Any) -> Array:
    """The symmetric 3x3 matrix of (xx, yy, zz, xy, xz, yz); products are the matrix's own off-diagonals."""
    xx, yy, zz, xy, xz, yz = entries
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def _entries(inertia: Any) -> tuple[float, ...]:
    """Six entries from three (diagonal), six, or a symmetric 3x3 matrix."""
    values = as_floats(inertia)
    if len(values) == 3 and isinstance(values[0], tuple):
        return tuple(values[i][j] for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)))
    return (*values, 0.0, 0.0, 0.0) if len(values) == 3 else values


class InertiaEntries(Vector):
    """Six entries from three (diagonal), six, or a symmetric 3x3 matrix."""

    def settle(self, flaws: FlawList, path: str, value: Any) -> Any:
        try:
            matrix = np.array(value, float)
        except (TypeError, ValueError):
            flaws.add(path, f"must be 3 or 6 numbers or a 3x3 matrix, is {value!r}")
            return value
        if matrix.shape == (3, 3) and not np.allclose(matrix, matrix.T, rtol=1e-9, atol=0, equal_nan=True):
            flaws.add(path, "must be symmetric", "both off-diagonal entries of a pair must be equal")
            return value
        if matrix.shape not in ((3,), (6,), (3, 3)):
            flaws.add(path, f"must be 3 or 6 numbers or a 3x3 matrix, has shape {matrix.shape}")
            return value
        return super().settle(flaws, path, _entries(value))


class Body(Description):
    """A rigid body in its own frame; the inertia may be given by three moments, six numbers or a 3x3 matrix."""

    NOUN = "body"

    name: str = part_name()
    mass: float = quantity("kg", non_negative=True, default=0.0, remedy="0 makes a massless link", doc="")
    com: Floats = place(default=ZERO, doc="centre of mass in the body's frame")
    inertia: Floats = vector(
        "kg m^2",
        6,
        suffixes=TENSOR,
        default=(0.0,) * 6,
        make=InertiaEntries,
        doc="about the centre of mass: three moments, six numbers, a 3 x 3 list, or a table "
        "with any of `xx`, `yy`, `zz`, `xy`, `xz`, `yz`",
    )
    physical: bool = flag(default=True, doc="`false` accepts an inertia no real body can have")
    looks: tuple[Look, ...] = children(*LOOKS, default=(), doc="tables of [looks](#looks) by name", absent="made up")

    def check(self, flaws: FlawList) -> None:
        if self.physical and not flaws.concern("inertia"):
            # A body of positive density has moments >= 0, none larger than the sum of the other two.
            moments = np.linalg.eigvalsh(tensor_of(self.inertia))
            smallest, middle, largest = moments
            tolerance = TRIANGLE_TOLERANCE * max(abs(largest), abs(smallest))
            shown = ", ".join(f"{moment:.6g}" for moment in moments)
            remedy = "check whether it is given about the centre of mass; physical = false accepts it as published"
            if smallest < -tolerance:
                flaws.add("inertia", f"has a negative principal moment ({shown} kg m^2)", remedy)
            elif smallest + middle < largest - tolerance:
                what = f"breaks the triangle inequality (principal moments {shown} kg m^2)"
                flaws.add("inertia", what, remedy)

    @classmethod
    def about_origin(
        cls, name: str, mass: float, com: Any, inertia: Any, physical: bool = True, looks: Sequence[Look] = ()
    ) -> Self:
        """A body whose inertia is given about the origin of its frame instead of its centre of mass.

        I_com = I_origin - m (c.c E - c c^T)
        """
        # What cannot be moved to the centre of mass is refused here, whatever its moments would be.
        checked = cls(name, mass, com, inertia, physical=False)
        c = np.array(checked.com)
        tensor = tensor_of(checked.inertia) - checked.mass * (c @ c * np.eye(3) - np.outer(c, c))
        return cls(name, mass, com, as_floats(tensor), physical, tuple(looks))


# --------------------------------------------------------------------------------------------------
# Flexible bodies: what deforms? Inertia and stiffness in a few modes, and how a body's nodes move with them.
#
#     r = r0 + sum Phi_i eta_i + 1/2 sum Gamma_ij eta_i eta_j
#
# in the body's own axes, clamped where its joint holds it; Gamma is the foreshortening of beams that bend. Modes are
# orthogonal, so that masses and stiffnesses of them are single numbers. Beams and frames of beams are made into such
# bodies by `robodyn.description.structures`.


NEAR = 1e-6
"""Part of a body's size within which a joint or point stands at a node."""


class BodyNode(Description):
    """A place of a flexible body where joints, bodies and points can be attached."""

    NOUN = "node"

    name: str = part_name()
    position: Floats = vector("m", suffixes=(), doc="at rest, in the body's frame")
    shift: Rows = array(doc="displacement for a unit of each mode (n x 3)")
    turn: Rows = array(doc="rotation vector for a unit of each mode (n x 3) [rad]")
    shortening: tuple[Any, ...] = array(default=(), doc="Gamma_ij, second derivative of the displacement (n x n x 3)")


class ModalInertia(Description):
    """Changes of a body's inertia by deformation, summed over its particles."""

    NOUN = "modal inertia"

    first: Any = array(doc="sum m Phi_i (n x 3)")
    first_bend: Any = array(doc="sum m Gamma_ij (n x n x 3)")
    second: Any = array(doc="derivative of sum m r r^T by eta_i (n x 3 x 3)")
    second_bend: Any = array(doc="by eta_i and eta_j (n x n x 3 x 3)")
    turning: Any = array(doc="sum m r0 x Phi_i (n x 3)")
    turning_bend: Any = array(doc="its derivative by eta_j (n x n x 3)")


class FlexibleBody(Body):
    """A body that deforms; mass, centre of mass and inertia are those at rest."""

    NOUN, MARKS = "flexible body", ("modal_mass",)

    mass: float = quantity("kg", non_negative=True, default=0.0, named=False)
    com: Floats = place(default=ZERO, suffixes=())
    inertia: Floats = vector("kg m^2", 6, suffixes=(), default=(0.0,) * 6, make=InertiaEntries)
    nodes: tuple[BodyNode, ...] = children(BodyNode, default=(), doc="tables of nodes, where something can be attached")
    edges: tuple[tuple[str, str], ...] = array(of="string", default=(), doc="pairs of nodes, lines to draw")
    modal_mass: Floats = array(default=(), doc="of each mode [kg; kg m^2 where it only twists]")
    modal_stiffness: Floats = array(default=(), doc="of each mode [N/m; N m/rad where it only twists]")
    modal_inertia: ModalInertia | None = child(
        ModalInertia, default=None, doc="what deformation changes in the inertia"
    )
    twists: tuple[bool, ...] = array(of="boolean", default=(), doc="for each mode whether its coordinate is an angle")
    stiffness: float = quantity("1", positive=True, default=1.0, doc="factor of all stiffnesses")
    damping: float = quantity(
        "1", non_negative=True, default=0.0, doc="ratio of each mode's damping to its critical one"
    )
    rayleigh: Floats = vector(
        "",
        2,
        suffixes=("mass", "stiffness"),
        units=("1/s", "s"),
        non_negative=True,
        default=(0.0, 0.0),
        doc="table of factors that are added to it: of `mass` [1/s] and of `stiffness` [s]",
    )

    def check(self, flaws: FlawList) -> None:
        super().check(flaws)
        if self.looks:
            flaws.add("looks", "have no effect on a body that deforms", "give them to a body fixed to it")
        n = len(self.modal_mass)
        if not n:
            flaws.add("modal_mass", "there is no mode", "use a Body where nothing deforms")
        if len(self.modal_stiffness) != n or len(self.twists) != n:
            flaws.add("modal_stiffness", f"has {len(self.modal_stiffness)} modes, modal_mass {n}")
        for name in ("modal_mass", "modal_stiffness"):
            if not all(value > 0 for value in getattr(self, name)):
                flaws.add(name, "must be positive for each mode", "a mode without stiffness is a motion of its joint")
        shapes = {"first": (n, 3), "first_bend": (n, n, 3), "second": (n, 3, 3), "second_bend": (n, n, 3, 3)}
        shapes |= {"turning": (n, 3), "turning_bend": (n, n, 3)}
        for name, shape in shapes.items():
            actual = np.shape(getattr(self.modal_inertia, name, ()))
            if actual != shape:
                flaws.add(f"modal_inertia.{name}", f"must be of shape {shape}, is {actual}")
        names = [node.name for node in self.nodes]
        for node in self.nodes:
            if np.shape(node.shift) != (n, 3) or np.shape(node.turn) != (n, 3):
                flaws.add(f"nodes.{node.name}", f"shift and turn must be of shape {(n, 3)}")
            if node.shortening and np.shape(node.shortening) != (n, n, 3):
                flaws.add(f"nodes.{node.name}.shortening", f"must be of shape {(n, n, 3)}, or ()")
            if names.count(node.name) > 1:
                flaws.add(f"nodes.{node.name}", "this name is used twice", "give each its own name")
        for edge in self.edges:
            for end in edge:
                if end not in names:
                    flaws.add("edges", f"there is no node '{end}'")

    @property
    def modes(self) -> tuple[Freedom, ...]:
        """Its modal coordinates, `<body>.mode1` ...: the largest displacement [m] of a mode, or the largest angle [rad]
        of one that only twists."""
        kinds = ("revolute" if twists else "prismatic" for twists in self.twists)
        return tuple(Freedom(f"{self.name}.mode{k}", kind) for k, kind in enumerate(kinds, start=1))

    @property
    def frequencies(self) -> Array:
        """The frequencies of the modes, the body clamped at its joint and nothing attached [Hz], (n,)."""
        return np.sqrt(self.stiffness * np.array(self.modal_stiffness) / np.array(self.modal_mass)) / (2 * np.pi)

    @property
    def size(self) -> float:
        """Largest distance between nodes along one axis [m]."""
        places = np.array([node.position for node in self.nodes])
        return float(np.max(places.max(axis=0) - places.min(axis=0), initial=0.0)) if len(places) else 0.0

    def node(self, name: str) -> BodyNode:
        """The node of that name; KeyError where there is none."""
        return {node.name: node for node in self.nodes}[name]

    def find_node(self, origin: Sequence[float], name: str | None = None) -> BodyNode | None:
        """The node of a name, or the one at a position of the body's frame [m]; None where there is none."""
        if name is not None:
            return next((node for node in self.nodes if node.name == name), None)
        if not self.nodes:
            return None
        near = self.nearest_node(origin)
        apart = float(np.linalg.norm(np.subtract(near.position, origin)))
        return near if apart <= NEAR * max(self.size, 1e-3) else None

    def nearest_node(self, origin: Sequence[float]) -> BodyNode:
        """The node nearest to a position of the body's frame [m]."""
        return min(self.nodes, key=lambda node: float(np.linalg.norm(np.subtract(node.position, origin))))

    def points(self) -> tuple[Point, ...]:
        """A named point `<body>.<node>` at every node, so that its positions, deformation included, are signals."""
        return tuple(Point(f"{self.name}.{node.name}", self.name, node.position, node.name) for node in self.nodes)


def check_attachments(flaws: FlawList, bodies: Sequence[Body], joints: Sequence[Any], points: Sequence[Any]) -> None:
    """Check that all that hangs on a flexible body, or is a point of it, is carried by one of its nodes."""
    flexible = {body.name: body for body in bodies if isinstance(body, FlexibleBody)}
    hanging = [(f"joints.{joint.name}", joint.parent, joint) for joint in joints]
    hanging += [(f"points.{point.name}", point.body, point) for point in points]
    for path, name, part in hanging:
        body = flexible.get(name)
        if body is not None:
            _check_carrier(flaws, path, body, part)
        elif part.node is not None:
            flaws.add(f"{path}.node", f"'{name}' is rigid and has no nodes", "leave it out")


def _check_carrier(flaws: FlawList, path: str, body: FlexibleBody, part: Any) -> None:
    if body.find_node(part.origin, part.node) is not None:
        return
    if part.node is not None:
        names = [node.name for node in body.nodes]
        flaws.add(f"{path}.node", f"'{body.name}' has no node '{part.node}'", nearest(part.node, names))
        return
    remedy = "give the body nodes"
    if body.nodes:
        near = body.nearest_node(part.origin)
        remedy = f"nearest is '{near.name}' at {_shown(near.position)} m; node = \"{near.name}\" makes a rigid bracket"
    flaws.add(f"{path}.origin", f"{_shown(part.origin)} m is not a node of the flexible body '{body.name}'", remedy)


def _shown(position: Sequence[float]) -> str:
    return "(" + ", ".join(f"{value:.6g}" for value in as_floats(position)) + ")"
