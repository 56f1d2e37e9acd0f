"""Flexible bodies in files: beams, frames, modal files."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from robodyn.base import Array, FlawList, ModelError, nearest
from robodyn.base.untrusted import MEGABYTE, Unreadable, parse_json, read_archive, read_array, read_bytes, read_text
from robodyn.description.model import XYZ, Description, FlexibleBody, Floats, check_vector
from robodyn.description.model.fields import (
    MISSING,
    array,
    child,
    children,
    declare,
    declare_as,
    flag,
    part_name,
    quantity,
    text,
    whole_number,
)
from robodyn.description.model.kinds import Child, FieldKind
from robodyn.description.structures import DIRECTIONS, Element, Particles, Reduction, beam, frame, modal_body
from robodyn.description.structures.beams import SECTIONS, Section, SectionPart, section
from robodyn.description.structures.bodies import check_element, check_modes, check_size

from .reading import FORMS, VALUES, TableReader
from .table import FAILED, TomlTable

# --------------------------------------------------------------------------------------------------
# Sections of beams in files: tables with names, which beams pick from, or the table of one in its place.


# Stands in for a section that is flawed, so that flaws of what is made of it are reported too.
STAND_IN = Section(1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0)


@dataclass
class Sections:
    """The sections that a file names (None where one is flawed), and which of them a beam is made of."""

    found: dict[str, Section | None]
    used: set[str] = field(default_factory=set)

    def check_used(self, root: TomlTable) -> None:
        """A section nothing is made of is a mistake."""
        for name in [name for name in self.found if name not in self.used]:
            remedy = f'section = "{name}" of a beam or element names it'
            root.flaws.add(f"sections.{name}", "it is not used", remedy)


def read_sections(root: TomlTable, reader: TableReader) -> Sections:
    """The table `sections` of a file, which its beams then pick from."""
    reader.sections = Sections({name: reader.read(table, SECTIONS) for name, table in root.tables("sections")})
    return reader.sections


def _pick(reader: TableReader, kind: SectionPart, table: TomlTable, key: str) -> Section:
    value, sections = table.raw(key), reader.sections
    if not isinstance(value, str):
        return reader.read(table.table(key), kind.classes) or STAND_IN
    sections.used.add(value)
    if value not in sections.found:
        table.note(key, f"there is no section '{value}'", nearest(value, sections.found))
    return sections.found.get(value, FAILED) or STAND_IN


VALUES[SectionPart] = _pick
FORMS[Section] = SECTIONS


# --------------------------------------------------------------------------------------------------
# Modal data files: how are they kept beside the scenario's, as .json, .npz or .csv?


MOST_BYTES = 256 * MEGABYTE
"""Of modal data, unpacked, this project's own choice; texts may have a quarter of it."""
COLUMN = re.compile(r"mode([1-9]\d{0,8})\.(x|y|z|rx|ry|rz)")


class FileProblem(ValueError):
    """A data file that cannot be used; the message follows the file's name."""

    def __init__(self, what: str, remedy: str = "") -> None:
        super().__init__(what)
        self.remedy = remedy


