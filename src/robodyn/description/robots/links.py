"""Links of robot files: which inertia, looks and meshes do they have?"""

from __future__ import annotations

import shutil
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np

from robodyn.base import Array, FlawList, ModelError
from robodyn.base.spatial import Pose, from_quaternion, from_rpy
from robodyn.base.untrusted import MEGABYTE, MOST_OF_A_MESH
from robodyn.description.model import Machine, as_floats
from robodyn.description.model.body import MESHES, BoxLook, CapsuleLook, CylinderLook, Look, MeshLook, SphereLook

from .building import JointDraft, LinkDraft, distinct, rotated_inertia, usable_name
from .xml_tree import CONVERTED, NOT_DRAWN, READ, UNUSED, XmlElement

# --------------------------------------------------------------------------------------------------
# Shapes of robot files: which look is drawn for a box, cylinder, sphere, capsule or mesh?


SHAPES: dict[str, type[Look]] = {
    "box": BoxLook,
    "cylinder": CylinderLook,
    "sphere": SphereLook,
    "capsule": CapsuleLook,
    "mesh": MeshLook,
}


def colour_of(rgba: Sequence[float]) -> str:
    """Red, green and blue from 0 to 1 as "#rrggbb"."""
    return "#" + "".join(f"{round(255 * min(max(part, 0.0), 1.0)):02x}" for part in rgba[:3])


def rgb_of(colour: str) -> list[float]:
    """The parts of "#rrggbb", from 0 to 1."""
    return [int(colour[k : k + 2], 16) / 255.0 for k in (1, 3, 5)]


def make_look(
    kind: str, name: str, place: Pose, colour: str | None, meshes: MeshFiles, sizes: dict[str, Any]
) -> Look | str:
    """A look, or the reason why there is none."""
    try:
        if kind == "mesh":
            sizes = sizes | {"file": str(meshes.find(sizes["file"]))}
        return SHAPES[kind](name=name, origin=as_floats(place.p), rotation=as_floats(place.R), colour=colour, **sizes)
    except MeshError as error:
        return f"{NOT_DRAWN}{error}"
    except ModelError as error:
        return f"{NOT_DRAWN}{'; '.join(str(flaw) for flaw in error.flaws)}"


# --------------------------------------------------------------------------------------------------
# Mesh files of robots: which file does a `package://`, `model://`, `file://` or relative path mean?
#
# Only files within the robot's own folder, the package that a path names, and folders that the caller allows are
# found.


LAYOUT = ("urdf", "robots", "xacro", "sdf", "mjcf", "xml")
"""Names of folders that hold the descriptions of a package, beside the folder `meshes`."""
MARKS = ("package.xml", "model.config")
"""Files at the top of a package."""
_HEAD, _TRIANGLE = 84, 50


class MeshError(ValueError):
    """A mesh that cannot be drawn, with the reason."""


