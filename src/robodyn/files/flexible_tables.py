"""How is a flexible body written in a TOML file? As a beam, as a frame of beams, or by modal data."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from robodyn.errors import FlawList
from robodyn.files.modal_tables import read_modal
from robodyn.files.section_tables import STAND_IN, Sections
from robodyn.files.table import FAILED, Table, attempt
from robodyn.model import FlexibleBody
from robodyn.structures import Element, Reduction, beam, frame
from robodyn.structures.checks import check_element

KINDS = ("beam", "frame", "modal")
RIGID = ("mass", "com", "inertia", "about", "physical")


def read_flexible(name: str, table: Table, sections: Sections, folder: Path) -> FlexibleBody | None:
    """A body with exactly one of the tables `beam`, `frame`, `modal`; its flaws are noted in the table."""
    kinds = [key for key in KINDS if key in table]
    for key in kinds[1:]:
        table.flaws.add(table.at(key), f"cannot stand beside '{kinds[0]}'", "a body is made in one way")
        table.asked.add(key)
    for key in RIGID:
        if key in table:
            table.flaws.add(
                table.at(key), f"follows from '{kinds[0]}'", "other masses on it are bodies on fixed joints"
            )
            table.asked.add(key)
    inner = table.table(kinds[0])
    if kinds[0] == "modal":
        body = read_modal(name, inner, folder)
    else:
        body = _read_beam(name, inner, sections) if kinds[0] == "beam" else _read_frame(name, inner, sections)
    factors = _read_factors(table)
    table.flag("points")
    table.finish()
    if body is None or len(kinds) > 1 or None in factors.values():
        _check_factors(table, factors)
        return FAILED
    return attempt(table, dataclasses.replace, body, **factors)


def _read_factors(table: Table) -> dict[str, Any]:
    """Factor of the stiffness, damping ratio, Rayleigh's damping, as far as they are given."""
    factors: dict[str, Any] = {key: table.number(key) for key in ("stiffness", "damping") if key in table}
    if "rayleigh" in table:
        rayleigh = table.table("rayleigh")
        pair = rayleigh.number("mass", "1/s", 0.0), rayleigh.number("stiffness", "s", 0.0)
        rayleigh.finish()
        factors["rayleigh"] = FAILED if None in pair else pair
    return factors


def _check_factors(table: Table, factors: Mapping[str, Any]) -> None:
    """Tell what is wrong with them where the body itself cannot be made."""
    flaws = FlawList()
    for key, value in factors.items():
        if value is not None:
            FlexibleBody.KINDS[key].accept(flaws, key, value)
    table.flaws.extend(flaws.found, under=table.path)


def _read_beam(name: str, table: Table, sections: Sections) -> FlexibleBody | None:
    length, section = table.number("length", "m"), sections.pick(table)
    how = _read_reduction(table)
    parts = {"elements": table.integer("elements")} if "elements" in table else {}
    table.finish()
    made = attempt(table, beam, name, length, section or STAND_IN, how, **parts)
    return FAILED if section is None else made


def _read_frame(name: str, table: Table, sections: Sections) -> FlexibleBody | None:
    nodes = _read_nodes(table)
    rows = _rows(table)
    elements = [_read_element(row, sections) for row in rows]
    how = _read_reduction(table)
    root = table.text("root", "root")
    table.finish()
    if None in (*nodes.values(), *elements, root) or not elements or not nodes:
        for row, element in zip(rows, elements, strict=True):
            _check_row(row, element, nodes)
        return FAILED
    # Where the reduction is flawed, another stands in for it, so that flaws of the frame are told too.
    stand_in = Reduction(interfaces=tuple(node for node in nodes if node != root), modes=0)
    made = attempt(table, frame, name, nodes, elements, how or stand_in, root=root)
    return FAILED if how is None or any(element and element.section is STAND_IN for element in elements) else made


def _read_nodes(table: Table) -> dict[str, Any]:
    """Name -> place [m]."""
    if "nodes" not in table:
        table.flaws.add(table.at("nodes"), "is missing", "a table of names and places")
    places = table.table("nodes")
    return {node: places.vector(node, "m", 3) for node in places.data}


def _rows(table: Table) -> list[Table]:
    """Tables of the elements."""
    entries = table.raw("elements")
    if not isinstance(entries, list) or not entries:
        if "elements" in table:
            table.flaws.add(table.at("elements"), f"must be a list of tables, is {entries!r}")
        return []
    return [Table(entry, f"{table.at('elements')}[{k}]", table.flaws) for k, entry in enumerate(entries)]


def _read_element(row: Table, sections: Sections) -> Element | None:
    start, end, section = row.text("start"), row.text("end"), sections.pick(row) or STAND_IN
    fields: dict[str, Any] = {"parts": row.integer("parts")} if "parts" in row else {}
    fields |= {"up": row.vector("up", "", 3)} if "up" in row else {}
    row.finish()
    return attempt(row, Element, start, end, section, **fields)


def _check_row(row: Table, element: Element | None, nodes: Mapping[str, Any]) -> None:
    """Tell what is wrong with an element of a frame that cannot be made."""
    if element is not None:
        flaws = FlawList()
        check_element(flaws, element, nodes)
        row.flaws.extend(flaws.found, under=row.path)


def _read_reduction(table: Table) -> Reduction | None:
    """How many modes are kept: `modes` or `frequency` must be given."""
    before = len(table.flaws.found)
    fields: dict[str, Any] = {}
    if "modes" in table:
        fields["modes"] = table.integer("modes")
    for key in ("frequency", "highest"):
        if key in table:
            fields[key] = table.number(key, "Hz")
    for key in ("interfaces", "directions"):
        if key in table:
            fields[key] = table.texts(key)
    if "stiffening" in table:
        fields["stiffening"] = table.flag("stiffening")
    if not fields.keys() & {"modes", "frequency"}:
        table.flaws.add(table.at("modes"), "is missing", "give their number, or frequency, up to which they are kept")
    made = attempt(table, Reduction, **fields)
    return made if len(table.flaws.found) == before else FAILED
