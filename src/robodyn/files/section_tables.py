"""How is a beam's section written in a TOML file? By its kind with sizes and material, or by its rigidities."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from robodyn.errors import nearest
from robodyn.files.table import FAILED, Table, attempt
from robodyn.structures import Section
from robodyn.structures.checks import check_positive

MATERIAL = {"young": "Pa", "shear": "Pa", "density": "kg/m^3"}
RIGIDITIES = {"stretching": "N", "bending_y": "N m^2", "bending_z": "N m^2", "twisting": "N m^2"}
# Stands in for a section that is flawed, so that flaws of what is made of it are told too.
STAND_IN = Section(1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0)
# Kind -> what makes it, numbers it needs, numbers it may have; with their units.
Kind = tuple[Callable[..., Section], dict[str, str], dict[str, str]]
KINDS: dict[str, Kind] = {
    "tube": (Section.tube, {"radius": "m", "thickness": "m", **MATERIAL}, {"shear_area": "m^2"}),
    "rod": (Section.rod, {"radius": "m", **MATERIAL}, {"shear_area": "m^2"}),
    "rectangle": (Section.rectangle, {"width": "m", "height": "m", **MATERIAL}, {"shear_area": "m^2"}),
    "general": (
        Section,
        {"area": "m^2", "iy": "m^4", "iz": "m^4", "torsion": "m^4", **MATERIAL},
        {"shear_area": "m^2"},
    ),
    "rigidities": (Section.of_rigidities, {**RIGIDITIES, "mass_per_length": "kg/m"}, {"shearing": "N"}),
}


@dataclass
class Sections:
    """The sections that a file names (None where one is flawed), and which of them a beam is made of."""

    found: dict[str, Section | None]
    used: set[str] = field(default_factory=set)

    def pick(self, table: Table) -> Section | None:
        """What the key `section` of a beam or element says: the name of a section, or a table."""
        value = table.raw("section")
        if value is None:
            return FAILED
        if not isinstance(value, str):
            return read_section(table.table("section"))
        self.used.add(value)
        if value not in self.found:
            table.flaws.add(table.at("section"), f"there is no section '{value}'", nearest(value, self.found))
        return self.found.get(value)


def read_sections(root: Table) -> Sections:
    """The table `sections` of a file."""
    return Sections({name: read_section(table) for name, table in root.tables("sections")})


def check_used(root: Table, sections: Sections) -> None:
    """A section nothing is made of is a mistake."""
    for name in [name for name in sections.found if name not in sections.used]:
        root.flaws.add(f"sections.{name}", "nothing is made of it", f'section = "{name}" of a beam or element names it')


def read_section(table: Table) -> Section | None:
    """A section; its flaws are noted in the table."""
    kind = table.text("kind")
    if kind not in KINDS:
        if kind is not None:
            table.flaws.add(table.at("kind"), f"'{kind}' is unknown", nearest(kind, KINDS))
        table.asked |= {key for _, needed, optional in KINDS.values() for key in (*needed, *optional)}
        table.finish()
        return FAILED
    make, needed, optional = KINDS[kind]
    units = needed | {key: unit for key, unit in optional.items() if key in table}
    numbers: dict[str, Any] = {key: table.number(key, unit) for key, unit in units.items()}
    table.finish()
    if None in numbers.values():
        for key, value in numbers.items():
            if value is not None:
                check_positive(table.flaws, table.at(key), value)
        return FAILED
    return attempt(table, make, **numbers)