def load_json(path: Path) -> dict[str, Any]:
    """The same keys as the table's own."""
    try:
        data = parse_json(read_text(path, MOST_BYTES // 4))
    except (OSError, Unreadable) as error:
        raise FileProblem(str(error)) from error
    if not isinstance(data, dict):
        raise FileProblem("must hold an object with the keys of the table")
    return data


def load_npz(path: Path) -> dict[str, Any]:
    """Arrays by the table's keys; those with dots are in tables: `nodes.tip.shift`."""
    try:
        members = read_archive(read_bytes(path, MOST_BYTES), MOST_BYTES)
        arrays = {name.removesuffix(".npy"): read_array(data) for name, data in members.items()}
    except (OSError, Unreadable) as error:
        raise FileProblem(f"is not an .npz archive of arrays: {error}") from error
    data: dict[str, Any] = {}
    for key, entries in arrays.items():
        group, _, rest = key.partition(".")
        if not rest:
            data[key] = entries
            continue
        node, _, field = rest.rpartition(".")
        data.setdefault(group, {}).setdefault(node, {})[field] = entries
    return data


def load_csv(path: Path) -> dict[str, Any]:
    """A row for each place: `name` (of a node, or empty), `mass` [kg], `x`, `y`, `z` [m], `mode1.x` ... `mode1.rz`.

    A row with a name is a node, a row with a mass a particle; it can be both. Turns that have no column are 0.
    """
    try:
        text = read_text(path, MOST_BYTES // 4)
        rows = list(csv.DictReader(io.StringIO(text, newline=""), strict=True))
    except (OSError, Unreadable, csv.Error) as error:
        raise FileProblem(f"is not a table of text: {error}") from error
    if not rows:
        raise FileProblem("has no rows", "a header with the column names, then one row per place")
    if any(None in row for row in rows):
        raise FileProblem("has rows longer than its header")
    # Number of modes in a head; unknown and missing columns are reported.
    columns = list(rows[0])
    needed = {"mass", *XYZ}
    modes = {int(match[1]) for column in columns if (match := COLUMN.fullmatch(str(column)))}
    n = max(modes, default=0)
    if n > len(columns):
        raise FileProblem(f"has a column for mode {n}, but only {len(columns)} columns", "number the modes from 1")
    needed |= {f"mode{k}.{axis}" for k in range(1, max(n, 1) + 1) for axis in XYZ}
    known = needed | {"name"}
    wrong = {
        "missing": sorted(needed - set(columns)),
        "unknown": [str(column) for column in columns if column not in known and not COLUMN.fullmatch(str(column))],
    }
    problems = [f"{word} {', '.join(names)}" for word, names in wrong.items() if names]
    if problems:
        raise FileProblem(
            f"has wrong columns: {'; '.join(problems)}", "name, mass, x, y, z, mode1.x ... mode1.rz, mode2.x ..."
        )
    names = [(row.get("name") or "").strip() for row in rows]
    mass = np.array([_number(row, k, "mass") for k, row in enumerate(rows)])
    place = np.array([[_number(row, k, axis) for axis in XYZ] for k, row in enumerate(rows)])
    motion = np.array([[_motion(row, k, mode + 1) for mode in range(n)] for k, row in enumerate(rows)])

    def motions(rows: Any) -> dict[str, Array]:
        return {"position": place[rows], "shift": motion[rows][..., :3], "turn": motion[rows][..., 3:]}

    nodes = {name: motions(k) for k, name in enumerate(names) if name}
    if len(nodes) < sum(map(bool, names)):
        raise FileProblem("uses a name twice", "give each node its own")
    heavy = mass != 0
    return {"mass": mass[heavy], **motions(heavy), "nodes": nodes}


def _motion(row: dict[str, Any], k: int, mode: int) -> list[float]:
    return [_number(row, k, column) if (column := f"mode{mode}.{axis}") in row else 0.0 for axis in DIRECTIONS]


def _number(row: dict[str, Any], k: int, column: str) -> float:
    text = (row[column] or "").strip()
    if not text and column == "mass":
        return 0.0
    try:
        return float(text)
    except ValueError as error:
        raise FileProblem(f"row {k + 1}, {column}: {text!r} is not a number") from error


FORMATS: dict[str, Callable[[Path], dict[str, Any]]] = {".npz": load_npz, ".json": load_json, ".csv": load_csv}


def join_file(table: TomlTable, folder: Path, keys: Iterable[str]) -> TomlTable | None:
    """A table with what its `file` holds, None where that cannot be read; flaws of what it holds name the file.

    Args:
        keys: that the table and the file may have.
    """
    if "file" not in table:
        return table
    file = table.text("file")
    if file is None:
        return None
    try:
        contents = _load(folder / file)
    except FileProblem as problem:
        table.note("file", f"'{file}' {problem}", problem.remedy)
        table.asked |= {*keys}
        table.finish()
        return None
    for key in contents.keys() & table.data.keys():
        table.note(key, f"'{file}' has it too", "give it once")
    rest = {key: value for key, value in table.data.items() if key != "file"}
    return TomlTable(contents | rest, f"{table.path}[{file}]", table.flaws)


def _load(path: Path) -> dict[str, Any]:
    if path.suffix not in FORMATS:
        raise FileProblem("has no known ending", f"known: {', '.join(FORMATS)}")
    if not path.is_file():
        raise FileProblem(f"is not a file; looked for {path}", "place the file next to the scenario file")
    return FORMATS[path.suffix](path)


# --------------------------------------------------------------------------------------------------
# Flexible bodies in files: a beam, a frame of beams, or modal data, and what is made of them.


class Reduced(Reduction):
    """How many modes of a structure are kept, which files must say."""

    def check(self, flaws: FlawList) -> None:
        if self.modes is None and self.frequency is None and not flaws.concern("modes", "frequency"):
            flaws.add("modes", "is missing", "give the number of modes to keep, or a highest frequency")
        super().check(flaws)


class BeamForm(Reduced, kw_only=True):
    """A straight beam along x, from its node `root` to its node `tip`."""

    NOUN = "beam"

    length: float = quantity("m", positive=True)
    section: Section = section()
    elements: int = whole_number(least=1, default=8, doc="number of elements")

    def body(self, name: str) -> FlexibleBody:
        return beam(name, self.length, self.section, self, elements=self.elements)


class NodePlaces(FieldKind):
    """Places by the names of nodes."""

    def settle(self, flaws: FlawList, path: str, value: Any) -> Any:
        for node, place in value.items():
            check_vector(flaws, f"{path}.{node}", place, 3)
        return value


class ListOfTables(Child):
    """A list of tables."""

    def settle(self, flaws: FlawList, path: str, value: Any) -> Any:
        return value


class FrameForm(Reduced, kw_only=True):
    """Beams between named nodes."""

    NOUN = "frame"

    nodes: Mapping[str, Floats] = declare(NodePlaces, MISSING, doc="table of places [m]")
    elements: Any = declare(ListOfTables, MISSING, (Element,), doc="list of tables")
    root: str = text(default="root", doc="the node that is clamped")

    def check(self, flaws: FlawList) -> None:
        super().check(flaws)
        check_size(flaws, self.elements)
        for k, element in enumerate(self.elements):
            own = FlawList()
            check_element(own, element, self.nodes)
            flaws.extend(own.found, under=f"elements[{k}]")

    def body(self, name: str) -> FlexibleBody:
        return frame(name, self.nodes, self.elements, self, root=self.root)


class NodeForm(Description):
    """A node by its motion in each mode."""

    NOUN = "node"

    name: str = part_name()
    position: Floats = array("m", doc="its place")
    shift: Any = array(doc="its displacement in each mode: n x 3")
    turn: Any = array(default=None, doc="its rotation vector: n x 3", absent="0")

    @property
    def place(self) -> tuple[Array, Array, Array]:
        shift = np.array(self.shift)
        return np.array(self.position), shift, np.zeros_like(shift) if self.turn is None else np.array(self.turn)


class ModalForm(Description):
    """Masses and mode shapes from another program."""

    NOUN = "modal data"

    mass: Floats = array("kg", doc="of N particles: N numbers")
    position: Any = array("m", doc="N places")
    shift: Any = array(doc="displacement of each particle in each mode: N x n x 3")
    stiffness: Any = array(doc="n numbers, or n x n")
    nodes: tuple[NodeForm, ...] = children(NodeForm, default=(), doc="table of nodes", absent="required")
    turn: Any = array(default=None, doc="its rotation vector: N x n x 3", absent="0")
    tensor: Any = array("kg m^2", default=None, doc="its own inertia: N x 3 x 3", absent="0")
    file: str | None = text(
        default=None, doc="name of a file beside this one that has the keys which are not given here", absent="none"
    )

    def body(self, name: str) -> FlexibleBody:
        nodes = {node.name: node.place for node in self.nodes}
        more = {key: np.array(getattr(self, key)) for key in ("turn", "tensor") if getattr(self, key) is not None}
        shift, stiffness = np.array(self.shift), np.array(self.stiffness)
        try:
            particles = Particles.lumped(np.array(self.mass), np.array(self.position), shift, **more)
        except ModelError as error:
            flaws = FlawList(list(error.flaws))
            if shift.ndim == 3:
                check_modes(flaws, shift.shape[1], stiffness, nodes)
            raise ModelError(flaws.found) from error
        return modal_body(name, particles, stiffness, nodes)


class ModalPart(Child):
    """Modal data, which may stand in a file of their own."""


class FlexibleForm(Description, kw_only=True):
    """A body that bends, with factors of its stiffness and damping; it is clamped where its joint holds it."""

    NOUN = "flexible body"
    REFUSED: ClassVar[Mapping[str, str]] = dict.fromkeys(
        ("mass", "com", "inertia", "about", "physical"), "other masses on it are bodies on fixed joints"
    )
    """Keys of rigid bodies that follow, with what to do instead."""

    name: str = part_name()
    points: bool = flag(default=False, doc="`true` names a point `BODY.NODE` at every node")
    stiffness: float = declare_as(FlexibleBody, "stiffness")
    damping: float = declare_as(FlexibleBody, "damping")
    rayleigh: Floats = declare_as(FlexibleBody, "rayleigh")

    def made(self) -> FlexibleBody:
        """The body its structure makes, with the factors; flaws of the structure are those of its key."""
        key = self.MARKS[0]
        factors = {name: getattr(self, name) for name in ("stiffness", "damping", "rayleigh")}
        try:
            body: FlexibleBody = getattr(self, key).body(self.name).replaced(**factors)
        except ModelError as error:
            raise ModelError([flaw.under(key) for flaw in error.flaws]) from error
        return body


class BeamBody(FlexibleForm, kw_only=True):
    MARKS = ("beam",)
    beam: BeamForm = child(BeamForm, doc="a straight beam along x, from its node `root` to its node `tip`")


class FrameBody(FlexibleForm, kw_only=True):
    MARKS = ("frame",)
    frame: FrameForm = child(FrameForm, doc="beams between named nodes")


class ModalBody(FlexibleForm, kw_only=True):
    MARKS = ("modal",)
    modal: ModalForm = declare(ModalPart, MISSING, (ModalForm,), doc="masses and mode shapes from another program")


FLEXIBLE = (BeamBody, FrameBody, ModalBody)


def _read_places(reader: TableReader, kind: NodePlaces, table: TomlTable, key: str) -> Any:
    places = table.table(key)
    vectors = {node: places.vector(node, "m", 3) for node in places.data}
    return FAILED if None in vectors.values() or not vectors else vectors


def _read_listed(reader: TableReader, kind: ListOfTables, table: TomlTable, key: str) -> Any:
    parts = [reader.read(row, kind.classes) or reader.stand_in(row, *kind.classes) for row in table.rows(key)]
    return tuple(parts) if parts and FAILED not in parts else FAILED


def _read_modal(reader: TableReader, kind: ModalPart, table: TomlTable, key: str) -> Any:
    joined = join_file(table.table(key), reader.folder, ModalForm.KINDS)
    return FAILED if joined is None else reader.read(joined, kind.classes)


VALUES |= {NodePlaces: _read_places, ListOfTables: _read_listed, ModalPart: _read_modal}
