"""Sections of beams in files: by their kind with sizes and material, or by their rigidities."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

from robodyn.errors import nearest
from robodyn.files.reading import Reader
from robodyn.files.table import FAILED, Table
from robodyn.files.values import VALUES
from robodyn.model.description import Description
from robodyn.model.fields import MISSING, choice, declare, quantity
from robodyn.model.kinds import Kind
from robodyn.structures import Section

# Stands in for a section that is flawed, so that flaws of what is made of it are reported too.
STAND_IN = Section(1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0)
SHEAR = "area that bears shear"


class SectionForm(Description, kw_only=True):
    """A section; principal axes are y and z, x is along the beam."""

    NOUN = "section"
    MAKE: ClassVar[Callable[..., Section]] = Section

    def made(self) -> Section:
        return type(self).MAKE(**{name: getattr(self, name) for name in self.KINDS if name != "kind"})


class Material(SectionForm, kw_only=True):
    young: float = quantity("Pa", positive=True, doc="modulus of elasticity")
    shear: float = quantity("Pa", positive=True, doc="shear modulus")
    density: float = quantity("kg/m^3", positive=True)
    shear_area: float | None = quantity("m^2", positive=True, default=None, doc=SHEAR, absent="stiff in shear")


class Tube(Material, kw_only=True):
    MARKS = ("kind=tube",)
    MAKE = Section.tube
    kind: str = choice(("tube",))
    radius: float = quantity("m", positive=True, doc="outer radius")
    thickness: float = quantity("m", positive=True, doc="of the wall")


class Round(Material, kw_only=True):
    MARKS = ("kind=rod",)
    MAKE = Section.rod
    kind: str = choice(("rod",))
    radius: float = quantity("m", positive=True)


class Rectangle(Material, kw_only=True):
    MARKS = ("kind=rectangle",)
    MAKE = Section.rectangle
    kind: str = choice(("rectangle",))
    width: float = quantity("m", positive=True, doc="along y")
    height: float = quantity("m", positive=True, doc="along z")


class General(Material, kw_only=True):
    MARKS = ("kind=general",)
    kind: str = choice(("general",))
    area: float = quantity("m^2", positive=True)
    iy: float = quantity("m^4", positive=True, doc="second moment about y")
    iz: float = quantity("m^4", positive=True, doc="second moment about z")
    torsion: float = quantity("m^4", positive=True, doc="torsion constant")


class Rigidities(SectionForm, kw_only=True):
    MARKS = ("kind=rigidities",)
    MAKE = Section.of_rigidities
    kind: str = choice(("rigidities",))
    stretching: float = quantity("N", positive=True, doc="E A")
    bending_y: float = quantity("N m^2", positive=True, doc="E I_y")
    bending_z: float = quantity("N m^2", positive=True, doc="E I_z")
    twisting: float = quantity("N m^2", positive=True, doc="G J")
    mass_per_length: float = quantity("kg/m", positive=True)
    shearing: float | None = quantity("N", positive=True, default=None, doc="G A_s", absent="stiff in shear")


SECTIONS = (Tube, Round, Rectangle, General, Rigidities)


@dataclass
class Sections:
    """The sections that a file names (None where one is flawed), and which of them a beam is made of."""

    found: dict[str, Section | None]
    used: set[str] = field(default_factory=set)

    def check_used(self, root: Table) -> None:
        """A section nothing is made of is a mistake."""
        for name in [name for name in self.found if name not in self.used]:
            remedy = f'section = "{name}" of a beam or element names it'
            root.flaws.add(f"sections.{name}", "nothing is made of it", remedy)


class SectionKind(Kind):
    """The name of one of the file's sections, or the table of one."""


def section() -> Any:
    return declare(SectionKind, MISSING, doc="name of a [section](#sections), or its table")


def read_sections(root: Table, reader: Reader) -> Sections:
    """The table `sections` of a file, which its beams then pick from."""
    reader.sections = Sections({name: reader.read(table, SECTIONS) for name, table in root.tables("sections")})
    return reader.sections


def _pick(reader: Reader, kind: SectionKind, table: Table, key: str) -> Section:
    value, sections = table.raw(key), reader.sections
    if not isinstance(value, str):
        return reader.read(table.table(key), SECTIONS) or STAND_IN
    sections.used.add(value)
    if value not in sections.found:
        table.flaws.add(table.at(key), f"there is no section '{value}'", nearest(value, sections.found))
    return sections.found.get(value, FAILED) or STAND_IN


VALUES[SectionKind] = _pick
