"""Flexible bodies in files: a beam, a frame of beams, or modal data, and what is made of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np

from robodyn.base.errors import FlawList, ModelError
from robodyn.description.files.modal_files import join_file
from robodyn.description.files.reading import Reader
from robodyn.description.files.table import FAILED, Table
from robodyn.description.files.values import VALUES
from robodyn.description.model import FlexibleBody
from robodyn.description.model.description import Description
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
from robodyn.description.model.kinds import Kind
from robodyn.description.model.numbers import Floats, check_vector
from robodyn.description.model.referring_kinds import Part
from robodyn.description.structures import Element, Particles, Reduction, Section, beam, frame, modal_body
from robodyn.description.structures.checks import check_element, check_modes, check_size
from robodyn.description.structures.sections import section

FACTORS = ("stiffness", "damping", "rayleigh")


class Reduced(Reduction):
    """How many modes of a structure are kept, which files must say."""

    def check(self, flaws: FlawList) -> None:
        if self.modes is None and self.frequency is None and not flaws.concern("modes", "frequency"):
            flaws.add("modes", "is missing", "give their number, or frequency, up to which they are kept")
        super().check(flaws)


class BeamForm(Reduced, kw_only=True):
    """A straight beam along x, from its node `root` to its node `tip`."""

    NOUN = "beam"

    length: float = quantity("m", positive=True)
    section: Section = section()
    elements: int = whole_number(least=1, default=8, doc="number of elements")


class Places(Kind):
    """Places by the names of nodes."""

    def settle(self, flaws: FlawList, path: str, value: Any) -> Any:
        for node, place in value.items():
            check_vector(flaws, f"{path}.{node}", place, 3)
        return value


class Listed(Part):
    """A list of tables."""

    def settle(self, flaws: FlawList, path: str, value: Any) -> Any:
        return value


class FrameForm(Reduced, kw_only=True):
    """Beams between named nodes."""

    NOUN = "frame"

    nodes: Mapping[str, Floats] = declare(Places, MISSING, doc="table of places [m]")
    elements: Any = declare(Listed, MISSING, (Element,), doc="list of tables")
    root: str = text(default="root", doc="the node that is clamped")

    def check(self, flaws: FlawList) -> None:
        super().check(flaws)
        check_size(flaws, self.elements)
        for k, element in enumerate(self.elements):
            own = FlawList()
            check_element(own, element, self.nodes)
            flaws.extend(own.found, under=f"elements[{k}]")


class NodeForm(Description):
    """A node by its motion in each mode."""

    NOUN = "node"

    name: str = part_name()
    position: Floats = array("m", doc="its place")
    shift: Any = array(doc="its displacement in each mode: n x 3")
    turn: Any = array(default=None, doc="its rotation vector: n x 3", absent="0")

    @property
    def place(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
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


class ModalPart(Part):
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

    def factors(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in FACTORS}


def _under(key: str, make: Callable[[], FlexibleBody]) -> FlexibleBody:
    """What is made of an inner table, whose flaws are those of its key."""
    try:
        return make()
    except ModelError as error:
        raise ModelError([flaw.under(key) for flaw in error.flaws]) from error


class BeamBody(FlexibleForm, kw_only=True):
    MARKS = ("beam",)
    beam: BeamForm = child(BeamForm, doc="a straight beam along x, from its node `root` to its node `tip`")

    def made(self) -> FlexibleBody:
        form, more = self.beam, self.factors()
        sizes = (form.length, form.section, form)
        return _under("beam", lambda: beam(self.name, *sizes, elements=form.elements, **more))


class FrameBody(FlexibleForm, kw_only=True):
    MARKS = ("frame",)
    frame: FrameForm = child(FrameForm, doc="beams between named nodes")

    def made(self) -> FlexibleBody:
        form, more = self.frame, self.factors()
        parts = (form.nodes, form.elements, form)
        return _under("frame", lambda: frame(self.name, *parts, root=form.root, **more))


class ModalBody(FlexibleForm, kw_only=True):
    MARKS = ("modal",)
    modal: ModalForm = declare(ModalPart, MISSING, (ModalForm,), doc="masses and mode shapes from another program")

    def made(self) -> FlexibleBody:
        return _under("modal", lambda: self.modal.body(self.name).replaced(**self.factors()))


FLEXIBLE = (BeamBody, FrameBody, ModalBody)


def _read_places(reader: Reader, kind: Places, table: Table, key: str) -> Any:
    places = table.table(key)
    found = {node: places.vector(node, "m", 3) for node in places.data}
    return FAILED if None in found.values() or not found else found


def _read_listed(reader: Reader, kind: Listed, table: Table, key: str) -> Any:
    found = [reader.read(row, kind.classes) or reader.stand_in(row, *kind.classes) for row in table.rows(key)]
    return tuple(found) if found and FAILED not in found else FAILED


def _read_modal(reader: Reader, kind: ModalPart, table: Table, key: str) -> Any:
    joined = join_file(table.table(key), reader.folder, ModalForm.KINDS)
    return FAILED if joined is None else reader.read(joined, kind.classes)


VALUES |= {Places: _read_places, Listed: _read_listed, ModalPart: _read_modal}
