"""Sections of beams in files: tables with names, which beams pick from, or the table of one in its place."""

from __future__ import annotations

from dataclasses import dataclass, field

from robodyn.base.errors import nearest
from robodyn.description.files.forms import FORMS
from robodyn.description.files.reading import Reader
from robodyn.description.files.table import FAILED, Table
from robodyn.description.files.values import VALUES
from robodyn.description.structures.beams import SECTIONS, Section, SectionPart

# Stands in for a section that is flawed, so that flaws of what is made of it are reported too.
STAND_IN = Section(1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0)


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


def read_sections(root: Table, reader: Reader) -> Sections:
    """The table `sections` of a file, which its beams then pick from."""
    reader.sections = Sections({name: reader.read(table, SECTIONS) for name, table in root.tables("sections")})
    return reader.sections


def _pick(reader: Reader, kind: SectionPart, table: Table, key: str) -> Section:
    value, sections = table.raw(key), reader.sections
    if not isinstance(value, str):
        return reader.read(table.table(key), kind.classes) or STAND_IN
    sections.used.add(value)
    if value not in sections.found:
        table.flaws.add(table.at(key), f"there is no section '{value}'", nearest(value, sections.found))
    return sections.found.get(value, FAILED) or STAND_IN


VALUES[SectionPart] = _pick
FORMS[Section] = SECTIONS