class MeshFiles:
    """Finds the meshes of one robot file.

    Args:
        search: further folders in which packages and meshes are looked for.
    """

    def __init__(self, file: Path, search: Sequence[str | Path] = ()) -> None:
        self.file = file.resolve()
        self.search = [Path(folder).resolve() for folder in search]
        self.home = _find_home(self.file)

    def allows(self, path: Path) -> bool:
        """Whether a file may be read: in the robot's folder, or in one that the caller names."""
        return any(path.is_relative_to(folder) for folder in (self.home, *self.search))

    def find(self, uri: str) -> Path:
        """The file of a path; MeshError where there is none that may be read and drawn."""
        scheme, mark, rest = unquote(uri.strip()).partition("://")
        if not mark:
            scheme, rest = "", unquote(uri.strip())
        if "\0" in rest or not rest:
            raise MeshError("is not a path")
        if scheme not in ("", "file", "package", "model"):
            raise MeshError(f"'{scheme}://' is not looked up; give package://, model://, file:// or a relative path")
        try:
            mesh = self._look_up(scheme, rest)
        except OSError as error:
            raise MeshError(f"cannot be read: {error.strerror}") from error
        # A mesh is one that can be drawn; of an STL, size and head must fit.
        if mesh.suffix.lower() not in MESHES:
            raise MeshError(
                f"{mesh.suffix or 'a file without ending'} cannot be drawn; save it as {' or '.join(MESHES)}"
            )
        size = mesh.stat().st_size
        if size > MOST_OF_A_MESH:
            raise MeshError(f"has {size / MEGABYTE:.0f} MB, at most {MOST_OF_A_MESH / MEGABYTE:.0f} are read")
        if mesh.suffix.lower() == ".stl":
            with mesh.open("rb") as file:
                head = file.read(_HEAD)
            count = int.from_bytes(head[80:], "little") if len(head) == _HEAD else -1
            if size != _HEAD + _TRIANGLE * count and not head.lstrip().startswith(b"solid"):
                raise MeshError("is not an STL file, or is truncated")
        return mesh

    def _look_up(self, scheme: str, rest: str) -> Path:
        outside = None
        for folder, path in self._candidates(scheme, rest):
            target = path.resolve()
            if not target.is_file():
                continue
            if target.is_relative_to(folder) or self.allows(target):
                return target
            outside = outside or target
        if outside is not None:
            raise MeshError(f"'{outside}' lies outside of the robot's folder; allow its folder with `search`")
        raise MeshError("there is no such file; name a folder that has it with `search`")

    def _candidates(self, scheme: str, rest: str) -> Iterator[tuple[Path, Path]]:
        """Folders that may be read from, each with the path that may be in it."""
        if scheme in ("package", "model"):
            # Three slashes leave a name of nothing, which some files have: the next one is meant.
            package, _, inner = rest.lstrip("/").partition("/")
            for folder in self._packages(package):
                yield folder, folder / inner
            return
        for folder in self.search:
            yield folder, folder / rest
        yield self.home, self.file.parent / rest

    def _packages(self, name: str) -> Iterator[Path]:
        if name in ("", ".", ".."):
            return
        for folder in [*self.search, *list(self.file.parents)[:-1]]:
            if folder.name == name:
                yield folder
            if (folder / name).is_dir():
                yield (folder / name).resolve()


def copy_meshes(machine: Machine, path: Path) -> tuple[Machine, list[Path]]:
    """A machine that draws copies of its meshes, each once, in a folder beside a file that is written; the copies."""
    if machine.mechanism is None:
        return machine, []
    folder = path.absolute().parent / f"{path.stem}_meshes"
    copies: dict[str, Path] = {}

    def copied(look: Look) -> Look:
        if not isinstance(look, MeshLook):
            return look
        source = Path(look.file)
        if look.file not in copies:
            # Meshes of several folders may have one name.
            stem = distinct(source.stem, [copy.stem for copy in copies.values()])
            folder.mkdir(exist_ok=True)
            copies[look.file] = Path(shutil.copyfile(source, folder / f"{stem}{source.suffix}"))
        return look.replaced(file=str(copies[look.file]))

    bodies = [body.replaced(looks=tuple(map(copied, body.looks))) for body in machine.mechanism.bodies]
    return machine.replaced(mechanism=machine.mechanism.replaced(bodies=tuple(bodies))), list(copies.values())


def _find_home(file: Path) -> Path:
    """The folder of a robot: that of its package, else the file's, or the one above where that has its meshes."""
    for folder in list(file.parents)[:4]:
        if any((folder / mark).is_file() for mark in MARKS):
            return folder
    beside = file.parent.name in LAYOUT and (file.parents[1] / "meshes").is_dir()
    return file.parents[1] if beside else file.parent


# --------------------------------------------------------------------------------------------------
# Links of URDF and SDF: which inertia and looks do they have? The two differ in where numbers and poses stand.


COLOUR = "#rrggbb: 255 times each, rounded; opacity is not drawn"


LIMITS = {"lower": "lower_limit", "upper": "upper_limit", "velocity": "speed_limit", "effort": "effort_limit"}
"""Words of URDF and SDF for the limits of a joint -> ours."""
INERTIA = {"ixx": (0, 0), "ixy": (0, 1), "ixz": (0, 2), "iyy": (1, 1), "iyz": (1, 2), "izz": (2, 2)}
"""Words of URDF and SDF for the entries of an inertia."""


def rotation_of(numbers: Sequence[float]) -> Array:
    """A rotation of URDF and SDF: x, y, z, w of a quaternion, or roll, pitch, yaw; ValueError for a quaternion of 0."""
    if len(numbers) == 3:
        return np.array(from_rpy(*numbers))
    x, y, z, w = numbers
    if not any(numbers):
        raise ValueError("must not be zero: 0 0 0 1 is not a rotation")
    return np.array(from_quaternion(w, x, y, z))


class LinkReader(ABC):
    """Reads the links of a file; the classes of the two formats say how it is written."""

    def __init__(self, meshes: MeshFiles, flaws: FlawList) -> None:
        self.meshes, self.flaws = meshes, flaws

    @abstractmethod
    def numbers(self, element: XmlElement | None, key: str, default: tuple[float, ...]) -> list[float]:
        """As many numbers as the default has; it where there are none, or wrong ones, which is noted."""

    @abstractmethod
    def pose(self, element: XmlElement) -> Pose:
        """Where an element stands."""

    @abstractmethod
    def colour(self, shape: XmlElement) -> str | None:
        """The colour that the shape is drawn in."""

    @abstractmethod
    def mesh_file(self, shape: XmlElement) -> str:
        """The file of the shape's mesh."""

    def read_inertia(
        self, link: LinkDraft, tensor: XmlElement | None, place: Pose, rotated: str, default: float = 0.0
    ) -> None:
        """Centre of mass and inertia about it.

        Args:
            place: of the tensor's axes in the link; rotated: what is noted where they are not the link's.
            default: moment of inertia where none is said.
        """
        inertia = np.zeros((3, 3))
        for key, (row, column) in INERTIA.items():
            (value,) = self.numbers(tensor, key, (default if row == column else 0.0,))
            inertia[row, column] = inertia[column, row] = value
        link.com, link.inertia = place.p, rotated_inertia(place.R, inertia)
        if tensor is not None and not np.array_equal(place.R, np.eye(3)):
            for child in tensor.children:
                child.mark(CONVERTED, rotated)
            for key in tensor.attributes:
                tensor.mark(CONVERTED, rotated, key)

    def read_losses(self, draft: JointDraft, element: XmlElement | None) -> None:
        """Damping and dry friction of a joint, by its <dynamics>."""
        for key in ("damping", "friction"):
            value = self.numbers(element, key, (0.0,))[0]
            if value:
                draft.fields[key] = value

    def read_look(self, link: LinkDraft, element: XmlElement, frame: Pose | None = None) -> None:
        """A <visual> or <collision> as a look; frame: of the file's link in ours, where it is another one."""
        element.mark(READ)
        geometry = element.one("geometry")
        shapes = [] if geometry is None else [child for child in geometry.children if child.tag in SHAPES]
        if not shapes:
            element.drop("has no shape that can be drawn")
            element.mark(UNUSED, "has no shape that can be drawn")
            return
        shape = shapes[0]
        shape.mark(READ)
        name = distinct(usable_name(element.take("name") or element.tag, "look"), [look.name for look in link.looks])
        sizes = self._sizes(shape) | {"collision": element.tag == "collision"}
        place = self.pose(element)
        place = place if frame is None else frame @ place
        look = make_look(shape.tag, name, place, self.colour(element), self.meshes, sizes)
        if isinstance(look, str):
            shape.mark(UNUSED, look, "", *shape.attributes)
        else:
            link.looks.append(look)

    def _sizes(self, shape: XmlElement) -> dict[str, Any]:
        if shape.tag == "mesh":
            scale = self.numbers(shape, "scale", (1.0, 1.0, 1.0))
            return {"file": self.mesh_file(shape), "scale": tuple(scale)}
        if shape.tag == "box":
            return {"size": tuple(self.numbers(shape, "size", (0.0, 0.0, 0.0)))}
        keys = ("radius",) if shape.tag == "sphere" else ("radius", "length")
        return {key: self.numbers(shape, key, (0.0,))[0] for key in keys}
